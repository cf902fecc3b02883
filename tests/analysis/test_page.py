"""Tests that every section renders, that the page is self-contained, and that every plot has its data."""

import base64
import csv
import io
import json
import re
import tempfile
import unittest
import unittest.mock
from contextlib import ExitStack
from pathlib import Path

import fixture
import h5py
from everything import everything
from pages import ROOT, SECTIONS, command, section_names, page_of

from analysis.loader import load
from analysis.page import _breakable


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
        sections = set(SECTIONS) - {"trend", "costs"}  # see TrendTest and test_costs
        self.assertEqual(section_names(self.page), sections)
        for name in sections:
            self.assertFalse([w for w in self.page.none[name] if w.startswith("No ")], name)
        for name in "time speedup roofline stages accuracy convergence transfer energy timeline papers".split():
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
        self.assertEqual(re.findall(r"<script(?! type=.application/json)[^>]*>", self.page.text), ["<script>"])
        self.assertNotRegex(self.page.text, r"<script[^>]*src|fetch\(|XMLHttpRequest|import\(")
        self.assertIn("Copyright (c) 2022 Leon Sorokin", self.page.text)  # uPlot's licence requires it
        self.assertNotIn("link", self.page.tags)
        self.assertNotIn("img", self.page.tags)
        for address in self.page.addresses:
            self.assertRegex(address, r"^(#|data:text/csv;base64,|data/)")
            if address.startswith("data/"):
                self.assertTrue((self.page.folder / address).is_file(), address)
        self.assertNotRegex(self.page.text, r"url\((?!#)|@import")
        self.assertNotIn("<script>alert", self.page.text)

    def test_every_plot_has_its_data(self):
        names = [name for names in self.page.figures.values() for name in names if name != "timeline"]
        self.assertEqual(set(self.page.plots) | set(self.page.bars), set(names))
        self.assertEqual(len(names), len(set(names)))
        for name, plot in self.page.plots.items():
            for line in plot["series"]:
                self.assertEqual(
                    {len(line[k]) for k in ("x", "y", "lo", "hi", "h", "t") if k in line}, {len(line["x"])}
                )
                self.assertTrue(line["c"] is None or f"--c{line['c']}:#" in self.page.text, name)

    def test_embedded_csv_equals_the_file(self):
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

    def test_messages_are_escaped_and_control_characters_removed(self):
        self.assertIn("signal 11 &lt;script&gt;", self.page.text)
        self.assertNotRegex(self.page.text, r"[\x00-\x08\x0b\x0c\x0e-\x1f]")

    def test_findings_are_shown(self):
        rows = {(r["method"], r["matrix"]): r for r in self.page.rows("findings")}
        self.assertIn("passes on diagonally_dominant", rows["fixed_point", "uniform"]["comparison"])
        self.assertIn(
            "others solved 3 of these 3 systems: cusolver", rows["gauss_cyclic_halving", "uniform"]["comparison"]
        )
        self.assertIn("only rounding errors can make it fail", self.page.words("papers"))
        self.assertNotIn("first row", self.page.words("failures"))


class PiecesTest(unittest.TestCase):
    def test_many_records_are_read_in_pieces(self):
        """The page must not depend on the number of rows per piece."""
        night = everything(gpus=list(fixture.GPUS)[:1])
        whole = page_of(night)
        sizes = {
            "verdict.AT_ONCE": 20,
            "sections.timeline.AT_ONCE": 7,
            "page.ROWS_AT_ONCE": 3,
            "loader.BYTES_AT_ONCE": 1,
        }
        with ExitStack() as patches:
            for name, size in sizes.items():
                patches.enter_context(unittest.mock.patch(f"analysis.{name}", size))
            pieces = page_of(night)
        self.assertEqual((pieces.plots, pieces.bars), (whole.plots, whole.bars))
        for name, rows in whole.tables.items():
            self.assertEqual(
                [[t for t, _ in row] for row in pieces.tables[name]], [[t for t, _ in row] for row in rows]
            )
        whole.data.pop("busy"), pieces.data.pop("busy")  # sums, which differ in the last digit
        self.assertEqual(pieces.data, whole.data)


