"""Tests solve: answers for a user's matrix as files, or an error and no file."""

import unittest

import h5py
import numpy as np
from harness import SweepTest, run


class Solve(SweepTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(7)
        self.a = random.standard_normal((37, 37))
        self.x = random.standard_normal((37, 3))
        self.definite = self.a @ self.a.T + 37 * np.eye(37)
        for name, data in (("A", self.a), ("b", self.a @ self.x), ("S", self.definite), ("c", self.definite @ self.x)):
            np.save(self.folder / f"{name}.npy", data)
        np.save(self.folder / "Z.npy", np.zeros((5, 5)))

    def solve(self, *options, output="x.npy", code=0):
        done = run(["solve", *options, "-o", output], cwd=self.folder)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.output = done.stdout + done.stderr
        if code == 0 and output.endswith(".npy"):
            return np.load(self.folder / output)
        return None

    def test_systems_inverses_and_factors(self):
        np.testing.assert_allclose(self.solve("A.npy", "--rhs", "b.npy"), self.x, atol=1e-10)
        self.assertIn("pass", self.output)
        force = "--force"
        np.testing.assert_allclose(self.solve("A.npy", force) @ self.a, np.eye(37), atol=1e-10)
        single = self.solve("A.npy", "--rhs", "b.npy", "--precision", "float", force)
        np.testing.assert_allclose(single, self.x, atol=1e-3)
        np.testing.assert_allclose(
            self.solve("S.npy", "--rhs", "c.npy", "--problem", "posv", force), self.x, atol=1e-10
        )
        for uplo, part in (("lower", np.tril), ("upper", np.triu)):
            factor = self.solve("S.npy", "--problem", "potrf", "--uplo", uplo, force)
            np.testing.assert_array_equal(factor, part(factor))
            product = factor @ factor.T if uplo == "lower" else factor.T @ factor
            np.testing.assert_allclose(product, self.definite, atol=1e-9)
            inverse = self.solve("S.npy", "--problem", "poinv", "--uplo", uplo, force)
            np.testing.assert_allclose(inverse @ self.definite, np.eye(37), atol=1e-10)
        self.solve(
            "A.npy", "--rhs", "b.npy", "--method", "gauss_jordan_shared", "--backend", "emulated", output="x.mtx"
        )
        self.assertIn("gesv/gauss_jordan_shared (emulated", self.output)
        written = np.loadtxt(self.folder / "x.mtx", skiprows=2).reshape((37, 3), order="F")
        np.testing.assert_allclose(written, self.x, atol=1e-10)

    def test_the_triangle_is_that_of_the_matrix(self):
        b = np.load(self.folder / "b.npy")
        for other, uplo, part in (("upper", "lower", np.tril), ("lower", "upper", np.triu)):
            triangle = part(self.definite)
            np.save(self.folder / "T.npy", triangle)
            for options in ([], ["--uplo", uplo]):
                x = self.solve("T.npy", "--rhs", "b.npy", "--problem", "trsv", *options, "--force")
                np.testing.assert_allclose(triangle @ x, b, atol=1e-8)
            inverse = self.solve("T.npy", "--problem", "trtri", "--force")
            np.testing.assert_allclose(inverse @ triangle, np.eye(37), atol=1e-8)
            (self.folder / "x.npy").unlink()
            self.solve("T.npy", "--rhs", "b.npy", "--problem", "trsv", "--uplo", other, code=2)
            self.assertIn(f"is {uplo} triangular, uplo is {other}", self.output)
        for problem in (["trsv", "--rhs", "b.npy"], ["trtri"]):
            for options in ([], ["--uplo", "lower"]):
                self.solve("S.npy", "--problem", *problem, *options, code=2)
                self.assertIn("S.npy is not triangular", self.output)
        self.assertFalse((self.folder / "x.npy").exists())

    def test_what_the_matrix_lacks_is_named(self):
        for problem in ("potrf", "poinv"):
            self.solve("A.npy", "--problem", problem, code=2)
            self.assertIn("A.npy is not symmetric", self.output)
        np.save(self.folder / "indefinite.npy", np.array([[1.0, 2], [2, 1]]))
        self.solve("indefinite.npy", "--problem", "potrf", code=1)
        self.assertIn("is not positive definite", self.output)
        np.save(self.folder / "zero.npy", np.array([[0.0, 1], [1, 0]]))
        self.solve("zero.npy")
        self.assertNotIn("warning", self.output)
        rounded = self.definite.copy()
        rounded[0, 1] = np.nextafter(rounded[1, 0], np.inf)
        np.save(self.folder / "rounded.npy", rounded)
        self.solve("rounded.npy", "--problem", "poinv", "--force")
        low_rank = self.a[:, :30] @ self.a[:30, :]
        np.save(self.folder / "low_rank.npy", low_rank)
        for precision in ("double", "float"):
            self.solve("low_rank.npy", "--precision", precision, "--force", code=None)
            self.assertIn(f"1/epsilon = {'4.5e+15' if precision == 'double' else '8.4e+06'}", self.output)
        hilbert = 1 / (np.arange(7)[:, None] + np.arange(7) + 1)  # condition 1e9
        np.save(self.folder / "hilbert.npy", hilbert)
        self.solve("hilbert.npy", "--force")
        self.assertNotIn("warning", self.output)
        self.solve("hilbert.npy", "--precision", "float", "--force", code=None)
        self.assertIn("singular to working precision", self.output)

    def test_right_hand_sides_in_the_matrix_file(self):
        with h5py.File(self.folder / "both.h5", "w") as file:
            file["A"], file["b"] = self.a, self.a @ self.x
        np.testing.assert_allclose(self.solve("both.h5", "--rhs", "./both.h5"), self.x, atol=1e-10)
        self.solve("A.npy", "--rhs", "both.h5", "--rhs-dataset", "b", "--force")
        np.testing.assert_allclose(self.solve("both.h5", "--rhs-dataset", "b", "--force"), self.x, atol=1e-10)
        np.testing.assert_allclose(self.solve("A.npy", "--rhs", "both.h5", "--force"), self.x, atol=1e-10)
        with h5py.File(self.folder / "unnamed.h5", "w") as file:
            file["A"], file["rhs"] = self.a, self.a @ self.x
        self.solve("A.npy", "--rhs", "unnamed.h5", "--force", code=2)
        with h5py.File(self.folder / "alone.h5", "w") as file:
            file["A"] = self.a
        self.solve("alone.h5", "--rhs", "alone.h5", "--force", code=2)

    def test_without_an_answer_nothing_is_written(self):
        # Reading beyond the header would find no entry.
        header = "%%MatrixMarket matrix coordinate real general\n6 99999999 1\n"
        (self.folder / "wide.mtx").write_text(header + "no entry\n")
        for options, code, message in (
            (["Z.npy"], 1, "x.npy: not written"),
            (["A.npy", "--problem", "potrf"], 2, "is not symmetric"),
            (["A.npy", "--problem", "getrf"], 2, "allowed: trsv, gesv"),
            (["A.npy", "--problem", "gesv"], 2, "needs --rhs FILE"),
            (["A.npy", "--rhs", "b.npy", "--problem", "geinv"], 2, "geinv has no right-hand sides"),
            (["A.npy", "--rhs", "Z.npy"], 2, "5 rows; A has 37"),
            (["b.npy"], 2, "takes square matrices"),
            (["wide.mtx"], 2, "6 x 99999999; geinv takes square matrices"),
            (["A.npy", "--rhs", "wide.mtx"], 2, "6 rows; A has 37"),
            (["A.npy", "--method", "crout"], 2, "gesv/crout: without --rhs, --rhs-dataset and --problem"),
            (["A.npy", "--method", "gesv/lapack", "--problem", "geinv"], 2, "of another problem than geinv"),
            (["A.npy", "--rhs", "b.npy", "--method", "gesv/lapak"], 2, "nearest: gesv/lapack"),
            (["A.npy", "--rhs", "b.npy", "--method", "recusive"], 2, "nearest: recursive"),
            (["absent.npy"], 2, "there is no such file"),
        ):
            self.solve(*options, code=code)
            self.assertIn(message, self.output, options)
            self.assertFalse((self.folder / "x.npy").exists(), options)
        self.solve("A.npy", output="x.txt", code=2)
        self.assertIn("allowed are .npy and .mtx", self.output)
        (self.folder / "x.npy").write_text("mine")
        self.solve("A.npy", code=2)
        self.assertEqual((self.folder / "x.npy").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
