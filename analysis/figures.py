"""Writes the plots as files for a paper (PDF, SVG, PGF), drawn by matplotlib. They are as wide as a column of text, and
have captions as plain text and as LaTeX."""

import io
import os
import re
import shutil
import textwrap
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_pgf import FigureCanvasPgf, LatexError
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, MaxNLocator, NullLocator
from matplotlib.ticker import PercentFormatter

from .colours import COLOURS, COUNT, DASHES
from .frames import POOLED_RANGE
from .loader import ReportError
from .page import staging
from .plots import parameters, row_colour, styled, unpassed
from .words import code_point, matplotlib_text, one_line, tex

KINDS = ("pdf", "pgf", "svg")
WIDTH, HEIGHT = 3.05, 2.1  # inches; a column of LaTeX's two-column article on A4 paper is the narrowest in common use
MARGIN = 0.6  # inches left and right of the axes together
LEGEND_MARGIN = 0.1  # inches above and below the legend together
DIGIT = 3.9  # width of a digit of a tick label, in points (1/72 inch)
MARKERS = "os^DvP"  # matplotlib's names of the marks that plots.js draws, in the same order
LONGEST_NAME = 26  # characters per line of a bar's name
LONGEST_LABEL = 44  # characters per line of the legend
LONGEST_VALUE = 24  # characters per line of the label of the axis of values
STYLE = {
    "font.family": "serif",
    "font.size": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.3,
    "lines.linewidth": 1,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,  # TrueType, which journals accept
    "svg.fonttype": "none",
    "pgf.rcfonts": False,  # use the fonts of the including document
}

# Leaves out the date, so that equal plots give equal files.
NO_DATE = {"pdf": {"metadata": {"CreationDate": None}}, "svg": {"metadata": {"Date": None}}}


def check(kind):
    """Checks that figures of this kind can be written. For pgf it draws an empty figure, because TeX or its package pgf
    may be missing. @raises ReportError"""
    if kind != "pgf":
        return
    packages = "Debian's packages texlive-latex-base and texlive-pictures have what it needs"
    program = next((t for t in ("pdflatex", "xelatex", "lualatex") if shutil.which(t)), None)
    if program is None:
        raise ReportError(f"--figures pgf needs pdflatex, xelatex or lualatex; {packages}")
    matplotlib.rcParams["pgf.texsystem"] = program
    figure = Figure()
    figure.add_subplot()
    try:
        with matplotlib.rc_context(STYLE):
            figure.savefig(io.BytesIO(), format="pgf")
    except (LatexError, ValueError, OSError) as error:
        raise ReportError(f"--figures pgf: {program} failed: {error}; {packages}") from None


def selected(page, only=None):
    """Returns the page's plots, as `page.drawn` has them. `only`: comma-separated words, of which a plot's name must
    contain one. @raises ReportError if no name contains a word"""
    if only is None:
        return page.drawn
    for word in only.split(","):
        if not word or not any(word in plot.name for plot, _, _ in page.drawn):
            names = ", ".join(plot.name for plot, _, _ in page.drawn)
            raise ReportError(f"--only {only}: no figure's name contains '{word}'; there are {names or 'none'}")
    return [drawn for drawn in page.drawn if any(word in drawn[0].name for word in only.split(","))]


