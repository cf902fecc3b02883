"""Draws the papers' times, speedups and fits again. The drawing functions have the parameters that papers/__init__.py
describes."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from ..fits import cubic, reciprocal
from ..captions import basis, matrices, measured, speedup_basis
from ..frames import (
    RATIO_INTERVAL,
    answered,
    best,
    has_several,
    on_main_matrix,
    other_settings,
    slug,
    speedups,
    terse,
    verdict_rank,
    without,
)
from ..loader import parameter
from ..page import factor, number, seconds, whole
from ..plots import Plot, Series
from .common import device_title, claims, panel_devices, panel_rows, pick

TITLES = {"seconds": "Median time over", "speedup": "Speedup by", "reciprocal": "1 / (t − K) [1/s] over"}


def lines(page, results, experiment, drawing, rows):
    """Plots time over n, with one line per method. If `drawing["by"]` names a parameter, each of its values gets a
    line. With `drawing["fit"]` a cubic is fitted to each line."""
    rows = on_main_matrix(answered(rows))
    figures, fits = [], []
    by = drawing.get("by")
    for device in panel_devices(rows):
        for precision, of_precision in panel_rows(rows, device).groupby("precision"):
            if not (of_precision["device"] == device).any() or not has_several(of_precision["size"]):
                continue
            label = of_precision["method"].astype(str)
            if has_several(of_precision["problem"]):
                label = of_precision["problem"] + "/" + label
            if has_several(of_precision["operands"]):
                label = label + np.where(of_precision["operands"] == "", "", ", " + of_precision["operands"])
            if by:
                label = label + parameter(of_precision, by).map(lambda v: "" if v is None else f", {by} {v}")
            of_precision = of_precision.assign(label=label)
            of_precision = best(of_precision, ["label", "size"]).sort_values("size", kind="stable")
            series = []
            groups = sorted(of_precision.groupby("label"), key=lambda g: _natural(g[0]))
            for name, group in groups:
                x, y = group["size"].to_numpy(), group["seconds_median"].to_numpy()
                series.append(
                    Series(
                        name,
                        x,
                        y,
                        group["seconds_q1"].to_numpy(),
                        group["seconds_q3"].to_numpy(),
                        verdict_rank(group),
                        settings=group["config"].to_numpy(),
                    )
                )
                fit = cubic(x, y) if drawing.get("fit") == "cubic" else None
                if fit:
                    dense_x = np.linspace(x.min(), x.max(), 60)
                    series[-1].line = False
                    series.append(
                        Series(
                            f"{name}, cubic fit, R² = {fit.r_squared:.5f}", dense_x, fit.curve(dense_x), marker=False
                        )
                    )
                    fits.append(
                        {
                            "series": name,
                            "precision": precision,
                            "device": device,
                            "points": len(x),
                            "r_squared": fit.r_squared,
                            **{f"of {k}": v for k, v in fit.coefficients.items()},
                        }
                    )
            is_log = drawing.get("fit") != "cubic"
            figures.append(
                Plot(
                    slug(experiment["id"], precision, device),
                    f"{experiment['title']}: {precision}, {device_title(device)}",
                    "n",
                    "median time",
                    series,
                    ylog=is_log,
                    xlog=None if is_log else False,
                    seconds=True,
                    basis=basis(of_precision),
                )
            )
    plot_count = page.plots(figures)
    if fits:
        frame = pd.DataFrame(fits)
        page.table(
            slug(experiment["id"], "fit"),
            frame,
            [
                "series precision device",
                ("points", "sizes", whole),
                *((f"of {k}", f"coefficient of {k} [s]", number) for k in ("n³", "n²", "n", "1")),
                ("r_squared", "R²", lambda v: f"{v:.6f}"),
            ],
            caption="Cubic fit of the medians by least squares.",
        )
    elif drawing.get("fit") == "cubic" and plot_count:
        page.remark("Fewer than five sizes: no cubic is fitted, because it would fit any times.")
    return bool(plot_count)


def _natural(name):
    """Returns a sort key by which "blocks 2" comes before "blocks 14"."""
    return re.sub(r"\d+", lambda m: m.group().zfill(9), name)


def over_parameter(page, results, experiment, drawing, rows):
    """Plots `drawing["y"]` over one parameter: the time t, the speedup over the parameter's smallest value, or the
    reciprocal 1 / (t - K). K is fitted (t = K + c / blocks). Takes the size that was measured with most values of the
    parameter."""
    name, what = drawing["parameter"], drawing["y"]
    values = pd.to_numeric(parameter(rows, name), errors="coerce")
    if name == "threads":
        values = values.where(values > 0)  # 0 means that the method chooses the number
    rows = speedups(rows, name, values)
    figures, fits = [], []
    for (precision, device), part in rows.groupby(["precision", "device"]) if len(rows) else ():
        value_count = part.groupby("size")["value"].nunique()
        size = value_count[value_count == value_count.max()].index.max()
        series = []
        has_several_kinds = part["matrix_kind"].nunique() > 1
        line = ["method", "rest", "matrix_kind"]
        at = part[part["size"] == size].drop_duplicates([*line, "value"])
        earlier_fits = len(fits)
        for (method, rest, kind), group in at.groupby(line):
            label = ", ".join(w for w in (method, terse(rest), kind if has_several_kinds else "") if w)
            method_series = _series_of_method(
                what, label, group, fits, dict(precision=precision, device=device, size=size)
            )
            series += [
                replace(s, settings=other_settings(group["config"], name)) if s.marker else s for s in method_series
            ]
        ylabel = {"seconds": "median time", "speedup": "speedup", "reciprocal": "1 / (t − K) [1/s]"}[what]
        if not series:
            continue
        figures.append(
            Plot(
                slug(experiment["id"], what, precision, device),
                f"{TITLES[what]} {name}: n = {size}, {precision}, {device}",
                name,
                ylabel,
                series,
                seconds=what == "seconds",
                xlog=False if what == "reciprocal" else None,
                basis=_basis(what, name, at, fits[earlier_fits:]),
            )
        )
    plot_count = page.plots(figures)
    if fits:
        page.table(
            slug(experiment["id"], "fit"),
            pd.DataFrame(fits),
            [
                "series precision device size",
                ("points", "points", whole),
                ("K", "K [s]", number),
                ("c", "c [s]", number),
                ("r_squared", "R²", lambda v: f"{v:.5f}"),
                ("above", "points above K", whole),
            ],
            caption=(
                "t = K + c / blocks by least squares. His hypothesis is that time falls as 1 / blocks; R² well below 1"
                " contradicts it."
            ),
        )
    elif what == "reciprocal" and plot_count == 0 and len(rows):
        page.remark("Fewer than three numbers of blocks: nothing to fit.")
        return True
    return bool(plot_count)


def _basis(what, name, rows, fits):
    """Returns the caption's sentences for a figure of `over_parameter`. `fits`: the fits of its lines."""
    if what == "seconds":
        return basis(rows)
    if what == "speedup":
        return speedup_basis(rows, name, is_pooled=False)
    points, above = (sum(fit[column] for fit in fits) for column in ("points", "above"))
    left_out = f" Not drawn: {points - above} of {points} points, whose t is at most K." if above < points else ""
    return (
        f"{matrices(rows)} t: {measured(rows)}. K and c of each line: t = K + c / {name}, fitted by least"
        f" squares.{left_out}"
    )


