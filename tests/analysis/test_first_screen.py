"""Tests that the report's first screen (overview, changes, grid of the fastest methods) agrees with the records."""

import csv
import io
import math
import os
import subprocess
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import fixture
import h5py
from numpy.lib.recfunctions import repack_fields
from pages import report, page_of

from analysis import comparison
from analysis.cli import main
from analysis.loader import TOO_FAST, load
from analysis.sections import glance
from analysis.sections.changes import changes

GPU = "NVIDIA Test 100"
SOURCE = Path(__file__).resolve().parents[2]


class FirstScreenTest(unittest.TestCase):
    def test_a_run_without_problems(self):
        night = fixture.Night()
        night.attributes["total"] = "2"
        night.trial("gesv", "lapack", 64, 1e-3)
        night.trial("gesv", "gauss_serial", 64, 3e-3)
        words = page_of(night).words("overview")
        self.assertIn("No trial crashed, timed out", words)
        for warning in (
            "Not complete",
            "did not pass:",
            "throttling",
            "differ from run to run",
            "versions of the program",
            "Compared with the papers",
        ):
            self.assertNotIn(warning, words)

    def test_lists_missing_broken_and_wrong_trials(self):
        night = fixture.Night("sweep")
        night.attributes["total"] = "9"
        night.trial("gesv", "gauss_block", 64, 1e-3, status="failed", residual_ratio=1e5, gpu=GPU)
        night.trial("gesv", "gauss_block", 64, 1e-3, status="suspect", residual_ratio=50.0, gpu=GPU, matrix="hilbert")
        for n in (64, 128):
            night.trial("gesv", "cusolver", n, None, status="timeout", gpu=GPU)
        night.trial("gesv", "crout", 64, 1e-3, gpu=GPU, matrix="hilbert", forward_error=9.0)
        night.trial("gesv", "crout", 64, 1e-3, gpu=GPU, expected=0)
        page = page_of(night)
        words = page.words("overview")
        for sentence, anchor in (
            ("did not finish", "unfinished"),
            ("did not pass", "wrong"),
            ("although the plan expects", "passed"),
            ("no correct digit", "doubted"),
        ):
            self.assertRegex(page.text, rf'<li>[^<]*{sentence}[^<]*<a href="#failures-{anchor}">')
            self.assertIn(f'id="failures-{anchor}"', page.text)
        self.assertEqual([row["method"] for row in page.rows("failures-passed")], ["crout"])
        self.assertIn("Not complete: sweep (6 of 9 trials)", words)
        self.assertIn("2 trials did not finish: gesv/cusolver timeout (2).", words)
        night.attributes.update(merged_from="[]", without_records='["shard 3 of 4"]')
        self.assertIn(
            "Not complete: sweep (6 of 9 trials, no records from shard 3 of 4)", page_of(night).words("overview")
        )
        self.assertIn("2 answers did not pass: gesv/gauss_block on hilbert, uniform.", words)

    def test_names_absent_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            sweep, files = Path(folder) / "sweep", []
            for shard in (1, 2, 4):
                night = fixture.Night("nightly")
                night.attributes.update(shard=f"{shard}/4", total="2", plan_trials="9")
                for n in (64, 128):
                    night.trial("gesv", "lapack", n + shard, 1e-3, run_id=f"run-{shard}")
                directory = sweep / f"shard-{shard}-of-4"
                directory.mkdir(parents=True)
                (directory / "journal.jsonl").touch()
                files.append(night.write(directory / "results.h5"))
            ((words, _),) = glance._missing(load(files[:3]))
            self.assertIn("sweep (6 of 9 trials, no results from shard 3 of 4)", words)
            self.assertEqual(list(glance._missing(load(files[:1]))), [])
            (sweep / "results.h5").write_bytes(files[0].read_bytes())  # merged before the last shards ran
            self.assertEqual(load([sweep]).count, 6)

    def test_a_failure_names_the_parameters_that_vary(self):
        night = fixture.Night()
        for blocks, status, matrix in ((1, "pass", "uniform"), (4, "failed", "uniform"), (8, "failed", "hilbert")):
            more = {"parameters": {"blocks": blocks, "threads": 0}, "matrix": matrix, "key": str(blocks)}
            night.trial("gesv", "cyclic", 64, 1e-3, status=status, **more)
        page = page_of(night)
        words = "2 answers did not pass: gesv/cyclic on hilbert (blocks=8), uniform (blocks=4)."
        self.assertIn(words, page.words("overview"))
        self.assertEqual({row["parameters"] for row in page.rows("findings")}, {"blocks=4", "blocks=8"})

    def test_answers_that_passed_without_a_correct_digit(self):
        night = fixture.Night()
        night.trial("gesv", "lapack", 64, 1e-3, matrix="hilbert", forward_error=16.0)
        night.trial("gesv", "lapack", 64, 1e-3, forward_error=0.01)
        page = page_of(night)
        self.assertIn("1 passed answer has no correct digit: gesv/lapack on hilbert (1).", page.words("overview"))
        self.assertEqual([row["matrix"] for row in page.rows("failures-doubted")], ["hilbert"])

    def test_emulated_kernels_have_no_fraction_of_a_peak(self):
        night = fixture.Night()
        more = {"forward_error": 16.0, "peak_share": 0.01}
        night.trial("gesv", "gauss_block", 64, 1e-3, backend="emulated", **more)
        night.trial("gesv", "cusolver", 64, 1e-3, gpu=GPU, **more)
        night.trial("trsv", "levels", 64, 1e-3, backend="emulated", **more)
        page = page_of(night)
        for table, problem in (("failures-doubted", "gesv"), ("ranking", "trsv")):
            shares = {row.get("method") or row["fastest"]: row["fraction of peak"] for row in page.rows(table)}
            self.assertEqual(shares["gauss_block" if problem == "gesv" else "levels"], "–", table)
            self.assertEqual(shares["cusolver"], 0.01, table)

    def test_peaks_that_the_vendor_exceeds_were_measured_too_low(self):
        for vendor in (1.2, 1.94):
            night = fixture.Night()
            more = {"gpu": GPU, "reference_method": "cusolver"}
            night.trial("gesv", "gauss_block", 64, 1e-3, timing="suspect", peak_share=1.57, **more)
            night.trial("gesv", "cusolver", 64, 1e-3, peak_share=vendor, **more)
            page = page_of(night)
            words = page.words("failures")
            self.assertEqual("reach 1.94 times the peaks: the peaks were measured too low" in words, vendor > 1.5)
            self.assertIn("faster than the device's peaks allow: gesv/gauss_block (1)", page.words("overview"))
        night = fixture.Night()
        night.trial("gesv", "gauss_block", 64, 1e-3, timing="suspect", peak_share=24.5, **more)
        night.trial("gesv", "cusolver", 64, 1e-3, peak_share=1.94, **more)
        words = page_of(night).words("failures")
        self.assertIn("still 12.6 times too fast", words)
        self.assertNotIn("too low", words)

    def test_noise_is_that_of_the_samples_without_emulated_ones(self):
        night = fixture.Night()
        night.trial("gesv", "lapack", 64, 1e-3, seconds_q1=0.9e-3, seconds_median=1e-3, seconds_q3=1.2e-3)
        night.trial("gesv", "gauss_block", 64, 1e-3, backend="emulated", seconds_q3=9.0)
        self.assertIn("samples is 30.0 % of its median", page_of(night).words("overview"))

    def test_doubts(self):
        """Two runs with very different peaks, by two versions of the program, with one throttled sample."""
        nights = fixture.Night("a"), fixture.Night("b")
        for night, commit, rate in zip(nights, ("abc1234", "def5678"), (6e13, 3e13)):
            night.trial("gemm", "cublas", 512, 1e-3, gpu=GPU, commit=commit, run_id=commit)
            night.devices[0]["gemm_flops_float"] = rate
        nights[0].samples[2]["throttled"] = 1
        # 2 times as fast as the peaks of its own run allow, but not as those of the other.
        more = {"precision": "float", "timing": "suspect", "peak_share": 2.0, "commit": "def5678", "run_id": "def5678"}
        nights[1].trial("gemm", "shared", 512, 4.5e-6, gpu=GPU, **more)
        words = page_of(*nights).words("overview")
        self.assertIn("Taken under throttling: 1 of 15 samples", words)
        self.assertNotIn("Doubtful times", words)
        self.assertIn(f"The peaks measured on {GPU} differ from run to run (GEMM float 30.0 to 60.0 TFLOP/s)", words)
        self.assertIn("2 versions of the program (abc1234, def5678)", words)

    def test_other_programs_on_the_cpus(self):
        def sentence(busy):
            night = fixture.Night()
            for i in range(10):
                night.trial("gesv", "lapack", 64 + i, 1e-3, cpu_demand=2.5 + i if i < busy else 0.5)
            return page_of(night).words("overview")

        self.assertIn("Other programs used the CPUs during 2 of 10 trials on the CPU (2.5 to 3.5 threads", sentence(2))
        self.assertNotIn("too long. more", sentence(2), "no section shows the load")
        self.assertNotIn("Other programs", sentence(1))
        # The same thresholds as in the notes of `gaussweep summary`.
        for source, name, value in (
            ("system/machine.hpp", "max_cpu_demand", glance.MOST_DEMAND),
            ("results/loading.cpp", "min_fraction", glance.MIN_BUSY),
            ("plan/roofline_fraction.hpp", "max_roofline_excess", TOO_FAST),
        ):
            self.assertIn(f"{name} = {value};", (SOURCE / "driver" / source).read_text(encoding="utf-8"))

    def test_published_and_gpus(self):
        night = fixture.Night("cejka-table-1.7")
        for gpu, slow in ((GPU, 1.0), ("NVIDIA Old <20>", 4.0)):
            more = dict(gpu=gpu, seconds_median=0.001 * slow, seconds_mean=0.001 * slow, parameters={"tile": "32"})
            night.trial("gemm", "global", 800, 0.001 * slow, precision="float", **more)
        page = page_of(night, papers="all")
        words = page.words("overview")
        self.assertIn(f"{GPU} over NVIDIA Old <20>: median speedup 4.00× over 1 trial in common", words)
        self.assertIn(
            (
                f"1 measured times have published ones ({GPU} and its CPU), 1 of them are faster; published"
                " over measured time: 3.51× to 3.51×."
            ),
            words,
        )
        self.assertIn(
            "(NVIDIA Old <20> and its CPU), 0 of them are faster; published over measured time: 0.877× to 0.877×.",
            words,
        )
        self.assertIn(
            (
                f"{GPU}: 1 of 10 published numbers have 1 measured ones; 1 of these are faster than published. "
                "Not measured: n = 160, 1600, 8000, 16000."
            ),
            page.words("papers"),
        )

    def test_leaders_are_found_over_all_devices(self):
        """Leaders are taken at the largest size that most methods reached. A wrong answer does not lead, and the
        identity matrix is ignored."""
        night = fixture.Night()
        for n in (64, 128):
            night.trial("getrf", "crout_serial", n, 1e-3, seconds_median=1e-3)
            night.trial("getrf", "fixed_point", n, 4e-3, gpu=GPU, seconds_median=4e-3)
            night.trial("getrf", "cusolver", n, 2e-3, gpu=GPU, seconds_median=2e-3)
            night.trial("getrf", "quick_and_wrong", n, 1e-6, status="failed")
            night.trial("getrf", "fixed_point", n, 1e-6, gpu=GPU, matrix="identity")
        for method in ("crout_serial", "fixed_point", "lapack"):  # as many methods, but on a kind with this size only
            night.trial("getrf", method, 128, 1e-4, matrix="cauchy")
        night.trial("getrf", "fixed_point", 4096, 1.0, gpu=GPU)
        (row,) = page_of(night).rows("leaders")
        self.assertEqual(
            (row["matrix"], row["n"], row["fastest"], row["on"], row["next"], row["of"]),
            ("uniform", 128, "crout_serial", "CPU", f"cusolver ({GPU})", 3),
        )
        self.assertAlmostEqual(row["slower by"], 2.0)

    def test_a_sole_method_wins_nothing(self):
        night = fixture.Night()
        for n in (64, 128, 256):
            night.trial("gesv", "alone", n, 1e-3, gpu=GPU)
        night.trial("gesv", "late", 256, 2e-3, gpu=GPU)
        rows = {r["method"]: r for r in page_of(night).rows("ranking-tally")}
        self.assertEqual(
            [rows["alone"][k] for k in ("races", "uncontested", "fastest", "within 10 % of the fastest")], [3, 2, 1, 1]
        )
        self.assertEqual([rows["late"][k] for k in ("races", "uncontested", "fastest")], [1, 0, 0])

    def test_failed_emulated_kernels_are_no_case_in_which_nothing_passed(self):
        night = fixture.Night()
        night.trial("gesv", "lapack", 64, 1e-3)
        night.trial("trsv", "levels", 64, 1e-3, backend="emulated", status="failed")
        page = page_of(night).text
        self.assertIn("1 case ran only emulated kernels", page)
        self.assertNotIn("nothing passed", page)

    def test_wins_are_counted_over_pooled_seeds_and_without_ties(self):
        night = fixture.Night()
        for n, slower in ((64, 2.0), (128, 1.001)):
            for seed, factor in enumerate((1.0, 1.0, 9.0)):
                for method, seconds in (("first", 1e-3 * factor), ("second", 1e-3 * slower)):
                    ends = {"seconds_q1": 0.9 * seconds, "seconds_median": seconds, "seconds_q3": 1.1 * seconds}
                    more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}{method}"}
                    night.trial("gesv", method, n, seconds, **more, **ends)
        page = page_of(night)
        rows = {r["method"]: r for r in page.rows("ranking-tally")}
        self.assertEqual([rows["first"][k] for k in ("races", "fastest", "in a tie")], [2, 1, 1])
        self.assertEqual([rows["second"][k] for k in ("races", "fastest", "in a tie")], [2, 0, 1])
        self.assertEqual({r["median"] for r in page.rows("ranking")}, {1e-3})


