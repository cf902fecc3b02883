"""Draws timelines: the phases of each rank and its device during a run, and the fraction of the time that was
measurement."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..page import percent, seconds, text, whole

# Phases in which the device works for a measurement.
BUSY = ("warmup", "timed", "verify", "stages", "reference")
# All phases in the order of a trial, as in driver/protocol/trial_record.cpp -> whether the phase is in BUSY.
PHASES = "wait prepare store inputs allocate upload warmup timed download verify stages reference compare".split()
PHASES = {phase: phase in BUSY for phase in PHASES}
COLOURS = {"timed": "#0072b2", "warmup": "#56b4e9", "verify": "#009e73", "stages": "#cc79a7", "reference": "#e69f00"}
IDLE = "#a6a6a6"
MOST_RUNS = 6  # runs with a drawing
MOST_LANES = 24  # lanes per drawing: one lane per rank
MOST_ROWS = 1_000_000  # rows of a CSV: 140 MB
AT_ONCE = 50_000  # trials whose phases are processed together
COLUMNS = ["run_id", "host", "rank", "gpu_name", "end_time"]
BINS = 1000  # bins into which the time of a run is divided; the drawing is BINS units wide
LANE, STEP = 16, 40  # units: height of a lane, and distance from one lane to the next


def intervals(records):
    """Returns one row per phase of a trial: run, host, rank, device, trial, phase, began, ended; seconds since 1970."""
    end_times = pd.to_datetime(records["end_time"], utc=True, errors="coerce")
    end_times = (end_times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    end_times = end_times.to_numpy()
    # A phase ends when the next one of its trial begins; the last phase ends with the trial.
    starts = records[[f"{phase}_began" for phase in PHASES]].to_numpy(float)
    order = np.argsort(starts, axis=1, kind="stable")  # unknown starts last
    began = np.take_along_axis(starts, order, axis=1)
    is_known = np.isfinite(began)
    trials = np.flatnonzero(is_known.any(axis=1))
    last = is_known[trials].sum(axis=1) - 1
    last_began = began[trials, last]
    ends = np.full_like(began, np.nan)
    ends[:, :-1] = began[:, 1:]
    ends[trials, last] = np.maximum(end_times[trials], last_began)
    # Leaves out trials whose recorded end is before the begin of their last phase: an older version recorded them, or
    # the clock was changed. The tolerance is for `end_time`, which is rounded to microseconds.
    is_known[trials[~(end_times[trials] >= last_began - 1e-5)]] = False
    trial, position = np.nonzero(is_known)
    trial_rows = records[["run_id", "host", "rank", "gpu_name"]].iloc[trial]
    return pd.DataFrame(
        {
            "run": trial_rows["run_id"].to_numpy(),
            "host": trial_rows["host"].to_numpy(),
            "rank": trial_rows["rank"].to_numpy(),
            "gpu": trial_rows["gpu_name"].to_numpy(),
            "trial": trial_rows.index,
            "phase": pd.Categorical.from_codes(order[trial, position], list(PHASES)),  # a byte per phase
            "began": began[trial, position],
            "ended": ends[trial, position],
        }
    )


@dataclass
class Lane:
    """The time of one rank in a run, as a lane of the drawing. Its device is busy in the phases of BUSY. If the rank
    has a GPU, phases of CPU methods do not count as busy."""

    run: str
    host: str
    rank: int
    gpu: str = ""  # the rank's first GPU; empty if it has none
    trials: int = 0
    first: float = np.inf  # begin of the first phase
    last: float = -np.inf  # end of the last phase
    share: dict = field(
        default_factory=dict
    )  # (phase or "methods on the CPU", whether busy) -> fraction of last - first
    taken: np.ndarray = None  # time per bin (row) and colour (column), in units of a bin
    several: bool = False  # whether the records have several runs

    @property
    def title(self):
        run = f", run {self.run[:8]}" if self.several else ""
        return f"{self.gpu or 'CPU'}, {self.host}, rank {self.rank}{run}"

    def busy(self, rows):
        """Returns a mask of the phases in which the device measured."""
        measures = rows["phase"].map(PHASES).astype(bool)
        return measures & (rows["gpu"] != "") if self.gpu else measures


def _pieces(records):
    """Yields (key of a lane, some of its phases). Works on AT_ONCE trials at a time, because a million trials have ten
    million phases."""
    for start in range(0, len(records), AT_ONCE):
        rows = intervals(records.iloc[start : start + AT_ONCE])
        yield from rows.groupby(["run", "host", "rank"], sort=False)


def _spans(records):
    """Maps (run, host, rank) to its lane, whose `first` and `last` are set."""
    lane_of = {}
    for key, rows in _pieces(records):
        lane = lane_of.setdefault(key, Lane(*key))
        lane.gpu = lane.gpu or next((gpu for gpu in rows["gpu"].unique() if gpu), "")
        lane.trials += rows["trial"].nunique()
        lane.first, lane.last = min(lane.first, rows["began"].min()), max(lane.last, rows["ended"].max())
    for lane in lane_of.values():
        lane.several = len({run for run, _, _ in lane_of}) > 1
    return lane_of


def lanes(records):
    """Returns a list with (lanes, their phases) of each run. The phases are None for runs beyond the first MOST_RUNS,
    and for runs with more than MOST_ROWS phases."""
    lane_of, runs = _spans(records), {}
    for lane in lane_of.values():
        runs.setdefault(lane.run, []).append(lane)
    phases_of = {run: [] for run in list(runs)[:MOST_RUNS]}
    for key, rows in _pieces(records):
        lane = lane_of[key]
        rows = rows.assign(busy=lane.busy(rows))
        _add(lane, rows, *_span(runs[lane.run]))
        if lane.run in phases_of:
            phases_of[lane.run].append(rows.assign(device=lane.title))
            if sum(map(len, phases_of[lane.run])) > MOST_ROWS:
                del phases_of[lane.run]
    for group in runs.values():
        group.sort(key=lambda lane: (lane.host, lane.rank))
    return [(group, _in_order(phases_of[run], group) if run in phases_of else None) for run, group in runs.items()]


def timeline(page, results):
    page.begin("timeline", "Timeline")
    runs = lanes(results.take([*COLUMNS, *(f"{phase}_began" for phase in PHASES)]))
    if not runs:
        page.remark("No record has the start of its phases: it is from an earlier version, or its worker ended.")
        return
    page.add(
        "The phases of each device, from the first trial of its run to the last. In colour: measurements. Grey: all"
        " else, including waiting, and methods on the CPU, when the GPU was idle. Empty: nothing is recorded."
    )
    for group, rows in runs[:MOST_RUNS]:
        rows = _as_drawn(group) if rows is None else rows
        page.drawing("timeline", "The phases of every trial over time.", _svg(group[:MOST_LANES]), rows)
    every = [lane for group, _ in runs for lane in group]
    left = len(every) - sum(min(len(group), MOST_LANES) for group, _ in runs[:MOST_RUNS])
    if left > 0:
        page.remark(f"Devices left out of the drawings: {left}. The table has all of them.")
    page.table(
        "busy",
        pd.DataFrame([_row(lane) for lane in every]),
        [("device", "device", None), ("trials", "trials", whole), ("span", "span", seconds), ("busy", "busy", percent)]
        + [(phase, phase, percent) for phase in COLOURS]
        + [("otherwise", "otherwise", None)],
        caption="Fractions of the time from the first trial to the last.",
    )


def _in_order(pieces, group):
    """Joins pieces of phases and sorts them by lane."""
    rows = pd.concat(pieces)
    lane_number = rows["device"].map({lane.title: i for i, lane in enumerate(group)})
    return rows.iloc[np.argsort(lane_number.to_numpy(), kind="stable")]


def _as_drawn(group):
    """Returns the drawn bars as rows of the CSV, for runs whose phases are too many for it."""
    first, span = _span(group)
    words = {**{colour: phase for phase, colour in COLOURS.items()}, IDLE: "else"}
    return pd.DataFrame(
        [
            (lane.title, first + begin * span / BINS, first + end * span / BINS, words[colour])
            for lane in group
            for begin, end, colour in _fill(lane.taken)
        ],
        columns=["device", "began", "ended", "phase"],
    )


def _row(lane):
    """Returns a device's row of the table."""
    other = {kind: part for (kind, busy), part in lane.share.items() if not busy}
    return {
        "device": lane.title,
        "trials": lane.trials,
        "span": lane.last - lane.first,
        "busy": sum(part for (_, busy), part in lane.share.items() if busy),
        **{phase: lane.share.get((phase, True), 0.0) for phase in COLOURS},
        "otherwise": ", ".join(
            f"{kind} {percent(part)}"
            for kind, part in sorted(other.items(), key=lambda item: -item[1])
            if part >= 0.005
        ),
    }


