"""Tests array.sbatch, nightly.sh and architectures.sh: merge and report run even if the sweep failed, and name what
is missing.
"""

import shutil

import case


class Nightly(case.SlurmTest):
    def jobs_of(self, words):
        """Returns (sweep, finish) from nightly.sh's output; the sweep is None if there was nothing to do."""
        words = words.split()
        self.assertEqual(words[0], "submitted", words)
        numbers = [w for w in words if w.isdigit()]
        return (None, *numbers) if len(numbers) == 1 else tuple(numbers)

    def nightly(self, plan, *options):
        options = ("--env", self.site, *"--shards 4 --time 5 --backend emulated".split(), *options)
        tail = ("--", "--ntasks=1", "--cpus-per-task=1")
        return self.jobs_of(self.script("nightly.sh", plan, "-o", self.folder / "night", *options, *tail))

    def test_an_array_with_a_killed_shard(self):
        night = self.folder / "night"
        plan = self.plan(count=60, milliseconds=400)
        total = len(self.gaussweep("run", plan, "-o", "x", "--dry-run", "--backend", "emulated").splitlines()) - 1
        sweep, finish = self.nightly(plan)
        killed = night / "shard-3-of-4"
        self.wait_for_records(killed, 2)
        self.cluster.output("scancel", f"{sweep}_3")
        self.assertEqual(self.cluster.wait_for_end(finish), 5)

        # merge and report ran, and name what is missing
        merged = self.records(night / "results.h5")
        self.assertEqual({r["status"] for r in merged}, {"pass"})
        ids = {r["job_id"] for r in merged}
        self.assertEqual(ids, {f"{sweep}_{task}" for task in range(1, 5)})
        have = len(self.records(killed))
        listed = self.gaussweep("run", plan, "-o", "x", "--dry-run", "--backend", "emulated", "--shard", "3/4")
        expected = len(listed.splitlines()) - 1
        self.assertEqual(len(merged), total - expected + have)
        self.assertIn(f"\n{night}/results.h5: {len(merged)} records, ", self.output_of(night))
        self.assertLess(have, expected)
        output = (night / "missing.txt").read_text()
        self.assertIn(f"shard-3-of-4: {expected - have} of {expected} trials missing", output)
        self.assertEqual(output.count("shard-"), 1, output)
        self.assertIn(output.splitlines()[0], self.output_of(night))
        page = (night / "report/index.html").stat()
        self.assertGreater(page.st_size, 1000)

        # A cancelled task stays cancelled; a resubmission runs only the missing trials.
        self.assertEqual(self.cluster.output("squeue", "-h"), "")
        before = {shard: self.journal(night / f"shard-{shard}-of-4") for shard in range(1, 5)}
        again, finish = self.nightly(plan, "--resume")
        self.assertIn("--array=3 ", self.stderr)
        self.assertEqual(self.cluster.wait_for_end(finish), 0)
        for shard in (1, 2, 4):
            self.assertEqual(self.journal(night / f"shard-{shard}-of-4"), before[shard])
        records, _ = self.journal(killed)
        self.assertEqual(records[:have], before[3][0])
        self.assertEqual({r["job_id"] for r in records[have:]}, {f"{again}_3"})
        self.assertEqual(len({r["key"] for r in records}), len(records))
        self.assertEqual(len(records), expected)
        self.assertEqual((night / "missing.txt").read_text(), "")
        self.assertEqual(len(self.records(night / "results.h5")), total)
        self.assertNotEqual((night / "report/index.html").stat().st_mtime_ns, page.st_mtime_ns)

        # If nothing is missing, no sweep is submitted.
        none, finish = self.nightly(plan, "--resume")
        self.assertIsNone(none)
        self.cluster.output("scancel", finish)
        # Only a shard whose directory was deleted runs again.
        shutil.rmtree(night / "shard-2-of-4")
        again, finish = self.nightly(plan, "--resume")
        self.assertIn("--array=2 ", self.stderr)
        self.assertEqual(self.cluster.wait_for_end(finish), 0)
        self.assertEqual((night / "missing.txt").read_text(), "")
        self.assertEqual(len(self.records(night / "results.h5")), total)
        # The shards of an edited plan may have other trials.
        plan.write_text(plan.read_text() + "# edited\n")
        self.script("array.sbatch", plan, "-o", night, "--shards", 4, "--env", self.site, "--resume", "--dry-run")
        self.assertIn("--array=1-4 ", self.stderr)
        self.script("array.sbatch", plan, "-o", night, "--shards", 5, "--env", self.site, "--resume", code=2)
        self.assertIn("another number of shards", self.stderr)

    def test_a_sweep_that_never_started(self):
        """The merge reports it, and nightly.sh resumes the sweep in its directory, named after today's date."""
        plan = self.plan(count=2, milliseconds=1)
        to = ("-o", self.folder / "nights", "--dated", "--env", self.site, "--backend", "emulated")
        sweep, finish = self.jobs_of(self.script("nightly.sh", plan, *to, "--", "--hold"))
        (night,) = (self.folder / "nights").iterdir()
        self.assertRegex(night.name, r"^\d{4}-\d\d-\d\d$")
        self.cluster.output("scancel", sweep)
        self.assertEqual(self.cluster.wait_for_end(finish), 1)
        again = f"{case.JOBS}/nightly.sh {plan} -o {night} --env {self.site} --backend emulated --resume"
        missing = f"sweep: never started, all of its trials are missing\ngo on with: {again} -- --hold\n"
        self.assertEqual((night / "missing.txt").read_text(), missing)
        self.assertFalse((night / "results.h5").exists())

        sweep, finish = self.jobs_of(self.script("nightly.sh", *again.split()[1:]))
        self.assertIn(" --nights ", self.stderr)
        self.assertEqual(self.cluster.wait_for_end(finish), 0, self.output_of(night))
        self.assertEqual(len(self.records(night / "results.h5")), 6)
        self.assertTrue((night / "report/index.html").exists())


