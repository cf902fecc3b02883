"""A rank's first worker gets its device ready before its run directory is open: nobody notices but by the time."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import time
import unittest

import harness
import killer
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
# The backend that is named is certain at once; auto, without a GPU, is so only when all ranks have been heard.
EARLY, LATE = "emulated", "auto"


class Start(SweepTest):
    def setUp(self):
        super().setUp()
        self.mark = self.folder / "mark"

    def fault(self, how, rank=0):
        return {"GAUSSWEEP_FAULT_DEVICE": f"{rank} 0 {how} {self.mark}"}

    def processes(self):
        """What is left of the sweeps of this test: they have a word of their own in their environment."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if str(self.mark).encode() in path.read_bytes():
                    found.append(path.parent.name)
        return found

    @contextlib.contextmanager
    def held_up(self, how, rank, ranks=0):
        """A sweep whose run directory is another's for the moment, and what ends that."""
        directory = self.folder / "run"
        directory.mkdir(mode=0o700)
        with open(directory / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen(
                harness.command(
                    ["run", self.plan(PLAN), "-o", directory, "--resume", "--backend", EARLY], ranks, FAULTY
                ),
                env=harness.environment(**self.fault(how, rank)),
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                yield process, lambda: fcntl.flock(lock, fcntl.LOCK_UN)

    def workers(self, process):
        return [pid for pid, words in killer.family(process.pid) if "worker" in words[1:2]]

    def await_marks(self, process, names):
        while not all((self.folder / name).exists() for name in names):
            self.assertIsNone(process.poll(), "the device was not made before the directory was open")
            time.sleep(0.01)

    def test_the_device_is_ready_before_the_run_directory_is(self):
        for ranks in (0, 2):
            names = ["mark0"] if ranks == 0 else ["mark0", "mark1"]
            with self.held_up("tells", -1, ranks) as (process, release):
                self.await_marks(process, names)
                directory = self.folder / "run"
                self.assertFalse((directory / "logs").exists())
                early = self.workers(process)
                self.assertEqual(len(early), len(names))
                release()
                logs = {str(directory / f"logs/worker-{rank}.log") for rank in range(len(names))}
                while True:
                    with contextlib.suppress(OSError):
                        links = [{os.readlink(f"/proc/{pid}/fd/{number}") for pid in early} for number in (1, 2)]
                        if links == [logs, logs]:
                            break
                    self.assertIsNone(process.poll(), "the workers that were there have the logs, and do the trials")
                    time.sleep(0.01)
                _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 4)
            self.assertEqual(self.processes(), [])
            directory.rename(self.folder / f"run-{ranks}")
            for name in names:
                (self.folder / name).unlink()

    def test_one_that_is_killed_meanwhile_is_replaced(self):
        with self.held_up("tells", -1) as (process, release):
            self.await_marks(process, ["mark0"])
            for pid in self.workers(process):
                os.kill(pid, signal.SIGKILL)
            release()
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([r["status"] for r in self.records(self.folder / "run")], ["pass"] * 4)
        self.assertEqual((self.folder / "run/logs/worker-0.log").read_text(), "")

    def test_what_is_refused_waits_for_no_device_and_leaves_nothing(self):
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
                ends = []
                for backend in (EARLY, LATE):
                    done = run(
                        ["run", *arguments, "--backend", backend], ranks, FAULTY, timeout=60, **self.fault("hangs", -1)
                    )
                    self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
                    self.assertEqual(self.processes(), [], arguments)
                    ends.append((done.stdout, [line for line in done.stderr.splitlines() if "gaussweep:" in line]))
                self.assertEqual(*ends)
                self.assertFalse((self.folder / "none").exists())

    def test_a_device_that_cannot_be_made_is_no_other_failure_than_later(self):
        self.mark.write_text("")
        for how, words in (("aborts", "Aborted) (at device)"), ("lies", "came out wrong on this device (at probe)")):
            ends = []
            for backend in (EARLY, LATE):
                directory = self.sweep(
                    self.plan(PLAN),
                    "--backend",
                    backend,
                    program=FAULTY,
                    code=3,
                    output=f"{how} {backend}",
                    **self.fault(how),
                )
                (note,) = [note for note in harness.journal(directory)[1] if note["note"] == "retired"]
                ends.append((note["reason"], (directory / "logs/worker-0.log").read_text()))
            self.assertEqual(*ends)
            self.assertIn("3 workers in a row could not start", ends[0][0])
            self.assertIn(words, ends[0][0])
            self.assertEqual(ends[0][1], "the driver gives up\n" * 3 if how == "aborts" else "")

    def test_a_device_that_others_fill_is_waited_for(self):
        self.mark.write_text("")
        with subprocess.Popen(
            harness.command(["run", self.plan(PLAN), "-o", self.folder / "run", "--backend", EARLY], program=FAULTY),
            text=True,
            env=harness.environment(GAUSSWEEP_FAULT_DEVICE=f"0 1000000 full {self.mark}"),
            stderr=subprocess.PIPE,
        ) as process:
            said = next(line for line in process.stderr if "retires" in line or "in use" in line)
            self.assertIn("in use", said)
            self.mark.unlink()
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([r["status"] for r in self.records(self.folder / "run")], ["pass"] * 4)

    def test_a_log_that_cannot_be_opened_ends_the_run_in_order(self):
        for backend in (EARLY, LATE):
            directory = self.folder / backend
            (directory / "logs").mkdir(mode=0o700, parents=True)
            os.mkfifo(directory / "logs/worker-0.log")
            self.sweep(self.plan(PLAN), "--resume", "--backend", backend, output=backend, program=FAULTY, code=3)
            self.assertIn(f"cannot open {directory}/logs/worker-0.log: it is a FIFO", self.stderr)
            self.assertIn("0 records are safe", self.stderr)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
