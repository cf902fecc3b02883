"""Reads and writes results.h5 in Python, for tests/io/records/results_test.cpp.

check RESULTS EXPECTED EMPTY   compares RESULTS with the records in EXPECTED (JSON of the journal), in h5py and
pandas
document RESULTS SCHEMA.md     compares the tables of RESULTS with those of SCHEMA.md, and runs its example
make FOLDER                    writes files of other versions and other programs into FOLDER
annotate RESULTS               adds an attribute, a dataset and a column to RESULTS, as users do
falsify RESULTS                changes one number in RESULTS
"""
import json
import math
import os
import re
import sys
import zlib

import h5py
import numpy as np
import pandas as pd


def frame(table):
    """Returns a table as a pandas frame with decoded text, as in io/SCHEMA.md."""
    data = pd.DataFrame(table[:])
    for name in data.columns[data.dtypes == object]:
        data[name] = data[name].str.decode("utf-8")
    return data


def number(value):
    """Returns a number of the journal's JSON, where null is NaN and infinities are texts."""
    return {None: math.nan, "inf": math.inf, "-inf": -math.inf}.get(value, value)


def same(found, expected, what):
    """Asserts that a value equals the expected one; NaN equals NaN."""
    expected = number(expected)
    if isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(found), (what, found)
    else:
        assert found == expected, (what, found, expected)


def checksum(pieces):
    """Returns the CRC-32 of the joined bytes as 8 hexadecimal digits."""
    return f"{zlib.crc32(b''.join(pieces)):08x}"


def check(results, expected_file, empty):
    """Compares a results.h5 with records in JSON, and checks a results.h5 without rows."""
    with open(expected_file, encoding="utf-8") as file:
        expected = json.load(file)
    details = ("sample_list", "stages", "history")
    with h5py.File(results, "r") as file:
        assert file.attrs["schema_version"] == 1
        assert file.attrs["plan"] == "name: übung\nsweep:\n", file.attrs["plan"]
        assert file.attrs["commit"] == "abc"
        assert set(file) == {"records", "samples", "stages", "iterations", "devices", "hosts"}
        records = file["records"]
        assert records.compression == "gzip" and records.shuffle and records.chunks
        for name, (kind, _) in records.dtype.fields.items():
            assert kind in (np.dtype("<i8"), np.dtype("<f8")) or h5py.check_string_dtype(kind).encoding == "utf-8", name
        table = frame(records)
        assert set(table.columns) == set(expected[0]) - set(details)
        assert list(table.columns[:4]) == ["key", "run_id", "problem", "method"]
        assert len(table) == len(expected)
        for row, record in enumerate(expected):
            for name in table.columns:
                same(table[name][row], record[name], name)

        samples, stages, iterations = (frame(file[name]) for name in ("samples", "stages", "iterations"))
        readings = {"memory_clock": "memory_clock_mhz", "power": "power_w", "temperature": "temperature_c"}
        assert list(samples.columns) == ["trial", "index", "seconds", "clock", "throttled", *readings]
        assert list(stages.columns) == ["trial", "kernel", "calls", "seconds", "mean", "occupancy", "share"]
        assert list(iterations.columns) == ["trial", "iteration", "residual"]
        for trial, record in enumerate(expected):
            rows = samples[samples.trial == trial]
            assert list(rows["index"]) == list(range(len(record["sample_list"]["seconds"])))
            names = {"seconds": "seconds", "clock": "clock_mhz", "throttled": "throttled", **readings}
            for column, name in names.items():
                if name not in record["sample_list"]:  # samples without any values
                    assert rows[column].isna().all()
                    continue
                for found, value in zip(rows[column], record["sample_list"][name], strict=True):
                    same(found, value, column)
            for (_, found), stage in zip(stages[stages.trial == trial].iterrows(), record["stages"], strict=True):
                for name, value in stage.items():
                    same(found[name], value, name)
            rows = iterations[iterations.trial == trial]
            assert list(rows.iteration) == list(range(len(record["history"])))
            for found, value in zip(rows.residual, record["history"], strict=True):
                same(found, value, "residual")

        devices, hosts = frame(file["devices"]), frame(file["hosts"])
        assert devices.host[0] == "knoten-ä" and devices.total_bytes[0] == 150 << 30
        assert math.isnan(devices.gemm_flops_double[0]) and devices.copy_bytes_per_second[0] == 4.1e12
        assert hosts.cores[0] == 96 and hosts.cpu[0] == "a CPU"

        checksums = json.loads(file["records"].attrs["checksums"])
        for name, value in file.attrs.items():
            assert checksums["attributes"][name] == checksum([str(value).encode()]), name
        for name, table in checksums["tables"].items():
            assert table["rows"] == len(file[name])
            assert set(table["columns"]) == set(file[name].dtype.names)
            for column, crc in table["columns"].items():
                data = file[name][column]
                cells = [v + b"\0" for v in data] if data.dtype.kind in "SO" else [data.tobytes()]
                assert crc == checksum(cells), (name, column)

    with h5py.File(empty, "r") as file:
        for name in ("records", "samples", "stages", "iterations", "devices", "hosts"):
            assert file[name].shape == (0,), name
            assert len(frame(file[name])) == 0


