"""A Plot is data and words. plots.js draws it on the page (with uPlot); `figures` draws it for papers."""

import itertools
import json
import re
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .colours import COUNT
from .words import counted, number, percent, seconds, text

NEAREST, FARTHEST = 1e-30, 1e30  # limits of logarithmic axes; residuals of diverging methods reach 1e300
MOST_DOTS = 4000  # points of a cloud
# A label or a row's name begins with "method" or "problem/method".
OF_METHOD = re.compile(r"(?:\w+/)?(\w+)")


@dataclass
class Series:
    """One line, cloud or group of bars. `low` and `high` are the ends of the error bars, or of a `band`. `hollow` has a
    number per point as `frames.not_passed` returns it; points whose answer did not pass have hollow marks. `told` has a
    text per point, shown at the pointer. The colour is that of the method `of`, by default the method with which the
    label begins. `faint`: slower configurations, drawn behind the series of the same label; `dashed`: not a solid line;
    `plain`: a reference line."""

    label: str
    x: object
    y: object
    low: object = None
    high: object = None
    hollow: object = None
    line: bool = True
    marker: bool = True
    told: object = None
    band: bool = False
    faint: bool = False
    plain: bool = False
    dashed: bool = False
    of: str = ""
    settings: object = None  # the parameters of each point, "blocks=8 threads=64"
    earlier: object = None  # "the run before" per point of an earlier run; empty for points of the last run
    ends: tuple = ("first to third quartile",)  # the meanings of `low` and `high`


@dataclass
class Plot:
    name: str  # name of its files
    title: str
    xlabel: str
    ylabel: str
    series: list = field(default_factory=list)
    kind: str = "lines"  # lines, dots, bars (horizontal; x are names)
    xlog: bool = None  # None: decided by the data
    ylog: bool = False
    seconds: bool = False  # y in seconds, shown with unit prefixes
    percent: bool = False
    lines_at: list = field(default_factory=list)  # (y, words): reference lines
    names: list = None  # labels of x = 0, 1, …
    note: str = ""
    basis: str = ""  # sentences for a caption: the matrices, the statistic, the number of samples
    farthest: float = FARTHEST  # larger values on a logarithmic y axis are drawn at this limit

    def drawable(self):
        """Returns the plot, its series with finite values only (positive on a logarithmic axis), and sentences about
        values that could not be drawn as they are. If all values have one x, the plot becomes a list of bars."""
        kept, said, far = [], [], {}
        for series in self.series:
            y = np.asarray(series.y, dtype=float)
            good = np.isfinite(y) & (y > 0 if self.ylog else True)
            if self.kind != "bars":
                x = np.asarray(series.x, dtype=float)
                good &= np.isfinite(x) & (x > 0 if self.xlog else True)
            if self.kind == "dots" and good.sum() > MOST_DOTS:
                said.append(f"not drawn: {counted(good.sum() - MOST_DOTS, 'point')} of {series.label}")
                # Keeps MOST_DOTS points at even distances in their order.
                good[
                    np.setdiff1d(
                        np.flatnonzero(good),
                        np.flatnonzero(good)[np.linspace(0, good.sum() - 1, MOST_DOTS).astype(int)],
                    )
                ] = False
            if good.any():
                kept.append(self._cut(series, good, far))
        if far:
            names = _in_words(merged(dict.fromkeys(far, ""), [s.label for s in self.series]))
            end = f"{self.farthest:.0e}".replace("e+", "e")
            said.append(f"{counted(sum(far.values()), 'point')} beyond {end} (or below 1e-30), drawn there: {names}")
        if not kept:
            return self, [], said
        if self.kind == "lines" and self.names is None and len(np.unique(np.concatenate([s.x for s in kept]))) == 1:
            by_name = _by_name(self, kept)
            return by_name, by_name.series, said
        return replace(self, xlog=self._is_xlog(kept)), kept, said

    def _cut(self, series, good, far):
        """Returns the series' good points; those beyond the limits are moved to the limits, and counted in `far`."""
        columns = {
            name: None if getattr(series, name) is None else np.asarray(getattr(series, name))[good]
            for name in ("low", "high", "hollow", "told", "settings", "earlier")
        }
        x, y = np.asarray(series.x)[good], np.asarray(series.y, dtype=float)[good]
        if self.ylog:
            count = int(((y > self.farthest) | (y < NEAREST)).sum())
            if count:
                far[series.label] = far.get(series.label, 0) + count
            y = np.clip(y, NEAREST, self.farthest)
        if self.xlog and self.kind != "bars":
            x = np.clip(x.astype(float), NEAREST, FARTHEST)
        return replace(series, x=x, y=y, **columns)

    def _is_xlog(self, kept):
        """Returns whether the x axis is logarithmic. By default it is if the values span a factor of 4 and their gaps
        too, as sizes that double do."""
        if self.xlog is not None or self.kind == "bars" or self.names is not None:
            return bool(self.xlog)
        values = np.unique(np.concatenate([s.x for s in kept if s.marker] or [s.x for s in kept]))
        gaps = np.diff(values)
        steady = len(values) > 2 and values[-1] >= 4 * values[0] and gaps.max() >= 4 * gaps.min()
        return bool(values[0] > 0 and steady)

    def words(self):
        """Returns the function that formats a value."""
        return seconds if self.seconds else percent if self.percent else number


