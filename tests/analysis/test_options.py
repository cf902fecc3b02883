"""Tests --problem, --method, --gpu, --baseline, --title and the papers' options."""

import itertools
import math
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fixture
import numpy as np
import pandas as pd
from pages import report, page_of

from analysis import figures
from analysis.cli import main
from analysis.colours import COLOURS, COUNT, PAPER, contrast
from analysis.frames import methods
from analysis.loader import load
from analysis.plots import Series, styled
from analysis.words import tex

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


def lab(colour):
    """Returns a colour in CIE L*a*b*, for the white of sRGB."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    ratios = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


class OptionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = Path(folder.name)
        self.file = some_night().write(self.base / "results.h5")

    def test_another_programs_page_is_kept(self):
        (self.base / "out").mkdir()
        (self.base / "out" / "index.html").write_text("mine")
        self.page(expect=2)
        self.assertIn("index.html is not a report", self.stderr)
        self.assertEqual((self.base / "out" / "index.html").read_text(), "mine")
        (self.base / "out" / "index.html").unlink()
        self.page()
        self.page()  # replaces a report

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
        for option, word, choices in (
            ("--problem", "gezv", "gesv, trsv"),
            ("--method", "gaus", "cublas, cusolver, gauss_block, lapack"),
            ("--gpu", "*A100*", "NVIDIA Test 100"),
            ("--baseline", "qr", "cusolver"),
        ):
            self.page(option, word, expect=2)
            self.assertIn(f"{option} {word}: no record", self.stderr)
            self.assertIn(choices, self.stderr)

    def test_speedups_are_over_the_vendor_or_the_baseline(self):
        for options, over, expected in (((), "cusolver", 0.25), (("--baseline", "lapack"), "lapack", 0.5)):
            page = self.page("--problem", "gesv", *options)
            self.assertIn(f"Speedup over {over}", page.words("baseline"))
            (name,) = page.figures["baseline"]
            lines = (self.base / "out" / "data" / f"{name}.csv").read_text().splitlines()
            found = [float(line.split(",")[3]) for line in lines if line.startswith('"gauss_block, Test"')]
            self.assertEqual(len(found), 3)
            for value in found:
                self.assertAlmostEqual(value, expected, delta=0.05)

    def test_papers_are_shown_if_their_plans_ran_and_folded_if_others_ran_too(self):
        def html(night, *options):
            file = night.write(self.base / "papers.h5")
            self.assertEqual(main([str(file), "-o", str(self.base / "p"), *options]), 0)
            return (self.base / "p" / "index.html").read_text()

        self.assertNotIn('id="papers"', html(some_night()))
        paper_only = html(some_night("fuhrmann-figure-6.1"))
        self.assertRegex(paper_only, r'id="papers"><h2>[^<]*</h2><h3')
        self.assertLess(paper_only.index('id="papers"'), paper_only.index('id="verdict"'))
        another = fixture.Night("another plan")
        another.trial("trsv", "cublas", 300, 1e-3, gpu=GPU)
        both = [str(self.base / "papers.h5"), str(another.write(self.base / "another.h5"))]
        self.assertEqual(main([*both, "-o", str(self.base / "m")]), 0)
        both = (self.base / "m" / "index.html").read_text()
        self.assertRegex(both, r'id="papers"><h2>[^<]*</h2><details class="kept"><summary>')
        self.assertNotIn('id="papers"', html(some_night("fuhrmann-figure-6.1"), "--no-papers"))

    def test_a_method_has_one_colour_on_the_whole_page(self):
        page = self.page()
        numbers = methods(load([self.file]).records)
        seen = {}
        for plot in page.plots.values():
            for line in plot["series"]:
                name = line["l"].split("/")[-1].split(" ")[0].split(",")[0]
                if name in numbers:
                    seen.setdefault(name, set()).add(line["c"])
        self.assertEqual(seen, {name: {number % COUNT} for name, number in numbers.items()})

    def test_seventeen_methods_differ_in_colour_or_dashes(self):
        night = fixture.Night("many")
        for i in range(17):
            night.trial("gesv", f"method_{i}", 256, 1e-3 * (i + 1), gpu=GPU)
            night.trial("gesv", f"method_{i}", 512, 2e-3 * (i + 1), gpu=GPU)
        night.trial("trsv", "other", 256, 1e-3, gpu=GPU)
        self.assertEqual(sorted(methods(pd.DataFrame(night.records)).values()), [0, *range(17)])
        page = page_of(night)
        for plot in page.plots.values():
            styles = {line["l"]: (line["c"], line["d"]) for line in plot["series"] if line["c"] is not None}
            self.assertEqual(len(set(styles.values())), len(styles))
            self.assertTrue(all(colour < COUNT for colour, _ in styles.values()))

    def test_published_and_measured_lines_have_one_colour_and_the_published_one_is_dashed(self):
        one, two = np.arange(2), np.arange(2) + 1
        series = [Series("a, published", one, two, of="a", dashed=True), Series("a, measured", one, two, of="a")]
        series += [Series("crout", one, two), Series("b, published", one, two, of="b", dashed=True)]
        (_, old, dashed), (_, new, solid), (_, crout, _), (_, other, _) = styled(series, {"crout": 3})
        self.assertEqual((old, solid, crout), (new, 0, 3))
        self.assertGreater(dashed, 0)
        self.assertEqual(len({old, crout, other}), 3)

    def test_colours_differ_from_each_other_and_from_the_paper(self):
        for paper, colours in zip(PAPER, COLOURS):
            self.assertEqual(len(colours), 8)
            self.assertGreaterEqual(min(contrast(c, paper) for c in colours), 3)
            distances = [math.dist(lab(one), lab(other)) for one, other in itertools.combinations(colours, 2)]
            self.assertGreaterEqual(min(distances), 35)  # delta E of CIE 1976; 2.3 is just noticeable
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)

    def test_paper_figures_have_no_title_and_their_captions_are_text(self):
        self.page("--problem", "gesv", "--method", "cusolver", "--figures", "svg")
        figures = self.base / "out" / "figures"
        captions = dict(line.split(": ", 1) for line in (figures / "captions.txt").read_text().splitlines())
        self.assertEqual({p.stem for p in figures.glob("*.svg")}, set(captions))
        name = next(n for n in captions if n.startswith("time-"))
        for fact in ("uniform, seed 0.", "median of 5 samples", "Bars:", "GPU NVIDIA Test 100", "commit abc1234"):
            self.assertIn(fact, captions[name])
        unranged = next(n for n in captions if n.startswith("transfer-"))
        self.assertNotIn("Bars:", captions[unranged], "no bars are drawn")
        svg = (figures / f"{name}.svg").read_text()
        self.assertNotIn("Time: gesv", svg)
        self.assertIn("time [s]", svg)
        self.assertIn('width="219.6pt"', svg)

    def test_only_the_named_paper_figures_are_written(self):
        self.page("--figures", "svg", "--only", "time-trsv,over-,rate-gesv")
        names = {path.stem for path in (self.base / "out" / "figures").glob("*.svg")}
        self.assertEqual({name[:9] for name in names}, {"time-trsv", "over-cuso", "rate-gesv"})
        index = (self.base / "out" / "index.html").read_text()
        self.page("--title", "not written", "--figures", "svg", "--only", "time-trsv,tme", expect=2)
        self.assertEqual((self.base / "out" / "index.html").read_text(), index)
        self.assertIn("--only time-trsv,tme: no figure's name contains 'tme'; there are ", self.stderr)
        self.assertIn("time-trsv-float", self.stderr)
        with self.assertRaises(SystemExit), mock.patch("sys.stderr"):
            main([str(self.file), "--only", "time"])

    def test_a_report_removes_the_figures_of_an_earlier_one(self):
        folder = self.base / "out" / "figures"
        self.page("--figures", "svg", "--only", "time-trsv,time-gesv")
        (folder / "own.svg").write_text("own")
        self.page("--problem", "trsv", "--figures", "pdf", "--only", "time-trsv")
        self.assertEqual({path.name.partition("-")[0] for path in folder.glob("*.svg")}, {"own.svg"})
        self.assertEqual({path.name[:9] for path in folder.glob("time-*")}, {"time-trsv"})
        self.page()
        self.assertEqual([path.name for path in folder.iterdir()], ["own.svg"])

    def test_other_files_in_the_folder_of_figures_are_kept(self):
        out, folder, elsewhere = self.base / "out", self.base / "out" / "figures", self.base / "elsewhere"
        folder.mkdir(parents=True)
        own = {"captions.txt": "setup: our lab\nplot: ours\n", "setup.pdf": "1", "plot.pdf": "2"}
        for own in (own | {"plot.tex": r"\caption{ours}"}, own):  # the second page replaces a page, but no figures
            for path in folder.iterdir():
                path.unlink()
            for name, words in own.items():
                (folder / name).write_text(words)
            self.page("--problem", "trsv")
            self.assertEqual({path.name: path.read_text() for path in folder.iterdir()}, own)
        (folder / "plot.tex").write_text(r"\caption{of a figure}")
        (folder / "plot.svg").mkdir()
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
        figures.remove_earlier(out)
        self.assertEqual({path.name for path in elsewhere.iterdir()}, {*own, "plot.tex", "plot.svg"})
        folder.unlink()
        elsewhere.rename(folder)
        figures.remove_earlier(out)
        self.assertEqual({path.name for path in folder.iterdir()}, {"setup.pdf", "plot.svg"})

    def test_a_page_that_replaces_none_removes_no_figures(self):
        folder = self.base / "figures"
        folder.mkdir()
        for name, words in (("captions.txt", "plot: ours"), ("plot.pdf", ""), ("plot.tex", r"\caption{ours}")):
            (folder / name).write_text(words)
        figures.write(mock.Mock(), self.base, "svg", [])
        self.assertTrue((folder / "plot.pdf").is_file())

    def test_paper_figures_mark_and_name_failed_answers(self):
        night = fixture.Night("failed")
        for problem, sizes in (("gesv", (256, 512)), ("getrf", (256,))):  # two sizes give lines, one gives bars
            for n in sizes:
                night.trial(problem, "cusolver", n, 1e-3, gpu=GPU)
                night.trial(problem, "gauss_block", n, 1e-4, gpu=GPU, status="failed")
        file = night.write(self.base / "failed.h5")
        report(file, "--figures", "svg", out=self.base / "failed")
        figures = self.base / "failed" / "figures"
        captions = dict(line.split(": ", 1) for line in (figures / "captions.txt").read_text().splitlines())
        for name in (n for n in captions if n.startswith("time-")):
            self.assertIn("did not pass. Failed: gauss_block", captions[name])
            self.assertIn("fill: #ffffff; stroke", (figures / f"{name}.svg").read_text(), "a hollow mark")
            self.assertIn("gauss_block", (figures / f"{name}.svg").read_text())

    def test_tex_figures_need_tex(self):
        with mock.patch("shutil.which", return_value=None):
            self.page("--figures", "pgf", expect=2)
        self.assertIn("texlive-pictures", self.stderr)
        self.assertFalse((self.base / "out").exists(), "nothing is written before the check")

    @unittest.skipUnless(shutil.which("pdflatex"), "needs pdflatex (Debian: texlive-latex-base)")
    def test_a_text_that_tex_rejects_is_an_error_of_its_figure(self):
        for words in ("lapack", "median"):  # in the legend, which TeX measures first, and at an axis
            with mock.patch("analysis.figures.tex", lambda value: tex(value).replace(words, r"\undefined")):
                self.page("--figures", "pgf", "--only", "time-gesv", expect=2)
            self.assertRegex(self.stderr, r"time-gesv\S*\.pgf: TeX failed: ")

    @unittest.skipUnless(shutil.which("pdflatex"), "needs pdflatex (Debian: texlive-latex-base)")
    def test_tex_figures_contain_text(self):
        # TeX fails at an underscore that is not escaped.
        self.page("--method", "gauss_block", "--gpu", "*100*", "--figures", "pgf")
        several = sorted((self.base / "out" / "figures").glob("*.pgf"))
        document = r"\documentclass[a4paper,twocolumn]{article}\usepackage{pgf}\begin{document}%s\end{document}"
        figure = r"\begin{figure}\input{%s}\input{%s}\end{figure}\clearpage"
        (self.base / "paper.tex").write_text(
            document % "".join(figure % (file, file.with_suffix(".tex")) for file in several)
        )
        tex = ["pdflatex", "-interaction=batchmode", "paper.tex"]
        self.assertEqual(subprocess.run(tex, cwd=self.base, stdout=subprocess.DEVNULL, check=False).returncode, 0)
        self.assertNotIn("Overfull", (self.base / "paper.log").read_text(errors="replace"))
        self.assertNotIn("Time:", next(f for f in several if f.stem.startswith("time-")).read_text())


if __name__ == "__main__":
    unittest.main()
