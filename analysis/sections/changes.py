"""Differences from the earlier runs of the same plan."""

import numpy as np
import pandas as pd

from ..comparison import Unjudged, advice_of, regressions_of, trend_of, verdicts_of
from ..frames import best, matrices, slug
from ..loader import STATUSES, TRIAL
from ..page import counted, factor, seconds
from ..plots import Plot, Series

SAME_TRIAL = [*TRIAL, "threads"]  # a trend needs equal numbers of threads
CHANGED = [*TRIAL, *"gpu_name problem method precision config task size device status seconds_median".split()]
LEAST_RUNS = 3  # runs of a plan that make a trend
MOST_CHANGES = 3  # changes on the first screen
OTHER_THREADS = (
    "Methods of the CPU ran with different numbers of threads. Their times are compared only between runs with the same"
    " number."
)
MOST_DRAWN = 12  # plots of trials that changed
MOST_REGRESSIONS = 5  # regressions that are named
VERDICTS = ["SAME", "FASTER", "SLOWER", "UNCLEAR", "HOST-BOUND", "UNTIMED"]  # of `gaussweep compare`
LOUD = ["WORSE", "SLOWER", "passes now", "FASTER"]  # only these are in the table of changes, in this order


def changes(night):
    """Returns one row per trial that also ran before: its status and median before and now, and the verdict of
    `gaussweep compare` against all earlier runs. If compare cannot run, `attrs` has the reason."""
    if night.earlier is None:
        return pd.DataFrame()
    kept = ["status", "seconds_median"]
    before = night.earlier.loc[night.earlier["ago"] == 1, [*TRIAL, *kept]]
    both = night.take(CHANGED).merge(before, on=TRIAL, suffixes=("", "_before"))
    rank = {status: i for i, status in enumerate(STATUSES)}  # a larger number is a worse status
    both["ratio"] = both["seconds_median"] / both["seconds_median_before"]
    both["change"], both["reason"] = "", ""
    try:
        said = verdicts_of(night)
    except Unjudged as why:
        both.attrs["unjudged"] = str(why)
        said = {}
    for row in both.itertuples():
        now, then = rank.get(row.status, 0), rank.get(row.status_before, 0)
        is_worse = now > then and row.status != "skipped"
        told = said.get((row.key, row.backend, row.gpu_name if row.backend == "cuda" else None))
        if told is not None:
            is_worse = told["worse"]
            both.loc[row.Index, ["change", "reason"]] = told["verdict"], told["reason"]
            if told["speedup"]:
                both.loc[row.Index, ["seconds_median_before", "ratio"]] = told["base_median"], 1 / told["speedup"]
        if is_worse:
            both.loc[row.Index, "change"] = "WORSE"
        elif now < then and row.status == "pass":
            both.loc[row.Index, "change"] = "passes now"
    return both


def sentences(night):
    """Yields sentences for the first screen."""
    rows = changes(night)
    if not len(rows):
        return
    runs = int(night.earlier["ago"].max())
    since = "the last run" if runs == 1 else f"the {runs} earlier runs"
    texts = {}
    for _, attributes, _ in night.files:
        texts.setdefault(attributes.get("plan_name"), set()).add(attributes.get("plan"))
    plan = "the plan, whose text changed" if any(len(of) > 1 for of in texts.values()) else "the same plan"
    yield f"Since {since} of {plan}: {_counts(night, rows)}", "changes"
    for sentence in advice_of(night)[:1]:
        yield sentence, "changes"
    try:
        over = trend_of(night)["changes"]
    except Unjudged:  # reported above
        return
    if trend_of(night).get("other_threads"):
        yield OTHER_THREADS, ""
    for sentence in over[:MOST_CHANGES]:
        yield f"{sentence}.", "since"
    if len(over) > MOST_CHANGES:
        yield f"{counted(len(over) - MOST_CHANGES, 'more trial')} changed (gaussweep trend names them).", "since"


