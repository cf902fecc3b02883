"""The time of each stage of a method, and the occupancy of its kernels."""

import numpy as np

from ..frames import AT_LARGEST, LARGEST, at_largest, many, matrices, not_passed, on_device, panels, slug, stage_rows
from ..page import number, percent, seconds, whole
from ..plots import Plot, Series

LEAST_SHARE = 0.03  # smallest fraction of time of a stage that is drawn; the table has all


def telling_trials(night):
    """Returns one trial per (problem, precision, device, method) among the trials with stages: the fastest accepted
    configuration at the largest size."""
    records = night.take(LARGEST)
    records = records[records.index.isin(night.stages["trial"].unique())]
    return at_largest(records.assign(trial=records.index))


def stages(page, night):
    page.begin("stages", "Stages and occupancy")
    if not night.stages["seconds"].notna().any():
        page.nothing("No stages are recorded: no method with named stages returned an answer.")
        return
    page.once(
        f"Stages of 3 % and more, measured in a separate run. {AT_LARGEST}. Occupancy is that of"
        " the launch: warps that fit on a multiprocessor over its maximum; it is unknown outside a GPU."
    )
    rows = stage_rows(night, telling_trials(night)["trial"])
    rows = rows.sort_values(
        ["problem", "precision", "device", "method", "seconds"], ascending=[True] * 4 + [False], kind="stable"
    )
    is_drawn = rows["occupancy"].notna() | (rows["share"] <= 1 - LEAST_SHARE)
    is_drawn = is_drawn.groupby(rows["trial"]).transform("any")  # a method with a single stage is not drawn
    page.plots(_profile(*panel) for panel in panels(rows[is_drawn]))
    page.table(
        "stages",
        rows,
        [
            "problem precision device method task size",
            ("kernel", "stage", None),
            ("calls", "calls", whole),
            ("mean", "mean", seconds),
            ("seconds", "total", seconds),
            ("share", "fraction", percent),
            ("occupancy", "occupancy", number),
        ],
        limit=80,
        caption=f"Stages. {AT_LARGEST}.",
        also=("config",),
    )
    page.plots(_occupancy_over_size(night))


def _profile(problem, precision, device, group):
    """Returns the plot of one panel's stages: bars with their fractions of the time and their occupancies."""
    is_large = group["share"] >= LEAST_SHARE
    note = "" if is_large.all() else f"Stages below {LEAST_SHARE:.0%} of the time are not shown.".replace("%", " %")
    group = group[is_large]
    operands = np.where((group["operands"] != "") & many(group["operands"]), ", " + group["operands"], "")
    names = (group["method"] + on_device(group) + operands + ": " + group["kernel"]).to_list()
    hollow, sizes = not_passed(group), group["size"].unique()
    settings, words = group["config"].to_numpy(), "fraction of time"
    series = [Series(words, names, group["share"].to_numpy(), hollow=hollow, settings=settings)]
    if group["occupancy"].notna().any():
        series.append(Series("occupancy", names, group["occupancy"].to_numpy(), hollow=hollow))
        words = "fraction of time, occupancy"
    n = f"n = {sizes[0]}" if len(sizes) == 1 else "each method at its largest n"
    return Plot(
        slug("stages", problem, precision, device),
        f"Stages: {problem}, {precision}, {n}, {device}",
        "",
        words,
        series,
        kind="bars",
        percent=True,
        note=note,
        basis=f"{matrices(group, with_sizes=True)} Each bar: a stage of one separate run.",
    )


def _occupancy_over_size(night):
    """Yields plots of occupancy over n for stages whose occupancy changes."""
    rows = stage_rows(night, night.stages.loc[night.stages["occupancy"].notna(), "trial"].unique())
    rows = rows[rows["occupancy"].notna()]
    rows = rows.sort_values("seconds_median", kind="stable").drop_duplicates(
        ["problem", "precision", "device", "method", "operands", "kernel", "size"]
    )
    for (problem, precision, device), group in rows.sort_values("size").groupby(["problem", "precision", "device"]):
        series = []
        several = many(group["operands"])
        for (method, operands, kernel), part in group.groupby(["method", "operands", "kernel"]):
            if len(part) > 1 and np.ptp(part["occupancy"]) > 0.01:
                label = f"{method}, {operands}" if several and operands else method
                x, y = part["size"].to_numpy(), part["occupancy"].to_numpy()
                series.append(Series(f"{label}: {kernel}", x, y, hollow=not_passed(part)))
        if series:
            yield Plot(
                slug("occupancy", problem, precision, device),
                f"Occupancy over size: {problem}, {precision}, {device}",
                "n",
                "occupancy",
                series,
                percent=True,
                note="Only stages whose occupancy changes with n.",
                basis=f"{matrices(group)} Each point: one launch configuration's occupancy.",
            )
