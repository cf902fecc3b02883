"""Tests that every passed trial of six kinds of sweeps is in a plot (drawn.py), and how plots group trials."""

import itertools
import json
import re
import tempfile
import unittest
from pathlib import Path

import fixture
import numpy as np
from drawn import missing
from matplotlib.figure import Figure
from pages import page_of

from analysis import figures
from analysis.loader import load
from analysis.plots import Plot, Series, styled

GPU = "NVIDIA Test 100"


def sweep(run="run-1", day="01"):
    """Returns trials that differ in matrix kind, size, triangle, number of right-hand sides and parameters."""
    night = fixture.Night("night")
    same = {"run_id": run, "start_time": f"2026-01-{day}T00:00:00Z"}
    for precision in ("float", "double"):
        for n in (256, 512, 1024, 2048):
            for method in ("cusolver", "gauss_jordan_global", "lapack"):
                gpu = None if method == "lapack" else GPU
                night.trial("gesv", method, n, n * 1e-6, precision=precision, gpu=gpu, matrix="spd", **same)
        for n in (4096, 8192, 16384):
            night.trial("gesv", "cusolver", n, n * 1e-6, precision=precision, gpu=GPU, **same)
        for n in (256, 512, 1024):
            for nrhs in (1, 8, 64):
                for uplo in ("lower", "upper"):
                    for method in ("cublas", "doubling", "pair_sweep", "column_sweep"):
                        more = {"uplo": uplo, "nrhs": nrhs, "key": f"{n}{nrhs}{uplo}{method}{precision}"}
                        night.trial("trsv", method, n, n * nrhs * 1e-8, precision=precision, gpu=GPU, **more, **same)
            for threads in (32, 64, 128):
                parameters = {"threads": threads, "tile": n // threads}
                night.trial("gemm", "shared", n, 1e-6 * threads, parameters=parameters, gpu=GPU, **same)
    return night


def seeds():
    night = fixture.Night("seeds")
    for n in (300, 301):
        for seed in range(1, 32):
            for method in ("cusolver", "gauss_block"):
                status = "failed" if method == "gauss_block" and seed % 5 == 0 else "pass"
                more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}{method}"}
                night.trial("gesv", method, n, seed * 1e-6, gpu=GPU, status=status, **more)
    return night


def matrices(count=30, size=None):
    night = fixture.Night("matrices")
    for i in range(count):
        for j, method in enumerate(("cusolver", "gauss_block", "crout")):
            status = ("pass", "suspect", "failed")[min(2, i * j % 5)]
            n = size or 100 + 7 * i
            night.trial("gesv", method, n, (i + j + 1) * 1e-6, gpu=GPU, matrix=f"m{i:02d}.mtx", status=status)
    return night


def batches():
    night = fixture.Night("batches")
    for n in (8, 16, 33, 64):
        for batch in (1, 1024, 10240):
            for method in ("batched", "lapack"):
                more = {"batch": batch, "key": f"{n}{batch}{method}", "matrix_digest": f"{n} {batch}"}
                night.trial("gesv", method, n, n * (batch + 9) * 1e-8, gpu=GPU if method == "batched" else None, **more)
    return night


