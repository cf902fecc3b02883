"""Tests that the matrix store stays within its limit, and that the records do not depend on it."""

import os
import re
import subprocess
import time
import unittest

import harness
from harness import FAULTY, SweepTest

# two methods share each matrix; a file of n = 40 takes about 18 KB
PLAN = """
name: store
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: [fault_none, gauss_serial], n: 40, seed: 1:12:1, milliseconds: 20}
  - {problem: gemm, method: [serial, openblas], n: 30, m: 20, k: 10, seed: [1, 2, 3], matrix: {kind: uniform}}
"""


def stored_bytes(directory):
    return sum(path.stat().st_size for path in (directory / "matrices").glob("*.h5"))


class Limit(SweepTest):
    def outcome(self, directory):
        return {r["key"]: (r["status"], r["matrix_digest"]) for r in self.records(directory)}

    def test_records_are_the_same_for_every_limit(self):
        plan = self.plan(PLAN)
        free = self.sweep(plan, "--store-limit", "none", output="free", program=FAULTY)
        expected = self.outcome(free)
        self.assertEqual({status for status, _ in expected.values()}, {"pass"})
        self.assertGreater(stored_bytes(free), 250000)
        for limit, ranks in (("200KiB", 0), ("200KiB", 3), ("64KiB", 2), ("0", 2)):
            directory = self.sweep(
                plan, "--store-limit", limit, ranks=ranks, output=f"limit{limit}-{ranks}", program=FAULTY
            )
            self.assertEqual(self.outcome(directory), expected)
            kib = int(limit.removesuffix("KiB"))
            self.assertLessEqual(stored_bytes(directory), kib << 10)
            if kib > 0:
                self.assertGreater(stored_bytes(directory), 0)
            if kib < 200:
                self.assertIn(f"does not fit into the store of {'64.0 KiB' if kib else '0 B'}: ", self.stderr)
                self.assertIn("a larger store_limit in the plan (or --store-limit) gives more room", self.stderr)

    def test_the_limit_holds_at_every_moment(self):
        directory = self.folder / "run"
        with subprocess.Popen(
            harness.command(["run", self.plan(PLAN), "-o", directory, "--store-limit", "128KiB"], 3, FAULTY),
            env=harness.environment(),
            stderr=subprocess.DEVNULL,
        ) as process:
            largest = 0
            while process.poll() is None:
                try:
                    largest = max(largest, stored_bytes(directory))
                except FileNotFoundError:
                    continue  # removed between listing and stat
                time.sleep(0.002)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(largest, 0)
        self.assertLessEqual(largest, 128 << 10)

    def test_a_resume_shrinks_the_store_and_keeps_needed_files(self):
        plan = self.plan(PLAN)
        directory = self.sweep(plan, "--store-limit", "none", program=FAULTY)
        # Two more trials use stored matrices, two use new ones.
        more = self.plan(PLAN + "  - {problem: gesv, method: lapack, n: 40, seed: [1, 2, 30, 31]}\n")
        self.sweep(more, "--resume", "--store-limit", "100KiB", program=FAULTY)
        self.assertLessEqual(stored_bytes(directory), 100 << 10)
        loaded = {r["matrix_seed"]: r["load_seconds"] >= 0 for r in self.records(directory) if r["method"] == "lapack"}
        self.assertEqual(loaded, {1: True, 2: True, 30: False, 31: False}, "1 and 2 were read, not generated")

    def test_the_option_overrides_the_plans_limit(self):
        plan = self.plan("store_limit: 0\n" + PLAN)
        self.assertEqual(stored_bytes(self.sweep(plan, output="plan", program=FAULTY)), 0)
        self.assertGreater(stored_bytes(self.sweep(plan, "--store-limit", "none", output="option", program=FAULTY)), 0)

    def test_an_invalid_limit_is_refused(self):
        done = self.ran(
            ["run", self.plan(PLAN), "-o", self.folder / "run", "--store-limit", "50GB"], program=FAULTY, code=2
        )
        self.assertIn("50GiB", done.stderr)
        self.assertFalse((self.folder / "run").exists())


class Estimate(SweepTest):
    def announced(self, plan):
        """Returns the files and bytes that `gaussweep plan` expects in the store."""
        done = self.ran(["plan", plan, "--backend", "emulated"], program=FAULTY)
        found = re.search(r"matrices\s+on\s+disk:\s+(\d+)\s+\(([\d.]+)\s+(B|KiB|MiB)\)", done.stdout)
        files, size, unit = found.groups()
        return int(files), float(size) * {"B": 1, "KiB": 2**10, "MiB": 2**20}[unit]

    def test_plan_predicts_the_stored_files(self):
        plan = self.plan(PLAN)
        files, size = self.announced(plan)
        directory = self.sweep(plan, "--backend", "emulated", "--store-limit", "none", program=FAULTY)
        self.assertEqual(files, len(list((directory / "matrices").glob("*.h5"))), "A and B of gemm are both stored")
        rounding = 0.05 * 2**20
        self.assertLessEqual(stored_bytes(directory), size + rounding)
        self.assertLessEqual(size, 1.5 * stored_bytes(directory) + rounding)

    def test_plan_ignores_matrices_that_are_never_stored(self):
        self.assertEqual(self.announced(self.plan("store: never\n" + PLAN)), (0, 0))


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
