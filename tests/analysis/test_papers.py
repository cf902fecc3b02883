"""Tests that the section that compares the records with published papers agrees with the records."""

import csv
import re
import unittest

import fixture
from analysis.papers import answers
from analysis.papers.common import table_of
from analysis.papers.experiments import experiments
from pages import page_of

GPU = "NVIDIA Test 100"


class PapersTest(unittest.TestCase):
    def test_a_fraction_below_half_is_explained_by_the_stages(self):
        """Copy peak 4 TB/s: 0.2 TB take at least 50 ms. The elimination takes 100 of 200 ms, so it reaches half of the
        bandwidth."""
        night = fixture.Night("xia-lee-peak")
        for precision, slower in (("float", 1.0), ("double", 1.2)):
            night.trial(
                "gesv",
                "gauss_jordan_shared",
                4096,
                0.2,
                precision=precision,
                gpu=GPU,
                seconds_median=0.2,
                bytes=2e11,
                gflops=1.0,
                peak_share=0.25,
                parameters={"tile": 32},
                stages=[
                    ("eliminate", 4096, 0.1 * slower, 1.0),
                    ("copy_column", 4096, 0.09, float("nan")),
                    ("multipliers", 4096, 0.01, 1.0),
                ],
            )
        words = page_of(night, papers="all").words("papers")
        self.assertIn(
            "25.0 % of the roofline, which is set by its least traffic at the measured copy bandwidth: under half",
            words,
        )
        self.assertIn(
            "eliminate is 50.0 % of the time. The rest: copy_column 45.0 % (4096 calls of 22.0 µs); multipliers 5.00 %",
            words,
        )
        self.assertIn("eliminate alone moves the least traffic at 50.0 % of the copy bandwidth", words)
        self.assertIn("twice the bytes in 1.20× the time: the number of elements", words)

    def test_a_fraction_above_half_needs_no_explanation(self):
        night = fixture.Night("xia-lee-peak")
        night.trial(
            "gesv",
            "gauss_jordan_shared",
            4096,
            0.1,
            precision="float",
            gpu=GPU,
            seconds_median=0.1,
            bytes=3.2e11,
            gflops=1.0,
            peak_share=0.8,
            stages=[("eliminate", 4096, 0.08, 1.0), ("copy_column", 4096, 0.02, 1.0)],
        )
        words = page_of(night, papers="all").words("papers")
        self.assertIn("at least half of that limit", words)
        self.assertNotIn("alone moves", words)

    def test_stability_and_growth_with_blocks(self):
        night = fixture.Night("fuhrmann-verification")
        for blocks, ratio in ((1, 1.5), (2, 40.0), (8, 5e6)):
            more = dict(parameters={"blocks": blocks}, residual_ratio=ratio, status="pass" if ratio < 16 else "failed")
            night.trial("gesv", "gauss_cyclic_decrement", 97, 0.001, gpu=GPU, **more)
            night.trial(
                "gesv", "gauss_cyclic_decrement", 97, 1e-3, gpu=GPU, parameters={"blocks": blocks}, matrix="cauchy"
            )
        words = page_of(night, papers="all").words("papers")
        self.assertIn("Of 6 answers here it accepts 6, 2 of them wrong", words)
        self.assertIn(
            (
                "gauss_cyclic_decrement: stable on cauchy; not on uniform, from 2 blocks on: the ratio is at most 1.50"
                " with 1, 5.00e+06 with 8."
            ),
            words,
        )

    def test_compares_the_traditional_serial_solver_with_the_modified(self):
        night = fixture.Night("xia-lee-times")
        for n in (512, 1024):
            night.trial("gesv", "gauss_pivot_serial", n, 1.0, precision="float", seconds_median=1.0)
            night.trial("gesv", "gauss_jordan_serial", n, 1.5, precision="float", seconds_median=1.5)
            for method in ("gauss_jordan_global", "gauss_jordan_shared"):
                night.trial("gesv", method, n, 0.1, precision="float", gpu=GPU, parameters={"grid": "full"})
        page = page_of(night, papers="all")
        self.assertEqual(
            {r["times faster"] for r in page.rows("xia-lee-times-ratio-gauss_jordan_serial-gauss_pivot_serial")}, {1.5}
        )
        scaled = {
            r["what"]: r["published"]
            for r in page.rows("xia-lee-times-NVIDIA_Test_100")
            if r["n"] == 512 and "16" in r["what"]
        }
        self.assertEqual(
            scaled,
            {"global memory, as if on 16 multiprocessors": 0.107, "shared memory, as if on 16 multiprocessors": 0.041},
        )
        self.assertIn("Not repeated, because they have no measured numbers", page.words("papers"))
        self.assertIn("Published: modified over traditional serial elimination 1.4 to 1.61 times", page.words("papers"))

    def test_a_profile_uses_the_papers_grid(self):
        night = fixture.Night("xia-lee-profile")
        for grid, time in (("full", 2.0), ("shrinking", 1.0)):
            for method in ("gauss_jordan_global", "gauss_jordan_shared"):
                more = dict(gpu=GPU, parameters={"grid": grid}, stages=[("eliminate", 1024, time, 1.0)])
                night.trial("gesv", method, 1024, time, precision="float", **more)
        self.assertEqual({r["mean"] for r in page_of(night, papers="all").rows("xia-lee-profile")}, {2.0 / 1024})

    def test_compares_two_gpus_in_time_and_speedup(self):
        night = fixture.Night("fuhrmann-figure-6.5")
        for gpu, times in (("NVIDIA Old <20>", {1: 8.0, 14: 1.0}), (GPU, {1: 4.0, 14: 1.0})):
            for blocks, time in times.items():
                more = dict(seconds_q1=time, seconds_q3=time, matrix="cauchy", parameters={"blocks": blocks})
                night.trial("gesv", "gauss_cyclic_decrement", 5500, time, gpu=gpu, seconds_median=time, **more)
        page = page_of(night, papers="all")
        self.assertIn(
            f"Speedup with 14 blocks over 1 at n = 5500, double: NVIDIA Old <20> 8.00×, {GPU} 4.00×.",
            page.words("papers"),
        )
        self.assertIn(True, [f.startswith("fuhrmann-figure-6.5-speedup") for f in page.figures["papers"]])

    def test_published_means_are_next_to_means(self):
        night = fixture.Night("fuhrmann-table-6.1")
        for n in (900, 1000):
            for how in ("reduction", "pipelined_locks", "pipelined"):
                more = dict(seconds_median=0.1, seconds_mean=0.53, parameters={"blocks": 8, "back_substitution": how})
                night.trial("gesv", "gauss_cyclic_decrement", n, 0.1, gpu=GPU, matrix="cauchy", **more)
        page = page_of(night, papers="all")
        both = [r for r in page.rows("fuhrmann-table-6.1-NVIDIA_Test_100") if r["n"] == 900]
        self.assertEqual(
            [(r["what"], r["measured"], r["published time / measured"]) for r in both],
            [("pipelined", 0.53, 1.0), ("standard", 0.53, 1.0)],
        )
        for first, second in (
            ("pipelined_locks", "reduction"),
            ("pipelined", "reduction"),
            ("pipelined_locks", "pipelined"),
        ):
            self.assertEqual(len(page.rows(f"fuhrmann-table-6.1-verdict-{first}-{second}")), 2)
        self.assertIn("Verdict: pipelined_locks makes no difference", page.words("papers"))
        for record in night.records:
            record["backend"] = "emulated"
        self.assertNotIn("Verdict", page_of(night, papers="all").words("papers"))

    def test_every_claim_has_a_line_and_a_rule(self):
        claims, measures = table_of("claims.csv"), answers.rules()
        self.assertEqual(sorted(claims["id"]), sorted(measures))
        names = {experiment["id"] for experiment in experiments()}
        for claim in claims.itertuples():
            rule = measures[claim.id]
            self.assertIn(rule["kind"], {*answers.MEASURES, "none"}, claim.id)
            self.assertIn(claim.experiment, names, claim.id)
            self.assertRegex(claim.line, r"^00[0-4]:\d+$", claim.id)
            self.assertIn(claim.relation, ("about", "at least", "below", "more than"), claim.id)
            self.assertTrue(rule["kind"] != "none" or rule["why"], claim.id)
        self.assertEqual(set(claims["line"].str[:3]), {"000", "001", "002", "003", "004"})

    def test_claims_are_confirmed_contradicted_or_neither(self):
        night = fixture.Night("xia-lee-times")
        for n, times in ((512, (1.0, 1.5, 0.9, 0.3)), (1024, (8.0, 12.0, 7.2, 2.4))):
            for method, time in zip(
                ("gauss_pivot_serial", "gauss_jordan_serial", "gauss_jordan_global", "gauss_jordan_shared"), times
            ):
                gpu = dict(gpu=GPU, parameters={"grid": "full"}) if method.endswith(("global", "shared")) else {}
                night.trial("gesv", method, n, time, precision="float", seconds_median=time, **gpu)
        more = dict(gpu=GPU, status="failed", parameters={"preparation": "add_rows", "blocks": 2})
        night.trial("gesv", "gauss_cyclic_decrement", 64, 1.0, **more)
        for n, difference in ((160, 3.2e-5), (1600, 8e-5)):  # the larger ratio belongs to the smaller size
            night.trial(
                "gemm",
                "shared",
                n,
                1.0,
                gpu=GPU,
                precision="float",
                matrix="ones",
                largest_relative_difference=difference,
            )
        page = page_of(night, papers="all")
        verdicts = {row["claim"]: (row.get("ours"), row["verdict"]) for row in page.rows("claims")}
        self.assertEqual(verdicts["modified over traditional serial elimination"], (1.5, "confirmed"))
        self.assertEqual(verdicts["shared before global memory by about"][1], "confirmed")
        self.assertAlmostEqual(
            verdicts["shared memory on 16 SMs, expected before traditional serial code by about"][0], 8 / 2.4
        )
        self.assertEqual(verdicts["systems with zeros solved right after adding rows"], (0.0, "contradicted"))
        self.assertEqual(verdicts["|error| / |C| / k of the product below"], (2e-7, "confirmed"))
        self.assertEqual(verdicts["GETS over MATLAB for n > 1000 at least"][1], "not in these records")
        self.assertIn("needs a Tesla K20Xm", verdicts["GTX 980 before the K20Xm by"][1])

    def test_a_second_plan_changes_no_claim(self):
        night, other, verification = (fixture.Night(name) for name in ("xia-lee-times", "own", "fuhrmann-verification"))
        figure = fixture.Night("fuhrmann-figure-6.1")
        for n in (32, 64, 96):
            for method, time in (("gauss_pivot_serial", 1.0), ("gauss_jordan_serial", 1.5)):
                night.trial("gesv", method, n, time, precision="float", scatter=0, matrix_parameters='{"low": -1.0}')
        for n in (64, 128, 256):  # a faster pivoting method, on another matrix of the same kind
            other.trial(
                "gesv", "gauss_pivot_serial", n, 0.1, precision="float", matrix_parameters='{"low": 0.0}', key=f"{n}"
            )
            figure.trial("gesv", "gauss_serial", n, 1e-9 * n**3, scatter=0, matrix="cauchy")
        for n in (97, 300):
            verification.trial("gesv", "gauss_serial", n, 1e-4, scatter=0, matrix="cauchy")
        for nights in ((night, figure), (night, figure, other, verification)):
            rows = {row["claim"]: row for row in page_of(*nights, papers="run").rows("claims")}
            modified = rows["modified over traditional serial elimination"]
            self.assertEqual((modified["ours"], modified["verdict"]), (1.5, "confirmed"))
            self.assertEqual(modified["taken from"], "median of 3 sizes, n = 32 to 96")
            self.assertAlmostEqual(rows["time on one CPU core grows as n to the power"]["ours"], 3)

    def test_claims_compare_methods_on_one_matrix(self):
        night = fixture.Night("else")
        for low, method, sizes, time in (
            (-1.0, "gauss_jordan_serial", (64, 96), 1.5),
            (-1.0, "gauss_pivot_serial", (64, 96), 1.0),
            (0.0, "gauss_pivot_serial", (64, 96, 128), 0.1),
        ):
            for n in sizes:
                more = dict(matrix_parameters=f'{{"low": {low}}}', key=f"{method} {n} {low}", scatter=0)
                night.trial("gesv", method, n, time, precision="float", **more)
        rows = {row["claim"]: row for row in page_of(night, papers="all").rows("claims")}
        self.assertEqual(rows["modified over traditional serial elimination"]["ours"], 1.5)

    def test_emulated_times_decide_no_claim(self):
        night = fixture.Night("xia-lee-times")
        for method, time in (("gauss_pivot_serial", 1.0), ("gauss_jordan_serial", 1.5)):
            night.trial("gesv", method, 64, time, precision="float", seconds_median=time)
        for method in ("gauss_jordan_global", "gauss_jordan_shared"):
            more = dict(precision="float", backend="emulated", parameters={"grid": "full"}, reference_difference=1e-05)
            night.trial("gesv", method, 64, 1.0, **more)
        page = page_of(night, papers="all")
        verdicts = {row["claim"]: row["verdict"] for row in page.rows("claims")}
        devices = {row["claim"]: row["device"] for row in page.rows("claims")}
        self.assertEqual(verdicts["modified over traditional serial elimination"], "confirmed")
        self.assertEqual(devices["modified over traditional serial elimination"], "CPU")
        self.assertRegex(verdicts["shared before global memory by about"], "^not measurable here: .*times on a GPU")
        # the accuracy is the same to the bit
        self.assertEqual(verdicts["error against the serial code below"], "confirmed")

    def test_serial_methods_are_not_emulated_and_emulated_times_are_not_faster_than_published(self):
        night = fixture.Night("xia-lee-times")
        for method in ("gauss_pivot_serial", "gauss_jordan_serial"):
            night.trial("gesv", method, 512, 1e-3, precision="float")
        for method in ("gauss_jordan_global", "gauss_jordan_shared"):
            night.trial("gesv", method, 512, 1e-3, precision="float", backend="emulated", parameters={"grid": "full"})
        page = page_of(night, papers="run")
        (plot,) = [plot for plot in page.figures["papers"] if plot.startswith("xia-lee-times")]
        self.assertNotRegex(page.text, rf'data-plot="{plot}"><h4>[^<]*emulated on')
        self.assertIn("2 of 16 published numbers have 2 measured ones; 2 of these are faster", page.words("papers"))
        self.assertIn("2 measured times have published ones (the CPU), 2 of them are faster", page.words("overview"))

    def test_noise_does_not_contradict_a_claim_of_no_gain(self):
        claim = next(c for c in table_of("claims.csv").itertuples() if c.id == "pipeline-no-gain")
        rule = answers.rules()[claim.id]
        self.assertEqual(
            [answers.holds(claim, rule, ratio) for ratio in (0.9, 0.997, 1.0, 1.2)], [False, True, True, True]
        )

    def test_numbered_stages_are_one_kernel_with_an_occupancy_plot(self):
        night = fixture.Night("soriano-table-5.12")
        more = dict(
            stages=[("identity", 1, 0.2, 1.0)] + [(f"gets_{i}", 512, 0.1, 1.0 if i < 8 else 0.5) for i in range(1, 9)]
        )
        night.trial("trtri", "gets", 4096, 1.0, precision="float", gpu=GPU, matrix="triangular", **more)
        page = page_of(night, papers="all")
        row = next(r for r in page.rows("soriano-table-5.12") if r["our stage"] == "gets")
        self.assertEqual((row["calls"], row["mean"]), (4096, 0.8 / 4096))
        self.assertAlmostEqual(row["theirs / ours"], 0.8068e-3 / (0.8 / 4096))
        self.assertAlmostEqual(row["occupancy"], 7.5 / 8)
        (name,) = [f for f in page.figures["papers"] if f.startswith("soriano-figure-5.11")]
        points = [
            (float(row["x"]), float(row["y"]))
            for row in csv.DictReader(page.data[name].splitlines())
            if row["series"] != "published"
        ]
        self.assertEqual(points, [(512.0 * i, 1.0 if i < 8 else 0.5) for i in range(1, 9)])

    def test_kernels_of_two_methods_are_compared_at_the_largest_common_size(self):
        night = fixture.Night("soriano-table-5.12")
        for n in (2048, 4096, 8192):  # more sizes than the other method
            gets = [("gets", n, n * 1e-5, 1.0)]
            night.trial("trtri", "gets", n, 1.0, precision="float", gpu=GPU, matrix="triangular", stages=gets)
        for n in (2048, 4096):
            update = [("update", n, n * (5.5e-5 if n == 4096 else 1e-3), 1.0)]
            full = dict(parameters={"grid": "full"}, stages=update)
            night.trial("geinv", "gauss_jordan", n, 1.0, precision="float", gpu=GPU, **full)
        verdicts = {row["claim"]: row.get("ours") for row in page_of(night, papers="all").rows("claims")}
        self.assertAlmostEqual(verdicts["GETS kernel before the Gauss-Jordan kernel by"], 5.5)

    def test_separate_calls_are_drawn_over_the_iterations_and_summed_elsewhere(self):
        night = fixture.Night("soriano-table-5.10")
        calls = []
        for i in range(1, 301):
            calls += [("topleft", 1, 1e-5, 0.25), ("strip", 1, 1e-4 * i, 1.0), ("diagupdate", 1, 1e-4, 0.5)]
            calls += [("loupdate", 1, 1e-3, 1.0 if i <= 75 else 0.5)]
        for status, n in (("pass", 4096), ("pass", 64)):
            more = dict(precision="float", gpu=GPU, matrix="spd", status=status, parameters=dict(topleft="square"))
            night.trial("potrf", "blocked", n, 1.0, stages=calls if n == 4096 else calls[:8], **more)
        page = page_of(night, papers="all")
        row = next(r for r in page.rows("soriano-table-5.10") if r["our stage"] == "loupdate")
        self.assertEqual(row["calls"], 300)
        self.assertAlmostEqual(row["mean"], 1e-3)
        self.assertAlmostEqual(row["occupancy"], (75 + 225 / 2) / 300)
        self.assertEqual(len([r for r in page.rows("stages") if r["stage"] == "strip"]), 1)
        drawn = {}
        for figure in ("5.5", "5.6"):
            (name,) = [f for f in page.figures["papers"] if f.startswith(f"soriano-figure-{figure}")]
            for line in csv.DictReader(page.data[name].splitlines()):
                drawn.setdefault((figure, line["series"].split(": ")[-1]), []).append(
                    (float(line["x"]), float(line["y"]))
                )
        self.assertEqual(
            {kernel for figure, kernel in drawn if figure == "5.6"}
            - {kernel for figure, kernel in drawn if figure == "5.5"},
            {"loupdate"},
        )
        self.assertNotIn("sums over", page.words("papers"))
        strip = drawn["5.5", "strip"]
        self.assertEqual((strip[0][0], strip[-1][0], len(strip)), (1, 300, 256))
        for x, y in strip:
            self.assertAlmostEqual(y, 1e-4 * x)

    def test_iterations_by_matrix(self):
        night = fixture.Night("cejka-fixed-point")
        for n in (64, 128, 256):
            for matrix, count, status in (
                ("spd", 21, "pass"),
                ("uniform", 2 * n - 1, "pass"),
                ("wilkinson", n, "failed"),
            ):
                night.trial(
                    "getrf",
                    "fixed_point",
                    n,
                    1e-3,
                    gpu=GPU,
                    matrix=matrix,
                    convergence="converged",
                    iterations=count,
                    status=status,
                    parameters=dict(update="double_buffered", max_iterations=0, change_tolerance=0.0),
                )
        words = page_of(night, papers="all").words("papers")
        self.assertIn("does not grow with n on spd (21 at n = 64, 21 at n = 256)", words)
        self.assertIn(
            (
                "grows as n on uniform (127 at n = 64, 511 at n = 256), wilkinson (64 at n = 64, 256 at n = 256, wrong"
                " factors)"
            ),
            words,
        )
        self.assertRegex(words, r"within the tolerance: wilkinson\.")

    def test_errors_of_methods_on_two_devices_are_compared(self):
        for backend in ("host", "emulated"):
            night = fixture.Night("cejka-accuracy")
            for n in (32, 64):
                night.trial("gesv", "crout", n, 1e-3, backward_error=2e-16)
                night.trial("gesv", "lu_fixed_point", n, 1e-3, backend=backend, backward_error=1e-16)
            page = page_of(night, papers="run")
            self.assertIn("lu_fixed_point is more accurate on 2 of 2 systems, less on 0: yes", page.words("papers"))
            self.assertEqual([r["systems"] for r in page.rows("cejka-accuracy")], [2])

    def test_methods_are_compared_on_one_kind_of_matrix(self):
        """An iteration finishes at once on a triangular matrix; that must not become its speedup."""
        night = fixture.Night("cejka-lu")
        for n in (64, 128):
            for matrix, quick in (("triangular", 1e-3), ("uniform", 0.5), ("spd", 0.5)):
                night.trial("getrf", "crout_serial", n, 1.0, seconds_median=1.0, matrix=matrix)
                night.trial("getrf", "fixed_point", n, quick, seconds_median=quick, gpu=GPU, matrix=matrix)
        for n in (64, 128, 256):
            night.trial("getrf", "fixed_point", n, 0.5, seconds_median=0.5, gpu=GPU, matrix="spd")
        page = page_of(night, papers="all")
        rows = page.rows("cejka-lu-ratio-crout_serial-fixed_point")
        self.assertEqual(
            {(r["n"], r["times faster"], r["matrix"]) for r in rows}, {(64, 2.0, "spd"), (128, 2.0, "spd")}
        )
        for table in ("roofline", "transfer"):
            self.assertNotIn(
                "triangular", {r.get("matrix", "") for r in page.rows(table) if r["method"] == "fixed_point"}
            )

    def test_methods_are_compared_on_one_triangle(self):
        """The lower triangle if both methods have it; a size without a common triangle is skipped."""
        night = fixture.Night("soriano-figure-5.4")
        for n, times in (
            (1024, {"blocked": {"lower": 1.0}, "lapack": {"upper": 9.0}}),
            (2048, {"blocked": {"upper": 1.0}, "lapack": {"upper": 1.25}}),
            (4096, {"blocked": {"lower": 2.0, "upper": 1.6}, "lapack": {"lower": 3.0, "upper": 2.8}}),
        ):
            for method, of_triangle in times.items():
                gpu = dict(gpu=GPU, parameters={"topleft": "square"}) if method == "blocked" else {}
                for uplo, time in of_triangle.items():
                    more = dict(precision="float", matrix="spd", uplo=uplo, key=f"{method} {n} {uplo}", **gpu)
                    night.trial("potrf", method, n, time, seconds_median=time, **more)
        page = page_of(night, papers="all")
        verdicts = {row["claim"]: (row.get("ours"), row["taken from"]) for row in page.rows("claims")}
        self.assertEqual(verdicts["blocked Cholesky over MATLAB up to"], (1.5, "maximum of 2 sizes, n = 2048 to 4096"))
        rows = page.rows("soriano-figure-5.4-ratio-lapack-blocked")
        self.assertEqual({(r["n"], r["times faster"]) for r in rows}, {(2048, 1.25), (4096, 1.5)})

    def test_wrong_factors_are_compared_with_the_direct_ones(self):
        for status, words in (
            ("failed", "passes 0 of 1 of them: these matrices have no accurate factors"),
            ("pass", "passes 1 of 1 of them."),
        ):
            night = fixture.Night("cejka-fixed-point")
            more = dict(matrix="wilkinson", status=status, residual_ratio=1000000000.0 if status == "failed" else 1.0)
            night.trial("getrf", "crout_serial", 64, 0.001, **more)
            night.trial(
                "getrf",
                "fixed_point",
                64,
                1e-3,
                gpu=GPU,
                matrix="wilkinson",
                convergence="converged",
                iterations=64,
                status="failed",
                parameters=dict(update="double_buffered", max_iterations=0, change_tolerance=0.0),
            )
            self.assertIn(words, page_of(night, papers="all").words("papers"))

    def test_runs_without_a_papers_plan_miss_nothing(self):
        night = fixture.Night("else")
        night.trial("gemm", "cublas", 64, 1e-3, gpu=GPU)
        page = page_of(night, papers="all")
        self.assertIn("cejka-table-1.1", page.headings)
        self.assertNotIn("cejka_table_1_1", page.words("papers"))

    def test_an_experiment_without_data_is_only_named(self):
        night = fixture.Night("else")
        for n in (64, 128):
            night.trial("gesv", "gauss_cyclic_decrement", n, 1e-3, gpu=GPU, parameters={"blocks": 2})
        page = page_of(night, papers="all")
        self.assertNotIn("fuhrmann-figure-6.5", page.headings)
        self.assertRegex(page.words("papers"), r"Too few records to draw.*fuhrmann-figure-6\.5")

    def test_counts_right_answers_that_the_first_row_check_rejects(self):
        night = fixture.Night("fuhrmann-verification")
        night.trial("gesv", "gauss_serial", 64, 1e-3, precision="float", first_row_percent=0.01)
        night.trial("gesv", "gauss_serial", 64, 1e-3)
        self.assertIn(
            (
                "it accepts 1, 0 of them wrong by the backward error of the whole system. It rejects 1 correct"
                " answer (all in float"
            ),
            page_of(night, papers="all").words("papers"),
        )

    def test_an_experiment_with_one_point_is_not_drawn(self):
        night = fixture.Night("one")
        night.trial("gesv", "gauss_serial", 512, 1e-3, matrix="cauchy")
        page = page_of(night, papers="all")
        self.assertNotIn("fuhrmann-figure-6.1", page.headings)
        self.assertRegex(page.words("papers"), re.compile(r"Too few records to draw.*fuhrmann-figure-6\.1"))


if __name__ == "__main__":
    unittest.main()
