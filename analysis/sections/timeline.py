"""What each device did when: its phases along the time of its run, and how much of it was measurement."""

import numpy as np
import pandas as pd

from ..page import percent, seconds, text, whole

# In the order of a trial; as driver/protocol/phases.cpp has them. True: the device was at work for a measurement.
PHASES = {
    "wait": False,
    "prepare": False,
    "store": False,
    "inputs": False,
    "allocate": False,
    "upload": False,
    "warmup": True,
    "timed": True,
    "download": False,
    "verify": True,
    "stages": True,
    "reference": True,
    "compare": False,
}
COLOURS = {"timed": "#0072b2", "warmup": "#56b4e9", "verify": "#009e73", "stages": "#cc79a7", "reference": "#e69f00"}
IDLE = "#a6a6a6"
MOST_LANES, MOST_RUNS = 24, 6
MOST_ROWS = 1_000_000  # of a CSV: 140 MB
BINS, LANE, STEP = 1000, 16, 40  # a bin is as wide as a unit of the drawing


def intervals(records):
    """One row a phase of a trial: run, host, rank, device, trial, phase, began, ended; seconds since 1970."""
    ended = pd.to_datetime(records["end_time"], utc=True, errors="coerce")
    ended = (ended - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    ended = ended.to_numpy()
    starts = records[[f"{phase}_began" for phase in PHASES]].to_numpy(float)
    order = np.argsort(starts, axis=1, kind="stable")  # unknown ones last
    began = np.take_along_axis(starts, order, axis=1)
    known = np.isfinite(began)
    trials = np.flatnonzero(known.any(axis=1))
    last = known[trials].sum(axis=1) - 1
    latest = began[trials, last]
    ends = np.full_like(began, np.nan)
    ends[:, :-1] = began[:, 1:]
    ends[trials, last] = np.maximum(ended[trials], latest)
    known[trials[~(ended[trials] >= latest - 1e-5)]] = False  # of an older version, or the clock was set
    trial, place = np.nonzero(known)
    of_trial = records[["run_id", "host", "rank", "gpu_name"]].iloc[trial]
    return pd.DataFrame(
        {
            "run": of_trial["run_id"].to_numpy(),
            "host": of_trial["host"].to_numpy(),
            "rank": of_trial["rank"].to_numpy(),
            "gpu": of_trial["gpu_name"].to_numpy(),
            "trial": of_trial.index,
            "phase": pd.Categorical.from_codes(order[trial, place], list(PHASES)),  # a byte each, of ten million
            "began": began[trial, place],
            "ended": ends[trial, place],
        }
    )


def lanes(rows):
    """(title, rows) of each rank of each run, the phases of the CPU's methods beside a GPU marked in `busy`."""
    several = rows["run"].nunique() > 1
    for (run, host, rank), lane in rows.groupby(["run", "host", "rank"], sort=False):
        gpus = [g for g in lane["gpu"].unique() if g]
        device = gpus[0] if gpus else "CPU"
        beside = (lane["gpu"] == "") if gpus else False
        busy = lane["phase"].map(PHASES).astype(bool) & ~beside
        title = f"{device}, {host}, rank {rank}" + (f", run {run[:8]}" if several else "")
        yield title, lane.assign(busy=busy)


def timeline(page, night):
    page.begin("timeline", "Timeline")
    rows = intervals(night.records)
    if not len(rows):
        page.nothing("No record says when its phases began: they are of an earlier version, or their workers ended.")
        return
    page.add(
        "What each device did, from the first trial of its run to the last. In colour: measurements. Grey: all else,"
        " including waiting, and methods of the CPU, when the GPU was idle. Empty: nothing is recorded."
    )
    table, drawn = [], {}
    for title, lane in lanes(rows):
        table.append(_row(title, lane))
        drawn.setdefault(lane["run"].iloc[0], []).append((title, lane))
    for number, group in enumerate(drawn.values()):
        if number < MOST_RUNS:
            page.drawing("timeline", "The phases of every trial over time.", _svg(group[:MOST_LANES]), _rows(group))
    left = len(table) - sum(min(len(group), MOST_LANES) for group in list(drawn.values())[:MOST_RUNS])
    if left > 0:
        page.nothing(f"Devices left out of the drawings: {left}. The table has all of them.")
    page.table(
        "busy",
        pd.DataFrame(table),
        [("device", "device", None), ("trials", "trials", whole), ("span", "span", seconds), ("busy", "busy", percent)]
        + [(phase, phase, percent) for phase in COLOURS]
        + [("otherwise", "otherwise", None)],
        caption="Shares of the span from the first trial to the last.",
    )


def _rows(group):
    """What the CSV holds: every phase, of very many as they are drawn."""
    if sum(len(lane) for _, lane in group) <= MOST_ROWS:
        return pd.concat([lane.assign(device=title) for title, lane in group])
    first, span = _span(group)
    words = {**{colour: phase for phase, colour in COLOURS.items()}, IDLE: "else"}
    return pd.DataFrame(
        [
            (title, first + begin * span / BINS, first + end * span / BINS, words[colour])
            for title, lane in group
            for begin, end, colour in _fill(lane, first, span)
        ],
        columns=["device", "began", "ended", "phase"],
    )


def _row(title, lane):
    """A device's line in the table."""
    spent = lane["ended"] - lane["began"]
    span = lane["ended"].max() - lane["began"].min()
    share = spent / span if span > 0 else spent * np.nan
    beside = lane["phase"].map(PHASES).astype(bool) & ~lane["busy"]
    kinds = lane["phase"].astype(object).where(~beside, "methods of the CPU")
    idle = share[~lane["busy"]].groupby(kinds).sum().sort_values(ascending=False)
    return {
        "device": title,
        "trials": lane["trial"].nunique(),
        "span": span,
        "busy": share[lane["busy"]].sum(),
        **{phase: share[lane["busy"] & (lane["phase"] == phase)].sum() for phase in COLOURS},
        "otherwise": ", ".join(f"{phase} {percent(part)}" for phase, part in idle.items() if part >= 0.005),
    }


def _fill(lane, first, span):
    """(begin, end, colour) in bins: in each bin what took most of it, neighbours alike joined."""
    colours = [*COLOURS.values(), IDLE]
    taken = np.zeros((BINS, len(colours)))
    names = list(COLOURS)
    for began, ended, phase, busy in lane[["began", "ended", "phase", "busy"]].itertuples(index=False):
        kind = names.index(phase) if busy else len(names)
        begin, end = (began - first) / span * BINS, (ended - first) / span * BINS
        for place in range(int(begin), min(int(end), BINS - 1) + 1):
            taken[place, kind] += max(0.0, min(end, place + 1) - max(begin, place))
    most = np.where(taken.sum(axis=1) > 0, taken.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(most)) + 1
    for begin, end in zip([0, *edges], [*edges, BINS]):
        if most[begin] >= 0:
            yield begin, end, colours[most[begin]]


def _span(group):
    first = min(lane["began"].min() for _, lane in group)
    return first, max(max(lane["ended"].max() for _, lane in group) - first, 1e-9)


def _svg(group):
    """A lane a device, over one axis of time."""
    first, span = _span(group)
    height = STEP * len(group) + 50
    parts = []
    for number, (title, lane) in enumerate(group):
        y = STEP * number + 14
        parts.append(f'<text x="0" y="{y}">{text(title)}</text>')
        parts += [
            f'<rect x="{begin}" y="{y + 5}" width="{end - begin}" height="{LANE}" fill="{colour}"/>'
            for begin, end, colour in _fill(lane, first, span)
        ]
    y = STEP * len(group) + 16
    parts.append(f'<text x="0" y="{y}">0</text><text x="{BINS}" y="{y}" text-anchor="end">{text(seconds(span))}</text>')
    x = 0
    for name, colour in [*COLOURS.items(), ("else", IDLE)]:
        parts.append(f'<rect x="{x}" y="{y + 12}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17}" y="{y + 23}">{name}</text>')
        x += 120
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {BINS} {height}"'
        f' font-size="13" fill="currentColor" role="img"><title>Timeline</title>{"".join(parts)}</svg>'
    )
