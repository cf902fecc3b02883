"""Tests damaged, incomplete and unusual results files: none may stop the report or leave a section empty."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import fixture
import h5py
import numpy as np
from everything import everything
from pages import ALWAYS, ROOT, SECTIONS, Reader, section_names, report

from analysis.cli import build, title_of
from analysis.loader import load


def some_trials():
    night = fixture.Night()
    for n in (64, 128, 256):
        for method in ("lapack", "gauss_serial"):
            night.trial("gesv", method, n, 1e-6 * n)
        night.trial("gesv", "cusolver", n, 1e-7 * n, gpu="NVIDIA Test 100")
    return night


class RobustTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.base = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def page(self, night, **write):
        loaded = load([night.write(self.base / "results.h5", **write)])
        self.stderr = "\n".join(loaded.warnings)
        page = Reader.of(build(loaded, title_of(loaded), of_papers="all").write(self.base / "out"))
        self.assertLessEqual(set(ALWAYS), section_names(page))
        self.assertLessEqual(section_names(page), set(SECTIONS))
        for name in section_names(page):
            self.assertTrue(page.figures[name] or page.none[name] or page.words(name).strip(), f"{name} is empty")
        return page

    def test_no_records(self):
        page = self.page(fixture.Night())
        self.assertIn("no record", page.words("overview"))
        self.assertEqual(section_names(page), {"overview", "papers", "provenance"}, "empty sections are left out")
        self.assertEqual([n for names in page.figures.values() for n in names], [])

    def test_one_record(self):
        night = fixture.Night()
        night.trial("gesv", "gauss_serial", 64, 1e-3)
        page = self.page(night)
        self.assertEqual(page.rows("ranking")[0]["fastest"], "gauss_serial")
        self.assertNotIn("failures", page.sections)

    def test_one_size_only(self):
        night = fixture.Night()
        for method in ("gauss_serial", "lapack"):
            night.trial("gesv", method, 512, 1e-3)
        night.trial("gesv", "cusolver", 512, 1e-4, gpu="NVIDIA Test 100")
        page = self.page(night)
        self.assertTrue(page.figures["time"])
        self.assertIn("Time: gesv, double, NVIDIA Test 100 and CPU, n = 512", page.text)

    def test_all_failed(self):
        night = fixture.Night()
        for n in (64, 128):
            night.trial("gesv", "gauss_block", n, 1e-3, status="failed", residual_ratio=np.inf, gpu="NVIDIA Test 100")
            more = dict(status="crashed", message="signal 9", gpu="NVIDIA Test 100", precision="float")
            night.trial("gesv", "gauss_block", n, None, **more)
        page = self.page(night)
        self.assertNotIn("ranking", page.sections)
        self.assertTrue(page.figures["time"], "times of wrong answers are still times")

    def test_no_trial_has_an_answer(self):
        night = fixture.Night()
        night.trial("gesv", "gauss_block", 64, None, status="timeout", message="no answer within 1 s")
        page = self.page(night)
        self.assertNotIn("time", page.sections)

    def test_emulated_only(self):
        night = fixture.Night()
        for n in (16, 32, 64):
            for blocks in (1, 2, 4):
                more = dict(backend="emulated", parameters=dict(blocks=blocks))
                night.trial("gesv", "gauss_cyclic_decrement", n, 0.001 / blocks, **more)
        page = self.page(night)
        self.assertEqual(page.rows("ranking")[0]["device"], "emulated on the CPU")
        self.assertNotIn("architectures", page.sections)

    def test_older_schema(self):
        page = self.page(
            everything(gpus=("NVIDIA Test 100",)),
            leave_out=("iterations", "hosts"),
            columns_left_out=("peak_share", "pivot_growth", "convergence", "throttle_reason", "node"),
        )
        self.assertIn("lacks convergence, throttle_reason, node, peak_share, pivot_growth", page.words("overview"))
        self.assertIn("pivot_growth", self.stderr)

    def test_only_the_required_columns(self):
        rows = np.zeros(2, dtype=[("key", "S4"), ("problem", "S4"), ("method", "S8"), ("status", "S8")])
        rows["problem"], rows["method"], rows["status"] = b"gesv", b"lapack", b"pass"
        with h5py.File(self.base / "results.h5", "w") as file:
            file["records"] = rows
        page, _ = report(self.base, out=self.base / "out")
        self.assertIn("2 trials", page.words("overview"))

    def test_extreme_numbers_and_foreign_text(self):
        night = fixture.Night("Größe <b>&amp;\u2028")
        more = dict(residual_ratio=np.nan, forward_error=0.0, backward_error=np.inf, status="failed")
        night.trial("gesv", "mé\tthod", 64, 1e-12, **more)
        more = dict(gflops=np.inf, peak_share=-1.0, parameters={"blocks": "many", "x": None, "flag": True})
        night.trial("gesv", "other", 2**40, 1000000000.0, **more)
        night.trial("gesv", "other", 64, 1e-3, parameters={"blocks": 2})
        night.records[0]["parameters"] = "not JSON"
        night.records[1]["status"] = "a status of tomorrow"
        page = self.page(night, variable=True)
        self.assertIn("a status of tomorrow", page.words("overview"))
        self.assertIn("mé\tthod", page.text)

    def test_shards_are_merged_and_repetitions_counted_once(self):
        whole = some_trials()
        whole.write(self.base / "a.h5")
        again = fixture.Night("again")
        again.records, again.samples, again.stages = (
            [dict(r) for r in whole.records[:5]],
            [dict(s) for s in whole.samples if s["trial"] < 5],
            [],
        )
        again.records[0]["message"] = "the later one"
        again.trial("gesv", "only_here", 64, 1e-3)
        (self.base / "b").mkdir()
        again.write(self.base / "b" / "results.h5")
        page, stderr = report(self.base / "a.h5", self.base / "b", out=self.base / "out")
        keys = [(r["key"], r["gpu_name"] if "gpu_name" in r else "") for r in whole.records]
        self.assertIn("5 records in more than one file", stderr)
        self.assertIn(f"{len(set(keys)) + 1} trials", page.words("overview"))
        samples = sum(1 for s in whole.samples) + 5
        self.assertIn(f"{samples} samples", page.words("overview"))

    def test_two_architectures_do_not_swallow_each_other(self):
        night = fixture.Night()
        for gpu in fixture.GPUS:
            night.trial("gesv", "cusolver", 512, 1e-3, gpu=gpu)
        self.assertEqual(night.records[0]["key"], night.records[1]["key"])
        self.assertIn("2 trials", self.page(night).words("overview"))

    def test_damaged_files_are_named_and_left_out(self):
        some_trials().write(self.base / "good.h5")
        (self.base / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 50)
        page, stderr = report(self.base / "good.h5", self.base / "bad.h5", out=self.base / "out")
        self.assertIn("bad.h5 was left out", stderr)
        self.assertIn("bad.h5 was left out", page.words("overview"))

    def test_unreadable_input_is_a_clear_error(self):
        journal = (
            '{"note":"host","row":{"blas_threads":1,"cores":2,"cpu":"AMD EPYC","host":"vm","memory_bytes":2147483648,'
            '"os":"Linux"},"crc":"d6e68e1c"}\n'
        )
        (self.base / "text.h5").write_text("hello")
        (self.base / "empty").mkdir()
        (self.base / "a kill").mkdir()
        for name in ("a kill/journal.jsonl", "a copy.jsonl"):
            (self.base / name).write_text(journal)
        (self.base / "export.jsonl").write_text('{"trial":0,"key":"5c8a","cpu_demand":3.0,"parameter_kernel":null}\n')
        for argument, words in (
            ("text.h5", "nothing to report on"),
            ("empty", "no results.h5 here"),
            ("a kill", f"gaussweep merge '{self.base}/a kill' -o '{self.base}/a kill/results.h5', makes"),
            ("a kill/journal.jsonl", "give the run directory"),
            ("a copy.jsonl", f"left out: report reads no journals; gaussweep merge '{self.base}/a copy.jsonl' -o"),
            ("export.jsonl", "export.jsonl was left out: Unable to"),
            ("absent", "no such file"),
        ):
            _, stderr = report(self.base / argument, out=self.base / "out", expect=2)
            self.assertIn(words, stderr)
            self.assertNotIn("Traceback", stderr)

    def refuse(self, path, *words):
        _, stderr = report(path, out=self.base / "out", expect=2)
        for word in words:
            self.assertIn(word, stderr)
        self.assertNotIn("Traceback", stderr)
        self.assertFalse((self.base / "out").exists())

    def test_foreign_files_are_refused_with_a_message(self):
        def group(file):
            file.create_group("records")

        def matrix(file):
            file["records"] = np.zeros((3, 3))

        def numbers(file):
            file["records"] = np.zeros(2, dtype=[("key", "S4"), ("n", "S4")])

        def lists(file):
            file["records"] = np.zeros(2, dtype=[("key", "S4"), ("n", "i8", (3,))])

        def counts(file):
            file["records"] = np.zeros(2, dtype=[("key", "i8")])

        for fill, words in (
            (group, "no table /records"),
            (matrix, "not a one-dimensional compound table"),
            (numbers, "column n of /records must hold numbers"),
            (lists, "column n of /records must hold numbers, one per row"),
            (counts, "column key of /records must hold text"),
        ):
            with self.subTest(fill.__name__):
                with h5py.File(self.base / "foreign.h5", "w") as file:
                    fill(file)
                self.refuse(self.base / "foreign.h5", "foreign.h5 was left out", words)

    def test_damaged_tables_are_refused_with_a_message(self):
        path = some_trials().write(self.base / "damaged.h5")
        with h5py.File(path, "r") as file:
            chunk = file["records"].id.get_chunk_info(0)
        data = bytearray(path.read_bytes())
        data[chunk.byte_offset : chunk.byte_offset + chunk.size] = os.urandom(chunk.size)
        path.write_bytes(data)
        self.refuse(path, "damaged.h5 was left out", "an't")  # HDF5's message starts with "can't"
        (self.base / "journal.jsonl").touch()
        self.refuse(path, f"gaussweep merge {self.base} -o {path} --force")

    def test_a_table_that_claims_more_than_it_holds(self):
        path = fixture.Night().write(self.base / "endless.h5")
        with h5py.File(path, "a") as file:
            file["records"].resize((10**12,))
        self.refuse(path, "/records claims 1000000000000 values but holds only 0 bytes")

    def test_newer_schema_is_refused(self):
        path = some_trials().write(self.base / "newer.h5")
        with h5py.File(path, "a") as file:
            file.attrs["schema_version"] = 2
        self.refuse(path, "written by a newer gaussweep (schema version 2; this report reads versions up to 1)")
        with h5py.File(path, "a") as file:
            file.attrs["schema_version"] = "one"
        self.refuse(path, "schema_version is not a whole number")

    def test_control_characters_reach_neither_terminal_nor_page(self):
        night = fixture.Night("\x1b[31m\x9b")
        night.trial("gesv", "lapack", 64, 1e-3)
        path = night.write(self.base / "a\x1b[2J.h5", variable=True, columns_left_out=("gres",))
        page, stderr = report(path, out=self.base / "out")
        self.assertIn("lacks gres", stderr)
        for words in (page.text, stderr):
            self.assertNotRegex(words, "[\x1b\x9b]")

    def test_a_failed_report_keeps_the_previous_one(self):
        """A file size limit of 8,192 bytes makes writing fail, as a full disk would."""
        out, other = self.base / "out", fixture.Night("other")
        report(some_trials().write(self.base / "results.h5"), out=out)
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for n in (64, 128):
            other.trial("gesv", "lapack", n, 1e-3)
        code = (
            "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            " resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)); sys.argv = sys.argv[1:];"
            " runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        done = subprocess.run(
            [
                "/usr/bin/python3",
                "-c",
                code,
                ROOT / "analysis" / "report",
                other.write(self.base / "other.h5"),
                "-o",
                out,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot write the page", done.stderr)
        self.assertEqual({path: path.read_bytes() for path in out.rglob("*") if path.is_file()}, before)

    def test_a_failed_report_leaves_no_folder(self):
        with self.assertRaises(OSError):
            page = build(load([fixture.Night().write(self.base / "results.h5")]))
            page.files["no such folder/x.csv"] = 0, 0
            page.write(self.base / "out")
        self.assertFalse((self.base / "out").exists())

    def test_unwritable_output(self):
        night = fixture.Night()
        night.write(self.base / "results.h5")
        (self.base / "file").write_text("")
        _, stderr = report(self.base / "results.h5", out=self.base / "file", expect=2)
        self.assertIn("cannot write", stderr)

    def test_details_of_missing_trials(self):
        night = fixture.Night()
        night.trial("gesv", "lapack", 64, 1e-3, stages=[("gesv", 1, 1e-3, np.nan)])
        night.samples.append(dict(trial=99, index=0, seconds=1.0))
        night.stages.append(dict(trial=-5, kernel="ghost", calls=1, seconds=1.0))
        page = self.page(night)
        self.assertIn("without a record", page.words("overview"))
        self.assertNotIn("ghost", page.text)

    def test_many_series_of_long_names_are_all_drawn(self):
        night = fixture.Night()
        for m in range(40):
            for n in (64, 128):
                night.trial("gesv", f"a_method_with_a_very_long_name_indeed_number_{m:03d}", n, 1e-3 * (m + 1))
        page = self.page(night)
        self.assertEqual(len(next(iter(page.plots.values()))["series"]), 40)

    def test_an_old_python_environment_is_named(self):
        """Without its packages the command names the missing ones (here in an environment without any)."""
        environment = {**os.environ, "GAUSSWEEP_REPORT_PYTHON": "system"}
        code = (
            "import importlib.util as u, runpy, sys; u.find_spec = lambda name: None; sys.argv = ['report'];"
            " runpy.run_path(sys.argv[0])"
        )
        done = subprocess.run(
            ["/usr/bin/python3", "-c", code.replace("['report']", f"[{str(ROOT / 'analysis' / 'report')!r}]")],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("python3-h5py", done.stderr)


if __name__ == "__main__":
    unittest.main()
