"""Colours: one per method throughout a page, each with a contrast of at least 3 to the paper, light or dark."""

import colorsys

PAPER = ("#ffffff", "#16181a")  # light, dark
# Most readers can distinguish the first ones; further ones come from the circle of hues.
FIRST = (
    "#0072b2 #c44e00 #00845f #b0478c #9a6b00 #6a3d9a #c2185b #3f7d20 #8c564b #5f6b76 #b3261e #0e7c86".split(),
    "#4aa8e8 #ff8a45 #2fc99b #e58fc4 #e3b341 #b797f2 #ff6f9f #86c65c #c79a8d #a9b6c2 #ff7f73 #4fcbd6".split(),
)
GOLDEN, LEAST_CONTRAST = 0.618034, 3.2


def luminance(colour):
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colour(index, dark=False):
    """Returns the colour of a number; the first hundreds are all different."""
    if index < len(FIRST[dark]):
        return FIRST[dark][index]
    hue, light = (0.09 + index * GOLDEN) % 1, (0.45, 0.36, 0.40)[index % 3]
    light = 1 - light if dark else light
    while True:
        rgb = colorsys.hls_to_rgb(hue, light, (0.55, 0.75, 0.9)[index // 3 % 3])
        found = "#" + "".join(f"{round(255 * c):02x}" for c in rgb)
        if contrast(found, PAPER[dark]) >= LEAST_CONTRAST:
            return found
        light += 0.02 if dark else -0.02


def sheet(count):
    """Returns the colours as variables of a style sheet: --c0 and on."""
    light, dark = ("".join(f"--c{i}:{colour(i, d)};" for i in range(count)) for d in (False, True))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not(.paper){{{dark}}}}}"
