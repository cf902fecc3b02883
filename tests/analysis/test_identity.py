"""Tests that different trials share no row and no race (the comparison of methods on one task). Also tests that
failures that the plan expects are marked as such."""

import hashlib
import itertools
import tempfile
import unittest
from pathlib import Path

import fixture
from pages import page_of

from analysis.captions import matrices
from analysis.frames import curves
from analysis.loader import load
from analysis.sections.overview import ranked_methods
from analysis.verdict import grids

MATRICES = [
    ("a.mtx", '{"sha256":"0a"}', "file"),
    ("b.mtx", '{"sha256":"0b"}', "file"),
    ("condition", '{"condition":10.0,"mode":3}', "condition"),
    ("condition", '{"condition":1000000000000.0,"mode":3}', "condition"),
]
TASKS = 4 * 2 * 2 * 3  # matrices, triangles, numbers of right-hand sides, seeds


def digest_of(*what):
    return hashlib.sha256(repr(what).encode()).hexdigest()


def alike():
    """Returns records of four matrices of one size, two of them from files. Each matrix has both triangles, 1 and 3
    right-hand sides, three seeds and two methods."""
    night = fixture.Night("alike")
    cases = itertools.product(MATRICES, ("lower", "upper"), (1, 3), (1, 2, 3), ("substitution", "cublas"))
    for i, ((name, parameters, kind), uplo, nrhs, seed, method) in enumerate(cases):
        night.trial(
            "trsv",
            method,
            64,
            1e-3 if method == "substitution" else 2e-3,
            key=f"{i:032x}",
            matrix=name,
            matrix_parameters=parameters,
            matrix_kind=kind,
            matrix_seed=seed,
            matrix_digest=digest_of(parameters, nrhs, seed if kind != "file" else 0),
            uplo=uplo,
            nrhs=nrhs,
        )
    return night


def loaded(night):
    with tempfile.TemporaryDirectory() as folder:
        return load([night.write(Path(folder) / "results.h5")])


