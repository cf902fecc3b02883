#!/usr/bin/env python3
"""Runs all tests of analysis/, or those named: run.py [NAME…]. The exit code is 0 only if all passed."""

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

folder = Path(__file__).resolve().parent
sys.path[:0] = [str(folder), str(folder.parents[1])]
names = sys.argv[1:] or sorted(path.stem[5:] for path in folder.glob("test_*.py"))
tests = unittest.TestLoader().loadTestsFromNames(f"test_{name}" for name in names)
result = unittest.TextTestRunner(verbosity=2).run(tests)
print(
    f"{result.testsRun} tests, {len(result.failures)} failures, {len(result.errors)} errors,"
    f" {len(result.skipped)} skipped"
)
sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
