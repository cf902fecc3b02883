"""Draws rooflines (rates over operations per byte, below the limits of memory and compute), one per precision and group
of devices. Also draws the operations per joule."""

from itertools import product

import numpy as np

from ..captions import basis, matrices, over_rounds, pooled
from ..frames import (
    AT_LARGEST,
    LARGEST,
    MOST_MODELS,
    has_several,
    on_device,
    pooled_at_largest,
    short_names,
    slug,
    verdict_rank,
    with_peak_fractions,
)
from ..loader import gpu_counts
from ..page import counted, percent, prefixed
from ..plots import Plot, Series

COLUMNS = """backend config gflops flops bytes peak_share energy_joules file gpu_uuid host capability
threads gpu_count nrhs batch matrix_name""".split()
RATES = ["gflops", "peak_share", "copy_share", "rate_share"]


def roofline(page, results):
    page.begin("roofline", "Rooflines")
    rows = with_peak_fractions(results, results.take_answered([*LARGEST, *COLUMNS]))
    rows = rows[
        (rows["peak_share"].notna() | rows["copy_share"].notna() | rows["rate_share"].notna())
        & (rows["backend"] != "emulated")
    ]
    if not len(rows):
        page.remark("No record has a fraction of a peak.")
        return
    if has_several(rows.loc[rows["threads"] > 0, "threads"]):  # a CPU with another number of threads is another device
        words = rows["threads"].map(lambda count: f", {counted(count, 'thread')}" if count else "")
        rows = rows.assign(device=rows["device"] + words)
    largest, trials = pooled_at_largest(rows, RATES, ["flops", "bytes", "energy_joules"])
    largest = largest.assign(
        task=largest["matrix_name"] + (", " + largest["operands"]).where(largest["operands"] != "", "")
    )
    largest = largest.sort_values(["problem", "precision", "device", "peak_share"], ascending=[True, True, True, False])
    page.add(
        f"{AT_LARGEST}: operations per second over operations per byte of least traffic. The roof is"
        " the device's measured copy bandwidth and GEMM rate. A point above it used a lower precision internally,"
        " skipped zeros, or kept its operands in a cache; or another program slowed down the measurement of the roof."
        " Methods on the CPU have a fraction if the CPU's peaks were measured. Several seeds or repetitions give one"
        " point, from their median time."
    )
    on_gpu = largest["backend"] == "cuda"
    page.plots(_figures(largest[on_gpu] if on_gpu.any() else largest, trials))
    columns = "problem precision device method task config size seconds_median gflops bytes".split()
    mark = page.mark()
    page.table(
        "roofline",
        largest[[*columns, "peak_share", "copy_share", "rate_share", "status"]],
        [
            "problem precision device method task config size seconds_median gflops peak_share",
            ("copy_share", "of copy bandwidth", percent),
            ("rate_share", "of GEMM rate", percent),
            "status",
        ],
        limit=60,
        caption=f"{AT_LARGEST}.",
    )
    page.fold("Table: fractions of the peaks", mark)


