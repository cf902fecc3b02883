"""Shows times and rates over size, speedups over a baseline and by a parameter, and transfers compared with
computing."""

from itertools import zip_longest

import numpy as np
import pandas as pd

from ..captions import is_rectangular, speedup_basis
from ..frames import (
    AT_LARGEST,
    RATIO_INTERVAL,
    COMPARED,
    DRAWN,
    LARGEST,
    POOLED_RANGE,
    answered,
    at_largest,
    best,
    brief,
    has_several,
    numeric_parameters,
    other_settings,
    plots_over_size,
    slug,
    speedups,
    terse,
    verdict_rank,
)
from ..page import factor, seconds, whole
from ..plots import Plot, Series

COLUMNS = [*DRAWN, *"same_trial seconds_q1 seconds_q3 gflops".split()]


def time_over_size(page, results):
    page.begin("time", "Time and rate over size")
    rows = results.take_answered(COLUMNS)
    if not len(rows):
        page.remark("No trial returned an answer with a measured time.")
        return
    quartiles = " with quartiles" if (rows["seconds_q3"] > rows["seconds_q1"]).any() else ""
    page.add_once(
        f"Lines: each method in its fastest configuration that passed, medians{quartiles}. Several seeds or"
        " repetitions give the median and full range of those with the best verdict. Small marks, or rows of their own:"
        " other configurations, earlier runs. Hollow marks: an answer did not pass."
        + (" n is the cube root of m·n·k." if is_rectangular(rows).any() else "")
    )
    with_earlier = rows
    if results.earlier is not None:
        before = answered(results.earlier[results.earlier["same_trial"].isin(rows["same_trial"])])
        with_earlier = pd.concat([rows.assign(runs_ago=0), before], ignore_index=True, join="inner")
    is_batch = rows["batch"] > 1
    for are_batches in sorted(is_batch.unique()):
        page.plots(
            figure
            for precision in sorted(rows.loc[is_batch == are_batches, "precision"].unique())
            for figure in _over_size(*_some(rows, with_earlier, are_batches, precision), are_batches)
        )


def _some(rows, with_earlier, are_batches, precision):
    """Returns the records of one precision, either batches (`are_batches`) or single systems: of the last runs, and
    with those of earlier runs."""
    chosen = [rows] if with_earlier is rows else [rows, with_earlier]
    chosen = [r[((r["batch"] > 1) == are_batches) & (r["precision"] == precision)] for r in chosen]
    return chosen[0], chosen[-1]


def _over_size(last, with_earlier, are_batches):
    """Yields each plot of times, followed by the plot of the rates. `last`: the records of the last runs;
    `with_earlier`: also those of earlier runs, which only the plots of times show."""
    columns = ("seconds_median", "seconds_q1", "seconds_q3", True)
    time = plots_over_size(
        with_earlier,
        "time",
        "Time",
        "median time of all" if are_batches else "median time",
        *columns,
        ylog=True,
        seconds=True,
    )
    options = {"ylog": True, "y_is_rate": True}
    if are_batches:
        rates = {of: last["batch"] / last[f"seconds_{of}"] for of in ("median", "q3", "q1")}
        last = last.assign(systems=rates["median"], systems_low=rates["q3"], systems_high=rates["q1"])
        rate = plots_over_size(
            last, "systems", "Systems per second", "rate [1/s]", "systems", "systems_low", "systems_high", **options
        )
    else:
        last = last.assign(rate_low=_rate(last, "seconds_q3"), rate_high=_rate(last, "seconds_q1"))
        rate = plots_over_size(last, "rate", "Rate", "rate [GFLOP/s]", "gflops", "rate_low", "rate_high", **options)
    # Some figures of times have no figure of rates, because methods without a rate have a time.
    for pair in zip_longest(time, rate):
        yield from filter(None, pair)


