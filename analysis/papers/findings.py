"""Answers the papers' open questions in sentences and tables that are computed from the records: how close a kernel
comes to the hardware's limit and why, on which matrices the iterative LU decomposition converges, the effect of a
parameter."""

import numpy as np
import pandas as pd

from ..captions import matrices
from ..frames import answered, best, on_main_matrix, slug, stage_rows, with_peak_fractions, without
from ..loader import parameter
from ..page import factor, number, percent, seconds, whole
from ..plots import Plot, Series
from .common import panel_devices, pick

# Below this fraction of the roofline (the limit by the measured copy bandwidth and GEMM rate), the report explains what
# limits the method.
HALF = 0.5
# Slopes of ln(iterations) over ln(n). The report calls iterations independent of n below STEADY, and proportional to n
# above LINEAR.
STEADY, LINEAR = 0.3, 0.75


def peak(page, results, experiment, drawing, rows):
    """Adds the fraction of the roofline that one method reaches at one size. If the fraction in float is below HALF,
    adds an explanation from the times of the method's stages. Parameters: see papers/__init__.py."""
    rows = with_peak_fractions(results, answered(rows))
    rows = pick(rows, drawing["where"])
    rows = rows[rows["peak_share"].notna() & (rows["status"] == "pass")]
    if len(rows) and not (rows["backend"] == "cuda").any():
        page.remark("The fraction of the hardware's limit needs trials on a GPU.")
        return True
    is_shown = False
    for device in panel_devices(rows):
        same_size = rows[rows["device"] == device]
        size = drawing["n"] if drawing["n"] in set(same_size["size"]) else same_size["size"].max()
        same_size = best(same_size[same_size["size"] == size], ["precision"]).sort_values("precision", ascending=False)
        for record in same_size.itertuples():
            page.add(_share_in_words(record, device))
        in_float = same_size[same_size["precision"] == "float"]
        if len(in_float) and in_float["peak_share"].iloc[0] < HALF:
            page.items(_why(results, drawing, same_size, in_float.iloc[0]))
        is_shown = is_shown or bool(len(same_size))
    return is_shown


def _share_in_words(record, device):
    """Returns a sentence with a trial's fraction of the roofline, and whether memory or arithmetic sets the roof."""
    limit, what = (
        (record.copy_share, "its least traffic at the measured copy bandwidth")
        if record.copy_share > record.rate_share
        else (record.rate_share, "its operations at the measured GEMM rate")
    )
    under = "under half of" if limit < HALF else "at least half of"
    return (
        f"{record.method} at n = {record.size}, {record.precision},"
        f" {device}{', ' + record.config if record.config else ''}: {seconds(record.seconds_median)},"
        f" {percent(record.peak_share)} of the roofline, which is set by {what}: {under} that limit."
    )


def _why(results, drawing, same_size, record):
    """Returns sentences that explain a trial's low fraction of the roofline: how much of its time the main kernel
    (`drawing["kernel"]`) takes, the rate of that kernel, and the bound that `drawing` states. `same_size`: the fastest
    trial per precision at this size; `record`: the one in float."""
    sentences = []
    stages = stage_rows(results)
    stages = stages[stages["trial"] == record.name].sort_values("share", ascending=False)
    main_stages = stages[stages["kernel"].str.startswith(drawing["kernel"])]
    other_stages = stages[~stages.index.isin(main_stages.index) & (stages["share"] >= 0.005)]
    if len(main_stages) and len(other_stages):
        sentences.append(
            f"{drawing['kernel']} is {percent(main_stages['share'].sum())} of the time. The rest: "
            + "; ".join(
                f"{r.kernel} {percent(r.share)} ({whole(r.calls)} calls of {seconds(r.mean)})"
                for r in other_stages.itertuples()
            )
            + "."
        )
    if len(main_stages) and record["copy_share"] > record["rate_share"]:
        kernel_fraction = record["copy_share"] * record["seconds_median"] / main_stages["seconds"].sum()
        sentences.append(
            f"{drawing['kernel']} alone moves the least traffic at {percent(kernel_fraction)} of the copy bandwidth."
        )
    other = same_size[same_size["precision"] == "double"]
    if len(other) and len(main_stages):
        relative_time = seconds_of_kernel(results, other.index[0], drawing["kernel"]) / main_stages["seconds"].sum()
        sentences.append(
            f"In double the same kernel moves twice the bytes in {factor(relative_time)} the time"
            + (": the number of elements sets its time, not their bytes." if relative_time < 1.5 else ".")
        )
    if "bound" in drawing:
        sentences.append(
            f"{drawing['why']} That bounds it at {percent(drawing['bound'])} of the peak; it reaches"
            f" {percent(record['rate_share'] / drawing['bound'])} of this bound."
        )
    elif "why" in drawing:
        sentences.append(drawing["why"])
    return sentences


