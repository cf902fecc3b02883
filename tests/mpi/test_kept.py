"""Measurements that exist stay: a resume, --force and a second run do not write over them."""

import unittest

from harness import SweepTest, run

PLAN = """
name: kept
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: [gauss_serial, gauss_block], n: [4, 5]}
"""
SLOW = """
name: slow
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: fault_none, n: 4, seed: [1, 2, 3], milliseconds: MILLISECONDS}
"""


class Resume(SweepTest):
    def test_records_that_only_the_results_have_are_not_replaced(self):
        plan = self.plan(PLAN)
        directory = self.sweep(plan)
        journal, results = directory / "journal.jsonl", directory / "results.h5"
        good, whole = journal.read_bytes(), results.read_bytes()
        records = self.records(directory)
        lines = good.splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if b'"note"' not in line)
        damages = {
            "gone": None,
            "empty": b"",
            "CRLF": good.replace(b"\n", b"\r\n"),
            "one line damaged": good.replace(lines[last], lines[last].replace(b"gauss_", b"GAUSS_")),
            "cut after a line": b"".join(lines[:last]),
        }
        for name, text in damages.items():
            with self.subTest(name):
                journal.unlink(missing_ok=True)
                if text is not None:
                    journal.write_bytes(text)
                for how in ("--resume", "--retry-failed"):
                    done = self.ran(["run", plan, "-o", directory, how], code=2)
                    self.assertIn("results.h5", done.stderr)
                self.assertEqual(results.read_bytes(), whole)
                self.assertEqual(journal.read_bytes() if journal.exists() else None, text)
                if name == "cut after a line":
                    continue
                said = self.ran(["summary", directory, "--failures"])
                self.assertIn(f"{len(records)} records", said.stdout)
                if name in ("empty", "CRLF"):
                    self.assertIn("results.h5", self.ran(["status", directory], code=2).stderr)
        done = self.ran(["run", plan, "-o", directory, "--resume"], 2, code=2)
        self.assertIn("results.h5", done.stderr)
        # Moved away, nothing can be lost.
        results.rename(self.folder / "moved.h5")
        self.sweep(plan, "--resume")
        self.assertEqual(len(self.records(directory)), len(records))
        journal.write_bytes(good)
        results.write_bytes(whole)
        self.sweep(plan, "--resume")


class Locks(SweepTest):
    def test_a_run_without_its_lock_file_is_seen_to_run(self):
        directory = self.folder / "run"
        plan = self.plan(SLOW.replace("MILLISECONDS", "60000"))
        process = self.started(plan, directory, until=lambda: (directory / "journal.jsonl").exists())
        (directory / "lock").unlink()
        self.assertIn('"running": true', run(["status", directory, "--format", "json"]).stdout)
        process.kill()
        process.communicate()


if __name__ == "__main__":
    unittest.main()
