"""Tests reports on two GPU or CPU models: one grid and one set of plots have the numbers of both, and the printed page
has few sheets."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import two_models
from pages import page_of

from analysis.frames import short_names

MAX_SHEETS = 15


def fastest(records, problem, precision, n):
    """Returns the smallest median of the trials on a GPU for this problem, precision and size."""
    return min(
        r["seconds_median"]
        for r in records
        if (r["problem"], r["precision"], r["n"], r["uplo"]) == (problem, precision, n, "") and r["backend"] == "cuda"
    )


class TwoModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.older = two_models.night(two_models.OLDER, run="run-1", uuid="GPU-1")
        cls.newer = two_models.night(two_models.NEWER, run="run-2", uuid="GPU-2")
        cls.page = page_of(cls.older, cls.newer)

    def test_the_grid_has_both_models_in_each_cell(self):
        self.assertNotIn("grid-2", self.page.tables)
        seen = 0
        for label, *cells in self.page.tables["grid-1"][1:]:
            problem, precision = label[0].split()[0], re.match(r"\w+ (float|double)", label[0]).group(1)
            for (_, n), (words, _) in zip(self.page.tables["grid-1"][0][1:], cells):
                if not words or problem == "trsv":
                    continue
                old, new = (fastest(night.records, problem, precision, n) for night in (self.older, self.newer))
                if "(CPU)" in words:
                    continue
                seen += 1
                self.assertRegex(words, r"A100 .*B200 ")
                lead = float(re.search(r"([\d.]+)×", words).group(1))
                self.assertAlmostEqual(lead, max(old / new, new / old), delta=0.01 * lead)
                self.assertTrue(words.startswith("≈" if lead < 1.05 else "B200" if new < old else "A100"), words)
        self.assertGreater(seen, 40)

    def test_plots_have_both_models(self):
        seen = set()
        for name in self.page.figures["time"]:
            lines = [line["l"] for line in self.page.plots[name]["series"]]
            self.assertEqual(len(lines), len(set(lines)), name)
            for model in ("A100", "B200"):
                self.assertTrue(any(f", {model}" in line for line in lines), (name, lines))
            self.assertNotIn(name, seen)
            seen.add(name)
        self.assertEqual(len(seen), 2 * 2 * (7 + 2))  # time and rate; float and double; trsv has two triangles

    def test_runs_with_different_repeats_have_trials_in_common(self):
        newer = two_models.night(two_models.NEWER, run="run-2", uuid="GPU-2")
        for record in newer.records:
            record.update(key=f"other {record['key']}", repeats=7)
        words = "B200 over .*A100: median speedup .* over [0-9]+ trials in common"
        self.assertRegex(self.page.words("overview"), words)
        self.assertRegex(page_of(self.older, newer).words("overview"), words)

    @unittest.skipUnless(shutil.which("chromium"), "needs chromium")
    def test_fits_on_few_sheets(self):
        with tempfile.TemporaryDirectory() as folder:
            page, sheets = Path(folder) / "index.html", Path(folder) / "page.pdf"
            page.write_text(self.page.text, encoding="utf-8")
            command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
            command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={sheets}", page.as_uri()]
            subprocess.run(command, capture_output=True, timeout=300, check=True)
            count = len(re.findall(rb"/Type\s*/Page\b", sheets.read_bytes()))
            self.assertTrue(0 < count <= MAX_SHEETS, count)


class Cpus(unittest.TestCase):
    def test_cpu_models_share_a_grid(self):
        page = page_of(
            two_models.night(two_models.OLDER_CPU, run="run-1"), two_models.night(two_models.NEWER_CPU, run="run-2")
        )
        self.assertNotIn("grid-2", page.tables)
        cells = [words for _, *cells in page.tables["grid-1"][1:] for words, _ in cells if words]
        self.assertGreater(len(cells), 40)
        for words in cells:
            self.assertRegex(words, r"^(A|B|≈) ?[\d.]+×.*A .*B ")


class Names(unittest.TestCase):
    def test_short_names_differ(self):
        for names, expected in (
            (("NVIDIA H100 80GB HBM3", "NVIDIA H200"), ("H100", "H200")),
            (("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"), ("A100-SXM4-40GB", "A100-SXM4-80GB")),
            (("NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3"), ("PCIe", "80GB")),
            (("Intel(R) Xeon(R) Gold 6248", "Intel(R) Xeon(R) Gold 6342"), ("6248", "6342")),
            (("NVIDIA H100", "NVIDIA H100 PCIe", "NVIDIA H200"), ("H100", "H100 PCIe", "H200")),
            (("NVIDIA H200",), ("NVIDIA H200",)),
        ):
            found = short_names(names)
            self.assertEqual(tuple(found[name] for name in names), expected)


if __name__ == "__main__":
    unittest.main()