def _series_of_method(what, label, group, fits, columns):
    """Returns the series of one method over the parameter. `what`: seconds, speedup or reciprocal, as `drawing["y"]`.
    For the reciprocal, the fitted line is a second series, and `fits` gets a row with the fit. `columns`: further
    columns of that row."""
    x = group["value"].to_numpy()
    hollow = verdict_rank(group)
    if what == "seconds":
        return [
            Series(label, x, *(group[c].to_numpy() for c in ("seconds_median", "seconds_q1", "seconds_q3")), hollow)
        ]
    if what == "speedup":
        return [
            Series(
                label,
                x,
                *(group[c].to_numpy() for c in ("speedup", "speedup_low", "speedup_high")),
                hollow,
                ends=RATIO_INTERVAL,
            )
        ]
    t = group["seconds_median"].to_numpy()
    fit = reciprocal(x, t)
    if fit is None:
        return []
    limit = fit.coefficients["K"]
    above = t > limit
    fits.append(
        {
            "series": label,
            **columns,
            "points": len(x),
            **fit.coefficients,
            "r_squared": fit.r_squared,
            "above": int(above.sum()),
        }
    )
    y = np.where(above, 1 / np.where(above, t - limit, 1), np.nan)
    ends = np.array([x.min(), x.max()], dtype=float)
    return [
        Series(label, x, y, hollow=hollow, line=False),
        Series(f"{label}: blocks / c, K = {seconds(limit)}", ends, fit.curve(ends), marker=False),
    ]


