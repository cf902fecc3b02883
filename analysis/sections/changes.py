"""What is another than in the last run of the same plan."""

import numpy as np
import pandas as pd

from ..comparison import Unjudged, changes_over, verdicts_of
from ..frames import answered, best, slug
from ..loader import STATUSES
from ..page import factor, seconds, whole
from ..plots import Plot, Series

TRIAL = ["key", "backend", "gpu_name", "capability", "host", "plan_name"]
LEAST_RUNS = 3  # from which on there is a trend
MOST_CHANGES = 3  # on the first screen


def changes(night):
    """One row a trial that ran before too: its status and median then and now, and what `gaussweep compare` says of the
    times; where that cannot be asked, why is in `attrs`."""
    if night.earlier is None:
        return pd.DataFrame()
    kept = ["status", "seconds_median"]
    before = night.earlier.loc[night.earlier["ago"] == 1, [*TRIAL, *kept]]
    both = night.records.merge(before, on=TRIAL, suffixes=("", "_before"))
    rank = {status: i for i, status in enumerate(STATUSES)}
    now, then = both["status"].map(rank), both["status_before"].map(rank)
    ratio = both["seconds_median"] / both["seconds_median_before"]
    both["ratio"] = ratio
    both["change"] = "same"
    try:
        said = verdicts_of(night)
    except Unjudged as why:
        both.attrs["unjudged"] = str(why)
        said = {}
    for row, key, backend, gpu in zip(both.index, both["key"], both["backend"], both["gpu_name"]):
        verdict = said.get((key, backend, gpu if backend == "cuda" else None))
        if verdict in ("SLOWER", "FASTER"):
            both.loc[row, "change"] = verdict.lower()
    both.loc[(now < then) & (both["status"] == "pass"), "change"] = "passes now"
    both.loc[(now > then) & (both["status"] != "skipped"), "change"] = "worse"
    return both


def sentences(night):
    """For the first screen."""
    rows = changes(night)
    if not len(rows):
        return
    count = rows["change"].value_counts()
    words = [
        f"{count[c]} {c}{_farthest(rows[rows['change'] == c])}"
        for c in ("worse", "slower", "faster", "passes now", "same")
        if c in count
    ]
    unjudged = f" Times were not compared: {rows.attrs['unjudged']}." if "unjudged" in rows.attrs else ""
    yield f"Since the last run of the same plan: of {len(rows)} trials {', '.join(words)}.{unjudged}", "changes"
    try:
        over = changes_over(night)
    except Unjudged:  # said already
        return
    for sentence in over[:MOST_CHANGES]:
        yield f"{sentence}.", "changes"
    if len(over) > MOST_CHANGES:
        yield f"So changed {len(over) - MOST_CHANGES} more trials (gaussweep trend names them).", "changes"


def _farthest(rows):
    """In brackets the trials that are slower or faster by most, at most two."""
    if rows["change"].iloc[0] not in ("slower", "faster"):
        return ""
    far = rows.assign(far_=np.maximum(rows["ratio"], 1 / rows["ratio"])).sort_values("far_", ascending=False)
    names = [f"{r.problem}/{r.method} {r.precision} n = {r.size} {factor(r.far_)}" for r in far.head(2).itertuples()]
    return f" ({', '.join(names)}{', …' if len(rows) > 2 else ''})"


def table(page, night):
    """The trials that changed, the worst first."""
    rows = changes(night)
    rows = rows[rows["change"] != "same"] if len(rows) else rows
    if not len(rows):
        return
    order = {"worse": 0, "slower": 1, "passes now": 2, "faster": 3}
    rows = rows.assign(order_=rows["change"].map(order), far_=-(rows["ratio"] - 1).abs())
    rows = rows.sort_values(["order_", "far_"], kind="stable").drop(columns=["order_", "far_"])
    page.begin("changes", "Since the last run")
    page.table(
        "changes",
        rows,
        [
            ("change", "change", None),
            ("problem", "problem", None),
            ("method", "method", None),
            ("precision", "precision", None),
            ("config", "with", None),
            ("task", "matrix", None),
            ("size", "n", whole),
            ("device", "device", None),
            ("status_before", "was", None),
            ("status", "is", None),
            ("seconds_median_before", "median before", seconds),
            ("seconds_median", "now", seconds),
            ("ratio", "now / before", factor),
        ],
        limit=30,
        caption=("Trials whose status changed, or whose times gaussweep compare calls SLOWER or FASTER."),
        also=(),
    )


def _unit(span):
    """In which a span of seconds is told."""
    return next(
        (u, s) for u, s in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)) if span >= 2 * s or s == 60
    )


def followed(night, least=LEAST_RUNS):
    """The fastest trial of each problem, precision and device at its largest size, a row a run of it in which it passed
    (`at`: when), where its plan was run that often; the last run is that of `night.records`."""
    race = ["problem", "precision", "device"]
    shown = [*TRIAL, "start_time", "seconds_median"]
    if night.earlier is None:
        return pd.DataFrame(columns=[*shown, *race, "method", "size", "at"])
    before = night.earlier.loc[night.earlier["status"] == "pass", shown]
    often = before.groupby(TRIAL).size()
    often = often[often >= least - 1].reset_index()[TRIAL]
    now = answered(night.records).merge(often, on=TRIAL)
    now = now[(now["status"] == "pass") & (now["size"] == now.groupby(race)["size"].transform("max"))]
    leading = best(now, race)[[*TRIAL, *race, "method", "size", "start_time", "seconds_median"]]
    told = leading.drop(columns=["start_time", "seconds_median"]).merge(before, on=TRIAL)
    told = pd.concat([told, leading])
    told = told[told["seconds_median"] > 0].assign(at=pd.to_datetime(told["start_time"], errors="coerce", utc=True))
    return told.dropna(subset=["at"]).sort_values("at", kind="stable")


def trend(page, night):
    """How the fastest trial of each problem at its largest size did from run to run, where there are three or more."""
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
            )
        )
    page.begin("trend", "From run to run")
    page.add(
        "The fastest trial of each problem, precision and device at its largest size, in every run of its plan that is"
        " here (--problem and --method choose others)."
    )
    page.plots(figures)
