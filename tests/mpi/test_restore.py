#!/usr/bin/env python3
"""Tests gaussweep restore as a user runs it: numbers against NumPy's solve of the same system, files, refusals."""

import hashlib
import json
import math
import os
import resource
import shutil
import unittest

import h5py
import numpy as np

from harness import GAUSSWEEP, SOURCE, SweepTest, execute, run

UMASK = os.umask(0)
os.umask(UMASK)
SHAPES = SOURCE / "jobs/plans/data/shapes_64.pgm"


def point_spread(psf, **given):
    """Returns the weights by their definition, independently of our code."""
    if psf == "gaussian":
        sigma, radius = given["sigma"], given["radius"]
        k = np.arange(-radius, radius + 1)
        w = np.exp(-(k[:, None] ** 2 + k[None, :] ** 2) / (2 * sigma**2))
    elif psf == "box":
        w = np.ones((2 * given["radius"] + 1,) * 2)
    elif psf == "motion":
        length, angle = given["length"], math.radians(given["angle"])
        reach = math.ceil(length - 1)
        w = np.zeros((2 * reach + 1,) * 2)
        for i in range(-reach, reach + 1):
            for j in range(-reach, reach + 1):
                t = min(max(j * math.cos(angle) - i * math.sin(angle), 0), length - 1)
                w[i + reach, j + reach] = max(0, 1 - math.hypot(j - t * math.cos(angle), i + t * math.sin(angle)))
    else:
        amount = given["amount"]
        return np.array([[0, -amount, 0], [-amount, 1 + 4 * amount, -amount], [0, -amount, 0]])
    return w / w.sum()


def system_matrix(w, height, width):
    """Returns H: row p has the contributions of all pixels to pixel p, without any from outside the image."""
    h = np.zeros((height * width,) * 2)
    up, left = w.shape[0] // 2, w.shape[1] // 2
    for y in range(height):
        for x in range(width):
            for i in range(w.shape[0]):
                for j in range(w.shape[1]):
                    if 0 <= y + i - up < height and 0 <= x + j - left < width:
                        h[y * width + x, (y + i - up) * width + x + j - left] = w[i, j]
    return h


def solve(formula, h, g, lam):
    if formula == "inverse":
        return np.linalg.solve(h, g)
    s = h @ h.T + lam * np.eye(len(h))
    return h.T @ np.linalg.solve(s, g) if formula == "regularised" else np.linalg.solve(s, h.T @ g)


def read(directory):
    with h5py.File(directory / "restoration.h5", "r") as file:
        data = {name: file[name][:] for name in ("original", "degraded", "restored", "psf")}
        return data, dict(file.attrs)