def ratio(page, results, experiment, drawing, rows):
    """Adds a table with the speedup of the method `drawing["fast"]` over `drawing["slow"]` at each size, and the
    paper's claim about it. Both methods have equal values of the parameters that both have."""
    rows = answered(rows)
    usual_kinds = set(on_main_matrix(rows)["matrix_kind"])
    slow, fast = (pick(rows, drawing[k]) for k in ("slow", "fast"))
    names = [{name for p in part["parameter"] for name in p} for part in (slow, fast)]
    common = sorted(names[0] & names[1])
    slow, fast = (
        part.assign(common=part["parameter"].map(lambda p: str([p.get(name) for name in common])))
        for part in (slow, fast)
    )
    matrix = ["matrix_kind", "matrix_full", "matrix_seed"]
    same = ["precision", "device", "size", "uplo", *matrix, "common"]
    joined = _joined(fast, slow, same)
    # If the slow method did not run on a device, its time on the CPU is used: on the same matrix, or else on another.
    for shared in (["precision", "size", "uplo", *matrix, "common"], ["precision", "size", "uplo", "common"]):
        unmatched = fast[~fast["device"].isin(joined["device"])]
        joined = pd.concat([joined, _joined(unmatched, slow[slow["device"] == "CPU"], shared)], ignore_index=True)
    if not len(joined):
        return False
    joined = pd.concat([_one_matrix(part, usual_kinds) for _, part in joined.groupby(["precision", "device"])])
    # Keeps one triangle per size: the lower one if it was measured, because it is the default and sorts first.
    joined = joined.sort_values(["uplo", "seconds_median"], kind="stable").drop_duplicates(
        ["precision", "device", "size"]
    )
    joined = joined.assign(
        ratio=joined["seconds_median_slow"] / joined["seconds_median"],
        low=joined["seconds_q1_slow"] / joined["seconds_q3"],
        high=joined["seconds_q3_slow"] / joined["seconds_q1"],
    ).sort_values(["precision", "device", "size"], kind="stable")
    statements = claims(experiment["id"])
    statements = statements[statements["quantity"] == drawing["quantity"]]
    words = "".join(f" Published: {c.quantity} {_range(c)} ({c.source})." for c in statements.itertuples())
    at_largest_size = joined.drop_duplicates(["precision", "device"], keep="last")
    page.add(
        f"Time of {drawing['slow']['method']} over that of {drawing['fast']['method']}: "
        + "; ".join(
            f"{factor(r.ratio)} at n = {r.size} ({r.precision}, {r.device})" for r in at_largest_size.itertuples()
        )
        + "."
        + words
    )
    name = slug(experiment["id"], "ratio", drawing["slow"]["method"], drawing["fast"]["method"])
    page.table(
        name,
        joined,
        [
            "precision device size matrix_kind config",
            ("seconds_median_slow", drawing["slow"]["method"], seconds),
            ("seconds_median", drawing["fast"]["method"], seconds),
            ("ratio", "times faster", factor),
            ("low", "at least", factor),
            ("high", "at most", factor),
        ],
        limit=24,
        more_csv_columns=(),
    )
    return True


def _one_matrix(both, usual):
    """Returns the pairs on one matrix kind: the one with most sizes. Kinds in `usual` come first. Identity comes last,
    because iterative methods need only one iteration for it."""
    sizes = both.groupby("matrix_kind")["size"].nunique()
    kind = max(sizes.index, key=lambda k: (k in usual, k != "identity", sizes[k]))
    return both[both["matrix_kind"] == kind]


