"""Compares device models (GPUs, or CPUs if there are none) in three ways. The first is `gaussweep compare --models`.
The second compares method by method, on the trials that two models both ran (see `frames.common_trials`). The third
compares with times published for older GPUs."""

from itertools import combinations

import numpy as np
import pandas as pd

from ..comparison import CannotCompare, models_of
from ..frames import PAIRED, answered, common_trials, devices_by_age, short_names, slug
from ..page import counted, factor, seconds, whole
from ..papers.published_times import with_measured
from ..papers.common import panel_devices, source_of
from ..papers.experiments import experiments, matching

# Measured limits of a device: label, name in the JSON of `gaussweep compare --models`, and exponent of the ratio new /
# base. The exponent is -1 for a time, so that a ratio above 1 always means that the new model is better.
LIMITS = (
    ("memory", "copy_bytes_per_second", 1),
    ("products in float", "gemm_flops_float", 1),
    ("products in double", "gemm_flops_double", 1),
    ("launches", "launch_seconds", -1),
)


def architectures(page, results):
    page.begin("architectures", "Model against model")
    _add_compared_models(page, results)
    devices, rows = devices_by_age(results.take_answered(PAIRED))
    model_pairs = list(combinations(devices, 2))
    for first, second in model_pairs[:6]:
        common = common_trials(rows, first, second)
        if not len(common):
            page.remark(f"{first} and {second} have no trial in common.")
            continue
        mark = page.mark()
        table = common.groupby(["problem", "precision", "method"]).apply(_summary_row).reset_index()
        page.table(
            slug("gpu", first, second),
            table,
            [
                "problem precision method",
                ("trials", "trials in common", whole),
                ("middle", "median speedup", factor),
                ("low", "least", factor),
                ("high", "most", factor),
                ("overtakes", "the faster one, by size", None),
            ],
            limit=60,
            caption=f"Speedup of {second} over {first}, and the size from which the other one is faster.",
        )
        page.fold(f"Table: every method, {second} over {first}", mark)
    if len(model_pairs) > 6:
        page.remark(f"Left out: {counted(len(model_pairs) - 6, 'more pair')} of GPUs.")
    _add_published_times(page, results)


def _add_compared_models(page, results):
    """Adds the tables of `gaussweep compare --models`, one comparison per pair of models."""
    records = results.take("problem backend device host")
    gpus = records.loc[records["backend"] == "cuda", "device"].unique()
    cpus = results.hosts.loc[results.hosts["host"].isin(records["host"]), "cpu"].replace("", np.nan).dropna().unique()
    if len(gpus if len(gpus) else cpus) < 2:
        page.remark("These records have only one model.")
        return
    try:
        comparisons = models_of(results)
    except CannotCompare as reason:
        page.remark(f"The models are not compared: {reason}.")
        return
    problems = set(records["problem"])
    for comparison in comparisons:
        base, new = comparison["base"], comparison["new"]
        page.heading(f"{new['name']} over {base['name']}")
        limits = [
            f"{label} {factor((new[name] / base[name]) ** exponent)}"
            for label, name, exponent in LIMITS
            if new[name] and base[name]
        ]
        page.add(
            (f"Measured limits, as ratios: {', '.join(limits)}. " if limits else "")
            + " ".join(_extent_of(model) for model in (base, new))
        )
        name = slug("models", base["name"], new["name"])
        task_columns = ["problem precision matrix", ("details", "operands", None)]
        tasks = pd.DataFrame([task for task in comparison["tasks"] if task["problem"] in problems])
        columns = [
            ("speedup", "speedup", None),
            ("range", "over sizes", None),
            ("predicted", "predicted", None),
            ("limit", "limited by", None),
            ("faster", "the faster one", None),
        ]
        page.table(
            name, tasks, [*task_columns, *columns], caption="The fastest method of each model, median over sizes."
        )
        winners = pd.DataFrame([row for row in comparison["winners"] if row["problem"] in problems])
        short = short_names([base["name"], new["name"]])
        columns = [
            ("n", "n", None),
            ("base_method", f"fastest on {short[base['name']]}", None),
            ("new_method", f"fastest on {short[new['name']]}", None),
            ("base_cost", f"cost on {short[base['name']]}", factor),
            ("new_cost", f"cost on {short[new['name']]}", factor),
        ]
        page.table(
            f"{name}-winners",
            winners,
            [*task_columns, *columns],
            caption="Sizes at which the fastest methods differ clearly. Cost: the time of the other model's fastest"
            " method on this model, over that of its own fastest method.",
        )