def write(page, out, kind, all_drawn=None, is_replacing=False):
    """Writes OUT/figures/NAME.KIND and its LaTeX caption NAME.tex for each plot of the page, and captions.txt with all
    captions as plain text. `out`: the report's folder OUT; `all_drawn`: the plots that `selected` returned, by default
    all. `is_replacing`: OUT had an earlier report, whose figures are removed. @raises ReportError"""
    all_drawn = page.drawn if all_drawn is None else all_drawn
    captions = []
    with matplotlib.rc_context(STYLE), staging(out) as staged:
        escape, replaced = (tex, _tex_glyphs) if kind == "pgf" else (matplotlib_text, _font_glyphs())
        for plot, drawn, remarks in all_drawn:
            figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
            if kind == "pgf":
                FigureCanvasPgf(figure)  # texts are measured in LaTeX's fonts
            series, shared = _shortened(_coloured(styled(drawn, page.methods, plot.dashes)))
            try:  # TeX also runs before savefig, because the legend measures its texts
                if plot.kind == "bars":
                    _bars(*_escaped(plot, series, escape, replaced), figure, _row_colours(series, page.methods))
                else:
                    _lines(*_escaped(plot, series, escape, replaced), figure)
                figure.savefig(Path(staged) / f"{plot.name}.{kind}", **NO_DATE.get(kind, {}))
            except (LatexError, ValueError) as error:
                if kind != "pgf":
                    raise
                raise ReportError(f"{plot.name}.pgf: TeX failed: {error}") from None
            words = _caption(plot, drawn, [*remarks, *shared], page.facts)
            captions.append(f"{plot.name}: {one_line(words)}")
            # The file includes the command \caption, because LaTeX cannot read a file in the argument of a caption.
            (Path(staged) / f"{plot.name}.tex").write_text(f"\\caption{{{tex(words)}}}\n", encoding="utf-8")
        (Path(staged) / "captions.txt").write_text("\n".join(captions) + "\n", encoding="utf-8")
        folder = Path(out) / "figures"
        folder.mkdir(exist_ok=True)
        files = list(Path(staged).iterdir())
        if is_replacing:
            remove_earlier(out, [file.name for file in files])
        for file in files:
            os.replace(file, folder / file.name)


def remove_earlier(out, but=()):
    """Removes captions.txt of an earlier report, and the figures in OUT/figures that it names and that have a caption
    NAME.tex. Keeps the files in `but`, all others, and all files if OUT/figures is a symbolic link."""
    listed = Path(out) / "figures" / "captions.txt"
    if listed.parent.is_symlink() or not listed.is_file():
        return
    captions = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    names = {line.partition(": ")[0] for line in captions}
    files = [file for file in listed.parent.iterdir() if file.is_file() and not file.is_symlink()]
    # A captions.txt of another program may be in the folder, because the earlier report had no figures.
    tex_files = [file for file in files if file.suffix == ".tex" and file.stem in names]
    own = {f.stem for f in tex_files if f.read_text(encoding="utf-8", errors="replace").startswith("\\caption{")}
    for file in files:
        is_figure = file.suffix[1:] in (*KINDS, "tex") and file.stem in own
        if (is_figure or (own and file == listed)) and file.name not in but:
            file.unlink()


