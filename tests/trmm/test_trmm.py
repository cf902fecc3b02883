"""Tests a problem that exists only in this folder, from the plan over run, verify and summary to the report."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
import harness  # noqa: E402
from harness import SOURCE, SweepTest, run  # noqa: E402

TRMM = harness.BUILD / "gaussweep_trmm"
PLAN = """
name: products
precision: [float, double]
repeats: 2
tolerance: {trmm: 4}
sweep:
  - problem: trmm
    method: [columns, openblas]
    n: [1, 33, 64]
    nrhs: [1, 5]
    uplo: [lower, upper]
    matrix: {kind: triangular, seed: 3}
"""
WRONG = """
name: wrong
precision: double
repeats: 1
sweep:
  - {problem: trmm, method: [halved, openblas], n: 32, uplo: upper, matrix: {kind: triangular}}
"""


class Trmm(SweepTest):
    def sweep(self, *arguments, **options):
        return super().sweep(*arguments, program=TRMM, **options)

    def gaussweep(self, *arguments, code=0):
        done = run(arguments, program=TRMM)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_listing_has_its_methods(self):
        methods = json.loads(self.gaussweep("methods", "--format", "json", "--problem", "trmm").stdout)
        self.assertEqual({m["id"] for m in methods}, {"trmm/columns", "trmm/openblas", "trmm/halved"})
        self.assertEqual({tuple(m["needs"]) for m in methods}, {("triangular",)})

    def test_right_answers_pass_from_plan_to_report(self):
        plan = self.plan(PLAN)
        self.assertIn("trmm/columns", self.gaussweep("plan", plan, "--backend", "emulated").stdout)
        directory = self.sweep(plan, "--backend", "emulated")
        records = self.records(directory)
        self.assertEqual(len(records), 2 * 2 * 3 * 2 * 2)
        for r in records:
            self.assertEqual((r["problem"], r["status"], r["expected"]), ("trmm", "pass", 1), r)
            self.assertEqual(r["flops"], r["nrhs"] * r["n"] ** 2)
            self.assertEqual(r["tolerance"], 4)
            self.assertEqual(r["reference_method"], "openblas")
            self.assertLess(r["reference_difference"], 1e-4 if r["precision"] == "float" else 1e-13)
            self.assertGreater(r["seconds_median"], 0)
        self.assertEqual({r["uplo"] for r in records}, {"lower", "upper"})
        self.gaussweep("verify", directory)
        # With a much smaller tolerance only exact answers pass.
        severe = self.gaussweep("verify", directory, "--tolerance", "trmm=1e-9", code=1)
        self.assertIn("trmm/openblas", severe.stdout)
        summary = json.loads(self.gaussweep("summary", directory, "--format", "json").stdout)
        self.assertIn("trmm", json.dumps(summary))
        self.assertIn("trmm", self.gaussweep("summary", directory, "--best").stdout)
        page = self.folder / "report"
        report = [sys.executable, SOURCE / "analysis" / "report", directory, "-o", page]
        done = harness.execute(report)
        self.assertEqual(done.returncode, 0, done.stderr)
        html = "".join(f.read_text() for f in page.rglob("*.html"))
        self.assertGreater(html.count("<td>trmm</td>"), 10)
        self.assertTrue(list(page.rglob("data/time-trmm-double*.csv")), sorted(p.name for p in page.rglob("*.csv")))

    def test_a_wrong_answer_fails(self):
        directory = self.sweep(self.plan(WRONG), "--backend", "emulated", code=1)
        found = {r["method"]: r for r in self.records(directory)}
        self.assertEqual(found["halved"]["status"], "failed")
        self.assertGreater(found["halved"]["residual_ratio"], 1e6)
        self.assertEqual(found["openblas"]["status"], "pass")
        self.gaussweep("verify", directory, code=1)

    def test_has_its_own_axes(self):
        for entry, message in (
            ("m: 4", "m is an axis of gemm only; trmm has n"),
            ("matrix_b: {kind: uniform}", "matrix_b is for gemm only, not for trmm"),
        ):
            plan = self.plan(f"sweep:\n  - problem: trmm\n    method: openblas\n    n: 4\n    {entry}\n")
            self.assertIn(message, self.gaussweep("plan", plan, code=2).stderr)
        plan = self.plan("sweep:\n  - {problem: gesv, method: lapack, n: 4, uplo: lower}\n")
        self.assertIn(
            "uplo is an axis of trsv, potrf, posv, trtri and trmm only", self.gaussweep("plan", plan, code=2).stderr
        )

    def test_the_standard_program_does_not_have_it(self):
        done = run(["plan", self.plan(WRONG)])
        self.assertEqual(done.returncode, 2)
        self.assertIn("'trmm' is no problem", done.stderr)


if __name__ == "__main__":
    unittest.main()
