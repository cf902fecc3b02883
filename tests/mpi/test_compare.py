"""Tests `compare` end to end: the records of a real run, with simulated times instead of those of a loaded machine."""

import collections
import json
import shutil
import unittest

import h5py
import numpy

import harness

PLAN = """
name: twice
precision: [float, double]
repeats: 5
warmup: 0
matrix: {kind: spd, seed: 3}
sweep:
  - {problem: gesv, method: [gauss_serial, gauss_jordan_serial, crout, lapack], n: [4:20:4], seed: [1, 2, 3, 4]}
  - {problem: getrf, method: [crout_serial, lapack], n: [4:20:4], seed: [1, 2, 3, 4]}
"""


class CompareTwoRuns(harness.SweepTest):
    def with_simulated_times(self, source, seed, scatter, slowed=""):
        """Returns a copy with samples that scatter around a time per trial. `slowed`: a method that takes 10 % longer.

        The copy's records name a GPU as device, because `compare` expects CPU times to scatter by more than 10 %.
        """
        path = self.folder / f"{seed}{slowed.replace('/', '_')}.h5"
        shutil.copyfile(source, path)
        random = numpy.random.default_rng(seed)
        with h5py.File(path, "r+") as file:
            samples, records = file["samples"][:], file["records"][:]
            chosen = numpy.array([f"{p.decode()}/{m.decode()}" == slowed for p, m in records[["problem", "method"]]])
            factor = numpy.where(chosen, 1.1, 1.0)
            samples["seconds"] = (
                1e-3
                * (1 + samples["trial"] % 7)
                * numpy.exp(scatter * random.standard_normal(len(samples)))
                * factor[samples["trial"]]
            )
            records["backend"], records["gpu_name"], records["launch_bound"] = "cuda", "Test GPU", 0
            records["run_id"], records["start_time"] = f"run{seed}", f"2026-01-0{seed}T00:00:00Z"
            file["samples"][:], file["records"][:] = samples, records
            # The file was edited, so its checksums are wrong. A file without checksums is read, with a remark.
            del file["records"].attrs["checksums"]
        return path

    def compared(self, base, new, code):
        """Returns the verdicts of trials with a time, and the methods that are SLOWER as a whole."""
        comparison = json.loads(self.ran(["compare", base, new, "--format", "json"], code=code).stdout)
        verdicts = collections.Counter(t["verdict"] for t in comparison["trials"] if t["verdict"] != "UNTIMED")
        return verdicts, sorted(m["method"] for m in comparison["methods"] if m["verdict"] == "SLOWER")

    def test_two_equal_runs_and_one_slowed(self):
        results = self.sweep(self.plan(PLAN), "--backend", "host") / "results.h5"
        for scatter in (0.002, 0.02):
            base, new = (self.with_simulated_times(results, seed, scatter) for seed in (1, 2))
            verdicts, slower = self.compared(base, new, code=0)
            self.assertEqual(sum(verdicts.values()), 240)
            self.assertGreaterEqual(verdicts["SAME"] + verdicts["UNCLEAR"], 0.95 * 240, verdicts)
            self.assertEqual(slower, [])
            for method in ("gesv/crout", "getrf/lapack"):
                _, slower = self.compared(base, self.with_simulated_times(results, 2, scatter, method), code=4)
                self.assertEqual(slower, [method])

    def test_a_method_that_is_slower_only_as_a_whole(self):
        """For at least one seed, the scatter hides the change of each single trial, but not that of the method."""
        results = self.sweep(self.plan(PLAN), "--backend", "host") / "results.h5"
        base = self.with_simulated_times(results, 1, 0.06)
        for seed in range(2, 22):
            new = self.with_simulated_times(results, seed, 0.06, "gesv/crout")
            comparison = json.loads(harness.run(["compare", base, new, "--format", "json"]).stdout)
            regressions = comparison["regressions"]
            if len(regressions) == 1 and regressions[0].startswith("gesv/crout as a whole"):
                break
        text = self.ran(["compare", base, new, "--only", "slower,worse"], code=4).stdout
        self.assertRegex(text, "^No single trial is certainly slower or worse .* All trials of a method together are")
        self.assertRegex(text, r"gesv/crout .* SLOWER\n")
        self.assertIn("1 regression: gesv/crout as a whole", text)

    def test_a_matrix_file_that_changed_is_named_and_is_no_regression(self):
        entry = "{problem: gesv, method: [lapack, crout], matrix: {file: day.mtx}}"
        more = "{problem: gesv, method: lapack, n: 20}"
        plan = self.plan(f"name: files\nrepeats: 3\nstages: never\nsweep: [{entry}, {more}]\n")
        header = "%%MatrixMarket matrix array real general\n"
        runs = []
        for i, matrix in enumerate(("2 2\n4\n1\n1\n3\n", "2 2\n5\n1\n1\n3\n", "1 1\n5\n")):
            (self.folder / "day.mtx").write_text(header + matrix)
            runs.append(self.sweep(plan, "--backend", "host", output=f"run{i}"))
        for changed in runs[1:]:
            comparison = json.loads(self.ran(["compare", runs[0], changed, "--format", "json"]).stdout)
            self.assertEqual(comparison["changed_files"], ["day.mtx"])
            self.assertEqual(comparison["regressions"], [])
            self.assertIn("day.mtx", self.ran(["compare", runs[0], changed]).stdout)
        text = plan.read_text()
        plan.write_text(text.replace(f", {more}", ""))
        alone = [self.sweep(plan, "--backend", "host", output="alone1")]
        (self.folder / "day.mtx").write_text(header + "1 1\n6\n")
        alone.append(self.sweep(plan, "--backend", "host", output="alone2"))
        self.assertIn("day.mtx", self.ran(["compare", *alone], code=2).stderr)

    def test_a_directory_of_shards_is_one_set(self):
        plan = self.plan(PLAN.replace("[1, 2, 3, 4]", "[1]"))
        whole = self.sweep(plan, "--backend", "host")
        parent = self.folder / "shards"
        parent.mkdir()
        for part in (1, 2):
            self.sweep(plan, "--backend", "host", "--shard", f"{part}/2", output=f"shards/shard-{part}-of-2")
        both = self.folder / "both.h5"
        self.ran(["merge", parent, "-o", both])
        compared = [["compare", whole, new, "--format", "json", "--threshold", "1000"] for new in (parent, both)]
        self.assertEqual(*(harness.run(arguments).stdout for arguments in compared))
        found = json.loads(harness.run(compared[0]).stdout)
        self.assertGreater(len(found["trials"]), 0)
        self.assertEqual((found["only_base"], found["only_new"]), (0, 0))
        part = self.ran(["compare", both, parent / "shard-1-of-2"], code=2)
        self.assertIn("count for new only", part.stderr)
        shutil.rmtree(parent / "shard-2-of-2")
        for arguments in (["merge", parent, "-o", self.folder / "one.h5"], compared[0]):
            self.assertIn("shard-2-of-2 is not there", harness.run(arguments).stderr)
        whole_trials = len(self.records(whole))
        for new in (parent / "shard-1-of-2", self.folder / "one.h5"):
            done = self.ran(["compare", whole, new, "--format", "json", "--threshold", "1000"], code=4)
            found = json.loads(done.stdout)
            self.assertEqual(len([r for r in found["regressions"] if "(missing)" in r]), found["only_base"])
            self.assertIn("shard 2 of 2", done.stderr)
        (parent / "shard-1-of-2").rename(parent / "part")
        for arguments in (["merge", parent, "-o", self.folder / "part.h5"], ["status", parent]):
            done = self.ran(arguments)
            self.assertIn("shard 2 of 2 of the plan", done.stdout + done.stderr)
        status = json.loads(self.ran(["status", parent, "--format", "json"]).stdout)
        self.assertEqual(status["total"], whole_trials)
        self.assertLess(status["done"], whole_trials)

    def test_equal_findings_about_crossovers_are_one_sentence(self):
        plan = self.plan("repeats: 5\nsweep: [{problem: gesv, method: [crout, lapack], n: [8, 16]}]\n")
        first, second = self.sweep(plan, "--backend", "host") / "results.h5", self.folder / "threads.h5"
        shutil.copyfile(first, second)
        with h5py.File(second, "r+") as file:
            hosts, records = file["hosts"][:], file["records"][:]
            hosts["blas_threads"] += 1
            records["run_id"] = b"another"
            file["hosts"][:], file["records"][:] = hosts, records
            for name in ("hosts", "records"):
                file[name].attrs.pop("checksums", None)
        text = self.ran(["compare", first, second]).stdout
        self.assertIn("Crossovers: no clear difference at any size (in all 2 series).", text)

    def test_a_merged_file_is_several_runs(self):
        results = self.sweep(self.plan(PLAN.replace("[1, 2, 3, 4]", "[1]")), "--backend", "host") / "results.h5"
        base, new = self.with_simulated_times(results, 1, 0.002), self.with_simulated_times(
            results, 2, 0.002, "gesv/crout"
        )
        both = self.folder / "both.h5"
        self.ran(["merge", new, base, "-o", both])
        for sets in ([both], [both, both], [base, both]):
            comparison = json.loads(self.ran(["compare", *sets, "--format", "json"], code=4).stdout)
            slower = [m["method"] for m in comparison["methods"] if m["verdict"] == "SLOWER"]
            self.assertEqual(slower, ["gesv/crout"], sets)
        trend = json.loads(self.ran(["trend", both, "--format", "json"]).stdout)
        self.assertEqual(len(trend["nights"]), 2)
        warning, *table = self.ran(["trend", both]).stdout.splitlines()
        self.assertIn("2 nights", warning, "what the table cannot show comes before it")
        self.assertTrue(any("LAST" in line for line in table))
        self.assertIn("one run of each trial", self.ran(["compare", base], code=2).stderr)
        with h5py.File(new, "r+") as file:
            records = file["records"][:]
            records["seconds_median"] *= numpy.where(records["method"] == b"crout", 0.2, 2)
            file["records"][:] = records
        largest = self.ran(["trend", base, new, "--limit", "1"]).stdout
        self.assertIn("-80.0%", largest, "a fifth of the time is a larger change than twice the time")


if __name__ == "__main__":
    unittest.main()