def conditions():
    """Returns trials on matrices whose names repeat their kind; the axis must show "condition=1e+03 mode=2" only."""
    night = fixture.Night("conditions")
    for i in range(10):
        words = {"condition": 10.0 ** (i // 2), "mode": 2 + i % 2}
        for method in ("cusolver", "gauss_block"):
            more = {"matrix_parameters": json.dumps(words), "matrix_digest": f"c{i}", "key": f"{i}{method}"}
            night.trial("gesv", method, 64, (i + 1) * 1e-6, gpu=GPU, matrix="condition", **more)
    return night


class DrawnTest(unittest.TestCase):
    def test_draws_every_passed_trial(self):
        several = {
            "night": [sweep()],
            "seeds": [seeds()],
            "matrices": [matrices()],
            "conditions": [conditions()],
            "batches": [batches()],
            "runs": [sweep(), sweep("run-2", "02")],
        }
        for name, nights in several.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                loaded = [load([night.write(Path(folder) / "results.h5")]).records for night in nights]
                page = page_of(*nights)
                counts = [missing(page, records) for records in loaded]
                self.assertEqual([r for absent, _ in counts for r in absent], [])
                self.assertGreaterEqual(sum(passed for _, passed in counts), 20)

    def test_lines_on_different_matrices_name_them(self):
        night = fixture.Night("matrices")
        for n, (method, matrix) in itertools.product((64, 128), (("lapack", "uniform"), ("crout", "spd"))):
            night.trial("gesv", method, n, 1e-6 * n, matrix=matrix)
        for name, plot in page_of(night).plots.items():
            if name.startswith(("time-", "rate-", "transfer-")):
                self.assertEqual({line["l"] for line in plot["series"]}, {"lapack, uniform", "crout, spd"}, name)

    def test_separates_batches_from_single_systems(self):
        page = page_of(batches())
        for name in page.figures["time"]:
            is_of_batch = {", batch " in line["l"] for line in page.plots[name]["series"]}
            self.assertEqual(len(is_of_batch), 1, name)
        (name,) = [name for name in page.figures["time"] if name.startswith("systems-")]
        lines = {line["l"]: line for line in page.plots[name]["series"]}
        self.assertEqual(set(lines), {f"{m}, batch {b}" for m in ("batched", "lapack (CPU)") for b in (1024, 10240)})
        self.assertEqual(lines["batched, batch 1024"]["x"], [8, 16, 33, 64])
        for y, n in zip(lines["batched, batch 1024"]["y"], (8, 16, 33, 64)):
            self.assertAlmostEqual(y, 1024 / (n * 1033 * 1e-8), delta=0.1 * y)
        self.assertEqual(page.plots[name]["y"], "rate [1/s]")

    def test_seeds_become_median_and_range(self):
        (name,) = [n for n in page_of(seeds()).plots if n.startswith("time-")]
        lines = {s["l"]: s for s in page_of(seeds()).plots[name]["series"]}
        self.assertEqual(set(lines), {"cusolver", "gauss_block"})
        line = lines["cusolver"]
        self.assertTrue(line["band"])
        self.assertAlmostEqual(line["y"][0], 16e-6, delta=1e-6)
        self.assertAlmostEqual(line["lo"][0], 1e-6, delta=1e-7)
        self.assertAlmostEqual(line["hi"][0], 31e-6, delta=2e-6)

    def test_the_cell_of_two_seeds_has_their_mean_and_a_winner_that_passed_with_both(self):
        night = fixture.Night("two seeds")
        for seed, steady, lucky in ((1, 1e-3, 1e-4), (2, 3e-3, 1e-4)):
            for method, time in (("steady", steady), ("lucky", lucky)):
                status = "failed" if method == "lucky" and seed == 2 else "pass"
                more = {"matrix_seed": seed, "matrix_digest": f"{seed}", "key": f"{seed}{method}", "status": status}
                night.trial("gesv", method, 64, time, scatter=0, **more)
        page = page_of(night)
        (cell,) = [cell for row in page.tables["grid-1"][1:] for cell, _ in row[1:]]
        self.assertIn("steady 1 of 2", cell)
        self.assertIn("2.00 ms", cell)
        (bars,) = [page.bars[name] for name in page.figures["time"] if name.startswith("time-")]
        self.assertIn(2e-3, [round(value, 9) for value, _, _ in bars])

    def test_only_seeds_with_the_same_methods_are_pooled(self):
        night = fixture.Night("common seeds")
        times = {
            1: {"slow": 5e-2, "steady": 4e-3},
            2: {"steady": 3e-3, "quick": 1e-3},
            3: {"steady": 3e-3, "quick": 1e-3},
        }
        for seed, methods in times.items():
            for method, time in methods.items():
                more = {"matrix_seed": seed, "matrix_digest": f"{seed}", "key": f"{seed}{method}"}
                night.trial("gesv", method, 64, time, scatter=0, **more)
        page = page_of(night)
        (cell,) = [cell for row in page.tables["grid-1"][1:] for cell, _ in row[1:]]
        self.assertIn("quick 2 of 2", cell)
        self.assertIn("3.00×", cell)
        self.assertEqual([row["second"] for row in page.rows("ranking")], ["steady"])

    def test_methods_with_other_seeds_matter_only_without_a_runner_up(self):
        def cell(*trials):
            night = fixture.Night("other seeds")
            for method, backend, seed in trials:
                more = {"matrix_seed": seed, "matrix_digest": f"{seed}", "key": f"{seed}{method}"}
                night.trial("gesv", method, 64, 1e-3, scatter=0, backend=backend, **more)
            return [cell for row in page_of(night).tables["grid-1"][1:] for cell, _ in row[1:]][0]

        lapack = [("lapack", "host", seed) for seed in (1, 2)]
        emulated = [("a_kernel", "emulated", seed) for seed in (1, 2, 3)]
        self.assertIn("uncontested", cell(*lapack, *emulated))
        other = ("jordan", "host", 9)
        self.assertIn("no common seed", cell(*lapack, *emulated, other))
        words = cell(*lapack, ("serial", "host", 2), ("serial", "host", 3), other)
        self.assertNotIn("no common seed", words)

    def test_rates_are_those_of_the_pooled_time(self):
        night = fixture.Night("rates")
        for n, seed in itertools.product((64, 128), (1, 4)):
            more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}"}
            night.trial("gesv", "lapack", n, seed * 1e-3, scatter=0, peak_share=0.5 / seed, **more)
        page = page_of(night)
        rate = 2 / 3 * 64**3 / 2.5e-3 / 1e9
        (name,) = [name for name in page.figures["time"] if name.startswith("rate-")]
        (line,) = page.plots[name]["series"]
        self.assertAlmostEqual(line["y"][0], rate, delta=1e-3 * rate)
        (row,) = [row for row in page.rows("ranking") if row["n"] == 64]
        self.assertAlmostEqual(row["GFLOP/s"], rate, delta=1e-3 * rate)
        self.assertAlmostEqual(row["fraction of peak"], 0.2)

    def test_emulated_kernels_have_plots_of_their_own(self):
        night = fixture.Night("emulated")
        for n in (64, 128):
            night.trial("gesv", "lapack", n, n * 1e-6)
            night.trial("gesv", "gauss_block", n, n * 1e-3, backend="emulated")
        page = page_of(night)
        drawn = {name: {s["l"] for s in page.plots[name]["series"]} for name in page.figures["time"]}
        self.assertEqual(drawn["time-gesv-double-CPU"], {"lapack"})
        self.assertEqual(drawn["time-gesv-double-emulated_on_the_CPU"], {"gauss_block"})

    def test_answers_that_did_not_pass_are_hollow_and_named(self):
        night = fixture.Night("hollow")
        for n in (64, 128):
            for method, status in (("sound", "pass"), ("close", "suspect"), ("wrong", "failed")):
                night.trial("gesv", method, n, n * 1e-6, status=status, reference_method="wrong")
        page = page_of(night)
        marks = {s["l"]: s.get("h") for s in page.plots["time-gesv-double-CPU"]["series"]}
        self.assertEqual(marks, {"sound": None, "close": [1, 1], "wrong": [2, 2]})
        self.assertIn("close (suspect); wrong (failed).", page.words("time"))
        self.assertRegex(page.words("baseline"), "reference wrong .* on uniform at n = 64, 128")
        over = page.plots["over-wrong-gesv-double-CPU"]
        told = {s["l"]: [over["told"][i] for i in s["t"]] for s in over["series"]}
        self.assertEqual(told, dict.fromkeys(("sound", "close"), ["the reference did not pass"] * 2))

    def test_figures_draw_hollow_marks_last_and_faint_marks_without_an_edge(self):
        n = np.array([64.0, 128.0])
        series = [Series("crout", n, n, hollow=[1, 0]), Series("lapack", n, n), Series("lapack", n, 2 * n, faint=True)]
        figure = Figure(layout="constrained")
        figures._lines(Plot("time", "", "n", "time"), styled(series, {"crout": 0, "lapack": 1}), figure)
        last = max(figure.axes[0].lines, key=lambda line: line.get_zorder())
        self.assertEqual((last.get_markerfacecolor(), list(last.get_xdata())), ("white", [64]))
        edges = {line.get_markeredgecolor() for line in figure.axes[0].lines if line.get_alpha() == 0.4}
        self.assertEqual(edges, {"none"})

    def test_labels_of_bars_lack_the_parameters_that_all_have(self):
        night = fixture.Night("bars")
        for blocks in (1, 4):
            parameters = {"back_substitution": "reduction", "blocks": blocks, "threads": 0}
            night.trial("gesv", "cyclic", 64, blocks * 1e-6, gpu=GPU, parameters=parameters, key=str(blocks))
        text = page_of(night).text
        for blocks in (1, 4):
            full_label = f"cyclic, back_substitution=reduction blocks={blocks} threads=0"
            self.assertIn(f'<span title="{full_label}">cyclic, blocks={blocks}</span>', text)

    def test_of_equally_measured_matrices_the_one_with_more_passes_is_drawn(self):
        night = fixture.Night("kinds")
        for matrix, status in (("awkward", "failed"), ("kind", "pass")):
            for method in ("cusolver", "gauss_block"):
                night.trial("gesv", method, 64, 1e-6, gpu=GPU, matrix=matrix, status=status)
        page = page_of(night)
        self.assertEqual({row["matrix"] for row in page.rows("roofline")}, {"kind"})

    def test_dashes_distinguish_right_hand_sides_and_matrices(self):
        page = page_of(sweep())
        for name in page.figures["time"]:
            lines = {(s["l"], s["c"], s["d"]) for s in page.plots[name]["series"]} if name in page.plots else set()
            self.assertEqual(len(lines), len({(c, d) for _, c, d in lines}), name)

    def test_matrices_of_one_size_are_cards(self):
        self.assertEqual(len(re.findall(r'<div class="cards">', page_of(matrices(size=64)).text)), 1)
        self.assertNotIn('<div class="cards">', page_of(matrices(3, size=64)).text)

    def test_methods_with_one_stage_have_no_stage_plot(self):
        for stages, drawn in (([("solve", 1, 1e-3, np.nan)], 0), ([("a", 1, 1e-3, np.nan), ("b", 1, 1e-3, np.nan)], 1)):
            night = fixture.Night("stages")
            for n in (64, 128):
                night.trial("gesv", "lapack", n, 1e-3, stages=stages)
            page = page_of(night)
            self.assertEqual(len(page.figures["stages"]), drawn)
            self.assertEqual(page.text.count('style="width:50.0%"'), 2 * drawn, "of 100 %")
        night.trial("gesv", "serial", 128, 1e-3, stages=[("solve", 1, 1e-3, np.nan)])
        self.assertIn("are not shown: serial.", page_of(night).words("stages"))

    def test_map_shows_which_method_passes_on_which_matrix(self):
        page = page_of(matrices())
        head, *rows = page.tables["judgements"]
        self.assertEqual(len(head), 31)
        cells = {(row[0][0], column[0]): cell[0] for row in rows for column, cell in zip(head[1:], row[1:])}
        self.assertEqual({m for m, _ in cells}, {"cusolver", "gauss_block", "crout"})
        marks = {"pass": "✓", "suspect": "~", "failed": "✗"}
        for r in matrices().records:
            self.assertEqual(cells[r["method"], r["matrix"]], marks[r["status"]])
        self.assertNotIn("judgements", page_of(matrices(2)).sections)


if __name__ == "__main__":
    unittest.main()