class SeveralGpusTest(unittest.TestCase):
    def test_speedup_and_efficiency_over_the_fastest_method_on_one_gpu(self):
        gpu = next(iter(fixture.GPUS))
        night = fixture.Night()
        for n in (256, 512):
            night.trial("getrf", "cusolver", n, 0.050, gpu=gpu, gpu_count="1")
            night.trial("getrf", "recursive", n, 0.040, gpu=gpu, gpu_count="1")
            night.trial("getrf", "serial", n, 0.001, gpu=gpu, gpu_count="1", status="failed")
            for gpus in (2, 4):
                parameters = {"gpus": gpus}
                night.trial("getrf", "multi_gpu", n, 0.064 / gpus, gpu=gpu, gpu_count=f"{gpus}", parameters=parameters)
        page = page_of(night)
        times = {(r["method"], r["n"], r["gpu_count"]): r["seconds_median"] for r in night.records}
        rows = page.rows("gpus")
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(row["on one GPU"], "recursive")
            gpus = int(row["GPUs"])
            speedup = times["recursive", row["n"], "1"] / times["multi_gpu", row["n"], f"{gpus}"]
            self.assertAlmostEqual(row["speedup"], speedup, places=9)
            self.assertAlmostEqual(row["efficiency"], speedup / gpus, places=9)
        self.assertEqual(len(page.figures["gpus"]), 1)

    def test_one_gpu_has_no_section(self):
        self.assertNotIn("gpus", page_of(everything()).sections)


class WordsTest(unittest.TestCase):
    def test_names_break_after_underscores_only_in_texts(self):
        markup = '<td title="a_b">a_b</td><pre>a_b</pre><script>a_b</script><a href="#a_b">a_b</a>'
        broken = markup.replace(">a_b</td>", ">a_<wbr>b</td>").replace(">a_b</a>", ">a_<wbr>b</a>")
        self.assertEqual(_breakable(markup), broken)

    def test_the_noise_names_its_trials(self):
        night = fixture.Night("noise")
        for n in (32, 64, 128):
            night.trial("gesv", "lapack", n, 1e-3)
            night.trial("gesv", "crout", n, 1e-3, backend="emulated")
        night.trial("gesv", "cusolver", 64, 1e-3, gpu="NVIDIA Test 100")
        self.assertIn("several samples (1 on GPUs, 3 on the CPU): the", page_of(night).words("overview"))


class TakeTest(unittest.TestCase):
    def test_columns_keep_their_types(self):
        """Texts are str and integers have 64 bits, in any storage."""
        with tempfile.TemporaryDirectory() as folder:
            night = load([everything().write(Path(folder) / "results.h5")])
        some = night.only(night.take("problem")["problem"] == "gesv")
        rows = some.take("status n gflops energy_joules", some.take("n")["n"] > 1000)
        self.assertEqual([t.kind for t in rows.dtypes], ["O", "i", "f", "f"])
        self.assertEqual(rows["n"].dtype.itemsize, 8)
        every = night.records
        expected = every[(every["problem"] == "gesv") & (every["n"] > 1000)]
        self.assertEqual(list(rows.index), list(expected.index))
        self.assertEqual(list(rows["status"]), list(expected["status"]))
        self.assertLess(night.table.memory_usage(deep=True).sum(), every.memory_usage(deep=True).sum() / 2)

    def test_texts_may_have_a_type_of_pandas(self):
        """A pandas type for text is the default since pandas 3."""
        with tempfile.TemporaryDirectory() as folder:
            night = load([everything().write(Path(folder) / "results.h5")])
        before = list(night.take("status")["status"])
        night.table["status"] = night.table["status"].astype("string").astype("category")
        self.assertEqual(list(night.take("status")["status"]), before)


if __name__ == "__main__":
    unittest.main()