def seconds_of_kernel(results, trial, kernel):
    """Returns the total time of a trial's stages whose names begin with `kernel`; NaN if there are none."""
    found = results.stages[(results.stages["trial"] == trial) & results.stages["kernel"].str.startswith(kernel)]
    return found["seconds"].sum() if len(found) else np.nan


def fixed_point(page, results, experiment, drawing, rows):
    """Adds, per update rule of a fixed-point iteration, the kinds of matrices on which it converges and its number of
    iterations. Then adds the results of trials with a limit on the number of iterations. Parameters: see
    papers/__init__.py."""
    rows = rows[(rows["convergence"] != "") & (rows["method"] == drawing["method"])]
    if not len(rows):
        page.remark("No trial records how its iteration ended.")
        return True
    start = parameter(rows, "start").map(lambda v: "" if v in (None, "matrix") else f", {v} start")
    rows = rows.assign(
        update=parameter(rows, "update").fillna("").astype(str) + start,
        cap=pd.to_numeric(parameter(rows, "max_iterations"), errors="coerce").fillna(0),
        early=pd.to_numeric(parameter(rows, "change_tolerance"), errors="coerce").fillna(0),
    )
    unlimited = rows[(rows["cap"] == 0) & (rows["early"] == 0)]
    table, growth_of = [], {}
    for (update, precision, kind), group in unlimited.groupby(["update", "precision", "matrix_kind"]):
        iterations = group[group["convergence"] == "converged"].groupby("size")["iterations"].median()
        passed = int((group["status"] == "pass").sum())
        growth = _growth(iterations)
        table.append(
            {
                "update": update,
                "precision": precision,
                "matrix": kind,
                "trials": len(group),
                "converged": int((group["convergence"] == "converged").sum()),
                "right": passed,
                "n_from": group["size"].min(),
                "n_to": group["size"].max(),
                "first": iterations.iloc[0] if len(iterations) else np.nan,
                "last": iterations.iloc[-1] if len(iterations) else np.nan,
                "growth": growth,
                "ratio": group["residual_ratio"].max(),
            }
        )
        if len(iterations):
            words = (
                f"{kind} ({whole(iterations.iloc[0])} at n = {iterations.index[0]}, {whole(iterations.iloc[-1])} at n ="
                f" {iterations.index[-1]}{', wrong factors' if not passed else ''})"
            )
        else:
            words = f"{kind} (n = {group['size'].min()} to {group['size'].max()})"
        growth_of.setdefault((update, precision), {}).setdefault(growth, []).append(words)
    page.items(
        [
            f"{update or 'default'}, {precision}: {growth} on {', '.join(words)}."
            for (update, precision), found in growth_of.items()
            for growth, words in sorted(found.items())
        ]
    )
    wrong = [r["matrix"] for r in table if r["converged"] and not r["right"]]
    if wrong:
        page.add(
            "Converged, but to factors that do not multiply to A within the tolerance:"
            f" {', '.join(sorted(set(wrong)))}."
            + _directly(results.take("problem method matrix_kind status"), sorted(set(wrong)))
        )
    page.table(
        experiment["id"],
        pd.DataFrame(table),
        [
            "update precision matrix trials",
            ("converged", "converged", whole),
            ("right", "accurate", whole),
            ("n_from", "n from", whole),
            ("n_to", "to", whole),
            ("first", "iterations from", whole),
            ("last", "to", whole),
            ("ratio", "ratio ≤", number),
        ],
        limit=60,
        caption="Run until no element changes any more.",
    )
    figures = []
    for (update, precision), part in unlimited[unlimited["convergence"] == "converged"].groupby(
        ["update", "precision"]
    ):
        series = [
            Series(kind, found.index.to_numpy(), found.to_numpy(float))
            for i, (kind, found) in enumerate(
                (k, g.groupby("size")["iterations"].median()) for k, g in part.groupby("matrix_kind")
            )
        ]
        figures.append(
            Plot(
                slug(experiment["id"], update, precision),
                f"Iterations to convergence: {update}, {precision}",
                "n",
                "iterations",
                series,
                ylog=True,
                xlog=True,
                basis=f"{matrices(part)} Each point: the median of the trials.",
            )
        )
    page.plots(figures)
    _stopped_early(page, experiment, rows[(rows["cap"] > 0) & (rows["early"] == 0)])
    return True


