"""Tests ranks that stop responding, and ranks that send each other long messages."""

import json
import os
import signal
import subprocess
import time
import unittest

import killer
import harness
from harness import SweepTest, count_of, journal


def freeze_rank_1(process):
    """Freezes rank 1 and returns its process."""
    (pid,) = [pid for pid, words in killer.family(process.pid) if "run" in words[1:2] and killer.rank_of(pid) == 1]
    os.kill(pid, signal.SIGSTOP)
    return pid


class Ranks(SweepTest):
    def test_warns_if_ranks_share_cpus(self):
        plan = self.plan("name: shared\nrepeats: 1\nsweep:\n  - {problem: gesv, method: lapack, n: 4}\n")
        cpus = len(os.sched_getaffinity(0))
        if cpus > 8:
            self.skipTest("SKIPPED: a test starts no more than 9 ranks")
        self.sweep(plan, ranks=cpus + 1)
        self.assertRegex(self.stderr, rf"{cpus + 1} ranks share {cpus} CPUs? on this host")
        for ranks in (1, cpus):  # not more ranks than CPUs
            self.sweep(plan, output=f"with-{ranks}", ranks=ranks)
            self.assertNotIn("ranks share", self.stderr)

    def test_warns_if_other_programs_use_the_cpus(self):
        plan = self.plan("name: busy\nrepeats: 200\nsweep:\n  - {problem: gesv, method: lapack, n: 400}\n")
        others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3 * os.cpu_count())]
        try:
            self.sweep(plan)
        finally:
            for other in others:
                other.kill()
                other.wait()
        self.assertRegex(self.stderr, r"[\d.]+ threads per CPU wanted to run on this host: other programs")
        self.assertGreater(self.records(self.folder / "run")[0]["cpu_demand"], 1.25)
        self.assertRegex(
            self.ran(["summary", self.folder / "run"]).stderr, r"note: other programs used the CPUs during 1 of 1 trial"
        )

    def test_a_frozen_rank_costs_only_its_node(self):
        plan = self.plan(
            "name: frozen\nrepeats: 1\nwarmup: 0\ntimeout: 2s\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
            f"  - {{problem: gesv, method: fault_none, n: 6, milliseconds: 300, seed: {list(range(1, 21))}}}\n"
        )
        directory = self.folder / "run"
        with self.started(plan, directory, ranks=2) as process:
            frozen = freeze_rank_1(process)
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("rank 1 has not answered", errors)
        records, notes = journal(directory)
        self.assertEqual(sorted(r["matrix_seed"] for r in records), list(range(1, 21)), errors)
        self.assertEqual([note["rank"] for note in notes if note["note"] == "retired"], [1])
        self.assertNotIn("have ended by themselves", errors)
        reason = json.loads(self.ran(["status", directory, "--format", "json"]).stdout)["reason"]
        self.assertRegex(reason, f"^rank 1 on {records[0]['node']} has not answered")
        deadline = time.monotonic() + harness.HANG
        while killer.state_of(frozen) != "gone":  # mpirun sends SIGKILL after its own end
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def test_a_hanging_rank_does_not_delay_the_end(self):
        plan = self.plan(
            "name: silent\nrepeats: 1\nwarmup: 0\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 4, seed: 1:200:1, milliseconds: 300}\n"
        )
        directory = self.folder / "run"
        with self.started(plan, directory, "--grace", "1", ranks=2, until=lambda: count_of(directory) > 3) as process:
            freeze_rank_1(process)
            process.send_signal(signal.SIGUSR1)  # mpirun forwards it
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 5, errors)
        self.assertIn("rank 1 has not answered", errors)
        self.assertEqual(len(self.records(directory)), len(journal(directory)[0]))
        self.assertGreater(len(self.records(directory)), 3)

    def test_two_ranks_send_to_each_other(self):
        # A record and a batch cross, both far larger than MPI's buffers.
        plan = self.plan(
            "name: crossing\nrepeats: 300\nwarmup: 0\nstages: never\nstore: never\n"
            "matrix: {kind: diagonally_dominant}\nsweep:\n"
            "  - problem: gesv\n    method: [gauss_serial, gauss_jordan_serial, gauss_pivot_serial, crout]\n"
            f"    n: [4:20]\n    seed: {list(range(1, 21))}\n"
        )
        directory = self.sweep(plan, "--backend", "host", ranks=2)
        records = journal(directory)[0]
        self.assertEqual(len(records), 4 * 17 * 20)
        self.assertEqual(len({record["key"] for record in records}), len(records))


if __name__ == "__main__":
    unittest.main()
