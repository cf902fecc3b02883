#!/usr/bin/env python3
"""What tests/gpu/bars.py counts, in journals made here; and tests/gpu_bars.sh from one end to the other, emulated."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zlib
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bars  # noqa: E402
import png_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GAUSSWEEP_BUILD", ROOT / "build"))


def record(key, seconds, **others):
    """A trial on a GPU: a tenth of a second each in waiting, timing, checking."""
    return {
        "key": key,
        "problem": "gesv",
        "method": "cusolver",
        "backend": "cuda",
        "precision": "double",
        "n": 1024,
        "nrhs": 1,
        "uplo": "lower",
        "parameters": "{}",
        "matrix": "uniform",
        "matrix_kind": "uniform",
        "matrix_parameters": "{}",
        "status": "pass",
        "seconds_median": seconds,
        "launch_bound": 0,
        "replay_median": None,
        "stages": [],
        "wait_began": 100.0,
        "timed_began": 100.1,
        "verify_began": 100.2,
        "end_time": "1970-01-01T00:01:40.300000Z",
        **others,
    }


class Bars(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        (self.out / "runs.tsv").touch()

    def run_of(self, name, step, entries, gpus=1, place="alone", code=0, seconds=0.2):
        folder = self.out / "runs" / name
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").write_text("".join(json.dumps(e) + "\n" for e in entries))
        with (self.out / "runs.tsv").open("a") as lines:
            print(name, step, gpus, place, code, seconds, sep="\t", file=lines)

    def of(self, issue, start, verdicts=None):
        """The one bar that begins so; the runs compared say `verdicts`."""
        with mock.patch.object(bars, "compared", return_value=verdicts):
            found = [b for b in bars.bars("gaussweep", self.out) if b.issue == issue and b.wanted.startswith(start)]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_nothing_was_run(self):
        for bar in bars.bars("gaussweep", self.out):
            self.assertIsNone(bar.met, bar)

    def test_wall_over_measuring_is_the_median_of_three(self):
        for i, seconds in enumerate((0.2, 0.12, 0.9)):
            self.run_of(f"night1-{i}", "night1", [record("a", 0.1), {"note": "end"}], seconds=seconds)
            bar = self.of(15, "night.yaml on 1 GPU")
            self.assertEqual(bar.met, None if i < 2 else False)
        self.assertIn("1.20", bar.seen)
        self.assertIn("median 2.00", bar.seen)

    def test_a_run_that_broke_off_is_no_run(self):
        for i in range(3):
            self.run_of(f"big-{i}", "big", [record("a", 0.1)], seconds=0.1, code=5)
        self.assertIsNone(self.of(15, "big.yaml").met)

    def test_the_last_record_of_a_trial_counts(self):
        self.run_of("order-1", "order", [record("a", 1, status="crashed"), record("a", 1, residual_ratio=0.5)])
        self.assertIs(self.of(15, "order").met, True)

    def test_speed_up_leaves_out_what_ran_beside_others(self):
        self.run_of("night1-1", "night1", [record("a", 0.1)], seconds=80)
        self.run_of("night1-2", "night1", [record("a", 0.1)], seconds=1, place="beside")
        self.run_of("night4-1", "night4", [record("a", 0.1)], gpus=4, seconds=20)
        self.assertIs(self.of(15, "night: wall").met, True)
        self.run_of("night4-2", "night4", [record("a", 0.1)], gpus=4, seconds=30)
        self.assertIs(self.of(15, "night: wall").met, False)

    def test_headlines_and_known_parts_are_counted_apart(self):
        ones = [record(str(i), 0.01) for i in range(100)] + [record("short", 0.0009)]
        ones.append(record("host", 0.01, launch_bound=-1))
        manies = [record(str(i), 0.0102) for i in range(100)] + [record("short", 0.1)]
        manies.append(record("host", 0.02, launch_bound=-1))
        # The host holds it up, and what the GPU needs is the same.
        ones.append(record("replayed", 0.01, launch_bound=1, replay_median=0.005))
        manies.append(record("replayed", 0.02, launch_bound=1, replay_median=0.005))
        self.run_of("night1-1", "night1", ones)
        self.run_of("night4-1", "night4", manies, gpus=4)
        counts = bars.agreement(
            bars.journal(self.out / "runs/night1-1")[0], bars.journal(self.out / "runs/night4-1")[0]
        )
        self.assertEqual(counts, dict(trials=102, headlines=100, known=101, known_near=101))
        wanted = "night.yaml, 1 GPU against several: trials on a GPU above 1 ms within 3 %, 99 % of them: "
        self.assertIs(self.of(16, wanted + "headlines").met, False)
        self.assertIs(self.of(16, wanted + "known GPU parts").met, True)

    def test_small_trials_a_second_by_the_clock(self):
        self.run_of("small-1", "small", [record(str(i), 1e-3) for i in range(300)], gpus=4, seconds=0.25)
        bar = self.of(15, "small trials")
        self.assertFalse(bar.met)
        self.assertIn("1200 a second (1000 from the first to the last)", bar.seen)

    def test_five_quiet_runs_are_ten_pairs(self):
        for i in range(5):
            self.run_of(f"noise-{i}", "noise", [record("a", 0.1)])
        same = collections.Counter({"SAME": 30, "UNCLEAR": 4, "HOST-BOUND": 14})
        self.assertIs(self.of(16, "noise.yaml", (same, 0)).met, True)
        self.assertIn("5 runs, 10 pairs", self.of(16, "noise.yaml", (same, 0)).seen)
        self.assertIs(self.of(16, "noise.yaml", (same, 4)).met, False)
        self.assertIs(self.of(16, "noise.yaml", (same + collections.Counter(UNCLEAR=2), 0)).met, False)
        self.assertIs(self.of(16, "noise.yaml", (same + collections.Counter(FASTER=1), 0)).met, False)

    def test_the_vendor_at_its_better_triangle_and_the_stage_getrs(self):
        stages = [{"kernel": "getrf", "seconds": 1.0}, {"kernel": "getrs", "seconds": 0.01}]
        slow = [{"kernel": "getrs", "seconds": 0.05}]
        entries = []
        for n in (1024, 32768):
            trsv = {"problem": "trsv", "matrix_kind": "triangular", "n": n}
            entries += [
                record(f"{n}l", 0.04, method="cublas", **trsv),
                record(f"{n}u", 0.03, method="cublas", **{**trsv, "uplo": "upper"}),
                record(f"{n}o", 0.01, method="inverted_blocks", **trsv),
                record(f"{n}r", 1.0, method="recursive", stages=stages, n=n),
                record(f"{n}c", 3.0, stages=slow, n=n),
            ]
        self.run_of("vendor_double-1", "vendor_double", entries[:5], place="beside")
        self.assertIsNone(self.of(18, "trsv/inverted_blocks over cublas, double").met)  # without the largest
        self.run_of("vendor_double-2", "vendor_double", entries, place="beside")
        bar = self.of(18, "trsv/inverted_blocks over cublas, double")
        self.assertTrue(bar.met)
        self.assertEqual(bar.seen, "1024: 3.00 32768: 3.00; mean 3.00")
        self.assertIn("mean 5.00", self.of(18, "gesv/recursive over cusolver, stage getrs, double").seen)

    def test_lu_is_measured_by_products_of_its_order_in_its_run(self):
        lu = record("l", 0.5, problem="getrf", method="recursive", n=32768, flops=23e12)
        short = record("s", 0.1, problem="gemm", method="cublas", n=8192, flops=1.1e12)
        self.run_of("vendor_double-1", "vendor_double", [lu, short])
        self.assertIsNone(self.of(18, "getrf/recursive at 32768").met)
        product = record("p", 1.2, problem="gemm", method="cublas", n=32768, nrhs=None, flops=70.2e12)
        self.run_of("vendor_double-2", "vendor_double", [lu, product])
        bar = self.of(18, "getrf/recursive at 32768")
        self.assertIs(bar.met, True)
        self.assertIn("79 % (46.0 of 58.5 TFLOP/s", bar.seen)
        product = record("p", 1.0, problem="gemm", method="cublas", n=32768, flops=70.2e12)
        self.run_of("vendor_double-3", "vendor_double", [product])
        self.assertIs(self.of(18, "getrf/recursive at 32768").met, False)

    def test_ratios_are_compared_on_the_same_operands(self):
        entries = [record("v", 1.0, residual_ratio=0.02), record("o", 1.0, method="recursive", residual_ratio=0.05)]
        self.run_of("vendor_double-1", "vendor_double", entries)
        bar = self.of(18, "ratios as judged")
        self.assertIs(bar.met, True)
        self.assertIn("1 pairs, at most 2.50: gesv/recursive double 1024 uniform", bar.seen)
        other = {"n": 2048, "residual_ratio": 0.1, "method": "recursive"}
        entries += [
            record("p", 1.0, **other),
            record("w", 1.0, **{**other, "method": "cusolver", "residual_ratio": 0.03}),
        ]
        self.run_of("vendor_float-1", "vendor_float", entries)
        self.assertIs(self.of(18, "ratios as judged").met, False)

    def test_what_ctest_said(self):
        lines = [
            "  1/343 Test   #9: MatrixOnGpu.SingularIsAResult<float> ......   Passed    2.28 sec",
            "  2/343 Test  #32: All/JudgeOnGpu.SaysWhatTheCpuSays/gemm_float_100 ..   Passed    2.2 sec",
            "  3/343 Test  #90: All/RecursiveLuSizes.FactorsAreTheVendors/16500 ..***Failed    9.0 sec",
            "Total Test time (real) = 193.80 sec",
        ]
        (self.out / "suite.log").write_text("\n".join(lines))
        self.assertIn("3 tests in 194 s: 1 failed", self.of(13, "ctest").seen)
        self.assertIs(self.of(13, "ctest").met, False)
        self.assertIs(self.of(15, "wrong answers").met, True)
        self.assertIs(self.of(18, "getrf/recursive at 1300").met, False)
        (self.out / "suite.log").write_text("\n".join(lines[:2]))
        self.assertIsNone(self.of(13, "ctest").met)  # nothing failed, and not all was run


@unittest.skipUnless((BUILD / "gaussweep").exists(), f"no {BUILD}/gaussweep")
class Script(unittest.TestCase):
    PLAN = "repeats: 5\nsweep: [{problem: gemm, method: [global, openblas], n: 64, matrix: {kind: uniform}}]\n"

    def run_script(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out"
        for name in ("night", "big", "noise"):
            (pathlib.Path(folder.name) / f"{name}.yaml").write_text(self.PLAN)
        command = [ROOT / "tests/gpu_bars.sh", BUILD, folder.name, self.out, "--backend", "emulated", "--gpus", "2"]
        return subprocess.run([*command, *options], capture_output=True, text=True, check=False)

    def test_steps_run_and_the_rest_is_said_to_be_left(self):
        # 130 s: what takes 120 never fits, and what takes 85 does for the first 30
        done = self.run_script("--steps", "night1,busy:1,night4:2,paper_figure_6_5,thousand1", "--seconds", "130")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("night1-1: exit code 0", done.stdout)
        self.assertRegex(done.stdout, r"thousand1:1: left out, \d+ s are left and it takes about 120")
        self.assertTrue(done.stdout.endswith("Left for another time: --steps thousand1:1\n"), done.stdout)
        self.assertIn("17  yes       figure_6_5 runs to its end", (self.out / "bars.txt").read_text())
        self.assertTrue((self.out / "runs/night4-2/journal.jsonl.gz").exists())
        self.assertFalse(list(self.out.glob("runs/*/matrices")))

    def test_every_step_of_the_papers_finds_its_plan_as_it_changes_it(self):
        listed = subprocess.run(
            [ROOT / "tests/gpu_bars.sh", "--steps", "list"], capture_output=True, text=True, check=True
        )
        steps = [line.split()[0] for line in listed.stdout.splitlines() if line.startswith("paper_")]
        steps = [step for step in steps if not step.startswith("paper_restore_")]  # no plans
        self.assertGreater(len(steps), 10)
        with tempfile.TemporaryDirectory() as folder:
            for step in steps:
                with self.subTest(step):
                    plan = f"{folder}/{step}.yaml"
                    made = f". tests/gpu/papers_left.sh && paper_plan {step} {plan}"
                    done = subprocess.run(["bash", "-c", made], cwd=ROOT, capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    command = [BUILD / "gaussweep", "plan", plan, "--backend", "cuda"]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_unknown_step_is_an_error(self):
        done = self.run_script("--steps", "nigth1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'nigth1' is no step", done.stderr)


class Png(unittest.TestCase):
    def test_the_upper_left_square(self):
        image = png_of.png(b"P5\n3 2\n255\n" + b"\nbcdef", 2)
        at = image.index(b"IDAT")
        size = int.from_bytes(image[at - 4 : at], "big")
        self.assertEqual(zlib.decompress(image[at + 4 : at + 4 + size]), b"\0\nb\0de")
        self.assertEqual(image[16:26], b"\0\0\0\2\0\0\0\2\x08\0")
        with self.assertRaises(ValueError):
            png_of.png(b"P5\n3 2\n255\nabcde", 2)


if __name__ == "__main__":
    unittest.main()
