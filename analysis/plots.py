"""The one plot module: a Plot is data and words, `draw` makes it an SVG that follows the page's colours."""

import io
import math
import re
from dataclasses import dataclass, field, replace

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import (
    EngFormatter,
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from .ticks import draw_ticks

# Okabe and Ito's colours, told apart by colour-blind readers; black is the page's text colour.
FOREGROUND, GRID, BACKGROUND = "#010203", "#040506", "#070809"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", FOREGROUND, "#8a8a00"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
DASHES = ["-", "--", "-.", ":"]
FARTHEST = 1e30  # what is drawn on a logarithmic axis; residuals of what diverges reach 1e300
MOST_SERIES, MOST_POINTS, MOST_DOTS, MOST_BARS = 24, 200, 1200, 40
WIDTH = 5.0  # inches; the page scales it

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",  # text stays text: it is found, copied and read aloud
        "svg.hashsalt": "gaussweep",
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "axes.titlesize": 10,
        "axes.labelsize": 9.5,
        "legend.fontsize": 8.5,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": FOREGROUND,
        "axes.labelcolor": FOREGROUND,
        "axes.edgecolor": FOREGROUND,
        "xtick.color": FOREGROUND,
        "ytick.color": FOREGROUND,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "text.parse_math": False,
        "lines.linewidth": 1.4,
        "lines.markersize": 5,
        "legend.frameon": False,
    }
)


@dataclass
class Series:
    """One line, cloud or group of bars. `low` and `high` are the ends of the error bars, `hollow` marks points
    whose answer was not accepted. `style` fixes colour and marker across plots."""

    label: str
    x: object
    y: object
    low: object = None
    high: object = None
    hollow: object = None
    style: int = None
    line: bool = True
    marker: bool = True


@dataclass
class Plot:
    name: str  # of its CSV and SVG files
    title: str
    xlabel: str
    ylabel: str
    series: list = field(default_factory=list)
    kind: str = "lines"  # lines, dots, bars (horizontal; x are names)
    xlog: bool = None  # None: decided by the data
    ylog: bool = False
    seconds: bool = False  # y in seconds, shown with unit prefixes
    percent: bool = False
    lines_at: list = field(default_factory=list)  # (y, words): what to compare with
    note: str = ""
    farthest: float = FARTHEST  # logarithmic y beyond it are drawn there

    def drawable(self):
        """The series that have a finite point (positive where the axis is logarithmic)."""
        kept = []
        for series in self.series:
            y = np.asarray(series.y, dtype=float)
            good = np.isfinite(y) & (y > 0 if self.ylog else True)
            if self.kind != "bars":
                x = np.asarray(series.x, dtype=float)
                good &= np.isfinite(x) & (x > 0 if self.xlog else True)
            if good.any():
                kept.append((series, good))
        return kept

    def frame(self):
        """The data behind the plot."""
        pieces = []
        for series, _ in self.drawable()[:MOST_SERIES]:
            piece = pd.DataFrame(
                {"series": series.label, "x": np.asarray(series.x), "y": np.asarray(series.y, dtype=float)}
            )
            for name in ("low", "high", "hollow"):
                if getattr(series, name) is not None:
                    piece[name] = np.asarray(getattr(series, name))
            pieces.append(piece)
        return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=["series", "x", "y"])


def draw(plot):
    """(SVG text for the page, sentences on what was left out), or (None, []) where there is nothing to draw."""
    kept = plot.drawable()
    if not kept:
        return None, []
    left_out = []
    if len(kept) > MOST_SERIES:
        left_out.append(f"{len(kept) - MOST_SERIES} of {len(kept)} series are not drawn")
        kept = kept[:MOST_SERIES]
    if (
        plot.kind == "lines"
        and len(np.unique(np.concatenate([np.asarray(s.x, dtype=float)[good] for s, good in kept]))) == 1
    ):
        plot = _by_name(plot, kept)
        kept = plot.drawable()
    figure = Figure()
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    if plot.kind == "bars":
        height = _bars(plot, axes, kept, left_out)
        for place, _ in plot.lines_at:
            axes.axvline(place, color=FOREGROUND, linewidth=0.9, linestyle=(0, (4, 3)))
    else:
        height = 3.0
        _points(plot, axes, kept, left_out)
        _x_axis(plot, axes, kept)
        for place, _ in plot.lines_at:
            axes.axhline(place, color=FOREGROUND, linewidth=0.9, linestyle=(0, (4, 3)))
    _value_axis(plot, axes)
    _lay_out(plot, figure, axes, kept, height)
    for place, words in plot.lines_at if plot.kind != "bars" else ():
        _beside_line(axes, kept, place, words)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return _for_page(buffer.getvalue(), plot.name, plot.title), left_out


