"""Tests refusals of the command line: each names the command, the word, the allowed words, and the nearest one."""

import json
import unittest

from harness import SweepTest, run

PLAN = """
name: tiny
repeats: 1
sweep:
  - {problem: gesv, method: lapack, n: [4, 5]}
"""


class Usage(SweepTest):
    def refuse(self, arguments, *words):
        done = run(arguments, cwd=self.folder)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr, arguments)

    def test_commands(self):
        self.refuse([], "a command is missing", "run, try, plan, methods")
        self.refuse(["summry"], "gaussweep: no command 'summry'", "run, try, plan, methods", "nearest: summary")
        self.refuse(["matrix"], "gaussweep matrix: a command is missing", "generate, import, export, info")
        self.refuse(["matrix", "imprt"], "gaussweep matrix: no command 'imprt'", "nearest: import")
        self.refuse(["summary", "x", "--failures", "--best"], "--best: not with --failures")
        self.refuse(["--versoin"], "no option '--versoin'", "nearest: --version")

    def test_options(self):
        run_it = ["run", self.plan(PLAN), "-o", "out"]
        self.refuse([*run_it, "--resum"], "gaussweep run: no option '--resum'", "--shard", "nearest: --resume")
        self.refuse([*run_it, "--shards=1/2"], "no option '--shards'", "nearest: --shard")
        self.refuse([*run_it, "--out", "x"], "no option '--out'", "nearest: --output")
        self.refuse([*run_it, "more"], "unexpected argument 'more'")
        self.refuse(["run", "--backend", "cuda"], "gaussweep run: ", "is required")
        self.refuse(
            [*run_it, "--backend", "cudda"], "--backend: 'cudda'", "auto, cuda, emulated, host", "nearest: cuda"
        )
        for value in ("nan", "inf", "-1", "soon"):
            self.refuse([*run_it, "--grace", value], f"--grace: '{value}'", "a number from 0 to")
        self.refuse([*run_it, "--shard", "5/4"], "--shard 5/4: give I/N")
        self.refuse([*run_it, "--time-limit", "soon"], "soon")
        for command in (["methods"], ["devices"], ["status", "."], ["matrix", "info", "x.h5"]):
            self.refuse([*command, "--format", "csv"], "--format: 'csv'; allowed: table, json")
        self.refuse(["summary", "x", "--format", "jsn"], "allowed: table, csv, json", "nearest: json")

    def test_an_empty_value_is_not_a_missing_option(self):
        plan = self.plan(PLAN)
        for option in ("--shard", "--time-limit", "--store-limit"):
            self.refuse(["run", plan, "-o", "out", option, ""], f"{option}: an empty text")
        self.refuse(["run", plan, "-o", ""], "--output: an empty text")
        self.refuse(["run", "", "-o", "out"], "plan: an empty text")
        self.refuse(["merge", "x", "-o", ""], "--output: an empty text")
        self.assertFalse((self.folder / "out").exists())

    def test_numbers(self):
        make = ["matrix", "generate", "-o", "a.h5"]
        for value in ("0", "-3", "1e3", "99999999999999999999"):
            self.refuse([*make, "-n", value], f"--n: '{value}'", "a whole number from 1 to 1000000")
        self.refuse([*make, "-n", "3", "--high", "nan"], "--high: 'nan'")
        self.refuse(["status", ".", "--failures", "-1"], "--failures: '-1'")
        self.refuse(["summary", ".", "--limit", "-1"], "--limit: '-1'")
        for kind, option, value in (
            ("uniform", "--condition", "1e8"),
            ("ones", "--low", "0"),
            ("spd", "--uplo", "upper"),
        ):
            self.refuse([*make, "-n", "3", "--kind", kind, option, value], f"{option}: ", kind)
        self.refuse([*make, "-n", "3", "--kind", "spd", "--mode", "2"], "--mode: ", "--condition")
        done = self.ran([*make, "-n", "1k", "--kind", "identity"], cwd=self.folder)
        self.assertIn("1024 x 1024", done.stdout)

    def test_plan_warns_of_too_little_memory(self):
        plan = self.plan("name: p\nsweep:\n  - {problem: gesv, method: lapack, n: [8, 1000000]}")  # 16 TB
        shown = self.ran(["plan", plan, "--backend", "host"]).stdout
        self.assertIn("note: 1 trial on the CPU needs more than this machine's", " ".join(shown.split()))

    def test_plan_counts_further_samples(self):
        plan = self.plan(
            "name: p\nrepeats: {min: 5, max: 100000, noise: 0.0001%, time: 4s}\n"
            "sweep:\n  - {problem: gesv, method: crout, n: [512, 513]}"
        )
        shown = self.ran(["plan", plan, "--backend", "host"]).stdout
        self.assertRegex(" ".join(shown.split()), r"all samples may take up to about (8|9|1\d) s\.")

    def test_plan_for_a_gpu(self):
        plan = self.plan(
            "name: p\nsweep:\n  - {problem: gesv, method: gauss_block, n: {H200: 48, cuda: 24, emulated: 8}}"
        )
        self.refuse(["plan", plan, "--format", "json"], "--format json: ", "--explain")
        self.refuse(["plan", plan, "--gpu", "nonsense"], "--gpu nonsense", "has a digit, e.g. H200")
        for gpu, n in (("H200", 48), ("K20Xm", 24)):
            shown = self.ran(["plan", plan, "--gpu", gpu, "--explain", "--format", "json"])
            self.assertEqual([(trial["backend"], trial["n"]) for trial in json.loads(shown.stdout)], [("cuda", n)])
        no_cuda = "built without CUDA" in self.ran(["devices"]).stdout
        for options in (["--gpu", "H200"], ["--backend", "cuda"]):
            shown = self.ran(["plan", plan, *options]).stdout
            self.assertEqual("note: this program was built without CUDA" in shown, no_cuda, shown)


class Output(SweepTest):
    def test_names_a_missing_folder(self):
        directory = self.sweep(self.plan(PLAN))
        for command in ("merge", "verify"):
            done = self.ran([command, directory, "-o", self.folder / "absent" / "all.h5"], code=2)
            self.assertIn("absent does not exist", done.stderr)
        done = self.ran(["status", self.folder / "absent"], code=2)
        self.assertIn("absent: no such file or directory", done.stderr)

    def test_resume_does_not_start_among_foreign_files(self):
        home = self.folder / "home"
        home.mkdir()
        (home / "letter.txt").write_text("dear")
        done = self.ran(["run", self.plan(PLAN), "-o", home, "--resume"], code=2)
        self.assertIn("no run that could go on", done.stderr)
        self.assertEqual([path.name for path in home.iterdir()], ["letter.txt"])
        # The logs folder of a batch job's script is accepted.
        (home / "logs").mkdir()
        self.sweep(self.plan(PLAN), "--resume", output="home")

    def test_a_stopped_sweep_does_not_report_zero_time_left(self):
        plan = self.plan(PLAN.replace("[4, 5]", "[1500, 1501]"))
        self.sweep(plan, "--time-limit", "0.001", "--grace", "0", code=5)
        self.assertIn("/2 trials", self.stderr)
        self.assertNotIn("about 0 s left", self.stderr)


if __name__ == "__main__":
    unittest.main()
