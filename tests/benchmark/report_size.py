#!/usr/bin/env python3
"""Measures time and memory of the report on COUNT records with 10 samples (goal for 100,000: 60 s and 2 GiB).

    tests/benchmark/report_size.py [COUNT]      default: 100000

Exit code 1 if a figure misses its goal.
"""
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "analysis")]
import fixture  # noqa: E402

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
with tempfile.TemporaryDirectory() as folder:
    results = fixture.bulk(Path(folder) / "results.h5", count, 10)
    start = time.monotonic()
    subprocess.run([ROOT / "analysis" / "report", results, "--all-papers", "-o", folder + "/out"], check=True)
    seconds = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, gib = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
print(f"{count} records: {seconds:.1f} s, {cpu:.1f} s of CPU time, {gib:.2f} GiB")
sys.exit(count >= 100_000 and (seconds > 60 or gib > 2))