class IdentityTest(unittest.TestCase):
    def test_a_device_has_one_peak_in_all_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for run, copy, flops in (("run-1", 1e9, 4e9), ("run-2", 2e9, 3e9)):
                night = fixture.Night(run)
                row = {"gpu_name": "Test CPU", "host": "node1", "copy_bytes_per_second": copy}
                night.devices.append(row | {"gemm_flops_double": flops, "gemm_flops_float": flops})
                more = {"flops": 4e6, "bytes": 1e3, "peak_share": 0.123, "run_id": run, "scatter": 0}
                night.trial("gesv", "lapack", 64, 1e-2, **more)
                files.append(night.write(Path(folder) / f"{run}.h5"))
            night = load(files)
            self.assertEqual(set(night.devices["copy_bytes_per_second"]), {2e9})
            for share in night.take("peak_share")["peak_share"]:
                self.assertAlmostEqual(share, 4e6 / 4e9 / 1e-2)

    def test_peaks_of_a_cpu_with_other_threads_are_no_limit_and_each_run_shows_its_own(self):
        nights = []
        for run, threads, copy in (("run-1", 1, 4e9), ("run-2", 1, 3e9), ("run-3", 2, 2e9)):
            nights.append(fixture.Night("plan"))
            nights[-1].hosts[0]["blas_threads"] = threads
            row = {"gpu_name": "Test CPU", "host": "node1", "copy_bytes_per_second": copy}
            nights[-1].devices.append(row | {"gemm_flops_double": 1e15, "gemm_flops_float": 1e15})
            more = {"run_id": run, "start_time": f"2026-01-0{run[-1]}T00:00:00Z", "peak_share": 0.5, "scatter": 0}
            nights[-1].trial("gesv", "lapack", 64, 1e-2, bytes=1e7, **more)
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]
            night = load(files)
            self.assertEqual(set(night.take("peak_share")["peak_share"]), {0.5})
            self.assertEqual(list(night.devices["copy_bytes_per_second"]), [2e9])
            self.assertEqual(set(night.earlier["peak_share"]), {0.5, 1e7 / 4e9 / 1e-2})
        rows = page_of(*nights).rows("devices")
        self.assertEqual([row["copy"] for row in rows], [4e9, 3e9, 2e9])
        self.assertEqual([row["threads"] for row in rows], [1, 1, 2])

    def test_merge_keeps_the_threads_of_a_host(self):
        night = alike()
        night.hosts[0]["blas_threads"] = 1
        night.hosts.append(night.hosts[0] | {"host": "node1 (2 threads)", "blas_threads": 2})
        night.records[0]["host"] = "node1 (2 threads)"
        records = loaded(night).take("host threads")
        self.assertEqual(set(records["host"]), {"node1"})
        self.assertEqual(list(records["threads"][:2]), [2, 1])

    def test_every_trial_has_a_race_with_its_rival(self):
        rows = ranked_methods(loaded(alike()).records)
        self.assertEqual(len(rows), 2 * TASKS, "no trial counts as another's configuration")
        races = rows.groupby(["problem", "precision", "task", "size", "device"])
        self.assertEqual(len(races), TASKS)
        self.assertTrue((races["method"].nunique() == 2).all())
        self.assertEqual(set(rows.loc[rows["place"] == 1, "method"]), {"substitution"})

    def test_the_page_names_each_trial(self):
        page = page_of(alike())
        ranked = page.rows("ranking")
        self.assertEqual(len({row["matrix"] for row in ranked}), TASKS / 3, "seeds are pooled")
        self.assertEqual(len(ranked), TASKS / 3)
        for words in ("a.mtx", "b.mtx", "condition condition=10", "condition condition=1e+12"):
            self.assertTrue(any(row["matrix"].startswith(words + ", ") for row in ranked), words)
        tasks = {row["matrix"] for row in ranked}
        for words in ("nrhs 3", "upper"):
            self.assertTrue(any(words in task for task in tasks), words)
        self.assertFalse(any("mode" in task for task in tasks), "mode is the same in all")
        self.assertEqual({row["of"] for row in ranked}, {2})
        self.assertEqual(len(page.rows("accuracy")), 4 * 2, "the four matrices, by method")

    def test_only_seeds_share_a_point_of_a_figure(self):
        records = loaded(alike()).records
        self.assertIn("Matrix: a.mtx (sha256 0a); b.mtx (sha256 0b); condition (", matrices(records))  # files: no seed
        drawn = curves(records, "seconds_median")
        self.assertEqual(sum(len(series.x) for series in drawn), len(records) / 3)
        self.assertEqual({word for series in drawn for word in series.hover}, {"3 seeds"})

    def test_omits_what_does_not_vary(self):
        night = fixture.Night("plain")
        for method in ("lapack", "crout"):
            night.trial("gesv", method, 64, 1e-3, matrix_parameters='{"high":1.0,"low":0.0}', uplo="lower")
        self.assertEqual(set(loaded(night).records["task"]), {"uniform"})

    def test_products_of_other_shapes_and_other_factors_do_not_race(self):
        night = fixture.Night("products")
        shapes = [(64, 64, 64), (32, 64, 128), (128, 64, 32)]  # all have the same n³
        for i, (m, n, k) in enumerate(shapes):
            for b in ("", '{"b":"ones","b_value":1.0}'):
                night.trial("gemm", "cublas", n, 1e-3, key=f"{i}{b}", m=m, k=k, matrix_parameters=b)
        records = loaded(night).records
        self.assertEqual(records["size"].nunique(), 1)
        self.assertEqual(records["task"].nunique(), 6)
        self.assertIn("32 × 128 × 64", " ".join(records["task"]))

    def test_conditions_of_measurement_separate_races(self):
        night = fixture.Night("conditions")
        conditions = (("warm", "pageable", 1), ("", "", 1), ("cold", "pageable", 3), ("warm", "pinned", 2))
        for cache, memory, factor in conditions:  # the second are those of older files: warm caches, pageable memory
            for method, times in (("lapack", 1), ("crout", 2 if cache != "cold" else 0.1)):
                more = dict(cache=cache, host_memory=memory, key=f"{method}{cache}{memory}")
                night.trial("gesv", method, 64, 1e-3 * times * factor, scatter=0, **more)
        for races in grids(loaded(night))[0][3:]:  # of each seed, and pooled
            found = {race.task: (race.winner, race.median) for race in races.itertuples()}
            self.assertEqual(list(found), ["uniform", "uniform, cold cache", "uniform, pinned host memory"])
            self.assertEqual([winner for winner, _ in found.values()], ["lapack", "crout", "lapack"])
            for (_, median), expected in zip(found.values(), (1e-3, 3e-4, 2e-3)):
                self.assertAlmostEqual(median, expected)
        rows = [next(iter(row.values())) for row in page_of(night).rows("grid-1")]
        self.assertEqual(len(rows), 3)
        self.assertTrue(rows[1].endswith("uniform, cold cache"), rows)

    def test_expected_failures_are_findings(self):
        night = fixture.Night("expected")
        night.trial("gesv", "gauss_block", 64, 1e-3, status="failed", residual_ratio=1e5, expected=1)
        night.trial("gesv", "gauss_serial", 64, 1e-3, status="failed", residual_ratio=1e5, expected=0)
        night.trial("gesv", "lapack", 64, 1e-3, expected=0)
        night.trial("gesv", "crout", 64, None, status="timeout", expected=1)
        night.trial("gesv", "cusolver", 64, None, status="skipped", expected=1)
        page = page_of(night)
        words = page.words("overview")
        self.assertIn(
            "No trial crashed, timed out, ran out of memory or ended with an error but as the plan expects.", words
        )
        self.assertIn("1 answer did not pass: gesv/gauss_serial on uniform.", words)
        self.assertIn("1 answer passed although the plan expects otherwise: gesv/lapack on uniform.", words)
        self.assertIn("2 expected failures: gesv/crout on uniform; gesv/gauss_block", words)
        unexpected = {row["method"]: row["not as expected"] for row in page.rows("findings")}
        self.assertEqual(unexpected, {"gauss_block": 0, "gauss_serial": 1})
        self.assertEqual(page.rows("failures-broken")[0]["not as expected"], 0)

    def test_two_machines_with_one_name_are_two(self):
        nights = [fixture.Night(), fixture.Night()]
        for night, cpu, run in zip(nights, ("EPYC", "Xeon"), ("run-1", "run-2")):
            night.hosts[0]["cpu"] = cpu
            night.hosts[0]["cores"] = 8 if cpu == "EPYC" else 2
            night.trial("gesv", "lapack", 64, 1e-3, run_id=run)
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]
            loaded = load([*files, files[1]])
        self.assertEqual(sorted(loaded.records["host"]), ["node1", "node1 (Xeon)"])
        self.assertEqual([device for device, *_ in grids(loaded)], ["EPYC", "Xeon"])


if __name__ == "__main__":
    unittest.main()