UNPASSED = ["", "suspect", "failed", "not finished"]  # index: a number of `Series.hollow`
MOST_NAMED = 20  # names in a sentence
MOST_VALUES = 6  # values of a parameter in a sentence


def unpassed(kept, xlabel=None):
    """Returns a sentence that names the series with hollow marks by status; an empty text if all answers passed. With
    `xlabel`, each status has its own sentence. It names the parameters in which these answers differ from the others,
    and the sizes if the axis shows n."""
    begin = "Hollow marks are answers that did not pass"
    if not any(series.hollow is not None and np.any(series.hollow) for series in kept):
        return ""
    points = pd.DataFrame(
        [
            (series.x[i] if isinstance(series.x[i], str) else series.label, series.x[i], setting, int(rank))
            for series in kept
            if series.hollow is not None
            for i, (setting, rank) in enumerate(zip(_settings(series), np.asarray(series.hollow, dtype=int)))
        ],
        columns=["name", "x", "setting", "rank"],
    )
    ranks = sorted(set(points["rank"]) - {0})
    if xlabel is None:
        parts = [f"{_listed(points['name'][points['rank'] == rank].unique())} ({UNPASSED[rank]})" for rank in ranks]
        return f"{begin}: {'; '.join(parts)}."
    said = [f"{begin}."]
    for rank in ranks:
        names = merged(dict.fromkeys(points["name"][points["rank"] == rank], ""), points["name"])
        described = [_bad(points[points["name"].isin(of)], rank, name, xlabel) for name, of in names.items()]
        said.append(f"{UNPASSED[rank].capitalize()}: {_listed(described)}.")
    return " ".join(said)


def _bad(points, rank, name, xlabel):
    """Describes the points of one status, given by its index in UNPASSED: "crout with blocks 4 at n = 32 and 64 (2 of 6
    points)"."""
    bad = points[points["rank"] == rank]
    ours, every = (_by_parameter(word.split() for word in part["setting"]) for part in (bad, points))
    differ = {k: found for k, found in ours.items() if set(found) < set(every[k])} if all(bad["setting"]) else {}
    words = f"{name} with {_chosen(differ)}" if differ else name
    if xlabel == "n" and not isinstance(bad["x"].iloc[0], str):
        words += f" at n = {_choice([f'{x:g}' for x in sorted(bad['x'].unique())], 'and')}"
    return words if len(bad) == len(points) else f"{words} ({len(bad)} of {counted(len(points), 'point')})"


def merged(words, every):
    """Groups names for a sentence. If all names of a method in `every` ("lapack, nrhs 3", "lapack: factor") have equal
    words, "lapack" stands for them. Maps each such short name, or a name alone, to the names that it stands for.
    `words`: name -> words."""
    of = {}
    for name in dict.fromkeys(every):
        of.setdefault(_head(name), []).append(name)
    short = {}
    for name, said in words.items():
        same = of[_head(name)]
        is_one = len(same) > 1 and all(words.get(other) == said for other in same)
        short.setdefault(_head(name) if is_one else name, []).append(name)
    return short


def _head(name):
    """Returns the beginning of a name, before its properties: "lapack" of "lapack, nrhs 3"."""
    return re.split(r", |: ", name, maxsplit=1)[0]


def _settings(series):
    return series.settings if series.settings is not None else [""] * len(series.x)


