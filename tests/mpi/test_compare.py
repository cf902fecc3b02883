"""`compare` end to end: a real run's records, with drawn times instead of what a loaded machine measured."""

import contextlib
import io
import pathlib
import shutil
import sys
import unittest

import h5py
import numpy

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import compare_runs  # noqa: E402

PLAN = """
name: twice
precision: [float, double]
repeats: 5
warmup: 0
matrix: {kind: spd, seed: 3}
sweep:
  - {problem: gesv, method: [gauss_serial, gauss_jordan_serial, crout, lapack], n: [4:20:4], seed: [1, 2, 3, 4]}
  - {problem: getrf, method: [crout_serial, lapack], n: [4:20:4], seed: [1, 2, 3, 4]}
"""


class CompareTwoRuns(harness.SweepTest):
    def redrawn(self, source, name, seed, scatter):
        """A copy as of a GPU, whose samples scatter around times that the trial's row decides.

        In a CPU's times, which scatter by more, no tenth is found.
        """
        path = self.folder / name
        shutil.copyfile(source, path)
        random = numpy.random.default_rng(seed)
        with h5py.File(path, "r+") as file:
            samples = file["samples"][:]
            samples["seconds"] = (
                1e-3 * (1 + samples["trial"] % 7) * numpy.exp(scatter * random.standard_normal(len(samples)))
            )
            file["samples"][:] = samples
            records = file["records"][:]
            records["backend"], records["gpu_name"], records["launch_bound"] = "cuda", "Test GPU", 0
            file["records"][:] = records
            compare_runs.forget_checksums(file)
        return path

    def setUp(self):
        super().setUp()
        self.results = self.sweep(self.plan(PLAN), "--backend", "host") / "results.h5"

    def test_the_same_twice_and_one_slowed(self):
        for scatter in (0.002, 0.02):
            base, new = (self.redrawn(self.results, f"{seed}.h5", seed, scatter) for seed in (1, 2))
            code, said = compare_runs.compare(harness.GAUSSWEEP, base, new)
            self.assertEqual(sum(compare_runs.verdicts(said).values()), 240)
            self.assertEqual(compare_runs.judge(harness.GAUSSWEEP, base, new, self.folder, "gesv/crout"), [])
            self.assertEqual(compare_runs.judge(harness.GAUSSWEEP, base, new, self.folder, "getrf/lapack"), [])

    def test_the_judge_sees_what_is_wrong(self):
        """Runs that differ, and a slowing that drowns among others, are complaints: of six methods three change."""
        base, new = self.redrawn(self.results, "1.h5", 1, 0.02), self.redrawn(self.results, "2.h5", 2, 0.02)
        for method in ("gesv/crout", "gesv/gauss_serial"):
            compare_runs.slow_down(new, self.folder / "worse.h5", method)
            shutil.move(self.folder / "worse.h5", new)
        with contextlib.redirect_stdout(io.StringIO()):  # a line a trial
            complaints = compare_runs.judge(harness.GAUSSWEEP, base, new, self.folder, "gesv/lapack")
        said = " ".join(complaints)
        self.assertIn("of 240 trials are SAME or UNCLEAR", said)
        self.assertIn("the same twice, but slower as a whole: ['gesv/crout', 'gesv/gauss_serial']", said)
        self.assertIn("gesv/lapack was slowed, found was []", said)


if __name__ == "__main__":
    unittest.main()
