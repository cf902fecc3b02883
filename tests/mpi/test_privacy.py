"""What a plan says reaches no shell; what a run writes stays in its directory, private to the user."""

import os
import pathlib
import stat
import subprocess
import time
import unittest

import harness
import killer
from harness import FAULTY, SweepTest, run

MATRIX = "%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n"
SMALL = "name: small\nrepeats: 1\nsweep:\n  - {problem: gesv, method: [lapack, gauss_block], n: [4, 5]}\n"


class Words(SweepTest):
    def test_no_word_of_a_plan_is_run_or_becomes_a_path(self):
        work = self.folder / "work"
        work.mkdir()
        marker = self.folder / "pwned"
        for i, evil in enumerate((f"$(touch {marker})", f"`touch {marker}`", f"; touch {marker} #", f"| touch {marker}",
                                  f"\n touch {marker}\n", "../../../evil", "/etc/evil", "%n%s{}\\", "--help")):
            file = work / f"m{i} $(touch pwned);`touch pwned`&.mtx"
            file.write_text(MATRIX)
            quoted = evil.replace("'", "''").replace("\n", "\n\n")
            plan = self.plan(f"name: '{quoted}'\nrepeats: 1\nsweep:\n"
                             f"  - {{problem: gesv, method: [fault_none, gauss_block], matrix: {{file: '{file}'}}}}\n"
                             f"  - {{problem: gesv, method: lapack, n: 4}}\n", name=f"work/plan {i} $(touch pwned).yaml")
            before = {path for path in self.folder.rglob("*")}
            directory = work / f"run {i} $(touch pwned) ; `touch pwned`"
            done = run(["run", plan, "-o", directory], 2 if i % 4 == 0 else 0, FAULTY, cwd=work)
            self.assertEqual(done.returncode, 0, done.stderr)
            for command in ("summary", "status", "verify"):
                self.assertEqual(run([command, directory], program=FAULTY, cwd=work).returncode, 0, command)
            new = {path for path in self.folder.rglob("*")} - before
            self.assertEqual([p for p in new if directory not in p.parents and p != directory], [])
            self.assertEqual({p.name for p in directory.iterdir()},
                             {"plan.yaml", "journal.jsonl", "results.h5", "matrices", "logs", "lock"})
            self.assertEqual([p.name for p in (directory / "matrices").iterdir() if not p.stem.isalnum()], [])
        self.assertEqual(list(self.folder.rglob("*pwned")), [])


class Modes(SweepTest):
    def test_everything_is_private_whatever_the_umask(self):
        for mask in (0, 0o022):
            directory = self.folder / f"run{mask}"
            done = run(["run", self.plan(SMALL), "-o", directory], 2, umask=mask)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in (directory, *directory.rglob("*")):
                expected = 0o700 if path.is_dir() else 0o600
                self.assertEqual(stat.S_IMODE(path.lstat().st_mode), expected, path)

    def test_results_made_by_other_commands_too(self):
        directory = self.sweep(self.plan(SMALL))
        for output, arguments in (("merged.h5", ["merge", directory]),
                                  ("a.h5", ["matrix", "generate", "--kind", "spd", "--n", "4"])):
            done = run([*arguments, "-o", self.folder / output], umask=0)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(stat.S_IMODE((self.folder / output).stat().st_mode), 0o600)


