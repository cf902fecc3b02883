"""Tests the columns of records that identify a trial (matrix, expectation, times), and the lines that end a run."""

import json
import unittest

import h5py
import numpy as np
from harness import SweepTest, run


class Identity(SweepTest):
    def test_records_have_their_matrix_and_expectation(self):
        plan = (
            "name: identity\nrepeats: 1\ntolerance: {gesv: 1e-9}\nsweep:\n"
            "  - problem: gesv\n    method: [lapack, gauss_pivot_serial]\n    n: 20\n"
            "    matrix: [{kind: condition, condition: 10}, {kind: condition, condition: 1e6}]\n"
            "    expect: {lapack: [failed]}\n"
        )
        directory = self.sweep(self.plan(plan), code=1)
        records = self.records(directory)
        self.assertEqual(len(records), 4)
        self.assertEqual({r["matrix"] for r in records}, {"condition"})
        self.assertEqual({json.loads(r["matrix_parameters"])["condition"] for r in records}, {10, 1e6})
        for record in records:
            self.assertEqual(record["status"], "failed")
            self.assertEqual(record["expected"], int(record["method"] == "lapack"))
            self.assertRegex(record["end_time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            self.assertGreaterEqual(record["end_time"][:19], record["start_time"][:19])
        self.assertIn("2 expected failures (", self.stderr)
        self.assertIn(
            "2 trials did not end as the plan expects:\n  gesv/gauss_pivot_serial double n=20 on con", self.stderr
        )
        self.assertIn(f"gaussweep summary {directory} --failures", self.stderr)
        self.assertIn("--retry-failed", self.stderr)
        self.assertNotIn("  gesv/lapack", self.stderr)

        self.sweep(self.plan(plan.replace("{lapack: ", "{gauss_pivot_serial: ")), "--resume", code=1)
        self.assertIn("0 to do", self.stderr)
        for record in self.records(directory):
            self.assertEqual(record["expected"], int(record["method"] != "lapack"), "by the current plan")

    def test_matrices_have_the_parameters_of_the_plan(self):
        plan = (
            "repeats: 1\nsweep:\n  - problem: potrf\n    method: lapack\n    n: 24\n"
            "    matrix: [{kind: spd}, {kind: spd, condition: 1e5, mode: 2}, {kind: kernel, s: 0.5, lambda: 3}]\n"
        )
        directory = self.sweep(self.plan(plan))
        found = {}
        for record in self.records(directory):
            with h5py.File(directory / "matrices" / f"{record['matrix_digest']}.h5") as file:
                found[record["matrix_parameters"]] = np.array(file["A"])
        self.assertEqual(
            [json.loads(text) for text in sorted(found)], [{"condition": 1e5, "mode": 2}, {"lambda": 3, "s": 0.5}, {}]
        )
        self.assertAlmostEqual(np.linalg.cond(found['{"condition":100000.0,"mode":2}']) / 1e5, 1, 6)
        self.assertEqual(found['{"lambda":3.0,"s":0.5}'][0, 0], 4)

    def test_a_few_of_many_unexpected_ends_are_named(self):
        plan = (
            "name: many\nrepeats: 1\ntolerance: {gesv: 1e-9}\nsweep:\n"
            "  - {problem: gesv, method: lapack, n: 10, seed: 1:9:1}\n"
        )
        self.sweep(self.plan(plan), code=1)
        self.assertEqual(self.stderr.count("\n  gesv/lapack double n=10 on uniform"), 5)
        self.assertIn("\n  and 4 more\n", self.stderr)

    def test_pinned_and_pageable_operands_give_the_same_answers(self):
        plan = """
matrix: {kind: cauchy}
repeats: 2
sweep:
  - {problem: gesv, method: [gauss_block, gauss_pivot_serial], n: 33, host_memory: pageable}
  - {problem: gesv, method: [gauss_block, gauss_pivot_serial], n: 33, host_memory: pinned}
  - {problem: gemm, method: [shared, openblas], n: 40}
  - {problem: gemm, method: [shared, openblas], n: 40, host_memory: pinned}
"""
        records = self.records(self.sweep(self.plan(plan)))
        self.assertEqual(len(records), 8)
        self.assertEqual(len({r["key"] for r in records}), 8)
        by_method = {}
        for record in records:
            self.assertEqual((record["status"], record["message"]), ("pass", ""))
            self.assertGreater(record["d2h_seconds"], 0)
            by_method.setdefault(record["method"], {})[record["host_memory"]] = record
        for method, both in by_method.items():
            self.assertEqual(set(both), {"pageable", "pinned"}, method)
            for name in ("residual_ratio", "reference_difference", "matrix_digest"):
                self.assertEqual(both["pageable"][name], both["pinned"][name], (method, name))
        listed = run(["plan", self.plan(plan), "--explain", "--format", "json"]).stdout
        self.assertEqual([t["host_memory"] for t in json.loads(listed)].count("pinned"), 4)


if __name__ == "__main__":
    unittest.main()
