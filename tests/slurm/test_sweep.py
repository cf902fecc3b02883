"""Tests sweep.sbatch: ranks on every node, the job's facts in records and run directory, and both launchers."""

import os
import pathlib
import shlex
import shutil
import subprocess

import h5py

import case


class Sweep(case.SlurmTest):
    def check_two_nodes(self, directory, job):
        records = self.records(directory)
        self.assertEqual({r["status"] for r in records}, {"pass"})
        self.assertEqual(len(records), 24)
        self.assertEqual({r["node"] for r in records}, {"n1", "n2"})
        self.assertEqual({r["rank"] for r in records}, {0, 1, 2, 3})
        self.assertEqual({r["job_id"] for r in records}, {job})
        self.assertEqual({r["partition"] for r in records}, {"all"})
        self.assertEqual({r["gres"] for r in records}, {"gpu:2"})

    def test_two_nodes_with_two_ranks_each(self):
        directory = self.folder / "run"
        # One rank per GPU: the nodes have two each. The job must not inherit variables of the submitting job (of
        # scrontab, for example).
        job = self.submit(
            "sweep.sbatch",
            self.plan(),
            "-o",
            directory,
            "--nodes",
            2,
            "--time",
            10,
            SLURM_JOB_ID="7",
            SLURM_ARRAY_JOB_ID="6",
            SLURM_ARRAY_TASK_ID="1",
            SLURM_NTASKS_PER_NODE="3",
            SLURM_RESTART_COUNT="30",
            SLURM_SITE_SIGNATURE="eyJhbGciOi",
            GITHUB_PAT="ghp_4711",
        )
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.check_two_nodes(directory, job)

        (note,) = [n for n in self.journal(directory)[1] if n["note"] == "run"]
        self.assertEqual(note["SLURM_JOB_PARTITION"], "all")
        self.assertEqual(note["SLURM_JOB_NODELIST"], "n[1-2]")
        self.assertEqual(note["SLURM_JOB_GRES"], "gpu:2")
        self.assertRegex(note["command_line"], r"--time-limit \d+")
        with h5py.File(directory / "results.h5", "r") as file:
            attributes = dict(file.attrs)
        self.assertEqual(attributes["SLURM_JOB_PARTITION"], "all")
        self.assertEqual(attributes["SLURM_JOB_GRES"], "gpu:2")

        environment = (directory / f"logs/environment-{job}-0.txt").read_text()
        for expected in (
            f"GAUSSWEEP={case.FAULTY}",
            "SLURM_JOB_PARTITION=all",
            f"JobId={job}",
            "# --- modules",
            "gaussweep 0.",
        ):
            self.assertIn(expected, environment)
        for secret in ("eyJhbGciOi", "ghp_4711"):
            self.assertNotIn(secret, environment)
        self.assertEqual((directory / f"logs/environment-{job}-0.txt").stat().st_mode & 0o777, 0o600)

    def test_srun_starts_the_ranks(self):
        self.site = self.environment_file("srun", "GAUSSWEEP_LAUNCHER=srun", "GAUSSWEEP_LAUNCHER_OPTIONS=(--mpi=pmix)")
        directory = self.folder / "run"
        job = self.submit(
            "sweep.sbatch", self.plan(), "-o", directory, "--nodes", 2, "--ranks-per-node", 2, "--time", 5
        )
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.check_two_nodes(directory, job)

    def test_tasks_that_no_mpi_connects_are_refused(self):
        done = self.cluster.run(
            *("srun", "-n", "2", "--mpi=none", case.FAULTY, "run", self.plan(), "-o", self.folder / "run"),
            *("--backend", "emulated"),
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("srun started 2 tasks", done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_the_next_command_repeats_how_it_was_started(self):
        plan = self.folder / "crash.yaml"
        plan.write_text("name: crash\nrepeats: 1\nwarmup: 0\nsweep:\n  - {problem: gesv, method: fault_abort, n: 4}\n")
        job = self.submit("sweep.sbatch", plan, "-o", self.folder / "run", "--retry-failed", "--time", 5)
        self.assertEqual(self.cluster.wait_for_end(job), 3)
        again = f"{case.JOBS}/sweep.sbatch {plan} -o {self.folder}/run"
        output = self.output_of(self.folder / "run")
        self.assertRegex(output, rf"once more: {again} .*--time 5 --backend emulated --retry-failed\n")
        self.assertEqual(output.count("--retry-failed"), 1)
        done = self.cluster.run(
            *("srun", "-n", "2", "--mpi=pmix", case.FAULTY, "run", plan, "-o", self.folder / "by-hand"),
            env=self.cluster.environment(OMPI_MCA_btl="tcp,self"),
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"once more: srun --mpi=pmix -n 2 {case.FAULTY} run {plan}", done.stderr)

    def test_plain_sbatch_of_the_script(self):
        """With --gpus-per-task, mpirun's ranks see all GPUs of their node, not all of them the first one."""
        plan = self.plan(count=3, milliseconds=1)
        program = self.folder / "program"
        program.write_text(
            f'#!/bin/sh\n[ "$1" != run ] || echo "rank sees ${{CUDA_VISIBLE_DEVICES:-}}" >&2\nexec {case.FAULTY} "$@"\n'
        )
        program.chmod(0o755)
        self.environment_file("site", f"GAUSSWEEP={program}")
        done = self.cluster.run(
            *"sbatch --parsable --time=5 --output=out.txt --nodes=2 --ntasks-per-node=2 --gpus-per-task=1".split(),
            case.JOBS / "sweep.sbatch",
            plan.name,
            "-o",
            "run/sweep.sbatch",  # not the path of the script
            *"--env site.sh --backend emulated".split(),
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        job = done.stdout.strip()
        self.assertEqual(self.cluster.wait_for_end(job), 0, (self.folder / "out.txt").read_text())
        self.assertEqual({r["job_id"] for r in self.records(self.folder / "run/sweep.sbatch")}, {job})
        output = (self.folder / "out.txt").read_text()
        self.assertEqual(output.count("rank sees 0,1\n"), 4, output)

        # The directory has a sweep, which must not be overwritten by mistake.
        self.script("sweep.sbatch", plan, "-o", self.folder / "run/sweep.sbatch", "--env", self.site, code=2)
        self.assertIn("--resume", self.stderr)
        plan.write_text(plan.read_text().replace("name: slow", "name: another"))
        again = ("-o", self.folder / "run/sweep.sbatch", "--env", self.site, "--resume")
        self.script("sweep.sbatch", plan, *again, code=2)
        self.assertIn("holds a sweep of another plan (name: slow; ", self.stderr)

    def test_exit_codes_and_environment_hooks(self):
        plan = self.folder / "crash.yaml"
        plan.write_text("name: crash\nrepeats: 1\nwarmup: 0\nsweep:\n  - {problem: gesv, method: fault_abort, n: 4}\n")
        self.site = self.environment_file(
            "hooks",
            "gaussweep_setup() { export FROM_SETUP=yes$NOT_SET_ANYWHERE A_TOKEN=hidden-$(echo words); }",
            'gaussweep_launch() { echo "launching $1"; mkdir "$FIRST" && exit 9; shift; exec "$@"; }',
            f"export FIRST={self.folder}/first",
        )
        job = self.submit("sweep.sbatch", plan, "-o", self.folder / "run")
        self.assertEqual(self.cluster.wait_for_end(job), 3)
        self.assertEqual(self.output_of(self.folder / "run").count("launching 2"), 2)
        self.assertIn("exit code 9 before a rank started; attempt 2 of 3", self.output_of(self.folder / "run"))
        environment = (self.folder / f"run/logs/environment-{job}-0.txt").read_text()
        self.assertIn("FROM_SETUP=yes", environment)
        self.assertNotIn("hidden-words", environment)

    def test_a_launcher_that_starts_no_rank(self):
        self.site = self.environment_file("broken", "gaussweep_launch() { echo launching; return 9; }")
        job = self.submit("sweep.sbatch", self.plan(count=1), "-o", self.folder / "run")
        self.assertEqual(self.cluster.wait_for_end(job), 9)
        self.assertEqual(self.output_of(self.folder / "run").count("launching"), 3)
        self.assertIn("no rank started in 3 attempts", self.output_of(self.folder / "run"))

    def test_modules(self):
        """A function of the environment file replaces `module`."""
        fake_module = (
            'module() { case "$1 ${2:-}" in "-t list") echo listed-module ;; "load cuda/11.8") touch'
            ' "$GAUSSWEEP_TEST_MARK" ;; esac; }'
        )
        self.site = self.environment_file(
            "modules", "GAUSSWEEP_MODULES=cuda/11.8", f"export GAUSSWEEP_TEST_MARK={self.folder}/loaded", fake_module
        )
        job = self.submit("sweep.sbatch", self.plan(count=1, milliseconds=1), "-o", self.folder / "run")
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertTrue((self.folder / "loaded").exists())
        self.assertIn("listed-module", (self.folder / f"run/logs/environment-{job}-0.txt").read_text())


class Words(case.SlurmTest):
    """Tests output and refusals of the scripts, without a job."""

    def test_help_from_anywhere(self):
        for script in ("sweep.sbatch", "array.sbatch", "finish.sbatch", "nightly.sh", "architectures.sh"):
            text = self.script(script, "--help")
            self.assertIn("--dry-run", text)
            self.assertIn("-o DIR", text)
            self.assertNotIn("SBATCH --", text)

    def test_dry_run_submits_nothing(self):
        plan, output = self.plan(), self.folder / "out 5%x"
        site = ["--env", self.site]
        calls = {
            "sweep.sbatch": site,
            "array.sbatch": ["--shards", 4, *site],
            "nightly.sh": ["--shards", 4, *site],
            "architectures.sh": ["--feature", f"kepler={self.site}", "--gres", f"hopper={self.site}"],
        }
        for script, more in calls.items():
            words = self.script(
                script,
                plan.name,
                "-o",
                output.name,
                *more,
                "--dry-run",
                "--time",
                7,
                "--",
                "--account=a b",
                cwd=self.folder,
            )
            self.assertIn("nothing was submitted", words)
            commands = [shlex.split(line.split(": ", 1)[1]) for line in self.stderr.splitlines() if ": sbatch" in line]
            for command in commands:
                self.assertEqual(command[0], "sbatch")
                self.assertIn(str(output), " ".join(command))
                self.assertIn(f"--output={output}".replace("%", "%%"), " ".join(command))
            self.assertIn("--account=a b", commands[0])
            self.assertIn("--time=7", commands[0])
            if script == "nightly.sh":
                self.assertIn("--dependency=afterany:JOB", commands[1])
            if script == "architectures.sh":
                self.assertIn("--constraint=kepler", commands[0])
                self.assertIn("--gres=gpu:hopper:1", commands[1])
                self.assertIn("--dependency=afterany:JOB:JOB", commands[2])
            self.assertFalse(output.exists())
            self.assertNotIn("Slurm would refuse", self.stderr)
        self.script("sweep.sbatch", plan, "-o", output, *site, "--dry-run", "--", "--partition=nowhere", code=1)
        self.assertRegex(self.stderr, "Slurm would refuse this job or leave it pending: .*partition")
        self.script("sweep.sbatch", plan, "-o", output, *site, "--dry-run", "--nodes", 3, code=1)
        self.script("finish.sbatch", "-o", output, "--mail", "me", "run", "--dry-run")
        self.assertEqual("no command 'mail'" in self.stderr, shutil.which("mail") is None)
        self.assertEqual(self.cluster.output("squeue", "-h"), "")

    def test_refusals(self):
        plan, output = self.plan(), self.folder / "out"
        wrong = self.folder / "wrong.yaml"
        none = self.environment_file("none", "GAUSSWEEP=/nowhere/gaussweep")
        wrong.write_text("name: wrong\nsweep:\n  - {problem: gesv, method: all, n: 4, timez: 3}\n")
        for script, arguments, message in (
            ("sweep.sbatch", [plan, "-o", output, "--ndoes", 2], "unknown option '--ndoes'; allowed:"),
            ("sweep.sbatch", [plan], "-o DIR"),
            ("sweep.sbatch", [self.folder / "absent.yaml", "-o", output], "absent.yaml; plans in"),
            ("sweep.sbatch", [plan, "-o", output, "--nodes", "two"], "--nodes two: not a whole number"),
            ("sweep.sbatch", [plan, "-o", output, "--backend", "bogus"], "--backend bogus: allowed: auto, cuda"),
            ("array.sbatch", [plan, "-o", output, "--shards", 2, "--backend", "gpu"], "--backend gpu: allowed: auto"),
            ("sweep.sbatch", [plan, "-o", output, "--env", "nowhere"], "no environment file 'nowhere'"),
            ("sweep.sbatch", [wrong, "-o", output, "--env", self.site], "timez"),
            ("sweep.sbatch", [wrong, "-o", output, "--env", self.site, "--dry-run"], "timez"),
            ("sweep.sbatch", [plan, "-o", output, "--env", none], "build it with"),
            ("sweep.sbatch", [plan, "-o", output, "--time", "2:00"], "no longer than the notice"),
            ("sweep.sbatch", [plan, "-o", output, "--notice", 0], "--notice 0: Slurm takes 1 to"),
            (
                "sweep.sbatch",
                [plan, "-o", output, "--env", self.environment_file("prun", "GAUSSWEEP_LAUNCHER=prun")],
                "mpirun and srun",
            ),
            ("array.sbatch", [plan, "-o", output], "--shards N"),
            ("array.sbatch", [plan, "-o", output, "--shards", "08"], "--shards 08: not a whole number"),
            ("finish.sbatch", ["-o", output], "run directories"),
            ("nightly.sh", [plan, "-o", output, "--shards", 2, "--nodes", 2], "does not go with --shards"),
            ("architectures.sh", [plan, "-o", output, "--feature", f"kepler={self.site}"], "at least two"),
            ("architectures.sh", [plan, "-o", output, "--feature", "kepler"], "NAME=ENV"),
            (
                "architectures.sh",
                [plan, "-o", output, "--feature", f"a={self.site}", "--feature", f"b={self.site}", "--gpus", 2],
                "--gpus goes with --gres",
            ),
            (
                "architectures.sh",
                [plan, "-o", output, "--feature", f"a={self.site}", "--feature", f"b={none}"],
                "build it with",
            ),
        ):
            self.script(script, *arguments, code=2)
            self.assertIn(message, self.stderr)
        self.assertEqual(self.cluster.output("squeue", "-h"), "")

    def test_a_login_node_without_the_modules(self):
        """The modules may exist where the job runs."""
        site = self.environment_file("modules", "GAUSSWEEP_MODULES=nowhere/1.0")
        self.script("sweep.sbatch", self.plan(), "-o", self.folder / "out", "--env", site, "--dry-run")
        self.assertIn("could not look at the plan here", self.stderr)

    def test_ready_environments(self):
        for name, architectures in (("cuda-11.8", "35"), ("cuda-12", "90"), ("cuda-13", "120"), ("template", None)):
            done = self.cluster.run(case.SOURCE / "jobs/env/build.sh", "--env", name, "--dry-run", cwd="/")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("cmake --preset cluster", done.stdout)
            if architectures:
                self.assertRegex(done.stdout, rf"module load .*cuda/{name[5:]}")
                self.assertRegex(done.stdout, rf"CUDA_ARCHITECTURES=\S*{architectures}")
                self.assertIn(f"build-{name} ", done.stdout)

    def test_ranks_are_bound_near_their_gpu(self):
        """GPUs 2 and 3 of a simulated machine, near CPU 0 and near the machine's last CPU."""
        last = max(os.sched_getaffinity(0))
        (self.folder / "nvidia-smi").write_text('#!/bin/sh\nfor word; do gpu=$word; done\necho "00000000:0$gpu:00.0"\n')
        (self.folder / "nvidia-smi").chmod(0o755)
        for gpu, cpu in ((2, min(os.sched_getaffinity(0))), (3, last)):
            folder = self.folder / f"sys/bus/pci/devices/0000:0{gpu}:00.0"
            folder.mkdir(parents=True)
            (folder / "local_cpulist").write_text(f"{cpu}\n")

        def cpus(**changes):
            environment = self.cluster.environment(
                PATH=f"{self.folder}:{os.environ['PATH']}", GAUSSWEEP_SYSFS=str(self.folder / "sys"), **changes
            )
            done = subprocess.run(
                [case.JOBS / "rank.sh", "grep", "Cpus_allowed_list", "/proc/self/status"],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            return done.stdout.split()[1]

        unbound = pathlib.Path("/proc/self/status").read_text().split("Cpus_allowed_list:")[1].split()[0]
        self.assertEqual(cpus(CUDA_VISIBLE_DEVICES="2,3", SLURM_LOCALID="0"), str(min(os.sched_getaffinity(0))))
        self.assertEqual(cpus(CUDA_VISIBLE_DEVICES="2,3", SLURM_LOCALID="0", OMPI_COMM_WORLD_LOCAL_RANK="1"), str(last))
        self.assertEqual(cpus(CUDA_VISIBLE_DEVICES="3", SLURM_LOCALID="1"), str(last))  # --gpus-per-task
        self.assertEqual(cpus(CUDA_VISIBLE_DEVICES="2,3", SLURM_LOCALID="7"), unbound)
        self.assertEqual(cpus(CUDA_VISIBLE_DEVICES="3", SLURM_LOCALID="0", GAUSSWEEP_BIND="none"), unbound)


if __name__ == "__main__":
    case.main()
