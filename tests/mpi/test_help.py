"""Tests help, manual page, completion, the plan template, and exports."""

import csv
import io
import json
import re
import shutil
import sqlite3
import unittest

import h5py
from harness import GAUSSWEEP, SOURCE, SweepTest, execute, run

PLAN = """
name: tiny
repeats: 2
sweep:
  - {problem: gesv, method: [lapack, gauss_serial], n: [8, 16], matrix: {kind: diagonally_dominant}}
"""


class Help(SweepTest):
    def commands(self):
        output = run(["summry"]).stderr
        return output.strip().partition("allowed: ")[2].split(", ")

    def test_every_command_has_help_with_examples(self):
        names = self.commands()
        self.assertIn("try", names)
        for name in names:
            done = self.ran(["help", name])
            self.assertIn(f"Examples:\n  gaussweep {name}", done.stdout)
            self.assertEqual(run([name, "--help"]).stdout.splitlines()[-1], done.stdout.splitlines()[-1])
        self.assertIn("--figures", run(["help", "report"]).stdout)
        self.assertEqual(run(["help", "matrix", "info"]).stdout, run(["matrix", "info", "--help"]).stdout)
        self.assertEqual(run(["help"]).stdout, run(["--help"]).stdout)
        self.assertIn("gaussweep run has no command 'x'", run(["help", "run", "x"]).stderr)
        wrong = run(["help", "summry"])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("nearest: summary", wrong.stderr)
        self.assertEqual(run(["-V"]).stdout, run(["--version"]).stdout)

    def test_argument_names_are_one_word(self):
        # CLI11 refuses other names from version 2.4 on, for every command.
        for name in self.commands():
            listed = run([name, "--help"]).stdout.partition("Positionals:\n")[2].partition("\n\n")[0]
            for line in filter(lambda line: re.match(r"  \S", line), listed.splitlines()):
                self.assertRegex(line, r"^  \S+( [A-Z]+|  )", name)

    def test_the_manual_page_has_every_command_and_option(self):
        page = run(["help", "--man"]).stdout
        self.assertTrue(page.startswith(".TH GAUSSWEEP 1"))
        for name in self.commands():
            self.assertIn(f'.SS "{name}"', page)
        self.assertIn("\\-\\-retry\\-failed", page)
        self.assertNotIn("given by run", page)

    def complete(self, *words):
        script = run(["help", "--bash"]).stdout
        ask = (
            script + f"\nCOMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _gaussweep;"
            ' printf "%s\\n" "${COMPREPLY[@]}"'
        )
        return execute(["bash", "-c", ask], check=True).stdout.split()

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.complete("gaussweep", "su"), ["summary"])
        self.assertEqual(self.complete("gaussweep", "run", "--ret"), ["--retry-failed"])
        self.assertEqual(self.complete("gaussweep", "matrix", "ex"), ["export"])
        self.assertEqual(self.complete("gaussweep", "help", "su"), ["summary"])
        options = set(re.findall(r"--[a-z][a-z-]*", run(["report", "--help"]).stdout))
        self.assertEqual(set(self.complete("gaussweep", "report", "--")), options)
        self.assertEqual(self.complete("gaussweep", "matrix", "info", "--data"), ["--dataset"])

    def test_bash_completes_option_values(self):
        self.assertEqual(
            self.complete("gaussweep", "summary", "--method", "gesv/gauss_pi"), ["gesv/gauss_pivot_serial"]
        )
        self.assertEqual(self.complete("gaussweep", "try", "a.mtx", "--problem", "ges"), ["gesv"])
        self.assertEqual(self.complete("gaussweep", "run", "--backend", "em"), ["emulated"])
        self.assertEqual(self.complete("gaussweep", "summary", "--status", "cr"), ["crashed"])
        self.assertEqual(self.complete("gaussweep", "report", "--figures", ""), ["pdf", "pgf", "svg"])
        self.assertEqual(self.complete("gaussweep", "summary", "--sort", "gf"), ["gflops", "gflops_per_watt"])
        self.assertEqual(self.complete("gaussweep", "matrix", "generate", "--kind", "wil"), ["wilkinson"])
        self.assertEqual(
            self.complete("gaussweep", "methods", "potrf/bl"), ["potrf/blocked", "potrf/blocked_simultaneous"]
        )

    def test_methods_filters_by_name(self):
        output = run(["methods", "gesv/recursive", "potrf"]).stdout
        self.assertIn("gesv/recursive", output)
        self.assertIn("potrf/blocked", output)
        self.assertNotIn("gesv/lapack", output)
        wrong = run(["methods", "lapak"])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'lapak' is no method and no problem; nearest: lapack; ", wrong.stderr)
        none = run(["methods", "potrf", "--problem", "gesv"])
        self.assertEqual((none.returncode, none.stdout), (2, ""))

    def test_a_closed_pipe_is_no_error_message(self):
        plan = self.plan("sweep: [{problem: gesv, method: all, n: '1:400'}]")
        words = " ".join(repr(str(w)) for w in (GAUSSWEEP, "run", "--dry-run", plan, "-o", self.folder / "run"))
        done = execute(["bash", "-c", f"{words} | head -1; echo ${{PIPESTATUS[0]}}"])
        self.assertEqual(done.stdout.splitlines()[1:], ["141"])
        self.assertNotIn("written", done.stderr)

    def test_the_template_is_a_plan(self):
        plan = self.plan(run(["plan", "--template"]).stdout)
        done = self.ran(["plan", plan])
        self.assertIn("gesv/lapack", done.stdout)
        self.assertIn("plan --template", run(["plan"]).stderr)

    def test_explain_fills_in_every_default(self):
        done = run(["plan", self.plan(PLAN), "--explain", "--format", "json"])
        trials = json.loads(done.stdout)
        self.assertEqual([t["n"] for t in trials], [8, 16, 8, 16])
        for trial in trials:
            self.assertEqual((trial["tolerance"], trial["warmup"], trial["timeout"]), (16, 1, 600))
            self.assertEqual(trial["expect"], "pass")
        serial = next(t for t in trials if t["method"] == "gesv/gauss_serial")
        self.assertEqual(serial["parameters"], "pivoting=none")
        self.assertIn("All rows:", run(["plan", self.plan(PLAN), "--explain"]).stdout)

    def test_plan_names_the_causes_of_skipped_trials(self):
        plan = (
            "precision: [float, double]\nsweep:\n  - {problem: potrf, method: [lapack, cusolver], n: 20, "
            "matrix: {kind: spd, condition: 1e7}}\n"
        )
        output = run(["plan", self.plan(plan), "--backend", "emulated"]).stdout
        self.assertIn("3 skipped", output)
        self.assertIn("\nSkipped, 2 trials: potrf/cusolver does not run on the backend emulated\n", output)
        self.assertIn("\nSkipped, 1 trial: condition 1e+07 is beyond", output)

    def test_warns_of_a_matrix_that_a_method_cannot_use(self):
        text = "sweep: [{problem: potrf, method: lapack, n: 8, matrix: {kind: uniform}%s}]"
        output = run(["plan", self.plan(text % "")]).stdout
        self.assertIn("potrf/lapack needs a symmetric positive definite matrix", output)
        self.assertNotIn("needs", run(["plan", self.plan(text % ", expect: {lapack: failed}")]).stdout)
        self.assertNotIn("needs", run(["plan", self.plan(text.replace("uniform", "spd") % "")]).stdout)

    def test_notes_that_energy_needs_a_gpu(self):
        plan = self.plan("energy: 2s\nsweep: [{problem: gesv, method: lapack, n: 8}]\n")
        output = run(["plan", plan]).stdout
        self.assertIn("note: energy is measured on GPUs only: ignored for gesv/lapack on the backend host", output)
        (trial,) = json.loads(run(["plan", plan, "--explain", "--format", "json"]).stdout)
        self.assertEqual(trial["energy"], "never")


