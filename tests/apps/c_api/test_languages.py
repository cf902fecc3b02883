"""Calls libgaussweep from Python and Fortran, and tests what it exports.

LIBRARY: the shared library's path.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = pathlib.Path(os.environ["LIBRARY"])
FOLDER = pathlib.Path(__file__).parent


class Languages(unittest.TestCase):
    def test_python_program_of_the_page(self):
        page = (FOLDER.parents[2] / "docs" / "c_api.md").read_text()
        program = re.search(r"```python\n(.*?)```", page, re.S).group(1)
        changed = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARY.parent)}
        done = subprocess.run([sys.executable, "-c", program], env=changed, check=True, capture_output=True, text=True)
        numbers = [float(word) for word in re.sub(r"[\[\]]", " ", done.stdout).split()]
        for number, expected in zip(numbers, (0, 3 / 11, -1 / 11, -1 / 11, 4 / 11), strict=True):
            self.assertAlmostEqual(number, expected, places=7)

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
