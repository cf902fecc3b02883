"""Times, speedups and fits of the papers, measured again."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from ..fits import cubic, reciprocal
from ..frames import (
    BOTH,
    answered,
    basis,
    best,
    many,
    matrices,
    not_passed,
    one_kind,
    other_settings,
    sampled,
    slug,
    speedups,
    terse,
    without,
)
from ..loader import parameter
from ..page import factor, number, seconds, whole
from ..plots import Plot, Series
from .common import called, claims, heads, on, pick

TITLES = {"seconds": "Median time over", "speedup": "Speedup by", "reciprocal": "1 / (t − K) [1/s] over"}


def lines(page, night, experiment, drawing, rows):
    """Plots time over n, one line per method and, if `drawing` names a parameter `by`, per value of it."""
    rows = one_kind(answered(rows))
    figures, fits = [], []
    by = drawing.get("by")
    for device in heads(rows):
        for precision, part in on(rows, device).groupby("precision"):
            if not (part["device"] == device).any() or not many(part["size"]):
                continue
            label = part["method"].astype(str)
            if many(part["problem"]):
                label = part["problem"] + "/" + label
            if many(part["operands"]):
                label = label + np.where(part["operands"] == "", "", ", " + part["operands"])
            if by:
                label = label + parameter(part, by).map(lambda v: "" if v is None else f", {by} {v}")
            part = part.assign(label=label)
            part = best(part, ["label", "size"]).sort_values("size", kind="stable")
            series = []
            groups = sorted(part.groupby("label"), key=lambda g: _natural(g[0]))
            for name, group in groups:
                x, y = group["size"].to_numpy(), group["seconds_median"].to_numpy()
                series.append(
                    Series(
                        name,
                        x,
                        y,
                        group["seconds_q1"].to_numpy(),
                        group["seconds_q3"].to_numpy(),
                        not_passed(group),
                        settings=group["config"].to_numpy(),
                    )
                )
                fit = cubic(x, y) if drawing.get("fit") == "cubic" else None
                if fit:
                    dense = np.linspace(x.min(), x.max(), 60)
                    series[-1].line = False
                    series.append(
                        Series(f"{name}, cubic fit, R² = {fit.r_squared:.5f}", dense, fit.curve(dense), marker=False)
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
            log = drawing.get("fit") != "cubic"
            figures.append(
                Plot(
                    slug(experiment["id"], precision, device),
                    f"{experiment['title']}: {precision}, {called(device)}",
                    "n",
                    "median time",
                    series,
                    ylog=log,
                    xlog=None if log else False,
                    seconds=True,
                    basis=basis(part),
                )
            )
    drawn = page.plots(figures)
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
    elif drawing.get("fit") == "cubic" and drawn:
        page.nothing("Fewer than five sizes: no cubic is fitted, because it would fit any times.")
    return bool(drawn)


def _natural(name):
    """Returns a sort key by which "blocks 2" comes before "blocks 14"."""
    return re.sub(r"\d+", lambda m: m.group().zfill(9), name)


def over_parameter(page, night, experiment, drawing, rows):
    """Plots time, speedup or reciprocal over one parameter, at the size with most of its values."""
    name, what = drawing["parameter"], drawing["y"]
    values = pd.to_numeric(parameter(rows, name), errors="coerce")
    if name == "threads":
        values = values.where(values > 0)  # 0: the method chooses
    rows = speedups(rows, name, values)
    figures, fits = [], []
    for (precision, device), part in rows.groupby(["precision", "device"]) if len(rows) else ():
        extent = part.groupby("size")["value"].nunique()
        size = extent[extent == extent.max()].index.max()
        series = []
        several = part["matrix_kind"].nunique() > 1
        at = part[part["size"] == size]
        for i, ((method, rest, kind), group) in enumerate(at.groupby(["method", "rest", "matrix_kind"])):
            group = group.drop_duplicates("value")
            label = ", ".join(w for w in (method, terse(rest), kind if several else "") if w)
            own = _one(what, label, group, fits, dict(precision=precision, device=device, size=size))
            series += [replace(s, settings=other_settings(group["config"], name)) if s.marker else s for s in own]
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
                basis=basis(at),
            )
        )
    drawn = page.plots(figures)
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
    elif what == "reciprocal" and drawn == 0 and len(rows):
        page.nothing("Fewer than three numbers of blocks: nothing to fit.")
        return True
    return bool(drawn)


def _one(what, label, group, fits, place):
    """Returns the series of one method over the parameter. `what`: seconds, speedup, or reciprocal, which has the
    fitted line as a second series and appends the fit to `fits`. `place`: further columns of the fit's row."""
    x = group["value"].to_numpy()
    hollow = not_passed(group)
    if what == "seconds":
        return [
            Series(label, x, *(group[c].to_numpy() for c in ("seconds_median", "seconds_q1", "seconds_q3")), hollow)
        ]
    if what == "speedup":
        return [
            Series(
                label, x, *(group[c].to_numpy() for c in ("speedup", "speedup_low", "speedup_high")), hollow, ends=BOTH
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
            **place,
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


def ratio(page, night, experiment, drawing, rows):
    """Adds the speedup of one method over another at each size, and the paper's claim about it."""
    rows = answered(rows)
    usual = set(one_kind(rows)["matrix_kind"])
    slow, fast = (pick(rows, drawing[k]) for k in ("slow", "fast"))
    names = [{name for p in part["parameter"] for name in p} for part in (slow, fast)]
    common = sorted(names[0] & names[1])
    slow, fast = (
        part.assign(common=part["parameter"].map(lambda p: str([p.get(name) for name in common])))
        for part in (slow, fast)
    )
    same = ["precision", "device", "size", "uplo", "matrix_kind", "common"]
    both = _joined(fast, slow, same)
    # A GPU method without a slow counterpart on its device is compared with the CPU's time: on the same kind of matrix,
    # or else on another kind.
    for shared in (["precision", "size", "uplo", "matrix_kind", "common"], ["precision", "size", "uplo", "common"]):
        rest = fast[~fast["device"].isin(both["device"])]
        both = pd.concat([both, _joined(rest, slow[slow["device"] == "CPU"], shared)], ignore_index=True)
    if not len(both):
        return False
    both = pd.concat([_one_matrix(part, usual) for _, part in both.groupby(["precision", "device"])])
    # Keeps one triangle per size: the lower one, the default, which sorts first.
    both = both.sort_values(["uplo", "seconds_median"], kind="stable").drop_duplicates(["precision", "device", "size"])
    both = both.assign(
        ratio=both["seconds_median_slow"] / both["seconds_median"],
        low=both["seconds_q1_slow"] / both["seconds_q3"],
        high=both["seconds_q3_slow"] / both["seconds_q1"],
    ).sort_values(["precision", "device", "size"], kind="stable")
    said = claims(experiment["id"])
    said = said[said["quantity"] == drawing["quantity"]]
    words = "".join(f" Published: {c.quantity} {_range(c)} ({c.source})." for c in said.itertuples())
    last = both.drop_duplicates(["precision", "device"], keep="last")
    page.add(
        f"Time of {drawing['slow']['method']} over that of {drawing['fast']['method']}: "
        + "; ".join(f"{factor(r.ratio)} at n = {r.size} ({r.precision}, {r.device})" for r in last.itertuples())
        + "."
        + words
    )
    name = slug(experiment["id"], "ratio", drawing["slow"]["method"], drawing["fast"]["method"])
    page.table(
        name,
        both,
        [
            "precision device size matrix_kind config",
            ("seconds_median_slow", drawing["slow"]["method"], seconds),
            ("seconds_median", drawing["fast"]["method"], seconds),
            ("ratio", "times faster", factor),
            ("low", "at least", factor),
            ("high", "at most", factor),
        ],
        limit=24,
        also=(),
    )
    return True


def _one_matrix(both, usual):
    """Returns the pairs on the matrix kind with most sizes. Kinds in `usual` are preferred. Identity is avoided,
    because an iteration ends at once on it."""
    sizes = both.groupby("matrix_kind")["size"].nunique()
    kind = max(sizes.index, key=lambda k: (k in usual, k != "identity", sizes[k]))
    return both[both["matrix_kind"] == kind]


def _joined(fast, slow, same):
    """Joins the fastest records of `fast` and `slow` that agree in the columns `same`."""

    def least(part, by):
        return part.sort_values("seconds_median", kind="stable").drop_duplicates(by)

    slow = least(slow, same)[[*same, "seconds_q1", "seconds_median", "seconds_q3", "status"]]
    return least(fast, [*same, *({"device"} - set(same))]).merge(slow, on=same, suffixes=("", "_slow"))


def _range(claim):
    unit = "" if claim.unit == "1" else f" {claim.unit}"
    unit += "" if claim.relation == "about" else f" ({claim.relation})"
    return f"{claim.low:g}{unit}" if claim.low == claim.high else f"{claim.low:g} to {claim.high:g}{unit}"


def order(page, night, experiment, drawing, rows):
    """Lists the methods by time at two sizes: the largest one that most methods have, and the largest one that at least
    two methods have."""
    rows = answered(rows[rows["backend"] != "emulated"])
    said = []
    for device in heads(rows):
        for precision, part in on(rows, device).groupby("precision"):
            if not (part["device"] == device).any():
                continue
            extent = part.groupby("size")["method"].nunique()
            for size in sorted(
                {
                    extent[extent == extent.max()].index.max(),
                    extent[extent > 1].index.max() if (extent > 1).any() else extent.index.max(),
                }
            ):
                at = best(part[part["size"] == size], ["method"]).sort_values("seconds_median")
                said.append(
                    f"n = {size}, {precision}, {device}: "
                    + ", then ".join(f"{r.method} ({seconds(r.seconds_median)})" for r in at.itertuples())
                )
    if said:
        page.add("Measured order, fastest first:")
        page.items(said)
    return bool(said)


def verdict(page, night, experiment, drawing, rows):
    """Compares two values of one parameter, trial by trial, with a verdict in words."""
    name = drawing["parameter"]
    rows = answered(rows)
    rows = rows.assign(
        value=parameter(rows, name),
        rest=rows["parameters"].map(without(dict(zip(rows["parameters"], rows["parameter"])), name)),
    )
    rows = rows[rows["value"].isin([drawing["first"], drawing["second"]])]
    same = ["precision", "device", "host", "method", "size", "nrhs", "matrix_digest", "rest"]
    first, second = (best(rows[rows["value"] == drawing[k]], same) for k in ("first", "second"))
    both = first.merge(second, on=same, suffixes=("", "_2"))
    if not len(both):
        return False
    both = both.assign(
        ratio=both["seconds_median"] / both["seconds_median_2"],
        low=both["seconds_q1"] / both["seconds_q3_2"],
        high=both["seconds_q3"] / both["seconds_q1_2"],
    )
    said = [
        f"{rest or 'default'}, {precision}, {device}: {_pays(part)}"
        for (precision, device, rest), part in sorted(
            both.groupby(["precision", "device", "rest"]), key=lambda g: _natural(" ".join(g[0]))
        )
    ]
    page.add(f"Verdict: {drawing['first']} {_pays(both)} ({drawing['second']}'s time is 1).")
    page.add(
        f"{drawing['first']} against {drawing['second']}, trial by trial (different if the quartiles do not overlap):"
    )
    page.items(said[:24])
    page.table(
        slug(experiment["id"], "verdict", drawing["first"], drawing["second"]),
        both.sort_values(["size", "rest"], ascending=[False, True], kind="stable")[
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
    """Describes whether the first of two values is faster. It must differ clearly in at least a quarter of the pairs,
    and by at least one percent in the median; otherwise the text says that there is no difference."""
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


def transfer(page, night, experiment, drawing, rows):
    """Plots kernel time and transfer time separately, with the time of the CPU's solve."""
    rows = answered(rows)
    rows = rows.assign(transfer=rows[["allocate_seconds", "h2d_seconds", "d2h_seconds"]].sum(axis=1, min_count=1))
    moved = rows[rows["transfer"] > 0]
    if not len(moved):
        page.nothing("There are no transfer times: only trials on a GPU have them.")
        return True
    same = ["precision", "size", "nrhs"]
    cpu = best(rows[(rows["method"] == drawing["against"])], same)[[*same, "seconds_median"]]
    moved = moved[moved["device"].isin(heads(moved))]
    moved = best(moved, ["device", "method", *same]).merge(cpu, on=same, how="left", suffixes=("", "_cpu"))
    moved = moved.assign(over=moved["transfer"] / moved["seconds_median_cpu"]).sort_values(
        ["precision", "nrhs", "device", "method", "size"]
    )
    figures = []
    for (precision, device, nrhs), part in moved.groupby(["precision", "device", "nrhs"]):
        series = []
        for i, (method, group) in enumerate(part.groupby("method")):
            x, hollow = group["size"].to_numpy(), not_passed(group)
            more = {"hollow": hollow, "settings": group["config"].to_numpy()}
            series.append(Series(f"{method}, kernels", x, group["seconds_median"].to_numpy(), **more))
            series.append(Series(f"{method}, allocate and copy", x, group["transfer"].to_numpy(), **more))
        figures.append(
            Plot(
                slug(experiment["id"], precision, device, f"nrhs-{nrhs}"),
                f"{experiment['title']}: {precision}, {called(device)}, nrhs {nrhs}",
                "n",
                "time",
                series,
                ylog=True,
                seconds=True,
                basis=f"{matrices(part)} Kernels: the median of {sampled(part)}; allocating and copying: measured"
                " once.",
            )
        )
    page.plots(figures)
    for nrhs, known in moved[moved["over"].notna()].groupby("nrhs"):
        page.add(
            f"With {nrhs} right-hand side{'s' if nrhs > 1 else ''}, allocating and copying take longer than the CPU's"
            f" whole solve ({drawing['against']}) in {int((known['over'] > 1).sum())} of {len(known)} cases. The"
            " kernels alone are faster than the CPU in"
            f" {int((known['seconds_median'] < known['seconds_median_cpu']).sum())}."
        )
    page.table(
        slug(experiment["id"], "table"),
        moved,
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
        also=(),
    )
    return True
