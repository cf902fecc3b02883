"""Tests that runs are separated by their ids and by their models, in one file or in several."""

import itertools
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fixture
from pages import page_of

from analysis import comparison
import analysis
from analysis.loader import load
from analysis.sections import glance
from analysis.sections.changes import changes, followed
from analysis.sections.verdict import _missing

GPU, OTHER_GPU = fixture.GPUS


def run(day, factor=1, gpu=GPU, night=None):
    """Returns a run of a plan with trials on a GPU and on its CPU. With `night`, adds the run's records to it, as
    `gaussweep merge` does."""
    night = night or fixture.Night("nightly")
    same = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day}T00:00:00Z")
    for n in (512, 1024, 2048):
        night.trial("gesv", "cusolver", n, 4e-3 * factor, gpu=gpu, **same)
        night.trial("gesv", "lapack", n, 4e-2 * factor * factor * factor, **same)
    return night


class OneFileTest(unittest.TestCase):
    def test_compares_runs_within_a_merged_file(self):
        words = page_of(run(2, 3.5, night=run(1))).words("overview")
        self.assertIn("Since the last run of the same plan: 6 trials in both: 6 SLOWER.", words)
        self.assertNotIn("No regression", words)

    def test_compares_runs_of_a_merged_file_with_another_file(self):
        words = page_of(run(3, 3.5, night=run(1)), run(2)).words("overview")
        self.assertIn("Since the 2 earlier runs of the same plan: 6 trials in both: 6 SLOWER.", words)

    def test_does_not_call_a_changed_plan_the_same(self):
        first, second = run(1), run(2, 3.5)
        second.attributes["plan"] += "repeats: 9\n"
        words = page_of(first, second).words("overview")
        self.assertIn("Since the last run of the plan, whose text changed: 6 trials in both", words)

    def test_a_run_without_compared_trials_does_not_change_the_plan(self):
        other = fixture.Night("nightly")
        other.attributes["plan"] += "repeats: 9\n"
        other.trial("gesv", "lapack", 64, 1e-3, run_id="run-3", start_time="2026-01-03T00:00:00Z")
        words = page_of(run(1), run(2, 3.5), other).words("overview")
        self.assertIn("Since the last run of the same plan: 6 trials in both", words)

    def test_names_a_tolerance_that_changed(self):
        first, second = run(1), run(2)
        second.attributes["plan"] += "tolerance: 8\n"
        for record in second.records:
            record["tolerance"] = 8.0
        words = page_of(first, second).words("overview")
        self.assertIn("the last run of the plan, whose text changed (tolerance: 16 -> 8): 6 trials in both", words)

    def test_runs_with_other_threads_are_not_compared_but_named(self):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for day, night in enumerate(nights, 1):
            night.hosts = [dict(host, blas_threads=day) for host in night.hosts]
            night.trial("gesv", "lapack", 64, 1e-3, run_id=f"run-{day}", start_time=f"2026-01-0{day}T00:00:00Z")
        words = page_of(*nights).words("overview")
        self.assertRegex(words, r"not compared: [^:]*0\.h5 and [^:]*1\.h5 have 1 trial in common, but base ran on")
        self.assertNotIn("--same-models", words)

    def test_trials_with_other_repeats_are_the_same(self):
        nights = [run(1), run(2), run(3), run(4, 3.5)]
        nights[3].attributes["plan"] += "repeats: 9\n"
        for record in nights[3].records:
            record.update(key="9" + record["key"][1:], library_digest="another build")
        page = page_of(*nights)
        words = page.words("overview")
        self.assertIn("Since the 3 earlier runs of the plan, whose text changed: 6 trials in both: 6 SLOWER.", words)
        self.assertIn("6 trials (and 18 of earlier runs) in 4 files", words)
        drawn = json.dumps(page.plots["time-gesv-double-NVIDIA_Test_100_and_CPU"])
        for words in ("the run before", "2 runs ago", "3 runs ago"):
            self.assertIn(words, drawn)
        with tempfile.TemporaryDirectory() as folder:
            results = load([night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)])
        self.assertEqual(followed(results).groupby("device").size().to_list(), [4, 4])
        self.assertEqual(set(results.table["run_id"]), {"run-4"})

    def test_a_trial_with_two_settings_in_a_run_is_no_earlier_run(self):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for day, night in enumerate(nights, 1):
            for repeats in (9, 3):
                more = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day}T00:00:00Z", key=f"{repeats} repeats")
                night.trial("gesv", "lapack", 64, 1e-3, samples=repeats, **more)
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]
            self.assertIsNone(load(files[:1]).earlier)
            results = load(files)
        self.assertEqual(list(results.earlier["runs_ago"]), [1, 1])
        both = results.take("same_trial samples").merge(results.earlier[["same_trial", "samples"]], on="same_trial")
        self.assertEqual(list(both["samples_x"]), list(both["samples_y"]))

    def test_remarks_uncommitted_changes_of_one_part(self):
        for dirty, is_reported in (("false, true", True), ("true", True), ("false", False)):
            night = run(1)
            night.attributes["dirty"] = dirty
            words = page_of(night).words("overview")
            self.assertEqual("uncommitted changes" in words, is_reported, dirty)


