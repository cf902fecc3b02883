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
