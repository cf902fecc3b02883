"""Shows the number of trials, their statuses, and how often each method is the fastest."""

import numpy as np
import pandas as pd

from ..comparison import advice_of
from ..frames import answered, best, device_words
from ..loader import STATUSES
from ..page import counted, factor, number, percent, seconds, whole
from ..verdict import with_common_methods, without_seed
from .glance import glance, leaders_table


MOST_TALLIES = 60  # a table of wins with more rows is folded, i.e. hidden behind a summary line
RACING = "problem precision task size device method backend status seconds_median answered".split()
RANKED = [
    *RACING,
    *"matrix_kind config seconds_q1 seconds_q3 gflops peak_share residual_ratio".split(),
    "reference_method",
]


def overview(page, results):
    records = results.take("status device backend")
    page.begin("overview", "Overview")
    if not len(records):
        _warnings(page, results)
        page.remark("The files have no record: no trial ran or finished.")
        return
    status = records["status"].value_counts()
    known = _statuses(status.index)
    ran = records[records["status"] != "skipped"]
    devices = sorted((ran if len(ran) else records)["device"].unique())
    page.items(glance(results))
    advice = advice_of(results)[1:] if results.earlier is not None else []
    if advice:
        mark = page.mark()
        page.items(advice)
        page.fold("What would decide UNCLEAR trials", mark)
    earlier = f" (and {len(results.earlier)} of earlier runs)" if results.earlier is not None else ""
    page.add(
        f"{counted(len(records), 'trial')}{earlier} in {counted(len(results.files), 'file')}, "
        f"{counted(len(results.samples), 'sample')}, on {' and '.join(map(device_words, devices))}: "
        + ", ".join(f"{status[s]} {s}" for s in known)
        + "."
        + _noise(results)
    )
    if ((records["backend"] == "emulated") & (records["status"] != "skipped")).any():
        page.add(
            "Trials of the backend emulated ran the GPU's kernels on the CPU. They verify answers; their times do not"
            " apply to a GPU."
        )
    _warnings(page, results)


def _noise(results):
    """Returns a sentence with the spread of the samples. Leaves out trials of one sample, which have no spread. Leaves
    out emulated kernels (GPU kernels that run on the CPU), too, because their times do not apply to a device."""
    rows = results.take("backend samples spread")
    rows = rows[(rows["samples"] > 1) & (rows["backend"] != "emulated") & rows["spread"].notna()]
    if not len(rows):
        return ""
    on_gpu = (rows["backend"] == "cuda").sum()
    parts = [f"{count} on {device}" for count, device in ((on_gpu, "GPUs"), (len(rows) - on_gpu, "the CPU")) if count]
    spread = rows["spread"]
    return (
        f" Noise of the trials with several samples ({', '.join(parts)}): the interquartile range of a trial's samples"
        f" is {percent(float(spread.median()))} of its median"
        f" (95th percentile of the trials: {percent(float(spread.quantile(0.95)))})."
    )


def _warnings(page, results):
    """Adds the loader's warnings. They are folded, unless a file or rows of it were left out."""
    warnings = results.warnings
    if not warnings:
        return
    mark = page.mark()
    page.items(warnings[:20])
    if len(warnings) > 20:
        page.remark(f"{counted(len(warnings) - 20, 'more remark')} of this kind.")
    if not any("left out" in warning for warning in warnings):
        page.fold(f"{counted(len(warnings), 'remark')} on the files", mark)


