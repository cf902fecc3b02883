"""Tests the figures for papers: ticks, bars, published columns, and what captions name."""

import itertools
import json
import re
import tempfile
import unittest
from pathlib import Path

import fixture
import matplotlib
import numpy as np
from everything import everything
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pages import page_of

from analysis import figures
from analysis.cli import SHOWN, build
from analysis.loader import load
from analysis.trend_text import table as table_of
from analysis.plots import Plot, Series, merged, styled
from analysis.sections.changes import followed
from analysis.words import matplotlib_text, tex

GPU = "NVIDIA Test 100"


def drawn(*nights, papers="all"):
    """Returns the plots of a report on these fixture.Nights: name -> (plot, series, caption)."""
    with tempfile.TemporaryDirectory() as folder:
        files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]
        page = build(load(files, SHOWN), of_papers=papers)
    return {plot.name: (plot, kept, figures._caption(plot, kept, [*notes])) for plot, kept, notes in page.drawn}


def of_paper(plan, n, **methods):
    """Returns records of a paper's plan in single precision on a GPU. `methods`: method -> parameters."""
    night = fixture.Night(plan)
    for size, (method, parameters) in itertools.product(n, methods.items()):
        gpu = None if "serial" in method else GPU
        problem = "gemm" if plan.startswith("cejka") else "gesv"
        night.trial(problem, method, size, 1e-6 * size, precision="float", gpu=gpu, parameters=parameters)
    return night


