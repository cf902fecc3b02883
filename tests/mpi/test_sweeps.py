"""Tests whole sweeps over one and several ranks: records, files, exit codes, bad input."""

import os
import re
import shlex
import subprocess
import time
import unittest
import zlib

import h5py

import harness
from harness import SweepTest, run

# The cyclic methods divide by off-diagonal elements, so they need a matrix like cauchy. A method with pivoting
# may meet an exact 0 on cauchy, depending on the CPU and the number of threads, so lapack has another matrix.
SMALL = """
name: small
precision: [float, double]
repeats: 3
matrix: {kind: cauchy}
sweep:
  - problem: gesv
    method: [gauss_serial, gauss_block, gauss_cyclic_halving]
    n: [5, 33]
    blocks: [1, 3]
    back_substitution: [reduction, pipelined]
  - problem: gesv
    method: lapack
    n: [5, 33]
    matrix: {kind: diagonally_dominant}
"""


def add_line(directory, body):
    """Adds a line to the journal; `body` is an object without its closing brace."""
    with open(directory / "journal.jsonl", "a") as journal:
        journal.write(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')


class Sweeps(SweepTest):
    def test_three_ranks_give_the_records_of_one(self):
        plan = self.plan(SMALL)
        one = self.records(self.sweep(plan, output="one"))
        directory = self.sweep(plan, output="three", ranks=3)
        three = self.records(directory)
        self.assertEqual(
            {r["key"]: (r["status"], r["matrix_digest"]) for r in one},
            {r["key"]: (r["status"], r["matrix_digest"]) for r in three},
        )
        # 2 precisions x 2 sizes x (serial, block, lapack + halving with 2 x 2 parameters)
        self.assertEqual(len(one), 2 * 2 * (3 + 4))
        self.assertEqual({r["status"] for r in one}, {"pass"})
        self.assertEqual({r["rank"] for r in three} - {0, 1, 2}, set())
        self.assertGreater(len({r["rank"] for r in three}), 1, "more than one rank worked")
        stored = {path.stem for path in (directory / "matrices").glob("*.h5")}
        self.assertEqual(stored, {r["matrix_digest"] for r in three}, "each was made once")
        for record in three:
            self.check_measured(record)
        with h5py.File(directory / "results.h5", "r") as file:
            self.assertEqual(len(file["samples"]), 3 * len(file["records"]))
            self.assertIn("eliminate", {kernel.decode() for kernel in file["stages"]["kernel"]})
            self.assertGreaterEqual(len(file["devices"]), 1)
            self.assertEqual(len(file["hosts"]), 1)
            for name in ("version", "commit", "command_line", "hdf5_version", "mpi_version", "plan_name"):
                self.assertIn(name, file.attrs)

    def check_measured(self, record):
        self.assertEqual(record["samples"], 3)
        self.assertGreater(record["seconds_median"], 0)
        self.assertLessEqual(record["seconds_min"], record["seconds_median"])
        self.assertLessEqual(record["residual_ratio"], record["tolerance"])
        self.assertEqual(record["reference_method"], "lapack")
        self.assertGreaterEqual(record["reference_difference"], 0)
        on_cpu = record["method"] in ("gauss_serial", "lapack")
        self.assertEqual(record["backend"], "host" if on_cpu else "emulated")
        self.assertGreater(record["gflops"], 0)
        self.assertGreater(record["peak_share"], 0)

    def test_a_sweep_without_a_gpu_names_the_reason(self):
        plan = self.plan(SMALL)
        self.sweep(plan, output="found")
        self.assertRegex(
            self.stderr, r"warning: no GPU can be used \(rank 0 on .+: .+\): [0-9]+ trials? of methods for GPUs"
        )
        self.sweep(plan, "--backend", "emulated", output="asked")
        self.assertNotIn("no GPU", self.stderr)

    def test_a_plan_may_disable_stages(self):
        directory = self.sweep(
            self.plan(
                "sweep: [{problem: gesv, method: gauss_block, n: 5}, "
                "{problem: gesv, method: gauss_block, n: 7, stages: never}]\n"
            )
        )
        with h5py.File(directory / "results.h5", "r") as file:
            trials = set(file["stages"]["trial"])
            self.assertEqual([int(n) for i, n in enumerate(file["records"]["n"]) if i in trials], [5])

    def test_a_plan_may_separate_the_calls_of_stages(self):
        directory = self.sweep(
            self.plan(
                "stages: calls\nmatrix: {kind: spd}\n"
                "sweep: [{problem: potrf, method: blocked, n: 40},"
                " {problem: potrf, method: blocked, n: 41, stages: always}]\n"
            )
        )
        with h5py.File(directory / "results.h5", "r") as file:
            sizes = [file["records"]["n"][trial] for trial in file["stages"]["trial"]]
            found = {40: [], 41: []}
            for n, kernel, calls in zip(sizes, file["stages"]["kernel"], file["stages"]["calls"]):
                found[n].append((kernel.decode(), int(calls)))
        names = ["topleft", "strip", "diagupdate", "loupdate"]
        self.assertEqual([name for name, _ in found[41]], names)
        self.assertEqual([call for call in found[40] if call[0] in names], found[40])
        self.assertEqual({calls for _, calls in found[40]}, {1})
        self.assertEqual([name for name, _ in found[40]][:5], names + ["topleft"])
        for name, calls in found[41]:
            self.assertEqual(found[40].count((name, 1)), calls, name)

    def test_resume_repeats_nothing(self):
        plan = self.plan(SMALL)
        directory = self.sweep(plan)
        before = (directory / "journal.jsonl").read_text()
        self.sweep(plan, "--resume", ranks=2)
        records, _ = harness.journal(directory)
        self.assertEqual(
            len(records), len([line for line in before.splitlines() if '"key"' in line and '"note"' not in line])
        )

    def test_an_edited_plan_adds_trials_and_keeps_records(self):
        directory = self.sweep(self.plan(SMALL))
        first = {r["key"] for r in self.records(directory)}
        self.sweep(self.plan(SMALL.replace("n: [5, 33]", "n: [5, 8]")), "--resume")
        after = self.records(directory)
        self.assertLess(first, {r["key"] for r in after})
        vanished = [r for r in after if "no longer in the plan" in r["message"]]
        self.assertEqual({r["n"] for r in vanished}, {33})

    def test_a_resume_refuses_a_plan_of_another_name(self):
        directory = self.sweep(self.plan(SMALL))
        saved = (directory / "plan.yaml").read_text()
        other = self.plan(re.sub("^name: .*", "name: other", SMALL, flags=re.M))
        for more in ([], ["--dry-run"]):
            done = self.ran(["run", other, "-o", directory, "--resume", *more], code=2)
            self.assertIn("holds a sweep of another plan (name: small; ", done.stderr)
        self.assertEqual((directory / "plan.yaml").read_text(), saved)

    def test_a_resume_uses_the_tolerance_of_the_plan(self):
        plan = (
            "name: judged\nrepeats: 1\nmatrix: {kind: uniform}\nsweep:\n"
            "  - {problem: gesv, method: [lapack, gauss_serial], n: [20, 30]}\n"
        )
        directory = self.sweep(self.plan(plan))
        before, _ = harness.journal(directory)
        strict = self.plan(plan + "tolerance: {gesv: 1e-9}\n")
        self.sweep(strict, "--resume", code=1)
        self.assertIn("judged again, by the tolerance that the plan has now: 4 records", self.stderr)
        self.assertIn("4 of them: pass is now failed", self.stderr)
        self.assertIn("0 to do", self.stderr)
        records = self.records(directory)
        self.assertEqual({(r["status"], r["tolerance"]) for r in records}, {("failed", 1e-9)})
        self.assertEqual(
            {r["key"]: r["seconds_median"] for r in records},
            {r["key"]: r["seconds_median"] for r in before},
            "nothing ran",
        )
        self.assertIn("tolerance 1e-09", records[0]["message"])
        self.sweep(strict, "--resume", code=1)
        self.assertNotIn("judged again", self.stderr)
        self.sweep(self.plan(plan), "--resume")
        self.assertEqual({r["status"] for r in self.records(directory)}, {"pass"})

    def test_the_command_line_can_be_repeated_in_a_shell(self):
        plan = self.folder / "it's a plan.yaml"
        plan.write_text("repeats: 1\nstages: never\nsweep:\n  - {problem: gesv, method: lapack, n: 5}\n")
        directory = self.sweep(plan, output="two words")
        (start,) = (note for note in harness.journal(directory)[1] if note["note"] == "run")
        self.assertEqual(shlex.split(start["command_line"])[1:5], ["run", str(plan), "-o", str(directory)])
        directory = directory.rename(self.folder / "it's moved")
        journal = directory / "journal.jsonl"
        journal.write_text("".join(line for line in journal.open() if '"note":"end"' not in line))
        status = self.ran(["status", directory]).stdout
        command = next(line for line in status.splitlines() if "go on with" in line).split("go on with ")[1]
        self.assertEqual(shlex.split(command)[1:5], ["run", str(plan), "-o", str(directory)])

    def test_names_in_other_encodings_than_utf_8(self):
        plan = self.plan(SMALL)
        for ranks in (0, 2):
            name = os.fsdecode(b"d\xff%d" % ranks)
            directory = self.sweep(plan, output=name, ranks=ranks, SLURM_JOB_NAME=os.fsdecode(b"night \xe9"))
            self.assertTrue((self.folder / name / "journal.jsonl").exists(), "the name itself stays")
            self.sweep(plan, "--resume", output=name, ranks=ranks)
            with h5py.File(os.fsencode(directory / "results.h5"), "r") as file:
                self.assertIn("d\ufffd", file.attrs["command_line"])
            with open(directory / "journal.jsonl", encoding="utf-8") as journal:
                self.assertIn("night \ufffd", journal.read())
            for command in (["summary"], ["status"], ["verify"]):
                self.assertEqual(run([*command, directory]).returncode, 0, command)
        self.ran(
            [
                "merge",
                *(self.folder / os.fsdecode(b"d\xff%d" % ranks) for ranks in (0, 2)),
                "-o",
                self.folder / "all.h5",
            ]
        )
        # A matrix next to a plan in such a folder.
        folder = self.folder / os.fsdecode(b"\xfe")
        folder.mkdir()
        (folder / "a.mtx").write_text("%%MatrixMarket matrix array real general\n1 1\n2.0\n")
        (folder / "plan.yaml").write_text("sweep:\n  - {problem: gesv, method: lapack, matrix: {file: a.mtx}}\n")
        self.sweep(folder / "plan.yaml", output="beside")

    def test_shards_give_the_whole(self):
        plan = self.plan(SMALL)
        whole = {r["key"] for r in self.records(self.sweep(plan, output="whole"))}
        parts = [
            {r["key"] for r in self.records(self.sweep(plan, f"--shard={i}/3", output=f"part{i}"))} for i in (1, 2, 3)
        ]
        self.assertEqual(set.union(*parts), whole)
        self.assertEqual(sum(map(len, parts)), len(whole))

    def test_a_resumed_shard_is_not_mixed_with_others(self):
        plan = self.plan(SMALL)
        directory = self.sweep(plan, "--shard=2/2")
        part, _ = harness.journal(directory)
        for more in ([], ["--shard=1/2"], ["--shard=2/3"], ["--dry-run"]):
            self.sweep(plan, "--resume", *more, code=2)
            self.assertIn("holds shard 2/2 of the plan", self.stderr)
            self.assertIn("allowed: --shard 2/2, or --shard 1/1 for the whole plan", self.stderr)
        self.sweep(plan, "--resume", "--shard=2/2")
        self.assertEqual(len(harness.journal(directory)[0]), len(part))
        self.sweep(plan, "--resume", "--shard=1/1")
        self.sweep(plan, "--resume")
        self.assertNotIn("shard", self.stderr)
        self.sweep(plan, "--resume", "--shard=1/2", code=2)
        self.assertIn("holds a run of the whole plan, not shard 1/2; leave --shard out", self.stderr)
        self.assertGreater(len(harness.journal(directory)[0]), len(part))

    def test_records_of_another_build_are_remarked(self):
        directory = self.sweep(self.plan(SMALL.replace("n: [5, 33]", "n: 5")))
        self.assertNotIn("builds", self.stderr)
        lines = []
        for line in (directory / "journal.jsonl").read_text().splitlines():
            body = re.sub('"commit":"[^"]*"', '"commit":"0123abc"', line[: line.rindex(',"crc"')])
            lines.append(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')
        (directory / "journal.jsonl").write_text("".join(lines))
        self.sweep(self.plan(SMALL), "--resume")
        self.assertIn("the records are from 2 builds: commit 0123abc (", self.stderr)
        for command in ("status", "summary"):
            done = run([command, directory])
            self.assertIn("the records are from 2 builds", done.stdout + done.stderr)

    def test_the_partial_plan_of_a_killed_run_is_removed(self):
        directory = self.sweep(self.plan(SMALL))
        left = directory / ".plan.yaml.host-1-0.tmp"
        left.write_text("half")
        os.utime(left, (time.time() - 7200,) * 2)
        self.sweep(self.plan(SMALL), "--resume")
        self.assertFalse(left.exists())

    def test_escapes_in_a_plan_name_do_not_reach_a_terminal(self):
        directory = self.sweep(self.plan(SMALL.replace("name: small", 'name: "\\e[31mred"')))
        self.assertIn("\ufffd[31mred", run(["status", directory]).stdout)
        refused = run(["plan", self.plan(SMALL.replace("problem: gesv", 'problem: "\\e[31mred"'))])
        self.assertEqual(refused.returncode, 2)
        self.assertIn("\ufffd[31mred", refused.stderr)
        self.assertNotIn("\x1b", refused.stderr)

    def test_a_wrong_answer_is_exit_1_unless_expected(self):
        plan = """
name: unstable
repeats: 1
matrix: {kind: wilkinson}
sweep:
  - problem: gesv
    method: gauss_cyclic_decrement
    n: 64
    blocks: 8
"""
        directory = self.sweep(self.plan(plan), code=1)
        self.assertEqual({r["status"] for r in self.records(directory)}, {"failed"})
        expecting = plan + "    expect: {gauss_cyclic_decrement: [pass, suspect, failed]}\n"
        self.sweep(self.plan(expecting), output="expected", code=0)

    def test_a_resume_retries_skipped_trials(self):
        plan = self.plan("name: v\nrepeats: 1\nsweep:\n  - {problem: gesv, method: [cusolver, lapack], n: 8}\n")
        directory = self.sweep(plan)
        # As on a machine with too little memory.
        (line,) = [line for line in (directory / "journal.jsonl").read_text().splitlines() if '"status":"pass"' in line]
        add_line(directory, line[: line.index(',"crc"')].replace('"status":"pass"', '"status":"skipped"'))
        self.sweep(plan, "--resume")
        self.assertIn("1 to do", self.stderr)
        self.assertEqual(
            {r["method"]: r["status"] for r in self.records(directory)}, {"cusolver": "skipped", "lapack": "pass"}
        )
        self.sweep(plan, "--resume")
        self.assertIn("0 to do", self.stderr, "trials that this build or machine excludes stay skipped")

    def test_dry_run_creates_nothing(self):
        plan = self.plan(SMALL)
        done = self.ran(["run", plan, "-o", self.folder / "none", "--dry-run"])
        self.assertIn("28 trials", done.stdout)
        self.assertFalse((self.folder / "none").exists())


class BadInput(SweepTest):
    def refuse(self, text, *words, options=(), ranks=0):
        plan = self.plan(text) if isinstance(text, str) else text
        directory = self.folder / "out"
        done = self.ran(["run", plan, "-o", directory, *options], ranks, code=2)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(directory.exists(), "no partial output")
        return done.stderr

    def test_plans(self):
        good = "name: p\nsweep:\n  - problem: gesv\n    method: lapack\n    n: 8\n"
        self.refuse(good + "    blocs: 3\n", "plan.yaml:6:", "blocs")
        self.refuse(good + "nmae: x\n", "plan.yaml:6:1", "name")
        self.refuse("{{{ not yaml", "plan.yaml")
        self.refuse(self.folder / "absent.yaml", "absent.yaml")
        self.refuse(good + "    matrix: {file: absent.mtx}\n", ":6:", "absent.mtx")

    def test_a_malformed_matrix_file_is_refused_with_its_line(self):
        (self.folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
        self.refuse("name: p\nsweep:\n  - {problem: gesv, method: lapack, matrix: {file: bad.mtx}}\n", "bad.mtx")

    def test_refusals_under_mpirun(self):
        self.refuse("name: p\nsweep: []\n", ":2:", ranks=3)

    def test_unwritable_output(self):
        plan = self.plan(SMALL)
        file = self.folder / "file"
        file.write_text("x")
        for output in (file, file / "below", "/proc/nowhere/run"):
            done = run(["run", plan, "-o", output])
            self.assertEqual(done.returncode, 2, f"{output}: {done.stderr}")

    def test_an_existing_directory_needs_resume(self):
        directory = self.sweep(self.plan(SMALL))
        before = sorted(path.name for path in directory.iterdir())
        done = run(["run", self.plan(SMALL), "-o", directory])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--resume", done.stderr)
        self.assertEqual(sorted(path.name for path in directory.iterdir()), before)

    def test_a_gpu_sweep_resumes_emulated_only_on_request(self):
        directory = self.sweep(self.plan(SMALL))
        add_line(directory, '{"backend":"cuda","note":"run"')
        done = self.ran(["run", self.plan(SMALL), "-o", directory, "--resume"], code=2)
        self.assertIn("ran on cuda", done.stderr)
        self.sweep(self.plan(SMALL), "--resume", "--backend", "emulated")


class Torn(SweepTest):
    """Tests runs whose files were cut off by a kill or a power failure."""

    def test_results_are_rebuilt_from_the_journal_completely(self):
        plan = self.plan(SMALL)
        directory = self.sweep(plan)
        target = directory / "results.h5"
        whole = target.read_bytes()

        def tables():
            with h5py.File(target, "r") as file:
                return {name: [row.tobytes() for row in file[name][:]] for name in file}

        before = tables()
        for size in (0, 7, 512, len(whole) // 2, len(whole) - 1):
            target.write_bytes(whole[:size])
            self.ran(["summary", directory, "--format", "csv"])
            self.sweep(plan, "--resume")
            self.assertEqual(tables(), before)
        target.unlink()
        self.ran(["merge", directory / "journal.jsonl", "-o", target])
        self.assertEqual(tables()["records"], before["records"])

    def test_a_torn_last_line_is_dropped_and_its_trial_repeated(self):
        plan = self.plan(SMALL)
        directory = self.sweep(plan)
        journal = directory / "journal.jsonl"
        lines = [line for line in journal.read_bytes().splitlines(keepends=True) if b'"note":' not in line]
        expected = {r["key"] for r in self.records(directory)}
        for cut in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
            journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:cut])
            self.sweep(plan, "--resume")
            self.assertIn("torn by a kill", self.stderr)
            self.assertIn("1 to do", self.stderr)
            self.assertEqual({r["key"] for r in self.records(directory)}, expected)
            self.assertEqual(len(harness.journal(directory)[0]), len(lines))


class Locking(SweepTest):
    def test_a_resume_waits_for_a_dying_predecessor(self):
        plan = self.plan(
            "name: slow\nrepeats: 1\nwarmup: 0\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 4, milliseconds: 3000}\n"
        )
        directory = self.folder / "run"
        with self.started(plan, directory, until=(directory / "journal.jsonl").exists) as first:
            with subprocess.Popen(
                harness.command(["run", plan, "-o", directory, "--resume"], program=harness.FAULTY),
                env=harness.environment(),
                stderr=subprocess.PIPE,
                text=True,
            ) as second:
                time.sleep(1)
                self.assertIsNone(second.poll(), "it waits")
                first.kill()
                _, errors = second.communicate(timeout=harness.HANG)
        self.assertEqual(second.returncode, 0, errors)
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"])

    def test_two_runs_on_one_directory(self):
        slow = (
            "name: slow\nrepeats: 1\nwarmup: 0\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 4, seed: [1, 2, 3, 4], milliseconds: 5000}\n"
        )
        plan = self.plan(slow)
        directory = self.folder / "run"
        with self.started(plan, directory, until=(directory / "journal.jsonl").exists) as first:
            second = run(["run", plan, "-o", directory, "--resume"], program=harness.FAULTY)
            self.assertEqual(second.returncode, 2, second.stderr)
            self.assertIn("another run", second.stderr)
            first.kill()


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
