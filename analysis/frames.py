"""What sections share: the best configuration at each size, speedups with intervals, names of series."""

import re

import numpy as np
import pandas as pd

from .loader import parameter
from .plots import Plot, Series

LONG = 100  # iterations beyond which a history is drawn apart from the short ones
RANK = {"pass": 0, "suspect": 1, "failed": 2}


def answered(records):
    """Records with an answer and a time, whatever the judgement was."""
    return records[records["answered"]]


def best(records, by):
    """One row a group: accepted answers before others, then the smallest median."""
    rank = records["status"].map(RANK).fillna(3).to_numpy()
    order = np.lexsort((records["seconds_median"].to_numpy(), rank))
    first = ~records[by].iloc[order].duplicated().to_numpy()  # the columns asked for, not all hundred, are sorted
    return records.iloc[order[first]]


def method_styles(records):
    """A colour and marker a method: the same in every plot, whatever is drawn of it."""
    pairs_of = records.drop_duplicates(["problem", "method"])
    return {(r.problem, r.method): r.style for r in pairs_of.itertuples()}


def panels(records):
    """(problem, precision, device, rows): methods that run on the CPU stand in every panel of a GPU."""
    for (problem, precision), group in records.groupby(["problem", "precision"], sort=True):
        devices = sorted(group["device"].unique())
        heads = [d for d in devices if d != "CPU"] or devices
        for device in heads:
            yield problem, precision, device, group[group["device"].isin([device, "CPU"])]


