"""Draws the papers' experiments that are not about time over n: stages of methods, occupancy, pairs of GPUs, the
first-row check, devices, convergence and accuracy. The drawing functions have the parameters that papers/__init__.py
describes."""

import numpy as np
import pandas as pd

from ..captions import basis, matrices
from ..frames import (
    RATIO_INTERVAL,
    answered,
    call_rows,
    common_trials,
    devices_by_age,
    history_plots,
    other_settings,
    slug,
    speedups,
    stage_rows,
    verdict_rank,
)
from ..loader import parameter
from ..page import columns_of, factor, number, percent, seconds, whole
from ..plots import Plot, Series
from .calls import subsampled
from .common import claims, described, pick, source_of, table_of
from .first_row import first_row as first_row_check


def stages(page, results, experiment, drawing, rows):
    """Adds a published table of kernels together with the stages of our methods. `drawing["stages"]` maps a published
    kernel to parts of the names of our stages. Kernels and stages without a counterpart get rows of their own."""
    published_table = table_of(drawing["csv"])
    details = stage_rows(results)
    details = details[details["trial"].isin(pick(rows, drawing.get("where", {})).index)]
    if not len(details):
        page.remark("These trials have no stages.")
        return True
    size = published_table["n"].iloc[0] if "n" in published_table else drawing.get("n")
    pieces = []
    for (method, precision, device), group in details.groupby(["method", "precision", "device"]):
        at = size if size in set(group["size"]) else group["size"].max()
        group = group[group["size"] == at]
        trial = group.sort_values("seconds_median", kind="stable")["trial"].iloc[0]
        group = group[group["trial"] == trial]
        group = _summed(
            # A method may number the stages of one kernel: update_1, update_2, …
            group.assign(kernel=group["kernel"].str.replace(r"_\d+$", "", regex=True))
        )
        of_method = (
            published_table[published_table["method"] == method] if "method" in published_table else published_table
        )
        used = set()
        for row in of_method.to_dict("records"):
            patterns = drawing["stages"].get(row["kernel"], [])
            ours = group[
                group["kernel"].str.lower().map(lambda k: any(p in k for p in patterns)) & ~group["kernel"].isin(used)
            ]
            used |= set(ours["kernel"])
            pieces += _stage_rows(method, precision, device, at, {"n": size, **row}, ours)
        pieces += _stage_rows(method, precision, device, at, {}, group[~group["kernel"].isin(used)])
    table = pd.DataFrame(pieces)
    page.add(
        f"Source of the published columns: {source_of(drawing['csv'])}. Means are per call. Published fractions are of"
        " all GPU time, ours of the stage run."
    )
    columns = [
        "method precision device n",
        ("operation", "published kernel", None),
        ("published_mean", "published mean", seconds),
        ("published_share", "published fraction", percent),
        ("published_occupancy", "published occupancy", number),
        ("stage", "our stage", None),
        ("calls", "calls", whole),
        ("mean", "mean", seconds),
        ("faster", "theirs / ours", factor),
        ("share", "fraction", percent),
        ("occupancy", "occupancy", number),
    ]
    constant = [name for name in ("device", "n") if table[name].nunique() == 1]
    page.table(
        experiment["id"],
        table,
        [c for c in columns_of(columns) if table[c[0]].notna().any() and c[0] not in constant],
        limit=60,
        caption=(
            "Ours: "
            + ", ".join(f"{'n = ' if name == 'n' else ''}{table[name].iloc[0]}" for name in constant[::-1])
            + "."
            if constant
            else ""
        ),
    )
    statements = claims(experiment["id"])
    if len(statements):
        page.items(
            f"Published: {c.quantity}: {c.low:g}{'' if c.unit == '1' else ' ' + c.unit} ({c.source})."
            for c in statements.itertuples()
        )
    return True


def _summed(group):
    """Sums the rows of each kernel. The occupancy becomes the mean, weighted by time."""
    if not group["kernel"].duplicated().any():
        return group
    weight = group["occupancy"] * group["seconds"]
    summed = (
        group.assign(weight=weight)
        .groupby("kernel", sort=False)[["calls", "seconds", "share", "weight"]]
        .sum(min_count=1)
        .reset_index()
    )
    return summed.assign(mean=summed["seconds"] / summed["calls"], occupancy=summed["weight"] / summed["seconds"])


