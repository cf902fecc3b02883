"""Ticks, grid and labels of an axis: one artist for all its ticks and one for its grid. Matplotlib's own axes make five
artists a tick and measure each label several times, which was half of a drawing's time."""

import numpy as np
from matplotlib import rcParams
from matplotlib.lines import TICKDOWN, TICKLEFT, Line2D
from matplotlib.transforms import ScaledTranslation

LENGTH, PAD = 3.5, 3.5  # points: of a tick, and from it to its label
TITLE_PAD = 4  # points from the labels to the axis's title
DIGIT, LINE = 0.64, 1.16  # of a font's size: the width of a digit, the height of a line
BEHIND = 0.5  # in matplotlib's order: before all lines


def draw_ticks(axes, which, title, grid=True):
    """Draws the axis `which` ("x" or "y") as its locator and its formatter say, with `title` along it and lines across
    the axes if `grid`. Limits, locator, formatter and the place of the axes have to be final."""
    is_x = which == "x"
    axis, beside = (axes.xaxis, axes.get_xaxis_transform()) if is_x else (axes.yaxis, axes.get_yaxis_transform())
    size = rcParams[f"{which}tick.labelsize"]
    axis.set_visible(False)
    places = _in_view(axis)
    labels = axis.get_major_formatter().format_ticks(places)

    def line(along, across, **style):
        x, y = (along, across) if is_x else (across, along)
        axes.add_artist(Line2D(x, y, transform=beside, zorder=BEHIND, **style))

    def write(text, along, points, transform, **style):
        """Text that many points outside the axes."""
        place = (along, 0) if is_x else (0, along)
        away = ScaledTranslation(*((0, -points / 72) if is_x else (-points / 72, 0)), axes.figure.dpi_scale_trans)
        axes.text(*place, text, transform=transform + away, zorder=BEHIND, **style)

    if grid:
        across = np.tile([0, 1, np.nan], len(places))
        line(np.repeat(places, 3), across, color=rcParams["grid.color"], linewidth=rcParams["grid.linewidth"])
    mark = {"marker": TICKDOWN if is_x else TICKLEFT, "markersize": LENGTH, "markeredgewidth": 0.8}
    colour = rcParams[f"{which}tick.color"]
    line(places, np.zeros(len(places)), color=colour, linestyle="None", clip_on=False, **mark)
    how = {"ha": "center", "va": "top"} if is_x else {"ha": "right", "va": "center_baseline"}
    for place, label in zip(places, labels):
        write(label, place, LENGTH + PAD, beside, fontsize=size, **how)

    away = LENGTH + PAD + size * (LINE if is_x else DIGIT * max(map(len, labels), default=0))
    how = {"va": "top"} if is_x else {"va": "bottom", "rotation": "vertical", "rotation_mode": "anchor"}
    write(title, 0.5, away + TITLE_PAD, axes.transAxes, ha="center", fontsize=rcParams["axes.labelsize"], **how)
    power = axis.get_major_formatter().get_offset()  # what all labels are to be multiplied with, or stand above
    if power and is_x:
        write(power, 1, away + TITLE_PAD, axes.transAxes, ha="right", va="top", fontsize=size)
    elif power:
        axes.text(0, 1, power, transform=axes.transAxes, ha="left", va="bottom", fontsize=size, zorder=BEHIND)


def _in_view(axis):
    """The locator's places within the limits, and half a thousandth of the axis beyond: limits are rounded."""
    places = np.asarray(axis.get_majorticklocs(), dtype=float)
    low, high = sorted(axis.get_transform().transform(axis.get_view_interval()))
    at, slack = axis.get_transform().transform(places), 5e-4 * (high - low)
    return places[(at >= low - slack) & (at <= high + slack)]