def one_kind(rows):
    """Of each problem the matrix (`system`) that covers most (method, size) pairs; methods that never saw it get the
    next one of theirs. So that a table does not compare one matrix with another."""
    kept = np.zeros(len(rows), bool)
    known = rows[["problem", "system", "method", "size", "matrix_kind"]].reset_index(drop=True)
    for _, group in known.groupby("problem"):
        while len(group):
            seen = group.drop_duplicates(["system", "method", "size"])
            covered = seen["system"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
            least = set(seen.loc[seen["matrix_kind"] == "identity", "system"])  # that kind tells the least
            system = next((s for s in covered.index if s not in least), covered.index[0])
            has = group[group["system"] == system]
            kept[has.index] = True
            group = group[~group["method"].isin(has["method"])]
    return rows[kept].sort_index(kind="stable")


def panels_of_one_kind(rows):
    """`panels`, of each what is drawn (`one_kind`), and what is to be said of its matrices."""
    for problem, precision, device, group in panels(rows):
        drawn = one_kind(group)
        yield problem, precision, device, drawn, kinds_in_words(drawn, group)


def comparable(rows):
    """`one_kind` for each problem and precision by itself."""
    groups = [one_kind(group) for _, group in rows.groupby(["problem", "precision"])]
    return pd.concat(groups).sort_index() if groups else rows


def at_largest(rows):
    """One row a (problem, precision, device, method, operands), on comparable matrices: its largest size, there the
    best configuration."""
    same = ["problem", "precision", "device", "method", "system", "operands"]
    rows = best(comparable(rows), [*same, "size"]).sort_values("size", kind="stable")
    return rows.drop_duplicates(same, keep="last")


def kinds_in_words(drawn, all_rows):
    """Which matrices a panel shows, and which it leaves out; empty where there is one kind only."""
    if all_rows["system"].nunique() < 2:
        return ""
    kinds = drawn.groupby("system")["method"].nunique().sort_values(ascending=False, kind="stable").index
    rest = sorted(set(all_rows["system"]) - set(kinds))
    words = f"Matrices: {', '.join(kinds[:4])}" + (
        f"; methods that did not run on {kinds[0]} on the others" if len(kinds) > 1 else ""
    )
    more = f" and {len(rest) - 6} more" if len(rest) > 6 else ""
    return words + (f". Not drawn: {', '.join(rest[:6])}{more}." if rest else ".")


def many(values):
    return values.nunique() > 1


def series_label(rows):
    """Name of a row's series among `rows`: the method, and what else tells series apart."""
    label = rows["method"].astype(str)
    if many(rows["device"]):
        label = label + np.where(rows["device"] == "CPU", " (CPU)", "")
    if many(rows["operands"]):
        label = label + np.where(rows["operands"] == "", "", ", " + rows["operands"])
    if rows.groupby(["method", "device", "operands"])["system"].nunique().gt(1).any():
        label = label + ", " + rows["system"]
    return label


def curves(rows, y, low=None, high=None, styles=None, x="size"):
    """A Series a method: at each size its best configuration. Hollow: not accepted."""
    rows = rows.assign(series_=series_label(rows))
    rows = best(rows, ["series_", x]).sort_values(x, kind="stable")
    made = []
    for label, group in rows.groupby("series_", sort=True):
        style = styles.get((group["problem"].iloc[0], group["method"].iloc[0])) if styles else None
        made.append(
            Series(
                label,
                group[x].to_numpy(),
                group[y].to_numpy(),
                None if low is None else group[low].to_numpy(),
                None if high is None else group[high].to_numpy(),
                (group["status"] != "pass").to_numpy(),
                style,
            )
        )
    # what is accepted and largest first: if series are left out, they are the least telling ones
    made.sort(key=lambda s: (-int((~s.hollow).any()), -len(s.x)))
    return made


def numeric_parameters(records):
    """Parameters whose values are numbers and differ, with their columns."""
    found = {}
    texts = dict(zip(records["parameters"], records["parameter"]))
    names = sorted({name for p in texts.values() for name in p})
    for name in names:
        column = parameter(records, name)
        numbers = pd.to_numeric(column.map(lambda v: None if isinstance(v, bool) else v), errors="coerce")
        if name == "threads":
            numbers = numbers.where(numbers > 0)  # 0 means: as many as fit
        if numbers.nunique() > 1:
            found[name] = numbers
    return found


def without(texts, name):
    """Label of each parameters text, less one parameter and less those that never vary. `texts`: text -> parameters."""
    values = {}
    for parameters in texts.values():
        for key, value in parameters.items():
            values.setdefault(key, set()).add(str(value))
    shown = {key for key, found in values.items() if len(found) > 1 and key != name}
    return {t: " ".join(f"{k}={v}" for k, v in p.items() if k in shown) for t, p in texts.items()}


def terse(settings):
    """ "back_substitution=pipelined threads=64" as "pipelined threads=64": in a legend a word tells what it is the
    value of."""
    return re.sub(r"\b\w{8,}=([a-z]\w*)", r"\1", settings)


def speedups(records, name, values):
    """Rows of trials that differ in one parameter only, with the speedup over its smallest value and the interval that
    the quartiles of both leave."""
    rows = answered(records.assign(value=values)).dropna(subset=["value"])
    if not len(rows):
        return rows.assign(speedup=[], speedup_low=[], speedup_high=[], rest=[])
    texts = dict(zip(rows["parameters"], rows["parameter"]))
    rows = rows.assign(rest=rows["parameters"].map(without(texts, name)))
    same = [
        "problem",
        "method",
        "precision",
        "device",
        "host",
        "m",
        "n",
        "k",
        "nrhs",
        "uplo",
        "matrix_digest",
        "task",
        "rest",
        "file",
    ]
    rows = best(rows, [*same, "value"]).sort_values([*same, "value"], kind="stable")
    group = rows.groupby(same, sort=False, observed=True)
    rows = rows[group["value"].transform("nunique") > 1]
    group = rows.groupby(same, sort=False, observed=True)
    first = group[["seconds_q1", "seconds_median", "seconds_q3", "value"]].transform("first")
    return rows.assign(
        base=first["value"],
        speedup=first["seconds_median"] / rows["seconds_median"],
        speedup_low=first["seconds_q1"] / rows["seconds_q3"],
        speedup_high=first["seconds_q3"] / rows["seconds_q1"],
    )


def call_rows(night, trials=None):
    """Stage rows as they are, with their record's columns: where the plan asked for calls, a row a call. `trials`: of
    these alone."""
    columns = [
        "problem",
        "method",
        "precision",
        "device",
        "backend",
        "size",
        "nrhs",
        "config",
        "parameters",
        "matrix_kind",
        "operands",
        "task",
        "status",
        "seconds_median",
        "answered",
        "plan_name",
        "file",
    ]
    stages = night.stages if trials is None else night.stages[night.stages["trial"].isin(trials)]
    stages = stages.join(night.records[columns], on="trial")
    return stages[stages["seconds"].notna()]


def stage_rows(night, trials=None):
    """Stage rows with their record's columns; the kernel's mean occupancy and share of the stage pass. Calls that were
    kept apart are summed up. `trials`: of these alone."""
    rows = call_rows(night, trials)
    apart = rows.duplicated(["trial", "kernel"], keep=False)
    if not apart.any():
        return rows
    calls = rows[apart]
    known = calls["calls"].where(calls["occupancy"].notna())
    sums = calls.assign(weight=known, weighted=calls["occupancy"] * known).groupby(["trial", "kernel"], sort=False)
    sums = sums[["calls", "seconds", "share", "weight", "weighted"]].sum(min_count=1)
    first = calls.drop_duplicates(["trial", "kernel"]).set_index(["trial", "kernel"], drop=False)
    first.index.names = [None, None]
    sums.index.names = [None, None]
    first[["calls", "seconds", "share"]] = sums[["calls", "seconds", "share"]]
    first["mean"] = first["seconds"] / first["calls"]
    first["occupancy"] = sums["weighted"] / sums["weight"]
    return pd.concat([rows[~apart], first.reset_index(drop=True)]).sort_values("trial", kind="stable")


def shares(night):
    """Records with their shares of the measured copy bandwidth and of the GEMM rate, from /devices."""
    rows = answered(night.records)
    where = ["file", "gpu_uuid", "host"]
    peaks = night.devices[[*where, "copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"]].drop_duplicates(
        where, keep="last"
    )
    found = rows[where].merge(peaks, on=where, how="left").set_index(rows.index)
    rate = np.where(rows["precision"] == "float", found["gemm_flops_float"], found["gemm_flops_double"])
    return rows.assign(
        copy_share=rows["bytes"] / rows["seconds_median"] / found["copy_bytes_per_second"],
        rate_share=rows["gflops"] * 1e9 / rate,
    )


def pairs(records, first, second):
    """Trials that ran on both: how many times faster `second` is, with the interval that the quartiles leave."""
    columns = [
        "key",
        "problem",
        "precision",
        "method",
        "matrix_kind",
        "config",
        "size",
        "nrhs",
        "status",
        "seconds_q1",
        "seconds_median",
        "seconds_q3",
    ]
    left, right = (best(records[records["device"] == d], ["key"])[columns] for d in (first, second))
    both = left.merge(
        right[["key", "status", "seconds_q1", "seconds_median", "seconds_q3"]], on="key", suffixes=("", "_2")
    )
    return both.assign(
        ratio=both["seconds_median"] / both["seconds_median_2"],
        low=both["seconds_q1"] / both["seconds_q3_2"],
        high=both["seconds_q3"] / both["seconds_q1_2"],
        first=first,
        second=second,
    )


def devices_by_age(records):
    """GPU models, oldest capability first."""
    rows = answered(records[records["backend"] == "cuda"])
    return rows.groupby("device")["capability"].max().sort_values(kind="stable").index.to_list(), rows


def slug(*words):
    """A file name of words."""
    text = "-".join(str(w) for w in words if str(w))
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in text)


