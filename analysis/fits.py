"""Fits the two models of time that the papers use: a cubic in the order n, and K + c / blocks. K is the part
of the time that does not depend on the number of thread blocks; c is the part that the blocks share."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Fit:
    coefficients: dict
    r_squared: float
    curve: object  # the fitted function: t of n (`cubic`), 1 / (t - K) of the number of blocks (`reciprocal`)


def r_squared(y, fitted):
    """Returns 1 - residual / total sum of squares; NaN if all y are equal."""
    total = float(np.sum((y - np.mean(y)) ** 2))
    return 1 - float(np.sum((y - fitted) ** 2)) / total if total > 0 else float("nan")


def cubic(x, y):
    """Fits t = a3 n^3 + a2 n^2 + a1 n + a0 by least squares. Returns None for fewer than five values of n, because a
    cubic with four coefficients would fit any times."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(np.unique(x)) < 5:
        return None
    scale = x.max()  # x / scale is at most 1, so that the least squares problem is well conditioned
    a = np.polyfit(x / scale, y, 3)
    names = ("n³", "n²", "n", "1")
    return Fit(
        {name: float(c / scale ** (3 - i)) for i, (name, c) in enumerate(zip(names, a))},
        r_squared(y, np.polyval(a, x / scale)),
        lambda v: np.polyval(a, np.asarray(v, dtype=float) / scale),
    )


def reciprocal(blocks, seconds):
    """Fits t = K + c / blocks by least squares, so that 1/(t - K) = blocks / c is a line through zero. Returns None for
    fewer than three numbers of blocks."""
    count, t = np.asarray(blocks, dtype=float), np.asarray(seconds, dtype=float)
    if len(np.unique(count)) < 3:
        return None
    (c, constant), *_ = np.linalg.lstsq(np.column_stack([1 / count, np.ones_like(count)]), t, rcond=None)
    return Fit(
        {"K": float(constant), "c": float(c)},
        r_squared(t, constant + c / count),
        lambda v: np.asarray(v, dtype=float) / c,
    )