def what_ran(page, results):
    records = results.take("problem precision method size status")
    page.begin("trials", "What ran")
    if not len(records):
        page.remark("Nothing.")
        return
    known = _statuses(records["status"].unique())
    column = {s: s if s in STATUSES else f"status {s}" for s in known}  # an unknown status may equal a column's name
    counts = pd.crosstab([records["problem"], records["precision"]], records["status"].map(column)).reset_index()
    spread = (
        records.groupby(["problem", "precision"])
        .agg(methods=("method", "nunique"), smallest=("size", "min"), largest=("size", "max"))
        .reset_index()
    )
    counts = spread.merge(counts, on=["problem", "precision"])
    page.table(
        "overview",
        counts,
        [
            "problem precision",
            ("methods", "methods", whole),
            ("smallest", "smallest n", whole),
            ("largest", "largest n", whole),
            *((column[s], s, whole) for s in known),
        ],
        caption="Trials by status. pass: within the tolerance; suspect: up to ten times it; failed: above.",
    )


def _statuses(found):
    return [s for s in STATUSES if s in found] + [s for s in found if s not in STATUSES]


def ranked_methods(records, split_by=("device",)):
    """Returns the answers that passed, ranked in their races. A race is the comparison of all methods on one task:
    equal problem, precision, task and size, and equal columns `split_by`. New columns are `place` (1 is the fastest),
    `of` (number of competitors) and `behind` (time over the winner's). `second` is the next method, and
    `second_behind` its time over this row's."""
    rows = answered(records)
    rows = rows[rows["status"] == "pass"]
    if len(rows) and (rows["backend"] != "emulated").any():
        emulated_only = ~rows["problem"].isin(rows.loc[rows["backend"] != "emulated", "problem"].unique())
        rows = rows[(rows["backend"] != "emulated") | emulated_only]
    race = ["problem", "precision", "task", "size", *split_by]
    rows = best(rows, [*race, *({"device"} - set(race)), "method"]).sort_values(
        [*race, "seconds_median"], kind="stable"
    )
    group = rows.groupby(race, sort=False)
    rows["place"] = group.cumcount() + 1
    rows["of"] = group["method"].transform("size")
    rows["behind"] = rows["seconds_median"] / group["seconds_median"].transform("first")
    rows["second"] = group["method"].shift(-1)
    rows["second_behind"] = group["seconds_median"].shift(-1) / rows["seconds_median"]
    return rows


def _pooled(records):
    """Pools the seeds of a matrix. Returns one row per configuration, with medians over the seeds. Its status is pass
    if it passed with all of them. Uses only the seeds of `with_common_methods`."""
    records = records.assign(pool=without_seed(records["task"]))
    race = ["problem", "precision", "size", "device"]
    if not (records.groupby([*race, "pool"])["task"].nunique() > 1).any():
        return records.drop(columns="pool")
    tried = records[records["status"] != "skipped"]
    races = tried.assign(is_vendors=tried["method"] == tried["reference_method"])
    races = races.groupby([*race, "pool", "task"]).agg(
        method=("method", lambda names: ", ".join(sorted(set(names)))), has_vendor=("is_vendors", "any")
    )
    races = races.reset_index()
    races["count"] = races["method"].str.count(", ") + 1
    tried = tried.merge(
        races.loc[with_common_methods(races, [*race, "pool"], "count", "method", "has_vendor"), [*race, "task"]]
    )
    configuration = [*race, "pool", "method", "backend", "config"]
    # A pooled rate is the median work (rate times time) over the median time.
    rates = ["gflops", "peak_share"]
    tried[rates] = tried[rates].mul(tried["seconds_median"], axis=0)
    medians = {name: (name, "median") for name in ["seconds_q1", "seconds_median", "seconds_q3", *rates]}
    other_columns = {"residual_ratio": "max", "matrix_kind": "first", "answered": "all", "passed": "all"}
    group = tried.assign(passed=tried["status"] == "pass").groupby(configuration, sort=False)
    found = group.agg(**medians, **{name: (name, how) for name, how in other_columns.items()}).reset_index()
    found[rates] = found[rates].div(found["seconds_median"], axis=0)
    return found.assign(status=np.where(found["passed"], "pass", "failed"), task=found["pool"])