def _stage_rows(method, precision, device, n, published, ours):
    """Returns the table rows of one published kernel (empty for stages without a counterpart) and of our stages that
    correspond to it: one row per stage, or one row without our numbers if there are none."""
    mean = published.get("mean_seconds", np.nan)
    if "total_seconds" in published:
        mean = published["total_seconds"] / published["calls"]
    published_n = published.get("n")
    columns = dict(
        method=method,
        precision=precision,
        device=device,
        n=n,
        operation=published.get("operation", "–"),
        published_mean=mean,
        published_share=published.get("share", np.nan),
        published_occupancy=published.get("occupancy", np.nan),
    )
    if not len(ours):
        return (
            [dict(columns, stage="–", calls=np.nan, mean=np.nan, share=np.nan, occupancy=np.nan, faster=np.nan)]
            if published
            else []
        )
    return [
        dict(
            columns,
            stage=m.kernel,
            calls=m.calls,
            mean=m.mean,
            share=m.share,
            occupancy=m.occupancy,
            faster=mean / m.mean if published_n == n and m.mean > 0 else np.nan,
        )
        for m in ours.itertuples()
    ]


def occupancy(page, results, experiment, drawing, rows):
    """Plots the occupancy of kernels: over the calls of a trial if its stages have one row per iteration or range of
    iterations, else over n."""
    details = call_rows(results)
    details = details[
        details["trial"].isin(rows.index)
        & details["occupancy"].notna()
        & details["kernel"].str.startswith(drawing.get("kernel", ""))
    ]
    if not len(details):
        page.remark("No occupancy is recorded for these trials (only trials on a GPU have one).")
        return True
    series, split, single = [], False, True
    for (method, precision, device), group in details.groupby(["method", "precision", "device"]):
        largest = group[group["size"] == group["size"].max()]
        largest = largest[largest["trial"] == largest["trial"].iloc[0]]
        label = f"{method}, {precision}, {device}"
        if len(largest) >= 4:  # four or more rows: the stages are split by iteration
            single &= largest["calls"].max() == 1
            largest = subsampled(largest.assign(calls=largest["calls"].cumsum()))
            series.append(
                Series(
                    f"{label}, n = {largest['size'].iloc[0]}",
                    largest["calls"].to_numpy(),
                    largest["occupancy"].to_numpy(),
                )
            )
            split = True
        else:
            by_size = group.sort_values("size").drop_duplicates(["size", "kernel"])
            for kernel, part in by_size.groupby("kernel"):
                series.append(Series(f"{label}: {kernel}", part["size"].to_numpy(), part["occupancy"].to_numpy()))
    if split:
        series = [s for s in series if ": " not in s.label]
    else:
        page.add("These records have one mean occupancy per stage, not one per iteration: drawn over n.")
    if split and "csv" in drawing:
        published_table = table_of(drawing["csv"])
        series.insert(
            0, Series("published", published_table["iteration"].to_numpy(), published_table["occupancy"].to_numpy())
        )
        page.add(
            f"Ours is the occupancy that each launch allows{'' if single else ', averaged over some iterations'}."
            f" Source of the published points: {source_of(drawing['csv'])}."
        )
    page.plots(
        [
            Plot(
                experiment["id"],
                experiment["title"],
                "calls so far" if split else "n",
                "occupancy",
                series,
                percent=True,
                xlog=False if split else None,
                basis=" ".join(
                    [*([described(drawing["csv"])] if split and "csv" in drawing else []), matrices(details)]
                ),
            )
        ]
    )
    return True


