"""Tests that a sweep continues where it was, and loses nothing, after time limits, notices and cancelled jobs."""

import time

import case


class TimeLimit(case.SlurmTest):
    def test_a_sweep_longer_than_its_time_limit(self):
        plan, directory = self.plan(count=90, milliseconds=250), self.folder / "run"
        # A minute is Slurm's shortest limit; the notice comes 10 to 40 s after the start.
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--ranks-per-node", 1, "--time", 1, "--notice", 50)
        other = self.undisturbed(plan)
        self.assertEqual(self.cluster.wait_for_end(job, 420), 0)
        requeues = int(self.cluster.job(job)["Restarts"])
        self.assertGreaterEqual(requeues, 1)
        _, notes = self.journal(directory)
        ends = [n["exit_code"] for n in notes if n["note"] == "end"]
        self.assertEqual(ends, [5] * requeues + [0])
        self.assertEqual(len(list(directory.glob("logs/environment-*.txt"))), requeues + 1)
        output = self.output_of(directory)
        # One more may come if the last trial has just ended.
        self.assertIn(output.count("Slurm's notice; draining"), (requeues, requeues + 1))
        self.assertEqual(output.count("was requeued"), requeues)
        self.assert_same_records(directory, other)


class Notices(case.SlurmTest):
    """Tests the notice before a job's end. The tests send it by hand, so that none of them waits for a minute."""

    def notice(self, job, directory, records):
        self.wait_for_records(directory, records)
        self.cluster.output("scancel", "--batch", "--signal=USR1", job)

    def test_requeues_are_counted(self):
        """Uses srun, which signals every process of a step. Running trials must not count as crashed."""
        plan, directory = self.plan(count=50, milliseconds=200), self.folder / "run"
        self.site = self.environment_file("srun", "GAUSSWEEP_LAUNCHER=srun", "GAUSSWEEP_LAUNCHER_OPTIONS=(--mpi=pmix)")
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--requeues", 1)
        self.notice(job, directory, 1)
        self.cluster.wait_for(lambda: self.cluster.job(job)["Restarts"] == "1", 120, "a requeue")
        have = len(self.journal(directory)[0])
        self.notice(job, directory, have + 1)
        self.assertEqual(self.cluster.wait_for_end(job), 5)
        output = self.output_of(directory)
        self.assertIn("--requeues 1 allows no more starts", output)
        self.assertNotIn("crashed", output)
        again = self.submit("sweep.sbatch", plan, "-o", directory, "--resume")
        self.assertEqual(self.cluster.wait_for_end(again), 0)
        self.assert_same_records(directory, self.undisturbed(plan))

    def test_fruitless_starts_end(self):
        """A trial longer than the job's time would be started forever."""
        plan, directory = self.folder / "long.yaml", self.folder / "run"
        plan.write_text(
            "name: long\nrepeats: 1\nwarmup: 0\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 4, milliseconds: 60000}\n"
        )
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--notice", 2)
        for start in range(2):
            self.cluster.wait_for(
                lambda: len([n for n in self.journal(directory)[1] if n["note"] == "run"]) == start + 1, 120, "a start"
            )
            time.sleep(1)
            self.notice(job, directory, 0)
        self.assertEqual(self.cluster.wait_for_end(job), 5)
        self.assertRegex(self.gaussweep("status", directory), "Note: .* no trial ended in two starts;.* more --time")
        # If nothing else is left, a trial is tried even if its estimate exceeds the limit.
        limited = ["--time-limit" in n["command_line"] for n in self.journal(directory)[1] if n["note"] == "run"]
        self.assertEqual(limited, [True, False])

    def test_a_cancelled_job_stays_cancelled(self):
        directory = self.folder / "run"
        job = self.submit("sweep.sbatch", self.plan(), "-o", directory)
        self.wait_for_records(directory, 1)
        self.cluster.output("scancel", job)
        self.cluster.wait_for_end(job)
        self.assertEqual(self.cluster.job(job)["JobState"], "CANCELLED")
        self.assertNotIn("was requeued", self.output_of(directory))
        self.assertIn("gaussweep ended with exit code 5", self.output_of(directory))

    def test_a_job_that_is_cancelled_while_it_drains_stays_cancelled(self):
        for signal in ([], ["--batch", "--signal=TERM"]):
            directory = self.folder / f"run{len(signal)}"
            job = self.submit("sweep.sbatch", self.plan(count=6, milliseconds=20000), "-o", directory)
            self.cluster.wait_for(lambda: self.journal(directory)[1], 120, "a start")
            time.sleep(1)
            self.notice(job, directory, 0)
            self.cluster.wait_for(lambda: "draining" in self.output_of(directory), 60, "the notice")
            self.cluster.output("scancel", *signal, job)
            self.cluster.wait_for_end(job)
            self.assertEqual(self.cluster.job(job)["JobState"], "FAILED" if signal else "CANCELLED")
            self.cluster.wait_for(lambda: "was cancelled" in self.output_of(directory), 60, "the job's last line")
            self.assertNotIn("was requeued", self.output_of(directory))
            self.assertEqual(self.cluster.job(job)["Restarts"], "0")

    def test_an_administrator_requeues(self):
        """Before the requeue a notice arrives while the modules are loaded. No trial has begun, so nothing is lost."""
        plan, directory = self.plan(count=40, milliseconds=200), self.folder / "run"
        # job.sh remembers a signal in `stopped`.
        self.site = self.environment_file(
            "slow",
            "gaussweep_setup() {",
            "  [[ -n ${SLURM_JOB_ID:-} && -z ${SLURM_RESTART_COUNT:-} ]] || return 0",
            f"  touch {self.folder}/began",
            "  until [[ -n ${stopped:-} ]]; do sleep 0.1; done",
            "}",
        )
        job = self.submit("sweep.sbatch", plan, "-o", directory)
        self.cluster.wait_for((self.folder / "began").exists, 120, "the modules are loaded")
        self.cluster.output("scancel", "--batch", "--signal=USR1", job)
        self.wait_for_records(directory, 2)
        self.assertIn("signalled before the sweep began", self.output_of(directory))
        before, _ = self.journal(directory)
        self.cluster.output("scontrol", "requeue", job)
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertEqual(self.cluster.job(job)["Restarts"], "2")
        records, _ = self.journal(directory)
        self.assertEqual(records[: len(before)], before, "a record was lost")
        self.assert_same_records(directory, self.undisturbed(plan))


class Preemption(case.SlurmTest):
    def test_an_urgent_job_takes_the_nodes(self):
        """PreemptMode=REQUEUE: Slurm itself requeues the sweep, which continues when the nodes are free."""
        plan, directory = self.plan(count=50, milliseconds=200), self.folder / "run"
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--nodes", 2, "--ranks-per-node", 1)
        self.wait_for_records(directory, 4)
        before, _ = self.journal(directory)
        urgent = self.cluster.output(
            *"sbatch --parsable --partition=urgent --nodes=2 --exclusive --output=/dev/null".split(), "--wrap=sleep 2"
        ).strip()
        self.assertEqual(self.cluster.wait_for_end(urgent), 0)
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.assertIn("makes room for another", self.output_of(directory))
        records, notes = self.journal(directory)
        self.assertEqual(len([n for n in notes if n["note"] == "run"]), 2)
        self.assertEqual(records[: len(before)], before, "a record was lost")
        self.assertEqual(len({r["key"] for r in records}), len(records), "a trial was repeated")
        self.assert_same_records(directory, self.undisturbed(plan))


if __name__ == "__main__":
    case.main()
