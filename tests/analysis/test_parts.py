"""Unit tests of parts of the report: timeline, fits, formatted numbers, published tables, findings, plots, leaders."""

import re
import sys
import unittest
import unittest.mock
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.fits import cubic, r_squared, reciprocal
from analysis.frames import panels
from analysis.page import number, percent, seconds
from analysis.papers import DRAWINGS
from analysis.papers.common import PUBLISHED, source_of, table_of
from analysis.papers.experiments import experiments, letters_and_digits, plans_of
from analysis.papers.findings import _growth
from analysis.papers.times import _pays
from analysis.plots import Plot, Series
from analysis.sections.architectures import lead
from analysis.sections.timeline import BINS, COLOURS, IDLE, PHASES, _as_drawn, _fill, _row, intervals, lanes

ROOT = Path(__file__).resolve().parents[2]


class TimelineTest(unittest.TestCase):
    """Each trial of these tests waits for 1 s, makes its inputs in 2 s, is timed for 3 s and verified for 4 s."""

    NOON = 1772366400  # 2026-03-01T12:00:00Z

    def records(self, *trials):
        """Returns records of trials, each given as (seconds after noon, GPU, rank)."""
        rows = []
        for seconds_after_noon, gpu, rank in trials:
            row = {f"{phase}_began": np.nan for phase in PHASES}
            began = self.NOON + seconds_after_noon
            row.update(wait_began=began, inputs_began=began + 1, timed_began=began + 3, verify_began=began + 6)
            end = f"2026-03-01T12:00:{seconds_after_noon + 10}.000000Z"
            rows.append({**row, "end_time": end, "run_id": "run", "host": "node", "rank": rank, "gpu_name": gpu})
        return pd.DataFrame(rows)

    def test_a_phase_ends_where_the_next_begins(self):
        rows = intervals(self.records((0, "", 0)))
        self.assertEqual(list(rows["phase"]), ["wait", "inputs", "timed", "verify"])
        np.testing.assert_allclose(rows["ended"] - rows["began"], [1, 2, 3, 4], atol=1e-5)

    def test_older_records_and_changed_clocks_have_no_phases(self):
        records = self.records((0, "", 0), (0, "", 0), (10, "", 0))
        records.loc[0, "end_time"] = ""
        records.loc[1, "end_time"] = "2026-03-01T11:00:00.000000Z"
        self.assertEqual(set(intervals(records)["trial"]), {2})
        self.assertEqual(len(intervals(records.head(1))), 0)

    def test_a_device_is_busy_during_measurement(self):
        records = self.records((40, "", 0), (0, "a GPU", 0), (0, "", 1), (20, "a GPU", 0))
        for at_once in (100, 1):  # in one piece, and trial by trial
            with unittest.mock.patch("analysis.sections.timeline.AT_ONCE", at_once):
                self.check_lanes(records)

    def check_lanes(self, records):
        (((gpu, cpu), rows),) = lanes(records)
        self.assertEqual((gpu.title, cpu.title), ("a GPU, node, rank 0", "CPU, node, rank 1"))
        row = _row(gpu)
        self.assertEqual(row["trials"], 3)
        self.assertAlmostEqual(row["busy"], 14 / 50, places=6)
        self.assertAlmostEqual(row["timed"], 6 / 50, places=6)
        self.assertEqual(row["otherwise"], "methods on the CPU 14.0 %, inputs 12.0 %, wait 6.00 %")
        self.assertAlmostEqual(_row(cpu)["busy"], 0.7, places=6)
        parts = list(_fill(gpu.taken))
        self.assertEqual(parts[:3], [(0, 60, IDLE), (60, 120, COLOURS["timed"]), (120, 200, COLOURS["verify"])])
        self.assertEqual(parts[3][0], 400, "nothing is recorded between two trials")
        self.assertEqual(parts[-1][1], BINS)
        self.assertEqual(list(rows["device"]), 12 * [gpu.title] + 4 * [cpu.title])
        with unittest.mock.patch("analysis.sections.timeline.MOST_ROWS", len(rows) - 1):
            ((group, rows),) = lanes(records)
        self.assertIsNone(rows)
        drawn = _as_drawn(group)
        self.assertLess(len(drawn), 16)
        self.assertEqual(drawn["phase"].to_list()[:3], ["else", "timed", "verify"])