def _extent_of(model):
    """Returns a sentence with the number of runs and devices from which a model's times come."""
    single = ", one sample of this model" if model["devices"] == 1 else ""
    return f"{model['name']}: {counted(model['runs'], 'run')} on {counted(model['devices'], 'device')}{single}."


def _add_published_times(page, results):
    """Adds a table of the speedups over times that the papers published for older GPUs. Each method is compared at the
    largest size that was both published and measured."""
    tables = []
    for experiment in experiments():
        rows = matching(results, experiment)
        for drawing in experiment["draw"]:
            if drawing["kind"] != "published" or "rate" in drawing or rows is None or not len(rows):
                continue
            for device in panel_devices(answered(rows)):
                table = with_measured(drawing, rows, device)
                if table is not None:
                    table = table[table["faster"].notna() & (table["status"] == "pass")]
                    ran_on = np.where(table["backend"] == "host", "CPU", device)
                    tables.append(table.assign(device=ran_on, source=source_of(drawing["csv"])))
    tables = [table for table in tables if len(table)]
    if not tables:
        return
    table = pd.concat(tables).sort_values("n", kind="stable")
    table = table.drop_duplicates(["source", "what", "device"], keep="last")
    names = {**short_names(sorted(set(table["device"]) - {"CPU"})), "CPU": "the CPU"}
    names = {device: name for device, name in names.items() if device in set(table["device"])}
    table["device"] = table["device"].map(names)
    row = ["what", "n", "published", "source"]
    table = table.pivot_table(index=row, columns="device", values="faster", aggfunc="max", sort=False).reset_index()
    page.table(
        "models-published",
        table,
        [
            ("what", "method", None),
            "n",
            ("published", "published time", seconds),
            *((name, f"over {name}", factor) for name in names.values()),
            ("source", "source", None),
        ],
        caption="Published times of older GPUs over the measured ones, at the largest size that both have.",
    )


def _summary_row(group):
    """Returns the table row of one method. `group`: its common trials, as `frames.common_trials` returns them."""
    by_size = group.groupby("size")[["low", "high"]].median()
    return pd.Series(
        {
            "trials": len(group),
            "middle": group["ratio"].median(),
            "low": group["ratio"].min(),
            "high": group["ratio"].max(),
            "overtakes": lead(by_size, group["first"].iloc[0], group["second"].iloc[0]),
        }
    )


def lead(by_size, first, second):
    """Returns words that name the faster device, and the size from which on the other one is faster. `by_size` has one
    row per size, ascending: the interval (`low`, `high`) of the speedup of device `second` over device `first`. An
    interval that contains 1 shows no clear difference."""
    # Per size: 1 if the second device is faster, -1 if the first one is, 0 without a clear difference.
    signs = np.where(by_size["low"] > 1, 1, np.where(by_size["high"] < 1, -1, 0))
    clear = np.flatnonzero(signs)
    if not len(clear):
        return "no clear difference"
    sizes, names = by_size.index.to_list(), {1: second, -1: first}
    changing_at = [i for previous, i in zip(clear, clear[1:]) if signs[previous] != signs[i]]
    if not changing_at:
        name = names[signs[clear[0]]]
        if len(clear) == len(signs):
            return f"{name} at every size"
        is_clear_from_there = len(clear) == len(signs) - clear[0]
        return (
            f"{name} from n = {sizes[clear[0]]}; no clear difference below"
            if is_clear_from_there
            else f"{name} where the difference is clear"
        )
    if len(changing_at) == 1:
        return f"{names[signs[changing_at[0]]]} from n = {sizes[changing_at[0]]}"
    return f"changes more than once, first at n = {sizes[changing_at[0]]}"
