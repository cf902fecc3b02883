"""Tests that existing measurements stay: a resume, --force and a second run do not overwrite them."""

import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest
import zlib

import harness
from harness import GAUSSWEEP, SweepTest, run

PLAN = """
name: kept
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: [gauss_serial, gauss_block], n: [4, 5]}
"""
SLOW = """
name: slow
repeats: 1
warmup: 0
matrix: {kind: diagonally_dominant}
sweep:
  - {problem: gesv, method: fault_none, n: 4, seed: [1, 2, 3], milliseconds: MILLISECONDS}
"""


class Resume(SweepTest):
    def test_records_that_only_the_results_have_are_not_replaced(self):
        plan = self.plan(PLAN)
        directory = self.sweep(plan)
        journal, results = directory / "journal.jsonl", directory / "results.h5"
        good, whole = journal.read_bytes(), results.read_bytes()
        records = self.records(directory)
        lines = good.splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if b'"note"' not in line)
        damages = {
            "gone": None,
            "empty": b"",
            "CRLF": good.replace(b"\n", b"\r\n"),
            "one line damaged": good.replace(lines[last], lines[last].replace(b"gauss_", b"GAUSS_")),
            "cut after a line": b"".join(lines[:last]),
        }
        for name, text in damages.items():
            with self.subTest(name):
                journal.unlink(missing_ok=True)
                if text is not None:
                    journal.write_bytes(text)
                for how in ("--resume", "--retry-failed"):
                    done = self.ran(["run", plan, "-o", directory, how], code=2)
                    self.assertIn("results.h5", done.stderr)
                self.assertEqual(results.read_bytes(), whole)
                self.assertEqual(journal.read_bytes() if journal.exists() else None, text)
                if name == "cut after a line":
                    continue
                summary = self.ran(["summary", directory, "--failures"])
                self.assertIn(f"{len(records)} records", summary.stdout)
                if name in ("empty", "CRLF"):
                    self.assertIn("results.h5", self.ran(["status", directory], code=2).stderr)
        done = self.ran(["run", plan, "-o", directory, "--resume"], 2, code=2)
        self.assertIn("results.h5", done.stderr)
        # After the results are moved away, nothing can be lost.
        results.rename(self.folder / "moved.h5")
        self.sweep(plan, "--resume")
        self.assertEqual(len(self.records(directory)), len(records))
        journal.write_bytes(good)
        results.write_bytes(whole)
        self.sweep(plan, "--resume")


class Outputs(SweepTest):
    def files(self, directory):
        kept = (directory / name for name in ("plan.yaml", "journal.jsonl", "results.h5", "lock"))
        return {path.name: path.read_bytes() for path in kept if path.exists()}

    def test_no_command_overwrites_an_input_or_a_run(self):
        directory = self.sweep(self.plan(PLAN))
        other = self.folder / "other"
        other.mkdir()
        self.ran(["merge", directory, "-o", other / "merged.h5"])
        before = self.files(directory)
        merged = (other / "merged.h5").read_bytes()
        digest = next((directory / "matrices").glob("*.h5"))
        for command in (["merge", directory], ["export", directory], ["verify", directory]):
            for name in ("journal.jsonl", "lock", "plan.yaml", digest, directory / "logs/new"):
                done = run([*command, "-o", directory / name, "--force"])
                self.assertEqual(done.returncode, 2, (command, name))
                self.assertRegex(done.stderr, "belongs to the run directory|is read by this command")
        for command in (
            ["merge", other / "merged.h5"],
            ["export", other / "merged.h5"],
            ["verify", other / "merged.h5"],
        ):
            self.assertEqual(run([*command, "-o", other / "merged.h5", "--force"]).returncode, 2, command)
            # The results of another run must not be replaced.
            self.assertEqual(run([*command, "-o", directory / "results.h5", "--force"]).returncode, 2, command)
        for command in (["export", directory], ["verify", directory], ["merge", directory / "results.h5"]):
            self.assertEqual(run([*command, "-o", directory / "results.h5", "--force"]).returncode, 2, command)
        link = self.folder / "link"
        link.symlink_to(directory)
        self.assertEqual(run(["merge", directory, "-o", link / "journal.jsonl", "--force"]).returncode, 2)
        self.assertEqual(self.files(directory), before)
        self.assertEqual((other / "merged.h5").read_bytes(), merged)
        self.ran(["matrix", "generate", "-n", "3", "-o", self.folder / "a.h5"])
        self.ran(["matrix", "import", self.folder / "a.h5", "-o", self.folder / "a.h5", "--force"], code=2)
        blur = ["--kind", "blur", "--psf", "file", "--psf-file", self.folder / "a.h5", "-n", "16"]
        done = self.ran(["matrix", "generate", *blur, "-o", self.folder / "a.h5", "--force"], code=2)
        self.assertIn("is read by this command", done.stderr)
        # A run's own records may become its results.h5 again.
        for inputs in ([directory], [directory / "journal.jsonl", other / "merged.h5"]):
            self.ran(["merge", *inputs, "-o", directory / "results.h5", "--force"])
        self.ran(["export", directory, "-o", directory / "records.csv"])

    def test_merge_does_not_drop_records_of_a_run(self):
        directory = self.sweep(self.plan(PLAN))
        journal, results = directory / "journal.jsonl", directory / "results.h5"
        whole = results.read_bytes()
        lines = journal.read_bytes().splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if b'"note"' not in line)
        journal.write_bytes(b"".join(lines[:last]))
        done = self.ran(["merge", journal, "-o", results, "--force"], code=2)
        self.assertIn("1 record", done.stderr)
        self.assertEqual(results.read_bytes(), whole)


