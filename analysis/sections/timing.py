"""Time and rate over size, speedup over a baseline and over a parameter, transfer against compute."""

import numpy as np
import pandas as pd

from ..frames import (
    AT_LARGEST,
    BOTH,
    COMPARED,
    DRAWN,
    LARGEST,
    RANGE,
    answered,
    at_largest,
    best,
    many,
    matrices,
    not_passed,
    numeric_parameters,
    other_settings,
    over,
    sampled,
    slug,
    speedups,
    terse,
)
from ..page import factor, seconds, whole
from ..plots import Plot, Series

TIMED = [*DRAWN, *"key seconds_q1 seconds_q3 gflops".split()]


def time_over_size(page, night):
    page.begin("time", "Time and rate over size")
    rows = night.answered(TIMED)
    if not len(rows):
        page.nothing("No trial returned an answer with a measured time.")
        return
    page.once(
        "Lines: each method in its fastest configuration that passed, medians with quartiles. Several seeds or"
        " repetitions give their median and full range. Small marks, or rows of their own: other configurations,"
        " earlier runs. Hollow marks: an answer did not pass."
        + (" n is the cube root of m·n·k." if (rows["problem"] == "gemm").any() else "")
    )
    every = rows
    if night.earlier is not None:
        before = answered(night.earlier[night.earlier["key"].isin(rows["key"])])
        every = pd.concat([rows.assign(ago=0), before], ignore_index=True, join="inner")
    batches = rows["batch"] > 1
    for several in sorted(batches.unique()):
        page.plots(
            figure
            for precision in sorted(rows.loc[batches == several, "precision"].unique())
            for figure in _over_size(*_some(rows, every, several, precision), several)
        )


def _some(rows, every, several, precision):
    """Returns the records of one precision, batches or single systems, without and with earlier runs."""
    some = [rows] if every is rows else [rows, every]
    some = [r[((r["batch"] > 1) == several) & (r["precision"] == precision)] for r in some]
    return some[0], some[-1]


def _over_size(own, all_of_them, batches):
    """Yields each plot of times, followed by the plot of the rates. `own`: the records of the last runs; `all_of_them`:
    also those of earlier runs, which only the plots of times show."""
    ends = ("seconds_median", "seconds_q1", "seconds_q3", True)
    time = over(
        all_of_them, "time", "Time", "median time of all" if batches else "median time", *ends, ylog=True, seconds=True
    )
    more = {"ylog": True, "per_time": True}
    if batches:
        each = {of: own["batch"] / own[f"seconds_{of}"] for of in ("median", "q3", "q1")}
        own = own.assign(systems=each["median"], systems_low=each["q3"], systems_high=each["q1"])
        rate = over(
            own, "systems", "Systems per second", "rate [1/s]", "systems", "systems_low", "systems_high", **more
        )
    else:
        own = own.assign(rate_low=_rate(own, "seconds_q3"), rate_high=_rate(own, "seconds_q1"))
        rate = over(own, "rate", "Rate", "rate [GFLOP/s]", "gflops", "rate_low", "rate_high", **more)
    for pair in zip(time, rate):
        yield from pair


def over_baseline(page, night, baseline=""):
    """Plots the speedup of all methods over the baseline, by default the vendor's method."""
    rows = night.answered([*DRAWN, "reference_method", "task", "backend"])
    name = baseline if baseline in set(rows["method"]) else vendor(rows)
    page.begin("baseline", f"Speedup over {name}" if name else "Speedup over the vendor's method")
    if not name:
        page.nothing("No vendor's method was measured for comparison.")
        return
    on = ["precision", "task", "size", "emulated"]  # emulated times are compared with one another only
    rows = rows.assign(emulated=rows["backend"] == "emulated")
    base = best(rows[rows["method"] == name], [*on, "device"])
    own = base.set_index([*on, "device"])["seconds_median"]
    fastest = base.groupby(on)["seconds_median"].min()  # used if the baseline did not run on a method's device
    times = own.reindex(pd.MultiIndex.from_frame(rows[[*on, "device"]])).to_numpy()
    elsewhere = fastest.reindex(pd.MultiIndex.from_frame(rows[on])).to_numpy()
    times = np.where(np.isnan(times), elsewhere, times)
    rows = rows.assign(gain=times / rows["seconds_median"])
    rows = rows[rows["gain"].notna() & (rows["method"] != name)]
    more = {
        "ylog": True,
        "per_time": True,
        "lines_at": [(1, name)],
        "point": f"the median time of {name} over that of the method, of {{samples}}",
    }
    page.plots(over(rows, slug("over", name), f"Speedup over {name}", f"speedup over {name}", "gain", **more))


def vendor(rows):
    """Returns the vendor's method with which records were compared, if it was measured. If there are several, that of
    the GPU is returned."""
    named = rows.loc[rows["reference_method"].isin(set(rows["method"])), ["reference_method", "backend"]]
    if not len(named):
        return ""
    return named.assign(cpu=named["backend"] != "cuda").sort_values("cpu", kind="stable")["reference_method"].iloc[0]


def _rate(rows, column):
    """Returns the rate for the time in `column`, computed from `gflops`, which is the rate for the median time."""
    return rows["gflops"] * rows["seconds_median"] / rows[column]