class Architectures(case.SlurmTest):
    def test_two_features(self):
        """Each feature has its environment file, and one comparison comes out."""
        kepler = self.environment_file("old", "export GAUSSWEEP_TEST_SITE=old")
        hopper = self.environment_file("new", "export GAUSSWEEP_TEST_SITE=new")
        output, plan = self.folder / "across", self.plan(count=4, milliseconds=20)
        options = ("--feature", f"kepler={kepler}", "--gres", f"hopper={hopper}", "--gpus", 2, "--time", 5)
        words = self.script("architectures.sh", plan, "-o", output, *options, "--backend", "emulated").split()
        finish = [w for w in words if w.isdigit()][-1]
        self.assertEqual(self.cluster.wait_for_end(finish), 0)
        for name, node, site in (("kepler", "n1", "old"), ("hopper", "n2", "new")):
            records = self.records(output / name)
            self.assertEqual(len(records), 8)
            self.assertEqual({(r["node"], r["status"]) for r in records}, {(node, "pass")})
            (environment,) = (output / name / "logs").glob("environment-*.txt")
            self.assertIn(f"GAUSSWEEP_TEST_SITE={site}\n", environment.read_text())
        (note,) = [n for n in self.journal(output / "hopper")[1] if n["note"] == "run"]
        self.assertEqual(note["SLURM_JOB_GRES"], "gpu:hopper:2")
        self.assertEqual({r["gres"] for r in self.records(output / "hopper")}, {"gpu:hopper:2"})
        # The same trial on two architectures gives two records.
        merged = self.records(output / "results.h5")
        self.assertEqual(len(merged), 16)
        self.assertEqual(len({r["key"] for r in merged}), 8)
        comparisons = list(output.glob("compare-*.txt"))
        self.assertEqual([c.name for c in comparisons], ["compare-kepler-hopper.txt"])
        text = comparisons[0].read_text()
        self.assertIn("This compares two runs, not two models", text)  # both nodes have one CPU model
        for method in ("gesv/fault_none", "gesv/gauss_block", "gesv/lapack"):
            self.assertIn(method, text)
        self.assertTrue((output / "report/index.html").exists())


if __name__ == "__main__":
    case.main()