def _joined(fast, slow, same):
    """Joins the fastest record of `fast` and of `slow` for each value of the columns `same`. Columns of the slow record
    get the suffix _slow."""

    def least(part, by):
        return part.sort_values("seconds_median", kind="stable").drop_duplicates(by)

    slow = least(slow, same)[[*same, "seconds_q1", "seconds_median", "seconds_q3", "status"]]
    return least(fast, [*same, *({"device"} - set(same))]).merge(slow, on=same, suffixes=("", "_slow"))


def _range(claim):
    unit = "" if claim.unit == "1" else f" {claim.unit}"
    unit += "" if claim.relation == "about" else f" ({claim.relation})"
    return f"{claim.low:g}{unit}" if claim.low == claim.high else f"{claim.low:g} to {claim.high:g}{unit}"


def order(page, results, experiment, drawing, rows):
    """Lists the methods by time at two sizes: the largest one with most methods, and the largest one with at least two
    methods."""
    rows = answered(rows[rows["backend"] != "emulated"])
    sentences = []
    for device in panel_devices(rows):
        for precision, of_precision in panel_rows(rows, device).groupby("precision"):
            if not (of_precision["device"] == device).any():
                continue
            method_count = of_precision.groupby("size")["method"].nunique()
            for size in sorted(
                {
                    method_count[method_count == method_count.max()].index.max(),
                    method_count[method_count > 1].index.max()
                    if (method_count > 1).any()
                    else method_count.index.max(),
                }
            ):
                at = best(of_precision[of_precision["size"] == size], ["method"]).sort_values("seconds_median")
                sentences.append(
                    f"n = {size}, {precision}, {device}: "
                    + ", then ".join(f"{r.method} ({seconds(r.seconds_median)})" for r in at.itertuples())
                )
    if sentences:
        page.add("Measured order, fastest first:")
        page.items(sentences)
    return bool(sentences)


def verdict(page, results, experiment, drawing, rows):
    """Compares two values of one parameter on trials that are otherwise equal, with a verdict in words. It leaves out
    emulated kernels, because their times do not apply to a GPU."""
    name = drawing["parameter"]
    rows = answered(rows[rows["backend"] != "emulated"])
    rows = rows.assign(
        value=parameter(rows, name),
        rest=rows["parameters"].map(without(dict(zip(rows["parameters"], rows["parameter"])), name)),
    )
    rows = rows[rows["value"].isin([drawing["first"], drawing["second"]])]
    same = ["precision", "device", "host", "method", "size", "nrhs", "matrix_digest", "rest"]
    first, second = (best(rows[rows["value"] == drawing[k]], same) for k in ("first", "second"))
    trial_pairs = first.merge(second, on=same, suffixes=("", "_2"))
    if not len(trial_pairs):
        return False
    trial_pairs = trial_pairs.assign(
        ratio=trial_pairs["seconds_median"] / trial_pairs["seconds_median_2"],
        low=trial_pairs["seconds_q1"] / trial_pairs["seconds_q3_2"],
        high=trial_pairs["seconds_q3"] / trial_pairs["seconds_q1_2"],
    )
    sentences = [
        f"{rest or 'default'}, {precision}, {device}: {_pays(part)}"
        for (precision, device, rest), part in sorted(
            trial_pairs.groupby(["precision", "device", "rest"]), key=lambda g: _natural(" ".join(g[0]))
        )
    ]
    page.add(f"Verdict: {drawing['first']} {_pays(trial_pairs)} ({drawing['second']}'s time is 1).")
    page.add(
        f"{drawing['first']} against {drawing['second']}, trial by trial (different if the quartiles do not overlap):"
    )
    page.items(sentences[:24])
    page.table(
        slug(experiment["id"], "verdict", drawing["first"], drawing["second"]),
        trial_pairs.sort_values(["size", "rest"], ascending=[False, True], kind="stable")[
            [*same, "seconds_median", "seconds_median_2", "ratio", "low", "high"]
        ],
        [
            "precision device rest size",
            ("seconds_median", drawing["first"], seconds),
            ("seconds_median_2", drawing["second"], seconds),
            ("ratio", "ratio", factor),
            ("low", "at least", factor),
            ("high", "at most", factor),
        ],
        limit=24,
    )
    return True