def speedup(page, night):
    page.begin("speedup", "Speedup by parameters")
    records = night.answered([*COMPARED, "convergence"])
    records = records[records["convergence"] == ""]  # the time of iterative methods depends on their iterations
    found = numeric_parameters(records)
    others = [name for name in found if name not in ("blocks", "threads")]
    for name in ["blocks", "threads", *others]:
        rows = speedups(records, name, found[name]) if name in found else ()
        if not len(rows):
            continue
        page.heading(f"By {name}")
        page.add(
            f"Compared with the same trial at the smallest measured value of {name}; bars: the interval by the"
            " quartiles of both times. Several seeds become a line of medians in a band."
        )
        drawn = page.plots(_speedup_plots(rows, name))
        if drawn:
            _speedup_table(page, rows, name)


def _speedup_plots(rows, name):
    """Yields one figure per (problem, precision, device), at the largest size with the most values of the parameter."""
    for (problem, precision, device), group in rows.groupby(["problem", "precision", "device"]):
        extent = group.groupby("size")["value"].nunique()
        size = extent[extent == extent.max()].index.max()
        group = group[group["size"] == size]
        which = group["matrix_name"] + np.where(group["operands"] == "", "", ", " + group["operands"])
        group = group.assign(which=which if many(which) else "")
        series = [
            _speedup_line(", ".join(filter(None, [method, terse(rest), which])), part, name)
            for (method, rest, which), part in group.groupby(["method", "rest", "which"])
        ]
        series.sort(key=lambda s: -len(s.x))
        yield Plot(
            slug("speedup", name, problem, precision, device),
            f"Speedup by {name}: {problem}, {precision}, n = {size}, {device}",
            name,
            "speedup",
            series,
            basis=f"{matrices(group)} Each point: the median time at the method's smallest value ({name} ="
            f" {' or '.join(f'{base:g}' for base in sorted(group['base'].unique()))}) over that at the value shown, of"
            f" {sampled(group)}.",
        )


def _speedup_line(label, rows, name):
    """Returns the line of a method on one matrix. Several seeds become their median, in a band of their range."""
    lines = [part.drop_duplicates("value").set_index("value") for _, part in rows.groupby("task")]
    rows = pd.concat(lines).assign(rank=lambda all_of: not_passed(all_of))
    by_value = rows.groupby(level=0)
    is_pooled = len(lines) > 1
    low, high = (
        (("speedup", "min"), ("speedup", "max")) if is_pooled else (("speedup_low", "min"), ("speedup_high", "max"))
    )
    found = by_value.agg(
        y=("speedup", "median"), low=low, high=high, rank=("rank", "max"), config=("config", "first")
    ).reset_index()
    return Series(
        label,
        *(found[column].to_numpy() for column in ("value", "y", "low", "high", "rank")),
        settings=other_settings(found["config"], name),
        band=is_pooled,
        ends=(RANGE,) if is_pooled else BOTH,
    )


def _speedup_table(page, rows, name):
    top = rows[rows["value"] != rows["base"]]
    top = top.assign(accepted=top["status"] == "pass").sort_values(
        ["accepted", "speedup"], ascending=False, kind="stable"
    )
    top = top.drop_duplicates(["problem", "precision", "device", "method"])
    top = top.sort_values(["problem", "precision", "device", "method"])
    page.table(
        slug("speedup", name),
        top,
        [
            "problem precision device method rest task size",
            ("base", f"{name} from", whole),
            ("value", "to", whole),
            ("speedup", "speedup", factor),
            ("speedup_low", "at least", factor),
            ("speedup_high", "at most", factor),
            "status",
        ],
        caption=f"The largest speedup by {name} of each method, of answers that passed if there are any.",
        also=(),
    )


def transfer(page, night):
    page.begin("transfer", "Transfer against compute")
    rows = night.answered([*DRAWN, *LARGEST, "task", "backend", "allocate_seconds", "h2d_seconds", "d2h_seconds"])
    rows = rows[rows["backend"] != "emulated"]  # their compute time says nothing about a GPU
    parts = rows[["allocate_seconds", "h2d_seconds", "d2h_seconds"]]
    rows = rows.assign(transfer=parts.sum(axis=1, min_count=1))
    rows = rows[rows["transfer"] > 0]
    if not len(rows):
        page.nothing("No record has transfer or allocation times.")
        return
    rows = rows.assign(transfer_share=rows["transfer"] / rows["seconds_median"])
    page.once(
        "Allocation and both transfers, once per trial, over the median time of the method. Above the line, moving"
        " the data takes longer than computing. For methods on the CPU these are copies within its memory."
    )
    more = {"ylog": True, "per_time": True, "lines_at": [(1, "equal")]}
    more["point"] = "allocation and both transfers, measured once, over the median time of {samples}"
    page.plots(over(rows, "transfer", "Transfer over compute", "transfer / compute", "transfer_share", **more))
    last = at_largest(rows).sort_values(["problem", "precision", "device", "method"])
    page.table(
        "transfer",
        last,
        [
            "problem precision device method task size",
            ("seconds_median", "compute", seconds),
            ("allocate_seconds", "allocate", seconds),
            ("h2d_seconds", "to the device", seconds),
            ("d2h_seconds", "back", seconds),
            ("transfer_share", "transfer / compute", factor),
        ],
        limit=60,
        caption=f"{AT_LARGEST}.",
        also=(),
    )
