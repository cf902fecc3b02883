"""Every section renders; the page needs nothing beside it; drawings are sound SVG."""

import base64
import csv
import io
import json
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import h5py
from everything import everything
from pages import ROOT, SECTIONS, command, parts_of


class EverythingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = Path(cls.folder.name)
        night = everything()
        night.write(base / "results.h5")
        (base / "matrices").mkdir()
        for condition in (1e2, 1e4, 1e6, 1e8):
            with h5py.File(base / "matrices" / f"cond{condition:.0e}.h5", "w") as file:
                file.attrs["generator"] = f"philox kind=condition condition={condition:g} mode=3"
        cls.page, cls.stderr = command(base, out=base / "out")
        cls.night = night

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_section_is_there_with_data(self):
        sections = set(SECTIONS) - {"trend"}  # of three runs and more: TrendTest
        self.assertEqual(parts_of(self.page), sections)
        for name in sections:
            self.assertFalse([w for w in self.page.none[name] if w.startswith("No ")], name)
        for name in (
            "time",
            "speedup",
            "roofline",
            "stages",
            "accuracy",
            "convergence",
            "transfer",
            "energy",
            "architectures",
            "timeline",
            "failures",
            "papers",
        ):
            self.assertTrue(self.page.figures[name], f"no figure in {name}")

    def test_every_status_is_shown(self):
        heads = [text for text, _ in self.page.tables["overview"][0]]
        for status in "pass suspect failed diverged skipped timeout crashed oom error".split():
            self.assertIn(status, heads)

    def test_every_experiment_is_drawn_or_named_as_absent(self):
        known = [e["id"] for e in json.loads((ROOT / "analysis" / "experiments.json").read_text(encoding="utf-8"))]
        words = self.page.words("papers")
        for name in known:
            self.assertIn(name, words)
        self.assertEqual([n for n in known if n not in self.page.headings], [], "the fixture has every experiment")

    def test_page_is_self_contained(self):
        self.assertEqual(self.page.text.count("<script"), 1, "the one of the tables, which loads nothing")
        self.assertNotRegex(self.page.text, r"<script[^>]|fetch\(|XMLHttpRequest|import\(")
        self.assertNotIn("link", self.page.tags)
        self.assertNotIn("img", self.page.tags)
        for address in self.page.addresses:
            self.assertRegex(address, r"^(#|data:text/csv;base64,|data/|plots/)")
            if address.startswith(("data/", "plots/")):
                self.assertTrue((self.page.folder / address).is_file(), address)
        self.assertNotRegex(self.page.text, r"url\((?!#)|@import")
        self.assertNotIn("<script>alert", self.page.text)

    def test_drawings_are_sound(self):
        ids, used = [], set()
        for svg in re.findall(r"<svg.*?</svg>", self.page.text, re.S):
            root = ElementTree.fromstring(svg)
            for element in root.iter():
                ids += [element.get("id")] if element.get("id") else []
                reference = element.get("href")
                used |= {reference[1:]} if reference else set()
            used |= set(re.findall(r"url\(#([^)]+)\)", svg))
        self.assertEqual(len(ids), len(set(ids)), "an id occurs twice on the page")
        self.assertEqual(used - set(ids), set(), "a drawing refers to what is not there")
        self.assertNotIn("#010203", self.page.text)
        for path in (self.page.folder / "plots").glob("*.svg"):
            text = path.read_text(encoding="utf-8")
            ElementTree.fromstring(text)
            self.assertNotRegex(text, "currentColor|var\\(")

    def test_embedded_csv_is_the_file_beside(self):
        found = re.findall(r'download="([^"]+)" href="data:text/csv;base64,([^"]*)"', self.page.text)
        self.assertGreater(len(found), 50)
        for name, code in found:
            content = base64.b64decode(code).decode()
            self.assertEqual(content, (self.page.folder / "data" / name).read_text(encoding="utf-8"))
            self.assertGreater(len(list(csv.reader(io.StringIO(content)))), 1, name)

    def test_no_plot_is_empty(self):
        for names in self.page.figures.values():
            for name in names:
                rows = list(csv.DictReader((self.page.folder / "data" / f"{name}.csv").open(encoding="utf-8")))
                self.assertTrue(any(r["ended" if name == "timeline" else "y"] not in ("", "nan") for r in rows), name)

    def test_messages_are_escaped_and_control_characters_gone(self):
        self.assertIn("signal 11 &lt;script&gt;", self.page.text)
        self.assertNotRegex(self.page.text, r"[\x00-\x08\x0b\x0c\x0e-\x1f]")

    def test_findings_are_said(self):
        rows = {(r["method"], r["matrix"]): r for r in self.page.rows("findings")}
        self.assertIn("passes on diagonally_dominant", rows["fixed_point", "uniform"]["finding"])
        self.assertIn(
            "others solved 3 of these 3 systems: cusolver", rows["gauss_cyclic_halving", "uniform"]["finding"]
        )
        self.assertIn("It fails by rounding errors alone", self.page.words("failures"))


if __name__ == "__main__":
    unittest.main()
