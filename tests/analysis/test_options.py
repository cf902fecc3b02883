"""Tests --problem, --method, --gpu, --baseline, --title and the papers' options."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fixture
from pages import report

from analysis.cli import main
from analysis.colours import PAPER, colour, contrast
from analysis.frames import methods
from analysis.loader import load

GPU, OLD = fixture.GPUS


def some_night(plan="some"):
    night = fixture.Night(plan)
    for gpu in (GPU, OLD):
        for n in (256, 512, 1024):
            night.trial("gesv", "cusolver", n, 1e-3 * n, gpu=gpu, reference_method="cusolver")
            night.trial("gesv", "gauss_block", n, 4e-3 * n, gpu=gpu, reference_method="cusolver")
            night.trial("trsv", "cublas", n, 1e-6 * n, gpu=gpu, precision="float")
    for n in (256, 512, 1024):
        night.trial("gesv", "lapack", n, 2e-3 * n)
    return night


class OptionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = Path(folder.name)
        self.file = some_night().write(self.base / "results.h5")

    def page(self, *options, expect=0):
        page, self.stderr = report(self.file, *options, out=self.base / "out", expect=expect)
        return page

    def test_shows_only_the_selection(self):
        page = self.page("--problem", "gesv", "--method", "cusolver,gesv/lap*", "--gpu", "*100*", "--title", "a < b")
        self.assertIn("problem-gesv", page.sections)
        self.assertNotIn("problem-trsv", page.sections)
        self.assertEqual({r["method"] for r in page.rows("ranking-tally")}, {"cusolver", "lapack"})
        self.assertNotIn("Old", page.words("verdict"))
        self.assertIn("<h1>a &lt; b</h1>", page.text)

    def test_unmatched_filters_list_the_choices(self):
        for option, word, there in (
            ("--problem", "gezv", "gesv, trsv"),
            ("--method", "gaus", "cublas, cusolver, gauss_block, lapack"),
            ("--gpu", "*A100*", "NVIDIA Test 100"),
            ("--baseline", "qr", "cusolver"),
        ):
            self.page(option, word, expect=2)
            self.assertIn(f"{option} {word}: no record", self.stderr)
            self.assertIn(there, self.stderr)

    def test_speedups_are_over_the_vendor_or_the_baseline(self):
        for options, over, expected in (((), "cusolver", 0.25), (("--baseline", "lapack"), "lapack", 0.5)):
            page = self.page("--problem", "gesv", *options)
            self.assertIn(f"Speedup over {over}", page.words("baseline"))
            name = next(n for n in page.figures["baseline"] if "100" in n)
            lines = (self.base / "out" / "data" / f"{name}.csv").read_text().splitlines()
            found = [float(line.split(",")[2]) for line in lines if line.startswith("gauss_block,")]
            self.assertEqual(len(found), 3)
            for value in found:
                self.assertAlmostEqual(value, expected, delta=0.05)

    def test_papers_are_shown_if_their_plans_ran_and_folded(self):
        def sections(night, *options):
            file = night.write(self.base / "papers.h5")
            self.assertEqual(main([str(file), "-o", str(self.base / "p"), *options]), 0)
            return (self.base / "p" / "index.html").read_text()

        self.assertNotIn('id="papers"', sections(some_night()))
        own = sections(some_night("fuhrmann-figure-6.1"))
        self.assertRegex(own, r'id="papers"><h2>[^<]*</h2><details><summary>')
        self.assertNotIn('id="papers"', sections(some_night("fuhrmann-figure-6.1"), "--no-papers"))

    def test_a_method_has_one_colour_on_the_whole_page(self):
        page = self.page()
        numbers = methods(load([self.file]).records)
        self.assertEqual(len(set(numbers.values())), 4)
        seen = {}
        for plot in page.plots.values():
            for line in plot["series"]:
                name = line["l"].split("/")[-1].split(" ")[0].split(",")[0]
                seen.setdefault(line["c"], set()).add(name if name in numbers else None)
        self.assertEqual({number: {name} for name, number in numbers.items()} | {None: {None}}, seen)
        for dark in (False, True):
            found = [colour(i, dark) for i in range(80)]
            self.assertEqual(len(set(found)), 80)
            self.assertGreaterEqual(min(contrast(c, PAPER[dark]) for c in found), 3)
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)

    def test_paper_figures_have_no_title_and_their_captions_are_text(self):
        self.page("--problem", "gesv", "--method", "cusolver", "--figures", "svg")
        figures = self.base / "out" / "figures"
        captions = dict(line.split(": ", 1) for line in (figures / "captions.txt").read_text().splitlines())
        self.assertEqual({p.stem for p in figures.glob("*.svg")}, set(captions))
        name = next(n for n in captions if n.startswith("time-") and "100" in n)
        self.assertEqual(captions[name], "Time: gesv, double, NVIDIA Test 100.")
        svg = (figures / f"{name}.svg").read_text()
        self.assertNotIn("Time: gesv", svg)
        self.assertIn("time [s]", svg)
        self.assertIn('width="244.8pt"', svg)

    def test_tex_figures_need_tex(self):
        with mock.patch("shutil.which", return_value=None):
            self.page("--figures", "pgf", expect=2)
        self.assertIn("pdflatex", self.stderr)

    @unittest.skipUnless(shutil.which("pdflatex"), "needs pdflatex (Debian: texlive-latex-base)")
    def test_tex_figures_contain_text(self):
        self.page("--problem", "trsv", "--gpu", "*100*", "--figures", "pgf")
        figure = next((self.base / "out" / "figures").glob("time-*.pgf"))
        document = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{%s}\end{document}"
        (self.base / "paper.tex").write_text(document % figure)
        tex = ["pdflatex", "-interaction=batchmode", "paper.tex"]
        self.assertEqual(subprocess.run(tex, cwd=self.base, stdout=subprocess.DEVNULL, check=False).returncode, 0)
        self.assertNotIn("Time:", figure.read_text())


if __name__ == "__main__":
    unittest.main()
