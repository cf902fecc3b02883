"""Tests that a method which crashes, hangs, leaks memory or returns a wrong answer costs exactly its own trial."""

import json
import os
import re
import resource
import signal
import time
import unittest

import harness
import killer
from harness import FAULTY, SweepTest

GOOD = "  - {{problem: gesv, method: fault_none, n: 8, seed: {seeds}}}\n"


def plan_with(*methods, good=10, extra=""):
    bad = ", ".join(methods)
    return (
        "name: faults\nrepeats: 1\nwarmup: 0\ntimeout: 4s\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
        f"  - {{problem: gesv, method: [{bad}], n: 6{extra}}}\n" + GOOD.format(seeds=list(range(1, good + 1)))
    )


class Isolation(SweepTest):
    def test_each_costs_its_own_trial(self):
        # Method -> status and parts of the message. If a worker ended, both are of the second attempt.
        expected = {
            "fault_none": ("pass",),
            "fault_abort": ("crashed", "Aborted", "tried 2 times", "(at samples)"),
            "fault_segfault": ("crashed", "Segmentation fault", "tried 2 times", "(at samples)"),
            "fault_exit": ("crashed", "exit status 0", "(at samples)"),
            "fault_hang": ("timeout", "4 s", "(at samples)"),
            "fault_throw": ("error", "the method threw this"),
            "fault_nan": ("failed",),
            "fault_lie": ("failed",),
            "fault_once": ("pass", "second try"),
            "fault_barrier": ("error", "divergentBarrier"),
            "fault_device_memory": ("oom",),
            "fault_endless_kernel": ("timeout",),
        }
        plan = self.plan(plan_with(*(method for method in expected if method != "fault_none")))
        mark = str(self.folder / "mark")
        # Without the time limit of 4 s the sweep would not end.
        directory = self.sweep(plan, ranks=2, program=FAULTY, code=3, GAUSSWEEP_FAULT_MARK=mark)
        records = self.records(directory)
        self.assertEqual(len(records), len(expected) - 1 + 10)
        for record in records:
            status, *words = expected[record["method"]]
            self.assertEqual(record["status"], status, record["method"])
            for word in words:
                self.assertIn(word, record["message"], record["method"])

    def test_host_memory(self):
        def limited():
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # OpenBLAS needs memory per CPU
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

        # The trial that leaks comes first. Later trials run in a new worker, whose memory is free.
        plan = self.plan(plan_with("fault_leak").replace("timeout: 4s", "timeout: 1min").replace("n: 8", "n: 4"))
        directory = self.sweep(plan, program=FAULTY, code=3, preexec_fn=limited)
        statuses = {r["method"]: r["status"] for r in self.records(directory)}
        self.assertEqual(statuses, {"fault_leak": "oom", "fault_none": "pass"})

    def test_a_memory_limit_below_openblas_s_need_is_named_with_the_needed_value(self):
        def limited(which, kib):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
            resource.setrlimit(which, (kib << 10, kib << 10))

        plan = self.plan("name: limits\nrepeats: 1\nsweep:\n  - {problem: gesv, method: lapack, n: 50}\n")
        for which, option, kib in ((resource.RLIMIT_AS, "-v", 260000), (resource.RLIMIT_DATA, "-d", 100000)):
            arguments = ["run", plan, "-o", self.folder / option[1], "--backend", "host"]
            done = harness.run(arguments, preexec_fn=lambda w=which, k=kib: limited(w, k))
            if done.returncode == 127:
                continue  # the libraries of a CUDA build alone exceed the limit
            self.assertEqual(done.returncode, 3, done.stderr)
            match = re.search(rf"ulimit {option}' is {kib} KiB.* needs (\d+) KiB", done.stderr)
            self.assertTrue(match, done.stderr)
            needed = int(match.group(1))
            done = harness.run([*arguments, "--resume"], preexec_fn=lambda w=which, k=needed: limited(w, k))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_ignores_the_signal_settings_of_its_parent(self):
        def careless():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

        # the trial that aborts is the longest and goes first
        plan = plan_with("fault_abort").replace("fault_none, n: 8", "fault_none, milliseconds: 500, n: 4")
        directory = self.folder / "run"
        with self.started(self.plan(plan), directory, preexec_fn=careless) as process:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 5, errors)
        directory = self.sweep(self.plan(plan), "--resume", program=FAULTY, code=3)
        (bad,) = [r for r in self.records(directory) if r["method"] == "fault_abort"]
        self.assertIn("Aborted", bad["message"])

    def test_closed_standard_descriptors_are_not_reused_for_files(self):
        def closed():
            os.close(1)
            os.close(2)

        directory = self.sweep(self.plan(plan_with("fault_abort")), program=FAULTY, code=3, preexec_fn=closed)
        self.assertEqual(len(self.records(directory)), 11)
        for line in (directory / "journal.jsonl").read_text().splitlines():
            self.assertTrue(line.startswith("{"), line)

    def test_retry_failed(self):
        methods = ("fault_abort", "fault_lie", "fault_nan")
        plan = self.plan(plan_with(*methods, good=2, extra=", expect: {fault_nan: failed}"))
        directory = self.sweep(plan, program=FAULTY, code=3)
        before, _ = harness.journal(directory)
        self.sweep(plan, "--retry-failed", program=FAULTY, code=3)
        after, _ = harness.journal(directory)
        again = sorted(r["method"] for r in after[len(before) :])
        self.assertEqual(again, ["fault_abort", "fault_lie"], "all unexpected ends")
        self.assertEqual(len(self.records(directory)), len(before), "no record twice")

    def test_a_resume_rereads_a_matrix_file_that_was_being_rewritten(self):
        file = self.folder / "a.mtx"
        good = "%%MatrixMarket matrix array real general\n2 2\n2.0\n0.0\n0.0\n2.0\n"
        file.write_text(good)
        plan = self.plan(
            "name: rewritten\nrepeats: 1\nwarmup: 0\nsweep:\n"
            "  - {problem: gesv, method: fault_none, n: 40, milliseconds: 2000}\n"
            "  - {problem: gesv, method: fault_good_kernel, matrix: {file: a.mtx}}\n"
        )
        for half in (good[:50], good.replace("0.0", "1.0")):
            directory = self.folder / f"run-{len(half)}"
            with self.started(plan, directory, until=(directory / "logs/worker-0.log").exists) as process:
                file.write_text(half)
                _, errors = process.communicate(timeout=harness.HANG)
            self.assertEqual(process.returncode, 3, errors)
            (record,) = [r for r in self.records(directory) if r["matrix_kind"] == "file"]
            self.assertEqual(record["status"], "error")
            self.assertIn("has changed since the plan was read; --resume tries it again", record["message"])
            file.write_text(good)
            self.sweep(plan, "--resume", program=FAULTY, output=directory.name)
            self.assertEqual({r["status"] for r in self.records(directory)}, {"pass"})
            before, _ = harness.journal(directory)
            self.sweep(plan, "--resume", program=FAULTY, output=directory.name)
            self.assertEqual(harness.journal(directory)[0], before, "finished trials are not repeated")


