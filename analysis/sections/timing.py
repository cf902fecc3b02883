"""Time and rate over size, speedup over a parameter, share of the device's peak, transfer against compute."""

import numpy as np

from ..frames import (
    answered,
    at_largest,
    best,
    curves,
    method_styles,
    numeric_parameters,
    over_size,
    panels_of_one_kind,
    shares,
    slug,
    speedups,
    terse,
)
from ..page import factor, number, percent, seconds, whole
from ..plots import Plot, Series

MOST = 60  # figures of one kind of one problem
HOLLOW = "Hollow marks: the answer was not accepted."


def time_over_size(page, night):
    page.begin("time", "Time and rate over size")
    rows = answered(night.records)
    if not len(rows):
        page.nothing("No trial came to an answer with a measured time.")
        return
    page.add(
        "At each size a method stands with its fastest accepted configuration; marks are medians, bars reach from the"
        " first to the third quartile. " + HOLLOW + " For gemm, n is the cube root of m·n·k."
    )
    styles, figures = method_styles(night.records), []
    rows = rows.assign(rate_low=_rate(rows, "seconds_q3"), rate_high=_rate(rows, "seconds_q1"))
    for problem, precision, device, drawn, note in panels_of_one_kind(rows):
        words = f"{problem}, {precision}, {device}"
        figures.append(
            over_size(
                slug("time", problem, precision, device),
                f"Time: {words}",
                "median time",
                curves(drawn, "seconds_median", "seconds_q1", "seconds_q3", styles),
                ylog=True,
                seconds=True,
                note=note,
            )
        )
        figures.append(
            over_size(
                slug("rate", problem, precision, device),
                f"Rate: {words}",
                "GFLOP/s",
                curves(drawn, "gflops", "rate_low", "rate_high", styles),
                ylog=True,
                note=note,
            )
        )
    page.plots(figures, most=MOST)


def over_baseline(page, night, baseline=""):
    """How many times faster than one method the others are."""
    rows = answered(night.records)
    name = baseline if baseline in set(rows["method"]) else _vendor(rows)
    page.begin("baseline", f"Speedup over {name}" if name else "Speedup over the vendor's method")
    if not name:
        page.nothing("No record names a vendor's method that ran too.")
        return
    on = ["precision", "task", "size"]
    base = best(rows[rows["method"] == name], [*on, "device"])
    own = base.set_index([*on, "device"])["seconds_median"]
    fastest = base.groupby(on)["seconds_median"].min()  # where it did not run on that device
    keys = list(rows[[*on, "device"]].itertuples(index=False, name=None))
    times = [own.get(key, fastest.get(key[:-1], np.nan)) for key in keys]
    rows = rows.assign(gain=np.asarray(times, dtype=float) / rows["seconds_median"])
    rows = rows[rows["gain"].notna()]
    styles = method_styles(rows)
    page.plots(
        [
            over_size(
                slug("over", name, problem, precision, device),
                f"Speedup over {name}: {problem}, {precision}, {device}",
                f"times as fast as {name}",
                curves(drawn, "gain", styles=styles),
                ylog=True,
                lines_at=[(1, "equal")],
                note=f"{HOLLOW} {kinds}".strip(),
            )
            for problem, precision, device, drawn, kinds in panels_of_one_kind(rows)
        ],
        most=MOST,
    )


def _vendor(rows):
    """The vendor's method that records were compared with, where it was measured itself; of several that of the GPU."""
    named = rows.loc[rows["reference_method"].isin(set(rows["method"])), ["reference_method", "backend"]]
    if not len(named):
        return ""
    return named.assign(cpu=named["backend"] != "cuda").sort_values("cpu", kind="stable")["reference_method"].iloc[0]


def _rate(rows, column):
    """The rate that another of a record's times gives; `gflops` is the rate of the median."""
    return rows["gflops"] * rows["seconds_median"] / rows[column]


def speedup(page, night):
    page.begin("speedup", "Speedup over blocks and over threads")
    records = night.records[
        night.records["convergence"] == ""
    ]  # where an iteration ends decides the time of the others
    found = numeric_parameters(answered(records))
    others = [name for name in found if name not in ("blocks", "threads")]
    for name in ["blocks", "threads", *others]:
        if name not in found:
            page.nothing(f"No method ran with several values of {name}.")
            continue
        rows = speedups(records, name, found[name])
        if not len(rows):
            page.nothing(f"No two answered trials differ in {name} alone.")
            continue
        page.heading(f"Over {name}")
        page.add(
            f"Against the same trial with the smallest value of {name} measured; bars: what the quartiles of both times"
            " allow."
        )
        drawn = page.plots(_speedup_plots(rows, name), most=MOST)
        if drawn:
            _speedup_table(page, rows, name)