def parameters(plot, kept):
    """Returns sentences that name the parameters behind the points of each name in the plot, and those of the faint
    marks; an empty text if there are none."""
    of, faint, earlier = {}, [], {}
    for series in kept:
        ago = series.earlier if series.earlier is not None else [""] * len(series.x)
        for x, setting, when in zip(series.x, series.settings if series.settings is not None else (), ago):
            words = setting.split()
            if series.faint and when:
                earlier[when] = None
            faint += [words] if series.faint and not when else []
            of.setdefault(x if isinstance(x, str) else series.label, []).extend([] if series.faint else [words])
    of = {name: settings for name, settings in of.items() if settings}
    every = [set(words) for settings in of.values() for words in settings]
    common = set.intersection(*every) if every else set()
    parts = [_values([[w for w in next(iter(of.values()))[0] if w in common]], ())] if common else []
    said_of, names_of = {}, {}
    for name, settings in of.items():
        named = re.split(r"[\s,=]+", name)
        # A parameter whose value is a word in the label is not repeated. Numbers in a label may be the matrix's.
        in_label = {w for w in settings[0] if w.partition("=")[2] in named and not w[-1].isdigit()}
        said = _values(settings, common | in_label)
        fastest = plot.kind == "lines" and len(set(map(tuple, settings))) > 1
        said_of[name] = f"{said} (the fastest at each {plot.xlabel})" if fastest else said
    for short, names in merged(said_of, of).items():
        names_of.setdefault(said_of[names[0]], []).append(short)
    parts += [f"{_in_words(names)}: {said}" if any(names) else said for said, names in names_of.items() if said]
    said = [f"Parameters: {'; '.join(parts)}."] if parts else []
    marks = []
    if faint:
        varying = _by_parameter([*faint, *(words for settings in of.values() for words in settings)])
        fixed = {f"{name}={value}" for name, values in varying.items() if len(values) == 1 for value in values}
        others = _values(faint, fixed)
        marks.append(f"other configurations{f' ({others})' if others else ''}")
    marks += [", ".join(earlier)] if earlier else []
    said += [f"Faint marks: {' and '.join(marks)}."] if marks else []
    return " ".join(said)


def _by_parameter(settings):
    """Maps each parameter in several lists of "name=value" to its distinct values, sorted."""
    of = {}
    for word in (word for words in settings for word in words):
        name, _, value = word.partition("=")
        of.setdefault(name, {})[value] = None
    return {name: sorted(values, key=lambda v: (len(v), v) if v.isdigit() else (0, v)) for name, values in of.items()}


def _values(settings, but):
    """Returns "blocks 8 or 132, threads 64" for several lists of "name=value", without those in `but`."""
    return _chosen(_by_parameter([word for word in words if word not in but] for words in settings))


def _chosen(values_of):
    return ", ".join(f"{name} {_choice(values)}".rstrip() for name, values in values_of.items())


def _choice(values, last="or"):
    """Returns "1, 2 or 4"; "1 to 64 (7 values)" for many."""
    return (
        _in_words(values, last) if len(values) <= MOST_VALUES else f"{values[0]} to {values[-1]} ({len(values)} values)"
    )


def _in_words(names, last="and"):
    """Returns "a, b and c"; "a and b, c and d" if names contain commas."""
    *names, end = names
    between = f" {last} " if any("," in name for name in [*names, end]) else ", "
    return f" {last} ".join(filter(None, [between.join(names), end]))


