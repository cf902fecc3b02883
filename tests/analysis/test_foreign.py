"""Tests untrusted results files: none of their texts becomes markup, TeX or a formula, or stops the report."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import fixture
from matplotlib.backends import backend_pgf
from pages import ROOT, Reader, report

from analysis import figures
from analysis.cli import build
from analysis.loader import load
from analysis.words import matplotlib_text, tex

GPU = "NVIDIA Test 100"
EVIL = "\"'><svg-x onload=a></script>/\\input{secret}$x_^~%#&amp; b"
TEXTS = """matrix matrix_kind matrix_digest uplo convergence message host parameters reference_method problem_title
throttle_reason precision""".split()


def night(**foreign):
    """Returns trials of four methods. Every second one gets the column values `foreign`."""
    result = fixture.Night()
    for n in (64, 128, 256):
        for i, method in enumerate(("lapack", "gauss_serial", "cusolver", "gauss_block")):
            stages = [("eliminate", 1, 1e-3, 0.5), ("update", 1, 1e-3, 0.5)]
            trial = result.trial("gesv", method, n, 1e-6 * n * (i + 1), gpu=GPU if i > 1 else None, stages=stages)
            if i % 2:
                trial.update(foreign)
    return result


class ForeignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.base = Path(folder.name)
        self.addCleanup(folder.cleanup)

    def page(self, results, papers="none"):
        return build(load([results.write(self.base / "results.h5", variable=True)]), "foreign", of_papers=papers)

    def read(self, results, papers="none"):
        return Reader.of(self.page(results, papers).write(self.base / "out"))

    def test_no_text_is_markup(self):
        for names in (["problem"], ["method", "gpu_name"], TEXTS):
            with self.subTest(names):
                results = night(**dict.fromkeys(names, EVIL))
                for row in results.stages:
                    row["kernel"] = EVIL
                page = self.read(results)
                self.assertNotIn("svg-x", page.tags)
                self.assertNotIn(EVIL[:4], page.text, "the end of an attribute, or of a script")
                ids = set(re.findall(r' id="([^"]+)"', page.text))
                self.assertLessEqual({a[1:] for a in page.addresses if a.startswith("#")}, ids)

    def test_no_value_of_a_column_stops_the_report(self):
        """Values of a future version, and values that equal column names."""
        for names, value, papers in (
            (["precision"], "tomorrow", "all"),
            (["status"], "tomorrow", "all"),
            (["backend", "problem", "convergence", "timing", "uplo"], "tomorrow", "all"),
            (["status"], "problem", "none"),
            (["problem", "precision", "method", "matrix"], "precision", "none"),
        ):
            with self.subTest(f"{names} = {value}"):
                self.assertIn("12 trials", self.read(night(**dict.fromkeys(names, value)), papers).words("overview"))

    def test_tex_escapes_text(self):
        self.assertEqual(tex("a&b_c%#{}"), r"a\&b\_c\%\#\{\}")
        self.assertEqual(tex("\\input{x}"), r"\textbackslash{}input\{x\}")
        self.assertEqual(tex("$^~"), r"\textdollar{}\textasciicircum{}\textasciitilde{}")
        self.assertEqual(tex('a---"b'), r"a-{}-{}-{\ttfamily\char34}b")
        self.assertEqual(tex("é × \u6f22\n\x01"), r"\'{e} \ensuremath{\times} [6F22] [FFFD]")
        self.assertEqual(matplotlib_text("_$x$\n"), r" _\$x\$")

    def test_figures_contain_no_command_of_a_file(self):
        """Needs no TeX: a mock replaces the function that measures texts with TeX, and gives each the same size."""
        page = self.page(night(method=EVIL, matrix="a&b.mtx"))
        self.assertTrue(page.drawn)
        with mock.patch.object(backend_pgf, "LatexManager") as manager, mock.patch("shutil.which", return_value="tex"):
            measure = manager._get_cached_or_new.return_value.get_width_height_descent
            measure.return_value = 10, 8, 2
            (self.base / "pgf").mkdir()
            figures.write(page, self.base / "pgf", "pgf")
        measured = " ".join(str(call.args[0]) for call in measure.call_args_list)
        drawn = "".join(p.read_text(encoding="utf-8") for p in (self.base / "pgf" / "figures").glob("*.pgf"))
        for words in (measured, drawn):
            self.assertTrue(r"\textbackslash{}input\{secret\}\textdollar{}" in words)
            self.assertFalse(r"\input{s" in words)

    def test_figures_are_complete_and_captions_single_lines(self):
        page = self.page(night(method=EVIL + "\n\x01", problem="_p"))
        (self.base / "svg").mkdir()
        figures.write(page, self.base / "svg", "svg")
        files = sorted((self.base / "svg" / "figures").iterdir())
        for path in files:
            if path.suffix == ".svg":
                ElementTree.parse(path)
        captions = (self.base / "svg" / "figures" / "captions.txt").read_text(encoding="utf-8")
        self.assertEqual(len(captions.splitlines()), sum(path.suffix == ".svg" for path in files))
        self.assertNotRegex(captions, "[\x00-\x08\x1b]")
        self.assertEqual([p.name for p in (self.base / "svg").iterdir()], ["figures"], "no partial file is left")

    @unittest.skipUnless(shutil.which("pdflatex"), "needs pdflatex (Debian: texlive-latex-base)")
    def test_tex_compiles_the_figures(self):
        report(night(method=EVIL).write(self.base / "r.h5"), "--figures", "pgf", out=self.base / "out")
        figure = r"\begin{figure}\input{%s}\input{%s}\end{figure}\clearpage"
        several = (self.base / "out" / "figures").glob("*.pgf")
        inputs = "".join(figure % (path, path.with_suffix(".tex")) for path in several)
        document = rf"\documentclass{{article}}\usepackage{{pgf}}\begin{{document}}{inputs}\end{{document}}"
        (self.base / "paper.tex").write_text(document, encoding="utf-8")
        words = ["pdflatex", "-interaction=batchmode", "paper.tex"]
        self.assertEqual(subprocess.run(words, cwd=self.base, stdout=subprocess.DEVNULL, check=False).returncode, 0)


class OutputTest(unittest.TestCase):
    def run_report(self, *arguments, stdout):
        with tempfile.TemporaryDirectory() as folder:
            night().write(Path(folder) / "r.h5")
            words = [str(ROOT / "analysis" / "report"), *arguments]
            done = subprocess.run(
                words, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=600, check=False
            )
            return done, sorted(path.name for path in Path(folder).iterdir())

    def test_full_device(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["r.h5", "-o", "out", "--no-papers"], ["r.h5", "--trend"], ["--help"]):
                with self.subTest(arguments):
                    done, _ = self.run_report(*arguments, stdout=full)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("standard output cannot be written: No space left", done.stderr)
                    self.assertNotIn("Traceback", done.stderr)

    def test_an_empty_name_is_not_the_current_folder(self):
        for arguments in (["r.h5", "-o", ""], ["", "-o", "out"]):
            with self.subTest(arguments):
                done, left = self.run_report(*arguments, stdout=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("an empty name", done.stderr)
                self.assertEqual(left, ["r.h5"])


if __name__ == "__main__":
    unittest.main()