class Data(SweepTest):
    def test_export_equals_h5py(self):
        directory = self.sweep(self.plan(PLAN))
        records = self.records(directory)
        done = self.ran(["export", directory])
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        parameters = {p for r in records for p in json.loads(r["parameters"])}
        self.assertEqual([row["trial"] for row in rows], [str(i) for i in range(len(records))])
        self.assertEqual(list(rows[0]), ["trial", *records[0], *(f"parameter_{p}" for p in sorted(parameters))])
        for row, record in zip(rows, records):
            for name, value in record.items():
                if isinstance(value, float):
                    self.assertEqual(float(row[name]) if row[name] else "nan", value if value == value else "nan", name)
                else:
                    self.assertEqual(row[name], str(value), name)
        file = self.folder / "all.json"
        self.assertEqual(run(["export", directory, "--format", "json", "-o", file]).returncode, 0)
        self.assertEqual([r["key"] for r in json.loads(file.read_text())], [r["key"] for r in records])
        self.assertEqual(run(["export", directory, "-o", file]).returncode, 2, "the file exists")

    def test_every_table_is_exported_and_filtered(self):
        directory = self.sweep(
            self.plan(PLAN + "  - {problem: gesv, method: gauss_cyclic_decrement, n: 16, blocks: 2}\n")
        )

        def table(*options):
            done = self.ran(["export", directory, *options])
            return list(csv.DictReader(io.StringIO(done.stdout)))

        for name in ("samples", "stages", "iterations", "devices", "hosts"):
            with h5py.File(directory / "results.h5") as file:
                columns, count = list(file[name].dtype.names), len(file[name])
            output = run(["export", directory, "--table", name]).stdout
            self.assertEqual(output.splitlines()[0].split(","), columns)
            self.assertEqual(len(output.splitlines()), 1 + count, name)
        chosen = table("--n", "16", "--method", "gauss_*")
        self.assertEqual(
            {(r["n"], r["method"]) for r in chosen}, {("16", "gauss_serial"), ("16", "gauss_cyclic_decrement")}
        )
        blocks = {r["method"]: r["parameter_blocks"] for r in chosen}
        self.assertEqual(blocks, {"gauss_serial": "", "gauss_cyclic_decrement": "2"})
        # Exported rows are numbered again.
        samples = table("--table", "samples", "--n", "16", "--method", "gauss_*")
        self.assertEqual([s["trial"] for s in samples], ["0", "0", "1", "1"])
        for options, message in (
            (["--table", "sample"], "nearest: samples"),
            (["--method", "none"], "no record matches"),
            (["--format", "sqlite"], "needs -o FILE"),
            (["--table", "stages", "-o", "x.db"], "holds all tables"),
            (["-o", "x.parquet"], "no format has the ending .parquet; allowed: .csv, .json, "),
        ):
            done = run(["export", directory, *options], cwd=self.folder)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(message, done.stderr)
        self.assertFalse((self.folder / "x.db").exists())

    def test_a_database_has_views_for_common_questions(self):
        directory = self.sweep(self.plan(PLAN))
        database = self.folder / 'it\'s "a" night.sqlite'
        self.assertEqual(run(["export", directory, "-o", database]).returncode, 0)
        self.assertEqual(run(["export", directory, "-o", database]).returncode, 2, "the file exists")
        self.assertEqual(run(["export", directory, "-o", database, "--n", "8", "--force"]).returncode, 0)
        self.assertEqual([p.name for p in self.folder.iterdir() if "sqlite" in p.name], [database.name])
        ask = sqlite3.connect(database).execute
        self.assertEqual(ask("PRAGMA integrity_check").fetchall(), [("ok",)])
        with h5py.File(directory / "results.h5") as file:
            units = json.loads(file["records"].attrs["units"])
        output = ask("SELECT column_name, unit FROM units WHERE table_name = 'records'").fetchall()
        self.assertEqual(dict(output), units)
        records = [r for r in self.records(directory) if r["n"] == 8]
        self.assertEqual(
            ask("SELECT method, seconds_median FROM records ORDER BY trial").fetchall(),
            [(r["method"], r["seconds_median"]) for r in records],
        )
        self.assertEqual(ask("SELECT count(*) FROM records WHERE pivot_growth IS NULL").fetchone(), (2,), "NaN is NULL")
        fastest = min(records, key=lambda r: r["seconds_median"])
        self.assertEqual(ask("SELECT method, n FROM best").fetchall(), [(fastest["method"], 8)])
        for method, speedup in ask("SELECT method, speedup FROM speedups"):
            record = next(r for r in records if r["method"] == method)
            self.assertAlmostEqual(speedup, record["reference_seconds"] / record["seconds_median"])
        samples = ask('SELECT method, seconds FROM sample_times ORDER BY trial, "index"').fetchall()
        with h5py.File(directory / "results.h5") as file:
            self.assertEqual(len(samples), sum(file["records"]["samples"][file["records"]["n"] == 8]))
        self.assertGreater(ask("SELECT count(*) FROM stage_times WHERE method = 'gauss_serial'").fetchone()[0], 0)
        self.assertEqual(ask("SELECT count(*) FROM failures").fetchone(), (0,))

    def test_products_with_other_b_do_not_compete_in_the_database(self):
        entry = "  - {problem: gemm, method: openblas, n: 16, m: 16, k: 16, matrix_b: "
        text = f"repeats: 1\nsweep:\n{entry}{{kind: identity}}}}\n{entry}{{kind: uniform}}}}\n"
        directory, database = self.sweep(self.plan(text)), self.folder / "b.sqlite"
        self.ran(["export", directory, "-o", database])
        self.assertEqual(sqlite3.connect(database).execute("SELECT count(*) FROM best").fetchone(), (2,))

    def test_comparisons_are_filtered_sorted_and_limited(self):
        base, new = self.sweep(self.plan(PLAN)), self.sweep(self.plan(PLAN), output="again")
        ask = ["compare", base, new, "--format", "json", "--threshold", "1000"]
        every = json.loads(run(ask).stdout)["trials"]
        self.assertEqual(len(every), 4)
        for words, verdicts in (("slower", {"SLOWER"}), ("same,unclear", {"SAME", "UNCLEAR"})):
            shown = json.loads(run([*ask, "--only", words]).stdout)["trials"]
            self.assertEqual([t["key"] for t in shown], [t["key"] for t in every if t["verdict"] in verdicts])
        same = ["compare", base, base, "--format", "json", "--only"]
        self.assertEqual(json.loads(run([*same, "slower,faster,worse"]).stdout)["trials"], [])
        self.assertEqual(len(json.loads(run([*same, "same", "--limit", "3"]).stdout)["trials"]), 3)
        for option, column, down in (("-n", "n", True), ("new", "new_median", False)):
            values = [t[column] for t in json.loads(run([*ask, f"--sort={option}"]).stdout)["trials"]]
            self.assertEqual(values, sorted(values, reverse=down))
        wrong = run([*ask, "--only", "slow"])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("nearest: slower", wrong.stderr)
        self.assertIn("1 more trial (--limit)", run(["compare", base, base, "--all", "--limit", "3"]).stdout)
        self.assertNotIn("--limit", run(["compare", base, base, "--limit", "3"]).stdout, "no trial is listed")
        shortened = run(["summary", base, "--format", "latex", "--limit", "1"])
        self.assertIn("% … and 3 more rows", shortened.stdout)
        self.assertIn("note: … and 3 more rows: --limit 0 shows all", shortened.stderr)
        nothing = run(["compare", base, base, "--only", "slower"]).stdout
        self.assertIn("No trial is slower", nothing)
        self.assertNotIn("METHOD", nothing, "no table")

    def test_night_sh_writes_a_summary(self):
        night, before = self.sweep(self.plan(PLAN)), self.folder / "before"
        shutil.copytree(night, before)
        (night / "missing.txt").write_text("shard-2-of-4: 3 of 9 trials missing\n")
        script = SOURCE / "jobs" / "slurm" / "night.sh"
        self.assertIn("night.sh [--env FILE] NIGHT", execute([script, "--help"]).stdout)
        done = execute([script, night, before], GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "gaussweep, run: 4 records: 4 pass, incomplete")
        for words in ("3 of 9 trials missing", "Against before:", "4 trials in both: 4 SAME", "gesv double"):
            self.assertIn(words, done.stdout)

    def test_missing_trials_are_counted_and_are_not_slower_ones(self):
        before, night = self.folder / "nights/1", self.folder / "nights/2"
        plan = self.plan(PLAN.replace("repeats: 2", "repeats: 1"))  # one sample does not show a change of the time
        for folder in (before, night):
            self.sweep(plan, output=folder / "sweep")
        journal = night / "sweep/journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        records = [line for line in lines if '"note":' not in line]
        self.assertEqual(len(records), 4)
        lines.remove(records[-1])
        journal.write_text("".join(lines))
        (night / "sweep/results.h5").unlink()
        self.ran(["merge", night / "sweep", "-o", night / "sweep/results.h5", "--missing-ok"])
        for words in ([], ["--method", "lapack"], ["--best", "--by", "gpu"], ["--best", "--by", "gpu", "--brief"]):
            shown = {folder: self.ran(["summary", folder / "sweep", *words]).stdout for folder in (before, night)}
            self.assertIn("1 of 4 trials missing", shown[night].splitlines()[-1])
            self.assertNotIn("missing", shown[before])
        self.assertEqual(json.loads(self.ran(["summary", night, "--format", "json"]).stdout)["missing"], 1)
        for part in ("", "sweep"):
            words = [SOURCE / "jobs/slurm/night.sh", night / part, before / part]
            done = execute(words, GAUSSWEEP=str(GAUSSWEEP))
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(done.stdout.splitlines()[0], "gaussweep, 2: 3 records: 3 pass; 1 of 4 missing")
            self.assertIn("\nAgainst 1:\n", done.stdout)

    def test_night_sh_follows_three_nights(self):
        nights = [self.sweep(self.plan(PLAN), output=name) for name in ("third", "second", "first")]
        asked = {"GAUSSWEEP": str(GAUSSWEEP), "GAUSSWEEP_TREND": "--problem gesv --method lap*"}
        done = execute([SOURCE / "jobs" / "slurm" / "night.sh", *nights], **asked)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        self.assertIn("Since when:\n", done.stdout)
        self.assertNotIn("NO TIME SINCE", done.stdout)
        fewer = self.sweep(self.plan(PLAN.replace("[8, 16]", "8")), output="fewer")
        shown = self.ran(["trend", nights[0], nights[1], fewer]).stdout
        self.assertIn("NO TIME SINCE", shown)
        self.assertEqual(len(re.findall(r"%  +\d{4}-\d\d-\d\d.*: missing", shown)), 2, shown)  # the trials of n = 16
        self.assertRegex(done.stdout, r"\n3 nights, \d+ trials: changes can be found from 6 nights per trial on\.")
        trial = r"gesv/lapack double, n = \d+, diagonally_dominant, seed 1, CPU"
        self.assertRegex(done.stdout, rf"Night by night \(medians\):\n{trial}: [+-]\d+\.\d %\n")

    def test_a_run_given_twice_counts_once(self):
        directory, other = (self.sweep(self.plan(PLAN), output=name) for name in ("first", "second"))
        link, copy = self.folder / "link", self.folder / "copy"
        link.symlink_to(directory)
        shutil.copytree(directory, copy)
        for words, shown in (
            (["summary"], "4 records: 4 pass"),
            (["status"], "Done:    4 of 4"),
            (["trend", other], "2 nights, 4 trials"),
        ):
            done = self.ran([*words, directory, link, copy])
            self.assertIn(shown, done.stdout)
            self.assertIn(f"note: {link} is {directory}, which counts once\n", done.stderr)
            self.assertRegex(done.stderr, "4 records are of more than one of these files|copy is a copy of the run in")

    def test_filters_without_a_match_are_an_error(self):
        directory = self.sweep(self.plan(PLAN))
        for more in ([], ["--best", "--by", "gpu"]):
            self.ran(["summary", directory, "-n", "8", "-n", "<10", "--status", "pass", "--method", "lapack", *more])
        done = run(["summary", directory, "--status", "failed"])
        self.assertEqual(done.returncode, 2)
        legend = run(["summary", directory]).stdout
        self.assertTrue("RATIO: the residual" in legend and "SPEEDUP: over" in legend, legend)
        # Without the vendor's method no row has a speedup.
        self.assertNotIn("SPEEDUP", run(["summary", directory, "--method", "gauss_serial"]).stdout)


if __name__ == "__main__":
    unittest.main()