def over_size(name, title, ylabel, series, **more):
    return Plot(name, title, "n", ylabel, series, **more)


def history_plots(night, records, name="history"):
    """A history a (method, task, way it ended): the one at the largest size."""
    visible = night.iterations[night.iterations["residual"].gt(0) & np.isfinite(night.iterations["residual"])]
    points = visible["trial"].value_counts()
    records = records[records.index.isin(points.index[points > 1])]
    records = records.sort_values("size", ascending=False, kind="stable")
    records = records.drop_duplicates(["problem", "precision", "device", "method", "task", "convergence"])
    last = night.iterations.groupby("trial")["iteration"].max()
    records = records.assign(long=records.index.map(last) > LONG)
    for (problem, precision, device, long), group in records.groupby(["problem", "precision", "device", "long"]):
        lengths = night.iterations[night.iterations["trial"].isin(group.index)]
        series = []
        for trial, record in group.iterrows():
            part = lengths[lengths["trial"] == trial].sort_values("iteration")
            label = f"{record['method']}, {record['task']}, n = {record['size']}"
            label += f", {record['convergence']}" if record["convergence"] else ""
            series.append(Series(label, part["iteration"].to_numpy() + 1, part["residual"].to_numpy()))
        yield Plot(
            slug(name, problem, precision, device, "long" if long else ""),
            f"Residual over {'many ' if long else ''}iterations: {problem}, {precision}, {device}",
            "iteration",
            "residual",
            series,
            ylog=True,
            xlog=False,
            farthest=1e10,
            note="" if np.isfinite(lengths["residual"]).all() else "Residuals that are infinite are not drawn.",
        )