class FitTest(unittest.TestCase):
    def test_cubic_finds_its_coefficients(self):
        n = np.array([500.0, 1000, 1500, 2000, 3000, 4000])
        fit = cubic(n, 2e-9 * n**3 + 3e-6 * n**2 + 0.01)
        self.assertAlmostEqual(fit.coefficients["n³"] / 2e-9, 1, places=6)
        self.assertAlmostEqual(fit.coefficients["n²"] / 3e-6, 1, places=4)
        self.assertAlmostEqual(fit.r_squared, 1)

    def test_cubic_needs_five_sizes(self):
        self.assertIsNone(cubic([1, 2, 3, 4], [1, 8, 27, 64]))

    def test_reciprocal_finds_the_limit(self):
        blocks = np.array([1, 2, 4, 8, 14])
        fit = reciprocal(blocks, 53.22 + 400 / blocks)
        self.assertAlmostEqual(fit.coefficients["K"], 53.22)
        self.assertAlmostEqual(fit.coefficients["c"], 400)
        self.assertAlmostEqual(float(fit.curve(8)), 1 / (400 / 8))

    def test_reciprocal_has_a_low_r_squared_if_the_hypothesis_is_wrong(self):
        blocks = np.array([1, 2, 4, 8, 14])
        self.assertLess(reciprocal(blocks, 100.0 - 5 * blocks).r_squared, 0.9)

    def test_r_squared_by_hand(self):
        self.assertAlmostEqual(r_squared(np.array([1.0, 2, 3]), np.array([1.0, 2, 4])), 0.5)


class WordsTest(unittest.TestCase):
    def test_seconds(self):
        for value, words in (
            (0, "0 s"),
            (1.0, "1.00 s"),
            (0.0123, "12.3 ms"),
            (4.56e-5, "45.6 µs"),
            (2e-9, "0.00200 µs"),
            (1497, "1497 s"),
            (float("nan"), "–"),
            (0.9999, "1.00 s"),
        ):
            self.assertEqual(seconds(value), words)

    def test_number_and_percent(self):
        self.assertEqual(number(1234.5), "1234")
        self.assertEqual(number(1.5e-9), "1.50e-09")
        self.assertEqual(number(float("inf")), "∞")
        for ratio in (sys.float_info.max, np.median([1, sys.float_info.max])):  # of a flawed answer
            self.assertEqual(number(ratio), "∞")
        self.assertEqual(number(1e300), "1.00e+300")
        self.assertEqual(percent(0.0123), "1.23 %")


class PublishedTest(unittest.TestCase):
    def test_every_table_names_its_source(self):
        files = sorted(PUBLISHED.glob("*.csv"))
        self.assertGreater(len(files), 8)
        for path in files:
            self.assertTrue(path.read_text(encoding="utf-8").startswith("# source: "), path.name)
            self.assertGreater(len(table_of(path.name)), 0)
            self.assertTrue(source_of(path.name))

    def test_known_cells(self):
        self.assertEqual(table_of("fuhrmann-table-6.1.csv").set_index("n").loc[4500].to_list(), [30.43, 30.36])
        self.assertEqual(len(table_of("fuhrmann-table-6.1.csv")), 16)
        self.assertEqual(table_of("cejka-table-1.7.csv").set_index("n").loc[16000].to_list(), [52226.867, 12910.967])
        xia = table_of("xia-lee-times.csv")
        self.assertTrue(np.all(np.abs(xia["gauss_jordan_global_ms"] / 16 - xia["global_scaled_by_16_ms"]) < 1))
        self.assertEqual(table_of("soriano-table-5.1.csv")["matlab_seconds"].to_list(), [24.29, 87.46, 259.31, 1496.89])

    def test_every_plan_of_a_paper_has_its_experiment(self):
        named = {plan for experiment in experiments() for plan in plans_of(experiment)}
        plans = sorted((ROOT / "jobs/plans/papers").glob("*.yaml"))
        self.assertGreater(len(plans), 15)
        self.assertEqual([p.stem for p in plans if p.stem not in named], [])
        for plan in plans:  # records have the plan's name, not the file's
            name = re.search(r"^name: *(\S+)", plan.read_text(encoding="utf-8"), re.M).group(1)
            self.assertEqual(letters_and_digits(name), letters_and_digits(plan.stem), plan.name)

    def test_experiments_use_existing_drawings_and_tables(self):
        names = [e["id"] for e in experiments()]
        self.assertEqual(len(names), len(set(names)))
        for experiment in experiments():
            for drawing in experiment["draw"]:
                self.assertIn(drawing["kind"], DRAWINGS)
                if "csv" in drawing:
                    columns = table_of(drawing["csv"]).columns
                    self.assertTrue(all(c["column"] in columns for c in drawing.get("columns", [])))
        self.assertLessEqual(set(table_of("claims.csv")["experiment"]), set(names))


