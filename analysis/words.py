"""Formats values as text for a page or a terminal."""

import html
import math
import re
import sys
import unicodedata

import numpy as np


def printable(value):
    """Replaces control characters and invalid UTF-8 by �."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", str(value))


def text(value):
    """Returns the value's text, escaped for HTML."""
    return html.escape(printable(value))


def one_line(value):
    """Returns the value's text with all white space, also line breaks, replaced by single spaces."""
    return " ".join(printable(value).split())


def matplotlib_text(value):
    """Returns the value's text, escaped for matplotlib: a dollar would begin a formula, and legends omit labels that
    begin with an underscore."""
    words = one_line(value).replace("$", r"\$")
    return f" {words}" if words.startswith("_") else words


_TEX = {
    **{c: f"\\{c}" for c in "&%#_{}"},
    # Matplotlib would turn an escaped dollar back into one that begins a formula.
    **{"\\": r"\textbackslash{}", "$": r"\textdollar{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "ß": r"\ss{}", "æ": r"\ae{}", "ø": r"\o{}"},
    **{"×": r"\ensuremath{\times}", "µ": r"\ensuremath{\mu}", "–": r"\textendash{}", "…": r"\ldots{}"},
    '"': r"{\ttfamily\char34}",  # the other fonts have only curly ones
    "°": r"\textsuperscript{\ensuremath{\circ}}",
    # Not ^: matplotlib 3.6 would escape it.
    **{c: rf"\textsuperscript{{{d}}}" for c, d in zip("²³⁶", "236")},
    **{"·": r"\ensuremath{\cdot}", "±": r"\ensuremath{\pm}", "≤": r"\ensuremath{\le}", "≈": r"\ensuremath{\approx}"},
    **{"λ": r"\ensuremath{\lambda}", "∞": r"\ensuremath{\infty}", "−": r"\ensuremath{-}"},
}
_TEX_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327", r"\` \' \^ \~ \" \r \v \c".split()))


def tex(value):
    """Returns the value's text, escaped for TeX. Characters that some TeX systems lack become their Unicode number,
    such as [6F22]. Hyphens are separated, because TeX would join them to a dash."""
    return re.sub("-(?=-)", "-{}", "".join(map(_tex_character, one_line(value))))


def _tex_character(c):
    if c in _TEX or c.isascii():
        return _TEX.get(c, c)
    base, *accents = unicodedata.normalize("NFD", c)
    if base.isascii() and base.isalpha() and len(accents) == 1 and accents[0] in _TEX_ACCENTS:
        return f"{_TEX_ACCENTS[accents[0]]}{{{base}}}"
    return code_point(c)


def code_point(c):
    """Returns a character's Unicode number, such as [6F22]."""
    return f"[{ord(c):X}]"


def seconds(value):
    """Returns a time with three digits, e.g. 1.23 ms."""
    if not is_finite(value):
        return "–"
    if value == 0:
        return "0 s"
    for unit, factor in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        # 0.9995 ms and more round to 1.00 ms
        if abs(value) >= factor * 0.9995 or unit == "µs":
            return f"{_three(value / factor)} {unit}"


def number(value):
    """Returns a number with three digits. The largest double becomes ∞, because it stands for a residual ratio that
    overflows or does not exist. An example is the ratio of a factor with a zero diagonal. Half of it becomes ∞ too,
    because it is the median of such a ratio and a small one."""
    if isinstance(value, float) and abs(value) > sys.float_info.max / 4:
        return "∞"
    return _three(value) if is_finite(value) else "–"


def whole(value):
    return f"{int(value)}" if is_finite(value) else "–"


def prefixed(value, unit):
    """Returns a value with a unit and its decimal prefix, such as 6.27 GB/s."""
    if not is_finite(value):
        return "–"
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("", 1)):
        if abs(value) >= size * 0.9995 or not prefix:
            return f"{_three(value / size)} {prefix}{unit}"


def span(low, high, unit):
    """Returns a range with units, such as "30.0 to 60.0 GB/s" or "900 MB/s to 1.10 GB/s"."""
    first, last = prefixed(low, unit), prefixed(high, unit)
    return f"{first.split()[0] if first.split()[-1] == last.split()[-1] else first} to {last}"


def gibibytes(value):
    return f"{_three(value / 2**30)} GiB" if is_finite(value) else "–"


def percent(value):
    """Returns a fraction as percent: 0.5 becomes "50.0 %"."""
    return f"{_three(100 * value)} %" if is_finite(value) else "–"


def factor(value):
    return f"{_three(value)}×" if is_finite(value) else "–"


def counted(count, what):
    """Returns the number and the noun, with an s if the number is not 1: "1 row", "2 rows"."""
    return f"{count} {what}{'' if str(count) == '1' else 's'}"


def is_finite(value):
    try:
        return bool(np.isfinite(value))
    except TypeError:
        return False


def _three(value):
    """Returns a number with three significant digits."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
        return f"{value:.{digits}f}"
    return f"{value:.2e}"