def _speedup_plots(rows, name):
    """A figure a (problem, precision, device), at the largest size with the most values of the parameter."""
    for (problem, precision, device), group in rows.groupby(["problem", "precision", "device"]):
        extent = group.groupby("size")["value"].nunique()
        size = extent[extent == extent.max()].index.max()
        group = group[group["size"] == size]
        several = group["task"].nunique() > 1
        series = []
        for (method, rest, kind), part in group.groupby(["method", "rest", "task"]):
            part = part.drop_duplicates("value")
            label = " ".join(w for w in (method, terse(rest), kind if several else "") if w)
            series.append(
                Series(
                    label,
                    part["value"].to_numpy(),
                    part["speedup"].to_numpy(),
                    part["speedup_low"].to_numpy(),
                    part["speedup_high"].to_numpy(),
                    (part["status"] != "pass").to_numpy(),
                )
            )
        series.sort(key=lambda s: -len(s.x))
        yield Plot(
            slug("speedup", name, problem, precision, device),
            f"Speedup over {name}: {problem}, {precision}, n = {size}, {device}",
            name,
            "speedup",
            series,
            note=HOLLOW if any(s.hollow.any() for s in series) else "",
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
        top[
            [
                "problem",
                "precision",
                "device",
                "method",
                "rest",
                "task",
                "size",
                "base",
                "value",
                "speedup",
                "speedup_low",
                "speedup_high",
                "status",
            ]
        ],
        [
            ("problem", "problem", None),
            ("precision", "precision", None),
            ("device", "device", None),
            ("method", "method", None),
            ("rest", "with", None),
            ("task", "matrix", None),
            ("size", "n", whole),
            ("base", f"{name} from", whole),
            ("value", "to", whole),
            ("speedup", "speedup", factor),
            ("speedup_low", "at least", factor),
            ("speedup_high", "at most", factor),
            ("status", "judged", None),
        ],
        caption=f"The largest speedup over {name} of each method; of its accepted answers where it has any.",
    )


def roofline(page, night):
    page.begin("roofline", "Share of the hardware's limit")
    rows = shares(night)
    rows = rows[
        (rows["peak_share"].notna() | rows["copy_share"].notna() | rows["rate_share"].notna())
        & (rows["backend"] != "emulated")
    ]
    if not len(rows):
        page.nothing(
            "No record carries a share of a peak: the devices' peaks were not measured, nothing came to an answer, or"
            " kernels ran emulated only."
        )
        return
    page.add(
        "The share as recorded: least time that the measured peaks allow, over the measured time. Beside it the two"
        " limits apart: the least traffic of the algorithm over the measured copy bandwidth, and the operations over"
        " the measured GEMM rate. A little over 100 % means that the peak itself was measured a little low; much more,"
        " that the operands stayed in a cache, which is faster than the copy that was measured. What ran on the CPU has"
        " a share only where the CPU's own peaks were measured; emulated kernels have none."
    )
    styles = method_styles(night.records)
    page.plots(
        [
            over_size(
                slug("peak", problem, precision, device),
                f"Share of peak: {problem}, {precision}, {device}",
                "share of peak",
                curves(drawn, "peak_share", styles=styles),
                ylog=True,
                percent=True,
                note=f"{HOLLOW} {kinds}".strip(),
            )
            for problem, precision, device, drawn, kinds in panels_of_one_kind(rows)
        ],
        most=MOST,
    )
    largest = at_largest(rows).sort_values(
        ["problem", "precision", "device", "peak_share"], ascending=[True, True, True, False]
    )
    page.table(
        "roofline",
        largest[
            [
                "problem",
                "precision",
                "device",
                "method",
                "task",
                "config",
                "size",
                "seconds_median",
                "gflops",
                "bytes",
                "peak_share",
                "copy_share",
                "rate_share",
                "status",
            ]
        ],
        [
            ("problem", "problem", None),
            ("precision", "precision", None),
            ("device", "device", None),
            ("method", "method", None),
            ("task", "matrix", None),
            ("config", "with", None),
            ("size", "n", whole),
            ("seconds_median", "median", seconds),
            ("gflops", "GFLOP/s", number),
            ("peak_share", "share of peak", percent),
            ("copy_share", "of copy bandwidth", percent),
            ("rate_share", "of GEMM rate", percent),
            ("status", "judged", None),
        ],
        limit=60,
        caption="Each method at its largest size.",
    )


def transfer(page, night):
    page.begin("transfer", "Transfer against compute")
    rows = answered(night.records)
    parts = rows[["allocate_seconds", "h2d_seconds", "d2h_seconds"]]
    rows = rows.assign(transfer=parts.sum(axis=1, min_count=1))
    rows = rows[rows["transfer"] > 0]
    if not len(rows):
        page.nothing("No record carries transfer or allocation times (they exist where a GPU worked).")
        return
    rows = rows.assign(transfer_share=rows["transfer"] / rows["seconds_median"])
    page.add(
        "Allocation and both transfers, once a trial, over the median time of the method itself. Above the line, moving"
        " the data costs more than computing with it. For methods of the CPU these are copies within its memory."
    )
    styles = method_styles(night.records)
    page.plots(
        [
            over_size(
                slug("transfer", problem, precision, device),
                f"Transfer over compute: {problem}, {precision}, {device}",
                "transfer / compute",
                curves(drawn, "transfer_share", styles=styles),
                ylog=True,
                lines_at=[(1, "as long")],
                note=kinds,
            )
            for problem, precision, device, drawn, kinds in panels_of_one_kind(rows)
        ],
        most=MOST,
    )
    last = at_largest(rows).sort_values(["problem", "precision", "device", "method"])
    page.table(
        "transfer",
        last[
            [
                "problem",
                "precision",
                "device",
                "method",
                "task",
                "size",
                "seconds_median",
                "allocate_seconds",
                "h2d_seconds",
                "d2h_seconds",
                "transfer_share",
            ]
        ],
        [
            ("problem", "problem", None),
            ("precision", "precision", None),
            ("device", "device", None),
            ("method", "method", None),
            ("task", "matrix", None),
            ("size", "n", whole),
            ("seconds_median", "compute", seconds),
            ("allocate_seconds", "allocate", seconds),
            ("h2d_seconds", "to the device", seconds),
            ("d2h_seconds", "back", seconds),
            ("transfer_share", "transfer / compute", factor),
        ],
        limit=60,
        caption="Each method at its largest size.",
    )