def document(results, schema):
    """Compares the columns and units of a results.h5 with io/SCHEMA.md, and runs the page's example."""
    with open(schema, encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("### /records") : text.index("## journal.jsonl")]
    documented, units, table = {}, {}, None
    for line in body.splitlines():
        opening = re.match(r"(?:### |\*\*)/(\w+)", line)
        if opening:
            table = opening[1]
            documented[table] = []
        if table in ("iterations", "hosts") and line.startswith("**/"):  # a sentence, not a table
            documented[table] = [name for name in re.findall(r"`(\w+)`", line)]
        elif table and line.startswith("| `"):
            cells = line.split("|")
            columns, their_units = re.findall(r"`(\w+)`", cells[1]), [unit.strip() for unit in cells[3].split(",")]
            documented[table] += columns
            their_units = their_units if len(their_units) > 1 else their_units * len(columns)
            units.setdefault(table, {}).update({c: u for c, u in zip(columns, their_units, strict=True) if u})
    units["hosts"] = {"memory_bytes": "B"}  # documented in a sentence
    with h5py.File(results, "r") as file:
        assert documented == {name: list(file[name].dtype.names) for name in file}, documented
        for name in file:
            assert json.loads(file[name].attrs["units"]) == units.get(name, {}), (name, file[name].attrs["units"])
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1].replace("DIR/results.h5", results)
    exec(compile(example, schema, "exec"), {})  # the example is from our own document


def make(folder):
    """Writes files of other versions, files of other programs, and damaged ones."""
    good = np.array([(b"k1", 0), (b"k2", 7)], dtype=[("key", "S2"), ("x", "i8")])

    def ours(name, records, **options):
        with h5py.File(os.path.join(folder, name), "w") as file:
            file.attrs["schema_version"] = 1
            file.attrs["plan"] = "name: alt"
            file.create_dataset("records", data=records, **options)

    base = [("status", "S8"), ("method", "S6"), ("problem", "S4"), ("key", "S2")]
    row = (b"pass", b"lapack", b"gesv", b"k1")
    old = np.array(
        [row + (32, 0.5, 3, 1, 1), (b"failed",) + row[1:3] + (b"k2", 64, 0.25, 7, 1, 1)],
        dtype=base + [("n", "<i4"), ("seconds_min", "<f4"), ("flops", ">i8"), ("colour", "i8"), ("more", "f8")],
    )
    ours("old.h5", old)
    with h5py.File(os.path.join(folder, "old.h5"), "a") as file:
        file["tomorrow"] = good

    # files that earlier or later versions may have written
    for name, version in (("version_0.h5", 0), ("version_2.h5", 2), ("version_text.h5", "1")):
        ours(name, np.array([row], dtype=base))
        with h5py.File(os.path.join(folder, name), "a") as file:
            file.attrs["schema_version"] = version

    with h5py.File(os.path.join(folder, "foreign.h5"), "w") as file:
        file["records"] = good
    ours("keyless.h5", np.array([row[:3]], dtype=base[:3]))
    ours("mistyped.h5", np.array([row + (1.5,)], dtype=base + [("n", "f8")]))
    ours("variable.h5", np.array([row[:3] + ("k1",)], dtype=base[:3] + [("key", h5py.string_dtype())]))
    ours("array.h5", np.zeros((3, 3)))
    with h5py.File(os.path.join(folder, "boundless.h5"), "w") as file:
        file.attrs["schema_version"] = 1
        file.create_dataset("records", shape=(10**12,), dtype=base, chunks=(1024,), compression="gzip")
    ours("stray.h5", np.array([row], dtype=base))
    with h5py.File(os.path.join(folder, "stray.h5"), "a") as file:
        file["samples"] = np.array([(7, 0, 1.0)], dtype=[("trial", "i8"), ("index", "i8"), ("seconds", "f8")])


def annotate(results):
    """Adds an attribute, a table and a column, as users may do. The checksums must still be accepted."""
    with h5py.File(results, "a") as file:
        file.attrs["remark"] = "seen"
        file["mine"] = np.arange(3)
        old = file["samples"]
        wider = np.zeros(old.shape, dtype=old.dtype.descr + [("mine", "f8")])
        for name in old.dtype.names:
            wider[name] = old[name]
        del file["samples"]
        file["samples"] = wider


def falsify(results):
    """Changes a number of the first record without updating the checksums."""
    with h5py.File(results, "a") as file:
        row = file["records"][0]
        row["n"] += 1
        file["records"][0] = row


if __name__ == "__main__":
    {"check": check, "document": document, "make": make, "annotate": annotate, "falsify": falsify}[sys.argv[1]](
        *sys.argv[2:]
    )
