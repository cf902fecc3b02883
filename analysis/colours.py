"""The colours and dashes of methods. Each colour has a contrast of at least 3 to the background of its page (WCAG)."""

PAPER = ("#ffffff", "#16181a")  # backgrounds of the light and of the dark page
# Colours on the light and on the dark page. A method has the colour whose index is its number modulo COUNT.
COLOURS = (
    "#1a7ae0 #dd4414 #0c8f85 #d63ab0 #a67a00 #2a20b8 #4a4f52 #4a9a10".split(),
    "#35bdf0 #fc783c #128a70 #f0509c #f2d020 #7480f5 #e0dce4 #50ec80".split(),
)
COUNT = len(COLOURS[0])
DASHES = [[], [7, 3], [2, 3], [8, 3, 2, 3], [12, 3], [2, 6]]  # lengths of dashes and gaps in pixels; []: a solid line


def luminance(colour):
    """Returns the relative luminance as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Returns the contrast ratio of two colours as WCAG defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def border(number, side="bottom"):
    """Returns the CSS of an element with a border in a method's colour. `number`: the method's, from
    `frames.methods`."""
    return f"--m:var(--c{number % COUNT})" + (f";border-{side}-style:dashed" if number >= COUNT else "")


def sheet():
    """Returns a style sheet with the colours as variables --c0, --c1, …"""
    light, dark = ("".join(f"--c{i}:{c};" for i, c in enumerate(several)) for several in COLOURS)
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not(.paper){{{dark}}}}}"
