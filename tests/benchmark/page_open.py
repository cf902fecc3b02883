#!/usr/bin/env python3
"""Measures how long a browser takes to open the report on COUNT records: to the first paint, to an interactive page,
and to the end of loading; medians of five times. Needs chromium. Goals for 10,000 records: loaded within 2 s, 5 MB.

    tests/benchmark/page_open.py [COUNT]      default: 10000

Exit code 1 if a figure misses its goal.
"""
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "analysis")]
import fixture  # noqa: E402

TIMING_SCRIPT = """<script>addEventListener("load", () => setTimeout(() => {
  const times = performance.getEntriesByType("navigation")[0], [painted] = performance.getEntriesByType("paint");
  document.documentElement.setAttribute("data-times", JSON.stringify(
    [painted ? painted.startTime : NaN, times.domInteractive, times.loadEventEnd]));
}, 0));</script>"""

browser = shutil.which("chromium")
if browser is None:
    sys.exit("page_open.py: needs chromium (apt)")
count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
with tempfile.TemporaryDirectory() as folder:
    results = fixture.bulk(Path(folder) / "results.h5", count, 10)
    subprocess.run([ROOT / "analysis" / "report", results, "--all-papers", "-o", folder + "/out"], check=True)
    page = Path(folder) / "out" / "index.html"
    size = page.stat().st_size
    page.write_text(page.read_text(encoding="utf-8").replace("<head>", "<head>" + TIMING_SCRIPT, 1), encoding="utf-8")
    runs = []
    for _ in range(5):
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        dom = subprocess.run(
            [*command, "--window-size=1400,900", "--dump-dom", page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        runs.append(json.loads(re.search('data-times="([^"]*)"', dom)[1]))
painted, interactive, loaded = (statistics.median(run[i] for run in runs) / 1000 for i in range(3))
print(
    f"{count} records, {size / 1e6:.1f} MB: painted after {painted:.2f} s, interactive after {interactive:.2f} s,"
    f" loaded after {loaded:.2f} s"
)
sys.exit(count >= 10_000 and (loaded > 2 or size > 5e6))
