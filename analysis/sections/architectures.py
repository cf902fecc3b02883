"""Device models compared: the program's comparison, all methods on the same trials (same key), and published cards."""

from itertools import combinations

import numpy as np
import pandas as pd

from ..comparison import Unjudged, models_of
from ..frames import PAIRED, answered, devices_by_age, pairs, short_names, slug
from ..page import counted, factor, seconds, whole
from ..papers.beside import beside
from ..papers.common import heads, source_of
from ..papers.experiments import experiments, matching

# Words, name in the JSON of `gaussweep compare --models`, exponent of new / base: -1 for a time, where less is better.
LIMITS = (
    ("memory", "copy_bytes_per_second", 1),
    ("products in float", "gemm_flops_float", 1),
    ("products in double", "gemm_flops_double", 1),
    ("launches", "launch_seconds", -1),
)


def architectures(page, night):
    page.begin("architectures", "Model against model")
    _compared(page, night)
    devices, rows = devices_by_age(night.answered(PAIRED))
    combos = list(combinations(devices, 2))
    for first, second in combos[:6]:
        both = pairs(rows, first, second)
        if not len(both):
            page.nothing(f"{first} and {second} have no trial in common.")
            continue
        mark = page.mark()
        table = both.groupby(["problem", "precision", "method"]).apply(_row).reset_index()
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
    if len(combos) > 6:
        page.nothing(f"Left out: {counted(len(combos) - 6, 'more pair')} of GPUs.")
    _published(page, night)


def _compared(page, night):
    """Adds what `gaussweep compare --models` finds."""
    records = night.take("problem backend device host")
    gpus = records.loc[records["backend"] == "cuda", "device"].unique()
    cpus = night.hosts.loc[night.hosts["host"].isin(records["host"]), "cpu"].replace("", np.nan).dropna().unique()
    if len(gpus if len(gpus) else cpus) < 2:
        page.nothing("These records have only one model.")
        return
    try:
        comparisons = models_of(night)
    except Unjudged as reason:
        page.nothing(f"The models are not compared: {reason}.")
        return
    problems = set(records["problem"])
    for found in comparisons:
        base, new = found["base"], found["new"]
        page.heading(f"{new['name']} over {base['name']}")
        limits = [
            f"{words} {factor((new[name] / base[name]) ** sign)}"
            for words, name, sign in LIMITS
            if new[name] and base[name]
        ]
        page.add(
            (f"Measured limits, as ratios: {', '.join(limits)}. " if limits else "")
            + " ".join(_sample(model) for model in (base, new))
        )
        name = slug("models", base["name"], new["name"])
        words = ["problem precision matrix", ("details", "operands", None)]
        tasks = pd.DataFrame([task for task in found["tasks"] if task["problem"] in problems])
        columns = [
            ("speedup", "speedup", None),
            ("range", "over sizes", None),
            ("predicted", "predicted", None),
            ("limit", "limited by", None),
            ("faster", "the faster one", None),
        ]
        page.table(name, tasks, [*words, *columns], caption="The fastest method of each model, median over sizes.")
        winners = pd.DataFrame([row for row in found["winners"] if row["problem"] in problems])
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
            [*words, *columns],
            caption="Sizes at which the fastest methods differ clearly. Cost: the time of the other model's fastest"
            " method over that of the own one.",
        )


def _sample(model):
    one = ", one sample of this model" if model["devices"] == 1 else ""
    return f"{model['name']}: {counted(model['runs'], 'run')} on {counted(model['devices'], 'device')}{one}."


def _published(page, night):
    """Adds published times of older cards at the sizes that were measured."""
    tables = []
    for experiment in experiments():
        rows = matching(night, experiment)
        for drawing in experiment["draw"]:
            if drawing["kind"] != "published" or "rate" in drawing or rows is None or not len(rows):
                continue
            for device in heads(answered(rows)):
                table = beside(drawing, rows, device)
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
    same = ["what", "n", "published", "source"]
    table = table.pivot_table(index=same, columns="device", values="faster", aggfunc="max", sort=False).reset_index()
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
        caption="Published times of older cards over the measured ones, at the largest size that both have.",
    )


def _row(group):
    """Returns the table row of one method: its speedups over all common trials, and the faster model by size."""
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
    """Describes which device is faster, and from which size on that changes. `by_size`: `low` and `high` of the speedup
    of the second device, sizes ascending. If they enclose 1, the difference is not significant."""
    # 1: the second device is faster, -1: the first one is, 0: no clear difference.
    signs = np.where(by_size["low"] > 1, 1, np.where(by_size["high"] < 1, -1, 0))
    decided = np.flatnonzero(signs)
    if not len(decided):
        return "no clear difference"
    sizes, names = by_size.index.to_list(), {1: second, -1: first}
    changes = [i for before, i in zip(decided, decided[1:]) if signs[before] != signs[i]]
    if not changes:
        name = names[signs[decided[0]]]
        if len(decided) == len(signs):
            return f"{name} at every size"
        after = len(decided) == len(signs) - decided[0]
        return (
            f"{name} from n = {sizes[decided[0]]}; no clear difference below"
            if after
            else f"{name} where the difference is clear"
        )
    if len(changes) == 1:
        return f"{names[signs[changes[0]]]} from n = {sizes[changes[0]]}"
    return f"changes more than once, first at n = {sizes[changes[0]]}"
