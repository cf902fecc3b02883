"""Tests a batch job's environment (tasks without MPI, unusable GPUs, TMPDIR, thread counts), and the merge after it."""

import os
import shutil
import subprocess
import unittest

import h5py

from harness import BUILD, GAUSSWEEP, SOURCE, SweepTest, command, execute, run

SMALL = "repeats: 1\nstages: never\nsweep:\n  - {problem: gesv, method: [gauss_block, lapack], n: 16}\n"
HOST = SMALL.replace("[gauss_block, lapack]", "lapack")


class Tasks(SweepTest):
    def test_tasks_of_srun_that_no_mpi_connects(self):
        directory = self.folder / "run"
        step = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}
        done = run(["run", self.plan(HOST), "-o", directory], **step)
        self.assertEqual(done.returncode, 2)
        self.assertIn("srun started 2 tasks", done.stderr)
        self.assertFalse(directory.exists())
        self.ran(["run", self.plan(HOST), "-o", directory, "--shard", "1/2"], **step)
        self.ran(["run", self.plan(HOST), "-o", self.folder / "one"], **{**step, "SLURM_STEP_NUM_TASKS": "1"})


class Gpus(SweepTest):
    JOB = {"SLURM_JOB_ID": "77", "SLURM_JOB_GPUS": "0", "SLURM_GPUS_ON_NODE": "1"}

    def test_a_job_with_gpus_is_not_emulated_unasked(self):
        directory = self.folder / "run"
        done = run(["run", self.plan(SMALL), "-o", directory], **self.JOB)
        self.assertEqual(done.returncode, 2)
        self.assertIn("SLURM_JOB_GPUS=0", done.stderr)
        self.assertFalse(directory.exists())
        self.ran(["run", self.plan(SMALL), "-o", directory, "--backend", "emulated"], **self.JOB)
        self.ran(["run", self.plan(HOST), "-o", self.folder / "host"], **self.JOB)

    def test_a_dry_run_warns_of_what_will_be_emulated(self):
        words = ["run", self.plan(SMALL), "-o", self.folder / "run", "--dry-run"]
        self.assertIn("1 trial of methods for GPUs", self.ran(words).stderr)
        refused = self.ran(words, code=2, **self.JOB)
        self.assertIn("2 trials", refused.stdout)
        self.assertIn("SLURM_JOB_GPUS=0", refused.stderr)
        for job in ({}, self.JOB):
            done = self.ran(["run", self.plan(HOST), "-o", self.folder / "run", "--dry-run"], **job)
            self.assertNotIn("methods for GPUs", done.stderr)

    def test_a_dry_run_ends_like_the_run(self):
        plan, directory = self.plan(HOST), self.sweep(self.plan(HOST))
        before = (directory / "journal.jsonl").read_text()
        done = self.ran(["run", plan, "-o", directory, "--dry-run"], code=2)
        self.assertIn("is not empty", done.stderr)
        done = self.ran(["run", plan, "-o", directory, "--dry-run", "--resume"])
        self.assertIn("0 of 1 trial", done.stdout)
        self.assertEqual((directory / "journal.jsonl").read_text(), before, "nothing is written")

    def submit(self, words, code):
        """Runs a script with an sbatch that submits job 7 and ends with this code."""
        (self.folder / "sbatch").write_text(f"#!/bin/sh\necho 7\nexit {code}\n")
        (self.folder / "sbatch").chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        return execute(words, GAUSSWEEP=str(GAUSSWEEP), GAUSSWEEP_ENV="", PATH=path)

    def test_a_dry_run_ends_like_the_submission(self):
        plan, output = self.plan(HOST), self.folder / "night"
        for script in ("sweep.sbatch", "nightly.sh"):
            for code, refusals in ((0, 0), (7, 1)):
                done = self.submit([SOURCE / "jobs/slurm" / script, plan, "-o", output, "--dry-run"], code)
                self.assertEqual(done.returncode, 1 if code else 0, done.stderr)
                self.assertEqual(done.stderr.count("Slurm would refuse"), refusals)
                self.assertEqual(done.stderr.count("finish.sbatch: sbatch "), script == "nightly.sh")

    def test_a_resumed_sweep_that_is_absent_is_named(self):
        plan = self.plan(HOST)
        self.sweep(plan, output=self.folder / "there/sweep")
        self.sweep(plan, "--shard", "1/2", output=self.folder / "there/shard-1-of-2")
        for script, options, below in (
            ("sweep.sbatch", [], "sweep"),
            ("array.sbatch", ["--shards", 2], ""),
            ("nightly.sh", ["--shards", 2], ""),
        ):
            for directory, resume, remarks in (("misspelled", True, 1), ("misspelled", False, 0), ("there", True, 0)):
                output = self.folder / directory / below
                words = [SOURCE / "jobs/slurm" / script, plan, "-o", output, *options, "--dry-run"]
                done = self.submit([*words, *(["--resume"] if resume else [])], 0)
                self.assertEqual(done.returncode, 0, done.stderr)
                remark = f"nothing to resume in {output}: a new sweep begins\n"
                self.assertEqual(done.stderr.count(remark), remarks, done.stderr)

    def test_a_refused_submission_leaves_no_folder(self):
        plan, nights = self.plan(HOST), self.folder / "nights"
        for script, options in (("sweep.sbatch", []), ("array.sbatch", ["--shards", 1]), ("nightly.sh", ["--dated"])):
            done = self.submit([SOURCE / "jobs/slurm" / script, plan, "-o", nights, *options], 1)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("sbatch refused", done.stderr)
            self.assertFalse(nights.exists(), script)
        nights.mkdir()
        self.submit([SOURCE / "jobs/slurm/nightly.sh", plan, "-o", nights, "--dated"], 1)
        self.assertEqual(list(nights.iterdir()), [], "the folder that existed stays")

    def test_a_directory_that_cannot_be_written_is_refused(self):
        plan, output = self.plan(HOST), self.folder / "out"
        (output / "logs").mkdir(parents=True)
        # Root may write everywhere, unless it lacks this capability.
        as_user = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
        for folder in (output, output / "logs"):
            folder.chmod(0o555)
            self.addCleanup(folder.chmod, 0o755)
            for script, options in (
                ("sweep.sbatch", []),
                ("array.sbatch", ["--shards", 1]),
                ("finish.sbatch", []),
                ("nightly.sh", ["--shards", 1]),
            ):
                plan_or_run = self.folder / "run" if script == "finish.sbatch" else plan
                words = [*as_user, SOURCE / "jobs/slurm" / script, plan_or_run, "-o", output, *options]
                for dry in ([], ["--dry-run"]):
                    done = self.submit([*words, *dry], 0)
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                    self.assertIn(f"the directory {folder} cannot be written", done.stderr)
                    self.assertNotIn("submitted job", done.stdout)
            folder.chmod(0o755)

    def test_a_directory_is_not_submitted_twice(self):
        plan, queue = self.plan(HOST), self.folder / "squeue"
        for script, options in (
            ("sweep.sbatch", ["--resume"]),
            ("array.sbatch", ["--resume", "--shards", 1]),
            ("nightly.sh", ["--dated"]),
            ("nightly.sh", ["--resume", "--shards", 1]),
        ):
            output = self.folder / f"{script}-{len(options)}"
            words = [SOURCE / "jobs/slurm" / script, plan, "-o", output, *options]
            for lists, code in (("echo 7", 0), ("echo 7", 2), ("true", 0)):
                queue.write_text(f"#!/bin/sh\n{lists}\n")
                queue.chmod(0o755)
                done = self.submit(words, 0)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(" was submitted already; its jobs have not ended: 7 (" in done.stderr, code == 2)
                if code == 2:  # a dry run has the exit code of the submission
                    self.assertEqual(self.submit([*words, "--dry-run"], 0).returncode, 2)

    def test_an_array_of_more_shards_than_trials(self):
        script, plan = SOURCE / "jobs/slurm/array.sbatch", self.plan(HOST)
        for shards, warned in ((1, False), (3, True)):
            done = self.submit([script, plan, "-o", self.folder / "array", "--dry-run", "--shards", str(shards)], 0)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(
                "at least 2 of 3 shards have no trial, because the plan has only 1 here" in done.stderr,
                warned,
                done.stderr,
            )

    def test_the_dry_run_of_a_job_that_asks_for_no_gpus(self):
        script = SOURCE / "jobs/slurm/sweep.sbatch"
        for plan, options, warned in (
            (SMALL, [], True),
            (SMALL, ["--backend", "emulated"], False),
            (SMALL, ["--", "--gpus-per-node=1"], "if built without CUDA"),
            (SMALL, ["--", "--gres=gpu:h200:1"], "if built without CUDA"),
            (HOST, [], False),
        ):
            words = [script, self.plan(plan), "-o", self.folder / "job", "--dry-run", *options]
            done = self.submit(words, 0)
            no_cuda = "built without CUDA" in self.ran(["devices"]).stdout
            refused = no_cuda and warned == "if built without CUDA"
            self.assertEqual(done.returncode, 2 if refused else 0, done.stderr)
            self.assertEqual("built without CUDA" in done.stderr, no_cuda and warned is not False, done.stderr)
            self.assertEqual("asks for no GPUs" in done.stderr, warned is True and not no_cuda, done.stderr)

    def test_a_job_that_would_refuse_its_gpus_is_not_submitted(self):
        """A build without CUDA cannot use the GPUs that the job requests. The dry run ends like the submission."""
        refused = "built without CUDA" in self.ran(["devices"]).stdout
        plan, calls = self.plan(SMALL), self.folder / "calls"
        sites = [self.folder / "one.sh", self.folder / "two.sh"]
        for site in sites:
            site.write_text(f"GAUSSWEEP={GAUSSWEEP}\n")
        one, two = sites
        (self.folder / "sbatch").write_text(f'#!/bin/sh\n[ "$1" = --test-only ] || echo "$@" >>{calls}\necho 7\n')
        (self.folder / "sbatch").chmod(0o755)
        for script, options in (
            ("sweep.sbatch", ["--", "--gres=gpu:1"]),
            ("array.sbatch", ["--shards", 2, "--", "--gres=gpu:1"]),
            ("nightly.sh", ["--dated", "--shards", 2, "--", "--gres=gpu:1"]),
            ("architectures.sh", ["--feature", f"kepler={one}", "--gres", f"hopper={two}"]),
        ):
            for dry in ([], ["--dry-run"]):
                output = self.folder / f"{script}{len(dry)}"
                words = [SOURCE / "jobs/slurm" / script, plan, "-o", output, *dry, *options]
                path = f"{self.folder}:{os.environ['PATH']}"
                done = execute(words, GAUSSWEEP=str(GAUSSWEEP), GAUSSWEEP_ENV="", PATH=path)
                self.assertEqual(done.returncode, 2 if refused else 0, done.stderr)
                self.assertEqual("refuses to start; add --backend emulated" in done.stderr, refused, done.stderr)
                self.assertEqual(calls.exists(), not refused and not dry, done.stderr)
                self.assertEqual(output.exists(), not refused and not dry, "a folder is left")
                calls.unlink(missing_ok=True)