def _by_name(plot, kept):
    """Series that all stand at one x, as points beside their names."""
    x = float(np.asarray(kept[0][0].x, dtype=float)[kept[0][1]][0])
    names, columns = [], {name: [] for name in ("y", "low", "high", "hollow")}
    for series, good in kept:
        for i in np.flatnonzero(good):
            names.append(series.label or plot.ylabel)
            columns["y"].append(float(series.y[i]))
            for name, unknown in (("low", np.nan), ("high", np.nan), ("hollow", False)):
                values = getattr(series, name)
                columns[name].append(unknown if values is None else values[i])
    title = plot.title if f"{plot.xlabel} = " in plot.title else f"{plot.title}, {plot.xlabel} = {x:g}"
    return replace(
        plot,
        kind="bars",
        title=title,
        series=[Series("", names, **{name: np.asarray(v) for name, v in columns.items()})],
    )


def _beside_line(axes, kept, place, words):
    """Names a horizontal line where the fewest points stand: at its right or left end, above or below it."""
    to_pixels, box = axes.transData, axes.get_window_extent()
    points = np.concatenate(
        [np.column_stack([np.asarray(s.x, dtype=float)[good], np.asarray(s.y, dtype=float)[good]]) for s, good in kept]
    )
    spots = (to_pixels.transform(points) - (box.x0, to_pixels.transform((points[0, 0], place))[1])) / (
        box.width,
        box.height,
    )
    width = 0.026 * len(words)

    def crowd(right, up):
        x = spots[:, 0] > 1 - width if right else spots[:, 0] < width
        y = (spots[:, 1] * (1 if up else -1) > -0.03) & (spots[:, 1] * (1 if up else -1) < 0.1)
        return int((x & y).sum())

    right, up = min(((r, u) for u in (True, False) for r in (True, False)), key=lambda corner: crowd(*corner))
    axes.annotate(
        words,
        (1 if right else 0, place),
        xycoords=("axes fraction", "data"),
        ha="right" if right else "left",
        va="bottom" if up else "top",
        fontsize=8,
        xytext=(0 if right else 3, 2 if up else -3),
        textcoords="offset points",
    )


