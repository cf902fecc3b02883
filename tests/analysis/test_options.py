"""What --problem, --method, --gpu, --baseline, --title and the papers' options make of a page."""

import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fixture
from pages import NotDrawn, command, report

from analysis.cli import main
from analysis.identity import name_styles
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

    def test_what_is_chosen_is_all_that_is_shown(self):
        page = self.page("--problem", "gesv", "--method", "cusolver,gesv/lap*", "--gpu", "*100*", "--title", "a < b")
        self.assertIn("problem-gesv", page.sections)
        self.assertNotIn("problem-trsv", page.sections)
        self.assertEqual({r["method"] for r in page.rows("ranking-tally")}, {"cusolver", "lapack"})
        self.assertNotIn("Old", page.words("verdict"))
        self.assertIn("<h1>a &lt; b</h1>", page.text)

    def test_words_that_match_nothing_say_what_there_is(self):
        for option, word, there in (
            ("--problem", "gezv", "gesv, trsv"),
            ("--method", "gaus", "cublas, cusolver, gauss_block, lapack"),
            ("--gpu", "*A100*", "NVIDIA Test 100"),
            ("--baseline", "qr", "cusolver"),
        ):
            self.page(option, word, expect=2)
            self.assertIn(f"{option} {word}: no record", self.stderr)
            self.assertIn(there, self.stderr)

    def test_speedups_are_over_the_vendor_or_what_is_asked_for(self):
        for options, over, expected in (((), "cusolver", 0.25), (("--baseline", "lapack"), "lapack", 0.5)):
            page = self.page("--problem", "gesv", *options)
            self.assertIn(f"Speedup over {over}", page.words("baseline"))
            name = next(n for n in page.figures["baseline"] if "100" in n)
            lines = (self.base / "out" / "data" / f"{name}.csv").read_text().splitlines()
            found = [float(line.split(",")[2]) for line in lines if line.startswith("gauss_block,")]
            self.assertEqual(len(found), 3)
            for value in found:
                self.assertAlmostEqual(value, expected, delta=0.05)

    def test_papers_are_shown_where_their_plans_were_run_and_folded(self):
        def sections(night, *options):
            file = night.write(self.base / "papers.h5")
            with mock.patch("analysis.cli.Drawings", NotDrawn):
                self.assertEqual(main([str(file), "-o", str(self.base / "p"), *options]), 0)
            return (self.base / "p" / "index.html").read_text()

        self.assertNotIn('id="papers"', sections(some_night()))
        own = sections(some_night("fuhrmann-figure-6.1"))
        self.assertRegex(own, r'id="papers"><h2>[^<]*</h2><details><summary>')
        self.assertNotIn('id="papers"', sections(some_night("fuhrmann-figure-6.1"), "--no-papers"))

    def test_text_of_drawings_is_text_and_small(self):
        page, _ = command(self.file, "--method", "cusolver", "--gpu", "*100*", out=self.base / "out")
        svg = re.search(r"<svg.*?</svg>", page.text, re.S).group(0)
        self.assertRegex(svg, r"<text[^>]*>Time: gesv, double")
        paper = next((self.base / "out" / "plots").glob("time-*.svg")).read_text()
        self.assertIn("Verdana", paper)

    def test_one_colour_a_method_and_none_twice_in_a_problem(self):
        records = load([self.file]).records
        whole = dict(zip(records["method"], records["style"]))
        self.assertEqual(len(set(whole.values())), len({m: s for m, s in whole.items() if m != "cublas"}))
        name_styles(records)
        for _, group in records.groupby("problem"):
            styles = group.drop_duplicates("method")["style"]
            self.assertEqual(styles.nunique(), len(styles))


class SizeTest(unittest.TestCase):
    def test_a_page_of_ten_thousand_records(self):
        with tempfile.TemporaryDirectory() as folder:
            file = fixture.bulk(Path(folder) / "results.h5", 10_000, 5)
            page, _ = command(file, out=Path(folder) / "out")
            self.assertLessEqual((Path(folder) / "out" / "index.html").stat().st_size, 5_000_000)
            # What had no room stands beside the page, and is there.
            beside = re.findall(r'<img class="beside"[^>]* data-src="([^"]+)"', page.text)
            self.assertTrue(beside)
            self.assertEqual([p for p in beside if not (Path(folder) / "out" / p).is_file()], [])


if __name__ == "__main__":
    unittest.main()
