"""Answers to the papers' open questions and assertions, in words computed from the records: how close a kernel comes to
the hardware's limit and why, where the iterative decomposition converges, the effect of a parameter."""

import numpy as np
import pandas as pd

from ..frames import answered, best, matrices, one_kind, shares, slug, stage_rows, without
from ..loader import parameter
from ..page import factor, number, percent, seconds, whole
from ..plots import Plot, Series
from .common import heads, pick

HALF = 0.5  # fraction of the roofline below which the report explains what limits the method
STEADY, LINEAR = (
    0.3,
    0.75,
)  # slopes of ln(iterations) over ln(n): below the first they do not grow, above the second they grow as n


def peak(page, night, experiment, drawing, rows):
    """Adds the fraction of the roofline that one method reaches at one size; below a half, an explanation from the
    stages."""
    rows = shares(night, answered(rows))
    rows = pick(rows, drawing["where"])
    rows = rows[rows["peak_share"].notna() & (rows["status"] == "pass")]
    if len(rows) and not (rows["backend"] == "cuda").any():
        page.nothing("The fraction of the hardware's limit needs trials on a GPU.")
        return True
    shown = False
    for device in heads(rows):
        some = rows[rows["device"] == device]
        size = drawing["n"] if drawing["n"] in set(some["size"]) else some["size"].max()
        some = best(some[some["size"] == size], ["precision"]).sort_values("precision", ascending=False)
        for record in some.itertuples():
            page.add(_share_in_words(record, device))
        main = some[some["precision"] == "float"]
        if len(main) and main["peak_share"].iloc[0] < HALF:
            page.items(_why(page, night, drawing, some, main.iloc[0]))
        shown = shown or bool(len(some))
    return shown


def _share_in_words(record, device):
    """Describes the fraction of the roofline that a trial reaches, and whether memory or arithmetic sets the roof."""
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


def _why(page, night, drawing, some, record):
    """Returns sentences: the fractions of time, the main kernel's rate, and its bound."""
    said = []
    stages = stage_rows(night)
    stages = stages[stages["trial"] == record.name].sort_values("share", ascending=False)
    main = stages[stages["kernel"].str.startswith(drawing["kernel"])]
    rest = stages[~stages.index.isin(main.index) & (stages["share"] >= 0.005)]
    if len(main) and len(rest):
        said.append(
            f"{drawing['kernel']} is {percent(main['share'].sum())} of the time. The rest: "
            + "; ".join(
                f"{r.kernel} {percent(r.share)} ({whole(r.calls)} calls of {seconds(r.mean)})"
                for r in rest.itertuples()
            )
            + "."
        )
    if len(main) and record["copy_share"] > record["rate_share"]:
        alone = record["copy_share"] * record["seconds_median"] / main["seconds"].sum()
        said.append(f"{drawing['kernel']} alone moves the least traffic at {percent(alone)} of the copy bandwidth.")
    other = some[some["precision"] == "double"]
    if len(other) and len(main):
        twice = stages_of(night, other.index[0], drawing["kernel"]) / main["seconds"].sum()
        said.append(
            f"In double the same kernel moves twice the bytes in {factor(twice)} the time"
            + (": the number of elements sets its time, not their bytes." if twice < 1.5 else ".")
        )
    if "bound" in drawing:
        said.append(
            f"{drawing['why']} That bounds it at {percent(drawing['bound'])} of the peak; it reaches"
            f" {percent(record['rate_share'] / drawing['bound'])} of this bound."
        )
    elif "why" in drawing:
        said.append(drawing["why"])
    return said


def stages_of(night, trial, kernel):
    found = night.stages[(night.stages["trial"] == trial) & night.stages["kernel"].str.startswith(kernel)]
    return found["seconds"].sum() if len(found) else np.nan


