"""Shows the time of each stage of a method, and the occupancy of its kernels. A stage is the part of a method's time in
one kernel."""

import numpy as np

from ..captions import matrices
from ..frames import AT_LARGEST, LARGEST, at_largest, has_several, on_device, panels, slug, stage_rows, verdict_rank
from ..page import number, percent, seconds, whole
from ..plots import Plot, Series, listed

LEAST_SHARE = 0.03  # stages with a smaller fraction of the time are not drawn; the table has all


def shown_trials(results):
    """Returns the trials with stages at each method's largest n."""
    records = results.take(LARGEST)
    records = records[records.index.isin(results.stages["trial"].unique())]
    return at_largest(records.assign(trial=records.index))


def stages(page, results):
    page.begin("stages", "Stages and occupancy")
    if not results.stages["seconds"].notna().any():
        page.remark("No stages are recorded: no method with named stages returned an answer.")
        return
    page.add_once(
        f"Stages of 3 % and more, measured in a separate run. {AT_LARGEST}. Occupancy is that of"
        " the launch: warps that fit on a multiprocessor, divided by its maximum. It is unknown outside a GPU."
    )
    rows = stage_rows(results, shown_trials(results)["trial"])
    rows = rows.sort_values(
        ["problem", "precision", "device", "method", "seconds"], ascending=[True] * 4 + [False], kind="stable"
    )
    is_drawn = rows["occupancy"].notna() | (rows["share"] <= 1 - LEAST_SHARE)
    # A method with a single stage, which takes all of the time, is drawn only if its occupancy is known.
    is_drawn = is_drawn.groupby(rows["trial"]).transform("any")
    page.plots(_profile(*panel, rows[~is_drawn]) for panel in panels(rows[is_drawn]))
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
        more_csv_columns=("config",),
    )
    page.plots(_occupancy_over_size(results))


def _profile(problem, precision, device, group, hidden):
    """Returns the plot of one panel (see `frames.panels`): bars with each stage's fraction of the time and its
    occupancy. `hidden`: the rows of all panels that are not drawn."""
    is_large = group["share"] >= LEAST_SHARE
    note = "" if is_large.all() else f"Stages below {LEAST_SHARE:.0%} of the time are not shown.".replace("%", " %")
    hidden = hidden.merge(group[["problem", "precision", "device"]])["method"]
    hidden = hidden[~hidden.isin(group["method"])].unique()  # a method may have one stage with some operands only
    if len(hidden):
        note = f"{note} Methods with one stage and no occupancy are not shown: {listed(hidden)}.".lstrip()
    group = group[is_large]
    operands = np.where((group["operands"] != "") & has_several(group["operands"]), ", " + group["operands"], "")
    sizes, matrix_names = group["size"].unique(), group["matrix_full"].unique()
    labels = group["method"] + on_device(group) + operands
    labels += ", n = " + group["size"].astype(str) if len(sizes) > 1 else ""
    labels += ", " + group["matrix_full"] if len(matrix_names) > 1 else ""
    names = (labels + ": " + group["kernel"]).to_list()
    hollow = verdict_rank(group)
    settings, ylabel = group["config"].to_numpy(), "fraction of time"
    series = [Series(ylabel, names, group["share"].to_numpy(), hollow=hollow, settings=settings)]
    if group["occupancy"].notna().any():
        series.append(Series("occupancy", names, group["occupancy"].to_numpy(), hollow=hollow))
        ylabel = "fraction of time, occupancy"
    where = (
        f"on {matrix_names[0]}, each method at its largest n there"
        if len(matrix_names) == 1
        else "each method at its largest n, on its matrix"
    )
    at_n = f"n = {sizes[0]}" if len(sizes) == 1 else where
    return Plot(
        slug("stages", problem, precision, device),
        f"Stages: {problem}, {precision}, {at_n}, {device}",
        "",
        ylabel,
        series,
        kind="bars",
        percent=True,
        note=note,
        basis=f"{matrices(group, with_sizes=True)} Each bar: a stage of one separate run.",
    )


def _occupancy_over_size(results):
    """Yields plots of occupancy over n for stages whose occupancy changes."""
    rows = stage_rows(results, results.stages.loc[results.stages["occupancy"].notna(), "trial"].unique())
    rows = rows[rows["occupancy"].notna()]
    rows = rows.sort_values("seconds_median", kind="stable").drop_duplicates(
        ["problem", "precision", "device", "method", "operands", "kernel", "size"]
    )
    for (problem, precision, device), group in rows.sort_values("size").groupby(["problem", "precision", "device"]):
        series = []
        several = has_several(group["operands"])
        for (method, operands, kernel), part in group.groupby(["method", "operands", "kernel"]):
            if len(part) > 1 and np.ptp(part["occupancy"]) > 0.01:
                label = f"{method}, {operands}" if several and operands else method
                x, y = part["size"].to_numpy(), part["occupancy"].to_numpy()
                series.append(Series(f"{label}: {kernel}", x, y, hollow=verdict_rank(part)))
        if series:
            yield Plot(
                slug("occupancy", problem, precision, device),
                f"Occupancy over size: {problem}, {precision}, {device}",
                "n",
                "occupancy",
                series,
                percent=True,
                note="Only stages whose occupancy changes with n.",
                basis=f"{matrices(group)} Each point: the occupancy of the fastest trial's launch.",
            )
