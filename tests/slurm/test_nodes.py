"""Tests that a sweep whose nodes go down is requeued and completes, and that nothing is lost."""

import os
import pathlib
import signal

import case
import cluster


class NodeDown(case.SlurmTest):
    def down(self, node):
        self.cluster.output("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        self.addCleanup(self.up, node)

    def up(self, node):
        if "DOWN" in self.cluster.output("scontrol", "show", "node", node):
            self.cluster.output("scontrol", "update", f"nodename={node}", "state=resume")

    def check_complete(self, directory, plan, before):
        records, _ = self.journal(directory)
        self.assertEqual(records[: len(before)], before, "a record was lost")
        self.assertEqual(len({r["key"] for r in records}), len(records), "a trial was repeated")
        self.assert_same_records(directory, self.undisturbed(plan))

    def test_the_only_node_goes_down(self):
        plan, directory = self.plan(count=50, milliseconds=200), self.folder / "run"
        job = self.submit("sweep.sbatch", plan, "-o", directory)
        self.wait_for_records(directory, 4)
        before, _ = self.journal(directory)
        node = self.cluster.job(job)["NodeList"]
        self.down(node)
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.assertEqual({r["node"] for r in self.records(directory)}, {"n1", "n2"})
        self.check_complete(directory, plan, before)

    def test_one_of_two_nodes_goes_down(self):
        plan, directory = self.plan(count=50, milliseconds=200), self.folder / "run"
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--nodes", 2, "--ranks-per-node", 2)
        self.wait_for_records(directory, 4)
        before, _ = self.journal(directory)
        self.down("n2")
        self.cluster.wait_for(lambda: self.cluster.job(job)["JobState"] == "PENDING", 120, "the job waits for its node")
        self.up("n2")
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.check_complete(directory, plan, before)

    def ranks(self):
        """Returns the processes of the ranks, without their workers."""
        for process in cluster.job_processes(self.cluster.configuration):
            try:
                words = pathlib.Path(f"/proc/{process}/cmdline").read_text().split("\0")
            except OSError:
                continue
            if words[:2] == [str(case.FAULTY), "run"]:
                yield process

    def test_a_rank_is_killed(self):
        plan, directory = self.plan(count=80, milliseconds=200), self.folder / "run"
        job = self.submit("sweep.sbatch", plan, "-o", directory, "--ranks-per-node", 2)
        self.wait_for_records(directory, 2)
        before, _ = self.journal(directory)
        ranks = list(self.ranks())
        self.assertEqual(len(ranks), 2)
        os.kill(max(ranks), signal.SIGKILL)
        self.assertEqual(self.cluster.wait_for_end(job), 0)
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.assertIn("killed by signal 9", self.output_of(directory))
        self.check_complete(directory, plan, before)

    def test_a_launcher_that_loses_its_ranks(self):
        """If a node fails, mpirun ends with 205, or with 0 although the sweep is not complete."""
        plan, jobs = self.plan(count=20, milliseconds=200), {}
        for code in (205, 0):
            directory = self.folder / str(code)
            self.site = self.environment_file(
                f"loses-{code}",
                "gaussweep_launch() {",
                "  shift",
                '  ((${SLURM_RESTART_COUNT:-0} == 0)) || exec "$@"',
                '  "$@" &',
                f"  until grep -qs residual_ratio {directory}/journal.jsonl; do sleep 0.1; done",
                "  kill -KILL $!",
                f"  return {code}",
                "}",
            )
            jobs[code] = self.submit("sweep.sbatch", plan, "-o", directory, "--ranks-per-node", 1)
        for code, job in jobs.items():
            self.assertEqual(self.cluster.wait_for_end(job), 0)
            self.assertEqual(self.cluster.job(job)["Restarts"], "1")
            output = self.output_of(self.folder / str(code))
            self.assertIn(f"the launcher ended with exit code {code}", output)
            self.assertEqual(output.count("lost its daemon"), 1 if code == 205 else 0)
            self.assertNotIn("killed by signal", output)
            self.assertEqual(len(self.records(self.folder / str(code))), 24)


if __name__ == "__main__":
    case.main()
