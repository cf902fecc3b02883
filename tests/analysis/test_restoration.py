"""Compares the section on restored images with restoration.h5 files, alone and together with results of sweeps."""

import io
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from matplotlib import image

from fixture import bulk
from pages import report

CASES = {  # directory -> (psf, noise, mse degraded, mse restored)
    "a": ("sharpen", "gaussian:8", 400.0, 5.5),
    "b": ("gaussian", "none", 90.0, 3.0),
    "c": ("motion", "none", 80.0, 2.0),
    "d": ("box", "salt_pepper:0.1", 50.0, 60.0),
    "e": ("sharpen", "none", 70.0, 0.5),
}


def write(path, psf, noise, degraded, restored, **changes):
    rng = np.random.default_rng(len(psf))
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        for name in ("original", "degraded", "restored"):
            file[name] = rng.normal(128, 90, (6, 8))  # beyond 0 and 255 too
        file["psf"] = np.ones((3, 3)) / 9
        facts = dict(gaussweep="restoration", schema_version=1, image="shapes.pgm", image_sha256="1" * 64, psf=psf)
        facts.update(psf_text=f"{psf} radius=1", noise=noise, formula="regularised", method="poinv/lapack")
        facts.update(precision="double", device="a CPU", mse_degraded=degraded, mse_restored=restored)
        facts.update(psnr_degraded=20.25, psnr_restored=31.5, invert_seconds=0.25, residual_ratio=0.001)
        facts.update({"lambda": 0.01, "status": "pass", **changes})
        for name, value in facts.items():
            file.attrs[name] = value
    return path


class RestorationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def cases(self):
        for name, case in CASES.items():
            write(self.folder / "all" / name / "restoration.h5", *case)
        return self.folder / "all"

    def test_directory_with_restorations_only(self):
        page, message = report(self.cases(), out=self.folder / "out")
        self.assertEqual(message, "")
        self.assertEqual(list(page.sections), ["restoration"])
        rows = page.rows("restoration")
        # cases that are figures of the thesis, in its order, then the others
        self.assertEqual([row["case"] for row in rows], ["b", "d", "e", "a", "c"])
        self.assertEqual(
            {row.get("figure", "") for row in rows}, {""}, "no figure numbers, as cases of the thesis are missing"
        )
        for row in rows:
            _, noise, degraded, restored = CASES[row["case"]]
            self.assertEqual((row["MSE degraded"], row["MSE restored"], row["noise"]), (degraded, restored, noise))
            self.assertAlmostEqual(row["reduction"], degraded / restored)
            self.assertEqual((row["PSNR degraded [dB]"], row["PSNR restored [dB]"], row["λ"]), (20.25, 31.5, 0.01))
        words = page.words("restoration")
        self.assertIn("Restoration increased the error: d.", words)
        self.assertIn("falls at least by 30.0× (b)", words)
        self.assertIn("The image sharpened with gaussian noise", words)
        self.assertIn("The original, shapes.pgm, 8 × 6.", words)
        self.assertNotIn("Figure 6", words)
        self.assertNotIn("Table 6.3", words)

    def test_the_six_cases_of_the_thesis_have_its_numbers(self):
        for psf in ("gaussian", "sharpen"):
            for noise in ("none", "salt_pepper:0.1", "gaussian:8"):
                write(self.folder / "all" / f"{psf}-{noise[:4]}" / "restoration.h5", psf, noise, 90.0, 3.0)
        page, _ = report(self.folder / "all", out=self.folder / "out")
        rows = page.rows("restoration")
        self.assertEqual([row["figure"] for row in rows], ["6.2", "6.3", "6.4", "6.5", "6.6", "6.7"])
        words = page.words("restoration")
        self.assertIn("Figure 6.7. The image sharpened with gaussian noise", words)
        self.assertIn("Figure 6.1. The original, shapes.pgm, 8 × 6.", words)
        self.assertIn("Table 6.3 of the thesis", words)

    def test_pictures_are_the_files_rounded_and_clipped(self):
        page, _ = report(self.cases(), out=self.folder / "out")
        self.assertEqual(set(page.pictures), {*CASES, "b-original"})
        for name in CASES:
            with h5py.File(self.folder / "all" / name / "restoration.h5") as file:
                self.assertEqual([what for what, _ in page.pictures[name]], ["degraded", "restored"])
                for what, png in page.pictures[name]:
                    shown = np.rint(image.imread(io.BytesIO(png))[..., 0] * 255)
                    np.testing.assert_array_equal(shown, np.rint(np.clip(file[what][:], 0, 255)))

    def test_one_file(self):
        page, _ = report(write(self.folder / "mine.h5", *CASES["c"]), out=self.folder / "out")
        self.assertEqual([row["case"] for row in page.rows("restoration")], ["mine"])

    def test_restorations_and_sweeps(self):
        sweep = self.folder / "all" / "sweep" / "results.h5"
        sweep.parent.mkdir(parents=True)
        bulk(sweep, 40, 2)
        page, _ = report(self.cases(), out=self.folder / "out")
        self.assertEqual(list(page.sections)[-2:], ["restoration", "provenance"])
        self.assertEqual(len(page.rows("restoration")), len(CASES))
        page, _ = report(sweep, out=self.folder / "other")
        self.assertNotIn("restoration", page.sections)

    def test_damaged_and_foreign_files(self):
        self.cases()
        whole = (self.folder / "all" / "a" / "restoration.h5").read_bytes()
        (self.folder / "all" / "a" / "restoration.h5").write_bytes(whole[:700])
        with h5py.File(self.folder / "all" / "b" / "restoration.h5", "a") as file:
            del file["restored"]
            file["restored"] = np.zeros((3, 3))
        write(
            self.folder / "all" / "f" / "restoration.h5",
            "gaussian",
            "none",
            np.nan,
            np.nan,
            status="failed",
            **{"lambda": np.nan},
        )
        with h5py.File(self.folder / "all" / "f" / "restoration.h5", "a") as file:
            file["restored"][:] = np.nan
        page, message = report(self.folder / "all", out=self.folder / "out")
        self.assertIn("a/restoration.h5 was left out: ", message)
        self.assertIn("b/restoration.h5 was left out: its pictures have different shapes", message)
        self.assertEqual({row["case"] for row in page.rows("restoration")}, {"c", "d", "e", "f"})
        self.assertIn("The inverse did not pass its check: f (failed).", page.words("restoration"))
        only = self.folder / "only"
        only.mkdir()
        _, message = report(only, out=self.folder / "none", expect=2)
        self.assertIn("no results.h5 here or below", message)


if __name__ == "__main__":
    unittest.main()
