"""Compares the numbers on the page with numbers computed here from results.h5, which h5py reads and not the loader."""

import csv
import io
import itertools
import json
import math
import tempfile
import unittest
from pathlib import Path

import fixture
import h5py
import numpy as np
import pandas as pd
from everything import everything
from pages import page_of

from analysis.captions import sampled
from analysis.loader import load

PASS = b"pass"


class NumbersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = Path(cls.folder.name)
        night = everything(seed=7)
        cls.page = page_of(night, papers="all")
        with h5py.File(night.write(base / "results.h5"), "r") as file:
            cls.r, cls.s, cls.stage, cls.iteration, cls.d = (
                file[n][:] for n in ("records", "samples", "stages", "iterations", "devices")
            )
        cls.parameters = [json.loads(p) for p in cls.r["parameters"]]
        gpu = cls.r["backend"] == b"cuda"
        cls.device = np.where(gpu, cls.r["gpu_name"], b"CPU")
        cls.answered = np.isin(cls.r["status"], [PASS, b"suspect", b"failed"]) & (cls.r["seconds_median"] > 0)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def where(self, row, **columns):
        """Returns a mask of the records that agree with a row of the page. `columns`: heading -> column of /records."""
        mask = np.ones(len(self.r), bool)
        for heading, column in columns.items():
            heading = heading.replace("_", " ") if heading not in row else heading
            value = row[heading]
            source = self.device if column == "device" else self.r[column]
            mask &= source == (value.encode() if isinstance(value, str) else value)
        return mask

    def test_overview_counts(self):
        for row in self.page.rows("overview"):
            mask = self.where(row, problem="problem", precision="precision")
            for status in set(self.r["status"]):
                self.assertEqual(row[status.decode()], np.sum(self.r["status"][mask] == status))
            self.assertEqual(row["methods"], len(set(self.r["method"][mask])))
            self.assertEqual((row["smallest n"], row["largest n"]), (self.r["n"][mask].min(), self.r["n"][mask].max()))
        self.assertIn(f"{len(self.r)} trials", self.page.words("overview"))
        self.assertIn(f"{len(self.s)} samples", self.page.words("overview"))

    def test_rounds_of_a_trial_are_pooled_everywhere(self):
        night = fixture.Night()
        for i in range(3):
            # lapack has the fastest round, and the larger median of the rounds.
            for method, times in (("lapack", (1e-3, 9e-3, 8e-3)), ("crout", (5e-3, 6e-3, 4e-3))):
                more = dict(key=f"{method}-{i}", round=i + 1, reference_method="lapack")
                night.trial("gesv", method, 64, times[i], scatter=0, **more)
        page = page_of(night)

        def row_of(name, which=0):
            return list(csv.DictReader(io.StringIO(page.data[name])))[which]

        row = row_of("ranking")
        self.assertEqual((row["method"], row["second"]), ("crout", "lapack"))
        for name, value in dict(seconds_median=5e-3, seconds_q1=4e-3, seconds_q3=6e-3, second_behind=1.6).items():
            self.assertAlmostEqual(float(row[name]), value)
        self.assertAlmostEqual(float(row["gflops"]), 2 / 3 * 64**3 / 5e-3 / 1e9)
        grid = row_of("grid-1")
        self.assertEqual((grid["winner"], float(grid["median"]), grid["tie"]), ("crout", 5e-3, "True"))
        self.assertAlmostEqual(float(row_of("over-lapack-gesv-double-CPU")["y"]), 1.6)
        slower = row_of("time-gesv-double-CPU", 1)
        self.assertEqual([float(slower[name]) for name in ("y", "low", "high")], [8e-3, 1e-3, 9e-3])
        rows = pd.DataFrame({"samples": [5], "inner_repeats": [1], "rounds": [3]})
        self.assertEqual(sampled(rows), "5 samples in each of 3 rounds")

    def test_rounds_of_one_plan_and_a_run_of_another_are_pooled(self):
        plans = {"three": (1e-3, 1.1e-3, 9e-3), "once": (7e-3,)}
        nights = {plan: fixture.Night(plan) for plan in plans}
        for (plan, times), seed in itertools.product(plans.items(), (1, 2, 3)):
            for i, seconds in enumerate(times):
                if plan == "once" or seed == 1:
                    more = dict(matrix_seed=seed, matrix_digest=f"{seed}", run_id=plan, key=f"{plan} {seed} {i}")
                    nights[plan].trial("gesv", "crout", 64, seconds * seed, scatter=0, round=i + 1, **more)
        page = page_of(*nights.values())
        (single,) = [row for row in csv.DictReader(io.StringIO(page.data["grid-1"])) if row["matrix_seed"] == "1"]
        self.assertAlmostEqual(float(single["median"]), 4.05e-3)  # of all four times
        self.assertIn("14.0 ms", str(page.tables["grid-1"]))  # of 4.05, 14 and 21 ms
        (point,) = csv.DictReader(io.StringIO(page.data["time-gesv-double-CPU"]))
        self.assertAlmostEqual(float(point["y"]), 14e-3)
        self.assertIn("1 trial with several rounds in more than one run", page.words("overview"))
        # Other numbers of threads are other devices.
        nights["once"].hosts = [dict(host, blas_threads=8) for host in nights["once"].hosts]
        self.assertNotIn("in more than one run", page_of(*nights.values()).words("overview"))

    def test_speedups_compare_equal_threads_and_equal_cpus(self):
        gpu = next(iter(fixture.GPUS))
        for fact, facts in (("blas_threads", (1, 8)), ("cpu", ("EPYC", "Xeon"))):
            nights = fixture.Night("first"), fixture.Night("second")
            for night, value, several in zip(nights, facts, ((1, 2), (4, 8))):
                night.hosts[0][fact] = value
                night.trial("trsv", "cublas", 64, 1e-6, gpu=gpu)  # next to it, every CPU's device is "CPU"
                for blocks in several:
                    night.trial("gesv", "crout", 64, 1e-6 / several[0], parameters={"blocks": blocks}, scatter=0)
            table = page_of(*nights).data["speedup-blocks-gesv-double-CPU"]
            self.assertEqual([float(row["y"]) for row in csv.DictReader(io.StringIO(table))], [1, 1, 1, 1], fact)

    def test_transfers_energy_and_means_of_rounds_are_pooled(self):
        night = fixture.Night()
        for i, factor in enumerate((1, 2, 6)):
            more = dict(allocate_seconds=1e-4 * factor, h2d_seconds=2e-4 * factor, d2h_seconds=3e-4 * factor)
            more.update(energy_joules=2.0 * factor, energy_uncertainty=0.1, key=f"{i}", round=i + 1)
            night.trial("gesv", "crout", 64, 1e-3 * factor, gpu=next(iter(fixture.GPUS)), scatter=0, **more)
        page = page_of(night)
        (row,) = page.rows("transfer")
        for name, value in {"allocate": 2e-4, "to the device": 4e-4, "back": 6e-4, "transfer / compute": 0.6}.items():
            self.assertAlmostEqual(row[name], value)
        self.assertEqual(page.rows("energy")[0]["J per run"], 4)
        for name, value in (("transfer", 0.6), ("energy", 4)):
            (point,) = csv.DictReader(io.StringIO(page.data[f"{name}-gesv-double-NVIDIA_Test_100"]))
            self.assertAlmostEqual(float(point["y"]), value)
        with tempfile.TemporaryDirectory() as folder:
            table = load([night.write(Path(folder) / "results.h5")]).table
        np.testing.assert_allclose(table["seconds_mean"], 3e-3)

    def test_ranking_is_by_the_smallest_passed_median(self):
        rows = self.page.rows("ranking")
        self.assertGreater(len(rows), 20)
        for row in rows:
            mask = self.where(
                row, problem="problem", precision="precision", device="device", n="n", matrix="matrix_kind"
            ) & (self.r["status"] == PASS)
            mask &= self.r["seconds_median"] > 0
            winner = np.flatnonzero(mask)[np.argmin(self.r["seconds_median"][mask])]
            self.assertEqual(row["fastest"].encode(), self.r["method"][winner])
            for heading, column in (
                ("median", "seconds_median"),
                ("1st quartile", "seconds_q1"),
                ("3rd quartile", "seconds_q3"),
                ("GFLOP/s", "gflops"),
                ("ratio", "residual_ratio"),
            ):
                self.assertEqual(row[heading], self.r[column][winner])
            best = {}
            for i in np.flatnonzero(mask):
                best[self.r["method"][i]] = min(best.get(self.r["method"][i], math.inf), self.r["seconds_median"][i])
            self.assertEqual(row["of"], len(best))
            if len(best) > 1:
                self.assertAlmostEqual(
                    row["slower by"], sorted(best.values())[1] / self.r["seconds_median"][winner], places=12
                )

    def test_medians_of_records_equal_those_of_samples(self):
        for trial in np.unique(self.s["trial"])[:50]:
            self.assertAlmostEqual(
                np.median(self.s["seconds"][self.s["trial"] == trial]), self.r["seconds_median"][trial], places=12
            )

    def test_points_of_time_and_rate(self):
        seen = 0
        for name in [n for n in self.page.figures["time"]]:
            column = "seconds_median" if name.startswith("time") else "gflops"
            known = {
                (m.decode(), int(n), float(v)): i
                for i, (m, n, v) in enumerate(zip(self.r["method"], self.r["n"], self.r[column]))
            }
            for point in csv.DictReader(io.StringIO(self.page.data[name])):
                if "trials" in point["told"] or "seeds" in point["told"] or not point["x"].isdigit():
                    continue  # a point of several trials
                method = point["series"].split(",")[0].removesuffix(" (CPU)")
                i = known[method, int(point["x"]), float(point["y"])]
                seen += 1
                self.assertEqual(point["hollow"] != "0", self.r["status"][i] != PASS)
                low, high = float(point["low"]), float(point["high"])
                if column == "seconds_median":
                    self.assertEqual((low, high), (self.r["seconds_q1"][i], self.r["seconds_q3"][i]))
                else:
                    self.assertAlmostEqual(low, self.r["flops"][i] / self.r["seconds_q3"][i] / 1e9, delta=1e-9 * low)
        self.assertGreater(seen, 150)

    def test_speedups(self):
        for row in self.page.rows("speedup-blocks"):
            mask = self.where(row, problem="problem", precision="precision", device="device", n="n", method="method")
            shown = dict(w.split("=") for w in row["parameters"].split())
            times = {}
            for i in np.flatnonzero(mask):
                if all(str(self.parameters[i].get(k)) == v for k, v in shown.items()):
                    times.setdefault(
                        (self.r["matrix_digest"][i], self.parameters[i]["blocks"]), self.r["seconds_median"][i]
                    )
            ratios = [times[d, 1] / t for (d, b), t in times.items() if b == row["to"]]
            self.assertTrue(any(math.isclose(row["speedup"], r, rel_tol=1e-12) for r in ratios), row)
            accepted = self.where(row, problem="problem", precision="precision", device="device", method="method") & (
                self.r["status"] == PASS
            )
            blocks = [self.parameters[i].get("blocks", 0) for i in np.flatnonzero(accepted)]
            self.assertEqual(row["status"] == "pass", max(blocks, default=0) > 1, row)
        for name in [name for name in self.page.data if name.startswith("speedup-blocks-")]:
            first = next(csv.DictReader(io.StringIO(self.page.data[name])))
            self.assertEqual([float(first[column]) for column in ("y", "low", "high")], [1, 1, 1], name)

    def test_roofline_shares(self):
        peaks = {d["gpu_uuid"]: d for d in self.d}
        for row in self.page.rows("roofline"):
            mask = self.where(row, problem="problem", precision="precision", device="device", n="n", method="method")
            i = [j for j in np.flatnonzero(mask) if self.r["seconds_median"][j] == row["median"]][0]
            peak = peaks[self.r["gpu_uuid"][i]]
            self.assertEqual(row["fraction of peak"], self.r["peak_share"][i])
            self.assertAlmostEqual(
                row["of copy bandwidth"], self.r["bytes"][i] / row["median"] / peak["copy_bytes_per_second"], places=12
            )
            rate = peak["gemm_flops_float" if row["precision"] == "float" else "gemm_flops_double"]
            self.assertAlmostEqual(row["of GEMM rate"], self.r["gflops"][i] * 1e9 / rate, places=12)

    def test_stages(self):
        for row in self.page.rows("stages"):
            mask = self.where(row, problem="problem", precision="precision", device="device", n="n", method="method")
            stage = self.stage[
                np.isin(self.stage["trial"], np.flatnonzero(mask)) & (self.stage["kernel"] == row["stage"].encode())
            ]
            self.assertIn(
                (row["calls"], row["mean"], row["total"], row["fraction"]),
                {(s["calls"], s["mean"], s["seconds"], s["share"]) for s in stage},
            )

    def test_accuracy_table(self):
        has_error = ~np.isnan(self.r["residual_ratio"]) | ~np.isnan(self.r["forward_error"])
        for row in self.page.rows("accuracy"):
            mask = has_error & self.where(
                row, problem="problem", precision="precision", method="method", matrix="matrix_kind"
            )
            self.assertEqual(row["trials"], mask.sum())
            self.assertEqual(row["passed"], np.sum(self.r["status"][mask] == PASS))
            ratio = self.r["residual_ratio"][mask]
            self.assertEqual(row["least ratio"] if row["least ratio"] != "∞" else math.inf, ratio.min())
            self.assertEqual(row["largest"] if row["largest"] != "∞" else math.inf, ratio.max())

    def test_convergence_counts(self):
        for row in self.page.rows("convergence"):
            mask = self.where(
                row,
                problem="problem",
                precision="precision",
                method="method",
                matrix="matrix_kind",
                how_it_ended="convergence",
            )
            self.assertEqual(row["trials"], mask.sum())
            self.assertEqual(row["median"], np.median(self.r["iterations"][mask]))

    def test_transfer(self):
        for row in self.page.rows("transfer"):
            mask = self.where(row, problem="problem", precision="precision", method="method", device="device", n="n")
            mask &= self.r["seconds_median"] == row["compute"]
            i = np.flatnonzero(mask)[0]
            total = self.r["allocate_seconds"][i] + self.r["h2d_seconds"][i] + self.r["d2h_seconds"][i]
            self.assertAlmostEqual(row["transfer / compute"], total / row["compute"], places=10)

    def test_gpu_comparison_joins_by_key(self):
        rows = self.page.rows("gpu-NVIDIA_Old__20_-NVIDIA_Test_100")
        times = {name: {} for name in set(self.device)}
        for i in np.flatnonzero(self.answered):
            times[self.device[i]].setdefault(self.r["key"][i], i)
        old, new = times[b"NVIDIA Old <20>"], times[b"NVIDIA Test 100"]
        for row in rows:
            ratios = [
                self.r["seconds_median"][old[k]] / self.r["seconds_median"][new[k]]
                for k in old.keys() & new.keys()
                if (
                    self.r["problem"][old[k]].decode(),
                    self.r["precision"][old[k]].decode(),
                    self.r["method"][old[k]].decode(),
                )
                == (row["problem"], row["precision"], row["method"])
            ]
            self.assertEqual(row["trials in common"], len(ratios))
            self.assertAlmostEqual(row["median speedup"], np.median(ratios), places=10)

    def test_published_and_measured_numbers(self):
        rows = self.page.rows("fuhrmann-table-6.1-NVIDIA_Test_100")
        measured = [r for r in rows if r["status"] != "not measured"]
        self.assertEqual({r["n"] for r in rows if r["what"] == "standard" and r["published"] == 0.53}, {900})
        self.assertEqual(len(measured), 6)
        for row in measured:
            mask = (
                (self.r["method"] == b"gauss_cyclic_decrement")
                & (self.r["n"] == row["n"])
                & (self.device == b"NVIDIA Test 100")
                & (self.r["matrix_kind"] == row["matrix"].encode())
            )
            substitution = {"standard": "reduction", "pipelined": "pipelined_locks"}[row["what"]]
            mask &= np.array(
                [p.get("blocks") == 8 and p.get("back_substitution") == substitution for p in self.parameters]
            )
            self.assertEqual(
                row["measured"],
                self.r["seconds_mean"][mask & (self.r["seconds_median"] == self.r["seconds_median"][mask].min())][0],
            )
            if isinstance(row["published"], float):
                self.assertAlmostEqual(row["published time / measured"], row["published"] / row["measured"], places=10)

    def test_clocks_and_throttling(self):
        for row in self.page.rows("clocks"):
            mask = self.where(row, device="device", host="host") & (self.r["samples"] > 0)
            self.assertEqual(row["timed trials"], mask.sum())
            self.assertEqual(row["trials throttled"], np.sum(self.r["throttled"][mask] != 0))
            samples = self.s[np.isin(self.s["trial"], np.flatnonzero(mask))]
            self.assertEqual((row["of"], row["samples throttled"]), (len(samples), np.sum(samples["throttled"] != 0)))

    def test_shown_text_is_the_rounded_exact_value(self):
        """Every cell's text is within rounding (three digits) of its exact value."""
        units = {"s": 1, "ms": 1e-3, "µs": 1e-6, "%": 1e-2, "GiB": 2**30}
        units |= {f"{prefix}{unit}/s": size for unit in ("B", "FLOP") for prefix, size in (("T", 1e12), ("G", 1e9))}
        checked = 0
        for rows in self.page.tables.values():
            for text, value in (cell for row in rows for cell in row):
                if value is None:
                    continue
                number, _, unit = text.removesuffix("×").partition(" ")
                shown = float(number) * units.get(unit, 1)
                self.assertLessEqual(
                    abs(shown - value),
                    0.0051 * abs(value) + (0.5 if unit == "" and "." not in number and "e" not in number else 1e-12),
                    (text, value),
                )
                checked += 1
        self.assertGreater(checked, 3000)


if __name__ == "__main__":
    unittest.main()
