#!/usr/bin/env python3
"""Draws speedups.svg from the tables of docs/performance*.md: the speedups over cuSOLVER on one H200."""

import re
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1]
ROWS = [  # page, the row with the times, the row with the speedups, label
    ("performance_inverses", "`trtri/levels`, ms", "speedup over cuSOLVER", "triangular inverse"),
    ("performance_inverses", "`poinv/recursive`, ms", "speedup over cuSOLVER", "inverse, positive definite"),
    ("performance_inverses", "`geinv/recursive`, ms", "speedup over cuSOLVER", "inverse"),
    ("performance_mixed", "uniform, ms", "speedup over cuSOLVER", "system, mixed precision"),
    ("performance", "LU, ms", "speedup over cuSOLVER", "LU"),
    ("performance", "factor, ms", "speedup over cuSOLVER", "Cholesky"),
]


def speedups(page, times, row):
    """Returns (sizes, speedups) from a table of a page: the first row `row` at or below the row `times`."""
    lines = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"| {times} |"))
    head = next(lines[i] for i in range(first, 0, -1) if re.match(r"\| (n|matrix) \|", lines[i]))
    values = next(line for line in lines[first:] if line.startswith(f"| {row} |"))
    cells = zip(head.strip("|").split("|")[1:], values.strip("|").split("|")[1:])
    return zip(*((int(n), float(v)) for n, v in cells if n.strip().isdigit() and v.strip()))


def main():
    matplotlib.rcParams.update(
        {"svg.hashsalt": "gaussweep", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False}
    )
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.add_subplot(xlabel="n", ylabel="speedup over cuSOLVER", xscale="log", yscale="log")
    for (page, times, row, label), mark in zip(ROWS, "os^DvP"):
        axes.plot(*speedups(page, times, row), marker=mark, markersize=4, label=label)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_xticks(sizes := [1024, 2048, 4096, 8192, 16384, 32768], sizes, minor=False)
    axes.set_xticks([], minor=True)
    axes.set_yticks(marks := [1, 2, 3, 5, 10, 20], marks)
    axes.set_yticks([], minor=True)
    axes.grid(linewidth=0.3)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(DOCS / "pictures" / "speedups.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