class SinceLastRunTest(unittest.TestCase):
    """Tests a report on two runs of one plan: it shows the later one, and compares it with the earlier one."""

    @classmethod
    def setUpClass(cls):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for night, run, day, slow in zip(nights, ("run-1", "run-2"), ("01", "02"), (1.0, 1.5)):
            same = dict(run_id=run, start_time=f"2026-01-{day}T00:00:00Z", gpu=GPU)
            night.trial("gesv", "cusolver", 512, 1e-3, **same)
            night.trial("gesv", "gauss_block", 512, 4e-3 * slow, **same)
            night.trial("gesv", "recursive", 512, 2e-3, status="pass" if day == "01" else "failed", **same)
        cls.page = page_of(*reversed(nights))  # the order of the files must not matter

    def test_regressions_name_other_programs(self):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for day, night in enumerate(nights, 1):
            more = {"run_id": f"run-{day}", "start_time": f"2026-01-0{day}T00:00:00Z", "cpu_demand": float(day)}
            night.trial("gesv", "lapack", 512, 1e-3 * day**3, **more)
        self.assertIn("used the CPUs during 1 of these trials: measure again.", page_of(*nights).words("overview"))

    def test_nights_are_compared_and_not_pooled(self):
        words = self.page.words("overview")
        self.assertIn("Since the last run of the same plan: 3 trials in both: 1 SLOWER, 1 UNCLEAR, 1 WORSE", words)
        self.assertIn("3 regressions: ", words)
        self.assertRegex(words, r"gesv/gauss_block double n=512( \S+)? \(\+[45]\d\.\d %\)")
        self.assertIn("(pass -> failed)", words)
        self.assertIn("3 trials (and 3 of earlier runs) in 2 files", words)

    def test_advice_is_one_line_and_folded(self):
        words, folded = self.page.text.split("<details><summary>What would decide UNCLEAR trials</summary>")[:2]
        self.assertIn("1 UNCLEAR trial on cuda: these runs find a change", words)
        self.assertNotIn("To find less", words)
        self.assertIn("To find less", folded.partition("</details>")[0])

    def test_changes_are_in_a_table(self):
        rows = {r["method"]: r for r in self.page.rows("changes")}
        self.assertEqual(set(rows), {"gauss_block", "recursive"})
        self.assertEqual((rows["recursive"]["was"], rows["recursive"]["is"]), ("pass", "failed"))
        self.assertAlmostEqual(rows["gauss_block"]["now / before"], 1.5, delta=0.1)

    def test_without_the_program_times_have_no_verdict(self):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for night, run, day, slow in zip(nights, ("run-1", "run-2"), ("01", "02"), (1.0, 9.0)):
            night.trial("gesv", "lapack", 512, 4e-3 * slow, run_id=run, start_time=f"2026-01-{day}T00:00:00Z")
        with mock.patch.object(
            comparison, "_program", side_effect=comparison.CannotCompare("the program gaussweep was not found")
        ):
            words = page_of(*nights).words("overview")
        self.assertIn("1 trial in both, 0 WORSE. Times were not compared: the program gaussweep was not found.", words)

    def test_grid_shows_the_last_run(self):
        cells = [cell for row in self.page.tables["grid-1"][1:] for cell, _ in row]
        self.assertEqual(len(cells), 2)
        self.assertIn("cusolver", cells[1])
        self.assertIn("These are the last runs of each plan", self.page.words("verdict"))
        self.assertIn('href="#problem-gesv"', self.page.text)
        self.assertIn('id="problem-gesv"', self.page.text)