def _style(series, index):
    i = series.style if series.style is not None else index
    return COLOURS[i % 8], MARKERS[(i + i // 8) % 8], DASHES[(i // 8) % 4]


def _errors(series, pick, y):
    """Error bars as distances from y; none where unknown."""
    if series.low is None or series.high is None:
        return None
    low, high = (np.asarray(v, dtype=float)[pick] for v in (series.low, series.high))
    return np.nan_to_num(np.vstack([np.maximum(y - low, 0), np.maximum(high - y, 0)]))


def _points(plot, axes, kept, left_out):
    if plot.ylog:
        axes.set_yscale("log")
    thinned, crowd, cut = 0, sum(good.sum() for _, good in kept), 0
    for index, (series, good) in enumerate(kept):
        pick = np.flatnonzero(good)
        most = MOST_DOTS // len(kept) if plot.kind == "dots" else MOST_POINTS
        if len(pick) > most:
            thinned += len(pick) - most
            pick = pick[np.unique(np.linspace(0, len(pick) - 1, most).astype(int))]
        x, y = np.asarray(series.x, dtype=float)[pick], np.asarray(series.y, dtype=float)[pick]
        if plot.ylog:
            far = (y > plot.farthest) | (y < 1 / FARTHEST)
            cut += int(far.sum())
            y = np.clip(y, 1 / FARTHEST, plot.farthest)
        hollow = np.zeros(len(pick), bool) if series.hollow is None else np.asarray(series.hollow, bool)[pick]
        colour, marker, dash = _style(series, index)
        lines = series.line and (plot.kind == "lines" or not series.marker)
        errors = _errors(series, pick, y)
        if errors is not None and errors.any():
            axes.errorbar(
                x, y, yerr=errors, fmt="none", ecolor=colour, elinewidth=1, capsize=2.5 if crowd <= 120 else 0
            )
        marks = marker if series.marker else "None"
        axes.plot(
            x,
            y,
            linestyle=dash if lines else "None",
            color=colour,
            marker=marks if len(pick) <= 40 or not lines else "None",
            markersize=3.5 if plot.kind == "dots" else 5,
            label=series.label,
            alpha=0.8 if plot.kind == "dots" else 1,
            markeredgewidth=1,
        )
        if hollow.any():
            axes.plot(
                x[hollow],
                y[hollow],
                linestyle="None",
                marker=marker,
                color=colour,
                markerfacecolor=BACKGROUND,
                markersize=3.5 if plot.kind == "dots" else 5,
                markeredgewidth=1.1,
                zorder=3,
            )
    if thinned:
        left_out.append(f"{thinned} points are not drawn")
    if cut:
        left_out.append(f"{cut} points beyond {plot.farthest:.0e} (or below 1e-30) are drawn there".replace("e+", "e"))


def _bars(plot, axes, kept, left_out):
    """Horizontal bars, one a name; names from top to bottom."""
    names = list(dict.fromkeys(name for series, _ in kept for name in series.x))
    if len(names) > MOST_BARS:
        left_out.append(f"{len(names) - MOST_BARS} of {len(names)} bars are not drawn")
        names = names[:MOST_BARS]
    place = {name: i for i, name in enumerate(names)}
    thickness = 0.8 / len(kept)
    for index, (series, good) in enumerate(kept):
        pick = [i for i in np.flatnonzero(good) if series.x[i] in place]
        y = np.array([place[series.x[i]] for i in pick]) - 0.4 + thickness * (index + 0.5)
        widths = np.asarray(series.y, dtype=float)[pick]
        errors = _errors(series, pick, widths)
        errors = errors if errors is not None and errors.any() else None
        colour = _style(series, index)[0]
        if plot.ylog:  # a bar has no beginning on a logarithmic axis
            axes.errorbar(widths, y, xerr=errors, fmt="o", color=colour, label=series.label, elinewidth=1, capsize=2.5)
            hollow = np.zeros(len(pick), bool) if series.hollow is None else np.asarray(series.hollow, bool)[pick]
            axes.plot(widths[hollow], y[hollow], "o", color=colour, markerfacecolor=BACKGROUND, zorder=3)
        else:
            axes.barh(
                y,
                widths,
                thickness * 0.92,
                color=colour,
                label=series.label,
                xerr=errors,
                error_kw={"ecolor": FOREGROUND, "capsize": 2},
            )
    if plot.ylog:
        axes.set_xscale("log")
    axes.yaxis.set_major_locator(FixedLocator(range(len(names))))
    axes.yaxis.set_major_formatter(FixedFormatter([name if len(name) <= 36 else name[:34] + "…" for name in names]))
    axes.set_ylim(len(names) - 0.4, -0.6)
    return 0.35 + 0.2 * len(names) * max(1, 0.55 * len(kept))


def _x_axis(plot, axes, kept):
    """Ticks at measured values, as many as fit without touching."""
    marked = [(s, good) for s, good in kept if s.marker] or kept
    values = np.unique(np.concatenate([np.asarray(s.x, dtype=float)[good] for s, good in marked]))
    positive = values[0] > 0
    if plot.xlog is None:
        gaps = np.diff(values)
        plot.xlog = bool(positive and len(values) > 2 and values[-1] / values[0] >= 4 and gaps.max() >= 4 * gaps.min())
    whole = bool(np.all(values == np.rint(values))) and values[-1] < 1e6
    if plot.xlog:
        axes.set_xscale("log")
    if len(values) == 1:
        axes.set_xlim(
            values[0] * 0.5 if plot.xlog else values[0] - max(1, abs(values[0]) * 0.1),
            values[0] * 2 if plot.xlog else values[0] + max(1, abs(values[0]) * 0.1),
        )
    if not whole:
        if plot.xlog:
            axes.xaxis.set_major_locator(LogLocator(numticks=7))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(FuncFormatter(_power))
        return
    if len(values) > 14 and not plot.xlog:
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        return
    low, high = axes.get_xlim()
    scale = (lambda v: math.log(v)) if plot.xlog else (lambda v: v)
    span = scale(high) - scale(low) or 1
    ticks, last = [], -math.inf
    for value in values[::-1]:
        place = (scale(value) - scale(low)) / span
        if not ticks or last - place >= 0.026 * len(f"{value:.0f}") + 0.03:
            ticks.append(value)
            last = place
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))