class Links(SweepTest):
    """Whoever can place a link into the run directory must not make us write elsewhere."""

    def setUp(self):
        super().setUp()
        self.elsewhere = self.folder / "elsewhere"
        self.elsewhere.mkdir()
        (self.elsewhere / "precious").write_text("precious")
        self.directory = self.sweep(self.plan(SMALL))
        self.more = self.plan(SMALL.replace("[4, 5]", "[4, 5, 6]"))

    def link(self, name, target):
        path = self.directory / name
        if path.is_dir():
            path.rename(self.folder / "moved")
        else:
            path.unlink(missing_ok=True)
        path.symlink_to(target)

    def untouched(self):
        self.assertEqual([p.name for p in self.elsewhere.iterdir()], ["precious"])
        self.assertEqual((self.elsewhere / "precious").read_text(), "precious")

    def test_folders(self):
        for name in ("matrices", "logs"):
            with self.subTest(name):
                self.link(name, self.elsewhere)
                done = run(["run", self.more, "-o", self.directory, "--resume"])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("not a link", done.stderr)
                self.untouched()
                (self.directory / name).unlink()
                (self.folder / "moved").rename(self.directory / name)

    def test_files_that_are_appended_to(self):
        for name, code in (("lock", 2), ("journal.jsonl", 2), ("logs/worker-0.log", 3)):
            with self.subTest(name):
                for target in (self.elsewhere / "precious", self.elsewhere / "new"):
                    kept = (self.directory / name).read_bytes()
                    self.link(name, target)
                    done = run(["run", self.more, "-o", self.directory, "--resume"])
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertIn(name, done.stderr)
                    self.untouched()
                    (self.directory / name).unlink()
                    (self.directory / name).write_bytes(kept)

    def test_files_that_are_written_whole_take_the_link_s_place(self):
        for name in ("plan.yaml", "results.h5"):
            self.link(name, self.elsewhere / "precious")
        digest = next((self.directory / "matrices").glob("*.h5"))
        digest.unlink()
        digest.symlink_to(self.elsewhere / "precious")
        again = self.plan(SMALL.replace("[lapack, gauss_block]", "[lapack, gauss_block, gauss_serial]"))
        self.sweep(again, "--resume")
        self.untouched()
        for path in (self.directory / "plan.yaml", self.directory / "results.h5", digest):
            self.assertFalse(path.is_symlink(), path)
        self.assertEqual({r["status"] for r in self.records(self.directory)}, {"pass"})


class Workers(SweepTest):
    def check_worker(self, pid, directory):
        """What a worker has in its hands while it is busy with a trial."""
        unix = pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
        named = {fields[6] for fields in map(str.split, unix) if len(fields) > 7}
        opened = {int(path.name): os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
        self.assertTrue(opened[3].startswith("socket:["), opened)
        sockets = {target[8:-1] for target in opened.values() if target.startswith("socket:[")}
        self.assertEqual(sockets & named, set(), "a name that others could connect to")
        self.assertEqual(opened[0], "/dev/null")
        mine = [target for target in opened.values() if str(directory) in target]
        self.assertEqual({pathlib.Path(target).parent.name for target in mine}, {"logs"}, opened)
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
        self.assertEqual([line.split()[4] for line in limits if line.startswith("Max core file size")], ["0"])
        self.assertEqual(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text().strip(), "1000")
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        self.assertNotIn(b"OMPI_COMM_WORLD_RANK", environment)

    def test_sockets_have_no_name_and_nothing_else_is_handed_down(self):
        plan = self.plan("name: slow\nrepeats: 1\nwarmup: 0\nsweep:\n"
                         "  - {problem: gesv, method: fault_none, n: 4, seed: [1, 2], milliseconds: 60000}\n")
        directory = self.folder / "run"
        with subprocess.Popen(harness.command(["run", plan, "-o", directory], 2, FAULTY), env=harness.environment(),
                              stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 90
            while True:  # a worker that has only just begun is not yet what it will be, and holds its matrix's file
                try:
                    workers = [pid for pid, words in killer.family(process.pid) if "worker" in words[1:2]]
                    self.assertEqual(len(workers), 2)
                    self.assertEqual(len(list((directory / "matrices").glob("*.h5"))), 2)
                    for pid in workers:
                        self.check_worker(pid, directory)
                    break
                except (AssertionError, OSError):
                    if time.monotonic() > deadline:
                        process.kill()
                        raise
                    time.sleep(0.1)
            process.terminate()
            process.wait(60)

    def test_a_worker_of_nobody_ends_at_once(self):
        done = run(["worker", "--parent", "1"])
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
