#!/usr/bin/env python3
"""Draws jobs/plans/data/shapes_64.pgm, the image that is degraded and restored: edges, fine bars, a slow wave.

Every level is computed from the pixel's indices with integers and one sine table, so the file is the same everywhere.
"""

import math
import sys
from pathlib import Path

SIZE = 64


def level(y, x):
    """Returns the grey level of a pixel, from 0 (black) to 255 (white)."""
    grey = 96 + (y + x) // 2 - round(24 * math.sin(2 * math.pi * x / 32))
    if (x - 20) ** 2 + (y - 20) ** 2 <= 14**2:  # a disc with a hole
        grey = 220
    if (x - 24) ** 2 + (y - 16) ** 2 <= 5**2:
        grey = 40
    if 40 <= x < 60 and 6 <= y < 30:  # bars, 1 to 4 pixels wide
        edges = [40, 41, 42, 43, 44, 46, 48, 50, 53, 56, 60]
        grey = 230 if sum(x >= e for e in edges) % 2 else 30
    if abs(x - 18) + abs(y - 48) <= 11:  # a square on its tip
        grey = 30 if abs(x - 18) + abs(y - 48) > 8 else 180
    if 36 <= x < 60 and 38 <= y < 58:  # a slope and a cross
        grey = 40 + 8 * (x - 36)
        if abs(x - 48) <= 1 or abs(y - 48) <= 1:
            grey = 250
    return max(0, min(255, grey))


def image():
    rows = b"".join(bytes(level(y, x) for x in range(SIZE)) for y in range(SIZE))
    return b"P5\n%d %d\n255\n" % (SIZE, SIZE) + rows


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "jobs/plans/data"
    (folder / "shapes_64.pgm").write_bytes(image())