class RemarksTest(unittest.TestCase):
    def test_remarks_on_files_are_folded_unless_a_file_was_left_out(self):
        night = fixture.Night()
        night.trial("gesv", "lapack", 64, 1e-3)
        with tempfile.TemporaryDirectory() as folder:
            good, bad = night.write(Path(folder) / "good.h5"), Path(folder) / "bad.h5"
            with h5py.File(good, "a") as file:
                hosts = file["hosts"][()]
                del file["hosts"]
                file["hosts"] = repack_fields(hosts[["host", "cpu", "os"]])
            bad.write_text("no results")
            for files, folded in (([good], True), ([good, bad], False)):
                page, _ = report(*files, out=Path(folder) / "out")
                self.assertIn("lacks", page.words("overview"))
                self.assertEqual("on the files</summary>" in page.text, folded)


class TrendTest(unittest.TestCase):
    def test_follows_the_fastest_trial_from_run_to_run(self):
        nights = [fixture.Night("nightly") for _ in range(3)]
        for day, night in enumerate(nights):
            same = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day + 1}T12:00:00Z", gpu=GPU)
            night.trial("gesv", "cusolver", 512, 1e-3 * (1 + day), **same)
            night.trial("gesv", "recursive", 512, 9e-3, **same)
            night.trial("gesv", "cusolver", 256, 1e-4, **same)
            night.trial("gesv", "lapack", 1024, 1e-4, **{**same, "gpu": None}, backend="host")
            if day == 2:
                night.trial("gesv", "once", 2048, 1e-9, **same)
        page = page_of(*nights)
        name = "trend-gesv-NVIDIA_Test_100"
        self.assertEqual(sorted(page.figures["trend"]), ["trend-gesv-CPU", name])
        rows = page.data[name].splitlines()[1:]
        self.assertEqual([row.rpartition(",")[0].rpartition(",")[2] for row in rows], ["0.0", "1.0", "2.0"])
        self.assertEqual([round(float(row.rpartition(",")[2])) for row in rows], [1, 2, 3])
        self.assertEqual({row.split(",")[0].strip('"') for row in rows}, {"cusolver"})
        self.assertNotIn("trend", page_of(*nights[:2]).figures)
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as reported:
            files = [str(night.write(Path(folder) / f"{i}.h5")) for i, night in enumerate(nights)]
            self.assertEqual(main(["--trend", "--method", "cusolver", *files]), 0)
            self.assertEqual(main(["--trend", *files[:2]]), 0)
        what, medians, none = reported.getvalue().splitlines()
        self.assertRegex(what, rf"^gesv/cusolver double, n = 512, uniform, seed 0, {GPU}: \+(19|20)\d\.\d %$")
        self.assertRegex(medians, r"^  01-01 (1\.\d+ ms|9\d\d µs), 01-02 [12]\.\d+ ms, 01-03 [23]\.\d+ ms$")
        self.assertIn("No trial passed in three runs of its plan", none)

    def test_times_with_other_threads_are_no_trend(self):
        nights = [fixture.Night("nightly", seed) for seed in (1, 2, 3, 4)]
        for day, night in enumerate(nights, 1):
            night.hosts[0]["blas_threads"] = 8 if day == 1 else 1
            more = {"run_id": f"run-{day}", "start_time": f"2026-01-0{day}T00:00:00Z"}
            night.trial("gesv", "lapack", 512, 8e-3 if day > 1 else 1e-3, **more)
        page = page_of(*nights)
        self.assertEqual(len(page.data["trend-gesv-CPU"].splitlines()), 1 + 3)
        self.assertIn("Left out: 1 time with another number of threads", page.words("trend"))
        self.assertNotIn("trend", page_of(*nights[:3]).sections)
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as reported:
            self.assertEqual(
                main(["--trend", *(str(n.write(Path(folder) / f"{n.hosts[0]}.h5")) for n in nights[:2])]), 0
            )
        self.assertIn("with the threads per rank of the last run (1; earlier runs had 8)", reported.getvalue())