class FiguresTest(unittest.TestCase):
    def test_tick_labels_do_not_touch(self):
        for sizes in ([16, 33, 64, 160, 800, 1600, 8000, 16000], [900, 1000, 1100], [7, 8]):
            x = np.array(sizes)
            plot = Plot("p", "", "n", "time", [Series("a", x, x * 1.0)], xlog=True, ylog=True)
            figure = Figure(figsize=(figures.WIDTH, figures.HEIGHT), layout="constrained")
            figures._lines(plot, styled(plot.series, {}), figure)
            figure.canvas.draw()
            labels = [label for label in figure.axes[0].get_xticklabels() if label.get_text()]
            boxes = [label.get_window_extent() for label in labels]
            for left, right in itertools.pairwise(boxes):
                self.assertGreater(right.x0 - left.x1, 2, sizes)
            self.assertEqual(labels[-1].get_text(), str(sizes[-1]))
            self.assertGreater(len(labels), 1)

    def test_logarithmic_axes_have_several_labels_that_do_not_touch(self):
        for low, high in ((1e-7, 1.5e-7), (2e-5, 4e-4), (6600, 20000)):
            values = np.array([low, high])
            plot = Plot("p", "", "", "time [s]", [Series("a", values, values)], kind="dots", xlog=True, ylog=True)
            figure = Figure(figsize=(figures.WIDTH, figures.HEIGHT), layout="constrained")
            figures._lines(plot, styled(plot.series, {}), figure)
            FigureCanvasAgg(figure).draw()
            for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
                ends = axis.get_view_interval()
                labels = [tick.label1 for tick in axis._update_ticks() if ends[0] <= tick.get_loc() <= ends[1]]
                boxes = [label.get_window_extent() for label in labels if label.get_text()]
                self.assertGreater(len(boxes), 1, low)
                self.assertFalse(any(a.overlaps(b) for a, b in itertools.pairwise(boxes)), low)
            self.assertEqual((axis.get_label_text(), labels[0].get_text()) == ("time [ms]", "0.02"), low == 2e-5)

    def test_long_legends_fit_below_the_axes(self):
        x = np.array([1.0, 2.0])
        kinds = itertools.product(("uniform", "spd", "diagonally_dominant"), (1, 2), (1, 4))
        labels = [f"lu_fixed_point, {kind}, seed {s}, nrhs {r}, n = 48, converged" for kind, s, r in kinds]
        matrix_names = "beam_stiffness_k7.npy cauchy condition=10000,mode=2,x condition=1e+12,mode=2,x uniform".split()
        of_one = [f"gauss_cyclic_decrement, {name}" for name in matrix_names]
        long = ["crout, a, condition condition=1e+12 mode=3 seed=12345678 other=87654321", "lapack, uniform"]
        methods = {"crout": 0, "lapack": 1, "gauss_cyclic_decrement": 2}
        for names, colours, common in (
            (labels, 8, ["Common to all names: lu_fixed_point, n = 48, converged"]),
            (long, 2, []),
            (of_one, 1, ["Common to all names: gauss_cyclic_decrement"]),
            (["crout, stiffness_of_a_beam_of_steel_model_7_with_boundary_conditions.mtx", "lapack, b"], 2, []),
            ([f"{name}, H200, condition=1e+12" for name in long], 2, ["Common to all names: H200, condition=1e+12"]),
        ):
            series = [Series(name, x, x) for name in names]
            kept, shared = figures._shortened(figures._coloured(styled(series, methods)))
            self.assertEqual(shared, common)
            self.assertEqual(len({(colour, dash) for _, colour, dash in kept}), len(names))
            self.assertEqual(len({colour for _, colour, _ in kept}), colours)
            figure = Figure(layout="constrained")
            with matplotlib.rc_context(figures.STYLE):
                plot = Plot("p", "", "n", "time", series)
                figures._lines(*figures._escaped(plot, kept, matplotlib_text), figure)
                FigureCanvasAgg(figure).draw()
            box, axes = figure.legends[0].get_window_extent(), figure.axes[0].get_tightbbox()
            self.assertTrue(0 <= box.x0 and box.x1 <= figure.bbox.x1 and 0 <= box.y0 and box.y1 <= axes.y0, (box, axes))

    def test_matrices_on_the_axis_have_one_n(self):
        kinds = "cauchy uniform symmetric spd hilbert random".split()
        for other in ("orthogonal", "file.mtx"):
            night = fixture.Night("mixed")
            trials = [("dominant", n) for n in (16, 32, 64, 96)] + [(kind, 64) for kind in kinds]
            trials += [(other, 64 if other == "orthogonal" else 48)]
            for (matrix, n), (method, time) in itertools.product(trials, (("crout", 4), ("lapack", 2))):
                # At the smallest n crout is the faster method.
                seconds = 1e-6 * n * (1 if (n, method) == (16, "crout") else time)
                night.trial("gesv", method, n, seconds, matrix=matrix, reference_method="lapack", scatter=0)
            night.trial("gesv", "small", 16, 1e-5, matrix="dominant")
            plots = {name.partition("-")[0]: plot for name, plot in drawn(night, papers="none").items()}
            for name, expected in (("time", 4e-6 * 64), ("over", 0.5)):
                plot, kept, caption = plots[name]
                (series,) = [s for s in kept if s.label == "crout" and not s.faint]
                (dominant,) = [i for i, words in enumerate(plot.names) if words.startswith("dominant")]
                np.testing.assert_allclose(series.y[list(series.x).index(dominant)], expected)
                self.assertIn("; n = 64." if other == "orthogonal" else "; n = 48 to 64.", caption)
                self.assertEqual("file.mtx, n = 48" in plot.names, other == "file.mtx")
                self.assertEqual("dominant, n = 64" in plot.names, other == "file.mtx")
            for name, is_left_out in (("time", False), ("rate", True), ("over", True)):
                words = "Not drawn: small, which ran only at other n."
                self.assertEqual(words in plots[name][2], is_left_out, name)
            _, kept, caption = plots["time"]
            self.assertIn("Faint marks: other configurations (n 16, 32 or 96).", caption)
            self.assertEqual([s.faint for s in kept if s.label == "small"], [True])
            figure = Figure(layout="constrained")
            figures._lines(plots["time"][0], styled(kept, {}), figure)
            self.assertIn("small", [text.get_text() for text in figure.legends[0].get_texts()])

    def test_a_matrix_has_one_name_in_all_figures(self):
        night = fixture.Night("conditions")
        for n, condition, blocks in itertools.product((64, 128), (1e4, 1e12), (1, 4)):
            more = {"matrix_parameters": json.dumps({"condition": condition}), "parameters": {"blocks": blocks}}
            more.update(key=f"{n}{condition}{blocks}", matrix_digest=f"{n}{condition}")
            night.trial("gesv", "crout", n, 1e-6 * n * blocks, matrix="condition", **more)
        checked = set()
        for name, (_, kept, _) in drawn(night).items():
            if name.startswith(("time-", "speedup-", "amplification-")):
                labels = {s.label for s in kept if s.marker}
                self.assertEqual(labels, {"crout, condition=10000", "crout, condition=1e+12"}, name)
                checked.add(name.partition("-")[0])
        self.assertEqual(checked, {"time", "speedup", "amplification"})

    def test_long_names_leave_the_axes_their_height_and_the_label_its_room(self):
        heights = set()
        for name in ("a", "stiffness_of_a_beam_of_steel_model_7.mtx"):
            x = np.arange(7.0)
            plot = Plot("p", "", "matrix", "speedup over gauss_cyclic_decrement", [Series("crout", x, x + 1)])
            plot.names = [f"{name}{i}" for i in range(7)]
            figure = Figure(layout="constrained")
            with matplotlib.rc_context(figures.STYLE):
                figures._lines(*figures._escaped(plot, styled(plot.series, {"crout": 0}), matplotlib_text), figure)
                FigureCanvasAgg(figure).draw()
            (axes,) = figure.axes
            heights.add(round(axes.bbox.height / figure.dpi, 1))
            for text in (axes.yaxis.label, *axes.get_xticklabels()):
                box = text.get_window_extent()
                self.assertTrue(0 <= box.y0 and box.y1 <= figure.bbox.y1, (text, box))
        self.assertEqual(len(heights), 1, heights)

    def test_characters_without_a_glyph_become_their_number(self):
        self.assertEqual(figures._font_glyphs()("漢字 α_β.npy"), "[6F22][5B57] α_β.npy")
        plot = Plot("p", "", "漢", "漢字 " * 9, [Series("漢字 " * 20, [1], [1])], lines_at=[(1, "漢字 " * 20)])
        for escape, replaced in ((tex, figures._tex_glyphs), (matplotlib_text, figures._font_glyphs())):
            done, ((series, *_),) = figures._escaped(plot, styled(plot.series, {}), escape, replaced)
            self.assertEqual(done.xlabel, "[6F22]")
            for words, width in (
                (series.label, figures.LONGEST_LABEL),
                (done.lines_at[0][1], figures.LONGEST_LABEL),
                (done.ylabel, figures.LONGEST_VALUE),
            ):
                self.assertEqual(set(words.split()), {"[6F22][5B57]"})
                self.assertLessEqual(max(map(len, words.splitlines())), width)

    def test_tex_has_all_characters_of_own_words(self):
        for plot, kept, caption in drawn(everything()).values():
            for words in (caption, plot.xlabel, plot.ylabel, *(plot.names or ()), *(s.label for s in kept)):
                self.assertEqual(figures._tex_glyphs(words), " ".join(words.split()))

    def test_a_stage_is_not_part_of_the_name_of_its_trial(self):
        words = {"lu, spd: update": "a", "crout, spd: factor": "b", "crout, uniform: factor": "c"}
        self.assertEqual(list(merged(words, words)), ["lu, spd", "crout, spd", "crout, uniform"])

    def test_histories_are_in_the_order_of_their_seeds(self):
        night = fixture.Night("histories")
        for seed in (3, 1, 10, 2):
            more = {"matrix_seed": seed, "matrix_digest": f"{seed}", "key": f"{seed}", "history": (1.0, 0.5)}
            night.trial("gesv", "jacobi", 64, 1e-6, convergence="converged", **more)
        (kept,) = [kept for name, (_, kept, _) in drawn(night).items() if name.startswith("history-")]
        seeds = [int(re.search(r"seed (\d+)", s.label).group(1)) for s in kept]
        self.assertEqual(seeds, [1, 2, 3, 10])

    def test_histories_have_the_largest_size_of_each_method_and_outcome(self):
        night = fixture.Night("histories")
        for method, n, end in (("jacobi", 32, "converged"), ("jacobi", 64, "diverged"), ("sor", 128, "converged")):
            night.trial("gesv", method, n, 1e-6, convergence=end, history=(1.0, 0.5))
        ((_, kept, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("history-")]
        self.assertEqual(sorted(int(re.search(r"n = (\d+)", s.label).group(1)) for s in kept), [32, 64, 128])
        self.assertIn("at the largest size with the line's method, matrix and outcome.", caption)

    def test_captions_of_a_papers_ratios_name_their_reference_and_points_that_are_left_out(self):
        night = fixture.Night("fuhrmann-figure-6.4")
        times = {1: 5.0, 2: 3.0, 4: 1.9, 8: 1.0, 16: 1.3}  # K is 0.975 s, and t at least that; another line has less
        for method, last in (("gauss_cyclic_halving", 1.3), ("gauss_cyclic_decrement", 0.2)):
            for blocks, time in (times | {16: last}).items():
                more = {"gpu": GPU, "parameters": {"blocks": blocks}, "samples": 7, "scatter": 0}
                night.trial("gesv", method, 900, time, **more)
        captions = {name: caption for name, (_, _, caption) in drawn(night).items()}
        (speedup,) = [c for name, c in captions.items() if name.startswith("fuhrmann-figure-6.4-speedup")]
        (fitted,) = [c for name, c in captions.items() if name.startswith("fuhrmann-figure-4.3-reciprocal")]
        self.assertIn("smallest value (blocks = 1) over that at the value shown, of 7 samples.", speedup)
        self.assertIn("t = K + c / blocks, fitted by least squares.", fitted)
        self.assertIn("of 10 points, whose t is at most K.", fitted)

    def test_scaled_columns_have_no_measured_line(self):
        full = {"grid": "full"}
        methods = {"gauss_pivot_serial": {}, "gauss_jordan_serial": {}, "gauss_jordan_global": full}
        plots = drawn(of_paper("xia-lee-times", (512, 1024), gauss_jordan_shared=full, **methods))
        ((_, kept, caption),) = [plot for name, plot in plots.items() if name.startswith("xia-lee-times")]
        lines = {s.label: s.y for s in kept}
        scaled = "global memory, as if on 16 multiprocessors"
        self.assertIn(f"{scaled}, published", lines)
        self.assertNotIn(f"{scaled}, measured", lines)
        self.assertIn("global memory, measured", lines)
        self.assertIn("GeForce 8400 GS", caption)

    def test_reports_first_that_no_published_size_was_measured(self):
        night = of_paper("xia-lee-times", (32, 64), gauss_pivot_serial={}, gauss_jordan_global={"grid": "full"})
        with tempfile.TemporaryDirectory() as folder:
            page = build(load([night.write(Path(folder) / "a.h5")], SHOWN), of_papers="run")
        words = "".join(itertools.chain.from_iterable(section[2] for section in page.sections))
        self.assertIn("none of the 4 published sizes was measured (this run has n = 32, 64)", words)

    def test_bars_of_means_contain_them(self):
        night = of_paper("cejka-table-1.7", (160, 800), shared={"tile": "32"}, **{"global": {"tile": "32"}})
        for trial in night.records:  # one slow sample, as a disturbed run has
            trial.update(seconds_mean=2 * trial["seconds_q3"], seconds_max=9 * trial["seconds_q3"])
        for name in ("cejka-table-1.7", "cejka-figure-1.17"):
            (plot,) = [plot for found, plot in drawn(night).items() if found.startswith(name)]
            measured = [s for s in plot[1] if s.label.endswith("measured")]
            self.assertEqual(len(measured), 2)
            for series in measured:
                self.assertTrue(np.all((series.low <= series.y) & (series.y <= series.high)), name)
            for words in ("mean of 5 samples", "Bars: least to largest sample.", "Table 1.7", "GeForce GTX 1070"):
                self.assertIn(words, plot[2])
            self.assertIn("Parameters: float, tile 32; without shared memory, measured: gemm/global;", plot[2])

    def test_captions_name_all_parameters_of_matrices_and_configurations(self):
        night = fixture.Night("hard")
        for n, blocks in itertools.product((64, 128), (8, 16)):
            condition = {"matrix_parameters": json.dumps({"condition": 1e12, "mode": 3})}
            block = {"blocks": blocks, "threads": 0}
            night.trial("gesv", "crout", n, 1e-6 * n * blocks, parameters=block, matrix="condition", **condition)
            night.trial("gesv", "lapack", n, 1e-6 * n, matrix="condition", **condition)
        ((plot, kept, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("time-")]
        figure = Figure(layout="constrained")
        figures._lines(plot, styled(kept, {}), figure)
        self.assertEqual([text.get_text() for text in figure.legends[0].get_texts()], ["crout", "lapack"])
        self.assertIn("Matrix: condition (condition 1e+12, mode 3), seed 0.", caption)
        self.assertIn("Parameters: crout: blocks 8, threads 0.", caption)
        self.assertIn("Faint marks: other configurations (blocks 16).", caption)
        self.assertIn("Bars: first to third quartile.", caption)
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("speedup-blocks")]
        self.assertIn("the median time at the method's smallest value (blocks = 8)", caption)

    def test_an_earlier_run_of_one_size_has_its_own_rows_and_marks(self):
        nights = []
        for run in (1, 2):
            nights.append(fixture.Night("again", run))
            nights[-1].hosts[0]["blas_threads"] = 3 * run
            for method, blocks in (("lapack", None), ("crout", 4), ("crout", 8)):
                more = {"run_id": f"run-{run}", "start_time": f"2026-01-0{run}T00:00:00Z"}
                more["parameters"] = {} if blocks is None else {"blocks": blocks}
                nights[-1].trial("gesv", method, 64, 1e-4 * run * (blocks or 1), **more)
        ((plot, kept, caption),) = [p for name, p in drawn(*nights, papers="none").items() if name.startswith("time-")]
        self.assertEqual(len(set(kept[0].x)), 6)
        before = {name for name, when in zip(kept[0].x, kept[0].earlier) if when}
        self.assertEqual(
            before, {f"{name}, the run before (3 threads)" for name in ("lapack", "crout, blocks=4", "crout, blocks=8")}
        )
        self.assertNotRegex(caption, "runs_ago|Parameters")
        figure = Figure(layout="constrained")
        figures._bars(plot, styled(kept, {}), figure, figures._row_colours(styled(kept, {}), {"lapack": 0, "crout": 1}))
        marks = [(line.get_marker(), line.get_color()) for line in figure.axes[0].lines if line.get_marker() != "None"]
        self.assertEqual(len(marks), 6)
        self.assertEqual(len(set(marks)), 4, "two methods, each with two kinds of marks")

    def test_bands_of_seeds_are_their_range(self):
        night = fixture.Night("seeds")
        for n, seed in itertools.product((64, 128), (1, 2, 3)):
            more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}"}
            night.trial("gesv", "lapack", n, 1e-6 * n * seed, **more)
        (caption,) = [words for name, (_, _, words) in drawn(night).items() if name.startswith("time-")]
        self.assertIn("Bands: the full range of the seeds or repetitions.", caption)
        self.assertIn("Matrix: uniform, seeds 1, 2, 3.", caption)
        self.assertNotIn("quartile", caption)
        for seed in (1, 2):  # a line of one point has a bar
            night.trial("gesv", "crout", 64, 1e-6 * seed, matrix_seed=seed, matrix_digest=f"64{seed}", key=f"{seed}")
        (caption,) = [words for name, (_, _, words) in drawn(night).items() if name.startswith("time-")]
        self.assertIn("Bands and bars: the full range of the seeds or repetitions.", caption)

    def test_a_point_of_several_verdicts_says_which_seeds_it_shows(self):
        for sizes in ((64, 128), (64,)):  # several sizes are drawn as lines, a single one as bars
            night = fixture.Night("verdicts")
            for n, seed, method in itertools.product(sizes, (1, 2, 3), ("crout", "lapack")):
                more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}{method}", "gpu": GPU}
                status = "failed" if seed == 3 and method == "crout" else "pass"
                night.trial("gesv", method, n, 1e-6 * n * seed, status=status, scatter=0, **more)
            plots = drawn(night)
            for name in ("time-gesv-double", "rate-gesv-double", "roofline-double"):
                self.assertIn("(shown: the 2 of 3 trials that passed)", plots[f"{name}-NVIDIA_Test_100"][2])
            _, kept, caption = plots["time-gesv-double-NVIDIA_Test_100"]
            hover = [words for series in kept for words in series.hover]
            self.assertEqual(sum(words.endswith("the 2 of 3 trials that passed") for words in hover), len(sizes), hover)
            self.assertEqual(sum(words.endswith("3 seeds") for words in hover), len(sizes), hover)
            self.assertIn("with different verdicts shows those with the best verdict.", caption)
            self.assertIn("s: the full range of the seeds or repetitions with the best verdict.", caption)

    def test_every_caption_names_matrices_and_what_a_point_is(self):
        plots = drawn(everything())
        self.assertGreater(len(plots), 40)
        for name, (_, _, caption) in plots.items():
            self.assertIn("Matrix: ", caption, name)
        for name in (name for name in plots if name.startswith(("roofline-", "stages-", "first-row-cloud"))):
            self.assertRegex(plots[name][2], r"Matrix: .*; n = \d+")

    def test_captions_of_ratios_name_the_samples_and_those_of_stages_what_is_left_out(self):
        night = fixture.Night("ratios")
        for n, method in itertools.product((64, 128), ("lapack", "crout")):
            stages = [("factor", 1, 0.9, 0.5), ("solve", 1, 0.09, 0.5), ("copy", 1, 0.01, 0.5)]
            night.trial("gesv", method, n, 1e-6 * n, reference_method="lapack", stages=stages, gpu=GPU)
        plots = drawn(night)
        plot = Plot("p", "", "", "speedup", [Series("", ["a", "b"], np.array([2.0, 3.0]))], kind="bars", ylog=True)
        plot.lines_at = [(1, "lapack")]
        figure = Figure(layout="constrained")
        figures._bars(plot, styled(plot.series, {}), figure, [["black", "black"]])
        self.assertLess(figure.axes[0].get_xlim()[0], 1)
        self.assertEqual([text.get_text() for text in figure.legends[0].get_texts()], ["lapack"])
        plot = Plot("p", "", "", "share", [Series("", ["a"], np.array([0.3]))], kind="bars", percent=True)
        figure = Figure(layout="constrained")
        figures._bars(plot, styled(plot.series, {}), figure, [["black"]])
        self.assertEqual(figure.axes[0].get_xlim(), (0, 1))
        for name in ("over-lapack-", "transfer-"):
            ((_, _, caption),) = [plot for found, plot in plots.items() if found.startswith(name)]
            self.assertIn("5 samples", caption)
        ((_, _, caption),) = [plot for found, plot in plots.items() if found.startswith("stages-")]
        self.assertIn("Stages below 3 % of the time are not shown.", caption)

    def test_captions_of_stages_name_the_matrix_and_each_methods_n(self):
        night = fixture.Night("stages")
        for method, sizes in (("crout", (48, 64)), ("lapack", (48,))):
            for n, matrix in itertools.product(sizes, ("uniform", "spd")):
                if n == 64 and matrix == "spd":
                    continue  # crout passed there on the other matrix only
                stages = [("factor", 1, 0.6, 0.5), ("solve", 1, 0.4, 0.5)]
                night.trial("gesv", method, n, 1e-6 * n, matrix=matrix, stages=stages, gpu=GPU)
        ((plot, (series, _), caption),) = [p for name, p in drawn(night).items() if name.startswith("stages-")]
        self.assertIn("gesv, double, on uniform, each method at its largest n there, ", plot.title)
        self.assertEqual({name.split(":")[0] for name in series.x}, {"crout, n = 64", "lapack, n = 48"})

    def test_captions_of_single_samples_have_no_statistic(self):
        night = fixture.Night("single")
        night.hosts[0]["blas_threads"] = 3
        for n, (method, gpu) in itertools.product((64, 128), (("crout", None), ("gauss_block", GPU))):
            night.trial("gesv", method, n, 1e-6 * n, gpu=gpu, samples=1, reference_method="crout")
        plots = drawn(night)
        ((_, _, caption),) = [plot for name, plot in plots.items() if name.startswith("time-")]
        self.assertIn("Each point: 1 sample.", caption)
        self.assertNotIn("quartile", caption)
        self.assertFalse([name for name, (_, _, words) in plots.items() if "BLAS" in words])

    def test_the_baselines_threads_are_named(self):
        night = fixture.Night("baseline")
        night.hosts[0]["blas_threads"] = 3
        for n, method in itertools.product((64, 128), ("crout", "lapack")):
            night.trial("gesv", method, n, 1e-6 * n, reference_method="lapack")
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("over-lapack")]
        self.assertIn("BLAS on 3 threads", caption)

    def test_published_columns_do_not_repeat_their_methods(self):
        night = fixture.Night("soriano-table-5.1")
        for n in (784, 1600):
            night.trial("geinv", "lapack", n, 1e-6 * n)
            night.trial("geinv", "gauss_jordan", n, 1e-6 * n, gpu=GPU, parameters={"grid": "full"})
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("soriano-table-5.1")]
        self.assertNotIn("geinv/lapack", caption)
        self.assertIn("geinv/gauss_jordan, double, measured: grid full", caption)

    def test_captions_name_methods_once_and_the_configurations_that_failed(self):
        night = fixture.Night("failures")
        for n, nrhs, blocks in itertools.product((64, 128), (1, 3), (1, 4, 8)):
            status = "pass" if blocks == 1 or (n, nrhs, blocks) == (64, 1, 4) else "failed"
            stages = [("factor", 1, 0.6, 0.5), ("solve", 1, 0.4, 0.5)]
            more = {"parameters": {"blocks": blocks, "order": "rows"}, "gpu": GPU, "nrhs": nrhs, "stages": stages}
            more["key"] = f"{n} {nrhs} {blocks}"
            night.trial("gesv", "crout", n, 1e-6 * n * blocks, status=status, **more)
            night.trial("gesv", "lapack", n, 1e-7 * n, nrhs=nrhs, parameters={"tolerance": 0.0}, key=f"{n} {nrhs}")
        plots = drawn(night)
        ((_, _, caption),) = [plot for name, plot in plots.items() if name.startswith("time-")]
        self.assertIn("Failed: crout with blocks 4 or 8 at n = 64 and 128 (7 of 8 points).", caption)
        self.assertIn("Parameters: crout: blocks 1, order rows; lapack (CPU): tolerance 0.", caption)
        self.assertIn("Faint marks: other configurations (blocks 4 or 8).", caption)
        ((_, _, caption),) = [plot for name, plot in plots.items() if name.startswith("stages-")]
        self.assertIn("Parameters: blocks 1, order rows.", caption)
        self.assertNotIn("crout: factor", caption)

    def test_captions_name_only_matrices_that_are_drawn(self):
        night = fixture.Night("stopped early")
        for n, matrix in itertools.product((64, 128), ("uniform", "hilbert")):
            night.trial(
                "gesv", "jacobi", n, 1e-6 * n, matrix=matrix, **({"gflops": np.nan} if matrix == "hilbert" else {})
            )
        night.trial("trsv", "cublas", 64, 1e-6, gflops=np.nan, gpu=GPU)
        plots = drawn(night)
        captions = {name.partition("-")[0]: plot[2] for name, plot in plots.items() if "gesv" in name}
        self.assertIn("Matrix: hilbert, seed 0; uniform, seed 0.", captions["time"])
        self.assertIn("Matrix: uniform, seed 0.", captions["rate"])
        self.assertTrue(any(name.startswith("time-trsv") for name in plots))

    def test_n_of_products_that_are_not_square_is_defined(self):
        nights = []
        for day in (1, 2, 3):
            same = {"run_id": f"run-{day}", "start_time": f"2026-01-0{day}T00:00:00Z"}
            nights.append(fixture.Night("products"))
            for m, n, k in ((64, 64, 64), (32, 64, 128), (256, 128, 64)):
                nights[-1].trial("gemm", "lapack", n, 1e-6 * n, m=m, k=k, key=f"{m}", **same)
            nights[-1].trial("gemm", "serial", 64, None, m=32, k=128, status="crashed", **same)
            nights[-1].trial("gemm", "serial", 64, 1e-3, m=32, k=128, status="failed", key="serial", **same)
            nights[-1].trial("gesv", "lapack", 64, 1e-6, **same)
        sentence = "n: the cube root of m·n·k."
        captions = {name: caption for name, (_, _, caption) in drawn(*nights).items()}
        self.assertIn(sentence, captions["time-gemm-double-CPU"])
        self.assertFalse([name for name, caption in captions.items() if "gesv" in name and sentence in caption])
        text = page_of(*nights).text
        for table in ("overview", "leaders", "ranking", "failures-broken", "findings"):
            caption = re.search(rf'<figcaption>((?:(?!<figcaption>).)*)data-table="{table}"', text, re.S).group(1)
            self.assertIn("n of gemm: the cube root of m·n·k.", caption, table)
        night = fixture.Night("square")
        night.trial("gemm", "lapack", 64, 1e-6)
        self.assertNotIn("n of gemm", page_of(night).text)
        with tempfile.TemporaryDirectory() as folder:
            times = followed(load([night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]))
        lines = table_of(times)
        self.assertTrue(lines[0].startswith("gemm/lapack double, 256 × 64 × 128, uniform, seed 0, CPU"))
        self.assertTrue(lines[1].startswith("  01-01 "))
        lines = table_of(times.assign(at=times["at"].dt.normalize().min() + (times["at"] - times["at"].min()) / 24))
        self.assertRegex(lines[1], r"^  01-01 00:00 .*, 01-01 01:00 .*, 01-01 02:00 ")

    def test_captions_name_triangle_threads_and_calls_per_sample(self):
        night = fixture.Night("measured")
        night.hosts[0]["blas_threads"] = 3
        for n in (64, 128):
            more = {"uplo": "lower", "inner_repeats": 10, "host_memory": "pinned"}
            night.trial("potrf", "lapack", n, 1e-6 * n, **more)
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("time-")]
        self.assertIn("Measured with pinned host memory, lower triangle, BLAS on 3 threads.", caption)
        self.assertIn("the median of 5 samples of 10 calls.", caption)

    def test_papers_lines_have_one_per_triangle(self):
        night = fixture.Night("soriano-figure-5.4")
        for n, uplo in ((64, "lower"), (65, "upper"), (128, "lower"), (128, "upper")):
            for method in ("blocked", "lapack"):
                more = {"uplo": uplo, "key": f"{method} {n} {uplo}", "gpu": GPU if method == "blocked" else None}
                night.trial("potrf", method, n, 1e-6 * n, **more)
        ((_, kept, _),) = [plot for name, plot in drawn(night).items() if name.startswith("soriano-figure-5.4")]
        x = {s.label: list(s.x) for s in kept}
        for method in ("blocked", "lapack"):
            self.assertEqual(x[f"{method}, lower"], [64, 128])
            self.assertEqual(x[f"{method}, upper"], [65, 128])

    def test_speedups_of_several_seeds_are_a_band(self):
        night = fixture.Night("seeds")
        for n, seed, blocks in itertools.product((64,), (1, 2, 3), (1, 4)):
            more = {"matrix_seed": seed, "matrix_digest": f"{seed}", "parameters": {"blocks": blocks}}
            more.update(key=f"{seed} {blocks}", scatter=0)
            night.trial("gesv", "crout", n, 1e-6 * (1 + seed * (blocks == 4)), **more)
        ((plot, (series,), caption),) = [p for name, p in drawn(night).items() if name.startswith("speedup-blocks")]
        self.assertIn("Speedup by blocks", plot.title)
        np.testing.assert_allclose([series.low[1], series.y[1], series.high[1]], [1 / 4, 1 / 3, 1 / 2])
        self.assertIn("Each point: the median over up to 3 seeds of each seed's ratio: the median time at", caption)
        self.assertIn("Bands: the full range of the seeds or repetitions.", caption)

    def test_speedups_of_several_runs_have_one_baseline(self):
        nights = fixture.Night("first"), fixture.Night("second")
        for night, values in zip(nights, ((1, 2), (4, 8))):
            for blocks in values:
                more = {"parameters": {"blocks": blocks}, "host": f"node{values[0]}", "scatter": 0, "gpu": GPU}
                night.trial("gesv", "crout", 64, 1e-6 * blocks, **more)
        ((_, (line,), caption),) = [p for name, p in drawn(*nights).items() if name.startswith("speedup-blocks")]
        np.testing.assert_allclose(line.y, [1, 1 / 2, 1 / 4, 1 / 8])
        self.assertIn("(blocks = 1)", caption)

    def test_speedups_over_a_baseline_are_ratios_of_medians_over_the_seeds(self):
        for seeds, words in (((1,), "median time"), ((1, 2, 6), "median over the seeds of the median time")):
            night = fixture.Night("seeds")
            for n, seed in itertools.product((64, 128), seeds):
                for method, time, samples in (("crout", 4e-6, 5), ("lapack", 1e-6 * seed, 9)):
                    more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}{method}"}
                    more.update(reference_method="lapack", scatter=0, samples=samples)
                    night.trial("gesv", method, n, time, **more)
            ((_, (series,), caption),) = [p for name, p in drawn(night).items() if name.startswith("over-lapack")]
            words = f"Each point: the {words} of lapack (9 samples), divided by that of the method (5 samples"
            self.assertIn(words, caption)
            np.testing.assert_allclose(series.y, np.median(seeds) / 4)

    def test_transfers_and_energy_are_medians_over_the_seeds(self):
        for seeds, words in (((1,), ""), ((1, 2), "the median over the seeds of ")):
            night = fixture.Night("seeds")
            for n, seed in itertools.product((64, 128), seeds):
                more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}", "energy_joules": seed}
                night.trial("gesv", "crout", n, 1e-6, gpu=GPU, **more)
            captions = {name.partition("-")[0]: caption for name, (_, _, caption) in drawn(night).items()}
            self.assertIn(f"Each point: {words}allocation and both transfers", captions["transfer"])
            self.assertIn(
                f"over the {words.removeprefix('the ')}{'the ' * bool(words)}median time", captions["transfer"]
            )
            self.assertIn(f"Each point: {words}the energy of one run.", captions["energy"])

    def test_captions_count_the_repetitions_in_a_point(self):
        nights = [fixture.Night("one"), fixture.Night("two")]
        for (i, night), n, method in itertools.product(enumerate(nights), (64, 128), ("crout", "lapack")):
            more = {"run_id": f"{i}", "reference_method": "lapack", "key": f"{n}{method}"}
            night.trial("gesv", method, n, 1e-6 * n * (1 + i), **more)
        captions = {name.partition("-")[0]: caption for name, (_, _, caption) in drawn(*nights).items()}
        self.assertIn("Each point: the median over up to 2 trials of the medians of 5 samples.", captions["time"])
        self.assertIn("(5 samples in each of up to 2 trials).", captions["over"])

    def test_captions_name_all_matrices(self):
        night = fixture.Night("many")
        for matrix, method in itertools.product("abcdefghijkl", ("crout", "lapack")):
            night.trial("gesv", method, 64, 1e-6, matrix=matrix)
        ((_, _, caption),) = [p for name, p in drawn(night).items() if name.startswith("time-")]
        for matrix in "abcdefghijkl":
            self.assertIn(f"{matrix}, seed 0", caption)

    def test_a_roofline_pools_the_seeds_as_rates_do(self):
        night = fixture.Night("seeds")
        for n, seed, blocks in itertools.product((64, 128), (1, 2, 5), (1, 4)):
            more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "parameters": {"blocks": blocks}, "gpu": GPU}
            seconds = 1e-6 * n * seed * (1 + (blocks == 4) * (seed > 1))
            night.trial("gesv", "crout", n, seconds, key=f"{n}{seed}{blocks}", scatter=0, **more)
        plots = {name.partition("-")[0]: plot for name, plot in drawn(night).items()}
        (rate,) = [series for series in plots["rate"][1] if not series.faint]
        (point, *_), caption = plots["roofline"][1], plots["roofline"][2]
        self.assertEqual(list(point.y), [rate.y[-1]])
        self.assertIn("seeds 1, 2, 5; n = 128. Each point: the median over up to 3 seeds of", caption)

    def test_a_cpu_has_a_roof_per_number_of_threads(self):
        nights = fixture.Night("one"), fixture.Night("two")
        for count, night in enumerate(nights, 1):
            night.hosts[0]["blas_threads"] = count
            night.devices = [dict(host="node1", copy_bytes_per_second=count * 1e10, gemm_flops_double=count * 3e10)]
            night.trial("gesv", "lapack", 64, 1e-3 / count, scatter=0, run_id=f"run-{count}")
        nights[0].trial("gesv", "lapack", 64, 1e-3, precision="float", run_id="run-1")  # with one thread only
        plots = drawn(*nights)
        for name, threads in (("CPU__1_thread", 1), ("CPU__2_threads", 2)):
            _, (point, roof), _ = plots[f"roofline-double-{name}"]
            np.testing.assert_allclose([point.y[0], roof.y[-1]], [2 / 3 * 64**3 / 1e6 * threads, 30 * threads])

    def test_a_roofline_names_the_matrix_of_its_points(self):
        night = fixture.Night("matrices")
        for problem, method, matrix in (("gesv", "a", "uniform"), ("gesv", "b", "cauchy"), ("posv", "a", "spd")):
            night.trial(problem, method, 64, 1e-3, gpu=GPU, matrix=matrix, energy_joules=2.0, uplo="upper")
        words = r"upper triangle \(posv\).* On cauchy: gesv/b\. On spd: posv\. On uniform: gesv/a\."
        for name, (_, _, caption) in drawn(night).items():
            if name.startswith(("roofline-", "frugal-")):
                self.assertRegex(caption, words)

    def test_captions_name_the_rounds(self):
        night = fixture.Night("cejka_et_al")
        for n, method, i in itertools.product((64, 128), ("crout", "cusolver"), (1, 2)):
            more = dict(gpu=GPU, round=i, key=f"{n}{method}{i}", energy_joules=2.0, reference_method="cusolver")
            night.trial("gesv", method, n, 1e-6 * n, parameters={"blocks": n // 16}, samples=7 - 2 * i, **more)
        captions = {name: caption for name, (_, _, caption) in drawn(night).items()}
        kinds = {name.partition("-")[0] for name in captions}
        self.assertLessEqual({"time", "rate", "over", "roofline", "frugal", "transfer", "energy"}, kinds)
        for name, caption in captions.items():
            if " samples" in caption:
                self.assertRegex(caption, r"^(?!.*\(5).*3 to 5 samples( in each of 2 rounds|\.)", name)
            if name.startswith(("time-", "rate-", "roofline-")):
                self.assertIn("Each point: the median over 2 rounds of the medians of 3 to 5 samples.", caption)
            if name.startswith(("time-", "rate-")):
                self.assertIn("Bars: first to third quartile of the rounds' quartiles and medians.", caption)
            if name.startswith(("frugal-", "energy-")):
                self.assertIn("Each point: the median over 2 rounds of the energy of one run.", caption)
        (transfer,) = [caption for name, caption in captions.items() if name.startswith("transfer-")]
        self.assertIn("the median over 2 rounds of allocation and both transfers, measured once per round", transfer)

    def test_a_roofline_gives_reasons_for_points_above_it(self):
        for seconds, words in ((1e-6, "Points above the roof: the operands were in a cache."), (1, "")):
            night = fixture.Night("roof")
            night.trial("gesv", "crout", 64, seconds, gpu=GPU, bytes=1e8)
            ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("roofline-")]
            self.assertIn(words or "Each point", caption)
            self.assertEqual(bool(words), "above the roof" in caption)

    def test_labels_of_bars_do_not_break_within_a_size(self):
        for n in range(20, 60):
            plot = Plot("stages", "", "", "", [Series("", ["x" * n + ", n = 64, nrhs 2: a stage"], [1])], kind="bars")
            ((series,),) = figures._escaped(plot, [(plot.series[0],)], str)[1]
            self.assertIn("n = 64", series.x[0])
            self.assertIn("nrhs 2", series.x[0])

    def test_rounds_are_not_counted_as_trials(self):
        night = fixture.Night("rounds")
        for method, n, seed, i in itertools.product(("crout", "lapack"), (64, 128), (1, 2, 3), (1, 2)):
            if seed > 1 and method == "crout":
                continue
            more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}{method}{i}", "round": i}
            status = "failed" if (method, n, i) == ("crout", 128, 2) else "pass"
            night.trial("gesv", method, n, 1e-6 * n * seed, status=status, **more)
        (kept,) = [kept for name, (_, kept, _) in drawn(night).items() if name.startswith("time-")]
        hover = {series.label: list(series.hover) for series in kept}
        self.assertEqual(hover, {"crout": ["", "the 1 of 2 rounds that passed"], "lapack": ["3 seeds", "3 seeds"]})

    def test_points_of_a_roofline_have_their_sizes(self):
        night = fixture.Night("roof")
        for (method, n), nrhs in itertools.product((("crout", 64), ("lapack", 128)), (1, 3)):
            night.trial("gesv", method, n, 1e-6 * n, gpu=GPU, nrhs=nrhs, key=f"{n} {nrhs}")
        ((_, kept, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("roofline-")]
        self.assertIn("gesv/crout: n 64; gesv/lapack: n 128.", caption)
        self.assertLessEqual({"gesv/crout", "gesv/crout, nrhs 3"}, {s.label for s in kept})
        night = fixture.Night("batches")
        for batch in (10, 40):
            night.trial("gesv", "batched", 8, 1e-6, gpu=GPU, batch=batch, key=f"{batch}", matrix_digest=f"{batch}")
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("roofline-")]
        self.assertIn("Parameters: gesv/batched: batch 10 or 40.", caption)
        night = fixture.Night("one size")
        for method in ("crout", "lapack"):
            night.trial("gesv", method, 64, 1e-6, gpu=GPU, parameters={"blocks": 4})
        ((_, _, caption),) = [plot for name, plot in drawn(night).items() if name.startswith("roofline-")]
        self.assertIn("; n = 64. Each point", caption)
        self.assertIn("Parameters: blocks 4.", caption)

    def test_a_methods_later_series_have_later_dashes(self):
        points = np.array([1.0, 2.0])
        several = [Series(name, points, points) for name in ("ninth", "ninth, nrhs 3")]
        self.assertEqual([dash for _, _, dash in styled(several, {"ninth": 8})], [1, 2])

    def test_a_line_has_one_style_in_all_plots_of_its_problem(self):
        night = fixture.Night("styles")
        for n, matrix in itertools.product((64, 128), ("spd", "uniform")):
            for blocks in (1, 2) if matrix == "uniform" else (1,):  # only "uniform" has slower configurations
                parameters = {"blocks": blocks}
                night.trial("gesv", "crout", n, 1e-6 * n * blocks, matrix=matrix, parameters=parameters)
            # On one of the matrices the method has no rate.
            more = {"gflops": np.nan} if matrix == "spd" else {}
            night.trial("gesv", "lapack", n, 1e-6 * n, matrix=matrix, reference_method="lapack", **more)
        with tempfile.TemporaryDirectory() as folder:
            page = build(load([night.write(Path(folder) / "results.h5")], SHOWN), of_papers="none")
        styles, plots = {}, {}
        for plot, kept, _ in page.drawn:
            if plot.kind == "lines":
                plots[plot.name.partition("-")[0]] = len({s.label for s in kept})
                for series, *style in styled(kept, page.methods, plot.dashes):
                    styles.setdefault(series.label, set()).add(tuple(style))
        self.assertEqual([plots[name] for name in ("time", "rate", "over")], [4, 3, 2])
        self.assertEqual({label: len(found) for label, found in styles.items()}, dict.fromkeys(styles, 1))
        lines = [f"{method}, {matrix}" for method in ("crout", "lapack") for matrix in ("spd", "uniform")]
        self.assertEqual(len(set.union(*(styles[line] for line in lines))), 4)

    def test_a_line_of_a_paper_has_one_colour_with_and_without_faint_marks(self):
        points = np.array([1.0, 2.0])
        lines = [Series(f"crout, {i}", points, points) for i in range(7)]
        faint = [Series("crout, 6", points, points, line=False, faint=True)]
        known = {}
        styles = [
            {s.label: style for s, *style in figures._coloured(styled(drawn_series, {"crout": 0}, known))}
            for drawn_series in ([*faint, *lines], lines)
        ]
        self.assertEqual(*styles)
        self.assertEqual(len({colour for colour, _ in styles[0].values()}), 7)

    def test_single_samples_have_no_quartiles(self):
        for samples in (1, 5):
            night = fixture.Night("single")
            for n, seed in ((64, 1), (64, 2), (128, 1), (256, 1)):
                more = {"matrix_seed": seed, "matrix_digest": f"{n}{seed}", "key": f"{n}{seed}", "seconds_stdev": 0}
                night.trial("gesv", "lapack", n, 1e-6 * n * seed, samples=samples, **more)
            captions = {name: caption for name, (_, _, caption) in drawn(night).items()}
            (time,) = [caption for name, caption in captions.items() if name.startswith("time-")]
            self.assertIn("the full range of the seeds or repetitions", time)
            self.assertEqual(any("quartile" in caption for caption in captions.values()), samples > 1)
            self.assertEqual("with quartiles" in page_of(night).words("time"), samples > 1)

    def test_errors_on_several_matrices_are_told_apart(self):
        night = fixture.Night("errors")
        for n, matrix, nrhs in itertools.product((64, 128), ("uniform", "spd"), (1, 3)):
            night.trial("gesv", "lapack", n, 1e-6 * n, matrix=matrix, nrhs=nrhs, key=f"{n}{matrix}{nrhs}")
        labels = {s.label for s in drawn(night)["amplification-gesv-double"][1] if s.marker}
        self.assertEqual(labels, {f"lapack{b}, {a}" for a in ("uniform", "spd") for b in ("", ", nrhs 3")})


if __name__ == "__main__":
    unittest.main()
