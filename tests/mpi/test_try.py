"""Tests `gaussweep try`, one command for one matrix, and the facts of `matrix info`."""

import json
import resource
import signal
import time
import unittest

import h5py
import numpy as np
from harness import SOURCE, SweepTest, run

BUS = SOURCE / "../shared/data/1138_bus.mtx"
LAPLACIAN = SOURCE / "jobs/plans/data/laplacian_9x9.mtx"


class Try(SweepTest):
    def write(self, name, rows):
        path = self.folder / name
        values = [str(row[j]) for j in range(len(rows[0])) for row in rows]
        lines = ["%%MatrixMarket matrix array real general", f"{len(rows)} {len(rows[0])}", *values]
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_names_the_trials_beyond_the_time_limit(self):
        done = self.ran(
            ["try", LAPLACIAN, "--method", "gesv/gauss_cyclic_*", "--repeats", "400", "--time-limit", "2s"], code=5
        )
        self.assertRegex(" ".join(done.stdout.split()), r"Not reached within --time-limit 2s: [1-9] of \d+ trials\.")

    def test_unreached_emulated_kernels_leave_the_question_answered(self):
        methods = ["--method", "gesv/lapack,gesv/gauss_cyclic_halving,getrf/recursive"]
        done = self.ran(["try", LAPLACIAN, *methods, "--repeats", "300", "--time-limit", "6s", "--backend", "emulated"])
        output = " ".join(done.stdout.split())
        self.assertRegex(output, "gesv: .*lapack")
        self.assertIn(
            "Not reached within --time-limit 6s: 2 of 3 trials (emulated kernels, which come last: 2)", output
        )

    def test_the_time_limit_includes_the_trial_that_runs(self):
        start = time.monotonic()
        rows = [[900 if i == j else 1 for j in range(300)] for i in range(300)]
        matrix = self.write("a.mtx", rows)
        self.ran(["try", matrix, "--method", "geinv/gauss_jordan*", "--repeats", "9999", "--time-limit", "4s"], code=5)
        self.assertLess(time.monotonic() - start, 100)  # all repeats would take minutes; a busy machine takes long

    def test_a_definite_matrix_is_solved_factored_and_inverted(self):
        directory = self.folder / "kept"
        rows = [[{0: 3, 1: 1}.get(abs(i - j), 0) for j in range(20)] for i in range(20)]
        matrix = self.write("a.mtx", rows)
        limit = ["--time-limit", "10min"]  # the machine may be busy
        done = self.ran(["try", matrix, "--nrhs", "1,3", "--repeats", "2", *limit, "-o", directory])
        for words in ("yes, positive definite", "gesv double", "potrf double", "posv double", "poinv double", "nrhs 3"):
            self.assertIn(words, done.stdout)
        # The tables come first, those of systems before others; the answer is at the end.
        tables, answer = done.stdout.split("\nThe fastest methods on ")
        self.assertIn("\ngesv double, nrhs 1: X of A X = B\n", tables)
        self.assertNotIn("need a matrix without zeros", done.stdout)
        self.assertRegex(answer, r"Not tried: \d+ methods")
        self.assertLessEqual(max(len(line) for line in answer.splitlines() if str(matrix) not in line), 80)
        output = " ".join(answer.split())
        number = r"[\d.]+"
        for task in ("gesv nrhs 1", "gesv nrhs 3"):
            self.assertRegex(
                output, rf"{task}: .*times as fast as \S+ \({number} to (over )?{number}\), about 1\d correct digits\."
            )
        for task in ("posv nrhs 1", "getrf", "potrf", "geinv", "poinv"):
            self.assertRegex(output, rf"{task}: .*{number} .?s.*, about 1\d correct digits\.")
        records = self.records(directory)
        self.assertEqual({r["problem"] for r in records}, {"gesv", "getrf", "potrf", "posv", "geinv", "poinv"})
        self.assertEqual({r["nrhs"] for r in records if r["problem"] == "gesv"}, {1, 3})
        self.assertEqual(output.count(" correct digits."), len({(r["problem"], r["nrhs"]) for r in records}))
        self.assertGreaterEqual(max(r["round"] for r in records), 3)
        self.assertIn("TIMES FASTEST: compared round by round", done.stdout)
        self.assertNotIn("emulated", {r["backend"] for r in records})
        self.assertRegex(output, r"Not tried: \d+ methods \(--left-out\); \d+ emulated trials \(--backend emulated\)\.")
        for command in [line.split(": ", 1)[1].split() for line in answer.splitlines() if " solve " in line]:
            right = self.write("b.mtx", [[1]] * 20)
            where = {"b.npy": right, "x.npy": self.folder / "x.npy", "inverse.npy": self.folder / "inverse.npy"}
            self.ran([where.get(word, word) for word in command[1:]])
        self.assertTrue(all(r["status"] == "pass" for r in records))
        # The generated plan is valid.
        again = run(["plan", directory / "plan.yaml"])
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_without_output_nothing_is_left(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        matrix = self.write("a.mtx", [[4, 1], [2, 3]])
        done = self.ran(["try", matrix, "--problem", "gesv", "--repeats", "1"], TMPDIR=str(temporary))
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertNotIn("--resume", done.stderr)
        gone = run(["try", matrix, "--problem", "gesv"], TMPDIR=str(self.folder / "absent"))
        self.assertNotEqual(gone.returncode, 0)

    def test_a_full_disk_suggests_no_resume_of_what_was_not_kept(self):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # replaces a full disk

        words = ["try", self.write("a.mtx", [[4, 1], [2, 3]]), "--problem", "gesv", "--repeats", "1"]
        for kept in ([], ["-o", self.folder / "kept"]):
            done = self.ran(words + kept, code=3, preexec_fn=limited)
            self.assertIn("File too large", done.stderr)
            self.assertNotIn("go on with", done.stderr)

    def test_a_singular_matrix_is_not_solved(self):
        matrix = self.write("s.mtx", [[1, 2], [2, 4]])
        done = self.ran(["try", matrix, "--repeats", "1"])
        self.assertIn("singular: pivot 2 is exactly 0", done.stdout)
        self.assertIn("The matrix is singular: nothing solves or inverts it.", done.stdout)
        self.assertIn("getrf double: L and U", done.stdout)
        done = self.ran(["try", matrix, "--repeats", "1", "--left-out"])
        output = "Not tried: gesv, posv, geinv, poinv: the matrix is singular"
        self.assertIn(output, " ".join(done.stdout.split()))
        self.assertIn("Not tried: getrf/crout_serial, getrf/fixed_point: need a matrix whose", done.stdout)
        self.assertIn("Not tried: getrf/halves: has no double version", done.stdout)
        named = self.ran(["try", matrix, "--method", "gesv/lapack", "--repeats", "1"], code=1)
        self.assertRegex(named.stdout, "gesv: none of 1 method passed")

    def test_warns_of_a_numerically_singular_matrix(self):
        rows = [[1 / (1 + i + 3 * j) for j in range(20)] for i in range(20)]  # its rows are nearly dependent
        done = self.ran(["try", self.write("s.mtx", rows), "--method", "gesv/lapack", "--repeats", "1"])
        answer = " ".join(done.stdout.split("The fastest methods on")[1].split())
        self.assertIn("numerically singular in double", answer)
        self.assertNotIn("To solve:", answer)
        self.assertNotIn("expect can allow", done.stderr)

    def test_a_breakdown_of_an_unsuitable_method_is_no_failure(self):
        # The matrix is dominant and has no zeros, but gauss_cyclic_halving divides by elements that become small.
        rows = [[200 if i == j else 1 + (7 * i + 3 * j) % 11 / 10 for j in range(100)] for i in range(100)]
        done = self.ran(
            ["try", self.write("d.mtx", rows), "--problem", "gesv", "--method", "gauss_cyclic_halving,lapack"]
        )
        self.assertIn("Nonzeros:  all 10000", done.stdout)
        self.assertNotIn("Not as expected", done.stdout)
        self.assertRegex(done.stdout, "gauss_cyclic_halving +emulated +(suspect|failed)")

    def test_a_triangle_is_solved_by_substitution(self):
        done = self.ran(["try", self.write("u.mtx", [[2, 1], [0, 3]]), "--repeats", "1"])
        self.assertIn("upper triangular", done.stdout)
        self.assertIn("trsv double", done.stdout)
        self.assertNotIn("gesv", done.stdout)

    def test_refuses_invalid_requests(self):
        square = self.write("a.mtx", [[4, 1], [2, 3]])
        tall = self.write("t.mtx", [[4], [2]])
        for words, output in (
            ([tall], "is 2 x 1"),
            ([square, "--problem", "gesvv"], "--problem gesvv: unknown problem; nearest: gesv; allowed are"),
            ([square, "--problem", "gsv"], "allowed are trsv, "),
            ([square, "--problem", "gemm"], "takes two matrices"),
            ([square, "--problem", "gesv", "--method", "lapak"], "--method lapak: there is none here"),
            ([square, "--problem", "potrf"], "no method is left to try"),
            ([square, "--nrhs", "0"], "--nrhs: '0'"),
            ([self.folder / "absent.mtx"], "absent.mtx"),
        ):
            done = run(["try", *words])
            self.assertEqual(done.returncode, 2, (words, done.stdout, done.stderr))
            self.assertIn(output, done.stderr)

    @unittest.skipUnless(BUS.exists(), f"SKIPPED: {BUS} is not here")
    def test_a_real_matrix(self):
        done = run(["try", BUS])
        self.assertIn(done.returncode, (0, 5), done.stderr)  # 5: on a busy machine a minute is not enough
        tables, answer = (" ".join(text.split()) for text in done.stdout.split("\nThe fastest methods on "))
        self.assertRegex(tables, r" lapack (host )?(pass )?[\d.]")  # a column of equal cells is not in the table
        self.assertRegex(answer, r" gesv: .*lapack")  # the answer is wrapped at any word
        self.assertIn("a sparse solver needs less", answer)
        self.assertIn("yes, positive definite", done.stdout)
        self.assertIn("about 1.2e+07 in the 1-norm", done.stdout)


class Info(SweepTest):
    write = Try.write

    def info(self, path, *options):
        done = self.ran(["matrix", "info", path, "--format", "json", *options])
        return json.loads(done.stdout)["elements"]

    def test_facts_by_hand(self):
        seen = self.info(self.write("a.mtx", [[3, -1, 0], [1, 0, 5], [0, 2, -7]]))
        self.assertEqual(seen["nonzeros"], 6)
        self.assertEqual((seen["norm_1"], seen["norm_inf"], seen["largest"]), (12, 9, 7))
        self.assertAlmostEqual(seen["norm_frobenius"] ** 2, 89)
        self.assertFalse(seen["is_symmetric"])
        self.assertEqual(seen["asymmetry"], 3 / 7)
        self.assertEqual((seen["zero_diagonals"], seen["first_zero_diagonal"]), (1, 2))
        self.assertEqual((seen["lower_bandwidth"], seen["upper_bandwidth"]), (1, 1))
        self.assertFalse(seen["is_positive_definite"])

    def test_refuses_nan_in_every_format(self):
        np.save(self.folder / "nan.npy", [[1, np.nan]])
        with h5py.File(self.folder / "nan.h5", "w") as file:
            file["A"] = [[1, np.nan]]
        for path in (self.folder / "nan.npy", self.folder / "nan.h5", self.write("nan.mtx", [[1, "nan"]])):
            done = run(["matrix", "info", path])
            self.assertEqual((done.returncode, done.stdout), (2, ""), path)
            self.assertIn("nan; allowed" if path.suffix != ".mtx" else "'nan'; allowed", done.stderr)

    def test_lines_fit_a_terminal(self):
        band = [[4 if i == j else 1 / 3 if abs(i - j) < 3 else 0 for j in range(20)] for i in range(20)]
        text = self.ran(["matrix", "info", self.write("band.mtx", band)]).stdout
        self.assertIn("Shape:     2 diagonals below the main diagonal and 2 above it", text)
        self.assertRegex(text, r"Digits: +about \d+ of a solution hold in double, \d+ in float")
        for line in text.splitlines():
            if str(self.folder) not in line:  # a path may be longer
                self.assertLessEqual(len(line), 80, line)

    def test_a_large_matrix_is_factored_only_on_request(self):
        large = self.folder / "large.mtx"
        n = 4097
        diagonal = [f"{i} {i} 2" for i in range(1, n + 1)]
        large.write_text("\n".join(["%%MatrixMarket matrix coordinate real general", f"{n} {n} {n}", *diagonal]) + "\n")
        self.assertNotIn("condition", self.info(large))
        text = run(["matrix", "info", large]).stdout
        self.assertIn("not estimated beyond n = 4096 (--condition)", text)
        self.assertIn("diagonal", text)


if __name__ == "__main__":
    unittest.main()
