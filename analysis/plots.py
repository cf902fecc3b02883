"""A Plot has the data and the words of one figure. plots.js draws it on the page (with uPlot); figures.py draws it as a
file for a paper."""

import itertools
import json
import re
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .colours import COUNT
from .words import counted, number, percent, seconds, text

# Values on a logarithmic axis are moved into this range, because residuals of diverging methods reach 1e300.
NEAREST, FARTHEST = 1e-30, 1e30
MOST_DOTS = 4000  # maximum number of points that are drawn per cloud
# Finds the method in the beginning of a label or of a row's name, which is "method" or "problem/method".
OF_METHOD = re.compile(r"(?:\w+/)?(\w+)")


@dataclass
class Series:
    """One line, cloud or group of bars. Fields whose type is `object` are arrays with one element per point, or
    None."""

    label: str
    x: object  # numbers; names if the plot has bars
    y: object
    low: object = None  # the ends of the error bars, or of a `band`
    high: object = None
    hollow: object = None  # numbers as of `frames.verdict_rank`; points whose answer did not pass have hollow marks
    line: bool = True  # whether the points are joined
    marker: bool = True  # whether the points have marks
    hover: object = None  # texts that the page shows at the pointer
    band: bool = False  # draws `low` and `high` as a band instead of error bars
    faint: bool = False  # other configurations, other n or earlier runs, drawn behind the series of the same label
    plain: bool = False  # a reference line, without a method's colour
    dashed: bool = False  # not a solid line
    of: str = ""  # the method whose colour the series has; by default the one with which the label begins
    settings: object = None  # the parameters of each point, "blocks=8 threads=64"
    earlier: object = None  # "the run before" per point of an earlier run; empty for points of the last run
    ends: tuple = ("first to third quartile",)  # the meanings of `low` and `high`
    shown: object = None  # "the 7 of 8 trials that passed" per point that leaves out trials; empty for other points


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
    # For lines: (colour, method or label, label) -> number of the dash. The plots of a problem share this dict, which
    # `styled` completes, so that a line looks alike in all of them.
    dashes: dict = None
    farthest: float = FARTHEST  # larger values on a logarithmic y axis are drawn at this limit

    def drawable(self):
        """Returns the plot, its drawable series, and remarks about values that were left out or moved. Values that
        cannot be drawn are left out: infinite ones, and on a logarithmic axis those that are not positive. If all
        values have one x, the plot becomes a list of bars."""
        drawn, remarks, far = [], [], {}
        for series in self.series:
            y = np.asarray(series.y, dtype=float)
            good = np.isfinite(y) & (y > 0 if self.ylog else True)
            if self.kind != "bars":
                x = np.asarray(series.x, dtype=float)
                good &= np.isfinite(x) & (x > 0 if self.xlog else True)
            if self.kind == "dots" and good.sum() > MOST_DOTS:
                remarks.append(f"not drawn: {counted(good.sum() - MOST_DOTS, 'point')} of {series.label}")
                # Keeps MOST_DOTS of the drawable points, evenly distributed over their order in the series.
                good[
                    np.setdiff1d(
                        np.flatnonzero(good),
                        np.flatnonzero(good)[np.linspace(0, good.sum() - 1, MOST_DOTS).astype(int)],
                    )
                ] = False
            if good.any():
                drawn.append(self._cut(series, good, far))
        if far:
            names = _in_words(merged(dict.fromkeys(far, ""), [s.label for s in self.series]))
            end = f"{self.farthest:.0e}".replace("e+", "e")
            remarks.append(f"{counted(sum(far.values()), 'point')} beyond {end} (or below 1e-30), drawn there: {names}")
        if not drawn:
            return self, [], remarks
        if self.kind == "lines" and self.names is None and len(np.unique(np.concatenate([s.x for s in drawn]))) == 1:
            by_name = _by_name(self, drawn)
            return by_name, by_name.series, remarks
        return replace(self, xlog=self._is_xlog(drawn)), drawn, remarks

    def _cut(self, series, good, far):
        """Returns the series with only the points for which `good` is true. Values beyond the limits are moved to the
        limits; `far` (label -> number) counts them."""
        columns = {
            name: None if getattr(series, name) is None else np.asarray(getattr(series, name))[good]
            for name in ("low", "high", "hollow", "hover", "settings", "earlier", "shown")
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

    def _is_xlog(self, drawn):
        """Returns whether the x axis is logarithmic. By default it is, if the largest value is at least 4 times the
        smallest, and the same holds for the gaps between values. Sizes that double are an example."""
        if self.xlog is not None or self.kind == "bars" or self.names is not None:
            return bool(self.xlog)
        values = np.unique(np.concatenate([s.x for s in drawn if s.marker] or [s.x for s in drawn]))
        gaps = np.diff(values)
        is_wide = len(values) > 2 and values[-1] >= 4 * values[0] and gaps.max() >= 4 * gaps.min()
        return bool(values[0] > 0 and is_wide)

    def words(self):
        """Returns the function that formats a y value."""
        return seconds if self.seconds else percent if self.percent else number


UNPASSED = ["", "suspect", "failed", "not finished"]  # words for the numbers of `Series.hollow`
MOST_NAMED = 20  # names in a sentence
MOST_VALUES = 6  # values of a parameter in a sentence


MOST_LINES_NAMED = 6  # series with one status in a caption


def unpassed(drawn, xlabel=None):
    """Returns a sentence that names the series with hollow marks by status; an empty text if all answers passed. With
    `xlabel` (for captions of papers), each status has its own sentence. It also names the parameters in which these
    answers differ from the others, and the sizes if the axis shows n. More than MOST_LINES_NAMED are only counted.
    """
    begin = "Hollow marks have an answer that did not pass"
    if not any(series.hollow is not None and np.any(series.hollow) for series in drawn):
        return ""
    points = pd.DataFrame(
        [
            (series.x[i] if isinstance(series.x[i], str) else series.label, series.x[i], setting, int(rank), shown)
            for series in drawn
            if series.hollow is not None
            for i, (setting, shown, rank) in enumerate(
                zip(_words(series, "settings"), _words(series, "shown"), np.asarray(series.hollow, dtype=int))
            )
        ],
        columns=["name", "x", "setting", "rank", "shown"],
    )
    ranks = sorted(set(points["rank"]) - {0})
    if xlabel is None:
        parts = [f"{listed(points['name'][points['rank'] == rank].unique())} ({UNPASSED[rank]})" for rank in ranks]
        return f"{begin}: {'; '.join(parts)}."
    sentences = [f"{begin}."]
    for rank in ranks:
        names = merged(dict.fromkeys(points["name"][points["rank"] == rank], ""), points["name"])
        if len(names) > MOST_LINES_NAMED:
            bad = (points["rank"] == rank).sum()
            sentences.append(f"{UNPASSED[rank].capitalize()}: {bad} points of {len(names)} lines.")
            continue
        described = [_bad(points[points["name"].isin(of)], rank, name, xlabel) for name, of in names.items()]
        sentences.append(f"{UNPASSED[rank].capitalize()}: {listed(described)}.")
    return " ".join(sentences)


def _bad(points, rank, name, xlabel):
    """Returns words for the points with one status, such as "crout with blocks 4 at n = 32 and 64 (2 of 6 points)". The
    total counts the points with the named parameters and n. `rank`: the status as an index of UNPASSED."""
    bad = points[points["rank"] == rank]
    values_of_bad, values_of_all = (_by_parameter(word.split() for word in part["setting"]) for part in (bad, points))
    # Parameter -> its values, for the parameters of which the bad points have only some of the values.
    differ = {k: v for k, v in values_of_bad.items() if set(v) < set(values_of_all[k])} if all(bad["setting"]) else {}
    pairs = {(k, value) for k, found in differ.items() for value in found}
    matches = [len(pairs & {word.partition("=")[::2] for word in words.split()}) for words in points["setting"]]
    # Keeps the points that have, for each parameter in `differ`, one of these values.
    points = points[np.equal(matches, len(differ))]
    words = f"{name} with {_chosen(differ)}" if differ else name
    if xlabel == "n" and not isinstance(bad["x"].iloc[0], str):
        words += f" at n = {_choice([f'{x:g}' for x in sorted(bad['x'].unique())], 'and')}"
        points = points[points["x"].isin(bad["x"])]
    notes = [] if len(bad) == len(points) else [f"{len(bad)} of {counted(len(points), 'point')}"]
    notes += [f"shown: {listed(bad['shown'].replace('', 'all trials').unique())}"] if any(bad["shown"]) else []
    return f"{words} ({'; '.join(notes)})" if notes else words


def merged(words, every):
    """Groups names for a sentence, to shorten it. `words` maps names to what the sentence says about them. If all names
    of a method in `every` ("lapack, nrhs 3", "lapack: factor") have equal words, the method ("lapack") replaces them.
    If all stages of a trial have equal words, the trial replaces them ("crout, spd" for "crout, spd: factor").
    Maps each method or trial that replaces names, and each name that was not replaced, to the names that it stands
    for."""
    names_of, stages_of = {}, {}
    for name in dict.fromkeys(every):
        names_of.setdefault(_head(name), []).append(name)
        stages_of.setdefault(_trial(name), []).append(name)
    short = {}
    for name, own_words in words.items():
        names = names_of[_head(name)]
        if len(names) > 1 and all(words.get(other) == own_words for other in names):
            key = _head(name)
        else:
            is_one = all(words.get(other) == own_words for other in stages_of[_trial(name)])
            key = _trial(name) if is_one else name
        short.setdefault(key, []).append(name)
    return short


def _head(name):
    """Returns the beginning of a name, before its properties: "lapack" of "lapack, nrhs 3"."""
    return re.split(r", |: ", name, maxsplit=1)[0]


def _trial(name):
    """Returns a name without its stage: "crout, spd" of "crout, spd: factor"."""
    return name.partition(": ")[0]


def _words(series, name):
    """Returns the texts of a field with one text per point; empty texts if the series does not have them."""
    return getattr(series, name) if getattr(series, name) is not None else [""] * len(series.x)


def parameters(plot, drawn):
    """Returns a caption's sentences with the parameters of the points of each series or bar. They also explain the
    faint marks. The text is empty if there are neither."""
    settings_of, faint, earlier = {}, [], {}
    for series in drawn:
        runs_of_points = series.earlier if series.earlier is not None else [""] * len(series.x)
        for x, setting, when in zip(series.x, series.settings if series.settings is not None else (), runs_of_points):
            words = setting.split()
            if series.faint and when:
                earlier[when] = None
            faint += [words] if series.faint and not when else []
            settings_of.setdefault(x if isinstance(x, str) else series.label, []).extend(
                [] if series.faint else [words]
            )
    settings_of = {name: settings for name, settings in settings_of.items() if settings}
    each_setting = [set(words) for settings in settings_of.values() for words in settings]
    common = set.intersection(*each_setting) if each_setting else set()
    parts = [_values([[w for w in next(iter(settings_of.values()))[0] if w in common]], ())] if common else []
    text_of, names_of = {}, {}
    for name, settings in settings_of.items():
        named = re.split(r"[\s,=]+", name)
        # A parameter or value that is in the label is not repeated. A number alone is, because it may be the matrix's.
        in_label = {w for w in settings[0] if w.rpartition("=")[2] in named and not w[-1].isdigit()}
        in_label |= set(settings[0]) & set(re.split(r",? ", name))
        settings_text = _values(settings, common | in_label)
        fastest = plot.kind == "lines" and len(set(map(tuple, settings))) > 1
        text_of[name] = f"{settings_text} (the fastest at each {plot.xlabel})" if fastest else settings_text
    for short, names in merged(text_of, settings_of).items():
        names_of.setdefault(text_of[names[0]], []).append(short)
    parts += [f"{_in_words(names)}: {words}" if any(names) else words for words, names in names_of.items() if words]
    sentences = [f"Parameters: {'; '.join(parts)}."] if parts else []
    marks = []
    if faint:
        varying = _by_parameter([*faint, *(words for settings in settings_of.values() for words in settings)])
        named = {w.partition("=")[0] for settings in settings_of.values() for words in settings for w in words}
        with_one_value = {f"{name}={value}" for name in named for value in varying[name] if len(varying[name]) == 1}
        others = _values(faint, with_one_value)
        marks.append(f"other configurations{f' ({others})' if others else ''}")
    marks += [", ".join(earlier)] if earlier else []
    sentences += [f"Faint marks: {' and '.join(marks)}."] if marks else []
    return " ".join(sentences)


def _by_parameter(settings):
    """Maps each parameter that occurs in the lists of "name=value" to its distinct values, sorted."""
    values_of = {}
    for word in (word for words in settings for word in words):
        name, _, value = word.partition("=")
        values_of.setdefault(name, {})[value] = None
    return {
        name: sorted(values, key=lambda v: (len(v), v) if v.isdigit() else (0, v)) for name, values in values_of.items()
    }


def _values(settings, but):
    """Returns words such as "blocks 8 or 132, threads 64" for lists of "name=value". `but`: the elements to leave
    out."""
    return _chosen(_by_parameter([word for word in words if word not in but] for words in settings))


def _chosen(values_of):
    return ", ".join(f"{name} {_choice(values)}".rstrip() for name, values in values_of.items())


def _choice(values, last="or"):
    """Returns "1, 2 or 4"; "1 to 64 (7 values)" for more than MOST_VALUES."""
    return (
        _in_words(values, last) if len(values) <= MOST_VALUES else f"{values[0]} to {values[-1]} ({len(values)} values)"
    )


def _in_words(names, last="and"):
    """Returns "a, b and c"; "a and b, c and d" if names contain commas."""
    *names, end = names
    between = f" {last} " if any("," in name for name in [*names, end]) else ", "
    return f" {last} ".join(filter(None, [between.join(names), end]))


def listed(names):
    """Returns "a, b and 3 more"; names that contain commas are separated by semicolons."""
    names = list(names)
    between = "; " if any("," in name for name in names) else ", "
    left = len(names) - MOST_NAMED
    return between.join(names[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def frame(plot, drawn):
    """Returns the data of a plot as a frame."""
    pieces = []
    for series in drawn:
        x = series.x if plot.names is None else [plot.names[int(i)] for i in series.x]
        piece = pd.DataFrame({"series": series.label, "x": x, "y": series.y})
        for column, values in (
            ("low", series.low),
            ("high", series.high),
            ("hollow", series.hollow),
            ("told", series.hover),
        ):
            if values is not None:
                piece[column] = values
        pieces.append(piece)
    return pd.concat(pieces, ignore_index=True)


def _by_name(plot, drawn):
    """Converts a plot whose points all have the same x to bars, one per point. A bar's name has the parameters in which
    the bars differ, and says which earlier run it is from, if any; `hover` has all parameters."""
    x = drawn[0].x[0]
    names, columns = [], {name: [] for name in ("y", "low", "high", "hollow", "hover", "settings", "earlier", "shown")}
    for series in sorted(drawn, key=lambda s: s.plain):
        for i in range(len(series.x)):
            names.append(series.label or plot.ylabel)
            columns["y"].append(float(series.y[i]))
            for name in ("low", "high", "hollow", "hover", "settings", "earlier", "shown"):
                unknown = {"low": np.nan, "high": np.nan, "hollow": False}.get(name, "")
                values = getattr(series, name)
                columns[name].append(unknown if values is None else values[i])
    title = plot.title if f"{plot.xlabel} = " in plot.title else f"{plot.title}, {plot.xlabel} = {x:g}"
    order = np.argsort(columns["y"], kind="stable")
    whole = [", ".join(w for w in (name, words) if w) for name, words in zip(names, columns["hover"])]
    shared = _shared(columns["hover"])
    short = [", ".join(w for w in (n, _without(words, shared)) if w) for n, words in zip(names, columns["hover"])]
    # Names leave out the shared parameters only if they still distinguish the bars.
    names, columns["hover"] = short if len(set(short)) == len(set(whole)) else whole, whole
    columns = {name: np.asarray(values)[order] for name, values in columns.items()}
    ends = tuple(dict.fromkeys(words for s in drawn if s.low is not None for words in s.ends))
    note = " ".join(filter(None, [plot.note, "Squares: earlier runs." if any(columns["earlier"]) else ""]))
    series = [Series("", [names[i] for i in order], ends=ends, **columns)]
    return replace(plot, kind="bars", title=title, note=note, series=series)


def styled(series, methods, known=None):
    """Returns (series, colour or None, dash) for each series. Series with different labels differ in colour or dash.
    `methods`: name -> number, as `frames.methods` returns it. Series without a method get numbers that no method has.
    `known`: `Plot.dashes`, so that a label has one dash in several plots."""
    named = [s.of or OF_METHOD.match(s.label).group(1) if s.of or OF_METHOD.match(s.label) else s.label for s in series]
    keys = [None if s.plain else name if s.of or name in methods else s.label for s, name in zip(series, named)]
    numbers = {key: methods[key] for key in keys if key in methods}
    free_numbers = (i for i in itertools.count() if i not in set(numbers.values()))
    for key in keys:
        if key is not None and key not in numbers:
            numbers[key] = next(free_numbers)
    colours = {key: None if key is None else numbers[key] % COUNT for key in keys}
    dashes, used_dashes, with_first_dash = {}, {}, set()  # (key, label) -> dash; colour -> dashes in use; keys
    known = {} if known is None else known
    for (colour, *_), dash in known.items():
        used_dashes.setdefault(colour, set()).add(dash)

    def choose(key, s, least):
        """Gives a series the first dash, `least` or a later one, that its colour does not use yet. A known label keeps
        its dash."""
        used, place = used_dashes.setdefault(colours[key], set()), (colours[key], key, s.label)
        if place not in known:
            known[place] = next(i for i in itertools.count(least) if i not in used)
            used.add(known[place])
        dashes[key, s.label] = known[place]

    for key, s in zip(keys, series):  # a method's first series has the dash of its number, if that is free
        if key is not None and key not in with_first_dash and not s.dashed:
            with_first_dash.add(key)
            choose(key, s, numbers[key] // COUNT)
    for key, s in zip(keys, series):
        if (key, s.label) not in dashes:
            # The dashes of a method's further series come after the dash of its number.
            choose(key, s, max(int(s.dashed), numbers[key] // COUNT if key in with_first_dash else 0))
    if all(s.plain or not s.line for s in series):  # only marks distinguish series of a colour: uses the first marks
        for colour, used in used_dashes.items():
            place = {dash: i for i, dash in enumerate(sorted(used))}
            dashes.update({k: place[d] for k, d in dashes.items() if colours[k[0]] == colour})
    return [(s, colours[key], dashes[key, s.label]) for key, s in zip(keys, series)]


def _numbers(values):
    """Rounds to four digits, enough for a screen; unknown values become None."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def _whole(values):
    """Converts whole numbers to int, which JSON writes shorter, and rounds the others to six digits."""
    return [int(v) if v == int(v) else float(f"{v:.6g}") for v in map(float, values)]


def markup(plot, drawn, methods):
    """Returns the HTML of the plot. `plot`, `drawn`: as `Plot.drawable` returns them. `methods`: as for `styled`."""
    if plot.kind == "bars":
        return _bars(plot, drawn, methods)
    # The keys of the JSON are short, because a page may have many series: l label, c colour, d dash, lo and hi ends of
    # the error bars, h hollow, t the index of a point's text in `told`.
    texts, lines = {"": 0}, []
    for series, colour, variant in styled(drawn, methods, plot.dashes):
        line = {
            "l": series.label,
            "c": colour,
            "d": variant,
            "x": _whole(series.x),
            "y": _numbers(series.y),
            "line": bool(series.line and plot.kind == "lines" and plot.names is None or not series.marker),
        }
        for name, is_set in (("band", series.band), ("faint", series.faint), ("bare", not series.marker)):
            if is_set:
                line[name] = 1
        if series.low is not None and series.high is not None:
            line["lo"], line["hi"] = _numbers(series.low), _numbers(series.high)
        if series.hollow is not None and np.any(series.hollow):
            line["h"] = [int(h) for h in series.hollow]
        if series.hover is not None and any(series.hover):
            line["t"] = [texts.setdefault(str(word), len(texts)) for word in series.hover]
        lines.append(line)
    marked = [s.x for s in drawn if s.marker] or [s.x for s in drawn]
    x_values = np.unique(np.concatenate(marked).astype(float))
    data = {
        "x": plot.xlabel,
        "y": plot.ylabel,
        "xlog": plot.xlog,
        "ylog": plot.ylog,
        "unit": "s" if plot.seconds else "%" if plot.percent else "",
        "at": plot.lines_at,
        "ticks": _whole(x_values) if len(x_values) <= 14 and np.all(x_values == np.rint(x_values)) else None,
        "names": plot.names,
        "told": list(texts),
        "series": lines,
    }
    content = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="canvas" role="img" aria-label="{text(plot.title)}"></div><div class="legend"></div>'
        f'<script type="application/json">{content}</script>'
    )


def _bars(plot, drawn, methods):
    """Returns the HTML of bars, one row per name: on a logarithmic axis a mark at the value, else a bar from 0 to it. A
    single series has the colours of the rows' methods; several series have one colour each."""
    values = [np.asarray(v, dtype=float) for s in drawn for v in (s.y, s.low, s.high) if v is not None]
    all_values = np.concatenate(values)
    all_values = all_values[np.isfinite(all_values) & (all_values > 0 if plot.ylog else True)]
    low, high = (all_values.min() / 1.5 if plot.ylog else min(0, all_values.min())), all_values.max()
    high = max(1, high) if plot.percent and not plot.ylog else high  # fractions are drawn out of 100 %

    def place(value):
        """Returns the position of a value in percent of a row's width."""
        if plot.ylog:
            return 100 * np.log(max(value, low) / low) / np.log(high / low)
        return 100 * (value - low) / ((high - low) or 1)

    colours = [colour for _, colour, _ in styled(drawn, methods)]
    rows = {}
    for which, series in enumerate(drawn):
        for i, name in enumerate(series.x):
            full_name = str(series.hover[i]) if series.hover is not None else name
            rows.setdefault((name, full_name, 0 if series.label else i), []).append((which, series, i))
    parts = []
    for (label, full_name, _), cells in rows.items():
        tracks = []
        for which, series, i in cells:
            colour = colours[which] if len(drawn) > 1 else row_colour(label, methods)
            colour = "--fg" if colour is None else f"--c{colour}"
            tracks.append(f'<div style="--m:var({colour})">{_bar(series, i, plot.ylog, place)}</div>')
        words = ", ".join(plot.words()(float(series.y[i])) + _status(series, i) for _, series, i in cells)
        parts.append(
            f'<span title="{text(full_name)}">{text(label)}</span><div class="tracks">{"".join(tracks)}</div>'
            f"<b>{text(words)}</b>"
        )
    footer = "".join(
        f'<p class="none">For comparison, {text(words)}: {text(plot.words()(at))}</p>' for at, words in plot.lines_at
    )
    if len(drawn) > 1:
        keys = (f'<span style="--m:var(--c{c})">{text(s.label)}</span>' for c, s in zip(colours, drawn))
        footer += f'<div class="keys">{"".join(keys)}</div>'
    long = " long" if len(rows) > 24 else ""  # a longer list scrolls
    return f'<div class="bars{long}" role="img" aria-label="{text(plot.title)}">{"".join(parts)}</div>{footer}'


def row_colour(name, methods):
    """Returns the colour of a row in a list of bars: that of the method with which the row's name begins. Returns None
    if the name does not begin with a method."""
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


def _without(text, shared):
    """Returns the text without the shared parameters. The punctuation after a removed parameter moves to the word
    before it."""
    words = []
    for word in text.split():
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