def _coloured(styled_series):
    """Gives each line a colour of its own if all lines have one method's colour, and are too many for the dashes."""
    labels = {series.label for series, _, _ in styled_series}
    are_lines = all(series.faint or (series.line and series.marker) for series, _, _ in styled_series)
    if not are_lines or len({colour for _, colour, _ in styled_series}) > 1 or len(labels) <= len(DASHES):
        return styled_series
    # The number of a line's dash also selects its colour, because it is equal in all plots of the problem (see
    # `Plot.dashes`).
    return [(series, number % COUNT, number // COUNT) for series, _, number in styled_series]


def _shortened(styled_series):
    """Leaves out the properties that all labels have if one of the labels is too long for a line of the legend. Returns
    the series, and a list with the caption's sentence about these properties."""
    labels = {series.label: series.label.split(", ") for series, _, _ in styled_series if series.label}
    shared = [w for w in next(iter(labels.values()), []) if all(w in words for words in labels.values())]
    short = {label: ", ".join(w for w in words if w not in shared) for label, words in labels.items()}
    if max(map(len, labels), default=0) <= LONGEST_LABEL or not shared or "" in short.values():
        return styled_series, []
    series = [(replace(series, label=short.get(series.label, "")), *style) for series, *style in styled_series]
    return series, [f"Common to all names: {', '.join(shared)}"]


def _caption(plot, drawn, remarks, facts=()):
    """Returns a plot's caption. It begins with the title, methods that did not pass, note, and basis (matrices,
    statistic and samples). Then come parameters, meaning of error bars, remarks on values that were moved or left out,
    and `facts` (device, driver, commit)."""
    is_partial = any(s.shown is not None and any(s.shown) for s in drawn)
    partial = "A point of seeds or repetitions with different verdicts shows those with the best verdict"
    words = [plot.title, unpassed(drawn, plot.xlabel), plot.note, plot.basis, partial if is_partial else ""]
    words.append(parameters(plot, drawn))
    kinds_of = {}  # meaning of the ends -> what has these ends
    ranged = [s for s in drawn if s.low is not None and np.any(np.asarray(s.high, float) > np.asarray(s.low, float))]
    for kind, is_band in (("bands", True), ("bars", False)):
        ends = [end for s in ranged if s.band == is_band for end in s.ends]
        ends = sorted(dict.fromkeys(ends), key=POOLED_RANGE.__eq__)
        if len(ends) > 1:  # only the pooled range describes several trials
            ends = [f"{end} ({'several trials' if end == POOLED_RANGE else 'one trial'})" for end in ends]
        if is_partial:
            ends = [end.replace(POOLED_RANGE, f"{POOLED_RANGE} with the best verdict") for end in ends]
        kinds_of.setdefault(" or ".join(ends), []).extend([kind] if ends else [])
    words += [f"{' and '.join(kinds).capitalize()}: {ends}" for ends, kinds in kinds_of.items() if ends]
    return " ".join(w if w.endswith(".") else w + "." for w in [*words, *remarks, "; ".join(facts)] if w)


def _font_glyphs():
    """Returns a function that replaces characters without a glyph in the figure's font by their Unicode number."""
    font = get_font(findfont(FontProperties()))
    return lambda text: "".join(c if font.get_char_index(ord(c)) else code_point(c) for c in one_line(text))


def _tex_glyphs(text):
    """Replaces the characters that `tex` replaces by their Unicode number."""
    return "".join(code_point(c) if tex(c) == code_point(c) else c for c in one_line(text))


def _escaped(plot, styled_series, escape, replaced=one_line):
    """Returns the plot and its styled series with every text escaped for the format, because names come from files.
    Long texts are wrapped. `replaced`: the function that replaces characters without a glyph. It is applied before the
    wrapping, because a replaced character is longer."""

    def wrapped(words, width):
        # No line ends within "n = 64" or "nrhs 2".
        kept = re.sub(r"\b(n =|nrhs|batch) (?=\d)", lambda size: size[0].replace(" ", "\u00a0"), replaced(words))
        return "\n".join(escape(line.replace("\u00a0", " ")) for line in textwrap.wrap(kept, width))

    names = plot.names if plot.names is None else [escape(replaced(name)) for name in plot.names]
    lines_at = [(value, wrapped(words, LONGEST_LABEL)) for value, words in plot.lines_at]
    ylabel = wrapped(_value(plot), LONGEST_VALUE)
    plot = replace(plot, xlabel=escape(replaced(plot.xlabel)), ylabel=ylabel, names=names, lines_at=lines_at)

    def escaped_series(series):
        x = [wrapped(name, LONGEST_NAME) for name in series.x] if plot.kind == "bars" else series.x
        return replace(series, label=wrapped(series.label, LONGEST_LABEL), x=x)

    return plot, [(escaped_series(series), *style) for series, *style in styled_series]


def _dash(variant):
    """Returns a matplotlib line style. The page's dashes are in pixels, for lines 1.6 pixels wide; matplotlib's are in
    multiples of the line width."""
    dash = DASHES[variant % len(DASHES)]
    return (0, [pixels / 1.6 for pixels in dash]) if dash else "-"


def _value(plot):
    """Returns the label of the axis of values, with the unit."""
    return plot.ylabel + (" [s]" if plot.seconds else " [%]" if plot.percent else "")


def _ticks(axis, is_narrow):
    """Sets the ticks of a logarithmic axis so that at least two have labels. A narrow axis has room for few labels side
    by side, and gets at most four."""
    if axis.get_scale() != "log":
        return
    low, high = axis.get_view_interval()
    is_plain = 1e-4 < low and high < 1e5  # labels of other axes have exponents, 3 × 10⁻⁶, and need more room
    decades = np.log10(high / low)
    unit = 1
    if axis.get_label_text().endswith("[s]") and 1e-7 < low <= 1e-4 and decades < 2:  # 0.075 ms, not 7.5 × 10⁻⁵ s
        unit, is_plain = 1e-3, True
        axis.set_label_text(axis.get_label_text().removesuffix("[s]") + "[ms]")
    if decades < 0.8:
        axis.set_major_locator(MaxNLocator(2 if is_narrow and not (is_plain and high < 1e4) else 4, min_n_ticks=2))
    elif decades < 2:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 1 or not is_narrow else (1, 3)))
    if is_narrow or decades < 2:
        axis.set_minor_locator(NullLocator())
    if is_plain:
        axis.set_major_formatter(lambda value, _: f"{value / unit:g}")
    elif decades < 2:
        axis.set_major_formatter(LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf)))


