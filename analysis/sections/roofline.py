"""Rooflines: one per GPU and precision, and the energy per operation."""

import numpy as np

from ..frames import LARGEST, at_largest, shares, slug
from ..page import percent, prefixed
from ..plots import Plot, Series

SHARED = """backend config task gflops flops bytes peak_share energy_joules file gpu_uuid host""".split()


def roofline(page, night):
    page.begin("roofline", "Rooflines")
    rows = shares(night, night.answered([*LARGEST, *SHARED]))
    rows = rows[
        (rows["peak_share"].notna() | rows["copy_share"].notna() | rows["rate_share"].notna())
        & (rows["backend"] != "emulated")
    ]
    if not len(rows):
        page.nothing("No record has a fraction of a peak.")
        return
    largest = at_largest(rows).sort_values(
        ["problem", "precision", "device", "peak_share"], ascending=[True, True, True, False]
    )
    page.add(
        "Each method at its largest size: operations per second over operations per byte of least traffic. The roof is"
        " the device's measured copy bandwidth and GEMM rate. A point above it used a lower precision internally,"
        " skipped zeros, or kept its operands in a cache. Methods on the CPU have a fraction if the CPU's peaks were"
        " measured."
    )
    on_gpu = largest["backend"] == "cuda"
    page.plots(_figures(night, largest[on_gpu] if on_gpu.any() else largest))
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
        caption="Each method at its largest size.",
    )
    page.fold("Table: fractions of the peaks", mark)


def _figures(night, rows):
    rows = rows.assign(
        intensity=rows["flops"] / rows["bytes"],
        frugal=rows["flops"] / rows["energy_joules"].where(rows["energy_joules"] > 0) / 1e9,
    )
    for (device, precision), part in rows.groupby(["device", "precision"]):
        part = part[np.isfinite(part["intensity"]) & (part["intensity"] > 0)]
        name = part["problem"] + "/" + part["method"]
        names = night.devices["gpu_name"].where(night.devices["capability"] > 0, "CPU")
        own = night.devices[names == device]
        rates = own.reindex(columns=["copy_bytes_per_second", f"gemm_flops_{precision}"])  # NaN if foreign
        copy, rate = rates.median()

        def points(column, part=part, name=name):
            return [
                Series(label, p["intensity"].to_numpy(), p[column].to_numpy(), told=_point_labels(p), line=False,
                       hollow=(p["status"] != "pass").to_numpy())
                for label, p in part.groupby(name)
            ]  # fmt: skip

        series = points("gflops")
        if len(part) and np.isfinite(copy) and np.isfinite(rate):
            low, high = min(part["intensity"].min(), rate / copy / 2), max(part["intensity"].max(), 2 * rate / copy)
            x = np.array([low, rate / copy, high])
            roof = f"copy {prefixed(copy, 'B/s')}, GEMM {prefixed(rate, 'FLOP/s')}"
            series.append(Series(roof, x, np.minimum(x * copy, rate) / 1e9, marker=False, plain=True))
        axes = {"xlog": True, "ylog": True, "kind": "dots"}
        words = f"{precision}, {device}"
        yield Plot(
            slug("roofline", precision, device),
            f"Roofline: {words}",
            "intensity [FLOP/byte]",
            "rate [GFLOP/s]",
            series,
            **axes,
        )
        if part["frugal"].notna().any():
            yield Plot(
                slug("frugal", precision, device),
                f"Energy: {words}",
                "intensity [FLOP/byte]",
                "efficiency [GFLOP/J]",
                points("frugal"),
                **axes,
            )


def _point_labels(rows):
    return [
        ", ".join(w for w in (f"n = {n}", task, config) if w)
        for n, task, config in zip(rows["size"], rows["task"], rows["config"])
    ]
