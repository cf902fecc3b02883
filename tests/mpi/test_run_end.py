"""Tests time estimates, the end of `run` (winners, changes since the last run, next command), and stopped jobs."""

import datetime
import fcntl
import json
import os
import re
import unittest
import zlib

import harness
from harness import SweepTest, run

PLAN = """
name: nights
repeats: 3
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: [lapack, gauss_pivot_serial], n: [30, 61]}
"""


class RunEnd(SweepTest):
    def test_the_first_run_names_winner_and_next_command(self):
        directory = self.sweep(self.plan(PLAN.replace("[30, 61]", "[61]")))
        self.assertRegex(self.stderr, r"on .+: gesv/(lapack|gauss_pivot_serial), .*(times as fast|level with)")
        self.assertNotIn("Since", self.stderr)
        self.assertIn(f"Next: {harness.GAUSSWEEP} summary {directory} --best --by gpu", self.stderr)

    def test_many_cases_are_counted(self):
        self.sweep(self.plan(PLAN.replace("[30, 61]", "[30, 31, 33, 34, 35]")))
        self.assertRegex(self.stderr, r"Fastest on .+, of 5 cases: (gesv/\w+ \d|\d ties?)")
        seeds = PLAN.replace("[30, 61]", "[30, 31, 33, 34, 35]").replace("dominant}", "dominant, seed: [1, 2]}")
        self.sweep(self.plan(seeds), output="seeds")
        self.assertRegex(self.stderr, "Fastest on .+, of 5 cases: ")

    def test_changes_since_the_last_run_of_the_plan(self):
        plan = self.plan(PLAN)
        self.sweep(plan, output="runs/a")
        self.sweep(self.plan(PLAN.replace("nights", "other"), "other.yaml"), output="runs/b")
        self.assertNotIn("Since", self.stderr)
        self.sweep(plan, "--shard", "1/2", output="runs/c")
        self.assertNotIn("Since", self.stderr)  # a shard is not compared with the whole
        with open(self.sweep(plan, output="runs/running") / "lock", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            directory = self.sweep(plan, output="runs/d")
        self.assertRegex(self.stderr, rf"Since {self.folder}/runs/a: 4 trials in both: ")
        ends = self.stderr.split("Since", 1)[1].splitlines()
        self.assertLess(max(len(line) for line in ends if "gaussweep" not in line and "Since" not in line), 160)
        self.assertRegex(self.stderr, rf"{harness.GAUSSWEEP} compare \S*runs/a {directory} --same-models")
        # Nights by date, each with its sweep. A link to the night that runs is no earlier night.
        self.sweep(plan, output="dated/2020-02-28/sweep")
        (self.folder / "dated/2020-02-29").mkdir()
        (self.folder / "dated/latest").symlink_to("2020-02-29")
        self.sweep(plan, output="dated/2020-02-29/sweep")
        self.assertRegex(self.stderr, r"Since \S*dated/2020-02-28/sweep: 4 trials in both: ")

    def test_missing_trials_are_named(self):
        directory = self.sweep(self.plan(PLAN.replace("[30, 61]", "[30, 1500]")), "--shard", "1/1")
        journal = directory / "journal.jsonl"
        lines = [line for line in journal.read_text().splitlines() if '"n":1500' not in line.replace(" ", "")]
        journal.write_text("\n".join(lines) + "\n")
        shown = self.ran(["status", directory, "--missing", "1"]).stdout.split(f"Missing in {directory}:\n")[1]
        first, rest = shown.splitlines()
        self.assertRegex(first, r"^  gesv/\w+ double n=1500 on diagonally_dominant")
        self.assertEqual(rest, "  and 1 more")

    def test_a_run_with_an_unreadable_plan_is_ignored(self):
        self.sweep(self.plan(PLAN), output="runs/a")
        (self.folder / "runs/a/plan.yaml").write_text("nonsense: [")
        self.sweep(self.plan(PLAN), output="runs/b")
        self.assertNotIn("Since", self.stderr)

    def test_a_run_with_an_unreadable_journal_is_named(self):
        journal = self.sweep(self.plan(PLAN), output="runs/a") / "journal.jsonl"
        journal.unlink()
        os.mkfifo(journal)
        self.sweep(self.plan(PLAN), output="runs/b")
        self.assertRegex(self.stderr, r"Not compared with \S*runs/a: .*it is a FIFO")

    def test_the_next_command_repeats_the_options(self):
        plan = self.plan(PLAN.replace("[30, 61]", "[1500, 1501]"))
        directory = self.sweep(
            plan, "--time-limit", "0.001", "--grace", "0", "--backend", "emulated", "--shard", "2/2", ranks=2, code=5
        )
        self.assertIn(
            f"go on with: mpirun -n 2 {harness.GAUSSWEEP} run {plan} -o {directory} --backend emulated"
            " --time-limit 0.001 --grace 0 --shard 2/2 --resume",
            self.stderr,
        )

    def test_the_next_command_in_a_batch_job_submits_again(self):
        plan = self.plan(PLAN.replace("[30, 61]", "[1500]"))
        submitted = "jobs/slurm/sweep.sbatch plan.yaml -o 'a b' --nodes 2"
        options = ("--time-limit", "0.001", "--grace", "0")
        self.sweep(plan, *options, code=5, GAUSSWEEP_SUBMITTED_BY=f"{submitted} -- --partition=gpu")
        self.assertIn(f"requeue the job, go on with: {submitted} --resume -- --partition=gpu\n", self.stderr)

    def test_the_status_of_a_stopped_job_quotes_its_output(self):
        directory = self.sweep(self.plan(PLAN), "--time-limit", "0.001", "--grace", "0", code=5)
        log = directory / "logs/slurm-gaussweep-8.out"
        (directory / "logs/submitted").write_text("8\n")
        for line in (
            "slurmstepd: error: *** JOB 8 ON n1 CANCELLED AT 2026-03-01T12:00:00 DUE TO NODE FAILURE ***",
            "sweep.sbatch: no trial ended in two starts; not requeued. If each takes longer, give more --time",
        ):
            log.write_text(f"sweep.sbatch: job 8, start 0, on n1\n{line}\n")
            self.assertIn(f"Note:    {log}: {line}\n", self.ran(["status", directory]).stdout)
            log.write_text(f"{log.read_text()}sweep.sbatch: job 8, start 1, on n1\n")
            shown = self.ran(["status", directory]).stdout
            self.assertNotIn(line, shown)
            self.assertIn("; job 8 has just started; squeue shows its state", shown)
        log.write_text(f"{log.read_text()}4 trials, 4 to do, 1 rank\n")
        self.assertNotIn("just started", self.ran(["status", directory]).stdout)

    def test_progress_line_under_mpirun(self):
        plan = self.plan(PLAN.replace("nights", "live").replace("[30, 61]", "200:203:1"))
        output, code = harness.on_terminal(["run", plan, "-o", self.folder / "run"], 2)
        self.assertEqual(code, 0, output)
        self.assertRegex(output.decode(), r"\r\x1b\[K\[=* *\] \d/8 trials")


class Failures(SweepTest):
    def test_the_last_line_gives_the_reason_and_names_repairs(self):
        plan = self.plan(PLAN.replace("repeats: 3", "repeats: 3\ntolerance: 1e-9"))
        self.sweep(plan, code=1, output="runs/a")
        self.assertTrue(self.stderr.splitlines()[-1].endswith("exit code 1: 4 trials did not end as expected"))
        self.sweep(plan, code=1, output="ranks", ranks=2)
        self.assertRegex(self.stderr, "exit code 1: .*have ended by themselves")
        self.sweep(self.plan(plan.read_text().replace("61]", "61, 62]"), "more"), "--resume", code=1, output="runs/a")
        self.assertRegex(self.stderr, r"6/6 trials \(100 %\), 6 wrong")
        plan.write_text(PLAN)
        self.sweep(plan, output="runs/b")
        self.assertNotIn("Repaired", self.stderr, "the looser tolerance is the cause")
        self.assertIn("The tolerance changed (1.6e-08 -> 16)", self.stderr)
        runs = [self.folder / "runs" / name for name in "ab"]
        journal, lines = runs[0] / "journal.jsonl", []
        for line in journal.read_text().splitlines():  # as if the tolerance had been the same
            body = re.sub(r'"tolerance":1\.6e-0?8', '"tolerance":16.0', line[: line.rindex(',"crc"')])
            lines.append(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')
        journal.write_text("".join(lines))
        self.assertIn("Repaired: 4 trials", self.ran(["compare", *runs], COLUMNS="400").stdout)
        for kind, count in (("repaired", 4), ("worse", 0)):
            shown = json.loads(self.ran(["compare", *runs, "--only", kind, "--format", "json"]).stdout)
            self.assertEqual(len(shown["trials"]), count, kind)

    def test_repaired_trials_are_counted(self):
        plan = self.plan("name: once\nrepeats: 1\nsweep:\n  - {problem: gesv, method: fault_once, n: 4}\n")
        self.sweep(plan, program=harness.FAULTY, code=3)  # the method needs the variable
        mark = str(self.folder / "mark")
        self.sweep(plan, "--retry-failed", program=harness.FAULTY, GAUSSWEEP_FAULT_MARK=mark)
        self.assertIn("repaired: 1 trial", self.stderr)


class Estimates(SweepTest):
    def test_a_plan_is_estimated_from_an_earlier_run(self):
        plan = self.plan(PLAN)
        directory = self.sweep(plan)
        done = self.ran(["plan", plan, "--like", directory])
        self.assertRegex(done.stdout, rf"one after the other .+, by\s+{re.escape(str(directory))}")
        # Another method is estimated between the known ones; another backend is unknown.
        more = self.plan(PLAN.replace("gauss_pivot_serial", "gauss_serial, gauss_jordan_shared"), "more.yaml")
        done = run(["plan", more, "--like", directory])
        self.assertRegex(done.stdout, r"gesv/gauss_jordan_shared .*unknown")
        self.assertNotRegex(done.stdout, r"gesv/gauss_serial .*unknown")
        self.assertRegex(done.stdout, r"and\s+2\s+unknown")
        # Methods of the CPU are known on a machine without the plan's GPU.
        done = self.ran(["plan", more, "--backend", "cuda", "--like", directory])
        self.assertRegex(done.stdout, r"gesv/lapack \(host\) +0(\.0)? .*about \d+ s")

    def test_trials_of_an_earlier_run_are_estimated_by_their_own_times(self):
        plan = self.plan(PLAN.replace("lapack, gauss_pivot_serial", "gauss_jordan_shared, gauss_block"))
        directory = self.sweep(plan)
        explained = json.loads(run(["plan", plan, "--like", directory, "--explain", "--format", "json"]).stdout)
        estimated = sum(trial["about"] for trial in explained)
        taken = 0
        for record in harness.journal(directory)[0]:
            ended = datetime.datetime.fromisoformat(record["end_time"].replace("Z", "+00:00"))
            taken += ended.timestamp() - record["prepare_began"]
        self.assertLess(max(estimated / taken, taken / estimated), 2, (estimated, taken))

    def test_a_missing_run(self):
        done = run(["plan", self.plan(PLAN), "--like", self.folder / "nothing"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()