def _pays(pairs):
    """Returns words for whether the first of two values is faster. `pairs`: one row per pair of trials, with the ratio
    of their times and its interval (`low`, `high`). "makes no difference": fewer than a quarter of the pairs differ
    clearly, or the median differs by less than one percent."""
    faster, slower = int((pairs["high"] < 1).sum()), int((pairs["low"] > 1).sum())
    middle = float(pairs["ratio"].median())
    if max(faster, slower) * 4 < len(pairs) or faster == slower or abs(middle - 1) < 0.01:
        words = "makes no difference"
    else:
        words = "pays" if faster > slower else "does not pay"
    return (
        f"{words}: faster in {faster} of {len(pairs)} pairs, slower in {slower}, without a clear difference in"
        f" {len(pairs) - faster - slower}; {_time_of(middle)} the time in the median pair,"
        f" {_time_of(pairs['ratio'].min())} to {_time_of(pairs['ratio'].max())} in all"
    )


def _time_of(ratio):
    """Formats a ratio with three decimals, because these ratios are close to 1."""
    return f"{ratio:.3f}×"


def transfer(page, results, experiment, drawing, rows):
    """Plots the times of the kernels and of allocation and copies as separate lines. Compares the latter with the CPU
    method `drawing["against"]`."""
    rows = answered(rows)
    rows = rows.assign(transfer=rows[["allocate_seconds", "h2d_seconds", "d2h_seconds"]].sum(axis=1, min_count=1))
    with_transfer = rows[rows["transfer"] > 0]
    if not len(with_transfer):
        page.remark("There are no transfer times: only trials on a GPU have them.")
        return True
    same = ["precision", "size", "nrhs"]
    cpu = best(rows[(rows["method"] == drawing["against"])], same)[[*same, "seconds_median"]]
    with_transfer = with_transfer[with_transfer["device"].isin(panel_devices(with_transfer))]
    with_transfer = best(with_transfer, ["device", "method", *same]).merge(
        cpu, on=same, how="left", suffixes=("", "_cpu")
    )
    with_transfer = with_transfer.assign(
        over=with_transfer["transfer"] / with_transfer["seconds_median_cpu"]
    ).sort_values(["precision", "nrhs", "device", "method", "size"])
    figures = []
    for (precision, device, nrhs), part in with_transfer.groupby(["precision", "device", "nrhs"]):
        series = []
        for i, (method, group) in enumerate(part.groupby("method")):
            x, hollow = group["size"].to_numpy(), verdict_rank(group)
            shared = {"hollow": hollow, "settings": group["config"].to_numpy()}
            series.append(Series(f"{method}, kernels", x, group["seconds_median"].to_numpy(), **shared))
            series.append(Series(f"{method}, allocate and copy", x, group["transfer"].to_numpy(), **shared))
        figures.append(
            Plot(
                slug(experiment["id"], precision, device, f"nrhs-{nrhs}"),
                f"{experiment['title']}: {precision}, {device_title(device)}, nrhs {nrhs}",
                "n",
                "time",
                series,
                ylog=True,
                seconds=True,
                basis=f"{matrices(part)} Kernels: {measured(part)}; allocating and copying: measured"
                f" once{' per round, the median' if part['rounds'].max() > 1 else ''}.",
            )
        )
    page.plots(figures)
    for nrhs, compared in with_transfer[with_transfer["over"].notna()].groupby("nrhs"):
        page.add(
            f"With {nrhs} right-hand side{'s' if nrhs > 1 else ''}, allocating and copying take longer than the CPU's"
            f" whole solve ({drawing['against']}) in {int((compared['over'] > 1).sum())} of {len(compared)} cases. The"
            " kernels alone are faster than the CPU in"
            f" {int((compared['seconds_median'] < compared['seconds_median_cpu']).sum())}."
        )
    page.table(
        slug(experiment["id"], "table"),
        with_transfer,
        [
            "precision",
            ("nrhs", "right-hand sides", whole),
            "device method size",
            ("seconds_median", "kernels", seconds),
            ("transfer", "allocate and copy", seconds),
            ("seconds_median_cpu", "CPU's solve", seconds),
            ("over", "copying / CPU", factor),
        ],
        limit=40,
        more_csv_columns=(),
    )
    return True
