#!/usr/bin/env python3
"""Tests the plans of the papers' experiments: each is valid, and small without a GPU."""

import re
import unittest

from harness import SOURCE, run

PLANS = sorted((SOURCE / "jobs/plans/papers").glob("*.yaml"))


class PaperPlans(unittest.TestCase):
    def test_there_are_plans(self):
        self.assertGreater(len(PLANS), 15)

    def test_each_is_valid_and_ends_in_a_minute_without_a_gpu(self):
        for plan in PLANS:
            with self.subTest(plan=plan.name):
                done = run(["plan", plan, "--backend", "emulated"])
                self.assertEqual(done.returncode, 0, done.stderr)
                total = re.search(r"All: (\d+) trials?, .* about (\d+) s, a rough", done.stdout)
                self.assertTrue(total, done.stdout)
                self.assertGreater(int(total.group(1)), 0)
                self.assertLess(int(total.group(2)), 60, "its sizes for 'emulated' are too large")

    def test_each_has_sizes_with_and_without_a_gpu(self):
        for plan in PLANS:
            for size in re.findall(r"^ +n: *(.*)$", plan.read_text(encoding="utf-8"), re.M):
                with self.subTest(plan=plan.name, n=size):
                    self.assertRegex(size, r"^\{cuda: .*, emulated: ")


if __name__ == "__main__":
    unittest.main()