def gpus(page, results, experiment, drawing, rows):
    """Plots the times and speedups of two GPUs over a parameter such as blocks. Takes the size that was measured with
    most values of the parameter."""
    devices, rows = devices_by_age(rows)
    if len(devices) < 2:
        page.remark("This needs two GPU models; these records have " + (f"one, {devices[0]}." if devices else "none."))
        return True
    statements = claims(experiment["id"])
    for first, second in zip(devices, devices[1:]):
        both = common_trials(rows, first, second)
        if not len(both):
            page.remark(f"{first} and {second} have no trial in common.")
            continue
        blocks = (
            pd.to_numeric(parameter(rows, drawing["parameter"]), errors="coerce").groupby(rows["same_trial"]).first()
        )
        both = both.assign(blocks=both["same_trial"].map(blocks))
        figures, speedup_sentences = [], []
        for precision, part in both.groupby("precision"):
            values_per_size = part.groupby("size")["blocks"].nunique()
            size = values_per_size[values_per_size == values_per_size.max()].index.max()
            of_size = (
                part[part["size"] == size].sort_values("seconds_median").drop_duplicates("blocks").sort_values("blocks")
            )
            shown = rows[rows["same_trial"].isin(of_size["same_trial"])]
            figures.append(
                Plot(
                    slug(experiment["id"], precision, first, second),
                    f"{experiment['title']}: n = {size}, {precision}",
                    drawing["parameter"],
                    "median time",
                    [
                        Series(
                            first,
                            of_size["blocks"].to_numpy(),
                            of_size["seconds_median"].to_numpy(),
                            of_size["seconds_q1"].to_numpy(),
                            of_size["seconds_q3"].to_numpy(),
                            verdict_rank(of_size),
                        ),
                        Series(
                            second,
                            of_size["blocks"].to_numpy(),
                            of_size["seconds_median_2"].to_numpy(),
                            of_size["seconds_q1_2"].to_numpy(),
                            of_size["seconds_q3_2"].to_numpy(),
                            verdict_rank(of_size.assign(status=of_size["status_2"])),
                        ),
                    ],
                    ylog=True,
                    seconds=True,
                    basis=basis(shown),
                )
            )
            faster = speedups(
                rows[(rows["size"] == size) & (rows["precision"] == precision) & rows["device"].isin([first, second])],
                drawing["parameter"],
                pd.to_numeric(parameter(rows, drawing["parameter"]), errors="coerce"),
            )
            faster = (
                faster.sort_values("seconds_median", kind="stable")
                .drop_duplicates(["device", "value"])
                .sort_values("value", kind="stable")
            )
            largest_common = faster.groupby("value")["device"].nunique().pipe(lambda s: s[s == 2].index.max())
            if not pd.notna(largest_common):
                continue
            series = [
                Series(
                    name,
                    part["value"].to_numpy(),
                    part["speedup"].to_numpy(),
                    part["speedup_low"].to_numpy(),
                    part["speedup_high"].to_numpy(),
                    verdict_rank(part),
                    settings=other_settings(part["config"], drawing["parameter"]),
                    ends=RATIO_INTERVAL,
                )
                for name, part in ((name, faster[faster["device"] == name]) for name in (first, second))
            ]
            figures.append(
                Plot(
                    slug(experiment["id"], "speedup", precision, first, second),
                    f"Speedup by {drawing['parameter']}: n = {size}, {precision}",
                    drawing["parameter"],
                    "speedup",
                    series,
                    basis=basis(faster),
                )
            )
            by_device = faster[faster["value"] == largest_common].set_index("device")
            speedup_sentences.append(
                f"Speedup with {whole(largest_common)} {drawing['parameter']} over"
                f" {whole(by_device['base'].iloc[0])} at n = {size}, {precision}: "
                + ", ".join(f"{name} {factor(float(by_device.loc[name, 'speedup']))}" for name in (first, second))
                + "."
            )
        page.plots(figures)
        if speedup_sentences:
            page.items(speedup_sentences)
        percent_less = float((100 * (1 - 1 / both["ratio"])).median())
        page.add(
            f"{second} needs {number(abs(percent_less))} % {'less' if percent_less >= 0 else 'more'} time than {first}"
            f" in the median of {len(both)} common trials ({factor(float(both['ratio'].median()))} as fast)."
            + "".join(
                f" Published: {c.quantity} {c.low:g} to {c.high:g} {c.unit} ({c.source})."
                for c in statements.itertuples()
            )
        )
    return True


def first_row(page, results, experiment, drawing, rows):
    """Adds Fuhrmann's first-row check, and the matrices on which each method is stable."""
    if not first_row_check(page, rows, experiment["id"]):
        page.remark("No first-row deviation is recorded.")
    verified = rows[rows["residual_ratio"].notna()]
    if len(verified):
        blocks = pd.to_numeric(parameter(verified, "blocks"), errors="coerce").fillna(1).astype(int)
        verified = verified.assign(blocks=blocks)
        page.add(
            "The matrices on which each method is stable, and the growth of the largest residual ratio with blocks:"
        )
        page.items([_stability(method, group) for method, group in verified.groupby("method")])
    return True


def _stability(method, rows):
    """Returns a sentence with the matrix kinds on which a method always passes. For the other kinds it has the residual
    ratio at the fewest blocks, and at the number of blocks with the largest ratio."""
    stable, unstable = [], []
    for kind, group in rows.groupby("matrix_kind"):
        if (group["status"] == "pass").all():
            stable.append(kind)
            continue
        worst = group.groupby("blocks")["residual_ratio"].max()
        fails_from = group.loc[group["status"] != "pass", "blocks"].min()
        ratios = (
            f", from {fails_from} blocks on: the ratio is at most {number(worst.iloc[0])} with {worst.index[0]},"
            f" {number(worst.max())} with {worst.idxmax()}"
            if len(worst) > 1
            else f": the ratio reaches {number(worst.max())}"
        )
        unstable.append(f"{kind}{ratios}")
    return f"{method}: stable on {', '.join(stable) or 'nothing tried here'}" + (
        f"; not on {'; not on '.join(unstable)}." if unstable else "."
    )