class ModelsTest(unittest.TestCase):
    def test_a_run_on_another_gpu_model_is_no_earlier_run(self):
        self.assertNotIn("of the same plan", page_of(run(1), run(2, 9, OTHER_GPU)).words("overview"))
        self.assertNotIn("of the same plan", page_of(run(2, 9, OTHER_GPU, run(1))).words("overview"))

    def test_compares_each_of_several_models_with_itself(self):
        first, second = run(1, 1, OTHER_GPU, run(1)), run(2, 3.5)
        words = page_of(first, second).words("overview")
        self.assertIn("Since the last run of the same plan", words)
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate((first, second))]
            found = changes(load(files))
        self.assertEqual({row.change for row in found.itertuples() if row.gpu_name == GPU}, {"SLOWER"})

    def test_another_cpu_model_is_no_earlier_run(self):
        second = run(2, 9)
        second.hosts[0]["cpu"] = "Other CPU"
        self.assertNotIn("of the same plan", page_of(run(1), second).words("overview"))


def shard(day, sizes, run_id, seconds=None):
    night = fixture.Night("nightly")
    night.attributes.update(total="3", started=f"2026-01-0{day}T00:00:00Z")
    for n in sizes:
        night.trial("gesv", "lapack", n, seconds or 1e-3 * day, run_id=run_id, start_time=f"2026-01-0{day}T00:00:00Z")
    return night