def fixed_point(page, night, experiment, drawing, rows):
    """Adds, per update rule, the matrices on which an iteration converges and its number of iterations. Then adds the
    results of trials that stop after a given number of iterations."""
    rows = rows[(rows["convergence"] != "") & (rows["method"] == drawing["method"])]
    if not len(rows):
        page.nothing("No trial records how its iteration ended.")
        return True
    start = parameter(rows, "start").map(lambda v: "" if v in (None, "matrix") else f", {v} start")
    rows = rows.assign(
        update=parameter(rows, "update").fillna("").astype(str) + start,
        cap=pd.to_numeric(parameter(rows, "max_iterations"), errors="coerce").fillna(0),
        early=pd.to_numeric(parameter(rows, "change_tolerance"), errors="coerce").fillna(0),
    )
    free = rows[(rows["cap"] == 0) & (rows["early"] == 0)]
    table, said = [], {}
    for (update, precision, kind), group in free.groupby(["update", "precision", "matrix_kind"]):
        done = group[group["convergence"] == "converged"].groupby("size")["iterations"].median()
        right = int((group["status"] == "pass").sum())
        growth = _growth(done)
        table.append(
            {
                "update": update,
                "precision": precision,
                "matrix": kind,
                "trials": len(group),
                "converged": int((group["convergence"] == "converged").sum()),
                "right": right,
                "n_from": group["size"].min(),
                "n_to": group["size"].max(),
                "first": done.iloc[0] if len(done) else np.nan,
                "last": done.iloc[-1] if len(done) else np.nan,
                "growth": growth,
                "ratio": group["residual_ratio"].max(),
            }
        )
        if len(done):
            words = (
                f"{kind} ({whole(done.iloc[0])} at n = {done.index[0]}, {whole(done.iloc[-1])} at n ="
                f" {done.index[-1]}{', wrong factors' if not right else ''})"
            )
        else:
            words = f"{kind} (n = {group['size'].min()} to {group['size'].max()})"
        said.setdefault((update, precision), {}).setdefault(growth, []).append(words)
    page.items(
        [
            f"{update or 'default'}, {precision}: {growth} on {', '.join(words)}."
            for (update, precision), found in said.items()
            for growth, words in sorted(found.items())
        ]
    )
    wrong = [r["matrix"] for r in table if r["converged"] and not r["right"]]
    if wrong:
        page.add(
            "Converged, but to factors that do not multiply to A within the tolerance:"
            f" {', '.join(sorted(set(wrong)))}."
            + _directly(night.take("problem method matrix_kind status"), sorted(set(wrong)))
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
    for (update, precision), part in free[free["convergence"] == "converged"].groupby(["update", "precision"]):
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
    """Describes how often Crout's direct decomposition, also without pivoting, passes on the same kinds of matrices."""
    direct = records[
        (records["problem"] == "getrf") & (records["method"] == "crout_serial") & records["matrix_kind"].isin(kinds)
    ]
    if not len(direct):
        return ""
    passed = int((direct["status"] == "pass").sum())
    return f" The direct decomposition, also without pivoting, passes {passed} of {len(direct)} of them" + (
        ": these matrices have no accurate factors without pivoting." if not passed else "."
    )


def _growth(done):
    """Describes how a number of iterations grows with n."""
    if not len(done):
        return "never converges"
    if done.max() <= 1:
        return "converges at once"
    if len(done) < 2:
        return "converges"
    slope = np.polyfit(np.log(done.index.to_numpy(float)), np.log(done.to_numpy(float)), 1)[0]
    if slope < STEADY:
        return "converges in a number of iterations that does not grow with n"
    return f"converges in a number of iterations that grows {'as n' if slope > LINEAR else 'slower than n'}"


def _stopped_early(page, experiment, rows):
    """Adds a table of the trials with a limit on the number of iterations."""
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


def values(page, night, experiment, drawing, rows):
    """Adds one row per value of a parameter or column (nrhs): outcomes, accuracy and times of its trials."""
    name = drawing["parameter"]
    rows = one_kind(rows)
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
