"""Tests rules and refined sweeps with the whole program."""

import json
import os
import re
import subprocess
import sys
import unittest
import zlib

from harness import SOURCE, SweepTest, run

PLAN = """
name: rule
repeats: 3
stages: never
sweep:
  - {problem: gesv, method: [lapack, gauss_pivot_serial, gauss_block], n: {host: [16, 32, 64], emulated: [8, 16]},
     nrhs: [1, 4], matrix: {kind: diagonally_dominant, seed: 1}}
"""


class RuleTest(SweepTest):
    def test_learns_checks_and_compares(self):
        out = self.sweep(self.plan(PLAN), "--backend", "emulated")
        rule = self.folder / "rule"
        self.ran(["rule", out, "-o", rule])
        self.assertIn("--force", self.ran(["rule", out, "-o", rule], code=2).stderr)
        self.ran(["rule", out, "-o", rule, "--force"])
        parts = json.loads((rule / "rule.json").read_text())["parts"]
        self.assertIn("emulated", {part["device"] for part in parts})
        self.assertEqual(len({part["device"] for part in parts}), 2)

        ask = "import rule; print(rule.choose('gesv', 'emulated', 'double', 12, 2, 1, '', 'diagonally_dominant'))"
        words = [sys.executable, "-B", "-c", ask]
        answer = subprocess.run(words, cwd=rule, capture_output=True, text=True, check=True).stdout
        self.assertIn("gauss_block", answer)

        checked = self.ran(["rule", out, "--check", rule, "--format", "json"])
        rows = json.loads(checked.stdout)["regrets"]
        total = [row for row in rows if row["problem"] == "all" and row["adviser"] == str(rule)][0]
        self.assertEqual(total["tasks"], 10)
        self.assertEqual(total["unmeasured"] + total["absent"] + total["failed"], 0)
        self.assertIn("DID NOT RUN: ", self.ran(["rule", out, "--check", rule], COLUMNS="400").stdout)

        changes = self.ran(["rule", "--changes", rule, out, "--format", "json"])
        self.assertEqual(json.loads(changes.stdout)["changes"], [])

    def test_products_that_are_not_square_are_named(self):
        squares = "{problem: gesv, method: lapack, n: 8}"
        products = "{problem: gemm, method: openblas, n: 8, k: 4}"
        plan = self.plan(f"name: products\nsweep: [{squares}, {products}]\n")
        out = self.sweep(plan, "--backend", "host")
        self.assertIn("note: trials of gemm with operands that are not square", self.ran(["rule", out]).stderr)
        self.assertIn(
            "no trial with square operands passed", self.ran(["rule", out, "--problem", "gemm"], code=2).stderr
        )

    def test_an_error_names_the_option_that_was_given(self):
        out = self.sweep(self.plan(PLAN), "--backend", "host")
        for option in ("--method", "--methods"):
            done = self.ran(["rule", out, option, "lapak"], code=2)
            self.assertIn(f"{option} lapak: ", done.stderr)

    def test_changes_in_a_folder_of_runs(self):
        """Notes about a run name it. The second run has two threads, and the records of a busy machine."""
        nights = self.folder / "nights"
        for night in ("1", "2"):
            self.sweep(self.plan(PLAN), "--backend", "host", output=nights / night, OPENBLAS_NUM_THREADS=night)
        journal, lines = nights / "2/journal.jsonl", []
        for line in journal.read_text().splitlines():
            body = re.sub('"cpu_demand":[^,]*', '"cpu_demand":3.0', line[: line.rindex(',"crc"')])
            lines.append(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')
        journal.write_text("".join(lines))
        done = self.ran(["rule", "--changes", nights, "--format", "json"])
        self.assertIsInstance(json.loads(done.stdout)["changes"], list)
        self.assertIn(f"note: {nights}/2: other programs used the CPUs", done.stderr)
        if len(os.sched_getaffinity(0)) > 1:  # a rank has at most as many threads as CPUs
            self.assertIn("note: CPU methods ran with 1 and 2 threads per rank", done.stderr)

    def test_the_template_is_a_plan_for_every_backend(self):
        for plan in (self.plan(self.ran(["plan", "--template", "rule"]).stdout), SOURCE / "jobs/plans/rule_check.yaml"):
            for backend in ("cuda", "emulated", "host"):
                self.ran(["plan", plan, "--backend", backend, "--gpu", "H200"])

    def test_cut_offs_of_the_literature_are_rules(self):
        for path in (SOURCE / "jobs/rules").glob("*.json"):
            self.ran(["rule", "--changes", path, path])

    def test_a_refined_sweep_is_complete_and_resumable(self):
        plan = self.plan(PLAN.replace("[16, 32, 64]", "[4, 512]").replace(", gauss_block", ""))
        out = self.sweep(plan, "--backend", "host", "--refine")
        before = (out / "plan.yaml").read_text()
        records = {record["key"] for record in self.records(out)}
        self.assertEqual(before.count("# refined "), len(records) - 8)
        self.assertIn(f"{len(records)} records; ", self.stderr)
        self.sweep(plan, "--backend", "host", "--refine", "--resume")
        self.assertNotIn("no longer in the plan", self.stderr)
        self.assertTrue((out / "plan.yaml").read_text().startswith(before))
        self.assertLessEqual(records, {record["key"] for record in self.records(out)})
        self.ran(["run", plan, "-o", self.folder / "two", "--backend", "host", "--refine"], 2, code=2)

    def test_refuses(self):
        for words in (
            ["rule"],
            ["rule", "x", "--beside", "y"],
            ["rule", "--changes", "x"],
            ["plan", "--template", "x"],
        ):
            self.assertEqual(run(words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