def since(page, night):
    """Plots the times of the trials that changed according to `gaussweep trend`, over the nights."""
    if night.earlier is None:
        return
    try:
        said = trend_of(night)
    except Unjudged:  # reported on the first screen
        return
    changed = [series for series in said["series"] if series["steps"] or "drift" in series]
    if not changed:
        return
    days = [told["began"][:10] for told in said["nights"]]
    page.begin("since", "Since when")
    page.items([(f"{sentence}.", "") for sentence in said["changes"][:30]])
    size = {id(s): max(abs(np.log(step["ratio"])) for step in [*s["steps"], s.get("drift")] if step) for s in changed}
    changed.sort(key=lambda series: -size[id(series)])
    page.plots([_over_nights(series, days) for series in changed[:MOST_DRAWN]])
    if len(changed) > MOST_DRAWN:
        page.add(f"{counted(len(changed) - MOST_DRAWN, 'more trial')} changed; those that changed most are drawn.")


def _over_nights(series, days):
    """Returns the plot of a trial's times by night. Its line shows the median level before and after each step, or the
    slow drift."""
    nights, times = np.asarray(series["nights"]), np.asarray(series["seconds"], dtype=float)
    starts = [0, *(int(np.flatnonzero(nights == step["night"])[0]) for step in series["steps"]), len(nights)]
    levels = np.concatenate([np.full(e - b, np.median(times[b:e])) for b, e in zip(starts, starts[1:])])
    told = [""] * len(nights)
    for step in series["steps"]:
        told[int(np.flatnonzero(nights == step["night"])[0])] = f"{100 * (step['ratio'] - 1):+.1f} % since this night"
    if "drift" in series:
        levels = np.exp(np.polyval(np.polyfit(nights, np.log(times), 1), nights))
    x, y = np.repeat(nights, 2)[1:].astype(float), np.repeat(levels, 2)[:-1]  # a corner at every night
    name = f"{series['problem']}/{series['method']} {series['precision']} n = {series['n']}"
    by = "GPU alone" if series["clock"] == "GPU" else "run"
    return Plot(
        slug("since", series["problem"], series["method"], series["key"][:12], series["place"]),
        f"{name}, {series['place']}",
        "night",
        f"median time ({by})",
        [
            Series(f"{series['method']}, a night each", nights.astype(float), times, line=False, told=told),
            Series("before and after" if series["steps"] else "slow drift", x, y, marker=False, plain=True),
        ],
        xlog=False,
        seconds=True,
        names=days,
    )


def _has_failed_in_both(trial):
    """Returns whether neither run gave a correct answer; `gaussweep compare` does not rate such a trial."""
    return not {trial["base_status"], trial["new_status"]} & {"pass", "suspect", "skipped"}


def _counts(night, rows):
    """Returns counts of verdicts, and the regressions as `gaussweep compare` words them."""
    try:
        said, regressions = verdicts_of(night), regressions_of(night)
    except Unjudged as why:
        worse = int((rows["change"] == "WORSE").sum())
        return f"{counted(len(rows), 'trial')} in both, {worse} WORSE. Times were not compared: {why}."
    kinds = ["failed" if _has_failed_in_both(told) else told["verdict"] for told in said.values()]
    count = pd.Series(kinds).value_counts()
    names = {"UNTIMED": "without times", "failed": "failed in both (not rated)"}
    words = ", ".join(f"{count[v]} {names.get(v, v)}" for v in [*VERDICTS, "failed"] if v in count)
    named = "; ".join(regressions[:MOST_REGRESSIONS])
    more = len(regressions) - MOST_REGRESSIONS
    decided = int(count.drop(["UNCLEAR", "UNTIMED", "failed"], errors="ignore").sum())
    none = f"No regression among {counted(decided, 'decided trial')}" if decided else "No trial was decided"
    told = f"{counted(len(regressions), 'regression')}: {named}" if regressions else none
    return f"{counted(len(said), 'trial')} in both: {words}. {told}{f'; and {more} more' if more > 0 else ''}."


def table(page, night):
    """Adds the table of trials that changed, the worst first."""
    rows = changes(night)
    rows = rows[rows["change"].isin(LOUD)] if len(rows) else rows
    if not len(rows):
        return
    rows = rows.assign(order_=rows["change"].map(LOUD.index), far_=-(rows["ratio"] - 1).abs())
    rows = rows.sort_values(["order_", "far_"], kind="stable").drop(columns=["order_", "far_"])
    page.begin("changes", "Against earlier runs")
    page.table(
        "changes",
        rows,
        [
            "change reason problem method precision config task size device",
            ("status_before", "was", None),
            ("status", "is", None),
            ("seconds_median_before", "median before", seconds),
            ("seconds_median", "now", seconds),
            ("ratio", "now / before", factor),
        ],
        limit=30,
        caption=(
            "Trials whose status changed, or that gaussweep compare calls SLOWER or FASTER, against all earlier runs."
        ),
        also=(),
    )


