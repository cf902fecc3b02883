"""Tests that methods which cheat, for example by keeping an earlier answer, are detected, and that honest ones pass.

GAUSSWEEP_TEST_GPUS: the GPUs to run on (as in CUDA_VISIBLE_DEVICES); without it, emulated.
"""

import json
import os
import unittest

import harness
from harness import FAULTY, SweepTest

GPUS = os.environ.get("GAUSSWEEP_TEST_GPUS", "")
PLAN = harness.SOURCE / "tests" / "gpu" / "cheats.yaml"


class Cheats(SweepTest):
    def test_each_is_caught(self):
        directory = self.sweep(PLAN, program=FAULTY, code=1, CUDA_VISIBLE_DEVICES=GPUS)
        records = {(r["method"], r["matrix_kind"]): r for r in self.records(directory)}
        by_method = {method: r for (method, _), r in records.items()}
        for r in records.values():
            self.assertEqual(r["backend"], "cuda" if GPUS else "emulated")

        def caught(method, words, bits):
            record = by_method[method]
            self.assertEqual(record["status"], "failed", method)
            self.assertIn(words, record["message"], method)
            self.assertEqual(record["repeats_bits"], bits, method)

        caught("cheat_keeps_in_workspace", "NaN", 1)
        caught("cheat_keeps", "residual ratio", 0)
        caught("cheat_right_in_sixth", "residual ratio", 0)
        caught("cheat_wrong_in_fifth", "residual ratio", 0)
        caught("cheat_overwrites", "overwrote its inputs", 1)
        behind = by_method["cheat_writes_behind"]
        self.assertEqual(behind["status"], "failed")
        self.assertIn("element 60 behind B", behind["message"])
        caught("cheat_reads_other_triangle", "NaN", 1)
        caught("cheat_writes_other_triangle", "unreferenced triangle of A", 1)
        caught("cheat_info_seven", "info is 7, but no pivot is 0", 1)
        caught("cheat_info_zero", "info is 0, but pivot 2 is 0", 1)
        for method in ("cheat_keeps_both", "cheat_sloppy"):
            self.assertEqual(by_method[method]["status"], "pass")
        self.assertEqual(by_method["cheat_keeps_both"]["timing"], "suspect")
        self.assertGreater(by_method["cheat_sloppy"]["digits_lost"], 2)
        for method in ("direct", "column_sweep", "blocked"):
            self.assert_not_accused(by_method[method])
        for kind in ("uniform", "ones"):
            self.assert_not_accused(records["recursive", kind])

        done = harness.run(["summary", directory, "--format", "json"])
        doubts = {(row["method"], row["doubt"]) for row in json.loads(done.stdout)["doubts"]}
        self.assertEqual(doubts, {("gemm/cheat_keeps_both", "timing"), ("trsv/cheat_sloppy", "accuracy")})
        table = harness.run(["summary", directory]).stdout
        self.assertIn("Doubtful", table)

    def assert_not_accused(self, record):
        self.assertEqual(record["status"], "pass", record["message"])
        self.assertEqual(record["repeats_bits"], 1)
        self.assertEqual(record["timing"], "")
        self.assertLess(record["digits_lost"], 2)


if __name__ == "__main__":
    unittest.main()