class PartialRunTest(unittest.TestCase):
    def loaded(self, *nights):
        with tempfile.TemporaryDirectory() as folder:
            return load([night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)])

    def test_an_incomplete_run_is_not_filled_from_the_run_before(self):
        night = self.loaded(shard(2, [64, 128], "b"), shard(1, [64, 128, 256], "a"))
        self.assertEqual(set(night.table["run_id"]), {"b"})
        self.assertEqual(sorted(night.earlier["n"]), [64, 128, 256])
        self.assertIn("lack 1 trial of earlier runs", _missing(night))

    def test_shards_are_one_run(self):
        first = shard(1, [64, 128], "a1"), shard(1, [256], "a2")
        night = self.loaded(*first)
        self.assertEqual((set(night.table["run_id"]), night.earlier), ({"a1", "a2"}, None))
        night = self.loaded(*first, shard(2, [64, 128], "b1"))
        self.assertEqual(set(night.table["run_id"]), {"b1"})
        night = self.loaded(*first, shard(2, [64, 128], "b1"), shard(2, [256], "b2"))
        self.assertEqual(set(night.table["run_id"]), {"b1", "b2"})

    def test_shards_are_compared_together_as_in_the_mail(self):
        nights = [
            [shard(day, sizes, f"{day}{sizes[0]}", seconds) for sizes in ([64, 128, 256], [512, 1024, 2048])]
            for day, seconds in ((1, 1e-3), (2, 5e-3))
        ]
        for complete in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                for day, night in enumerate(nights):
                    for i, part in enumerate(night if complete or not day else night[:1]):
                        (path := Path(folder) / f"{day}" / f"{i}").mkdir(parents=True)
                        part.attributes["shard"] = f"{i + 1}/2"
                        part.write(path / "results.h5")
                results = load([folder])
                regressions = comparison.regressions_of(results)
                mail = comparison._output_of("compare", f"{folder}/0", f"{folder}/1", "--same-models")
            self.assertEqual(regressions, mail["regressions"])
            self.assertTrue(regressions)
            self.assertEqual(any("missing" in words for words in regressions), not complete)

    def test_a_night_that_was_resumed_later_stays_before_the_next_night(self):
        first = shard(1, [64, 128], "a")
        for record in shard(5, [256, 512], "resumed").records:
            first.records.append(record)
        nights = first, shard(2, [64, 128, 256, 512], "b"), shard(3, [64, 128, 256, 512], "c")
        night = self.loaded(*nights)
        self.assertEqual(set(night.table["run_id"]), {"c"})
        self.assertEqual(list(followed(night)["at"].dt.day), [1, 2, 3])

    def test_runs_of_two_plans_in_a_merged_file_are_no_earlier_runs(self):
        parts = [{"run_id": "a", "plan_name": "nightly"}, {"run_id": "b", "plan_name": "other"}]
        for known in (True, False):  # older files do not have the plan of each run
            merged = shard(1, [64, 128], "a")
            merged.records += shard(2, [64, 256], "b").records
            listed = [part if known else {"run_id": part["run_id"]} for part in parts]
            merged.attributes.update(plan_name="nightly, other", merged_from=json.dumps(listed))
            night = self.loaded(merged)
            self.assertIsNone(night.earlier)
            self.assertEqual(len(night.table), 4)
            self.assertEqual(night.table["plan_name"].nunique(), 2)
        self.assertEqual(len(self.loaded(merged, shard(3, [64, 128], "c")).table), 6)

    def test_names_the_incomplete_runs(self):
        night = self.loaded(shard(1, [64, 128], "a"), shard(2, [64], "b"))
        ((words, _),) = glance._missing(night)
        self.assertIn("started 2026-01-01T00:00:00Z, an earlier run (2 of 3 trials)", words)
        self.assertIn("started 2026-01-02T00:00:00Z (1 of 3 trials)", words)


class RoundsTest(unittest.TestCase):
    ROUNDS = (1, 2, 3)

    def nights(self, days=4):
        """Returns nights with rounds. In the last night `wrong` fails in one round, `broken` crashes in all rounds and
        `slow` takes twice the time. In the night before the last all times are 10 % longer."""
        nights = [fixture.Night("nightly") for _ in range(days)]
        for day, night in enumerate(nights, 1):
            is_last = day == days
            for i, method in itertools.product(self.ROUNDS, ("wrong", "broken", "slow")):
                more = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day}T00:00:00Z", key=f"{method}-{i}", round=i)
                seconds = (1 + 0.001 * i) * (
                    1.1e-3 if day == days - 1 else 2e-3 if is_last and method == "slow" else 1e-3
                )
                broken = is_last and method == "broken"
                status = "crashed" if broken else "failed" if is_last and method == "wrong" and i == 2 else "pass"
                night.trial("gesv", method, 64, None if broken else seconds, status=status, scatter=1e-4, **more)
        return nights

    def test_a_trial_with_rounds_is_one_row_with_the_numbers_of_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(self.nights())]
            expected = {trial["method"]: trial for trial in comparison.verdicts(files[:-1], files[-1:]).values()}
            rows = changes(load(files))
            no_program = comparison.CannotCompare("no program")
            with mock.patch("analysis.sections.changes.verdicts_of", side_effect=no_program):
                alone = changes(load(files))
        self.assertEqual(sorted(rows["method"]), ["broken", "slow", "wrong"])
        for row in rows.itertuples():
            trial = expected[f"gesv/{row.method}"]
            self.assertEqual((row.status_before, row.status), (trial["base_status"], trial["new_status"]))
            self.assertEqual(row.seconds_median_before, trial["base_median"])
            self.assertAlmostEqual(row.seconds_median_before, 1.002e-3, delta=2e-6)  # not 1.1e-3, the last night's
        found = {row.method: (row.change, row.status) for row in rows.itertuples()}
        self.assertEqual(
            found, {"wrong": ("WORSE", "failed"), "broken": ("WORSE", "crashed"), "slow": ("SLOWER", "pass")}
        )
        self.assertAlmostEqual(rows.set_index("method")["ratio"]["slow"], 2, delta=0.01)
        found = {row.method: (row.change, row.status) for row in alone.itertuples()}
        self.assertEqual(found, {"wrong": ("WORSE", "failed"), "broken": ("WORSE", "crashed"), "slow": ("", "pass")})
        self.assertAlmostEqual(alone.set_index("method")["seconds_median_before"]["slow"], 1.1022e-3, delta=2e-6)

    def test_the_page_lists_each_trial_once(self):
        page = page_of(*self.nights())
        self.assertEqual(sorted(row["method"] for row in page.rows("changes")), ["broken", "slow", "wrong"])
        self.assertIn("Since the 3 earlier runs of the same plan: 3 trials in both", page.words("overview"))


