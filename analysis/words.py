"""Values as words of a page or a terminal."""

import html
import math
import re

import numpy as np


def printable(value):
    """Any text for a page or a terminal: control characters and what is no UTF-8 are shown as �."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", str(value))


def text(value):
    """Any text as HTML."""
    return html.escape(printable(value))


def seconds(value):
    """1.23 ms, three digits."""
    if not is_finite(value):
        return "–"
    if value == 0:
        return "0 s"
    for unit, factor in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= factor * 0.9995 or unit == "µs":
            return f"{_three(value / factor)} {unit}"


def number(value):
    return _three(value) if is_finite(value) else ("∞" if isinstance(value, float) and math.isinf(value) else "–")


def whole(value):
    return f"{int(value)}" if is_finite(value) else "–"


def percent(value):
    """A share of 1 as percent."""
    return f"{_three(100 * value)} %" if is_finite(value) else "–"


def factor(value):
    return f"{_three(value)}×" if is_finite(value) else "–"


def counted(count, what):
    """1 row, 2 rows."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def is_finite(value):
    try:
        return bool(np.isfinite(value))
    except TypeError:
        return False


def _three(value):
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
        return f"{value:.{digits}f}"
    return f"{value:.2e}"
