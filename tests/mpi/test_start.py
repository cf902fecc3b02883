"""Tests the start of a run: refusals, devices that fail at once, and logs that cannot be opened."""

import contextlib
import fcntl
import os
import pathlib
import subprocess
import time
import unittest

import harness
from harness import FAULTY, SweepTest, run

PLAN = """
name: start
repeats: 1
warmup: 0
timeout: 1min
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: fault_none, n: 4, seed: 1:4:1, milliseconds: 300}
"""


class Start(SweepTest):
    def setUp(self):
        super().setUp()
        self.mark = self.folder / "mark"

    def fault(self, how, rank=0):
        return {"GAUSSWEEP_FAULT_DEVICE": f"{rank} 0 {how} {self.mark}"}

    def processes(self):
        """Returns the remaining processes of this test's sweeps; they have the test's path in their environment."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if str(self.mark).encode() in path.read_bytes():
                    found.append(path.parent.name)
        return found

    def test_a_run_that_waits_for_another_says_so(self):
        plan = self.plan(PLAN.replace("fault_none", "lapack").replace(", milliseconds: 300", ""))
        directory = self.sweep(plan)
        with open(directory / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            words = harness.command(["run", plan, "-o", directory, "--resume"])
            run = subprocess.Popen(words, env=harness.environment(), stderr=subprocess.PIPE, text=True)
            first = run.stderr.readline()
        rest = run.communicate(timeout=harness.HANG)[1]
        self.assertIn(f"waiting up to 10 s for {directory}/lock", first)
        self.assertEqual(run.returncode, 0, rest)

    def test_a_refused_run_waits_for_no_device_and_leaves_nothing(self):
        good, bad = self.plan(PLAN), self.plan(PLAN.replace("sweep:", "sweeep:"), "bad.yaml")
        directory = self.sweep(good, program=FAULTY, output="done")
        for rank in (0, 1):
            (self.folder / f"mark{rank}").write_text("")
        cases = (
            ([bad, "-o", self.folder / "none"], 2),
            ([good, "-o", "/proc/nowhere/run"], 2),
            ([good, "-o", directory], 2),
            ([good, "-o", self.folder / "none", "--dry-run"], 0),
            ([good, "-o", directory, "--resume"], 0),
        )
        for ranks in (0, 2):
            for arguments, code in cases:
                done = run(["run", *arguments], ranks, FAULTY, **self.fault("hangs", -1))
                self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
                self.assertEqual(self.processes(), [], arguments)
                self.assertFalse((self.folder / "none").exists())

    def test_a_device_that_fails_at_its_start_retires_its_rank(self):
        self.mark.write_text("")
        for how, words in (("aborts", "Aborted) (at device)"), ("lies", "wrong result on this device (at probe)")):
            directory = self.sweep(self.plan(PLAN), program=FAULTY, code=3, output=how, **self.fault(how))
            (note,) = [note for note in harness.journal(directory)[1] if note["note"] == "retired"]
            self.assertIn("3 workers in a row could not start", note["reason"])
            self.assertIn(words, note["reason"])
            log = (directory / "logs/worker-0.log").read_text()
            self.assertEqual(log, "the driver gives up\n" * 3 if how == "aborts" else "")

    def test_waits_for_a_device_that_others_fill(self):
        self.mark.write_text("")
        with subprocess.Popen(
            harness.command(["run", self.plan(PLAN), "-o", self.folder / "run"], program=FAULTY),
            text=True,
            env=harness.environment(GAUSSWEEP_FAULT_DEVICE=f"0 1000000 full {self.mark}"),
            stderr=subprocess.PIPE,
        ) as process:
            message = next(line for line in process.stderr if "retires" in line or "in use" in line)
            self.assertIn("in use", message)
            time.sleep(5)  # by now a broken device would have been retired
            self.assertIsNone(process.poll())
            self.mark.unlink()
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([r["status"] for r in self.records(self.folder / "run")], ["pass"] * 4)

    def test_a_log_that_cannot_be_opened_ends_the_run(self):
        directory = self.folder / "run"
        (directory / "logs").mkdir(mode=0o700, parents=True)
        os.mkfifo(directory / "logs/worker-0.log")
        self.sweep(self.plan(PLAN), "--resume", program=FAULTY, code=3)
        self.assertIn(f"cannot open {directory}/logs/worker-0.log: it is a FIFO", self.stderr)
        self.assertIn("0 records safe in", self.stderr)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