class SinceWhenTest(unittest.TestCase):
    """Tests that the report describes a change of several runs ago as `gaussweep trend` does."""

    def page(self, slow):
        nights = [fixture.Night("nightly") for _ in range(10)]
        for day, night in enumerate(nights):
            same = dict(run_id=f"run-{day}", start_time=f"2026-01-{day + 10}T12:00:00Z", gpu=GPU)
            same["commit"] = ("b" if day >= 7 else "a") * 12
            night.trial("gemm", "shared", 1024, 4e-3 * (slow if day >= 7 else 1), **same)
            night.trial("gemm", "cublas", 1024, 1e-3, **same)
        return page_of(*nights)

    def test_a_step_is_on_the_first_screen_and_marked_at_its_place(self):
        page = self.page(1.2)
        reported = r"gemm/shared double n=1024( \S+)?: \d+\.\d % slower \([\d.]+ to [\d.]+\) since 2026-01-17,"
        reported += r" commits a{8}\.\.b{8}"
        self.assertRegex(page.words("overview"), reported)
        (name,) = page.figures["since"]
        rows = [row.split(",") for row in page.data[name].splitlines()[1:]]
        self.assertEqual(len([row for row in rows if "a night each" in row[0] + row[1]]), 10)
        (mark,) = [row for row in page.data[name].splitlines() if "since this night" in row]
        self.assertIn("2026-01-17", mark)
        self.assertRegex(mark, r"\+(19|20)\.\d %")

    def test_without_a_step_nothing_is_reported(self):
        page = self.page(1)
        self.assertNotIn(" since ", page.words("overview"))
        self.assertNotIn("since", page.figures)


