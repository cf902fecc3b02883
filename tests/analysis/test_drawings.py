"""Drawings in processes of their own: the same page as without them, errors that come out, and nothing left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from analysis import plots
from analysis.cli import build
from analysis.drawings import Drawings
from analysis.loader import load
from analysis.plots import Plot, Series
from fixture import Night
from pages import ROOT

SLOW = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from analysis import plots
from analysis.drawings import Drawings

def slow(plot):
    os.write(1, b"%d\\n" % os.getpid())  # at once: two write
    time.sleep(1)
    return "", []

plots.draw = slow
with Drawings(workers=2) as drawings:
    waiting = [drawings.draw(None) for _ in range(20)]
    waiting[-1]()
"""


def line(title, y=(1.0, 2.0)):
    return Plot("p", title, "n", "time", [Series("a", [1, 2], list(y))])


class Beside(unittest.TestCase):
    def test_the_page_is_the_same_to_the_byte(self):
        night = Night()
        for n in (64, 128, 256):
            for method, factor in (("alpha", 1), ("<beta>", 2)):
                for precision in ("float", "double"):
                    night.trial("gesv", method, n, factor * n * 1e-6, precision=precision, gpu="NVIDIA Test 100")
        with tempfile.TemporaryDirectory() as folder:
            file, made = night.write(Path(folder) / "results.h5"), []
            for workers in (1, 3):
                with Drawings(workers) as drawings:
                    out = Path(folder) / str(workers)
                    build(load([file]), drawings=drawings).write(out)
                made.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()})
        self.assertGreater(sum(path.suffix == ".svg" for path in made[0]), 5)
        self.assertEqual(made[0], made[1])

    def test_what_a_drawing_raises_is_raised_where_it_is_wanted(self):
        for workers in (1, 2):
            with self.subTest(workers=workers), Drawings(workers) as drawings, self.assertRaises(ValueError):
                good, bad = drawings.draw(line("fine")), drawings.draw(line("bad", y=(1.0, 2.0, 3.0)))
                self.assertIn("<svg", good()[0])
                bad()

    def test_where_no_more_processes_can_be_had_this_one_draws(self):
        forked = []

        def fork_once():
            if forked:
                raise BlockingIOError("no more processes")
            forked.append(fork())
            return forked[0]

        fork = os.fork
        with mock.patch("os.fork", fork_once), Drawings(3) as drawings:
            made = [drawings.draw(line(title))() for title in ("one", "two")]
        self.assertEqual([svg for svg, _ in made], [plots.draw(line(title))[0] for title in ("one", "two")])
        self.assertEqual(len(forked), 1)
        self.assertEqual(multiprocessing.active_children(), [])


@unittest.skipUnless(Path("/proc/self/stat").exists(), "needs /proc")
class Ended(unittest.TestCase):
    def setUp(self):
        # a group of its own, as a terminal gives it: Ctrl-C is for all of it
        self.main = subprocess.Popen(
            [sys.executable, "-c", SLOW, str(ROOT)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self.main.stdout.close)
        self.workers = {int(self.main.stdout.readline()) for _ in range(2)}

    def left(self, seconds):
        """Workers that are there after so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and any(map(self.runs, self.workers)):
            time.sleep(0.02)
        return [w for w in self.workers if self.runs(w)]

    @staticmethod
    def runs(process):
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_by_ctrl_c(self):
        self.assertNotIn(self.main.pid, self.workers)
        os.killpg(self.main.pid, signal.SIGINT)
        self.main.wait(timeout=60)
        self.assertEqual(self.main.returncode, -signal.SIGINT)
        self.assertEqual(self.left(0), [])

    def test_by_being_killed(self):
        self.main.kill()
        self.main.wait(timeout=60)
        self.assertEqual(self.left(60), [])


if __name__ == "__main__":
    unittest.main()
