"""Tests the memory and the page size of reports on many records. Runs in `tests/run.sh --all` only."""

import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fixture
from pages import ROOT, Reader, report


class SizeTest(unittest.TestCase):
    """tests/benchmark/report_size.py measures the time."""

    def test_memory_grows_by_at_most_1_gib_per_100000_records(self):
        peak = {}
        for count in (500, 2_500):  # in this order, because the peak is the largest of all children
            with tempfile.TemporaryDirectory() as folder:
                path = fixture.bulk(Path(folder) / "results.h5", count, 10)
                code = "import sys; from pages import build, load;" " build(load([sys.argv[1]])).write(sys.argv[2])"
                environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'analysis'}"}
                command = [sys.executable, "-c", code, path, Path(folder) / "out"]
                subprocess.run(command, env=environment, check=True)
                page = Reader.of(Path(folder) / "out" / "index.html")
                self.assertIn(f"{count} trials", page.words("overview"))
            peak[count] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess((peak[2_500] - peak[500]) / 2_000, 2**30 / 100_000)

    def test_a_page_of_ten_thousand_records(self):
        with tempfile.TemporaryDirectory() as folder:
            file = fixture.bulk(Path(folder) / "results.h5", 10_000, 5)
            page, _ = report(file, out=Path(folder) / "out")
            self.assertLessEqual((Path(folder) / "out" / "index.html").stat().st_size, 3_000_000)
            self.assertTrue(page.plots)


if __name__ == "__main__":
    unittest.main()
