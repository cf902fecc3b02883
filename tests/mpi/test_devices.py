"""Tests that a rank whose device fails retires and no trial is lost, and that ranks do not need OpenBLAS's memory."""

import os
import pathlib
import resource
import unittest

import harness
from harness import FAULTY, SweepTest

PLAN = """
name: devices
repeats: 2
warmup: 0
timeout: 1min
matrix: {kind: identity}
sweep:
  - {problem: gesv, method: fault_good_kernel, n: 6, seed: 1:30:1}
"""


class Retirement(SweepTest):
    # The device fails after `fetches` copies to the host (tests/faults/faults.hpp). The probe of the device makes four
    # copies, so the fifth belongs to the rank's first trial, which no other rank can take from it.
    def fault(self, rank, fetches, how):
        return {"GAUSSWEEP_FAULT_DEVICE": f"{rank} {fetches} {how} {self.folder / 'gone'}"}

    def retired(self, directory):
        return [note["rank"] for note in harness.journal(directory)[1] if note["note"] == "retired"]

    def test_other_ranks_take_the_trials_of_a_failed_device(self):
        for rank, how in ((1, "dies"), (0, "refuses"), (2, "lies")):
            (self.folder / "gone").unlink(missing_ok=True)
            directory = self.sweep(self.plan(PLAN), ranks=3, output=how, program=FAULTY, **self.fault(rank, 5, how))
            self.assertIn(f"rank {rank} retires", self.stderr, how)
            self.assertEqual(self.retired(directory), [rank], how)
            records = self.records(directory)
            self.assertEqual([r["status"] for r in records], ["pass"] * 30, how)

    def test_the_only_device_fails(self):
        directory = self.sweep(self.plan(PLAN), program=FAULTY, code=3, **self.fault(0, 20, "dies"))
        self.assertIn("every rank has retired", self.stderr)
        self.assertIn("--resume", self.stderr)
        records = self.records(directory)
        self.assertGreater(len(records), 0)
        self.assertLess(len(records), 30, "other trials are left open")
        self.assertEqual({r["status"] for r in records}, {"pass"}, "no trial fails because of the device")
        self.sweep(self.plan(PLAN), "--resume", program=FAULTY)
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 30)


class Helper(SweepTest):
    """Tests that the ranks' helper process, and commands that compute nothing, work with too little memory for BLAS."""

    def test_nothing_hangs_if_no_memory_can_be_mapped(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (220000 << 10, 220000 << 10))

        for words in (["--version"], ["methods"], ["devices", "--untouched"], ["plan", self.plan(PLAN)]):
            done = harness.run(words, program=FAULTY, preexec_fn=limited, OPENBLAS_NUM_THREADS="4")
            # 127: the libraries of a CUDA build alone exceed the limit, so the program cannot be loaded.
            self.assertIn(done.returncode, (0, 127), f"{words}: {done.stderr}")

    def test_a_rank_has_no_blas_threads(self):
        plan = self.plan(PLAN + "  - {problem: gesv, method: fault_none, n: 30, milliseconds: 3000}\n")
        directory = self.folder / "run"
        with self.started(
            plan, directory, until=(directory / "logs/worker-0.log").exists, changes={"OPENBLAS_NUM_THREADS": "4"}
        ) as process:
            self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
            self.assertEqual(pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip(), FAULTY.name[:15])
            self.assertEqual(process.wait(timeout=harness.HANG), 0)

    def test_the_helper_does_not_start_without_its_parent(self):
        done = harness.run(["devices", "--untouched", "--parent", "1"])
        self.assertEqual((done.returncode, done.stdout), (3, ""))


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
