"""Tests `summary --best --by gpu`, which shows the fastest method per task, on terminals and for programs."""

import json
import math
import re
import sys
import unittest

from harness import SOURCE, SweepTest, on_terminal, run

sys.path[:0] = [str(SOURCE), str(SOURCE / "tests" / "analysis")]
import fixture  # noqa: E402
from analysis.identity import CONDITIONS  # noqa: E402
from analysis.loader import load  # noqa: E402
from analysis.verdict import grids  # noqa: E402

PLAN = """
name: race
repeats: 3
sweep:
  - {problem: gesv, method: [gauss_serial, lapack], n: [16, 64], matrix: {kind: diagonally_dominant}}
"""


class Verdict(SweepTest):
    def test_the_grid_is_coloured_on_a_terminal_only(self):
        directory = self.sweep(self.plan(PLAN))
        grid = ["summary", directory, "--best", "--by", "gpu"]
        plain = run(grid)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("gesv double", plain.stdout)
        self.assertIn("4 records: 4 pass", plain.stdout)
        self.assertNotIn("\033", plain.stdout)
        self.assertIn(b"\033[1;32m", on_terminal(grid, TERM="xterm", NO_COLOR="")[0])
        for quiet in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
            shown, _ = on_terminal(grid, **quiet, COLUMNS="120")
            # On a busy machine a note on standard error, which is the terminal too, comes first.
            shown = re.sub(r"\A(note: .*\n)*", "", shown.decode().replace("\r\n", "\n"))
            self.assertEqual(shown, run(grid, COLUMNS="120").stdout)
        narrow = run(grid, COLUMNS="40").stdout
        self.assertEqual(narrow.count("gesv double"), 2, "one block per size")
        self.assertLess(plain.stdout.count("gesv double"), 2)

    def test_json_has_every_race(self):
        directory = self.sweep(self.plan(PLAN))
        done = run(["summary", directory, "--best", "--by", "gpu", "--format", "json"])
        for baseline, cause in (("lapack", "the filters leave it out"), ("absent", "no record is of that method")):
            grid = ["summary", directory, "--best", "--by", "gpu", "--method", "gauss_serial", "--baseline", baseline]
            self.assertIn(cause, self.ran(grid, code=2).stderr)
        races = json.loads(done.stdout)["races"]
        self.assertEqual([race["n"] for race in races], [16, 64])
        records = self.records(directory)
        for race in races:
            times = {r["method"]: r["seconds_median"] for r in records if r["n"] == race["n"]}
            winner = min(times, key=times.get)
            self.assertEqual(race["winner"], winner)
            self.assertEqual(race["median"], times[winner])
            self.assertEqual(race["lead"], max(times.values()) / min(times.values()))
            self.assertEqual(race["methods"], 2)
            self.assertEqual(race["share"], race["limit"] / race["median"])
            conditions = list(race)[list(race).index("speedup") + 1 :]
            self.assertEqual({name: race[name] for name in conditions}, CONDITIONS, "the list of analysis/identity.py")

    def test_the_report_has_the_same_grid(self):
        night = fixture.Night()
        night.hosts.append({"host": "node2", "cpu": "Another CPU", "os": "Linux", "cores": 4, "memory_bytes": 1 << 33})
        for gpu in fixture.GPUS:
            for n in (256, 512):
                night.trial("gesv", "cusolver", n, 1e-3 * n, gpu=gpu)
                night.trial("gesv", "gauss_block", n, 4e-3 * n, gpu=gpu, parameters={"threads": 64})
                night.trial("gesv", "gauss_block", n, 2e-3 * n, gpu=gpu, parameters={"threads": 128})
                night.trial("trsv", "cublas", n, 1e-6 * n, gpu=gpu, precision="float", nrhs=3, uplo="upper")
            night.trial("gesv", "gauss_jordan", 512, 1e-6, gpu=gpu, status="failed")
            night.trial("potrf", "cusolver", 512, 1e-3, gpu=gpu, status="skipped")
            night.trial("geinv", "cusolver", 512, 1e-3, gpu=gpu, status="crashed")
        night.trial("gesv", "lapack", 256, 0.256, matrix="uniform")  # a tie with the CPU
        night.trial("gesv", "lapack", 128, 1e-3, host="node2")
        # Three rounds of two methods: a tie only by the lowest and the highest quartile of all rounds.
        for i, seconds in enumerate((1e-3, 4e-3, 2e-3)):
            for method, times in (("lapack", 1), ("gauss_serial", 1.5)):
                key = f"{method}-{i}"
                night.trial("gesv", method, 96, times * seconds, host="node2", key=key, round=i + 1)
        # With cold caches another method is the fastest. Warm and cold trials do not compete.
        for method, times in (("lapack", 3), ("gauss_serial", 0.5)):
            more = dict(cache="cold", host_memory="pageable", key=f"cold {method}")
            night.trial("gesv", method, 96, times * 1e-3, host="node2", **more)
        night.trial("gemm", "shared", 64, 1e-2, backend="emulated", host="node2")
        # Emulated times are not compared with lapack's.
        night.trial("gesv", "gauss_block", 128, 1e-4, backend="emulated", host="node2")
        # Pooled times of several numbers of threads, each with its own peaks.
        for threads, host in ((1, "node3"), (4, "node3 (4 threads)")):
            night.hosts.append(dict(night.hosts[1], host=host, cpu="Third CPU", blas_threads=threads))
            rates = dict.fromkeys(["copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"], threads * 1e9)
            night.devices.append(dict(gpu_uuid="", gpu_name="Third CPU", host=host, capability=0, **rates))
            night.trial("gemm", "openblas", 64, 1e-3 / threads, host=host, key=f"{threads} threads")
            # A tie only because the two hosts' times differ.
            night.trial("gemm", "serial", 64, 1.6e-3 / threads, host=host, key=f"serial, {threads} threads")
        path = night.write(self.folder / "results.h5")
        done = self.ran(["summary", path, "--best", "--by", "gpu", "--format", "json"])
        self.assertIn("note: CPU methods ran with 1 and 4 threads per rank", done.stderr)
        # No shown row pools numbers of threads.
        self.assertNotIn("threads per rank", self.ran(["summary", path, "--problem", "gesv"]).stderr)
        printed = {}  # (device, problem, …) -> the races in their order: with warm caches first
        for race in json.loads(done.stdout)["races"]:
            task = (race["device"], race["problem"], race["precision"], race["n"], race["nrhs"], race["uplo"])
            printed.setdefault(task, []).append(race)
        self.assertEqual(len(printed["Another CPU", "gesv", "double", 96, 1, ""]), 2)
        self.assertEqual(sum(len(several) > 1 for several in printed.values()), 1)
        count = sum(map(len, printed.values()))
        seen = 0
        for device, _, _, races, _ in grids(load([path])):
            for race in races.to_dict("records"):
                seen += 1
                task = (device, race["problem"], race["precision"], race["n"], race["nrhs"], race["uplo"])
                other = printed[task].pop(0)
                for name in ("winner", "backend", "parameters", "runner_up", "runner_up_backend", "bound", "methods"):
                    self.assertEqual(race[name] or None, other[name] or None, (name, race, other))
                for name in ("median", "runner_up_median", "lead", "limit", "share"):
                    expected = None if math.isnan(race[name]) else race[name]
                    if other[name] is None or expected is None:
                        self.assertEqual(expected, other[name], (name, race))
                    else:
                        self.assertAlmostEqual(expected / other[name], 1, 12, name)
                self.assertEqual(race["tie"], bool(other["tie"]))
        self.assertEqual(seen, count)
        self.assertGreater(seen, 10)
        races = json.loads(done.stdout)["races"]
        self.assertEqual([race["tie"] for race in races if race["device"] == "Third CPU"], [1])

    def test_peaks_of_other_runs_count_too(self):
        nights = []
        for number in (1, 2):
            night = fixture.Night()
            rates = dict.fromkeys(["copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"], number * 1e9)
            night.devices.append(dict(gpu_uuid="", gpu_name="Test CPU", host="node1", capability=0, **rates))
            night.trial("gemm", "openblas", 64, 1e-3, run_id=f"run-{number}")
            nights.append(night.write(self.folder / f"{number}.h5"))

        def share(*words):
            races = json.loads(self.ran(["summary", *words, "--best", "--by", "gpu", "--format", "json"]).stdout)[
                "races"
            ]
            return races[0]["share"]

        self.assertAlmostEqual(share(nights[0], "--peaks", nights[1]) / share(nights[0]), 0.5)

    def test_refuses_contradicting_options(self):
        directory = self.sweep(self.plan(PLAN))
        for words, message in (
            (["--by", "gpu"], "--by gpu: is for --best only"),
            (["--best", "--by", "gpus"], "--by: 'gpus'"),
            (["--best", "--by", "gpu", "--sort", "n"], "--sort: not with --by gpu"),
            (["--best", "--by", "gpu", "--gpu", "*H200*"], "--gpu *H200*: no record names a GPU; --backend chooses"),
        ):
            done = run(["summary", directory, *words])
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
