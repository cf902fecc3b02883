"""Tests comparisons of GPU and CPU models by `compare`, `summary` and the report, with synthetic times."""

import csv
import io
import json
import shutil
import statistics
import sys
import unittest

import h5py

from harness import GAUSSWEEP, SOURCE, SweepTest, execute, run

sys.path[:0] = [str(SOURCE), str(SOURCE / "tests" / "analysis")]
import two_models  # noqa: E402
from analysis.frames import slug  # noqa: E402
from pages import Reader  # noqa: E402

PLAN = """
name: cpus
repeats: 3
stages: never
matrix: {kind: spd, seed: 3}
sweep:
  - {problem: gesv, method: [lapack, gauss_serial, gauss_jordan_global], n: [4, 8]}
"""


class Models(SweepTest):
    def files(self):
        return two_models.write(self.folder)

    def compared(self, *arguments):
        (found,) = json.loads(self.ran(["compare", *arguments, "--format", "json"]).stdout)["comparisons"]
        return found

    def test_another_model_is_no_regression_in_either_direction(self):
        older, newer = self.files()
        forth, back = self.compared(older, newer), self.compared(newer, older)
        self.assertEqual(forth["base"]["name"], two_models.OLDER.name)
        self.assertEqual(back["base"]["name"], two_models.NEWER.name)
        self.assertGreater(len(forth["cells"]), 100)
        self.assertEqual(len(forth["cells"]), len(back["cells"]))
        middle = statistics.median(cell["speedup"] for cell in forth["cells"])
        self.assertTrue(1 < middle < two_models.NEWER.copy / two_models.OLDER.copy, middle)
        self.assertAlmostEqual(middle * statistics.median(cell["speedup"] for cell in back["cells"]), 1, 2)

    def test_the_prediction_follows_the_limits(self):
        found = self.compared(*self.files())
        ratios = {
            "memory": two_models.NEWER.copy / two_models.OLDER.copy,
            "launches": two_models.OLDER.launch / two_models.NEWER.launch,
        }
        seen = set()
        for cell in found["cells"]:
            if cell["base_method"] == cell["new_method"] and cell["limit"] in ratios and cell["of"] == "method":
                seen.add(cell["limit"])
        self.assertEqual(seen, set(ratios))
        gemm = [c for c in found["cells"] if c["problem"] == "gemm" and c["n"] == 4096 and c["of"] == "fastest"]
        for cell in gemm:
            rate = "float_" if cell["precision"] == "float" else "double"
            expected = getattr(two_models.NEWER, rate) / getattr(two_models.OLDER, rate)
            self.assertEqual(cell["limit"], "products")
            self.assertAlmostEqual(cell["predicted"], expected, 9)
            self.assertTrue(cell["speedup_low"] < expected < cell["speedup_high"], cell)

    def test_one_file_several_runs_and_chosen_models(self):
        older, newer = self.files()
        both, again = self.folder / "both.h5", self.folder / "again.h5"
        self.ran(["merge", newer, older, "-o", both])
        of_two = self.compared(older, newer)
        self.assertEqual(self.compared(both)["cells"], of_two["cells"])
        chosen = self.compared(both, both, "--base-gpu", two_models.OLDER.name, "--new-gpu", two_models.NEWER.name)
        self.assertEqual(chosen["cells"], of_two["cells"])
        two_models.night(two_models.NEWER, run="run-3", seed=3, uuid="GPU-3", slow=1.01).write(again)
        pooled = self.compared("--models", both, again)
        self.assertEqual((pooled["new"]["runs"], pooled["new"]["devices"]), (2, 2))
        self.assertGreater(pooled["new"]["scatter"], 0)
        self.assertIn("one model only", self.ran(["compare", "--models", newer, again], code=2).stderr)
        self.assertIn(
            "no GPU and CPU models in common", self.ran(["compare", "--same-models", older, newer], code=2).stderr
        )

    def test_filters_select_trials(self):
        older, newer = self.files()
        found = self.compared(older, newer, "--problem", "trsv", "--precision", "float", "-n", ">=1k")
        self.assertEqual({(c["problem"], c["precision"]) for c in found["cells"]}, {("trsv", "float")})
        self.assertEqual(min(c["n"] for c in found["cells"]), 1024)
        refused = self.ran(["compare", older, newer, "--problem", "nothing"], code=2).stderr
        self.assertIn("--problem nothing", refused)
        rows = list(csv.DictReader(io.StringIO(self.ran(["compare", older, newer, "--format", "csv"]).stdout)))
        self.assertEqual(len(rows), len(self.compared(older, newer)["cells"]))

    def test_filters_apply_to_runs_on_one_model(self):
        older = self.files()[0]
        later = self.folder / "later.h5"
        two_models.night(two_models.OLDER, run="run-9", seed=9, slow=1.5).write(later)
        all_of_them = json.loads(self.ran(["compare", older, later, "--format", "json"], code=4).stdout)
        some = json.loads(self.ran(["compare", older, later, "--problem", "gemm", "--format", "json"], code=4).stdout)
        self.assertEqual({t["method"].split("/")[0] for t in some["trials"]}, {"gemm"})
        self.assertLess(len(some["trials"]), len(all_of_them["trials"]))

    def test_cpu_models_of_real_records(self):
        for backend in ("host", "emulated"):
            first = self.sweep(self.plan(PLAN), "--backend", backend, output=backend) / "results.h5"
            second = self.folder / f"{backend}.h5"
            shutil.copyfile(first, second)
            with h5py.File(second, "r+") as file:
                hosts, records = file["hosts"][:], file["records"][:]
                hosts["cpu"] = b"Synthetic"
                for name in ("seconds_q1", "seconds_median", "seconds_q3"):
                    records[name] /= 8
                records["run_id"] = b"another"
                file["hosts"][:], file["records"][:] = hosts, records
                # The edited tables no longer match their checksums. Tables without checksums are read.
                for name in ("hosts", "records"):
                    file[name].attrs.pop("checksums", None)
            found = self.compared(first, second, "--backend", backend)
            self.assertEqual({c["backend"] for c in found["cells"]}, {backend})
            for cell in found["cells"]:
                if cell["base_method"] == cell["new_method"]:
                    self.assertAlmostEqual(cell["speedup"], 8, 6)
                    self.assertTrue(float(cell["speedup_low"]) < 8 < float(cell["speedup_high"]))

    def test_summary_compares_models(self):
        older, newer = self.files()
        shown = run(["summary", older, newer, "--best", "--by", "gpu"], COLUMNS="120")
        self.assertIn(f"{two_models.NEWER.name} is ", shown.stdout)
        self.assertNotIn(f"{two_models.NEWER.name} is ", run(["summary", newer, "--best", "--by", "gpu"]).stdout)

    def test_the_report_has_the_same_comparison(self):
        older, newer = self.files()
        found = self.compared("--models", older, newer)
        line = [SOURCE / "analysis" / "report", older, newer, "--problem", "trsv", "-o", self.folder / "report"]
        done = execute(line, GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Reader.of(self.folder / "report" / "index.html")
        name = slug("models", two_models.OLDER.name, two_models.NEWER.name)
        tasks = [task for task in found["tasks"] if task["problem"] == "trsv"]
        self.assertEqual(len(tasks), 4)
        shown = [(row["precision"], row["operands"], row["speedup"], row["limited by"]) for row in page.rows(name)]
        self.assertEqual(shown, [(t["precision"], t["details"], t["speedup"], t["limit"]) for t in tasks])
        self.assertEqual(len(page.rows(f"{name}-winners")), sum(w["problem"] == "trsv" for w in found["winners"]))


if __name__ == "__main__":
    unittest.main()
