"""Counts the passed trials that are in a time plot of the report. Reads the data that the page has for its plots.

    tests/run_python.sh tests/analysis/drawn.py RUN…

RUN: run directories or results files, which make one report. Exit code 1 if a trial is missing.
"""

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

from pages import Reader  # noqa: E402

from analysis.cli import build  # noqa: E402
from analysis.frames import brief  # noqa: E402
from analysis.loader import load  # noqa: E402


def is_drawn(page, r):
    """Returns true if a time plot of the record's problem and precision has its time, or has a range with it."""
    for name in page.figures["time"]:
        if not name.startswith(f"time-{r.problem}-{r.precision}-"):
            continue
        plot = page.plots.get(name)
        if plot is None:
            if any(low * 0.999 <= r.seconds_median <= high * 1.001 for _, low, high in page.bars[name]):
                return True
            continue
        for line in plot["series"]:
            if line["l"].split(",")[0].removesuffix(" (CPU)") != r.method:
                continue
            for x, y, low, high in zip(line["x"], line["y"], line["lo"], line["hi"]):
                names = {brief(r.matrix_name), f"{brief(r.matrix_name)}, n = {r.size}"}
                same_x = plot["names"][x] in names if plot["names"] else x == r.size
                ends = [v for v in (y, low, high) if v is not None]
                if same_x and min(ends) * 0.999 <= r.seconds_median <= max(ends) * 1.001:
                    return True
    return False


def missing(page, records):
    """Returns the passed trials that are in no plot, and the number of passed trials."""
    passed = [r for r in records[records["status"] == "pass"].itertuples()]
    return [r for r in passed if not is_drawn(page, r)], len(passed)


def main(paths):
    night = load(paths)
    with tempfile.TemporaryDirectory() as folder:
        page = Reader.of(build(night, of_papers="none").write(Path(folder) / "report"))
    absent, passed = missing(page, night.records)
    for r in absent:
        print(f"not drawn: {r.problem}/{r.method} {r.precision} n={r.n} {r.matrix_name} {r.operands} {r.parameters}")
    print(f"{passed - len(absent)} of {passed} trials that passed are drawn")
    return 1 if absent or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
