"""Tests that a sweep whose storage fails ends with a clear message, reports what is safe, and can be resumed."""

import os
import re
import resource
import subprocess
import time
import unittest

import harness
from harness import FAULTY, SweepTest


def plan_of(trials, milliseconds=0, n=64):
    return (
        "name: medium\nrepeats: 3\nwarmup: 0\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
        f"  - {{problem: gesv, method: fault_none, n: {n}, seed: 1:{trials}:1, milliseconds: {milliseconds}}}\n"
    )


class Medium(SweepTest):
    def tmpfs(self, options):
        mounted = self.folder / "mounted"
        mounted.mkdir()
        if (
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", mounted], capture_output=True).returncode
            != 0
        ):
            self.skipTest("mounting a tmpfs is not permitted here")
        self.addCleanup(subprocess.run, ["umount", "-l", mounted], capture_output=True)
        return mounted

    def start_sweep(self, directory, ranks):
        return self.started(
            self.plan(plan_of(400, 30, n=6)), directory, ranks=ranks, until=lambda: harness.count_of(directory) >= 3
        )

    def with_file_size_limit(self, plan):
        """Runs a sweep whose files may have at most 60,000 bytes."""
        return harness.run(
            ["run", plan, "-o", self.folder / "run"],
            program=FAULTY,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, resource.RLIM_INFINITY)),
        )

    def ends_with(self, process, *words):
        _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 3, errors)
        for word in (*words, " safe in", "--resume"):
            self.assertIn(word, errors)

    def with_disk(self, **variables):
        return {"LD_PRELOAD": str(harness.BUILD / "gaussweep_disk_faults.so"), **variables}

    def test_a_failed_background_sync_ends_the_sweep(self):
        plan = self.plan(plan_of(60, 30, n=6))
        directory = self.sweep(plan, program=FAULTY, code=3, **self.with_disk(GAUSSWEEP_SYNCS="3"))
        for words in ("could not sync", "Input/output error", " safe in", "--resume"):
            self.assertIn(words, self.stderr)
        safe = int(re.search(r"[^.]\. (\d+) records? safe in", self.stderr)[1])
        in_journal = len(harness.journal(directory)[0])
        self.assertTrue(1 <= safe <= in_journal < 60, f"{safe} records are safe, {in_journal} are in the journal")
        self.sweep(plan, "--resume", program=FAULTY)
        self.assertEqual(len(harness.journal(directory)[0]), 60)

    def test_a_slow_disk_delays_no_trial(self):
        slow = 2.0  # seconds per sync
        plan = self.plan(plan_of(25, 30, n=6))
        self.sweep(plan, program=FAULTY, **self.with_disk(GAUSSWEEP_SYNC_SECONDS=str(slow)))
        records = harness.journal(self.folder / "run")[0]
        self.assertEqual(len(records), 25)
        waits = [record["prepare_began"] - record["wait_began"] for record in records]
        long = [wait for wait in waits if wait > slow / 2]  # a machine full of other tests may cause one or two
        self.assertLess(len(long), 5, "a rank was given no work while the journal was synced")

    def test_records_reach_the_kernel_while_a_slow_disk_syncs(self):
        directory = self.folder / "run"
        process = subprocess.Popen(
            harness.command(["run", self.plan(plan_of(30, 30, n=6)), "-o", directory], 0, FAULTY),
            env=harness.environment(**self.with_disk(GAUSSWEEP_SYNC_SECONDS="4")),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        counts, deadline = set(), time.monotonic() + harness.HANG
        while max(counts, default=0) < 30 and time.monotonic() < deadline:
            if (directory / "journal.jsonl").exists():
                counts.add(len(harness.journal(directory)[0]))
            time.sleep(0.02)
        between = [count for count in counts if 4 <= count <= 25]
        self.assertTrue(between, f"all records appeared together after the sync: {sorted(counts)}")

    def test_a_full_disk(self):
        small = self.tmpfs("size=1500k")
        plan = self.plan(plan_of(60))
        directory = self.sweep(plan, "--store-limit", "none", ranks=3, output="mounted/run", program=FAULTY, code=3)
        self.assertIn("No space left on device", self.stderr)
        self.assertIn("--resume", self.stderr)
        safe, _ = harness.journal(directory)
        self.assertRegex(self.stderr, rf"\b{len(safe)} records? safe in")
        self.assertLess(len(safe), 60)
        self.assertEqual({r["status"] for r in safe} - {"pass"}, set(), "the storage failed, not the methods")
        self.assertRegex(self.ran(["status", directory]).stdout, "State:   ended: .*No space left on device")
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        self.sweep(plan, "--resume", output="mounted/run", program=FAULTY)
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 60)

    def test_a_file_size_limit_is_an_error_not_a_crash(self):
        plan, directory = self.plan(plan_of(60, n=8)), self.folder / "run"
        done = self.with_file_size_limit(plan)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("File too large", done.stderr)
        safe, _ = harness.journal(directory)
        self.assertRegex(done.stderr, rf"\b{len(safe)} records? safe in")
        self.assertGreater(len(safe), 0)
        self.assertLess(len(safe), 60)
        self.sweep(plan, "--resume", program=FAULTY)
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 60)

    def test_matrices_beyond_the_file_size_limit(self):
        plan = self.plan(plan_of(3, n=128))
        done = self.with_file_size_limit(plan)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("matrices/", done.stderr)
        self.assertEqual(list((self.folder / "run/matrices").glob("*.h5")), [], "no partial file under its name")
        self.sweep(plan, "--resume", program=FAULTY)

    def test_the_file_system_is_unmounted(self):
        # writes to an unmounted file system are lost, so no record may count as safe
        mounted = self.tmpfs("size=64m")
        process = self.start_sweep(mounted / "run", ranks=3)
        subprocess.run(["umount", "-l", mounted], check=True)
        self.ends_with(process)

    def test_the_run_directory_is_removed(self):
        directory = self.folder / "run"
        process = self.start_sweep(directory, ranks=2)
        directory.rename(self.folder / "moved")  # a rename is immediate, a removal is not
        self.ends_with(process)
        # nothing is lost: synced records are in the moved directory
        moved = self.folder / "moved"
        safe = len(harness.journal(moved)[0])
        self.assertGreaterEqual(safe, 3)
        self.sweep(self.plan(plan_of(safe, 30, n=6)), "--resume", output="moved", program=FAULTY)

    def test_read_only_from_the_start(self):
        mounted = self.tmpfs("size=64m")
        plan = self.plan(plan_of(3))
        self.sweep(plan, output="mounted/run", program=FAULTY)
        subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
        for options in (["-o", mounted / "new"], ["-o", mounted / "run", "--resume"]):
            done = self.ran(["run", plan, *options], program=FAULTY, code=2)
            self.assertIn("Read-only file system", done.stderr)
        for command in ("status", "summary", "verify"):
            done = harness.run([command, mounted / "run"], program=FAULTY)
            self.assertEqual(done.returncode, 0, f"{command} only reads: {done.stderr}")
        subprocess.run(["mount", "-o", "remount,rw", mounted], check=True)
        self.sweep(plan, "--resume", output="mounted/run", program=FAULTY)

    def test_matrices_become_unwritable_during_the_run(self):
        directory = self.folder / "run"
        process = self.start_sweep(directory, ranks=2)
        (directory / "matrices").rename(self.folder / "elsewhere")
        self.ends_with(process, "matrices/")
        done = len(harness.journal(directory)[0])
        self.assertEqual({r["status"] for r in harness.journal(directory)[0]}, {"pass"})
        self.sweep(self.plan(plan_of(done + 3, n=6)), "--resume", program=FAULTY)

    def test_an_exceeded_quota_is_named(self):
        # a tmpfs can limit the number of files without privileges
        self.tmpfs("size=64m,nr_inodes=20")
        plan = self.plan(plan_of(60, n=6))
        directory = self.sweep(plan, "--store-limit", "none", output="mounted/run", program=FAULTY, code=3)
        self.assertIn("No space left on device", self.stderr)
        self.assertEqual({r["status"] for r in harness.journal(directory)[0]}, {"pass"})


class InputFiles(SweepTest):
    def test_a_vanished_file_ends_the_run_and_fails_no_trial(self):
        file, directory = self.folder / "a.mtx", self.folder / "run"
        file.write_text("%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n")
        # the longest trial goes first, so that the file is read late
        plan = self.plan(
            "name: files\nrepeats: 1\nwarmup: 0\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 200, seed: [1, 2], milliseconds: 1500,\n"
            "     matrix: {kind: diagonally_dominant}}\n"
            "  - {problem: gesv, method: fault_none, matrix: {file: a.mtx}}\n"
        )
        with self.started(plan, directory, until=lambda: list((directory / "matrices").glob("*.h5"))) as process:
            file.rename(self.folder / "b.mtx")
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("a.mtx", errors)
        self.assertEqual({r["status"] for r in harness.journal(directory)[0]}, {"pass"})
        (self.folder / "b.mtx").rename(file)
        self.sweep(plan, "--resume", program=FAULTY)
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"] * 3)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
