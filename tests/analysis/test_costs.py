"""Tests launches, energy and clocks on the page, and that they are absent if unknown. A race is the comparison of
methods on one task."""

import unittest

import fixture
from pages import page_of

GPU = "NVIDIA Test 100"


class CostsTest(unittest.TestCase):
    def test_without_a_gpu_the_section_is_absent(self):
        night = fixture.Night()
        night.trial("gesv", "gauss_serial", 64, 1e-3)
        self.assertNotIn("costs", page_of(night).sections)

    def test_launch_bound_methods_are_named_with_both_times(self):
        night = fixture.Night()
        more = dict(gpu=GPU, launch_bound=1, kernels=1024, queue_seconds=0.0019, replay_median=0.001)
        night.trial("trsv", "column_sweep", 512, 0.002, **more)
        night.trial("trsv", "cublas", 512, 1e-4, gpu=GPU, launch_bound=0, queue_seconds=1e-5)
        page = page_of(night)
        self.assertIn("1 of 2 timed runs", page.words("costs"))
        self.assertIn("Methods: trsv/column_sweep.", page.words("costs"))
        (row,) = page.rows("launches")
        self.assertEqual(row["kernels"], 1024)
        self.assertAlmostEqual(row["GPU alone"], 1e-3)
        self.assertAlmostEqual(row["times longer"], 2, delta=0.1)

    def test_names_times_that_are_too_short_and_methods_that_lose_digits(self):
        night = fixture.Night()
        night.trial("gemm", "shared", 512, 1e-9, timing="suspect", peak_share=300.0, digits_lost=0.1)
        night.trial("trsv", "gets", 512, 1e-4, digits_lost=3.5)
        night.trial("trsv", "cublas", 512, 1e-4, digits_lost=0.0)
        page = page_of(night)
        self.assertEqual({row["method"] for row in page.rows("failures-doubted")}, {"shared", "gets"})
        self.assertIn("30000 %", {text for row in page.tables["failures-doubted"] for text, _ in row})

    def test_the_lowest_energy_is_not_always_the_fastest(self):
        night = fixture.Night()
        energy = {"gpu": GPU, "energy_source": "counter", "idle_power_w": 80.0, "energy_uncertainty": 0.01}
        night.trial("gemm", "cublas", 1024, 1e-4, energy_joules=0.06, **energy)
        night.trial("gemm", "shared", 1024, 3e-4, energy_joules=0.05, **energy)
        page = page_of(night)
        self.assertIn("shared takes the least energy, cublas the least time", page.words("energy"))
        self.assertEqual(page.figures["energy"], ["energy-gemm-double-NVIDIA_Test_100"])
        rows = page.rows("energy")
        self.assertEqual([row["method"] for row in rows], ["shared", "cublas"])
        self.assertAlmostEqual(rows[1]["over the least"], 1.2)
        self.assertAlmostEqual(rows[0]["GFLOP/s per watt"], 2 * 1024**3 / 0.05 / 1e9)

    def test_names_races_at_different_clocks(self):
        night = fixture.Night()
        night.trial("gemm", "cublas", 1024, 1e-4, gpu=GPU)
        night.trial("gemm", "shared", 1024, 3e-4, gpu=GPU)
        self.assertNotIn("1755", page_of(night).words("costs"))
        night.records[-1]["sm_clock_mhz"] = 1755.0
        self.assertIn("from 1500 to 1755 MHz", page_of(night).words("costs"))

    def test_cold_and_warm_do_not_race(self):
        night = fixture.Night()
        night.trial("gemm", "cublas", 1024, 1e-4, gpu=GPU)
        night.trial("gemm", "shared", 1024, 3e-4, gpu=GPU, cache="cold", key="another")
        self.assertEqual(len(page_of(night).rows("ranking")), 2)

    def test_pinned_and_pageable_do_not_race(self):
        night = fixture.Night()
        night.trial("gemm", "cublas", 1024, 1e-4, gpu=GPU, host_memory="")
        night.trial("gemm", "shared", 1024, 3e-4, gpu=GPU)
        self.assertEqual(len(page_of(night).rows("ranking")), 1, "older files are pageable")
        night.trial("gemm", "global", 1024, 3e-4, gpu=GPU, host_memory="pinned", key="another")
        self.assertEqual(len(page_of(night).rows("ranking")), 2)


if __name__ == "__main__":
    unittest.main()
