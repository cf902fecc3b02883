"""Tests that a plan's text reaches no shell, and that a run's files stay in its directory with the umask's modes."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time
import unittest
import zlib

import harness
import killer
from harness import FAULTY, SweepTest, run

MATRIX = "%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n"
SMALL = "name: small\nrepeats: 1\nsweep:\n  - {problem: gesv, method: [lapack, gauss_block], n: [4, 5]}\n"


class Words(SweepTest):
    def test_no_text_of_a_plan_is_executed_or_becomes_a_path(self):
        work = self.folder / "work"
        work.mkdir()
        marker = self.folder / "pwned"
        for i, evil in enumerate(
            (
                f"$(touch {marker}) `touch {marker}`; touch {marker} | touch {marker}\n touch {marker}\n#",
                "../../../evil",
                "/etc/evil",
                "%n%s{}\\",
                "--help",
            )
        ):
            file = work / f"m{i} $(touch pwned);`touch pwned`&.mtx"
            file.write_text(MATRIX)
            quoted = evil.replace("'", "''").replace("\n", "\n\n")
            plan = self.plan(
                (
                    f"name: '{quoted}'\nrepeats: 1\nsweep:\n"
                    f"  - {{problem: gesv, method: [fault_none, gauss_block], matrix: {{file: '{file}'}}}}\n"
                    "  - {problem: gesv, method: lapack, n: 4}\n"
                ),
                name=f"work/plan {i} $(touch pwned).yaml",
            )
            before = {path for path in self.folder.rglob("*")}
            directory = work / f"run {i} $(touch pwned) ; `touch pwned`"
            self.ran(["run", plan, "-o", directory], 2 if i == 0 else 0, FAULTY, cwd=work)
            for command in ("summary", "status", "verify"):
                self.assertEqual(run([command, directory], program=FAULTY, cwd=work).returncode, 0, command)
            new = {path for path in self.folder.rglob("*")} - before
            self.assertEqual([p for p in new if directory not in p.parents and p != directory], [])
            self.assertEqual(
                {p.name for p in directory.iterdir()},
                {"plan.yaml", "journal.jsonl", "results.h5", "matrices", "logs", "lock"},
            )
            others = [p.name for p in (directory / "matrices").iterdir() if not p.stem.isalnum()]
            self.assertEqual(others, [".store.lock"])
        self.assertEqual(list(self.folder.rglob("*pwned")), [])


class Modes(SweepTest):
    def test_modes_follow_the_umask(self):
        for mask in (0o077, 0o027):
            directory = self.folder / f"run{mask}"
            self.ran(["run", self.plan(SMALL), "-o", directory], 2, umask=mask)
            for path in (directory, *directory.rglob("*")):
                expected = (0o777 if path.is_dir() else 0o666) & ~mask
                self.assertEqual(stat.S_IMODE(path.lstat().st_mode), expected, path)

    def test_results_of_other_commands_follow_the_umask(self):
        directory = self.sweep(self.plan(SMALL))
        for output, arguments in (
            ("merged.h5", ["merge", directory]),
            ("a.h5", ["matrix", "generate", "--kind", "spd", "--n", "4"]),
        ):
            self.ran([*arguments, "-o", self.folder / output], umask=0o027)
            self.assertEqual(stat.S_IMODE((self.folder / output).stat().st_mode), 0o640)

    def test_an_existing_folder_keeps_its_mode(self):
        directory = self.folder / "run"
        directory.mkdir()
        directory.chmod(0o777)
        self.sweep(self.plan(SMALL))
        self.assertIn(f"{directory}: everybody may write into it (mode 0777)", self.stderr)
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o777)
        directory.chmod(0o2770)  # with the setgid bit, as in folders that a project's members share
        (directory / "matrices").chmod(0o2755)
        self.sweep(self.plan(SMALL), "--resume")
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o2770)
        self.assertEqual(stat.S_IMODE((directory / "matrices").stat().st_mode), 0o2755)
        self.assertNotIn("may write", self.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a folder away and take another user's place")
    def test_refuses_another_users_folder_that_others_may_write(self):
        # Another user may not enter root's home, where the build and TMPDIR may be.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gaussweep-test-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        program = shutil.copy(harness.GAUSSWEEP, self.folder)
        directory = self.folder / "run"
        directory.mkdir()
        directory.chmod(0o777)
        os.chown(directory, 4711, 4711)
        another = {"user": 4712, "group": 4712, "extra_groups": [], "cwd": self.folder}
        done = self.ran(["run", self.plan(SMALL), "-o", directory], 0, program, code=2, **another)
        self.assertIn("belongs to another user, and others may write into it (mode 0777)", done.stderr)


class Obstacles(SweepTest):
    """Tests that the program neither waits for a special file in place of a regular one, nor reads or writes it."""

    def refused(self, arguments, *words, code=2):
        done = run(arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_does_not_wait_for_fifos(self):
        directory = self.sweep(self.plan(SMALL))
        more = self.plan(SMALL.replace("[lapack, gauss_block]", "[lapack, gauss_block, gauss_serial]"))
        digest = next((directory / "matrices").glob("*.h5")).relative_to(directory)
        for name, code in (
            ("lock", 2),
            ("journal.jsonl", 2),
            ("logs/worker-0.log", 3),
            (str(digest), 3),
            ("results.h5", 3),
        ):
            with self.subTest(name):
                path = directory / name
                kept = path.read_bytes()
                path.unlink()
                os.mkfifo(path)
                self.refused(["run", more, "-o", directory, "--resume"], name, "a FIFO", code=code)
                self.assertTrue(path.is_fifo())
                if name == "journal.jsonl":
                    for command in (
                        ["status", directory],
                        ["summary", path],
                        ["merge", path, "-o", self.folder / "m.h5"],
                    ):
                        self.refused(command, "a FIFO")
                if name == "lock":
                    self.assertEqual(run(["status", directory]).returncode, 0)
                path.unlink()
                path.write_bytes(kept)
        os.mkfifo(self.folder / "matrix.mtx")
        self.refused(
            ["plan", self.plan(SMALL.replace("n: [4, 5]", "matrix: {file: matrix.mtx}"))], "matrix.mtx", "a FIFO"
        )
        self.refused(["matrix", "info", self.folder / "matrix.mtx"], "a FIFO")

    def test_endless_journal(self):
        directory = self.sweep(self.plan(SMALL))
        (directory / "journal.jsonl").unlink()
        (directory / "journal.jsonl").symlink_to("/dev/zero")
        (directory / "results.h5").unlink()
        self.refused(["status", directory], "journal.jsonl", "a device")
        self.refused(["summary", directory], "journal.jsonl", "a device")
        # A run opens its journal for writing, and refuses links.
        self.refused(["run", self.plan(SMALL), "-o", directory, "--resume"], "journal.jsonl", "a link")

    def test_name_with_a_nul_byte(self):
        (self.folder / "mtx").write_text(MATRIX)
        plan = self.plan(SMALL.replace("n: [4, 5]", 'matrix: {file: "mtx\\0.h5"}'))
        self.refused(["plan", plan], "plan.yaml:4:", "mtx\\0.h5", "a NUL byte in the name")

    def test_matrix_that_crashes_hdf5(self):
        for name in ("crash_of_the_library.h5", "use_after_free_of_the_library.mat"):
            file = harness.SOURCE / "tests" / "fuzz" / "corpus" / "hdf5_matrix" / name
            for command in (["info", file], ["import", file, "-o", "x.h5"], ["export", file, "-o", "x.mtx"]):
                self.refused(["matrix", *command], f"{name}: ")
            plan = self.plan(SMALL.replace("n: [4, 5]", f"matrix: {{file: {file}}}"))
            self.refused(["plan", plan], "plan.yaml:4:", f"{name}: ")
            output = self.folder / "run"
            done = self.ran(["run", plan, "-o", output, "--backend", "host"], ranks=2, code=2)
            self.assertIn(f"{name}: ", done.stderr)
            blur = ["--kind", "blur", "--psf", "file", "--psf-file", file, "-n", "16", "-o", "x.h5"]
            self.refused(["matrix", "generate", *blur], f"{name}: ")

    def test_a_plan_uses_a_matrix_read_by_another_process(self):
        text = "%%MatrixMarket matrix array real general\n3 1\n0.25\n0.5\n0.1\n"
        (self.folder / "-w.mtx").write_text(text)
        self.ran(["matrix", "import", self.folder / "-w.mtx", "-o", self.folder / "-w.h5"])
        keys = []
        for ending in ("mtx", "h5"):
            weights = f"matrix: {{kind: blur, psf: file, psf_file: -w.{ending}, width: 2, height: 2}}"
            plan = self.plan(SMALL.replace("n: [4, 5]", "n: 4, " + weights))
            keys.append([record["key"] for record in self.records(self.sweep(plan, output=ending))])
        self.assertEqual(len(keys[0]), 2)
        self.assertEqual(keys[0], keys[1], "the weights are part of a key")
        plan = self.plan(SMALL.replace("n: [4, 5]", "matrix: {file: -w.h5, dataset: --help}"))
        self.refused(["plan", plan], "plan.yaml:4:", "has no dataset '--help'; it has: /A")
        plan = self.plan(SMALL.replace("n: [4, 5]", 'matrix: {file: -w.h5, dataset: "A\\0B"}'))
        self.refused(["plan", plan], "plan.yaml:4:", "a NUL byte in the name of the dataset")

    def test_force_replaces_regular_files_only(self):
        directory = self.sweep(self.plan(SMALL))
        outputs = {"fifo.h5": "a FIFO", "folder.h5": "a directory", "null.h5": "a link to a device"}
        os.mkfifo(self.folder / "fifo.h5")
        (self.folder / "folder.h5").mkdir()
        (self.folder / "null.h5").symlink_to("/dev/null")
        for name, kind in outputs.items():
            output = self.folder / name
            for command in (
                ["merge", directory],
                ["verify", directory],
                ["matrix", "generate", "--kind", "spd", "--n", "4"],
            ):
                before = output.lstat()
                self.refused([*command, "-o", output, "--force"], name, kind)
                self.assertEqual((output.lstat().st_ino, output.lstat().st_mode), (before.st_ino, before.st_mode))
        (self.folder / "dangling.h5").symlink_to(self.folder / "nothing")
        self.refused(["merge", directory, "-o", self.folder / "dangling.h5"], "the file exists")
        self.ran(["merge", directory, "-o", self.folder / "dangling.h5", "--force"])
        self.assertTrue((self.folder / "dangling.h5").is_file() and not (self.folder / "dangling.h5").is_symlink())

    def test_notes_of_wrong_types(self):
        directory = self.sweep(self.plan(SMALL))
        journal = directory / "journal.jsonl"
        good = journal.read_bytes()
        count = good.count(b"\n")
        depth = 200_000
        for note in (
            '{"note":"run","run_id":[1]',
            '{"note":"run","total":"x"',
            '{"note":"vanished","keys":7',
            '{"note":7',
            '{"note":"device","row":3',
            '{"note":"host"',
            '{"note":"retired","rank":"one"',
            '{"note":"run","run_id":' + "[" * depth + "]" * depth,
            '{"note":"run","odd":' + '{"a":' * depth + "1" + "}" * depth,
        ):
            with self.subTest(note[:40]):
                journal.write_bytes(good + f'{note},"crc":"{zlib.crc32(note.encode()):08x}"}}\n'.encode())
                for command in (
                    ["status", directory],
                    ["summary", journal],
                    ["merge", journal, "-o", self.folder / "m.h5", "--force"],
                ):
                    done = self.ran(command)
                    self.assertIn(f"line {count + 1}: ", done.stdout + done.stderr)
                self.sweep(self.plan(SMALL), "--resume")


class Links(SweepTest):
    """Tests that links in the run directory do not redirect the program's writes."""

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
                done = self.ran(["run", self.more, "-o", self.directory, "--resume"], code=2)
                self.assertIn("not a link", done.stderr)
                self.untouched()
                (self.directory / name).unlink()
                (self.folder / "moved").rename(self.directory / name)

    def test_appended_files(self):
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

    def test_rewritten_files_replace_the_link(self):
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