def _power(value, _=None):
    """0.01, 500, but 2·10⁻⁸."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}"
    digits, exponent = f"{value:.0e}".split("e")
    raised = f"10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return raised if digits == "1" else f"{digits}·{raised}"


def _value_axis(plot, axes):
    axis = axes.xaxis if plot.kind == "bars" else axes.yaxis
    if plot.ylog:
        low, high = sorted(axes.get_xlim() if plot.kind == "bars" else axes.get_ylim())
        if 0 < low and high / low < 4:  # noise should not fill the plot
            middle = math.sqrt(low * high)
            low, high = middle / 2, middle * 2
            (axes.set_xlim if plot.kind == "bars" else axes.set_ylim)(low, high)
        decades = math.log10(high / low) if low > 0 else 9
        axis.set_major_locator(
            LogLocator(subs=(1, 1.5, 2, 3, 5, 7) if decades < 0.9 else (1, 2, 5) if decades < 2.5 else (1,), numticks=9)
        )
        axis.set_minor_locator(NullLocator())
        if not plot.seconds:
            axis.set_major_formatter(FuncFormatter(_power))
    else:
        axis.set_major_locator(MaxNLocator(6))
        if plot.percent:  # a share stands before its whole
            low, high = axis.get_view_interval()
            (axes.set_xlim if plot.kind == "bars" else axes.set_ylim)(min(0, low), max(1.03, high))
            if high <= 1.1:
                axis.set_major_locator(FixedLocator([0, 0.2, 0.4, 0.6, 0.8, 1]))
    if plot.seconds:
        axis.set_major_formatter(EngFormatter(unit="s", sep="\u202f"))
    if plot.percent:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))


def _lay_out(plot, figure, axes, kept, height):
    """Axes above, legend below in as many columns as fit: nothing lies on anything."""
    title = _wrapped(plot.title, 54)
    rows = 0
    if len(kept) > 1 or (kept[0][0].label and plot.kind != "bars"):
        handles, labels = axes.get_legend_handles_labels()
        longest = max(len(label) for label in labels)
        columns = max(1, min(4, len(labels), int(76 // (longest + 7))))
        rows = math.ceil(len(labels) / columns)
        labels = [label if len(label) <= 66 else label[:64] + "…" for label in labels]
        figure.legend(
            handles, labels, loc="lower center", ncol=columns, borderaxespad=0.2, columnspacing=1.4, handlelength=2.4
        )
    top, bottom, legend = 0.16 + 0.17 * title.count("\n") + 0.2, 0.46, 0.185 * rows + (0.08 if rows else 0)
    total = height + top + bottom + legend
    figure.set_size_inches(WIDTH, total)
    left, bars = 0.82, plot.kind == "bars"
    if bars:
        left = 0.2 + 0.072 * max(len(name) for name in axes.yaxis.get_major_formatter().seq)
    # y: with it given, matplotlib does not measure all labels to find out whether the title lies on one
    axes.set_title(title, loc="left", x=-(left - 0.1) / (WIDTH - left - 0.2) if bars else 0, y=1)
    figure.subplots_adjust(
        left=left / WIDTH, right=1 - 0.2 / WIDTH, top=1 - top / total, bottom=(bottom + legend) / total
    )
    draw_ticks(axes, "x", plot.ylabel if bars else plot.xlabel)
    draw_ticks(axes, "y", "" if bars else plot.ylabel, grid=not bars)


def _wrapped(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _for_page(svg, name, title):
    """Only the <svg> element, ids of its own, colours of the page, the width of its column."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", name)
    svg = re.sub(r'(\bid="|"#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = _plain_text(svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    box = re.search(r'viewBox="([^"]+)"', svg).group(1)
    words = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    svg = re.sub(
        r"<svg[^>]*>",
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'viewBox="{box}" role="img" aria-label="{words}">'
        ),
        svg,
        count=1,
    )
    for mark, colour in ((FOREGROUND, "currentColor"), (GRID, "var(--grid,#ccc)"), (BACKGROUND, "var(--bg,#fff)")):
        svg = svg.replace(mark, colour)
    svg = re.sub(r"(?<![\d.])([1-9]\d*\.\d\d)\d+", r"\1", svg)  # a hundredth of a point will do; scales (0.…) stay
    return re.sub(r"\s*\n\s*", " ", svg)


def _plain_text(svg):
    """Fonts by size alone: the page (or `for_paper`) says the family once. Verdana is as wide as DejaVu Sans, which the
    layout was made for."""
    return re.sub(r"font: (?:[\w-]+ )*?([\d.]+)px [^;\"]*", r"font-size: \1px", svg)


def for_paper(svg):
    """The same drawing as a file of its own, black on white."""
    for mark, colour in (("currentColor", "#000000"), ("var(--grid,#ccc)", "#cccccc"), ("var(--bg,#fff)", "#ffffff")):
        svg = svg.replace(mark, colour)
    svg = svg.replace("<svg ", "<svg font-family=\"'DejaVu Sans', Verdana, sans-serif\" ", 1)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg
