"""Tests sweeps whose ranks have several GPUs, here emulated ones."""

import json
import unittest

from harness import SweepTest, journal

PLAN = """
name: several
repeats: 2
stages: always
matrix: {kind: uniform}
sweep:
  - {problem: getrf, method: [recursive, multi_gpu], n: [1, 70], block: 32, gpus: [1, 2, 3, 4], gpus_from: 1}
  - {problem: [potrf, posv], method: multi_gpu, n: 70, block: 64, gpus: 2, gpus_from: 1, matrix: {kind: spd}}
  - {problem: potrf, method: multi_gpu, n: 70, gpus: 2, gpus_from: 1, uplo: upper, matrix: {kind: spd}}
  - {problem: gesv, method: multi_gpu, n: 70, nrhs: 3, block: 32, gpus: 3, gpus_from: 1}
"""
ONE_GPU = """
name: one
repeats: 1
sweep: [{problem: getrf, method: recursive, n: 20}]
"""


def gpus_of(record):
    """Returns the parameter `gpus`; 0 if the method does not have it."""
    return json.loads(record["parameters"]).get("gpus", 0)


class SeveralGpus(SweepTest):
    def test_trials_run_on_the_gpus_that_their_rank_has(self):
        directory = self.sweep(self.plan(PLAN), "--backend", "emulated", "--gpus-per-rank", "3")
        records = journal(directory)[0]
        self.assertEqual(len(records), 2 + 8 + 2 + 1 + 1)  # getrf/recursive has no parameter `gpus`
        for record in records:
            with self.subTest(record["method"], n=record["n"], parameters=record["parameters"]):
                self.assertEqual(record["gpu_count"], str(max(1, gpus_of(record))))
                if record["uplo"] == "upper" or gpus_of(record) == 4:
                    self.assertEqual(record["status"], "skipped")
                else:
                    self.assertEqual(record["status"], "pass", record["message"])
        lacking = [r["message"] for r in records if gpus_of(r) == 4]
        self.assertEqual({"needs 4 GPUs, the rank has 3" in message for message in lacking}, {True})
        stages = {s["kernel"] for r in records if gpus_of(r) == 2 for s in r.get("stages", [])}
        self.assertLessEqual({"panel", "transfer", "update", "update_ahead"}, stages)
        listing = self.ran(["summary", directory]).stdout
        self.assertIn("GPUS", listing)

    def test_settings_of_one_gpu_are_refused(self):
        plan = self.plan(PLAN.replace("repeats: 2", "repeats: 1\ncache: cold"))
        records = journal(self.sweep(plan, "--backend", "emulated", "--gpus-per-rank", "4"))[0]
        for record in records:
            expected = "skipped" if gpus_of(record) > 1 or record["uplo"] == "upper" else "pass"
            self.assertEqual(record["status"], expected, record["message"])

    def test_small_matrices_stay_on_one_gpu(self):
        plan = self.plan(PLAN.replace("gpus_from: 1", "gpus_from: 71").replace("stages: always", "cache: cold"))
        records = journal(self.sweep(plan, "--backend", "emulated", "--gpus-per-rank", "1"))[0]
        for record in records:
            expected = "skipped" if record["uplo"] == "upper" else "pass"
            self.assertEqual((record["gpu_count"], record["status"]), ("1", expected), record["message"])

    def test_every_rank_has_devices_of_its_own(self):
        plan = self.plan(PLAN)
        directory = self.sweep(plan, "--backend", "emulated", "--gpus-per-rank", "4", ranks=2)
        self.assertEqual({r["status"] for r in journal(directory)[0] if r["uplo"] != "upper"}, {"pass"})

    def test_trials_of_one_gpu_keep_their_keys(self):
        plan = self.plan(ONE_GPU)
        directory = self.sweep(plan, "--backend", "emulated")
        first = journal(directory)[0]
        self.sweep(plan, "--resume", "--backend", "emulated", "--gpus-per-rank", "2")
        self.assertEqual(journal(directory)[0], first)


if __name__ == "__main__":
    unittest.main()
