#!/usr/bin/env python3
"""Writes the matrices that ship with the project, jobs/plans/data/*.mtx.

    tests/data/make_matrices.py [FOLDER]        default: jobs/plans/data

They come from published facts, not from a collection: the branch reactances of the IEEE 14-bus test system, and
the five-point Laplacian of a square. tests/data_test.sh compares the shipped files with this script's output.
"""
import pathlib
import sys

# IEEE 14-bus test system (a part of the American Electric Power grid as of 1962): from, to, reactance in per unit on
# 100 MVA. Every copy of this case has the same figures.
BRANCHES = [
    (1, 2, "0.05917"), (1, 5, "0.22304"), (2, 3, "0.19797"), (2, 4, "0.17632"), (2, 5, "0.17388"),
    (3, 4, "0.17103"), (4, 5, "0.04211"), (4, 7, "0.20912"), (4, 9, "0.55618"), (5, 6, "0.25202"),
    (6, 11, "0.19890"), (6, 12, "0.25581"), (6, 13, "0.13027"), (7, 8, "0.17615"), (7, 9, "0.11001"),
    (9, 10, "0.08450"), (9, 14, "0.27038"), (10, 11, "0.19207"), (12, 13, "0.19988"), (13, 14, "0.34802"),
]  # fmt: skip


def susceptance():
    """Returns the nodal susceptance matrix of the DC power flow with bus 1 grounded: 13 x 13, positive definite."""
    entries = {}
    for start, stop, reactance in BRANCHES:
        b = 1.0 / float(reactance)
        for bus in (start, stop):
            if bus != 1:
                entries[bus - 1, bus - 1] = entries.get((bus - 1, bus - 1), 0.0) + b
        if start != 1:
            entries[stop - 1, start - 1] = -b
    return 13, entries


def laplacian(side):
    """Returns the five-point Laplacian of a square with side x side inner points and a fixed rim: positive definite."""
    entries = {}
    for y in range(side):
        for x in range(side):
            i = y * side + x + 1
            entries[i, i] = 4.0
            if x + 1 < side:
                entries[i + 1, i] = -1.0
            if y + 1 < side:
                entries[i + side, i] = -1.0
    return side * side, entries


def write(path, matrix, comments):
    """Writes the lower triangle column by column: coordinate, real, symmetric."""
    n, entries = matrix
    lines = ["%%MatrixMarket matrix coordinate real symmetric"]
    lines += ["% " + comment for comment in comments]
    lines.append(f"{n} {n} {len(entries)}")
    for row, col in sorted(entries, key=lambda place: (place[1], place[0])):
        lines.append(f"{row} {col} {entries[row, col]!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    here = pathlib.Path(__file__).resolve()
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2] / "jobs" / "plans" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    write(
        folder / "ieee14_susceptance.mtx",
        susceptance(),
        [
            "IEEE 14-bus test system: nodal susceptance matrix of the DC power flow, bus 1 grounded,",
            "from the published branch reactances. Written by tests/data/make_matrices.py.",
        ],
    )
    write(
        folder / "laplacian_9x9.mtx",
        laplacian(9),
        [
            "Five-point Laplacian of a square with 9 x 9 inner points, zero at the rim.",
            "Written by tests/data/make_matrices.py.",
        ],
    )


if __name__ == "__main__":
    main()
