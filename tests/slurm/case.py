"""The base class of the Slurm tests: one cluster per test file, plans, environment files, and calls of the scripts."""

import pathlib
import shutil
import sys
import tempfile
import time
import unittest

import cluster

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
import harness  # noqa: E402
from harness import FAULTY, SOURCE  # noqa: E402

JOBS = SOURCE / "jobs/slurm"

# The columns in which two sweeps of the same plan must agree. Columns of time, place and speed may differ.
REPRODUCIBLE_COLUMNS = (
    "key problem method backend precision n parameters matrix_digest status info samples residual_ratio "
    "backward_error forward_error reference_difference tolerance"
).split()


class SlurmTest(harness.SweepTest):
    journal = staticmethod(harness.journal)

    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster()
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-", dir=self.cluster.folder))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.show_logs)
        self.site = self.environment_file("site")

    def environment_file(self, name, *lines):
        path = self.folder / f"{name}.sh"
        path.write_text("\n".join([f"GAUSSWEEP={FAULTY}", "export OMPI_MCA_btl=tcp,self", *lines]) + "\n")
        return path

    def show_logs(self):
        """Prints the jobs' output if a test failed."""
        outcome = getattr(self._outcome, "result", None)
        broken = [text for case, text in [*outcome.failures, *outcome.errors] if case is self] if outcome else []
        if broken or sys.exc_info()[0]:
            for log in sorted(self.folder.rglob("slurm-*.out")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}", file=sys.stderr)

    def plan(self, count=20, milliseconds=200, name="plan.yaml"):
        """Writes a plan with slow trials of one length, and a few of real methods."""
        seeds = ", ".join(map(str, range(1, count + 1)))
        path = self.folder / name
        path.write_text(
            "name: slow\nrepeats: 1\nwarmup: 0\nmatrix: {kind: diagonally_dominant, seed: 5}\nsweep:\n"
            f"  - {{problem: gesv, method: fault_none, n: 4, seed: [{seeds}], milliseconds: {milliseconds}}}\n"
            "  - {problem: gesv, method: [gauss_block, lapack], n: [4, 9]}\n"
        )
        return path

    def script(self, name, *arguments, code=0, cwd="/", **variables):
        """Calls a script of jobs/slurm from an unrelated folder; returns its standard output."""
        done = self.cluster.run(JOBS / name, *arguments, cwd=cwd, env=self.cluster.environment(**variables))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.stderr = done.stderr
        return done.stdout

    def submit(self, name, *arguments, **variables):
        """Submits with a script and returns the job's number."""
        return self.script(
            name, "--backend", "emulated", "--env", self.site, "--parsable", *arguments, **variables
        ).strip()

    def gaussweep(self, *arguments, code=0):
        done = self.cluster.run(FAULTY, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def undisturbed(self, plan):
        """Returns the run directory of the same plan without Slurm."""
        directory = self.folder / "undisturbed"
        done = self.cluster.run(
            "bash",
            "-c",
            (
                f"source {SOURCE}/jobs/mpi_environment.sh && mpirun -n 4 {FAULTY} run {plan} -o {directory} --backend"
                " emulated"
            ),
            timeout=120,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return directory

    def assert_same_records(self, one, other):
        def decided(path):
            return {r["key"]: {name: repr(r[name]) for name in REPRODUCIBLE_COLUMNS} for r in self.records(path)}

        self.assertEqual(len(self.records(one)), len(self.records(other)))
        self.assertEqual(decided(one), decided(other))

    def wait_for_records(self, directory, count, seconds=120):
        self.cluster.wait_for(
            lambda: len(self.journal(directory)[0]) >= count, seconds, f"{count} records in {directory}"
        )

    def output_of(self, directory):
        return "".join(p.read_text() for p in sorted(pathlib.Path(directory).glob("logs/slurm-*.out")))


def main():
    cluster.skip_or_fail()
    start = time.monotonic()
    try:
        unittest.main(verbosity=2)
    finally:
        print(f"took {time.monotonic() - start:.0f} s", file=sys.stderr)