class OneRuleTest(unittest.TestCase):
    """Tests that the report and the mail of night.sh give each trial the verdict of `gaussweep compare`, which compares
    it with all earlier runs."""

    FACTORS = {"same": 1, "slower": 1.5, "faster": 0.6, "unclear": 1.022, "wrong": 1}

    def nights(self):
        nights = [fixture.Night("nightly") for _ in range(3)]
        for day, night in enumerate(nights):
            last = day == 2
            same = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day + 1}T00:00:00Z", gpu=GPU)
            for method, factor in self.FACTORS.items():
                status = "failed" if last and method == "wrong" else "pass"
                scatter = 1e-4 if method == "same" else 0.02
                seconds = 4e-3 * (factor if last else 1)
                night.trial("gesv", method, 512, seconds, status=status, scatter=scatter, **same)
            seconds = 4e-3 * (1.06 if last else 1)
            night.trial("gesv", "paced", 512, seconds, queue_seconds=seconds, launch_bound=-1, **same)
            night.trial("gesv", "waits", 512, 4e-3, waits=2 if last else 1, **same)
            # Unchanged compared with the previous run alone, but changed compared with both earlier runs.
            night.trial("gesv", "before", 512, 4e-3 if day == 0 else 5e-3, **same)
        return nights

    def test_verdicts_are_those_of_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(self.nights())]
            night = load(files)
            expected = comparison.verdicts(files[:2], files[2:])
            with_previous = comparison.verdicts(files[1:2], files[2:])
            rows = changes(night)
            program = comparison._program()
            mail = subprocess.run(
                [SOURCE / "jobs" / "slurm" / "night.sh", files[2], *files[:2]],
                env={**os.environ, "GAUSSWEEP": program, "COLUMNS": "200"},
                capture_output=True,
                text=True,
                check=False,
            )
        reported = {row.method: (row.change, row.reason, row.ratio) for row in rows.itertuples()}
        by_method = {trial["method"].partition("/")[2] or trial["method"]: trial for trial in expected.values()}
        self.assertEqual(set(by_method), set(reported))
        verdicts = {trial["verdict"] for trial in by_method.values()}
        self.assertEqual(verdicts, {"SAME", "SLOWER", "FASTER", "UNCLEAR", "HOST-BOUND", "WORSE"})
        self.assertNotEqual([t["speedup"] for t in expected.values()], [t["speedup"] for t in with_previous.values()])
        regressions = set()
        for method, trial in by_method.items():
            word = "WORSE" if trial["worse"] else trial["verdict"]
            self.assertEqual(reported[method][:2], (word, trial["reason"]), method)
            if word == "WORSE":
                self.assertTrue(math.isnan(reported[method][2]), "times of wrong answers are not compared")
            else:
                self.assertAlmostEqual(reported[method][2], 1 / trial["speedup"], msg=method)
            if word in ("WORSE", "SLOWER"):
                regressions.add(method)
        self.assertEqual(reported["waits"][:2], ("SLOWER", "waits 1 -> 2"))
        self.assertEqual(mail.returncode, 4, mail.stderr)
        last = " ".join(mail.stdout.partition("Against")[2].split()).partition("regressions: ")[2]
        named = {method for method in reported if f"gesv/{method} double" in last.partition("Since when")[0]}
        self.assertEqual(named, regressions)