class Databases(SweepTest):
    def test_files_of_an_older_database_do_not_change_the_new_one(self):
        directory = self.sweep(self.plan(PLAN))
        database = self.folder / "night.db"
        old = sqlite3.connect(database)
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("CREATE TABLE records(night TEXT)")
        old.commit()
        companions = [self.folder / f"night.db{ending}" for ending in ("-wal", "-shm", "-journal")]
        kept = {path: path.read_bytes() for path in companions if path.exists()}
        self.assertEqual(len(kept), 2)
        old.close()
        database.unlink()
        for path, text in kept.items():
            path.write_bytes(text)
        self.assertEqual(run(["export", directory, "-o", database]).returncode, 2, "a companion exists")
        self.assertEqual({path: path.read_bytes() for path in kept}, kept)
        companions[2].write_bytes(b"junk")
        self.ran(["export", directory, "-o", database, "--force"])
        self.assertEqual([path for path in companions if path.exists()], [])
        ask = sqlite3.connect(database).execute
        self.assertEqual(ask("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(ask("SELECT count(*) FROM records").fetchone(), (4,))

    def test_parameters_that_differ_in_case_have_separate_columns(self):
        directory = self.sweep(self.plan(PLAN))
        record = harness.journal(directory)[0][0]
        record.pop("crc")
        record["parameters"] = '{"NB":1,"nb":2,"nb_2":3}'
        body = json.dumps(record, separators=(",", ":"))[:-1]
        with open(directory / "journal.jsonl", "a") as journal:
            journal.write(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')
        self.ran(["export", directory, "-o", self.folder / "a.db"])
        ask = sqlite3.connect(self.folder / "a.db").execute
        columns = [row[1] for row in ask("PRAGMA table_info(records)") if "nb" in row[1].lower()]
        values = ask(f"SELECT {', '.join(columns)} FROM records WHERE {columns[0]} IS NOT NULL").fetchall()
        self.assertEqual(dict(zip(columns, values[0])), {"parameter_NB": 1, "parameter_nb_2": 2, "parameter_nb_2_2": 3})


class Locks(SweepTest):
    def test_a_run_without_its_lock_file_counts_as_running(self):
        directory = self.folder / "run"
        plan = self.plan(SLOW.replace("MILLISECONDS", "60000"))
        process = self.started(plan, directory, until=lambda: (directory / "journal.jsonl").exists())
        (directory / "lock").unlink()
        self.assertIn('"running": true', run(["status", directory, "--format", "json"]).stdout)
        process.kill()
        process.communicate()


class Scratch(SweepTest):
    def test_the_next_try_removes_the_folder_of_a_killed_one(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        matrix = self.folder / "a.mtx"
        matrix.write_text("%%MatrixMarket matrix array real general\n2 2\n4\n2\n1\n3\n")
        words = harness.command(["try", matrix, "--problem", "gesv", "--repeats", "1"], program=GAUSSWEEP)
        process = subprocess.Popen(
            words, env=harness.environment(TMPDIR=str(temporary)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        deadline = time.monotonic() + harness.HANG
        while not list(temporary.glob("gaussweep-try-*/run")):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        self.assertEqual(len(list(temporary.iterdir())), 1)
        self.ran(words[1:], TMPDIR=str(temporary))
        self.assertEqual(len(list(temporary.iterdir())), 1, "its owner lives")
        process.kill()
        process.wait()
        self.ran(words[1:], TMPDIR=str(temporary))
        self.assertEqual(list(temporary.iterdir()), [])


class Streams(SweepTest):
    def test_a_closed_standard_output_is_an_error(self):
        directory = self.sweep(self.plan(PLAN))
        for words in (["export", directory], ["summary", directory], ["--version"]):
            done = run(words, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("standard output cannot be written", done.stderr)
        self.ran(["export", directory, "-o", self.folder / "a.csv"], preexec_fn=lambda: os.close(1))
        self.ran(["run", self.plan(PLAN), "-o", self.folder / "b"], preexec_fn=lambda: os.close(1))

    def test_the_next_command_accepts_a_name_that_begins_with_a_dash(self):
        done = self.ran(["run", self.plan(PLAN), "-o", "-x"], cwd=self.folder)
        self.assertIn("summary ./-x", done.stderr)
        self.ran(["summary", "./-x"], cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