class Restore(SweepTest):
    def image(self, height=18, width=23, name="image.pgm"):
        """Writes a small non-square image with edges."""
        y, x = np.mgrid[0:height, 0:width]
        grey = np.where((y - 8) ** 2 + (x - 9) ** 2 < 30, 200, 60 + 3 * x) + np.where(x % 5 == 0, 40, 0)
        path = self.folder / name
        path.write_bytes(b"P5\n%d %d\n255\n" % (width, height) + grey.astype(np.uint8).tobytes())
        return path

    def restore(self, image, *options, output="out", code=0, **changes):
        done = run(["restore", "--image", image, "-o", self.folder / output, *options], **changes)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.output = done.stdout + done.stderr
        return self.folder / output

    def against_numpy(self, image, formula, psf, noise, lam, numbers):
        options = [word for name, value in numbers.items() for word in (f"--{name}", value)]
        if formula != "inverse":
            options += ["--lambda", lam]
        out = self.restore(
            image,
            "--psf",
            psf,
            "--noise",
            noise,
            "--formula",
            formula,
            *options,
            output=f"{formula}-{psf}-{noise}".replace(":", "-"),
        )
        data, facts = read(out)
        f, g, restored = (data[name].ravel() for name in ("original", "degraded", "restored"))
        np.testing.assert_array_equal(data["original"].ravel(), np.frombuffer(image.read_bytes()[-f.size :], np.uint8))
        w = point_spread(psf, **numbers)
        np.testing.assert_allclose(data["psf"], w, atol=1e-11)
        h = system_matrix(w, *data["original"].shape)
        if noise == "none":
            np.testing.assert_allclose(g, h @ f, atol=1e-7)
        np.testing.assert_allclose(restored, solve(formula, h, g, lam), rtol=0, atol=1e-6 * max(1, abs(restored).max()))
        self.assertEqual(facts["status"], "pass")
        for name, picture in (("degraded", g), ("restored", restored)):
            mse = np.mean((picture - f) ** 2)
            self.assertAlmostEqual(facts[f"mse_{name}"] / mse, 1, 12)
            self.assertAlmostEqual(facts[f"psnr_{name}"], 10 * math.log10(255**2 / mse), 9)
        return facts

    def test_agrees_with_numpy(self):
        image = self.image(12, 14)
        cases = [
            ("gaussian", {"sigma": 1.2, "radius": 2}),
            ("box", {"radius": 1}),
            ("sharpen", {"amount": 0.8}),
            ("motion", {"length": 5, "angle": 0}),
            ("motion", {"length": 4.5, "angle": 115}),
        ]
        formulas, noises = ("regularised", "paper", "inverse"), ("none", "gaussian:5", "salt_pepper:0.1")
        for i, (psf, numbers) in enumerate(cases):
            for j, formula in enumerate(formulas):
                # the inverse of a Gaussian or box blur is too inaccurate to compare
                if formula == "inverse" and psf in ("gaussian", "box"):
                    continue
                noise = noises[(i + j) % 3]  # every formula has every noise
                with self.subTest(psf=psf, formula=formula, noise=noise):
                    self.against_numpy(image, formula, psf, noise, 1e-3, numbers)
                    shutil.rmtree(self.folder / f"{formula}-{psf}-{noise}".replace(":", "-"))

    def test_shipped_image_without_noise(self):
        # one of the two worst noise-free cases of jobs/restoration.sh; the inverse takes 20 s on a core
        options = ("--psf", "motion", "--length", 7, "--angle", 0, "--lambda", 1e-6)
        _, facts = read(self.restore(SHAPES, *options))
        self.assertEqual((facts["formula"], facts["noise"], facts["status"]), ("regularised", "none", "pass"))
        self.assertLess(10 * facts["mse_restored"], facts["mse_degraded"])

    def test_output_files(self):
        out = self.restore(
            self.image(), "--noise", "salt_pepper:0.2", "--seed", "7", "--precision", "float", "--method", "lapack"
        )
        self.assertEqual(sorted(os.listdir(out)), ["degraded.png", "original.png", "restoration.h5", "restored.png"])
        for name in os.listdir(out):
            self.assertEqual((out / name).stat().st_mode & 0o777, 0o666 & ~UMASK, name)
        data, facts = read(out)
        self.assertEqual((facts["gaussweep"], facts["schema_version"]), ("restoration", 1))
        self.assertEqual((facts["width"], facts["height"], facts["n"], facts["seed"]), (23, 18, 414, 7))
        self.assertEqual(
            (facts["psf"], facts["noise"], facts["formula"]), ("gaussian", "salt_pepper:0.2", "regularised")
        )
        self.assertEqual((facts["method"], facts["precision"], facts["backend"]), ("poinv/lapack", "float", "host"))
        self.assertLessEqual(facts["residual_ratio"], facts["tolerance"])
        for name in ("generate", "allocate", "h2d", "invert", "d2h", "verify", "apply"):
            self.assertGreaterEqual(facts[f"{name}_seconds"], 0)
        self.assertIn("restore", facts["command_line"])
        struck = np.isin(data["degraded"], (0, 255)).mean()
        self.assertTrue(0.1 < struck < 0.3, struck)
        # images are the rounded and clipped numbers, as the program itself reads them back
        for name in ("original", "degraded", "restored"):
            again = self.restore(out / f"{name}.png", "--psf", "box", "--radius", "0", output=f"again-{name}")
            np.testing.assert_array_equal(read(again)[0]["original"], np.clip(np.rint(data[name]), 0, 255))
        self.assertIn("MSE DEGRADED", self.output)

    def test_names_the_image_that_it_restored(self):
        image = self.image()
        _, facts = read(self.restore(image))
        self.assertEqual(facts["image_sha256"], hashlib.sha256(image.read_bytes()).hexdigest())

    def test_a_failure_leaves_no_output(self):
        """A file size limit that allows the images but not the numbers replaces a full disk."""
        image, target = self.image(), self.folder / "out"
        for exists in (False, True):
            if exists:
                target.mkdir()
            done = self.ran(
                ["restore", "--image", image, "-o", target],
                code=3,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
            )
            self.assertIn("restoration.h5", done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(["image.pgm"] + ["out"] * exists))
            self.assertEqual(exists, target.exists() and not os.listdir(target))
        self.restore(image)

    def test_seed_decides_the_noise(self):
        image = self.image()
        pictures = [
            read(self.restore(image, "--noise", "gaussian:9", "--seed", seed, output=f"out{i}"))[0]["degraded"]
            for i, seed in enumerate((1, 1, 2))
        ]
        np.testing.assert_array_equal(pictures[0], pictures[1])
        self.assertGreater(abs(pictures[0] - pictures[2]).max(), 1)

    def test_weights_from_a_file(self):
        weights = self.folder / "w.mtx"
        weights.write_text("%%MatrixMarket matrix array real general\n1 3\n0.2\n0.5\n0.3\n")
        out = self.restore(self.image(), "--psf", "file", "--psf-file", weights, "--lambda", "1e-3")
        data, _ = read(out)
        h = system_matrix(np.array([[0.2, 0.5, 0.3]]), 18, 23)
        np.testing.assert_allclose(data["degraded"].ravel(), h @ data["original"].ravel(), atol=1e-10)

    def test_full_matrix_products_give_the_same(self):
        image = self.image(9, 11)
        for formula in ("paper", "regularised"):
            common = ("--psf", "motion", "--length", "3", "--lambda", "1e-3", "--formula", formula)
            ours, _ = read(self.restore(image, *common, output=f"{formula}-analytic"))
            theirs, facts = read(
                self.restore(image, *common, "--products", "gemm", "--gemm", "shared", output=f"{formula}-gemm")
            )
            np.testing.assert_allclose(theirs["restored"], ours["restored"], atol=1e-6)
            self.assertEqual((facts["products"], facts["gemm_method"]), ("gemm", "gemm/shared"))
            self.assertGreater(facts["product_seconds"], 0)
            self.assertLess(facts["product_ratio"], 3)

    def test_formats(self):
        image = self.image()
        self.restore(image, "--format", "json", output="a")
        row = json.loads(self.output)[0]
        self.assertLess(row["mse_restored"], row["mse_degraded"])
        self.restore(image, "--format", "csv", output="b")
        self.assertTrue(self.output.startswith("psf,noise,formula,lambda,method,mse_degraded"), self.output)

    def test_reports_a_wrong_inverse(self):
        # 5 x 5 pixels under a box of 3 x 3: H is singular, because 5 + 1 is divisible by 3
        self.restore(self.image(5, 5), "--psf", "box", "--radius", "1", "--formula", "inverse", code=1)
        self.assertIn("failed", self.output)

    def refused(self, *words, image=None, options=(), code=2):
        self.restore(image or self.image(), *options, output="refused", code=code)
        self.assertFalse((self.folder / "refused" / "restoration.h5").exists())
        for word in words:
            self.assertIn(word, self.output)

    def test_refuses_other_images(self):
        self.refused("No such file", image=self.folder / "none.png")
        text = self.folder / "text.png"
        text.write_text("no image at all")
        self.refused("neither PNG nor PGM", image=text)
        whole = (self.restore(self.image(), output="whole") / "original.png").read_bytes()
        torn = self.folder / "torn.png"
        torn.write_bytes(whole[: len(whole) // 2])
        self.refused("damaged PNG", image=torn)
        large = self.folder / "large.pgm"
        large.write_bytes(b"P5\n300 300\n255\n" + bytes(90000))
        self.refused("it is 300 x 300; allowed: 1 to 46340 pixels", image=large)

    def test_refuses_matrices_larger_than_memory(self):
        # 215 x 215 pixels: a matrix of 46225 x 46225 has 15.9 GiB, and more than two are needed
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if pages > 60 * 2**30:
            self.skipTest("this machine has room for an image of 46225 pixels")
        self.refused("of memory", "are available", image=self.image(215, 215))

    def test_refuses_invalid_options(self):
        cases = {
            ("--psf", "blob"): "'blob' is no point-spread function",
            ("--psf", "gaussian", "--sigma", "-1"): "--sigma",
            ("--psf", "box", "--sigma", "1"): "psf box has no 'sigma'",
            ("--noise", "snow"): "--noise snow: allowed are none, gaussian:SIGMA",
            ("--noise", "gausian:3"): "nearest: gaussian;",
            ("--noise", "salt_pepper:1.5"): "PROBABILITY: '1.5'",
            ("--noise", "gaussian"): "gaussian:SIGMA",
            ("--noise", "none:1"): "allowed are none",
            ("--lambda", "-1"): "--lambda: lambda: '-1'",
            ("--lambda", "nan"): "--lambda",
            ("--formula", "inverse", "--lambda", "1"): "the formula inverse has none",
            ("--formula", "guess"): "regularised, paper, inverse",
            ("--formula", "inverse", "--method", "poinv/lapack"): "geinv/lapack",
            ("--method", "gesv/lapack"): "does not invert a matrix",
            ("--products", "gem"): "nearest: gemm;",
            ("--products", "gemm", "--formula", "inverse"): "the formula inverse has no products",
            ("--products", "gemm", "--gemm", "poinv/lapack"): "it does not multiply matrices",
            ("--gemm", "shared"): "say --products gemm",
            ("--method", "poinv/lapak"): "nearest: poinv/lapack;",
            ("--backend", "cuda"): "there is no GPU here",
            ("--precision", "half"): "float, double",
            ("--format", "xml"): "table, csv",
            ("--seed", "-1"): "seed: '-1'; allowed: a whole number from 0",
            ("--seed", "99999999999999999999"): "allowed: a whole number from 0",
        }
        for options, words in cases.items():
            with self.subTest(options=options):
                self.refused(words, options=options)

    def test_refuses_existing_output(self):
        full = self.folder / "full"
        full.mkdir()
        (full / "mine").write_text("mine")
        self.restore(self.image(), output="full", code=2)
        self.assertIn("exists and is not empty", self.output)
        self.assertEqual(os.listdir(full), ["mine"])
        (self.folder / "empty").mkdir()
        self.restore(self.image(), output="empty")

    def test_the_script_of_all_cases(self):
        out = self.folder / "all"
        done = execute([SOURCE / "jobs/restoration.sh", out, self.image(12, 12)], GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 10)
        self.assertEqual(len([p for p in out.iterdir() if (p / "restoration.h5").is_file()]), 9)
        again = execute([SOURCE / "jobs/restoration.sh", out], GAUSSWEEP=str(GAUSSWEEP))
        self.assertEqual(again.returncode, 2)
        self.assertIn("exists", again.stderr)


if __name__ == "__main__":
    unittest.main()