class Swapped(SweepTest):
    """Tests that nothing is written through a link that replaces a folder of an active run."""

    def swapped(self, name, plan):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        directory = self.folder / "run"
        with self.started(self.plan(plan), directory, until=lambda: harness.count_of(directory) >= 2) as process:
            (directory / name).rename(self.folder / "moved")
            (directory / name).symlink_to(elsewhere)
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 3, errors)
        for word in (f"{name}/", "it is a link", " safe in", "--resume"):
            self.assertIn(word, errors)
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_matrices(self):
        self.swapped(
            "matrices",
            (
                "name: swapped\nrepeats: 1\nwarmup: 0\nsweep:\n"
                "  - {problem: gesv, method: fault_none, n: 6, seed: 1:200:1, milliseconds: 30}\n"
            ),
        )

    def test_logs(self):
        # a worker that ends is replaced by one that opens the log again
        self.swapped(
            "logs",
            (
                "name: swapped\nrepeats: 1\nwarmup: 0\nsweep:\n"
                "  - {problem: gesv, method: fault_abort, n: 6, seed: 1:40:1}\n"
            ),
        )


class Workers(SweepTest):
    def check_worker(self, pid, directory):
        """Checks a busy worker's open descriptors, limits and environment."""
        unix = pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
        named = {fields[6] for fields in map(str.split, unix) if len(fields) > 7}
        opened = {int(path.name): os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
        self.assertTrue(opened[3].startswith("socket:["), opened)
        sockets = {target[8:-1] for target in opened.values() if target.startswith("socket:[")}
        self.assertEqual(sockets & named, set(), "a socket name for others")
        self.assertEqual(opened[0], "/dev/null")
        mine = [target for target in opened.values() if str(directory) in target]
        self.assertEqual({pathlib.Path(target).parent.name for target in mine}, {"logs"}, opened)
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
        self.assertEqual([line.split()[4] for line in limits if line.startswith("Max core file size")], ["0"])
        self.assertEqual(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text().strip(), "1000")
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        self.assertNotIn(b"OMPI_COMM_WORLD_RANK", environment)

    def test_sockets_have_no_name_and_nothing_else_is_inherited(self):
        plan = self.plan(
            "name: slow\nrepeats: 1\nwarmup: 0\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 4, seed: 1:60:1, milliseconds: 1000}\n"
        )
        directory = self.folder / "run"
        with subprocess.Popen(
            harness.command(["run", plan, "-o", directory], 2, FAULTY),
            env=harness.environment(),
            stderr=subprocess.DEVNULL,
        ) as process:
            deadline = time.monotonic() + harness.HANG
            while True:  # a worker that has just started still has other descriptors open, such as its matrix file
                try:
                    workers = [pid for pid, words in killer.family(process.pid) if "worker" in words[1:2]]
                    self.assertEqual(len(workers), 2)
                    self.assertGreater(len(list((directory / "matrices").glob("*.h5"))), 2)
                    for pid in workers:
                        self.check_worker(pid, directory)
                    break
                except (AssertionError, OSError):
                    if time.monotonic() > deadline:
                        process.kill()
                        raise
                    time.sleep(0.1)
            process.terminate()
            process.wait(harness.HANG)

    def test_a_worker_without_a_parent_ends_at_once(self):
        done = run(["worker", "--parent", "1"])
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