def _directly(records, kinds):
    """Returns a sentence: how often Crout's direct decomposition passes on the same kinds of matrices. Like the
    iteration, it does not pivot."""
    direct = records[
        (records["problem"] == "getrf") & (records["method"] == "crout_serial") & records["matrix_kind"].isin(kinds)
    ]
    if not len(direct):
        return ""
    passed = int((direct["status"] == "pass").sum())
    return f" The direct decomposition, also without pivoting, passes {passed} of {len(direct)} of them" + (
        ": these matrices have no accurate factors without pivoting." if not passed else "."
    )


def _growth(iterations):
    """Returns words for the growth of the number of iterations with n. `iterations`: their median of the converged
    trials, indexed by n."""
    if not len(iterations):
        return "never converges"
    if iterations.max() <= 1:
        return "converges at once"
    if len(iterations) < 2:
        return "converges"
    slope = np.polyfit(np.log(iterations.index.to_numpy(float)), np.log(iterations.to_numpy(float)), 1)[0]
    if slope < STEADY:
        return "converges in a number of iterations that does not grow with n"
    return f"converges in a number of iterations that grows {'as n' if slope > LINEAR else 'slower than n'}"


def _stopped_early(page, experiment, rows):
    """Adds a table of the trials that had a limit on the number of iterations."""
    if not len(rows):
        return
    table = (
        rows.groupby(["precision", "matrix_kind", "size", "cap"])
        .agg(
            ended=("convergence", "first"),
            iterations=("iterations", "max"),
            status=("status", "first"),
            ratio=("residual_ratio", "max"),
        )
        .reset_index()
    )
    page.table(
        slug(experiment["id"], "early"),
        table,
        [
            "precision matrix_kind size",
            ("cap", "at most", whole),
            "iterations",
            ("ended", "how it ended", None),
            "status",
            ("ratio", "ratio", number),
        ],
        limit=60,
        caption=("Stopped early. Some iterations that diverge at first converge later."),
    )


def values(page, results, experiment, drawing, rows):
    """Adds a table with one row per value of a method parameter, or of a record's column such as nrhs. Each row has the
    statuses, accuracy and times of its trials. Parameters: see papers/__init__.py."""
    name = drawing["parameter"]
    rows = on_main_matrix(rows)
    rows = rows.assign(value=pd.to_numeric(rows[name] if name in rows else parameter(rows, name), errors="coerce"))
    rows = rows[rows["value"].notna()]
    if rows["value"].nunique() < 2:
        return False
    rows = rows.assign(rest=rows["parameters"].map(without(dict(zip(rows["parameters"], rows["parameter"])), name)))
    size = rows.groupby("size")["value"].nunique().pipe(lambda s: s[s == s.max()].index.max())
    table = (
        rows[rows["size"] == size]
        .groupby(["precision", "device", "method", "rest", "value"])
        .agg(
            n=("size", "first"),
            iterations=("iterations", "max"),
            median=("seconds_median", "min"),
            ratio=("residual_ratio", "max"),
            status=("status", lambda s: ", ".join(sorted(set(s)))),
        )
        .reset_index()
    )
    page.table(
        slug(experiment["id"], name),
        table,
        [
            "precision device method rest n",
            ("value", name, whole if (table["value"] == table["value"].round()).all() else number),
            "iterations",
            ("median", "median time", seconds),
            ("ratio", "ratio", number),
            "status",
        ],
        limit=60,
        caption=f"By {name}, at n = {size}.",
    )
    return True
