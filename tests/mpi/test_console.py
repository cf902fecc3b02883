"""Tests output that cannot be written: without standard error a sweep goes on and only loses messages. Without standard
output the command fails."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness
import killer
from harness import FAULTY, SweepTest

PLAN = """
name: unheard
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: fault_none, n: 4, seed: 1:20:1, milliseconds: 20}
  - {problem: gesv, method: fault_once, n: 5}
"""


class StandardError(SweepTest):
    def start(self, directory, ranks, plan=PLAN, **streams):
        mark = str(self.folder / "mark") + directory.name
        return subprocess.Popen(
            harness.command(["run", self.plan(plan), "-o", directory], ranks, FAULTY),
            env=harness.environment(GAUSSWEEP_FAULT_MARK=mark),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
            **streams,
        )

    def check(self, directory):
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 21)
        log = (directory / "logs/rank-0.log").read_text()
        for words in ("21 trials, 21 to do", "info: 21/21 trials (100 %)"):
            self.assertIn(words, log, directory)
        # Any rank may have run the trial of fault_once.
        logs = "".join(path.read_text() for path in (directory / "logs").glob("rank-*.log"))
        self.assertIn("warning: rank", logs, "the worker that fault_once ended")

    def test_an_unwritable_standard_error_does_not_end_a_sweep(self):
        for ranks in (0, 2):
            for name, weapon in killer.CONSOLES.items():
                if ranks > 0 and name == "full pipe":
                    continue
                directory = self.folder / f"{name} {ranks}"
                with weapon() as console:
                    self.assertEqual(
                        self.start(directory, ranks, stderr=console).wait(timeout=harness.HANG), 0, directory
                    )
                self.check(directory)

    def test_mpirun_waits_for_a_reader_but_the_sweep_does_not(self):
        reader, writer = killer.filled_pipe()
        directory = self.folder / "run"
        with self.start(directory, 2, stderr=writer) as process:
            os.close(writer)
            while not (
                (directory / "journal.jsonl").exists()
                and any(n["note"] == "end" for n in harness.journal(directory)[1])
            ):
                self.assertIsNone(process.poll())
                time.sleep(0.05)
            with open(reader, "rb") as pipe:
                pipe.read()
            self.assertEqual(process.wait(timeout=harness.HANG), 0)
        self.check(directory)

    def test_a_terminal_closes_under_the_progress_bar(self):
        # The bar is drawn every fifth of a second. Writes after the terminal has gone must not end the run.
        directory = self.folder / "run"
        master, slave = pty.openpty()
        with self.start(directory, 0, PLAN.replace("20}", "100}"), stderr=slave) as process:
            os.close(slave)
            self.assertIn(b"21 trials", os.read(master, 4096))
            os.close(master)
            self.assertEqual(process.wait(timeout=harness.HANG), 0)
        self.check(directory)

    def test_a_hangup_that_is_not_ignored_drains(self):
        plan = self.plan(PLAN.replace("milliseconds: 20", "milliseconds: 500"))
        directory = self.folder / "run"
        with self.started(plan, directory) as process:
            # The system and the shell send one signal each. The second one must not end the running trial's grace
            # period.
            for _ in range(2):
                process.send_signal(signal.SIGHUP)
                time.sleep(0.1)
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 5, errors)
        self.assertNotIn("abandoning", errors)
        self.assertLess(len(self.records(directory)), 21)


class Watching(SweepTest):
    """Tests that `status --watch` ends with the sweep."""

    PLAN = """
name: watched
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: fault_none, n: 4, seed: 1:20:1, milliseconds: 200}
"""

    def watch(self, directory, **streams):
        process = subprocess.Popen(
            harness.command(["status", "--watch", directory]), env=harness.environment(TERM="xterm"), **streams
        )
        self.addCleanup(process.kill)
        return process

    def test_a_terminal_is_redrawn_and_a_pipe_gets_lines(self):
        directory = self.folder / "run"
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 70, 0, 0))
        sweep = self.started(self.plan(self.PLAN), directory, stderr=subprocess.DEVNULL)
        on_terminal, piped = self.watch(directory, stdout=slave), self.watch(
            directory, stdout=subprocess.PIPE, text=True
        )
        lines = piped.communicate(timeout=harness.HANG)[0].splitlines()
        os.close(slave)
        drawn = harness.everything_from(master)
        self.assertEqual((sweep.wait(harness.HANG), on_terminal.wait(harness.HANG), piped.returncode), (0, 0, 0))
        self.assertRegex(lines[0], r"^\d+ of 20 \([0-9.]+%\), running")
        self.assertEqual(lines[-1], "20 of 20 (100.0%), ended")
        screens = drawn.decode().split("\033[H")[1:]
        self.assertGreater(len(screens), 1)
        for screen in screens:
            self.assertTrue(screen.endswith("\033[J"), "longer old lines are erased")
            self.assertLess(screen.count("\n"), 12, "it does not scroll")
        self.assertIn("Ctrl-C stops watching", screens[0])
        self.assertIn("ended with exit code 0", screens[-1])
        self.assertNotIn("Ctrl-C", screens[-1])


class StandardOutput(SweepTest):
    def test_lost_output_is_a_failure(self):
        plan = self.plan("name: tiny\nrepeats: 1\nsweep:\n  - {problem: gesv, method: gauss_serial, n: [4, 5]}\n")
        directory = self.sweep(plan)
        matrix = next((directory / "matrices").glob("*.h5"))
        for arguments in (
            ["summary", directory],
            ["summary", directory, "--format", "csv"],
            ["status", directory],
            ["plan", plan],
            ["verify", directory],
            ["compare", directory, directory],
            ["devices"],
            ["methods"],
            ["methods", "--format", "json"],
            ["run", plan, "-o", "none", "--dry-run"],
            ["matrix", "info", matrix],
            ["--version"],
            ["--help"],
        ):
            with open("/dev/full", "w") as full:
                done = harness.run(arguments, stdout=full)
            self.assertEqual(done.returncode, 3, f"{arguments}: {done.stderr}")
            self.assertIn("standard output cannot be written: ", done.stderr, arguments)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