class SeveralPlansTest(unittest.TestCase):
    def plan(self, name, days, change=False):
        nights = [fixture.Night(name) for _ in range(days)]
        for day, night in enumerate(nights, 1):
            night.attributes["plan"] += f"repeats: {day}\n" * change
            more = dict(run_id=f"{name}-{day}", start_time=f"2026-01-0{day}T00:00:00Z")
            night.trial("gesv", "lapack", {"nightly": 64}.get(name, 128), 1e-3, **more)
        return nights

    def test_the_earlier_runs_of_all_plans_are_counted(self):
        words = page_of(*self.plan("nightly", 4), *self.plan("sharded", 2)).words("overview")
        self.assertIn("Since the 4 earlier runs of 2 plans (3 of nightly, 1 of sharded): 2 trials in both", words)
        words = page_of(*self.plan("nightly", 2, change=True), *self.plan("sharded", 2)).words("overview")
        self.assertIn("Since the last runs of 2 plans (the text of nightly changed): 2 trials in both", words)
        words = page_of(*self.plan("nightly", 3), *self.plan("alone", 1)).words("overview")
        self.assertIn("Since the 2 earlier runs of the same plan: 1 trial in both", words)


class AsRecordedTest(unittest.TestCase):
    def test_the_package_neither_pools_rounds_nor_leaves_out_earlier_runs(self):
        nights = run(1), run(2)
        for night in nights:
            for number, record in enumerate(list(night.records)):
                night.records.append({**record, "key": f"r{number}", "round": 2, "seconds_median": 1.0})
        with tempfile.TemporaryDirectory() as folder:
            files = [night.write(Path(folder) / f"{i}.h5") for i, night in enumerate(nights)]
            records = analysis.load(*files).records
            self.assertEqual(len(analysis.load(files).records), len(records))
            pooled = load(files)
        self.assertEqual(len(records), sum(len(night.records) for night in nights))
        self.assertEqual((records["seconds_median"] == 1.0).sum(), len(records) / 2)
        self.assertLess(len(pooled.table), len(records))


class UnclearTest(unittest.TestCase):
    def test_failed_in_both_has_the_words_of_compare(self):
        nights = fixture.Night("nightly"), fixture.Night("nightly")
        for day, night in enumerate(nights, 1):
            same = dict(run_id=f"run-{day}", start_time=f"2026-01-0{day}T00:00:00Z")
            night.trial("gesv", "crout", 512, None, status="timeout", **same)
        words = page_of(*nights).words("overview")
        self.assertIn("1 trial in both: 1 failed in both (not rated).", words)

    def test_first_screen_suggests_a_remedy(self):
        words = page_of(run(1), run(2)).words("overview")
        self.assertRegex(words, r"UNCLEAR trials? on host: .*rounds: 3.*duet")


if __name__ == "__main__":
    unittest.main()