def devices(page, results, experiment, drawing, rows):
    """Adds a table of the GPUs' published peaks and of the peaks measured here."""
    published_table = table_of(drawing["csv"])
    ours = (
        results.devices[results.devices["capability"] > 0]
        .sort_values("gemm_flops_float", kind="stable", na_position="first")
        .drop_duplicates("gpu_name", keep="last")
    )
    if not len(ours):
        return False
    published = pd.DataFrame(
        {
            "gpu": published_table["gpu"],
            "from": "published peak",
            "sms": published_table["multiprocessors"],
            "fp32": published_table["peak_fp32_tflops"],
            "fp64": published_table["peak_fp64_tflops"],
            "memory": published_table["memory_gb_per_s"],
        }
    )
    measured = pd.DataFrame(
        {
            "gpu": ours["gpu_name"],
            "from": "measured here",
            "sms": ours["multiprocessors"],
            "fp32": ours["gemm_flops_float"] / 1e12,
            "fp64": ours["gemm_flops_double"] / 1e12,
            "memory": ours["copy_bytes_per_second"] / 1e9,
        }
    )
    page.table(
        experiment["id"],
        pd.concat([published, measured], ignore_index=True),
        [
            ("gpu", "GPU", None),
            "from",
            ("sms", "SMs", whole),
            ("fp32", "float [TFLOP/s]", number),
            ("fp64", "double [TFLOP/s]", number),
            ("memory", "memory [GB/s]", number),
        ],
        caption=(
            f"Source of the published rows: {source_of(drawing['csv'])}. Ours: vendor GEMM and device copy, measured."
        ),
    )
    return True


def histories(page, results, experiment, drawing, rows):
    """Plots residuals over iterations."""
    return bool(page.plots(list(history_plots(results, rows, experiment["id"]))))


def accuracy(page, results, experiment, drawing, rows):
    """Compares the errors of two methods on the same systems, whatever their devices, in sentences and a table of
    medians."""
    rows = answered(rows)
    key = ["precision", "matrix_digest", "size", "nrhs"]
    first, second = (
        rows[rows["method"] == drawing[k]].sort_values("backward_error").drop_duplicates(key)
        for k in ("first", "second")
    )
    both = first.merge(second, on=key, suffixes=("", "_2"))
    if not len(both):
        page.remark(f"{drawing['first']} and {drawing['second']} have no system in common.")
        return True
    sentences = []
    for error in ("backward_error", "forward_error"):
        known = both[both[error].notna() & both[f"{error}_2"].notna()]
        if len(known):
            more, less = int((known[error] < known[f"{error}_2"]).sum()), int(
                (known[error] > known[f"{error}_2"]).sum()
            )
            verdict = "yes" if more > less else "no" if less > more else "undecided"
            sentences.append(
                f"{error.replace('_', ' ')}: {drawing['first']} is more accurate on {more} of {len(known)} systems,"
                f" less on {less}: {verdict}"
            )
    page.items(sentences)
    table = (
        both.groupby(["precision", "matrix_kind"])
        .agg(
            systems=("size", "size"),
            backward=("backward_error", "median"),
            backward_2=("backward_error_2", "median"),
            forward=("forward_error", "median"),
            forward_2=("forward_error_2", "median"),
        )
        .reset_index()
    )
    a, b = drawing["first"], drawing["second"]
    page.table(
        experiment["id"],
        table,
        [
            "precision matrix_kind",
            ("systems", "systems", whole),
            ("backward", f"backward, {a}", number),
            ("backward_2", f"backward, {b}", number),
            ("forward", f"forward, {a}", number),
            ("forward_2", f"forward, {b}", number),
        ],
        caption="Median errors on the common systems.",
    )
    return True


def reference(page, results, experiment, drawing, rows):
    """Adds a published table that our records cannot repeat."""
    published_table = table_of(drawing["csv"])
    page.table(
        slug(experiment["id"], "reference"),
        published_table,
        [
            (
                c,
                c.replace("_", " "),
                number
                if published_table[c].dtype.kind == "f"
                else whole
                if published_table[c].dtype.kind == "i"
                else None,
            )
            for c in published_table
        ],
        caption=f"{drawing['words']} Source: {source_of(drawing['csv'])}.",
    )
    return True