class Finish(SweepTest):
    """Runs finish.sbatch as Slurm does, with its output into a pipe."""

    def setUp(self):
        super().setUp()
        script = SOURCE / "jobs/slurm/finish.sbatch"
        shutil.copy(script, self.folder / "slurm_script")
        self.night = self.folder / "nights/2026-11-29"
        self.night.mkdir(parents=True)
        self.mailbox = self.folder / "mailbox"
        self.command("scontrol", f"echo '   Command={script} -o x'")
        self.command("mail", f'ulimit -f unlimited; (echo "$@"; cat) >{self.mailbox}')

    def command(self, name, text):
        (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.folder / name).chmod(0o755)

    def finish(self, code, before="true", inputs=("sweep",), options="", **variables):
        directories = " ".join(str(self.night / name) for name in inputs)
        job = f"exec {self.folder}/slurm_script -o {self.night} --nights --mail me@site {options} {directories}"
        path = f"{self.folder}:{os.environ['PATH']}"
        done = execute(
            ["bash", "-c", f"{before}; {job}"],
            **{"PATH": path, "SLURM_JOB_ID": "7", "GAUSSWEEP": str(GAUSSWEEP), "GAUSSWEEP_ENV": "", **variables},
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_a_night_without_records_to_merge_is_mailed(self):
        submission = {"GAUSSWEEP_SUBMITTED_BY": f"nightly.sh plan -o {self.night} -- --partition=gpu"}
        self.finish(1, **submission)
        next_words = f"go on with: nightly.sh plan -o {self.night} --resume -- --partition=gpu"
        missing = f"sweep: never started, all of its trials are missing\n{next_words}\n"
        self.assertEqual((self.night / "missing.txt").read_text(), missing)
        subject = "gaussweep, 2026-11-29: nothing could be merged"
        self.assertEqual(self.mailbox.read_text(), f"-s {subject} me@site\n{subject}\n\n{missing}")

    def test_the_mail_has_the_cause_and_the_log_of_a_sweep_that_failed_at_its_start(self):
        cause = "gaussweep: Slurm gave this job GPUs (SLURM_JOB_GPUS=0), but none can be used"
        begin = "sweep.sbatch: job 5, start 0, on n1, 1 rank(s) per node, 0 trials are recorded\n"
        text = f"{begin}{cause}\n-----\nmpirun has ended\n-----\nsweep.sbatch: gaussweep ended with exit code 2\n"
        old, log = (self.night / f"sweep/logs/slurm-gaussweep-{number}.out" for number in (4, 5))
        array = [self.night / f"logs/slurm-gaussweep-array-6_{task}.out" for task in (1, 2, 11)]
        for file in (old, log, *array):
            file.parent.mkdir(parents=True, exist_ok=True)
            other = text.replace("GPUS=0", "GPUS=1") if file == array[1] else text
            file.write_text("another cause\n" if file == old else other)
        os.utime(old, (1, 1))
        (self.night / "logs/slurm-gaussweep-finish-7.out").touch()
        subject = "gaussweep, 2026-11-29: nothing could be merged"
        for inputs, first, others in (
            (["sweep"], log, ""),
            (
                ["shard-1-of-3", "shard-2-of-3", "shard-3-of-3"],
                array[0],
                "shard-2-of-3: its job recorded no trial, all of its trials are missing\n"
                "shard-3-of-3: never started, all of its trials are missing\n",
            ),
        ):
            self.finish(1, inputs=inputs, GAUSSWEEP_SUBMITTED_BY="nightly.sh plan")
            missing = f"{inputs[0]}: its job recorded no trial, all of its trials are missing\n"
            missing += f"{inputs[0]}: {cause}; see {first}\n{others}go on with: nightly.sh plan --resume\n"
            self.assertEqual((self.night / "missing.txt").read_text(), missing)
            self.assertEqual(self.mailbox.read_text(), f"-s {subject} me@site\n{subject}\n\n{missing}")

    def test_the_mail_has_the_error_of_a_failed_merge(self):
        self.sweep(self.plan(HOST), output=self.night / "sweep")
        program = self.folder / "program"
        program.write_text(
            f'#!/bin/sh\n[ "$1" != merge ] || {{ echo "gaussweep: disk full" >&2; exit 3; }}\nexec {GAUSSWEEP} "$@"\n'
        )
        program.chmod(0o755)
        self.finish(1, GAUSSWEEP=str(program))
        text = self.mailbox.read_text()
        self.assertIn("nothing could be merged\n\ngaussweep: disk full\n", text)
        self.assertIn(f"{self.night}/logs/slurm-gaussweep-finish-7.out\n", text)
        self.assertRegex(text, f"\ngo on with: .*/finish.sbatch -o {self.night} .* {self.night}/sweep\\b")

    def test_the_exit_code_without_a_mail(self):
        self.sweep(self.plan(HOST), output=self.night / "sweep")
        self.command("mail", "exit 1")
        self.assertIn("no mail was sent", self.finish(1).stderr)
        self.assertIn("no mail was sent", self.finish(5, inputs=("sweep", "other")).stderr)

    def test_results_whose_run_directories_are_gone_stay(self):
        self.sweep(self.plan(HOST), output=self.night / "sweep")
        self.finish(0)
        results = (self.night / "results.h5").read_bytes()
        self.command("sbatch", "echo 7")
        words = [SOURCE / "jobs/slurm/nightly.sh", self.plan(HOST), "-o", self.night, "--resume"]
        path = f"{self.folder}:{os.environ['PATH']}"

        def refused(options, cause):
            done = execute([*words, *options], GAUSSWEEP=str(GAUSSWEEP), GAUSSWEEP_ENV="", PATH=path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(cause, done.stderr)

        refused(["--shards", "2"], f"{self.night} holds sweep; give the same --shards as for these (sweep: none)")
        shutil.rmtree(self.night / "sweep")
        for options in ([], ["--shards", "2"]):
            refused(options, "results.h5 of a sweep whose run directories are gone")
        self.sweep(self.plan(HOST.replace("n: 16", "n: 17")), output=self.night / "sweep")
        self.finish(0)
        kept = "The previous results.h5 has records that these lack (1). It is now results.h5.before-7."
        self.assertIn(kept, self.mailbox.read_text())
        self.assertEqual((self.night / "results.h5.before-7").read_bytes(), results)
        self.assertEqual(list(self.night.glob(".*.h5")), [])

    def test_a_job_whose_program_cannot_run_is_mailed(self):
        (self.night / "begun").mkdir()
        (self.night / "begun/journal.jsonl").touch()
        site = self.folder / "site.sh"
        for lines, cause in (
            ("GAUSSWEEP_MODULES=nvhpc/99\nmodule() { [ $1 = purge ]; }", "module load nvhpc/99 (.*) failed"),
            ("gaussweep_setup() { false; }", "gaussweep_setup of .* failed"),
            ("GAUSSWEEP=/nowhere/gaussweep", "no program /nowhere/gaussweep; build it with: .*"),
        ):
            site.write_text(f"{lines}\n")
            variables = {"GAUSSWEEP": "", "GAUSSWEEP_ENV": str(site), "GAUSSWEEP_SUBMITTED_BY": "nightly.sh plan"}
            self.finish(1, inputs=("sweep", "begun"), **variables)
            subject, _, text = self.mailbox.read_text().partition("\n")
            cause = cause.replace("(", r"\(").replace(")", r"\)")
            self.assertRegex(subject, rf"^-s gaussweep, 2026-11-29: .*{cause} me@site$")
            missing = "sweep: never started, all of its trials are missing\ngo on with: nightly.sh plan --resume\n"
            self.assertTrue(text.endswith(f"\n\n{missing}"), text)
            self.assertEqual((self.night / "missing.txt").read_text(), missing)

    def test_sweeps_of_different_plans_are_merged_by_force(self):
        for name in ("one", "two"):
            self.sweep(self.plan(f"name: {name}\n{HOST}"), output=self.night / name)
        done = self.finish(1, inputs=["one", "two"])
        self.assertIn("--force", done.stderr)
        self.assertRegex(self.mailbox.read_text(), r"\ngo on with: .*/two --force \n")
        self.finish(0, inputs=["one", "two"], options="--force")
        self.assertTrue((self.night / "results.h5").exists())

    def test_an_absent_night_before_is_an_error(self):
        self.sweep(self.plan(HOST), output=self.night / "sweep")
        absent = self.folder / "nights/2026-11-28"
        done = execute([SOURCE / "jobs/slurm/night.sh", self.night, absent], GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(f"there is no {absent}", done.stderr)

    def test_a_night_that_was_killed_says_how_to_go_on(self):
        directory = self.sweep(self.plan(HOST), output=self.night / "sweep")
        (directory / "results.h5").unlink()
        night = [SOURCE / "jobs/slurm/night.sh", self.night]
        done = execute(night, GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("--resume", done.stderr)
        command = done.stderr.partition("make the file by: ")[2].split()
        self.assertEqual(execute(command).returncode, 0)
        self.assertEqual(execute(night, GAUSSWEEP=str(GAUSSWEEP)).returncode, 0)

    def test_absent_shards_are_named(self):
        plan = self.plan(HOST.replace("n: 16", "n: [16, 17, 18, 19]"))
        for part in (1, 3):
            self.sweep(plan, "--shard", f"{part}/4", output=self.night / f"part/shard-{part}-of-4")
        absent = "".join(f"{self.night}/part/shard-{part}-of-4 is not there\n" for part in (2, 4))
        hint = f"go on with: the sweep's command and --resume, then {SOURCE}/jobs/slurm/finish.sbatch -o {self.night}"
        recorded = len(self.records(self.night / "part/shard-1-of-4") + self.records(self.night / "part/shard-3-of-4"))
        counts = f"part: {4 - recorded} of 4 trials missing\n"
        for inputs, first in ((["part"], counts), (["part/shard-1-of-4", "part/shard-3-of-4"], "")):
            done = self.finish(5, inputs=inputs)
            self.assertNotIn("all trials", done.stderr)
            self.assertTrue((self.night / "missing.txt").read_text().startswith(first + absent + hint))
        self.finish(5, inputs=["part/shard-1-of-4", "part/shard-2-of-4", "part/shard-3-of-4"])
        second = f"shard-2-of-4: never started, all of its trials are missing\n{absent.splitlines()[1]}\n"
        self.assertTrue((self.night / "missing.txt").read_text().startswith(second))
        inputs = [f"part/{part}" for part in (1, 3)]
        for name in inputs:
            (self.night / f"part/shard-{name[-1]}-of-4").rename(self.night / name)
        self.finish(5, inputs=inputs)
        missing = (self.night / "missing.txt").read_text().splitlines()
        self.assertRegex(missing[0], "shard 2 of 4 .* is not there")
        self.assertRegex(missing[1], "shard 4 of 4 .* is not there")

    def test_the_subject_counts_shards_without_records(self):
        plan = self.plan(HOST.replace("n: 16", "n: [16, 17, 18, 19, 20, 21]"))
        self.assertIn("All: 1 trial, ", self.ran(["plan", plan, "--shard", "3/3"]).stdout)
        shards = [f"shard-{part}-of-3" for part in (1, 2, 3)]

        def run_shard(part, kept):
            """Runs a shard and deletes all but `kept` records."""
            shutil.rmtree(self.night / shards[part - 1], ignore_errors=True)
            directory = self.sweep(plan, "--shard", f"{part}/3", output=self.night / shards[part - 1])
            (directory / "results.h5").unlink()
            journal = directory / "journal.jsonl"
            lines = journal.read_text().splitlines(keepends=True)
            records = [line for line in lines if '"note"' not in line]
            journal.write_text("".join(line for line in lines if line not in records[kept:]))

        for part, kept, counts in (
            (3, 0, "no records; 6 of 6 missing"),
            # The third shard is complete.
            (3, 1, "1 record: 1 pass; 5 of 6 missing; no records from shard 1 of 3, shard 2 of 3"),
            (2, 0, "1 record: 1 pass; 5 of 6 missing; no records from shard 1 of 3, shard 2 of 3"),
            (1, 1, "2 records: 2 pass; 4 of 6 missing; no records from shard 2 of 3"),
        ):
            run_shard(part, kept)
            self.finish(5, inputs=shards)
            text = (self.night / "night.txt").read_text()
            self.assertEqual(text.splitlines()[0], f"gaussweep, 2026-11-29: {counts}")

    def test_a_trial_longer_than_the_jobs_needs_more_time(self):
        directory = self.sweep(self.plan(HOST.replace("n: 16", "n: [16, 17]")), output=self.night / "sweep")
        (directory / "logs/fruitless-starts").write_text("start 0\nstart 1\n")
        self.finish(0)  # trials that were recorded since then are not missing
        journal = directory / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"n":17,' not in line.replace(" ", "")))
        (directory / "results.h5").unlink()
        self.finish(5, GAUSSWEEP_SUBMITTED_BY="nightly.sh plan --time 1")
        missing = (self.night / "missing.txt").read_text()
        self.assertIn("sweep: no trial ended in two starts", missing)
        self.assertIn("\ngo on with a longer --time than in: nightly.sh plan --time 1 --resume\n", missing)

    def test_missing_trials_are_named_but_not_mailed(self):
        directory = self.sweep(self.plan(HOST.replace("n: 16", "n: [16, 17]")), output=self.night / "sweep")
        (directory / "results.h5").unlink()
        journal = directory / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"n":17,' not in line.replace(" ", "")))
        self.finish(5)
        name = "\n  gesv/lapack double n=17"
        self.assertIn(f"sweep: 1 of 2 trials missing{name}", (self.night / "missing.txt").read_text())
        self.assertNotIn(name, self.mailbox.read_text())
        cause, log = "x cannot be written: No space left on device", directory / "logs/slurm-gaussweep-8.out"
        log.write_text(f"gaussweep: {cause}\n")
        journal.write_text("".join(line for line in journal.read_text().splitlines(True) if '"end"' not in line))
        self.finish(5)
        self.assertIn(f"sweep: 1 of 2 trials missing (ended: {cause} ({log}))\n", self.mailbox.read_text())

    def test_a_full_disk_does_not_look_complete(self):
        """A limit of zero bytes per file replaces a full disk."""
        done = self.finish(1, "trap '' XFSZ; ulimit -S -f 0")
        self.assertNotIn("all trials", done.stderr)
        self.assertIn(f"cannot write {self.night}/missing.txt", done.stderr)
        self.assertEqual(list(self.night.iterdir()), [])
        self.assertIn("nothing could be merged\n\nsweep: never started", self.mailbox.read_text())

    def test_a_resumed_night_is_compared_with_earlier_ones(self):
        (self.folder / "plan").write_text(HOST)
        script, nights = SOURCE / "jobs/slurm/nightly.sh", self.folder / "nights"
        for directory, compared in ((nights, False), (self.night, True)):
            words = [script, self.folder / "plan", "-o", directory, "--dry-run", "--resume"]
            done = execute(words, GAUSSWEEP=str(GAUSSWEEP), GAUSSWEEP_ENV="")
            self.assertEqual(" --nights " in done.stderr, compared, done.stderr)

    def test_the_text_of_a_night_ends_with_its_winners(self):
        plan = self.plan(HOST.replace("gesv, method: lapack", "gesv, method: [lapack, gauss_serial]"))
        self.sweep(plan, output=self.night / "sweep")
        self.finish(0)
        self.assertEqual((self.night / "missing.txt").read_text(), "")
        text = (self.night / "night.txt").read_text()
        self.assertIn("gesv double", text)
        self.assertEqual(text.count("2 records: 2 pass"), 1, text)  # in the subject
        self.assertRegex(text.splitlines()[-1], r"^ .*\d", text)
        self.assertEqual(self.mailbox.read_text().partition("\n")[2], text)
        site = self.folder / "site.sh"
        site.write_text(f"GAUSSWEEP_BUILD={BUILD}\n")
        done = execute([SOURCE / "jobs/slurm/night.sh", "--env", site, self.night], GAUSSWEEP="")
        self.assertEqual(done.stdout, text, done.stderr)

    def test_the_text_explains_its_marks_and_names_no_options(self):
        """Simulates the program's output, because on this machine no method exceeds a limit."""
        self.sweep(self.plan(HOST), output=self.night / "sweep")
        before = self.folder / "nights/2026-11-28"
        self.sweep(self.plan(HOST), output=before / "sweep")
        legend = (
            "* compute: a lower precision inside the method, skipped zeros, or a GEMM rate\nthat was measured too low."
        )
        program = self.folder / "program"
        program.write_text(
            f"""#!/bin/sh
case "$*" in
  compare*--only*) echo "No trial is certainly slower or worse (--only); 1 undecided (UNCLEAR)." ;;
  *--best*--brief*) echo "gesv double lapack\n  248.2%* compute" ;;
  *--best*) echo "gesv double lapack\n  248.2%* compute\n\nA cell has a method.\n{legend}\nAnother line.\n\n1 record" ;;
  *) exec {GAUSSWEEP} "$@" ;;
esac
"""
        )
        program.chmod(0o755)
        done = execute([SOURCE / "jobs/slurm/night.sh", self.night, before], GAUSSWEEP=str(program))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nNo trial is certainly slower or worse; 1 undecided (UNCLEAR).\n", done.stdout)
        self.assertTrue(done.stdout.endswith(f"\n  248.2%* compute\n\n{legend}\n"), done.stdout)


class Begin(SweepTest):
    def test_the_status_of_a_job_that_failed_at_once_names_its_output(self):
        night = self.folder / "night"
        for name, age in (
            ("sweep/logs/slurm-gaussweep-8", 1),
            ("sweep/logs/slurm-gaussweep-7", 60),
            ("logs/slurm-gaussweep-finish-9", 0),
        ):
            log = night / f"{name}.out"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch()
            log.write_text("sweep.sbatch: gaussweep_setup of site.sh failed\n")
            os.utime(log, (log.stat().st_mtime - age,) * 2)
        for directory in (night, night / "sweep"):
            done = self.ran(["status", directory], code=2)
            self.assertIn(f"its job did not start a sweep; see {night}/sweep/logs/slurm-gaussweep-8.out", done.stderr)
        for job, is_waiting in ((8, False), (10, True)):
            (night / "sweep/logs/submitted").write_text(f"{job}\n")
            done = self.ran(["status", night / "sweep"], code=2)
            self.assertEqual("job 10 was submitted and has no output yet" in done.stderr, is_waiting, done.stderr)
            self.assertEqual("`sacct -X -j 10` shows why it ended" in done.stderr, is_waiting, done.stderr)
        for name, job in (("night/logs", 11), ("earlier/logs", 5)):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            (self.folder / name / "submitted").write_text(f"{job}\n")
        self.assertIn("night has no journal.jsonl: job 11 was", self.ran(["status", self.folder], code=2).stderr)

    def test_the_status_of_a_merged_night_without_its_shards(self):
        night = self.folder / "night"
        shard = self.sweep(self.plan(HOST), "--shard", "1/1", output="night/shard-1-of-1")
        log = night / "logs/slurm-gaussweep-array-6_1.out"
        log.parent.mkdir()
        log.write_text("array.sbatch: gaussweep ended with exit code 0\n")
        self.ran(["merge", night, "-o", night / "results.h5"])
        shutil.rmtree(shard)
        done = self.ran(["status", night], code=2)
        self.assertNotIn("did not start", done.stderr)
        self.assertIn(f"gaussweep summary {night}", done.stderr)
        done = self.ran(["status", night / "results.h5"], code=2)
        self.assertIn("results.h5 is a file, but status needs run directories", done.stderr)
        self.ran(["summary", night])

    def test_the_status_of_a_job_that_has_just_started(self):
        log = self.folder / "night/logs/slurm-gaussweep-array-8_2.out"
        log.parent.mkdir(parents=True)
        begin = "array.sbatch: job 8_2, start 1, on n1, 1 rank(s) per node, 0 trials are recorded\n"
        log.write_text(f"array.sbatch: job 8_2 was requeued\n{begin}")
        for directory in (log.parents[1], log.parents[1] / "shard-2-of-3"):
            self.assertIn("State:   just started; nothing is recorded", self.ran(["status", directory]).stdout)
        (log.parent / "submitted").write_text("8,9\n")
        self.assertIn("job 8 was submitted", self.ran(["status", log.parents[1] / "shard-1-of-3"], code=2).stderr)
        watching = subprocess.Popen(
            command(["status", directory, "--watch"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(watching.stdout.readline(), "0, running, time left unknown yet\n")
        os.utime(log, (log.stat().st_mtime - 150,) * 2)
        self.assertIn("did not start a sweep; see", watching.communicate(timeout=60)[1])
        self.assertEqual(watching.returncode, 2)

    def test_a_run_that_filled_the_disk_names_the_cause(self):
        """The job's output has the cause, because the journal could not be written."""
        night = self.folder / "night"
        shard = self.sweep(self.plan(HOST), "--shard", "1/1", output="night/shard-1-of-1")
        journal, log = shard / "journal.jsonl", night / "logs/slurm-gaussweep-array-8_1.out"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"note":"end"' not in line))
        cause = f"{journal} cannot be written: No space left on device"
        advice = f"1 record safe in {journal}. Once this is mended, go on with: gaussweep run"
        log.parent.mkdir()
        log.write_text(f"gaussweep: {cause}. {advice}\narray.sbatch: gaussweep ended with exit code 3\n")
        self.assertIn(f"State:   ended: {cause} ({log}); go on with ", self.ran(["status", shard]).stdout)
        both = self.ran(["status", shard, self.sweep(self.plan(HOST), output="other")]).stdout
        self.assertIn(f"Note:    {shard}: ended: {cause} ({log})\n", both)
        log.write_text(f"{log.read_text()}array.sbatch: job 8_1, start 1, on n1\n")
        self.assertIn(f"does not record the end of the run; see {log}\n", self.ran(["status", shard]).stdout)
        with open(shard / "logs/rank-0.log", "a", encoding="utf-8") as file:
            file.write(f"2026-03-01 12:00:00 info: {cause}. {advice}\n")
        self.assertIn(f"State:   ended: {cause} ({file.name}); go on with ", self.ran(["status", shard]).stdout)
        with open(file.name, "a", encoding="utf-8") as file:
            file.write("2026-03-02 12:00:00 info: 1 trial, 1 to do, 1 rank, backend host, into x\n")
        self.assertIn("its end is not recorded (it was killed, or", self.ran(["status", shard]).stdout)
        log.write_text(f"gaussweep: {cause}. {advice}\n")
        os.utime(log, (0, 0))  # of an earlier start
        (log.parent / "submitted").write_text("9\n")
        stdout = self.ran(["status", shard]).stdout
        self.assertIn("; job 9 was submitted and has no output yet", stdout)
        self.assertNotIn("No space left", stdout)

    def test_the_status_of_a_job_that_did_not_end_names_its_output(self):
        directory = self.sweep(self.plan(HOST))
        log, journal = directory / "logs/slurm-gaussweep-8.out", directory / "journal.jsonl"
        log.touch()
        self.assertNotIn(str(log), self.ran(["status", directory]).stdout)
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"note":"end"' not in line))
        self.assertIn(f"does not record the end of the run; see {log}.", self.ran(["status", directory]).stdout)
        (directory / "results.h5").unlink()
        os.truncate(journal, 0)  # the disk was full at the start
        self.assertIn(f"; see {log}.", self.ran(["status", directory]).stdout)

    def job(self, program, code, site=""):
        """Runs the job script with this program, as plain sbatch does, which checks nothing before the job starts."""
        script = SOURCE / "jobs/slurm/sweep.sbatch"
        shutil.copy(script, self.folder / "slurm_script")
        (self.folder / "scontrol").write_text(f"#!/bin/sh\necho '   Command={script} -o x'\n")
        (self.folder / "scontrol").chmod(0o755)
        words = [self.folder / "slurm_script", self.plan(HOST), "-o", self.folder / "run"]
        variables = {"SLURM_JOB_ID": "7", "GAUSSWEEP": str(program), "GAUSSWEEP_ENV": str(site)}
        done = execute(words, PATH=f"{self.folder}:{os.environ['PATH']}", **variables)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_job_without_the_program(self):
        self.assertIn("no program /nowhere/gaussweep; build it with: ", self.job("/nowhere/gaussweep", 2).stderr)

    def test_a_job_whose_folder_is_unmounted_is_not_started_again(self):
        program, site, starts = (self.folder / name for name in ("program", "site.sh", "starts"))
        unmount = f"mv {self.folder}/run {self.folder}/gone; mkdir {self.folder}/run"
        site.write_text('gaussweep_launch() { shift; "$@"; }\n')
        for count, code in enumerate((3, 135), 1):  # 135: SIGBUS ended a rank, which reads a mapped file
            program.write_text(f"#!/bin/sh\n[ $1 = run ] || exit 0\necho started >>{starts}\n{unmount}\nexit {code}\n")
            program.chmod(0o755)
            self.job(program, 3, site)
            self.assertEqual(starts.read_text(), "started\n" * count)
            shutil.rmtree(self.folder / "gone")


class Requeue(SweepTest):
    def test_a_job_that_slurm_requeues_itself(self):
        """The node of a draining job was set down, so the job's own requeue is refused."""
        (self.folder / "logs").mkdir()
        scontrol = self.folder / "scontrol"
        jobs = SOURCE / "jobs"
        text = (
            f"jobs={jobs} script=sweep.sbatch; . {jobs}/slurm/common.sh; . {jobs}/slurm/job.sh; requeues=3; requeue . 0"
        )
        for state, restarts, message in (
            ("PENDING", 1, "Slurm has requeued job 7; the sweep goes on"),
            ("RUNNING", 1, "Slurm has requeued job 7; the sweep goes on"),
            ("RUNNING", 0, "Slurm does not requeue job 7; go on by submitting again"),
        ):
            shown = f"echo JobState={state} Restarts={restarts} BatchFlag=1"
            scontrol.write_text(f'#!/bin/sh\n[ "$1" = show ] || exit 1\n{shown}\n')
            scontrol.chmod(0o755)
            for old in self.folder.glob("logs/*"):
                old.unlink()
            path = f"{self.folder}:{os.environ['PATH']}"
            command = ["bash", "-c", f"cd {self.folder}; {text}", "slurm_script"]
            done = execute(command, PATH=path, SLURM_JOB_ID="7", SLURM_RESTART_COUNT="", SLURM_ARRAY_JOB_ID="")
            self.assertIn(message, done.stderr)


class Threads(SweepTest):
    def threads(self, output, **variables):
        clean = {"OPENBLAS_NUM_THREADS": "", "OMP_NUM_THREADS": ""}
        directory = self.sweep(self.plan(HOST), output=output, **{**clean, **variables})
        with h5py.File(directory / "results.h5", "r") as file:
            return int(file["hosts"]["blas_threads"][0])

    def test_the_users_number_holds(self):
        cpus = len(os.sched_getaffinity(0))
        self.assertEqual(self.threads("default"), cpus)
        self.assertNotIn("of BLAS per rank", self.stderr)
        self.assertEqual(self.threads("openblas", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="2"), 1)
        self.assertIn("1 thread of BLAS per rank, by OPENBLAS_NUM_THREADS", self.stderr)
        if cpus > 1:  # nights with other numbers of threads do not compare, and the refusal names the numbers
            nights = [self.folder / "openblas", self.folder / "default"]
            refused = self.ran(["compare", *nights, "--same-models"], code=2).stderr
            self.assertRegex(refused, rf"1 trial in common, but base ran on .*, 1 thread and new on .*, {cpus} threads")
        self.assertEqual(self.threads("openmp", OMP_NUM_THREADS="1,4"), 1)
        self.assertIn("OMP_NUM_THREADS", self.stderr)
        self.assertEqual(self.threads("words", OMP_NUM_THREADS="many"), cpus)
        self.assertEqual(self.threads("many", OMP_NUM_THREADS=str(10 * cpus)), cpus)

    def test_a_run_resumed_with_other_threads_has_two_hosts(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU allows one number of threads only")
        clean = {"OPENBLAS_NUM_THREADS": "", "OMP_NUM_THREADS": ""}
        text = "name: threads\nrepeats: 1\nsweep:\n  - {problem: gesv, method: lapack, n: "
        self.sweep(self.plan(text + "4}\n"), **clean)
        directory = self.sweep(self.plan(text + "[4, 5]}\n"), "--resume", **{**clean, "OPENBLAS_NUM_THREADS": "1"})
        self.assertIn("this start has 1 thread of BLAS per rank, an earlier one of this run had", self.stderr)
        hosts = {record["n"]: record["host"] for record in self.records(directory)}
        self.assertEqual(hosts[5], f"{hosts[4]} (1 thread)")
        with h5py.File(directory / "results.h5", "r") as file:
            self.assertEqual(int(file["hosts"]["blas_threads"][1]), 1)
        self.sweep(self.plan(text + "[4, 5]}\n"), output="again", **{**clean, "OPENBLAS_NUM_THREADS": "1"})
        self.assertRegex(self.stderr, r"Since .*: 1 trial in both.*, 1 left out \(other devices or threads\)\.\n")


class Temporary(SweepTest):
    def test_a_missing_folder_is_named(self):
        matrix = self.folder / "a.mtx"
        matrix.write_text("%%MatrixMarket matrix array real general\n1 1\n4\n")
        done = run(["try", matrix, "--problem", "gesv"], TMPDIR=str(self.folder / "missing"))
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"TMPDIR={self.folder / 'missing'}", done.stderr)


if __name__ == "__main__":
    unittest.main()