def _figures(rows, trials):
    """Yields a roofline per precision and group of devices, and a plot of operations per joule if energy was
    measured. `rows`: one per point; `trials`: the records that each of them pools, for captions."""
    # `frugal`: operations per joule, in GFLOP/J.
    rows = rows.assign(
        intensity=rows["flops"] / rows["bytes"],
        frugal=rows["flops"] / rows["energy_joules"].where(rows["energy_joules"] > 0) / 1e9,
    )
    devices = sorted(rows["device"].unique())
    is_together = len(devices) <= MOST_MODELS and not has_several(rows["threads"])
    device_groups = [devices] if is_together else [[device] for device in devices]
    for group, precision in product(device_groups, sorted(rows["precision"].unique())):
        part = rows[rows["device"].isin(group) & (rows["precision"] == precision)]
        part = part[np.isfinite(part["intensity"]) & (part["intensity"] > 0)]
        if not len(part):
            continue
        triangles = np.where(part.groupby("problem")["uplo"].transform("nunique") > 1, ", " + part["uplo"], "")
        nrhs = np.where(part["nrhs"] > 1, ", nrhs " + part["nrhs"].astype(str), "") if has_several(part["nrhs"]) else ""
        name = part["problem"] + "/" + part["method"] + triangles + on_device(part) + nrhs
        settings = part["config"]
        for column, label in (("size", "n"), ("batch", "batch")):
            if has_several(part[column]):  # the caption's matrices have a size that all points share
                settings = settings + part[column].map(f" {label}={{}}".format)
        part = part.assign(settings=settings)
        trials_of_part = trials[trials["point"].isin(part.index)]

        def points(column, part=part, name=name):
            return [
                Series(label, p["intensity"].to_numpy(), p[column].to_numpy(), hover=_point_labels(p), line=False,
                       hollow=verdict_rank(p), settings=p["settings"].to_numpy(), shown=p["shown"].to_numpy())
                for label, p in part.groupby(name)
            ]  # fmt: skip

        axes = {"xlog": True, "ylog": True, "kind": "dots", "xlabel": "intensity [FLOP/byte]"}
        words = f"{precision}, {' and '.join(short_names(group).values())}"
        of_points = _matrices_of_points(part)
        caption = basis(trials_of_part, with_sizes=True, is_pooled=True) + of_points + _above_roof(part)
        series = [*points("gflops"), *_roofs(part, trials_of_part)]
        name = slug("roofline", precision, *group)
        yield Plot(name, f"Roofline: {words}", ylabel="rate [GFLOP/s]", series=series, basis=caption, **axes)
        if part["frugal"].notna().any():
            name, series = slug("frugal", precision, *group), points("frugal")
            count, pooled_trials = pooled(trials_of_part)
            median = f"the median over up to {count} {pooled_trials} of " if count > 1 else ""
            words_of_point = f"Each point: {median}{over_rounds(trials_of_part)}the energy of one run."
            caption = f"{matrices(trials_of_part, with_sizes=True)} {words_of_point}{of_points}"
            yield Plot(name, f"Energy: {words}", ylabel="efficiency [GFLOP/J]", series=series, basis=caption, **axes)


def _above_roof(part):
    """Returns a sentence with the reasons for points above the roof; an empty text if there are none."""
    memory, compute = part["intensity"] * part["copy_peak"], part["rate_peak"]
    rate, roof, gpus = part["gflops"] * 1e9, np.minimum(memory, compute), gpu_counts(part)
    is_above = rate / gpus > roof
    reasons = {
        "the operands were in a cache": is_above & (memory < compute),
        "a lower precision internally, units that the GEMM did not use, or skipped zeros": is_above
        & (memory >= compute),
        "several GPUs under the roof of one": (rate > roof) & (gpus > 1),
    }
    found = [reason for reason, is_reason in reasons.items() if is_reason.any()]
    return f" Points above the roof: {'; '.join(found)}." if found else ""


def _matrices_of_points(part):
    """Returns a sentence per matrix with the problems or methods of its points; an empty text for a single matrix."""
    if not has_several(part["matrix_full"]):
        return ""
    differ = part.groupby("problem")["matrix_full"].transform("nunique") > 1
    names = (part["problem"] + ("/" + part["method"]).where(differ, "")).groupby(part["matrix_full"]).unique()
    return "".join(f" On {matrix}: {', '.join(sorted(of))}." for matrix, of in names.items())


def _roofs(part, trials):
    """Yields a line with the roof of each device whose rates were measured. `part`: the records in the figure, whose
    range of intensities the roof covers; `trials`: as for `_figures`."""
    peaks = trials.groupby("device")[["copy_peak", "rate_peak"]].max()
    short = short_names(peaks.index)
    for device, copy, rate in peaks.itertuples():
        if np.isfinite(copy) and np.isfinite(rate):
            low, high = min(part["intensity"].min(), rate / copy / 2), max(part["intensity"].max(), 2 * rate / copy)
            x = np.array([low, rate / copy, high])
            roof = f"copy {prefixed(copy, 'B/s')}, GEMM {prefixed(rate, 'FLOP/s')}"
            roof = f"{short[device]}: {roof}" if len(short) > 1 else roof
            yield Series(roof, x, np.minimum(x * copy, rate) / 1e9, marker=False, plain=True)


def _point_labels(rows):
    """Returns the text at the pointer of each record."""
    return [
        ", ".join(w for w in (f"n = {n}", task, config) if w)
        for n, task, config in zip(rows["size"], rows["task"], rows["config"])
    ]