class GridTest(unittest.TestCase):
    def test_similar_sizes_share_rows_and_few_are_side_by_side(self):
        night = fixture.Night()
        for n in range(64, 64 + 10 * 64, 64):
            night.trial("gesv", "cusolver", n, 1e-6 * n, gpu=GPU)
            night.trial("potrf", "cusolver", n, 1e-6 * n, gpu=GPU)
        night.trial("getrf", "cusolver", 1000, 1e-3, gpu=GPU)
        page = page_of(night)
        self.assertIn(
            "Fastest, of 21 cases: gesv/cusolver 10, potrf/cusolver 10, getrf/cusolver 1.", page.words("verdict")
        )
        for n in range(64, 704, 64):
            night.trial("gesv", "cusolver", n, 1e-6 * n, gpu=GPU, matrix_seed=2)
        self.assertIn("Fastest, of 21 cases: ", page_of(night).words("verdict"), "the seeds are one case")
        head, *rest = page.tables["grid-1"]
        rows = [[cell for cell, _ in row] for row in (head, *rest)]
        heads = [row[1:] for row in rows if row[0] == "n"]
        self.assertEqual(heads, [[str(n) for n in range(64, 384, 64)], [str(n) for n in range(384, 704, 64)], ["1000"]])
        labels = [row[0].split()[0] for row in rows]
        self.assertEqual(labels, ["n", "gesv", "potrf", "n", "gesv", "potrf", "n", "getrf"])
        self.assertTrue(all(cell for row in rows for cell in row), "no cell is empty")

    def test_few_sizes_are_one_block_whose_heading_repeats_on_paper(self):
        night = fixture.Night()
        for n in (64, 128):
            night.trial("gesv", "cusolver", n, 1e-6 * n, gpu=GPU, matrix="uniform")
        night.trial("gesv", "cusolver", 1000, 1e-3, gpu=GPU, matrix="cauchy")
        page = page_of(night)
        first = [row[0][0].split()[-1] for row in page.tables["grid-1"]]
        self.assertEqual(first, ["n", "doubleuniform", "doublecauchy"])  # the matrix with most sizes comes first
        self.assertRegex(page.text, r'<thead><tr class="sizes"><th scope="col">n</th><th [^>]*>64</th>')

    def test_rows_of_many_matrices_are_complete_and_mostly_folded(self):
        night = fixture.Night()
        for i in range(60):
            for n in (64, 128):
                night.trial("gesv", "cusolver", n, 1e-6, gpu=GPU, matrix=f"matrix{i:02d}")
        page = page_of(night)
        shown, folded = ([row[0][0][-2:] for row in page.tables[name][1:]] for name in ("grid-1", "grid-1-more"))
        self.assertEqual(shown + folded, [f"{i:02d}" for i in range(60)])
        self.assertEqual(len(page.data["grid-1"].splitlines()), 121)
        self.assertRegex(page.text, rf"<details><summary>{len(folded)} more rows of {GPU}</summary><figure")
        self.assertGreater(len(shown), 40)

    def test_a_cell_of_many_systems_shows_those_with_most_methods(self):
        night = fixture.Night()
        for i in range(6):
            night.trial("gesv", f"m{i}", 64, 1e-6, gpu=GPU, matrix_digest=f"system{i}")
        night.trial("gesv", "rival", 64, 2e-6, gpu=GPU, matrix_digest="system5")
        page = page_of(night)
        cell = page.tables["grid-1"][1][1][0]
        self.assertTrue(cell.startswith("m5"), cell)
        self.assertNotIn(" of ", cell)  # only one system is compared
        self.assertEqual(len(page.data["grid-1"].splitlines()), 7)

    def test_an_unknown_problem_has_title_and_limit_from_its_records(self):
        night = fixture.Night()
        known = dict(problem_title="squares of matrices", problem_flops=2e9, problem_bytes=8e6)
        night.trial("square", "cublas", 1000, 1e-3, gpu=GPU, **known)
        page = page_of(night)
        self.assertIn("square: squares of matrices", page.text)
        device = night.devices[0]
        least = max(2e9 / device["gemm_flops_double"], 8e6 / device["copy_bytes_per_second"])
        (row,) = csv.DictReader(io.StringIO(page.data["grid-1"]))
        self.assertAlmostEqual(float(row["limit"]), least)
        self.assertGreater(float(row["share"]), 0)

    def test_the_bound_of_pooled_rounds_is_that_of_the_median_limit(self):
        night = fixture.Night()
        for number, rate in enumerate((4e12, 4e8, 2e8)):  # three cards; the copy takes longest on the last two
            more = dict(gpu=GPU, gpu_uuid=f"card{number}", round=number + 1, key=f"{number}")
            night.trial("gemm", "cublas", 1000, 1, **more)
            night.devices.append(night.devices[0] | dict(gpu_uuid=f"card{number}", copy_bytes_per_second=rate))
        (row,) = csv.DictReader(io.StringIO(page_of(night).data["grid-1"]))
        self.assertGreater(float(row["limit"]), 0.01)
        self.assertEqual(row["bound"], "memory")

    def test_the_winner_is_compared_with_the_vendor_and_exceeding_the_limit_has_a_footnote(self):
        night = fixture.Night()
        for method, seconds in (("recursive", 1e-3), ("gauss_block", 2e-3), ("cusolver", 5e-3)):
            night.trial("gesv", method, 512, seconds, gpu=GPU, reference_method="cusolver", seconds_median=seconds)
        night.trial("gemm", "cublas", 512, 1e-6, gpu=GPU, seconds_median=1e-6)
        page = page_of(night)
        cells = {row[0][0].split()[0]: row[1][0] for row in page.tables["grid-1"][1:]}
        self.assertRegex(cells["gesv"], r"^recursive1\.00 ms, 2\.00×, 5\.00× cusolver")
        self.assertIn("compute*", cells["gemm"])
        self.assertNotIn("*", cells["gesv"])
        self.assertIn("* More than 100 %", page.words("verdict"))


class ClocksTest(unittest.TestCase):
    def test_names_machines_with_different_clocks(self):
        night = fixture.Night()
        for host, clock in (("node1", 1980.0), ("node2", 1500.0)):
            night.trial("gesv", "cusolver", 512, 1e-3, gpu=GPU, host=host, sm_clock_mhz=clock, key=host)
        self.assertIn(f"{GPU} ran at 1500 MHz on one machine and at 1980 MHz", page_of(night).words("overview"))


if __name__ == "__main__":
    unittest.main()