class Stopping(SweepTest):
    def slow_plan(self, milliseconds=300, count=20):
        return self.plan(
            "name: slow\nrepeats: 1\nwarmup: 0\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
            f"  - {{problem: gesv, method: fault_none, n: 4, seed: {list(range(1, count + 1))}, "
            f"milliseconds: {milliseconds}}}\n"
        )

    def test_a_signal_drains(self):
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
            directory = self.folder / number.name
            process = self.started(self.slow_plan(count=12), directory)
            # A batch system signals all processes; a worker continues its trial.
            for worker in killer.children(process.pid):
                os.kill(worker, number)
            process.send_signal(number)
            _, errors = process.communicate(timeout=harness.HANG)
            self.assertEqual(process.returncode, 5, errors)
            self.assertNotIn("crashed", errors)
            done = len(self.records(directory))
            self.assertGreater(done, 0)
            self.assertLess(done, 12)
        self.sweep(self.slow_plan(count=12), "--resume", program=FAULTY, output=signal.SIGTERM.name)
        self.assertEqual(len(self.records(self.folder / signal.SIGTERM.name)), 12)

    def test_grace_is_limited_and_a_second_signal_ends_at_once(self):
        plan = self.slow_plan(milliseconds=3600_000, count=3)
        plan.write_text(plan.read_text() + "  - {problem: gesv, method: fault_none, n: 4}\n")
        for how in ("grace", "second"):
            directory = self.folder / how
            grace = ("--grace", "1" if how == "grace" else "600")
            both = (directory / "logs/worker-1.log").exists
            process = self.started(plan, directory, *grace, ranks=2, until=both)
            time.sleep(2)
            process.send_signal(signal.SIGUSR1)  # mpirun forwards it
            if how == "second":
                time.sleep(0.5)
                process.send_signal(signal.SIGUSR1)
            _, errors = process.communicate(timeout=harness.HANG)  # its trial takes an hour
            self.assertEqual(process.returncode, 5, errors)

    def test_mpirun_limits_the_grace_of_its_ranks_and_keeps_its_exit_code(self):
        plan = self.slow_plan(milliseconds=60000, count=3)
        plan.write_text(plan.read_text() + "  - {problem: gesv, method: fault_none, n: 4}\n")
        directory = self.folder / "run"
        # SIGTERM after 9 s, SIGKILL after 18 s; by default 1 s and 2 s.
        mpirun_limits = {"OMPI_MCA_odls_base_sigkill_timeout": "9"}
        with self.started(plan, directory, "--grace", "600", ranks=2, changes=mpirun_limits) as process:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("mpirun kills its ranks 9 s after SIGTERM", errors)
        self.assertIn("Signal USR1", errors)
        self.assertIn("because a rank was killed; its last lines name that rank", errors)
        done = harness.run(["status", directory, "--format", "json"])
        status = json.loads(done.stdout)
        self.assertEqual((status["state"], status["exit_code"]), ("ended", 5), done.stdout)
        self.assertEqual(len(self.records(directory)), status["done"])

    def test_a_suspended_job_does_not_time_out_its_trials(self):
        plan = self.slow_plan(milliseconds=1000, count=4)
        plan.write_text(plan.read_text().replace("warmup: 0", "warmup: 0\ntimeout: 8s"))
        directory = self.folder / "run"
        process = self.started(plan, directory)
        (worker,) = killer.children(process.pid)
        for number, pause in ((signal.SIGSTOP, 10), (signal.SIGCONT, 0)):
            os.kill(process.pid, number)
            time.sleep(0.5)  # the supervisor checks its clock before the worker continues
            os.kill(worker, number)
            time.sleep(pause)
        _, errors = process.communicate(timeout=harness.HANG)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([(r["status"], r["message"]) for r in self.records(directory)], [("pass", "")] * 4)

    def test_the_time_limit(self):
        plan = self.slow_plan(milliseconds=1000, count=8)
        directory = self.sweep(plan, "--time-limit", "6s", program=FAULTY, code=5)
        self.assertGreater(len(self.records(directory)), 0)
        self.assertIn("time limit", self.stderr)
        self.sweep(plan, "--resume", program=FAULTY)
        self.assertEqual(len(self.records(directory)), 8)

    def test_a_trial_that_does_not_fit_is_not_started(self):
        # the times of the first sizes show that the rest takes longer than the limit
        self.sweep(self.slow_plan(milliseconds=10000, count=1), program=FAULTY)
        plan = self.slow_plan(milliseconds=10000, count=3)
        # the limit allows for the start on a busy machine
        directory = self.sweep(plan, "--resume", "--time-limit", "8s", program=FAULTY, code=5)
        self.assertIn("no trial that is left fits", self.stderr)
        self.assertEqual(len(self.records(directory)), 1)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
