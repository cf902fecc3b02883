"""GPU models compared: the same trials (same key) on several models."""

from itertools import combinations

import numpy as np
import pandas as pd

from ..frames import PAIRED, devices_by_age, many, pairs, slug
from ..page import counted, factor, whole
from ..plots import Plot, Series


def architectures(page, night):
    page.begin("architectures", "GPU against GPU")
    devices, rows = devices_by_age(night.answered(PAIRED))
    if len(devices) < 2:
        page.nothing("These records have only one GPU model." if devices else "These records have no GPU.")
        return
    combos = list(combinations(devices, 2))
    for first, second in combos[:6]:
        both = pairs(rows, first, second)
        if not len(both):
            page.nothing(f"{first} and {second} have no trial in common.")
            continue
        page.heading(f"{second} over {first}")
        figures = []
        for (problem, precision), group in both.groupby(["problem", "precision"]):
            figures.append(
                Plot(
                    slug("gpu", first, second, problem, precision),
                    f"{second} over {first}: {problem}, {precision}",
                    "n",
                    "speedup",
                    _lines(group),
                    lines_at=[(1, "equal")],
                    note="The median configuration at each size; bars: quartiles of the samples.",
                )
            )
        page.plots(figures)
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
    if len(combos) > 6:
        page.nothing(f"Left out: {counted(len(combos) - 6, 'more pair')} of GPUs.")


def _lines(group):
    """Returns the median trial of each (method, operands, size): its ratio and interval."""
    suffix = np.where(group["operands"] != "", ", " + group["operands"], "") if many(group["operands"]) else ""
    ordered = group.assign(label=group["method"] + suffix).sort_values(["label", "size", "ratio"], kind="stable")
    place = ordered.groupby(["label", "size"]).cumcount()
    count = ordered.groupby(["label", "size"])["ratio"].transform("size")
    middle = ordered[place == (count - 1) // 2]
    return [
        Series(
            label, part["size"].to_numpy(), part["ratio"].to_numpy(), part["low"].to_numpy(), part["high"].to_numpy()
        )
        for label, part in middle.groupby("label")
    ]


def _row(group):
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
    """Describes which device is faster, and from which size on that changes. `by_size`: `low` and `high` of the
    second's speedup, sizes ascending. If they enclose 1, the two do not differ significantly."""
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