def _unit(span):
    """Returns the largest unit of which a span of seconds has at least two, else minutes: (name, seconds)."""
    return next(
        (u, s) for u, s in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)) if span >= 2 * s or s == 60
    )


def followed(night, least=LEAST_RUNS):
    """Returns the fastest trial of each problem, precision and device at its largest size, with one row per run in
    which it passed with the same number of threads (`at`: when). Trials with fewer than `least` rows are left out. The
    last row is of the night's own run. `attrs["left_out"]`: the number of times with other numbers of threads."""
    race = ["problem", "precision", "device"]
    shown = [*SAME_TRIAL, "start_time", "seconds_median"]
    if night.earlier is None:
        return pd.DataFrame(columns=[*shown, *race, "method", "size", "at"])
    before = night.earlier.loc[night.earlier["status"] == "pass", shown]
    often = before.groupby(SAME_TRIAL).size()
    often = often[often >= least - 1].reset_index()[SAME_TRIAL]
    named = [*shown, *race, "method", "size", "matrix_full", "matrix_seed", "operands", "uplo"]
    now = night.answered([*named, "status"]).merge(often, on=SAME_TRIAL)
    now = now[(now["status"] == "pass") & (now["size"] == now.groupby(race)["size"].transform("max"))]
    leading = best(now, race)[named]
    told = leading.drop(columns=["start_time", "seconds_median"]).merge(before, on=SAME_TRIAL)
    left_out = len(leading[TRIAL].merge(before[TRIAL], on=TRIAL)) - len(told)
    told = pd.concat([told, leading])
    told = told[told["seconds_median"] > 0].assign(at=pd.to_datetime(told["start_time"], errors="coerce", utc=True))
    told = told.dropna(subset=["at"]).sort_values("at", kind="stable")
    told.attrs["left_out"] = left_out
    return told


def left_out_words(told):
    """Returns a sentence about the times that `followed` left out; an empty text if there are none."""
    count = told.attrs.get("left_out", 0)
    return f"Left out: {counted(count, 'time')} with another number of threads, which do not compare." if count else ""


def too_few_words(night):
    """Returns a sentence that explains why a night has no trend."""
    words = "No trial passed in three runs of its plan"
    if night.earlier is None:
        return f"{words}."
    now, before = (sorted(set(rows["threads"]) - {0}) for rows in (night.take("threads"), night.earlier))
    others = [threads for threads in before if threads not in now]
    if not others:
        return f"{words}."
    named = [" or ".join(map(str, threads)) for threads in (now, others)]
    return f"{words} with the threads per rank of the last run ({named[0]}; earlier runs had {named[1]})."


def trend(page, night):
    """Plots the fastest trial of each problem at its largest size over the runs, if there are three or more."""
    told = followed(night)
    if not len(told):
        return
    figures = []
    for (problem, device), group in told.groupby(["problem", "device"]):
        begun = group["at"].min()
        unit, seconds_of_it = _unit((group["at"].max() - begun).total_seconds())
        series = [
            Series(
                f"{method}, {precision}, n = {size}",
                ((part["at"] - begun).dt.total_seconds() / seconds_of_it).to_numpy(),
                (part["seconds_median"] / part["seconds_median"].iloc[0]).to_numpy(),
            )
            for (method, precision, size), part in group.groupby(["method", "precision", "size"])
        ]
        figures.append(
            Plot(
                slug("trend", problem, device),
                f"From run to run: {problem}, {device}",
                f"{unit} since {begun:%Y-%m-%d %H:%M} UTC",
                "median time / the first run's",
                series,
                ylog=True,
                xlog=False,
                lines_at=[(1, "as the first")],
                basis=f"{matrices(group)} Each point: the median of one run, divided by the first run's.",
            )
        )
    page.begin("trend", "From run to run")
    page.add(
        "The fastest trial of each problem, precision and device at its largest size, in every run of its plan."
        " --problem and --method choose others. " + left_out_words(told)
    )
    page.plots(figures)
