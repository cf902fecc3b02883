"""The time of each kernel call over the iterations of a method, for plans that record each call (`stages: calls`)."""

import numpy as np

from ..frames import call_rows, matrices, slug
from ..plots import Plot, Series
from .common import called, pick

MOST_POINTS = 256  # points of a line; longer lines are thinned


def calls_apart(night, rows):
    """Returns the calls of these trials that were recorded one by one. `iteration` numbers the calls of each kernel."""
    calls = call_rows(night)
    calls = calls[calls["trial"].isin(rows.index)]
    same = calls.groupby(["trial", "kernel"], sort=False)["calls"]
    calls = calls.assign(iteration=same.cumcount() + 1)
    single = calls.groupby("trial")["calls"].transform("max") == 1
    return calls[single & (calls.groupby("trial")["iteration"].transform("max") > 1)]


def thinned(points):
    """Returns at most MOST_POINTS rows, evenly spaced, including the first and the last."""
    if len(points) <= MOST_POINTS:
        return points
    return points.iloc[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))]


def calls(page, night, experiment, drawing, rows):
    """Plots the time of each call over the iterations, one line per kernel, at the largest size of each method."""
    found = calls_apart(night, pick(rows, drawing.get("where", {})))
    found = found[found["kernel"].isin(drawing["kernels"])]
    if not len(found):
        page.nothing("These trials have only sums over calls: their plan lacks stages: calls.")
        return True
    plots = []
    for (precision, device), group in found.groupby(["precision", "device"]):
        series = []
        for method, of_method in group.groupby("method"):
            last = of_method[of_method["size"] == of_method["size"].max()]
            last = last[last["trial"] == last.sort_values("seconds_median", kind="stable")["trial"].iloc[0]]
            for kernel in drawing["kernels"]:
                line = thinned(last[last["kernel"] == kernel])
                if len(line):
                    label = f"{method}, n = {last['size'].iloc[0]}: {kernel}"
                    series.append(
                        Series(
                            label,
                            line["iteration"].to_numpy(),
                            line["seconds"].to_numpy(),
                            marker=False,
                            settings=line["config"].to_numpy(),
                        )
                    )
        plots.append(
            Plot(
                slug(experiment["id"], precision, device),
                f"{experiment['title']}, {precision}, {called(device)}",
                "iteration",
                "time of the call",
                series,
                xlog=False,
                ylog=drawing.get("log", False),
                seconds=True,
                basis=f"{matrices(group)} Each point: one call of a kernel.",
            )
        )
    page.plots(plots)
    return True