def ranking(page, results):
    page.begin("ranking", "How often each method wins")
    if not results.take("answered status").eval("answered & status == 'pass'").any():
        page.remark("No trial passed its accuracy check with a measured time: there is no winner.")
        return
    records = _pooled(results.take(RANKED))
    leaders_table(page, ranked_methods(records, split_by=()))
    rows = ranked_methods(records)
    # A tie: the interquartile ranges of the fastest two overlap.
    q1_of_second = rows.groupby(["problem", "precision", "task", "size", "device"], sort=False)["seconds_q1"].shift(-1)
    first = (rows["place"] == 1) & (rows["of"] > 1)
    is_tie = first & (q1_of_second < rows["seconds_q3"])
    emulated = rows["backend"] == "emulated"
    page.add(
        "Only answers that passed compete, each method in its fastest configuration. They compete on the same"
        " device, matrix, right-hand sides, triangle and size; seeds are pooled to their median."
        + (
            " Emulated kernels compete only on problems for which nothing else ran. Their times say nothing about a"
            " GPU, and so their order does not either."
            if emulated.any()
            else ""
        )
    )
    raced = rows.assign(
        won=first & ~is_tie,
        level=is_tie | (is_tie.shift(fill_value=False) & (rows["place"] == 2)),  # both methods of a tie
        near=(rows["behind"] <= 1.1) & (rows["of"] > 1),
        alone=rows["of"] == 1,
    )
    tally = (
        raced.groupby(["problem", "precision", "device", "method"])
        .agg(
            races=("place", "size"),
            alone=("alone", "sum"),
            wins=("won", "sum"),
            ties=("level", "sum"),
            close=("near", "sum"),
        )
        .reset_index()
    )
    typical = (
        raced[~raced["alone"]]
        .groupby(["problem", "precision", "device", "method"])["behind"]
        .median()
        .rename("typical")
    )
    tally = tally.merge(typical, on=["problem", "precision", "device", "method"], how="left")
    tally = tally.sort_values(
        ["problem", "precision", "device", "wins", "typical"], ascending=[True, True, True, False, True], kind="stable"
    )
    mark = page.mark()
    page.table(
        "ranking-tally",
        tally,
        [
            "problem precision device method",
            ("races", "races", whole),
            ("alone", "uncontested", whole),
            ("wins", "fastest", whole),
            ("ties", "in a tie", whole),
            ("close", "within 10 % of the fastest", whole),
            ("typical", "median time / fastest", factor),
        ],
        limit=120,
        caption="Number of races that each method wins against other methods that pass. A tie of the fastest two counts"
        " for both.",
    )
    if len(tally) > MOST_TALLIES:
        page.fold("Table: how often each method wins", mark)
    mark = page.mark()
    first = rows[rows["place"] == 1]
    shown = _largest_sizes_first(first)
    page.table(
        "ranking",
        shown.assign(second=shown["second"].fillna("–")),
        [
            "problem precision task size device",
            ("method", "fastest", None),
            "config seconds_median",
            ("seconds_q1", "1st quartile", seconds),
            ("seconds_q3", "3rd quartile", seconds),
            "gflops peak_share",
            ("residual_ratio", "ratio", number),
            "second",
            ("second_behind", "slower by", factor),
            ("of", "of", whole),
        ],
        limit=60,
        caption="The fastest method that passed by size, largest sizes first.",
        more_csv_columns=(),
    )
    page.fold("Table: the fastest method of every race", mark)


def _largest_sizes_first(first):
    """Sorts the winners by size, largest first. The four largest sizes of every task come before all others, so that
    the first rows of the table show every task."""
    first = first.sort_values("size", ascending=False, kind="stable")
    # The rank of a size among its task's sizes; 0 is the largest.
    depth = first.groupby(["problem", "precision", "task", "device"]).cumcount()
    few = first.assign(depth_=np.where(depth < 4, 0, depth))
    return few.sort_values(
        ["depth_", "problem", "precision", "device", "task", "size"], ascending=[True] * 5 + [False], kind="stable"
    ).drop(columns="depth_")