def _lines(plot, styled_series, figure):
    axes = figure.add_subplot(xlabel=plot.xlabel, ylabel=plot.ylabel)
    axes.set_xscale("log" if plot.xlog else "linear")
    axes.set_yscale("log" if plot.ylog else "linear")
    if plot.percent:  # after set_yscale, which replaces the formatter
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=""))
    labelled, solid = set(), {series.label for series, _, _ in styled_series if not series.faint}
    for i, (series, colour, variant) in enumerate(styled_series):
        c = "black" if colour is None else COLOURS[0][colour]
        # Lines with the same colour get different marks if their dashes differ, also after DASHES is used up.
        mark = MARKERS[((colour or 0) + variant + variant // len(DASHES)) % len(MARKERS)]
        # A series without markers always has a line, because it would be invisible otherwise.
        line = (series.line and plot.kind == "lines" and plot.names is None) or not series.marker
        style = {
            "color": c,
            "linestyle": _dash(1 if colour is None else variant) if line else "none",
            "alpha": 0.4 if series.faint else 1,
            "markeredgecolor": "none" if series.faint else c,  # two translucent layers would look like a hollow mark
            # In clouds each series has smaller marks than the one before, so that marks at equal values stay visible.
            "markersize": STYLE["lines.markersize"] + (2 * (1 - i / len(styled_series)) if plot.kind == "dots" else 0),
        }
        has_ends = series.low is not None and series.high is not None
        if has_ends and series.band:
            axes.fill_between(series.x, series.low, series.high, color=c, alpha=0.2, linewidth=0)
        elif has_ends:
            lengths = np.vstack([series.y - series.low, series.high - series.y]).astype(float)
            axes.errorbar(series.x, series.y, np.nan_to_num(lengths).clip(0), fmt="none", ecolor=c, elinewidth=0.6)
        is_labelled = series.label in labelled or (series.faint and series.label in solid)
        label = None if is_labelled else series.label
        labelled.add(label)
        axes.plot(series.x, series.y, marker=mark if series.marker else "none", label=label, **style)
        if series.hollow is not None and np.any(series.hollow):
            hollow = np.asarray(series.hollow, bool)
            face = {"markerfacecolor": "white", "markersize": style["markersize"]}
            axes.plot(series.x[hollow], series.y[hollow], mark, color=c, zorder=3, **face)
    for value, words in plot.lines_at:
        axes.axhline(value, color="black", linewidth=0.6, linestyle="--", label=words)
    _ticks(axes.xaxis, is_narrow=True)
    _ticks(axes.yaxis, is_narrow=False)
    values = np.unique(np.concatenate([s.x for s, _, _ in styled_series if s.marker] or [[]]))
    height = HEIGHT
    if plot.names is not None:
        axes.set_xticks(range(len(plot.names)), plot.names, rotation=90, fontsize=5)
        height += max(name.get_window_extent().height for name in axes.get_xticklabels()) / figure.dpi
    elif 0 < len(values) <= 8 and np.all(values == np.rint(values)):
        axes.set_xticks(values, _labels(axes, values), minor=False)
        axes.set_xticks([], minor=True)
    _legend(figure, axes, height)


def _labels(axes, values):
    """Returns the labels of the ticks at the x values. From right to left, a label becomes empty if it would touch the
    next label to its right; the last tick always keeps its label."""
    to = np.log10 if axes.get_xscale() == "log" else np.asarray
    low, high = to(axes.get_xlim())
    centers = (to(values) - low) / (high - low) * 72 * (WIDTH - MARGIN)
    labels, next_left = [], np.inf  # the left end of the label to the right
    for center, value in zip(centers[::-1], values[::-1]):
        label = f"{value:g}"
        half = DIGIT * len(label) / 2
        labels.append(label if center + half + DIGIT < next_left else "")
        next_left = center - half if labels[-1] else next_left
    return labels[::-1]


def _row_colours(styled_series, methods):
    """Returns, per series, the colours of its rows: in a single series those of the rows' methods, else the series'
    own."""
    if len(styled_series) > 1:
        return [[COLOURS[0][of]] * len(series.x) for series, of, _ in styled_series]
    ((series, _, _),) = styled_series
    numbers = [row_colour(name, methods) for name in series.x]
    return [["black" if number is None else COLOURS[0][number] for number in numbers]]


def _bars(plot, styled_series, figure, colours):
    """Draws one row per name: a bar, or on a logarithmic axis a mark (a square for earlier runs, a circle for the last
    run)."""
    names = list(dict.fromkeys(name for series, _, _ in styled_series for name in series.x))
    axes = figure.add_subplot(xlabel=plot.ylabel)
    axes.set_xscale("log" if plot.ylog else "linear")
    if plot.percent:  # after set_xscale, which replaces the formatter
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=""))
    for i, (series, _, _) in enumerate(styled_series):
        label = series.label if len(styled_series) > 1 else None
        for j, (name, x) in enumerate(zip(series.x, series.y)):
            y = names.index(name) + 0.8 * (i + 0.5) / len(styled_series) - 0.4
            style = {"color": colours[i][j], "label": label if j == 0 else None}
            hollow = {"markerfacecolor": "white"} if series.hollow is not None and series.hollow[j] else {}
            if not plot.ylog:
                face = {"facecolor": "white"} if hollow else {}
                axes.barh(y, x, 0.75 / len(styled_series), linewidth=0.6, **style, edgecolor=style["color"], **face)
                continue
            earlier = series.earlier is not None and series.earlier[j]
            axes.plot(x, y, "s" if earlier else "o", alpha=0.5 if earlier else 1, **style, **hollow)
            if series.low is not None and np.isfinite([series.low[j], series.high[j]]).all():
                axes.plot([series.low[j], series.high[j]], [y, y], color=style["color"], linewidth=0.6)
    for value, words in plot.lines_at:
        axes.axvline(value, color="black", linewidth=0.6, linestyle="--", label=words)
    if plot.percent and not plot.ylog:  # as on the page, fractions are drawn out of 100 %
        axes.set_xlim(right=max(1, axes.get_xlim()[1]))
    _ticks(axes.xaxis, is_narrow=True)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", labelsize=6)
    lines = max(1 + name.count("\n") for name in names)
    _legend(figure, axes, 0.5 + 0.12 * len(names) * max(1, 0.7 * len(styled_series), 0.8 * lines))


def _legend(figure, axes, height):
    """Adds the legend below the axes, in as many columns as fit. The figure grows, so that the axes keep their height
    (`height`, in inches)."""
    handles, labels = axes.get_legend_handles_labels()  # without series that have no name
    below = 0
    for columns in (3, 2, 1) if labels else ():
        legend = figure.legend(
            handles, labels, loc="lower center", ncol=columns, columnspacing=1, handlelength=2.2, borderpad=0.1
        )
        box = legend.get_window_extent()
        below = box.height / figure.dpi + LEGEND_MARGIN
        if box.width <= WIDTH * figure.dpi or columns == 1:
            break
        legend.remove()
    figure.set_size_inches(WIDTH, height + below)
    figure.get_layout_engine().set(rect=(0, below / (height + below), 1, height / (height + below)))
