"""Calls libgaussweep from Python and Fortran, and tests what it exports.

LIBRARY: the shared library's path.
"""

import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy

LIBRARY = pathlib.Path(os.environ["LIBRARY"])
FOLDER = pathlib.Path(__file__).parent
EMULATED = -1


def c64(value):
    return ctypes.c_int64(value)


class Languages(unittest.TestCase):
    def test_python_inverts(self):
        library = ctypes.CDLL(str(LIBRARY))
        handle, work_bytes, info = ctypes.c_void_p(), ctypes.c_size_t(), (ctypes.c_int * 1)()
        self.assertEqual(library.gaussweep_create(ctypes.byref(handle), EMULATED), 0)
        n = 20
        a = numpy.asfortranarray(numpy.random.default_rng(1).uniform(-1, 1, (n, n)))
        inverse = a.copy(order="F")
        status = library.gaussweep_dgeinv_work(handle, c64(n), c64(1), ctypes.byref(work_bytes))
        self.assertEqual(status, 0)
        work = ctypes.create_string_buffer(work_bytes.value)
        data = inverse.ctypes.data_as(ctypes.c_void_p)
        status = library.gaussweep_dgeinv(handle, c64(n), data, c64(n), info, c64(1), work, work_bytes)
        self.assertEqual((status, info[0]), (0, 0))
        library.gaussweep_destroy(handle)
        self.assertLess(abs(a @ inverse - numpy.eye(n)).max(), 1e-11)

    @unittest.skipUnless(shutil.which("gfortran"), "SKIPPED: there is no gfortran")
    def test_fortran_solves(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "solve"
            words = ["gfortran", "-Wall", FOLDER / "solve.f90", "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
            subprocess.run(words, check=True, cwd=folder)
            done = subprocess.run([program], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "info 0, x = .5 3.0")

    def test_exports_only_its_own_names(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        names = [line.split()[-1] for line in listed.stdout.splitlines()]
        foreign = [n for n in names if not n.startswith("gaussweep_") and n != "GAUSSWEEP_1"]
        self.assertEqual(foreign, [])
        self.assertIn("gaussweep_sgetrf@@GAUSSWEEP_1", names)


if __name__ == "__main__":
    unittest.main()
