#!/usr/bin/env python3
"""Runs the tests of analysis/: exit code 0 only if all passed."""

import importlib.util
import os
import sys
import unittest
from pathlib import Path

if (
    importlib.util.find_spec("h5py") is None
    and sys.executable != "/usr/bin/python3"
    and os.path.exists("/usr/bin/python3")
):
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parents[1])]
pattern = f"test_{sys.argv[1]}.py" if len(sys.argv) > 1 else "test_*.py"
tests = unittest.TestLoader().discover(str(here), pattern=pattern)
result = unittest.TextTestRunner(verbosity=2).run(tests)
print(
    f"{result.testsRun} tests, {len(result.failures)} failures, {len(result.errors)} errors,"
    f" {len(result.skipped)} skipped"
)
sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