def over_baseline(page, results, baseline=""):
    """Plots the speedup of all methods over the baseline, by default the vendor's method."""
    rows = results.take_answered([*DRAWN, "reference_method", "task", "backend"])
    name = baseline if baseline in set(rows["method"]) else vendor(rows)
    page.begin("baseline", f"Speedup over {name}" if name else "Speedup over the vendor's method")
    if not name:
        page.remark("No vendor's method was measured for comparison.")
        return
    # Times of emulated kernels (GPU kernels that run on the CPU) are compared with one another only.
    race = ["precision", "task", "size", "emulated"]
    rows = rows.assign(emulated=rows["backend"] == "emulated")
    base = best(rows[rows["method"] == name], [*race, "device"])
    # A method's device uses its own time of the baseline; if it has none, the best one of another device.
    found = ["seconds_median", "status"]
    own, elsewhere = (
        rows[by].merge(best(base, by)[[*by, *found]], how="left")[found] for by in ([*race, "device"], race)
    )
    times = own.fillna(elsewhere).set_axis(rows.index)
    reference = rows[rows["pooled"].isin(base["pooled"])]  # all rounds; `base` has one record per trial
    rows = rows.assign(gain=times["seconds_median"] / rows["seconds_median"], reference_status=times["status"])
    rows = rows[rows["gain"].notna() & (rows["method"] != name)]
    options = {
        "ylog": True,
        "y_is_rate": True,
        "lines_at": [(1, name)],
        "reference": reference,
        "point": "the {median} of {reference} ({reference_samples}), divided by that of the method ({samples})",
    }
    page.plots(
        plots_over_size(rows, slug("over", name), f"Speedup over {name}", f"speedup over {name}", "gain", **options)
    )


def vendor(rows):
    """Returns the vendor's method that the records name as their reference, if it was measured; prefers the GPU
    vendor's to the CPU vendor's. Else returns an empty text."""
    named = rows.loc[rows["reference_method"].isin(set(rows["method"])), ["reference_method", "backend"]]
    if not len(named):
        return ""
    return named.assign(cpu=named["backend"] != "cuda").sort_values("cpu", kind="stable")["reference_method"].iloc[0]


def _rate(rows, column):
    """Returns the rate in GFLOP/s for the time in `column`. The column `gflops` is the rate for the median time."""
    return rows["gflops"] * rows["seconds_median"] / rows[column]


def speedup(page, results):
    """Adds the speedup by each parameter that was measured with several values."""
    page.begin("speedup", "Speedup by parameters")
    records = results.take_answered([*COMPARED, "convergence"])
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
    """Yields one figure per (problem, precision, device), at the size that was measured with most values of the
    parameter."""
    for (problem, precision, device), group in rows.groupby(["problem", "precision", "device"]):
        extent = group.groupby("size")["value"].nunique()
        size = extent[extent == extent.max()].index.max()
        group = group[group["size"] == size]
        which = group["matrix_name"].map(brief) + np.where(group["operands"] == "", "", ", " + group["operands"])
        group = group.assign(which=which if has_several(which) else "")
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
            basis=speedup_basis(group, name),
        )


def _speedup_line(label, rows, name):
    """Returns the line of a method on one matrix. With several seeds it shows their median, and a band of their
    range."""
    lines = [part.drop_duplicates("value").set_index("value") for _, part in rows.groupby("task")]
    rows = pd.concat(lines).assign(rank=lambda all_of: verdict_rank(all_of))
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
        ends=(POOLED_RANGE,) if is_pooled else RATIO_INTERVAL,
    )


def _speedup_table(page, rows, name):
    """Adds the table of each method's largest speedup by the parameter `name`."""
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
        more_csv_columns=(),
    )


def transfer(page, results):
    page.begin("transfer", "Transfer against compute")
    rows = results.take_answered(
        [*DRAWN, *LARGEST, "task", "backend", "allocate_seconds", "h2d_seconds", "d2h_seconds"]
    )
    rows = rows[rows["backend"] != "emulated"]  # their compute time says nothing about a GPU
    parts = rows[["allocate_seconds", "h2d_seconds", "d2h_seconds"]]
    rows = rows.assign(transfer=parts.sum(axis=1, min_count=1))
    rows = rows[rows["transfer"] > 0]
    if not len(rows):
        page.remark("No record has transfer or allocation times.")
        return
    rows = rows.assign(transfer_share=rows["transfer"] / rows["seconds_median"])
    each = "once per round" if rows["rounds"].max() > 1 else "once per trial"
    page.add_once(
        f"Allocation and both transfers, {each}, over the median time of the method. Above the line, moving"
        " the data takes longer than computing. For methods on the CPU these are copies within its memory."
    )
    point = (
        f"{{of_seeds}}{{of_rounds}}allocation and both transfers, measured {each}, over the {{median}} of {{samples}}"
    )
    options = {"ylog": True, "y_is_rate": True, "lines_at": [(1, "equal")], "point": point}
    page.plots(
        plots_over_size(rows, "transfer", "Transfer over compute", "transfer / compute", "transfer_share", **options)
    )
    largest = at_largest(rows).sort_values(["problem", "precision", "device", "method"])
    page.table(
        "transfer",
        largest,
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
        more_csv_columns=(),
    )
