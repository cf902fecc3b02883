"""Plots the time of every kernel call over the iterations of a method. This needs a plan with `stages: calls`, which
records each call in a row of its own instead of one sum per kernel."""

import numpy as np

from ..captions import matrices
from ..frames import call_rows, slug
from ..plots import Plot, Series
from .common import device_title, pick

MOST_POINTS = 256  # per line; longer lines are subsampled


def rows_of_single_calls(results, rows):
    """Returns the stage rows of the trials in `rows` that have one row per kernel call. The column `iteration` counts
    the calls of each kernel from 1. Trials that call every kernel only once are left out."""
    calls = call_rows(results)
    calls = calls[calls["trial"].isin(rows.index)]
    of_kernel = calls.groupby(["trial", "kernel"], sort=False)["calls"]
    calls = calls.assign(iteration=of_kernel.cumcount() + 1)
    is_single = calls.groupby("trial")["calls"].transform("max") == 1
    return calls[is_single & (calls.groupby("trial")["iteration"].transform("max") > 1)]


def subsampled(points):
    """Returns at most MOST_POINTS rows, evenly spaced, including the first and the last."""
    if len(points) <= MOST_POINTS:
        return points
    return points.iloc[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))]


def calls(page, results, experiment, drawing, rows):
    """Plots the times of the kernels `drawing["kernels"]` over the iterations, with one line per method and kernel.
    Shows the fastest trial at each method's largest size. Parameters: see papers/__init__.py."""
    recorded = rows_of_single_calls(results, pick(rows, drawing.get("where", {})))
    recorded = recorded[recorded["kernel"].isin(drawing["kernels"])]
    if not len(recorded):
        page.remark("These trials have only sums over calls: their plan lacks stages: calls.")
        return True
    plots = []
    for (precision, device), group in recorded.groupby(["precision", "device"]):
        series = []
        for method, of_method in group.groupby("method"):
            largest = of_method[of_method["size"] == of_method["size"].max()]
            largest = largest[largest["trial"] == largest.sort_values("seconds_median", kind="stable")["trial"].iloc[0]]
            for kernel in drawing["kernels"]:
                points = subsampled(largest[largest["kernel"] == kernel])
                if len(points):
                    label = f"{method}, n = {largest['size'].iloc[0]}: {kernel}"
                    series.append(
                        Series(
                            label,
                            points["iteration"].to_numpy(),
                            points["seconds"].to_numpy(),
                            marker=False,
                            settings=points["config"].to_numpy(),
                        )
                    )
        plots.append(
            Plot(
                slug(experiment["id"], precision, device),
                f"{experiment['title']}, {precision}, {device_title(device)}",
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