def _listed(names):
    """Returns "a, b and 3 more"; names that contain commas are separated by semicolons."""
    names = list(names)
    between = "; " if any("," in name for name in names) else ", "
    left = len(names) - MOST_NAMED
    return between.join(names[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def frame(plot, kept):
    """Returns the data of a plot as a frame."""
    pieces = []
    for series in kept:
        x = series.x if plot.names is None else [plot.names[int(i)] for i in series.x]
        piece = pd.DataFrame({"series": series.label, "x": x, "y": series.y})
        for name in ("low", "high", "hollow", "told"):
            if getattr(series, name) is not None:
                piece[name] = getattr(series, name)
        pieces.append(piece)
    return pd.concat(pieces, ignore_index=True)


def _by_name(plot, kept):
    """Converts series that all have the same single x to bars, one per point. A bar's name has the parameters in which
    the bars differ, and the run if it is an earlier one; `told` has all parameters."""
    x = kept[0].x[0]
    names, columns = [], {name: [] for name in ("y", "low", "high", "hollow", "told", "settings", "earlier")}
    for series in sorted(kept, key=lambda s: s.plain):
        for i in range(len(series.x)):
            names.append(series.label or plot.ylabel)
            columns["y"].append(float(series.y[i]))
            for name in ("low", "high", "hollow", "told", "settings", "earlier"):
                unknown = {"low": np.nan, "high": np.nan, "hollow": False}.get(name, "")
                values = getattr(series, name)
                columns[name].append(unknown if values is None else values[i])
    title = plot.title if f"{plot.xlabel} = " in plot.title else f"{plot.title}, {plot.xlabel} = {x:g}"
    order = np.argsort(columns["y"], kind="stable")
    whole = [", ".join(w for w in (name, words) if w) for name, words in zip(names, columns["told"])]
    shared = _shared(columns["told"])
    short = [", ".join(w for w in (n, _without(words, shared)) if w) for n, words in zip(names, columns["told"])]
    names, columns["told"] = short if len(set(short)) == len(set(whole)) else whole, whole
    columns = {name: np.asarray(values)[order] for name, values in columns.items()}
    ends = tuple(dict.fromkeys(words for s in kept if s.low is not None for words in s.ends))
    note = " ".join(filter(None, [plot.note, "Squares: earlier runs." if any(columns["earlier"]) else ""]))
    series = [Series("", [names[i] for i in order], ends=ends, **columns)]
    return replace(plot, kind="bars", title=title, note=note, series=series)


def styled(series, methods):
    """Returns (series, colour or None, dash) for each series; series with different labels differ in colour or dash.
    `methods`: name -> number, as `frames.methods` returns it. Series of no method get numbers that no method has."""
    named = [s.of or OF_METHOD.match(s.label).group(1) if s.of or OF_METHOD.match(s.label) else s.label for s in series]
    keys = [None if s.plain else name if s.of or name in methods else s.label for s, name in zip(series, named)]
    numbers = {key: methods[key] for key in keys if key in methods}
    free = (i for i in itertools.count() if i not in set(numbers.values()))
    for key in keys:
        if key is not None and key not in numbers:
            numbers[key] = next(free)
    colours = {key: None if key is None else numbers[key] % COUNT for key in keys}
    dashes, taken, begun = {}, {}, set()  # (key, label) -> dash; colour -> dashes in use

    def choose(key, s, least):
        used = taken.setdefault(colours[key], set())
        dashes[key, s.label] = next(i for i in itertools.count(least) if i not in used)
        used.add(dashes[key, s.label])

    for key, s in zip(keys, series):  # a method's first series has the dash of its number, if that is free
        if key is not None and key not in begun and not s.dashed:
            begun.add(key)
            choose(key, s, numbers[key] // COUNT)
    for key, s in zip(keys, series):
        if (key, s.label) not in dashes:
            # The dashes of a method's further series come after the dash of its number.
            choose(key, s, max(int(s.dashed), numbers[key] // COUNT if key in begun else 0))
    if all(s.plain or not s.line for s in series):  # only marks distinguish series of a colour: use the first ones
        for colour, used in taken.items():
            place = {dash: i for i, dash in enumerate(sorted(used))}
            dashes.update({k: place[d] for k, d in dashes.items() if colours[k[0]] == colour})
    return [(s, colours[key], dashes[key, s.label]) for key, s in zip(keys, series)]


def _numbers(values):
    """Rounds to four digits, enough for a screen; unknown values become None."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def _whole(values):
    """Converts whole numbers to int, which JSON writes shorter, and rounds the others to six digits."""
    return [int(v) if v == int(v) else float(f"{v:.6g}") for v in map(float, values)]


def markup(plot, kept, methods):
    """Returns the HTML of the plot; `plot` and `kept` as `drawable` returns them."""
    if plot.kind == "bars":
        return _bars(plot, kept, methods)
    # The keys are short, because a page may hold many points: l label, c colour, d dash, lo and hi the ends, h
    # hollow, t the index of a point's text in `told`.
    told, lines = {"": 0}, []
    for series, colour, variant in styled(kept, methods):
        line = {
            "l": series.label,
            "c": colour,
            "d": variant,
            "x": _whole(series.x),
            "y": _numbers(series.y),
            "line": bool(series.line and plot.kind == "lines" and plot.names is None or not series.marker),
        }
        for name, there in (("band", series.band), ("faint", series.faint), ("bare", not series.marker)):
            if there:
                line[name] = 1
        if series.low is not None and series.high is not None:
            line["lo"], line["hi"] = _numbers(series.low), _numbers(series.high)
        if series.hollow is not None and np.any(series.hollow):
            line["h"] = [int(h) for h in series.hollow]
        if series.told is not None and any(series.told):
            line["t"] = [told.setdefault(str(word), len(told)) for word in series.told]
        lines.append(line)
    marked = [s.x for s in kept if s.marker] or [s.x for s in kept]
    places = np.unique(np.concatenate(marked).astype(float))
    data = {
        "x": plot.xlabel,
        "y": plot.ylabel,
        "xlog": plot.xlog,
        "ylog": plot.ylog,
        "unit": "s" if plot.seconds else "%" if plot.percent else "",
        "at": plot.lines_at,
        "ticks": _whole(places) if len(places) <= 14 and np.all(places == np.rint(places)) else None,
        "names": plot.names,
        "told": list(told),
        "series": lines,
    }
    content = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="canvas" role="img" aria-label="{text(plot.title)}"></div><div class="legend"></div>'
        f'<script type="application/json">{content}</script>'
    )


def _bars(plot, kept, methods):
    """Draws one row per name: on a logarithmic axis a mark at the value, else a bar from 0 to it. With one series the
    colour is the method's, with several each series has a colour."""
    ends = [np.asarray(v, dtype=float) for s in kept for v in (s.y, s.low, s.high) if v is not None]
    every = np.concatenate(ends)
    every = every[np.isfinite(every) & (every > 0 if plot.ylog else True)]
    low, high = (every.min() / 1.5 if plot.ylog else min(0, every.min())), every.max()

    def place(value):
        if plot.ylog:
            return 100 * np.log(max(value, low) / low) / np.log(high / low)
        return 100 * (value - low) / ((high - low) or 1)

    colours = [colour for _, colour, _ in styled(kept, methods)]
    rows = {}
    for which, series in enumerate(kept):
        for i, name in enumerate(series.x):
            whole = str(series.told[i]) if series.told is not None else name
            rows.setdefault((name, whole, 0 if series.label else i), []).append((which, series, i))
    parts = []
    for (label, whole, _), cells in rows.items():
        tracks = []
        for which, series, i in cells:
            colour = colours[which] if len(kept) > 1 else row_colour(label, methods)
            colour = "--fg" if colour is None else f"--c{colour}"
            tracks.append(f'<div style="--m:var({colour})">{_bar(series, i, plot.ylog, place)}</div>')
        words = ", ".join(plot.words()(float(series.y[i])) + _status(series, i) for _, series, i in cells)
        parts.append(
            f'<span title="{text(whole)}">{text(label)}</span><div class="tracks">{"".join(tracks)}</div>'
            f"<b>{text(words)}</b>"
        )
    below = "".join(
        f'<p class="none">For comparison, {text(words)}: {text(plot.words()(at))}</p>' for at, words in plot.lines_at
    )
    if len(kept) > 1:
        keys = (f'<span style="--m:var(--c{c})">{text(s.label)}</span>' for c, s in zip(colours, kept))
        below += f'<div class="keys">{"".join(keys)}</div>'
    long = " long" if len(rows) > 24 else ""  # a longer list scrolls
    return f'<div class="bars{long}" role="img" aria-label="{text(plot.title)}">{"".join(parts)}</div>{below}'


def row_colour(name, methods):
    """Returns the colour of a row in a list of bars, which is that of the method with which its name begins; None if
    it begins with none."""
    method = OF_METHOD.match(name)
    return methods[method.group(1)] % COUNT if method and method.group(1) in methods else None


def _shared(several):
    """Returns the parameters, as "name=value", that have one value in all texts that have them."""
    values = {}
    for words in several:
        for word in str(words).split():
            name, is_parameter, value = word.rstrip(";,").partition("=")
            if is_parameter:
                values.setdefault(name, set()).add(value)
    return {f"{name}={next(iter(found))}" for name, found in values.items() if len(found) == 1}


def _without(told, shared):
    """Returns the text without the shared parameters. The punctuation after a removed parameter moves to the word
    before it."""
    words = []
    for word in told.split():
        bare = word.rstrip(";,")
        if bare not in shared:
            words.append(word)
        elif words:
            words[-1] = words[-1].rstrip(";,") + word[len(bare) :]
    return " ".join(words).rstrip(";,")


def _status(series, i):
    """Returns " (failed)" if the answer behind a value did not pass."""
    return f" ({UNPASSED[int(series.hollow[i])]})" if series.hollow is not None and series.hollow[i] else ""


def _bar(series, i, ylog, place):
    """Returns the bar or mark of a value, and a line from its `low` to its `high`."""
    value, range_ = float(series.y[i]), ""
    if series.low is not None and series.high is not None and series.high[i] > series.low[i]:
        low, high = float(series.low[i]), float(series.high[i])
        at = place(low)
        width = f"left:{at:.1f}%;width:{place(high) - at:.1f}%"
        range_ = f'<s style="{width}" data-low="{low!r}" data-high="{high!r}"></s>'
    mark = " hollow" if series.hollow is not None and series.hollow[i] else ""
    mark += " earlier" if series.earlier is not None and series.earlier[i] else ""
    kind = f'class="dot{mark}" style="left' if ylog else f'class="of{mark}" style="width'
    return f'<i {kind}:{place(value):.1f}%" data-v="{value!r}"></i>{range_}'
