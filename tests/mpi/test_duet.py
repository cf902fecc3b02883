"""Tests `gaussweep duet`: two builds alternate, and a difference between them is found."""

import json
import shutil
import unittest

import h5py
from harness import FAULTY, SweepTest, journal, run

PLAN = """
name: duet
repeats: 3
stages: never
matrix: {kind: uniform, seed: 1}
sweep:
  - problem: gemm
    method: fault_changed
    precision: double
    n: 8
    steps: [300000, 1000000]
"""


class DuetTest(SweepTest):
    def other(self):
        """Returns a script that acts as another build: GAUSSWEEP_FAULT_CHANGE does not affect it."""
        path = self.folder / "other"
        path.write_text(f'#!/bin/sh\nexec env GAUSSWEEP_FAULT_CHANGE= "{FAULTY}" "$@"\n')
        path.chmod(0o755)
        return path

    def duet(self, other, code, *options, **changes):
        arguments = ["duet", other, self.plan(PLAN), "-o", self.folder / "out", "--backend", "emulated", *options]
        done = run(arguments, program=FAULTY, **changes)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_a_slower_build_is_found(self):
        done = self.duet(self.other(), 4, "--rounds", "4", GAUSSWEEP_FAULT_CHANGE="work=6")
        self.assertRegex(done.stdout, r"(?s)regressions?: .*gemm/fault_changed")
        sides = [self.folder / "out" / "base", self.folder / "out" / "new"]
        again = run(["compare", *sides])
        # duet has no option --only, so its hint names the compare command, which has it.
        expected = " ".join(done.stdout.split()).replace(f"gaussweep compare {sides[0]} {sides[1]} --only", "--only")
        self.assertEqual(" ".join(again.stdout.split()), expected)
        self.assertEqual(again.returncode, 4)
        for side in sides:
            status = json.loads(self.ran(["status", side, "--format", "json"]).stdout)
            self.assertEqual((status["state"], status["exit_code"]), ("ended", 0))

    def test_a_directory_that_holds_a_duet_is_refused(self):
        for build in ("base", "new"):
            kept = self.folder / "out" / build / "journal.jsonl"
            kept.parent.mkdir(parents=True)
            kept.touch()
            self.assertNotIn("--resume", self.duet(self.other(), 2).stderr)
            self.assertEqual(list(kept.parent.iterdir()), [kept])
            shutil.rmtree(self.folder / "out")

    def test_the_builds_alternate_with_fresh_workers_per_round(self):
        self.duet(self.other(), 0, "--rounds", "2", "--threshold", "900")
        trials = []
        for build in ("base", "new"):
            records, _ = journal(self.folder / "out" / build)
            self.assertEqual([r["round"] for r in records], [1, 1, 2, 2])
            trials += [(r["start_time"], r["timed_began"], build) for r in records]
            log = (self.folder / "out" / build / "logs" / "worker-0.log").exists()
            self.assertTrue(log)
            with h5py.File(self.folder / "out" / build / "results.h5") as file:
                self.assertEqual(len(file["records"]), 4)
        trials.sort(key=lambda trial: trial[1])
        self.assertEqual(
            [build for _, _, build in trials], ["base", "new", "new", "base", "new", "base", "base", "new"]
        )

    def test_one_more_wait_is_found(self):
        plan = self.plan(PLAN.replace("steps: [300000, 1000000]", "waits: [1, 50]"))
        for name, change in (("before", ""), ("after", "waits=1")):
            self.ran(
                ["run", plan, "-o", self.folder / name, "--backend", "emulated"],
                program=FAULTY,
                GAUSSWEEP_FAULT_CHANGE=change,
            )
        done = self.ran(["compare", self.folder / "before", self.folder / "after"], code=4)
        for words in ("waits 1 -> 2", "waits 50 -> 51"):
            self.assertIn(words, " ".join(done.stdout.split()).rpartition("2 regressions: ")[2])
        self.assertEqual(run(["compare", self.folder / "after", self.folder / "before"]).returncode, 0)

    def test_refuses_other_programs_before_it_begins(self):
        self.assertIn("no gaussweep", self.duet("/bin/echo", 2).stderr)
        self.assertIn("cannot start", self.duet(self.folder / "nowhere", 2).stderr)
        self.assertFalse((self.folder / "out").exists())

    def impostor(self, worker, version=""):
        """Returns a program that claims to be another build; `worker` is Python code with descriptor 3 as `end`."""
        script = f"import os, sys, time\nend = 3\nif sys.argv[1:] == ['--version']:\n    {version or 'pass'}\n"
        script += "    print('gaussweep 1.0 (commit 0123abc, a build)')\nelse:\n"
        path = self.folder / "impostor"
        path.write_text("#!/usr/bin/python3\n" + script + "".join(f"    {line}\n" for line in worker.splitlines()))
        path.chmod(0o755)
        return path

    def test_messages_of_another_build_are_not_trusted(self):
        message = r"b'\xa2dtypebatdstepdloop'"  # {"type": "at", "step": "loop"} in CBOR
        frame = "len({0}).to_bytes(4, 'little') + {0}"
        floods = {
            "deep": "body = b'\\x81' * 2000000\nos.write(end, " + frame.format("body") + ")\ntime.sleep(60)",
            "endless": f"body = {message}\nbody = " + frame.format("body") + "\nwhile True: os.write(end, body * 1000)",
        }
        for name, worker in floods.items():
            with self.subTest(name):
                done = self.duet(self.impostor(worker), 3)
                self.assertIn("worker of base cannot go on", done.stderr)
                for build in ("base", "new"):
                    end = journal(self.folder / "out" / build)[1][-1]
                    self.assertEqual((end["note"], end["exit_code"]), ("end", 3))
                self.assertIn({"deep": "levels", "endless": "steps"}[name], done.stderr)
                shutil.rmtree(self.folder / "out")

    def test_an_endless_version_is_refused(self):
        done = self.duet(self.impostor("pass", "while True: print('gaussweep ' * 1000)"), 2)
        self.assertIn("printed more than", done.stderr)
        self.assertLess(len(done.stderr), 1000)
        done = self.duet(self.impostor("pass", "print('gaussweep 1.0 (commit ' + 'a' * 100000)"), 2)
        self.assertIn("no gaussweep", done.stderr)
        self.assertLess(len(done.stderr), 1000)


if __name__ == "__main__":
    unittest.main()