class FindingWordsTest(unittest.TestCase):
    def test_growth_of_iterations(self):
        sizes = np.array([64, 128, 256, 1024])
        for counts, words in (
            ([22, 20, 21, 22], "does not grow"),
            (2 * sizes - 1, "grows as n"),
            (sizes**0.5, "slower than n"),
            ([1, 1, 1, 1], "at once"),
        ):
            self.assertIn(words, _growth(pd.Series(counts, index=sizes)))
        self.assertIn("never", _growth(pd.Series([], dtype=float)))

    def test_verdict_on_the_gain(self):
        for middle, width, words in (
            (0.8, 0.1, "pays: faster in 5 of 5"),
            (1.2, 0.1, "does not pay"),
            (0.8, 0.3, "no difference"),
            (0.995, 0.001, "no difference"),
        ):
            pairs = pd.DataFrame({"ratio": [middle] * 5, "low": [middle - width] * 5, "high": [middle + width] * 5})
            self.assertTrue(words in _pays(pairs), (middle, _pays(pairs)))


class DrawingTest(unittest.TestCase):
    def test_series_at_one_size_are_labelled_directly(self):
        several = [
            Series(name, [512], [y], [0.9 * y], [1.1 * y], [hollow])
            for name, y, hollow in (("fast", 1e-3, False), ("slow", 2e-2, True))
        ]
        drawn, (series,), _ = Plot("p", "Time", "n", "median time", several, ylog=True, seconds=True).drawable()
        self.assertEqual((drawn.kind, drawn.title, list(series.x)), ("bars", "Time, n = 512", ["fast", "slow"]))
        self.assertEqual((list(series.y), list(series.hollow)), ([1e-3, 2e-2], [False, True]))

    def test_axes_end_at_the_data(self):
        many = Plot("p", "Error", "n", "error", [Series("a", [1, 2, 3], [1e-315, 1e-3, np.inf])], ylog=True)
        _, (series,), message = many.drawable()
        self.assertEqual(list(series.y), [1e-30, 1e-3])
        self.assertIn("1 point beyond 1e30 (or below 1e-30), drawn there: a", message)

    def test_panels_of_emulated_kernels_on_several_cpus_say_so(self):
        devices = ["CPU A", "CPU B", "emulated on CPU A", "emulated on CPU B"]
        rows = pd.DataFrame({"problem": "gesv", "precision": "double", "device": devices})
        self.assertEqual([words for _, _, words, _ in panels(rows)], ["A and B", "emulated on A and B"])
        self.assertEqual([words for _, _, words, _ in panels(rows[:1].assign(device="CPU"))], ["CPU"])


class LeadTest(unittest.TestCase):
    def test_leader_per_size(self):
        for ratios, words in (
            ([2, 3], "B at every size"),
            ([0.5, 0.9], "A at every size"),
            ([0.5, 2], "B from n = 128"),
            ([2, 0.5], "A from n = 128"),
            ([0.99, 2], "B from n = 128; no clear difference below"),
            ([1.01, 0.99], "no clear difference"),
            ([2, 0.99], "B where the difference is clear"),
            ([0.5, 1.01, 2], "B from n = 256"),
            ([2, 0.5, 3], "changes more than once, first at n = 128"),
        ):
            by_size = pd.DataFrame(
                {"low": np.array(ratios) - 0.05, "high": np.array(ratios) + 0.05}, index=[64, 128, 256][: len(ratios)]
            )
            self.assertEqual(lead(by_size, "A", "B"), words)


if __name__ == "__main__":
    unittest.main()
