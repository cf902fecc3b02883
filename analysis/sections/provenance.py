"""Shows where the numbers come from: files, plans, program versions, devices, hosts and clocks."""

from pathlib import Path

import pandas as pd

from ..page import gibibytes, number, prefixed, whole

CLOCK_COLUMNS = "key device host samples sm_clock_mhz power_w temperature_c throttled throttle_reason"
LONG = 200  # characters above which an attribute is folded


def provenance(page, results):
    page.begin("provenance", "Provenance")
    if len(results.files) > 3:
        _files(page, results)
    else:
        for path, attributes, count in results.files:
            _file(page, results, path, attributes, count)
    _machines(page, results)
    _clocks(page, results)


def shown_path(path):
    """Returns the path, relative if it is below the current folder. A page that is sent to others should not show the
    folders above."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def short_paths(paths):
    """Returns the ends of the paths: as many last parts, at least two, as are needed to distinguish the paths."""
    for count in range(2, max((len(path.parts) for path in paths), default=2) + 1):
        names = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def _files(page, results):
    """Adds a table with one row per file, and its long attributes, such as plans, below. The CSV has all short
    attributes."""
    names = short_paths([path for path, _, _ in results.files])
    frame = pd.DataFrame(
        [
            {
                "file": name,
                "path": shown_path(path),
                "records": count,
                **{k: v for k, v in attributes.items() if len(v) <= LONG and "\n" not in v},
            }
            for name, (path, attributes, count) in zip(names, results.files)
        ]
    ).fillna("")
    shown = [("file", "file", None), ("records", "records", whole)]
    for name in "total plan_name started backend ranks shard job_id version commit dirty build".split():
        if name in frame and (frame[name] != "").any():
            shown.append((name, name.replace("_", " "), None))
    page.table("files", frame, shown, limit=60, caption="The files of this report; their attributes are in the CSV.")
    for short, (_, attributes, _) in list(zip(names, results.files))[:60]:
        for name, value in attributes.items():
            if len(value) > LONG or "\n" in value:
                page.preformatted(f"{name} of {short}", value)


def _file(page, results, path, attributes, count):
    """Adds the attributes of one file. `count`: its number of records."""
    page.heading(shown_path(path))
    # Leaves out empty attributes and `clock`, a JSON text for programs that compare times of several files.
    short = {k: v for k, v in attributes.items() if v and len(v) <= LONG and "\n" not in v and k != "clock"}
    frame = pd.DataFrame({"name": ["records", *short], "value": [str(count), *short.values()]})
    page.table(
        f"provenance-{file_number(results, path)}",
        frame,
        [("name", "attribute", None), ("value", "value", None)],
        limit=80,
    )
    for name, value in attributes.items():
        if len(value) > LONG or "\n" in value:
            page.preformatted(name, value)


def file_number(results, path):
    """Returns the index of a file among all files of the report."""
    return [p for p, _, _ in results.files].index(path)


def _machines(page, results):
    """Adds the tables of devices, hosts and runs."""
    page.heading("Devices, hosts and runs", "provenance-machines")
    names = short_paths([path for path, _, _ in results.files])
    if len(results.devices):
        measured = results.devices if results.peaks is None else results.peaks
        devices = measured.assign(run=[names[file] for file in measured["file"]])
        only_gpus = ["capability", "multiprocessors", "ecc", "driver_version", "runtime_version"]
        page.table(
            "devices",
            devices.assign(
                **devices[only_gpus].where(devices["capability"] > 0),
                threads=devices["threads"].where(devices["threads"] > 0),
            ),
            [
                ("gpu_name", "device", None),
                ("gpu_uuid", "UUID", None),
                "host",
                ("capability", "capability", whole),
                ("multiprocessors", "SMs", whole),
                ("total_bytes", "memory", gibibytes),
                ("ecc", "ECC", whole),
                ("driver_version", "driver", whole),
                ("runtime_version", "runtime", whole),
                ("copy_bytes_per_second", "copy", lambda v: prefixed(v, "B/s")),
                ("gemm_flops_float", "GEMM float", lambda v: prefixed(v, "FLOP/s")),
                ("gemm_flops_double", "GEMM double", lambda v: prefixed(v, "FLOP/s")),
                ("threads", "threads", whole),
                *([("run", "file", None)] if len(names) > 1 else []),
            ],
            caption="Peaks are measured at the start of a run. Fractions use the largest ones of each device, of a CPU"
            " those with the same number of threads.",
        )
    else:
        page.remark("The files record no device.")
    if len(results.hosts):
        page.table(
            "hosts",
            results.hosts.assign(blas_threads=results.hosts["blas_threads"].where(results.hosts["blas_threads"] > 0)),
            [
                "host",
                ("cpu", "CPU", None),
                ("os", "system", None),
                ("cores", "cores", whole),
                ("memory_bytes", "memory", gibibytes),
                ("blas_threads", "BLAS threads per rank", whole),
            ],
        )
    records = results.take("key commit run_id host job_id partition gres device rank start_time")
    if len(records):
        runs = (
            records.groupby(["commit", "run_id", "host", "job_id", "partition", "gres", "device"], dropna=False)
            .agg(
                records=("key", "size"),
                ranks=("rank", "nunique"),
                first=("start_time", "min"),
                last=("start_time", "max"),
            )
            .reset_index()
        )
        page.table(
            "runs",
            runs,
            [
                "commit",
                ("run_id", "run", None),
                "host",
                ("job_id", "job", None),
                "partition",
                ("gres", "GRES", None),
                "device",
                ("records", "records", whole),
                ("ranks", "ranks", whole),
                ("first", "first start", None),
                ("last", "last start", None),
            ],
            caption="The runs that this page shows."
            + (" Earlier ones are not listed." if results.earlier is not None else ""),
        )


def _clocks(page, results):
    """Adds the table of clocks, temperatures and throttling per device and host."""
    page.heading("Clocks, temperature and throttling", "provenance-clocks")
    records = results.take(CLOCK_COLUMNS)
    records = records[records["samples"] > 0]
    if not len(records):
        page.remark("No trial was timed.")
        return
    table = (
        records.groupby(["device", "host"])
        .agg(
            trials=("key", "size"),
            low=("sm_clock_mhz", "min"),
            middle=("sm_clock_mhz", "median"),
            high=("sm_clock_mhz", "max"),
            power=("power_w", "max"),
            hottest=("temperature_c", "max"),
            throttled=("throttled", lambda t: int((t != 0).sum())),
        )
        .reset_index()
    )
    samples = (results.samples["throttled"] != 0).groupby(results.samples["trial"]).agg(["size", "sum"])
    samples_of = (
        samples.join(results.take("device host"))
        .groupby(["device", "host"])
        .agg(samples=("size", "sum"), slow=("sum", "sum"))
        .reset_index()
    )
    table = table.merge(samples_of, on=["device", "host"], how="left")
    reasons = records[(records["throttled"] != 0) & (records["throttle_reason"] != "")]
    reasons_of = reasons.groupby(["device", "host"])["throttle_reason"].agg(lambda r: ", ".join(sorted(set(r))[:6]))
    table["reasons"] = [reasons_of.get((d, h), "–") for d, h in zip(table["device"], table["host"])]
    page.table(
        "clocks",
        table,
        [
            "device host",
            ("trials", "timed trials", whole),
            ("low", "SM clock from [MHz]", number),
            ("middle", "median", number),
            ("high", "to", number),
            ("power", "power ≤ [W]", number),
            ("hottest", "≤ [°C]", number),
            ("throttled", "trials throttled", whole),
            ("slow", "samples throttled", whole),
            ("samples", "of", whole),
            ("reasons", "why", None),
        ],
        caption="A sample taken under throttling is flagged and kept.",
    )