def _add(lane, rows, first, span):
    """Adds phases to `share` and `taken` of a lane. `first`, `span`: begin and length of the run, which the bins
    divide."""
    durations, lane_span = rows["ended"] - rows["began"], lane.last - lane.first
    is_cpu_method = rows["phase"].map(PHASES).astype(bool) & ~rows["busy"]
    kinds = rows["phase"].astype(object).where(~is_cpu_method, "methods on the CPU")
    share = durations / lane_span if lane_span > 0 else durations * np.nan
    for kind, part in share.groupby([kinds, rows["busy"]]).sum().items():
        lane.share[kind] = lane.share.get(kind, 0.0) + part
    if lane.taken is None:
        lane.taken = np.zeros((BINS, len(COLOURS) + 1))
    colour = {phase: i for i, phase in enumerate(COLOURS)}
    # Per phase: the index of its colour, or len(COLOURS) for grey.
    kind = np.where(rows["busy"], rows["phase"].map(colour).astype(float), len(COLOURS)).astype(int)
    begin, end = ((rows[name].to_numpy() - first) / span * BINS for name in ("began", "ended"))
    low, high = begin.astype(int), np.minimum(end.astype(int), BINS - 1)
    for i in range(len(COLOURS) + 1):
        is_colour = kind == i
        start, stop, first_bin, last_bin = begin[is_colour], end[is_colour], low[is_colour], high[is_colour]
        # A phase adds its time in the bin in which it begins and in the bin in which it ends, and 1 per bin between
        # them. For these 1s, `steps` has +1 at the first bin between, and -1 at the bin of the end. Its running sum is
        # the number of phases that cover a whole bin.
        taken = np.bincount(first_bin, np.minimum(stop, first_bin + 1) - start, BINS + 1)
        later = last_bin > first_bin
        taken += np.bincount(last_bin[later], stop[later] - last_bin[later], BINS + 1)
        steps = np.bincount(first_bin[later] + 1, minlength=BINS + 1) - np.bincount(last_bin[later], minlength=BINS + 1)
        lane.taken[:, i] += (taken + np.cumsum(steps))[:BINS]


def _fill(taken):
    """Yields (begin, end, colour) of the bars, in bins. A bin has the colour with most time; bins of equal colour are
    joined."""
    colours = [*COLOURS.values(), IDLE]
    most = np.where(taken.sum(axis=1) > 0, taken.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(most)) + 1
    for begin, end in zip([0, *edges], [*edges, BINS]):
        if most[begin] >= 0:
            yield begin, end, colours[most[begin]]


def _span(group):
    """Returns the begin and the length of the time that the lanes cover. The length is never 0, because callers divide
    by it."""
    first = min(lane.first for lane in group)
    return first, max(max(lane.last for lane in group) - first, 1e-9)


def _svg(group):
    """Returns the SVG of the lanes over a common time axis."""
    _, span = _span(group)
    height = STEP * len(group) + 50
    parts = []
    for number, lane in enumerate(group):
        y = STEP * number + 14
        parts.append(f'<text x="0" y="{y}">{text(lane.title)}</text>')
        parts += [
            f'<rect x="{begin}" y="{y + 5}" width="{end - begin}" height="{LANE}" fill="{colour}"/>'
            for begin, end, colour in _fill(lane.taken)
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
