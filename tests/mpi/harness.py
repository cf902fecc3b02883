"""Runs gaussweep as a user does, with and without mpirun, in temporary folders."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

import h5py

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GAUSSWEEP_BUILD", SOURCE / "build")).resolve()
GAUSSWEEP = BUILD / "gaussweep"
FAULTY = BUILD / "gaussweep_faulty"  # gaussweep with further methods that misbehave on purpose: fault_* and cheat_*
HANG = 600  # seconds after which a process counts as hung, on a busy machine too

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


def environment(**changes):
    """Returns the environment of a process. No GPU is visible, so that GPU methods run emulated. The variables of a
    Slurm job in which the tests run are left out, because the program would use them."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    result = {**outside, **MPI_ENVIRONMENT, "CUDA_VISIBLE_DEVICES": ""}
    result.update(changes)
    return result


def command(arguments, ranks=0, program=GAUSSWEEP):
    """Returns the argument list, with mpirun if ranks > 0."""
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 0 else []
    return launcher + [str(program)] + [str(a) for a in arguments]


def execute(words, timeout=HANG, **more):
    """Runs a command. `more`: names in capitals are environment variables, others are arguments of subprocess.run."""
    changes = {name: value for name, value in more.items() if name.isupper()}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {**streams, **{name: value for name, value in more.items() if name not in changes}}
    words = [str(word) for word in words]
    return subprocess.run(words, env=environment(**changes), text=True, errors="replace", timeout=timeout, **options)


def run(arguments, ranks=0, program=GAUSSWEEP, **more):
    return execute(command(arguments, ranks, program), **more)


def everything_from(master):
    """Returns all output of a pseudo-terminal, after its last writer closed it."""
    text = b""
    try:
        while part := os.read(master, 65536):
            text += part
    except OSError:  # the last writer has closed the terminal
        pass
    os.close(master)
    return text


def on_terminal(arguments, ranks=0, cwd=None, **changes):
    """Returns a command's output on a terminal, and its exit code."""
    master, slave = pty.openpty()
    streams = {"stdin": subprocess.DEVNULL, "stdout": slave, "stderr": slave}
    with subprocess.Popen(command(arguments, ranks), env=environment(**changes), cwd=cwd, **streams) as process:
        os.close(slave)
        return everything_from(master), process.wait(timeout=HANG)


def journal(directory):
    """Returns the journal's valid records and notes; none if there is no journal yet."""
    records, notes = [], []
    file = pathlib.Path(directory) / "journal.jsonl"
    for line in file.read_text(errors="replace").splitlines() if file.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        (notes if "note" in entry else records).append(entry)
    return records, notes


def count_of(directory):
    """Returns the number of records in the journal."""
    return len(journal(directory)[0])


class SweepTest(unittest.TestCase):
    """A test with a temporary folder, into which it writes plans."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gaussweep-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def plan(self, text, name="plan.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def ran(self, arguments, *rest, code=0, **more):
        """Runs the program, checks its exit code, and returns the result of `run`."""
        done = run(arguments, *rest, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def sweep(self, plan, *options, ranks=0, output="run", program=GAUSSWEEP, code=0, **changes):
        """Runs a plan and checks the exit code; returns the run directory."""
        directory = self.folder / output
        self.stderr = self.ran(["run", plan, "-o", directory, *options], ranks, program, code=code, **changes).stderr
        return directory

    def started(self, plan, directory, *options, ranks=0, until=None, changes=None, **popen):
        """Starts a sweep with FAULTY. Returns its process as soon as `until()` is true, by default as soon as the
        journal has a record. `changes`: environment variables."""
        process = subprocess.Popen(
            command(["run", plan, "-o", directory, *options], ranks, FAULTY),
            env=environment(**(changes or {})),
            **{"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, **popen},
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        deadline = time.monotonic() + HANG
        while not (until() if until else count_of(directory)):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def records(self, path):
        """Returns the records of a run directory or results file as dictionaries."""
        with h5py.File(path / "results.h5" if path.is_dir() else path, "r") as file:
            table = file["records"][:]
        names = table.dtype.names
        return [
            {name: row[name].decode() if isinstance(row[name], bytes) else row[name].item() for name in names}
            for row in table
        ]
