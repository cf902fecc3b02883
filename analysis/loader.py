"""Loads results.h5 files (io/SCHEMA.md) into pandas frames: one row per record, sample, stage, iteration, device or
host. A record is the result of a trial: of one method, with its parameters, on one matrix. A trial that was repeated in
fresh processes (rounds) has one record per round. A sample is one timed run of the method."""

import json
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

from . import identity, restorations
from .conditions import conditions
from .hdf5 import DAMAGED, Foreign, check_claim, check_schema
from .identity import CONDITIONS
from .rounds import SAME_IN_ROUNDS, joint_codes, pool_rounds
from .runs import TRIAL, gpu_models, is_in_last_set, plan_names, run_starts
from .words import counted

STATUSES = ["pass", "suspect", "failed", "diverged", "skipped", "timeout", "crashed", "oom", "error"]
ANSWERED = {"pass", "suspect", "failed"}  # the method returned an answer, so its time is meaningful

# The columns of /records by type.
_TEXT = [
    *"""key run_id problem method backend precision uplo parameters matrix matrix_parameters matrix_kind
matrix_digest status message convergence reference_method gpu_uuid gpu_name throttle_reason host start_time end_time
judged_time commit job_id node partition gres energy_source problem_title timing library library_digest
gpu_count""".split(),
    *CONDITIONS,
]
_INTEGER = """m n k nrhs matrix_seed info iterations samples inner_repeats warmup capability throttled rank
device_index""".split()
# Integers for which -1 means unknown.
_INTEGER_OR_UNKNOWN = """expected enough kernels waits launch_bound repeats_bits systems_pass systems_suspect
systems_failed first_failure""".split()
_REAL = """seconds_min seconds_q1 seconds_median seconds_mean seconds_q3 seconds_max seconds_stdev load_seconds
generate_seconds allocate_seconds h2d_seconds d2h_seconds verify_seconds flops gflops bytes peak_share problem_flops
problem_bytes residual_ratio tolerance backward_error forward_error pivot_growth first_row_percent reference_seconds
digits_lost reference_difference largest_relative_difference mean_relative_difference mean_absolute_difference
sm_clock_mhz memory_clock_mhz power_w temperature_c queue_seconds replay_q1 replay_median replay_q3 energy_joules
energy_uncertainty energy_power_w idle_power_w wait_began prepare_began store_began inputs_began allocate_began
upload_began warmup_began timed_began download_began verify_began stages_began reference_began compare_began
componentwise_error cpu_demand""".split()

# The columns that the report needs, each with the default for files that lack it.
TABLES = {
    "records": {
        **dict.fromkeys(_TEXT, ""),
        **dict.fromkeys(_INTEGER, 0),
        **dict.fromkeys(_REAL, np.nan),
        **dict.fromkeys(_INTEGER_OR_UNKNOWN, -1),
        "round": 1,
        "batch": 1,
    },
    "samples": {
        **dict(trial=-1, index=0, seconds=np.nan, clock=np.nan, throttled=0),
        **dict.fromkeys(("memory_clock", "power", "temperature"), np.nan),
    },
    "stages": {
        **{"trial": -1, "kernel": "", "calls": 0},
        **dict.fromkeys(("seconds", "mean", "occupancy", "share"), np.nan),
    },
    "iterations": {"trial": -1, "iteration": 0, "residual": np.nan},
    "devices": {
        **dict.fromkeys(("gpu_uuid", "gpu_name", "host"), ""),
        **dict.fromkeys("capability multiprocessors total_bytes ecc driver_version runtime_version".split(), 0),
        **dict.fromkeys(("copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"), np.nan),
    },
    "hosts": {"host": "", "cpu": "", "os": "", "cores": 0, "memory_bytes": 0, "blas_threads": 0},
}
OPTIONAL = {"problem_title", "cpu_demand"}  # older files lack them, without a warning
# The columns from which `_add_derived_columns` computes others.
INPUTS = [
    *"""problem backend gpu_name parameters matrix matrix_kind matrix_parameters matrix_seed uplo gpu_count m n k nrhs
batch status expected seconds_median""".split(),
    *CONDITIONS,
]
DETAILS = ("samples", "stages", "iterations")  # the tables whose rows belong to a record, named by their column `trial`
# The values in older files, whose records lack these columns or have an empty text.
DEFAULTS = {**CONDITIONS, "gpu_count": "1"}
BYTES_AT_ONCE = 32 << 20  # bytes of a table that are read per call
# `gaussweep merge` calls a host "node1 (2 threads)" if its runs had different numbers of threads.
THREADS_SUFFIX = r" \(\d+ threads?\)$"
TOO_FAST = 1.5  # a time is suspect if its fraction of peak is larger than this, as in driver/plan/roofline_fraction.hpp
# The columns that identify a device. A CPU with another number of threads is another one, because its peaks differ.
DEVICE = ["host", "gpu_uuid", "capability", "threads"]


class ReportError(Exception):
    """An error that a user can fix: printed without a traceback, exit code 2."""


@dataclass
class Results:
    """The data of all files of a report. In samples, stages and iterations, column `trial` is a row number of
    `table`."""

    table: pd.DataFrame  # one row per record, in compact types; `take` returns columns in ordinary ones
    samples: pd.DataFrame
    stages: pd.DataFrame
    iterations: pd.DataFrame
    devices: pd.DataFrame
    hosts: pd.DataFrame
    peaks: pd.DataFrame = None  # `devices` with each file's own measured rates, before `_unify_peaks` raises them
    files: list = field(default_factory=list)  # (path, attributes, number of records)
    warnings: list = field(default_factory=list)  # sentences for the page
    restorations: list = field(default_factory=list)  # images, from restoration.h5 files
    units: dict = field(default_factory=dict)  # table -> column -> unit; older files have none
    # The records of earlier runs of a plan, None if there are none. The column `runs_ago` counts back from the last run
    # of a trial.
    earlier: pd.DataFrame = None
    rows: np.ndarray = None  # the rows of `table` that `only` selected; None if all are selected

    def only(self, chosen):
        """Returns Results with only the records for which `chosen` is true. Both share `table`, which may be large."""
        rows = np.flatnonzero(chosen) if self.rows is None else self.rows[np.flatnonzero(chosen)]
        index = self.table.index[rows]
        details = {n: f[f["trial"].isin(index)] for n, f in vars(self).items() if n in DETAILS}
        return replace(self, rows=rows, **details)

    def take(self, names, where=None):
        """Returns some columns ("key status …") of the records for which `where` is true, by default of all. Callers
        should take few columns, because copies of all hundred columns of a million records exhaust the memory."""
        rows = self.rows
        if where is not None:
            rows = np.flatnonzero(where) if rows is None else rows[np.flatnonzero(where)]
        index = self.table.index if rows is None else self.table.index[rows]
        columns = {}
        for name in dict.fromkeys(names.split() if isinstance(names, str) else names):
            values = self.table[name].array if rows is None else self.table[name].array.take(rows)
            if values.dtype.name == "category":
                kind = values.categories.dtype  # since pandas 3, texts have a type that NumPy lacks
                columns[name] = np.array(values, dtype=object if kind.kind == "O" else kind)
            else:
                is_small = values.dtype.name in ("int8", "int16", "int32")
                columns[name] = np.array(values, dtype=np.int64 if is_small else None)
        return pd.DataFrame(columns, index=index, copy=False)

    def take_answered(self, names):
        """Returns columns, as `take` does, of the records with an answer and a time, including wrong answers."""
        return self.take(names, self.take("answered")["answered"])

    @property
    def records(self):
        """All columns of the records, and `parameter`: a dict per record, parsed from the JSON text `parameters`."""
        frame = self.take(self.table.columns)
        return frame.assign(parameter=frame["parameters"].map(parameters_of(frame)))

    @property
    def count(self):
        """The number of records."""
        return len(self.table) if self.rows is None else len(self.rows)


def find_files(arguments):
    """Returns the results files that the arguments name. A directory stands for its results.h5. It stands for all
    results files below it if it has none, or if its own was merged from run directories below. A run directory has a
    journal.jsonl, the log of its trials."""
    found = []
    for argument in arguments:
        path = Path(argument)
        results, journal = path / "results.h5", path / "journal.jsonl"
        if not argument:  # Path("") is the current folder
            raise ReportError("an empty name is not an input; give a run directory or a results file")
        if path.name == "journal.jsonl" and path.is_file():
            if len(arguments) > 1:  # skipped, because a pattern such as DIR/* includes it
                continue
            raise ReportError(f"{path} is a run's journal; give the run directory {path.parent}")
        if path.is_file():
            if not restorations.is_restoration(path):
                found.append(path)
        elif results.is_file() and (journal.is_file() or not any(path.rglob("journal.jsonl"))):
            found.append(results)
        elif path.is_dir():
            below = [p for p in sorted(path.rglob("*.h5")) if "matrices" not in p.relative_to(path).parts]
            below = [p for p in below if _is_results(p)]
            below = [p for p in below if p != results] or below  # a merged copy may be older than the runs
            if not below and not restorations.below(path):
                merge = f"gaussweep merge {shlex.quote(str(path))} -o {shlex.quote(str(results))}"
                resume = f"a run has not ended: run --resume, or {merge}, makes the file"
                advice = resume if any(path.rglob("journal.jsonl")) else "give a run directory or a results file"
                raise ReportError(f"{path}: no results.h5 here or below; {advice}")
            found += below
        else:
            raise ReportError(f"{path}: no such file or directory")
    return list(dict.fromkeys(p.resolve() for p in found))


def load(arguments, only=None, as_recorded=False):
    """Reads all files into one Results. `only` maps a table to the columns to read; others are read completely. Unless
    `as_recorded`, pools rounds and moves earlier runs to `earlier`. @raises ReportError if nothing can be read"""
    wanted = {name: {c: v for c, v in w.items() if c in (only or {}).get(name, w)} for name, w in TABLES.items()}
    tables, files, warnings = {name: [] for name in TABLES}, [], []
    offset, units, cpu_of = 0, {}, {}
    for path in find_files(arguments):
        try:
            attributes, frames, remarks, units_of_file = _read_file(path, offset, wanted, only or {})
        except DAMAGED as error:
            merge = f"gaussweep merge {shlex.quote(str(path))} -o FILE.h5"
            advice = f"report reads no journals; {merge} makes a results file of it"
            if not _is_journal(path):
                advice = _error_text(error)
                if (path.parent / "journal.jsonl").is_file():
                    run = shlex.quote(str(path.parent))
                    advice += f"; gaussweep merge {run} -o {shlex.quote(str(path))} --force makes it from the journal"
            warnings.append(f"{path} was left out: {advice}")
            continue
        warnings += remarks
        _rename_ambiguous_hosts(frames, cpu_of)
        records = frames["records"] = _with_columns(frames["records"], file=len(files))
        frames["devices"]["file"] = len(files)
        files.append((path, attributes, len(records)))
        for name, of_table in units_of_file.items():
            units.setdefault(name, {}).update(of_table)
        offset += len(records)
        for name, frame in frames.items():
            tables[name].append(frame)
    restored_images = restorations.load_restorations(arguments, warnings)
    if not files and restored_images:
        empty = {n if n != "records" else "table": _with_defaults({}, w, 0) for n, w in TABLES.items()}
        return Results(files=[], warnings=warnings, restorations=restored_images, **empty)
    if not files:
        raise ReportError("nothing to report on: " + "; ".join(warnings))
    # A single frame is used as it is, because pd.concat would copy it.
    joined = {n: f[0] if len(f) == 1 else pd.concat(f, ignore_index=True) for n, f in tables.items()}
    joined["table"] = joined.pop("records")
    results = Results(
        files=files, warnings=_join_equal_warnings(warnings), restorations=restored_images, units=units, **joined
    )
    _drop_repetitions(results)
    if as_recorded:
        _add_derived_columns(results)
        return results
    results.devices = results.devices.drop_duplicates(["file", *DEVICE], keep="last").reset_index(drop=True)
    results.hosts = results.hosts.drop_duplicates(["host", "blas_threads"], keep="last").reset_index(drop=True)
    # Emulated kernels are GPU kernels that run on the CPU. They have no fraction of a peak, because they do not run on
    # the device whose peaks were measured.
    results.table.loc[results.table["backend"] == "emulated", "peak_share"] = np.nan
    _unify_peaks(results)
    _add_derived_columns(results)
    _move_earlier_runs(results)
    pool_rounds(results)
    # A CPU's peaks depend on its threads. Drops the peaks of thread counts that only earlier runs used.
    is_used = results.devices["threads"].isin(results.table["threads"].unique()) | (results.devices["capability"] > 0)
    results.devices = results.devices[is_used].reset_index(drop=True)
    results.table = pd.DataFrame({c: _compact(results.table.pop(c)) for c in list(results.table)}, copy=False)
    for name in results.samples.columns.intersection(["trial", "throttled"]):
        results.samples[name] = _compact(results.samples[name])
    return results


def _unify_peaks(results):
    """Sets each measured rate of a device to its maximum over all files, as `unify_peaks` of driver/results does.
    Recomputes `peak_share` (the fraction of peak) for records whose file has smaller rates, and clears `timing` if the
    larger rates explain a suspect time."""
    rates = ["copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"]
    results.peaks = results.devices.copy()
    if not len(results.devices):
        return
    results.devices[rates] = results.devices.groupby(DEVICE)[rates].transform("max")
    raised = results.devices[(results.devices[rates] > results.peaks[rates]).any(axis=1)]
    if not len(raised):
        return
    affected = results.table[["file", *DEVICE, *"precision gpu_count flops bytes seconds_median peak_share".split()]]
    affected = affected[affected["peak_share"].notna()].astype(dict.fromkeys(("host", "gpu_uuid", "precision"), object))
    affected = affected.reset_index().merge(raised[["file", *DEVICE, *rates]], on=["file", *DEVICE]).set_index("index")
    rate = affected["gemm_flops_double"].where(affected["precision"] != "float", affected["gemm_flops_float"])
    least = np.maximum(affected["flops"] / rate, affected["bytes"] / affected["copy_bytes_per_second"])
    share = least / affected["seconds_median"] / gpu_counts(affected)
    share = share[np.isfinite(share)]
    results.table.loc[share.index, "peak_share"] = share
    explained = results.table.index.isin(share.index[share <= TOO_FAST])
    results.table["timing"] = results.table["timing"].astype(object).mask(explained, "")


def gpu_counts(rows):
    """Returns the number of GPUs that each trial used. The measured peaks are those of one GPU."""
    return pd.to_numeric(rows["gpu_count"], errors="coerce").fillna(1)


def _read_file(path, offset, wanted, only):
    """Returns (attributes, tables, remarks, units) of one file. `offset`: the row number of its first record among the
    records of all files; `wanted`: table -> column -> default; `only`: as in `load`. @raises one of DAMAGED"""
    remarks = []
    with h5py.File(path, "r") as file:
        if not isinstance(file.get("records"), h5py.Dataset):
            raise Foreign("no table /records in it")
        check_schema(file)
        attributes = _attributes(file)
        frames = {n: _read_table(file, n, remarks, path, w, only.get(n)) for n, w in wanted.items()}
        units = {name: _units(file[name]) for name in TABLES if name in file}
    _refer_to_rows(frames, offset, remarks, path)
    known = conditions(frames["records"], attributes, path.parent / "matrices")
    plan = attributes.get("plan_name") or _plan_name(attributes)
    plan = plan_names(frames["records"]["run_id"], attributes, plan)
    threads = _threads(frames["records"], frames["hosts"]).where(frames["records"]["backend"] != "cuda", 0)
    devices = frames["devices"]
    devices["threads"] = _threads(devices, frames["hosts"]).where(devices["capability"] == 0, 0)
    for name in ("records", "devices", "hosts"):
        frames[name]["host"] = frames[name]["host"].astype(object).str.replace(THREADS_SUFFIX, "", regex=True)
    frames["records"] = _with_columns(frames["records"], plan_name=plan, matrix_condition=known, threads=threads)
    return attributes, frames, remarks, units


def _threads(rows, hosts):
    """Returns the number of threads per rank on the host of each row; 0 if it is unknown."""
    of_host = dict(zip(hosts["host"], hosts["blas_threads"]))
    return rows["host"].astype(object).map(of_host).fillna(0).astype(np.int64)


def _rename_ambiguous_hosts(frames, cpu_of):
    """Renames a host to "name (CPU model)" if an earlier file has a host of the same name with another CPU model.
    Virtual machines often share a name. Core counts are not compared, because a job may get only some of the cores.
    `cpu_of`: host -> CPU model in the earlier files; this file's hosts are added."""
    new_names = {}
    for host, cpu in zip(frames["hosts"]["host"], frames["hosts"]["cpu"]):
        if cpu and cpu_of.setdefault(host, cpu) != cpu:
            new_names[host] = f"{host} ({cpu})"
            cpu_of.setdefault(new_names[host], cpu)
    if new_names:
        for name in ("records", "devices", "hosts"):
            frames[name]["host"] = frames[name]["host"].astype(object).replace(new_names)


def _units(dataset):
    """Maps the columns of a table to their units; an empty map for older files and malformed attributes."""
    try:
        units = json.loads(dataset.attrs.get("units", "{}"))
    except (ValueError, TypeError):
        return {}
    return {str(c): str(u) for c, u in units.items()} if isinstance(units, dict) else {}


def _error_text(error):
    """Returns the text of an error, or its type if it has none."""
    is_memory = isinstance(error, MemoryError)
    return "it needs more memory than there is" if is_memory else str(error) or type(error).__name__


def _join_equal_warnings(warnings):
    """Joins equal warnings about several files into one sentence."""
    places_of = {}
    for warning in warnings:
        file, colon, words = warning.partition(": ")
        places_of.setdefault(words if colon else warning, []).append(file)
    return [
        (
            f"{files[0]}{' and ' + counted(len(files) - 1, 'more file') if len(files) > 1 else ''}: {words}"
            if words != files[0]
            else words
        )
        for words, files in places_of.items()
    ]


def _is_journal(path):
    """Returns whether the file is a run's journal, by its first line. Each line of a journal ends with a checksum,
    which exported records lack."""
    try:
        with open(path, "rb") as file:
            return re.search(rb',"crc":"[0-9a-f]{8}"}\n$', file.readline()) is not None
    except (OSError, MemoryError):
        return False


def _is_results(path):
    try:
        with h5py.File(path, "r") as file:
            return "records" in file
    except DAMAGED:
        return False


def _attributes(file):
    """Returns the attributes of the file, and of /provenance or /plan in versions that keep them there, as text."""
    found = {}
    for holder in (file, *(file[g] for g in ("provenance", "plan") if g in file)):
        for name, value in holder.attrs.items():
            if isinstance(value, bytes):
                value = value.decode("utf-8", "replace")
            elif isinstance(value, np.ndarray):
                value = ", ".join(
                    v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in value.ravel()
                )
            found[name] = str(value)
    return found


def _plan_name(attributes):
    """Returns the name in the plan's YAML text; an empty text if it has none."""
    match = re.search(r"^name:\s*['\"]?([^'\"#\n]+)", attributes.get("plan", ""), re.M)
    return match.group(1).strip() if match else ""


class _Texts:
    """Reads a column of texts in parts. Distinct values are stored once, so that a million rows need little memory."""

    def __init__(self, rows):
        self.codes = np.zeros(rows, np.int32)  # per row, the number of its text
        self.numbers = {}  # text -> number

    def put(self, start, column):
        """Stores the values of the rows from `start` on."""
        if column.dtype.kind == "O":
            column = np.array([v if isinstance(v, bytes) else str(v).encode() for v in column], dtype="S")
        values, inverse = np.unique(column, return_inverse=True)
        texts = [v.decode("utf-8", "replace") for v in values.tolist()]
        numbers = np.array([self.numbers.setdefault(text, len(self.numbers)) for text in texts], np.int32)
        self.codes[start : start + len(column)] = numbers[inverse]

    def column(self):
        """Returns the column: categories, or plain texts if more than half of the values are distinct."""
        texts = np.array(list(self.numbers), dtype=object)
        if len(texts) > len(self.codes) // 2:
            return texts[self.codes]
        return pd.Categorical.from_codes(self.codes, texts)


def _read_table(file, name, warnings, path, wanted, only):
    """Reads a table as a frame that begins with the columns of `wanted` (column -> default). If `only` is None, the
    file's other columns are read too, else only the columns in `only`."""
    if name not in file:
        return _with_defaults({}, wanted, 0)
    dataset = file[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.dtype.names is None or dataset.ndim != 1:
        if name == "records":
            raise Foreign("/records is not a one-dimensional compound table")
        warnings.append(f"{path}: /{name} is not a compound table and was left out")
        return _with_defaults({}, wanted, 0)
    check_claim(dataset)
    types = {c: dataset.dtype[c] for c in dataset.dtype.names if only is None or c in only}
    types = {c: t for c, t in types.items() if _is_kept(t, c, name, wanted)}
    count = len(dataset)
    found = {c: _Texts(count) if t.kind in "SO" else np.empty(count, t) for c, t in types.items()}
    at_once = max(1000, BYTES_AT_ONCE // max(1, dataset.dtype.itemsize))
    for start in range(0, len(dataset), at_once):
        rows = dataset[start : start + at_once]
        for column, values in found.items():
            if isinstance(values, _Texts):
                values.put(start, rows[column])
            else:
                values[start : start + len(rows)] = rows[column]
    for column, values in found.items():
        if isinstance(values, _Texts):
            found[column] = values.column() if name == "records" else np.array(values.column(), dtype=object)
    missing = [column for column in wanted if column not in found and column not in OPTIONAL]
    if missing:
        warnings.append(f"{path}: /{name} lacks {', '.join(missing)} (another schema version): shown as unknown")
    return _with_defaults(found, wanted, count)


def _is_kept(dtype, column, table, wanted):
    """Returns whether a column is read. All wanted columns are read, and others if their values are numbers or texts,
    not arrays. @raises Foreign if a wanted column has the wrong type"""
    # NumPy's kinds: S bytes, O objects (texts), i and u integers, f floats, b booleans.
    kinds = "SOiufb" if column not in wanted else "SO" if isinstance(wanted[column], str) else "iufb"
    if column == "trial":
        kinds = "SOiu"  # detail tables refer to a record by its row or by its key
    if dtype.shape == () and dtype.kind in kinds:
        return True
    if column in wanted:
        kind = "text" if kinds == "SO" else "numbers"
        raise Foreign(f"the column {column} of /{table} must hold {kind}, one per row")
    return False


def _with_columns(frame, **columns):
    """Returns the frame with more columns, without copying."""
    return pd.DataFrame({**dict(frame.items()), **columns}, copy=False)


def _compact(column):
    """Returns the column in a type that needs less memory: categories for repeated texts and for columns without any
    value, the smallest type for integers."""
    if column.dtype == np.int64:
        return pd.to_numeric(column, downcast="integer")
    if column.dtype.kind != "O" and not (column.dtype == float and column.isna().all()):
        return column
    codes, values = pd.factorize(column.to_numpy())
    if len(values) > len(codes) // 2:
        return column
    return pd.Series(pd.Categorical.from_codes(codes, values), index=column.index)


def _with_defaults(found, wanted, rows):
    """Returns a frame with the wanted columns first, then the others in `found` (column -> values). Missing columns get
    their defaults. A column with a float default becomes a float column, so that NaN can mark unknown values. Removes
    the wanted columns from `found`, to free their memory."""
    columns = {}  # combined once, because each insertion into a frame copies it
    for column, default in wanted.items():
        if column not in found:
            dtype = object if isinstance(default, str) else float if isinstance(default, float) else np.int64
            columns[column] = np.full(rows, default, dtype=dtype)
        elif isinstance(default, float) and found[column].dtype.kind != "O":
            columns[column] = found.pop(column).astype(float, copy=False)
        else:
            columns[column] = found.pop(column)
    return pd.DataFrame({**columns, **found}, index=range(rows), copy=False)


def _refer_to_rows(frames, offset, warnings, path):
    """Converts column `trial` of samples, stages and iterations to row numbers among the records of all files. In a
    file it is the record's row number in that file, or its key. `offset`: the row number of the file's first record."""
    records = frames["records"]
    rows = None
    for name in ("samples", "stages", "iterations"):
        frame = frames[name]
        if frame["trial"].dtype.kind == "O":
            if rows is None:
                rows = pd.Series(np.arange(len(records)), index=records["key"].astype(object))
                rows = rows[~rows.index.duplicated(keep="last")]
            frame["trial"] = rows.reindex(frame["trial"]).fillna(-1).to_numpy().astype(np.int64)
        lost = ~frame["trial"].between(0, len(records) - 1)
        if lost.any():
            warnings.append(f"{path}: left out {counted(lost.sum(), 'row')} of /{name} without a record")
            frames[name] = frame = frame[~lost].reset_index(drop=True)
        frame["trial"] = frame["trial"].astype(np.int64) + offset


def _drop_repetitions(results):
    """Keeps only the last record of a trial that is in several files or was retried. A trial is identified as in
    `gaussweep merge`: by key, run id, GPU model, capability and commit."""
    identity = ["key", "run_id", "gpu_name", "capability", "commit"]
    known = results.table["key"] != ""
    repeated = results.table.duplicated(identity, keep="last") & known
    if not repeated.any():
        return
    results.warnings.append(
        f"{counted(repeated.sum(), 'record')} in more than one file (or retried): the last one of each counts"
    )
    _remove_records(results, repeated)


def _remove_records(results, gone):
    """Removes the records for which `gone` is true, with their samples, stages and iterations, and renumbers
    `trial`."""
    gone = gone.to_numpy()
    new_row = np.cumsum(~gone) - 1
    results.table = results.table[~gone].reset_index(drop=True)
    for name in DETAILS:
        frame = getattr(results, name)
        frame = frame[~gone[frame["trial"]]].reset_index(drop=True)
        frame["trial"] = new_row[frame["trial"]]
        setattr(results, name, frame)


# Records of several runs that agree in these columns may be of the same trial. The GPU model is not among them, because
# skipped trials have none; TRIAL has `gpus` instead. The library's digest is not among them either: a new build of a
# library is compared with the old one, as a new build of the program is.
_SAME_TRIAL = set(SAME_IN_ROUNDS) - {"run_id", "gpu_name", "capability", "library_digest"}
_SAME_TRIAL = [*sorted(_SAME_TRIAL), "matrix_digest", "round"]


def has_second_matrix(records):
    """Returns a mask of the products whose second matrix has parameters of its own. It has no digest."""
    return (records["problem"] == "gemm") & records["matrix_parameters"].str.contains('"b":', regex=False)


def _number_trials(results):
    """Returns an integer per record, which is equal for runs of the same trial. As for `gaussweep compare`, a trial is
    its task, method and parameters. Its key is not used, because the key also depends on the number of repeats and on
    other settings of the sampling. If a run has a trial several times with different settings, these are several
    trials, in the order of their keys."""
    records = results.take([*_SAME_TRIAL, "run_id", "key"])
    # A matrix with a digest is identified by it, whatever its file is called. Others need their name and parameters.
    is_named = (records["matrix_digest"] == "") | has_second_matrix(records)
    for name in ("matrix", "matrix_kind", "matrix_parameters"):
        records[name] = records[name].where(is_named, "")
    for name, default in DEFAULTS.items():
        records[name] = records[name].replace("", default)
    trials = joint_codes(records[name] for name in _SAME_TRIAL)
    in_run = pd.DataFrame({"trial": trials, "run": joint_codes([records["run_id"]])})
    if not in_run.duplicated().any():
        return trials
    in_run["key"] = pd.factorize(records["key"], sort=True)[0]
    return joint_codes([in_run["trial"], in_run.groupby(["trial", "run"])["key"].rank("dense")])


def _move_earlier_runs(results):
    """Moves the records of earlier runs to `earlier`, because several runs of one plan are compared, not pooled. Only
    the last set of runs (see `runs.is_in_last_set`) of each sequence stays."""
    gpus = gpu_models(results.take("run_id host gpu_name"))
    results.table = _with_columns(results.table, gpus=gpus, same_trial=_number_trials(results))
    records = results.take([*TRIAL, "key", "run_id", "start_time", "status", "file"])
    results.table = _with_columns(results.table, run_start=run_starts(records))
    order = records.assign(start_=results.table["run_start"]).sort_values("start_", kind="stable")
    is_known = (order["key"] != "") & (order["plan_name"] != "") & (order["run_id"] != "")
    order = order[is_known]
    # Per record: the number of later runs of its trial.
    later_runs = order.groupby(TRIAL, sort=False).cumcount(ascending=False)
    if not (later_runs > 0).any():
        return
    # A trial that the last set of runs lacks belongs to an earlier run, although no later run repeats it. Its
    # `runs_ago` is therefore 1, not 0.
    runs_ago = later_runs.where((later_runs > 0) | is_in_last_set(order), 1).reindex(records.index).fillna(0)
    is_earlier = runs_ago > 0
    results.earlier = results.take(results.table.columns, is_earlier).assign(runs_ago=runs_ago[is_earlier].astype(int))
    results.warnings.append(
        f"{counted(is_earlier.sum(), 'record')} of earlier runs of the same plan, compared with the last one"
    )
    _remove_records(results, is_earlier)


def _add_derived_columns(results):
    """Adds columns that are computed from others: device, cpu, size, matrix_name, matrix_full, system, operands, task
    (see `identity.name_tasks`), finding, unexpected, answered, and config (the parameters as text)."""
    records = results.take(INPUTS)
    is_cuda = (records["backend"] == "cuda").to_numpy()
    gpu_names = records.loc[is_cuda & (records["gpu_name"] != ""), "gpu_name"].unique()
    # A skipped trial has no GPU name. If all others name the same GPU, the trial gets that name.
    gpu = records["gpu_name"].where(records["gpu_name"] != "", gpu_names[0] if len(gpu_names) == 1 else "unnamed GPU")
    # If no trial ran on a GPU and the hosts have several CPU models, these models are the devices that are compared.
    cpu_of = {host: cpu for host, cpu in zip(results.hosts["host"], results.hosts["cpu"]) if cpu}
    cpus = results.take("host")["host"].astype(object).map(cpu_of).fillna("")
    is_named = not is_cuda.any() and (cpus != "").all() and cpus.nunique() > 1
    host, emulated = (cpus, "emulated on " + cpus) if is_named else ("CPU", "emulated on the CPU")
    records["cpu"] = cpus.where(~is_cuda, "")  # a GPU method's time does not depend on the host's CPU
    records["device"] = np.where(is_cuda, gpu, np.where(records["backend"] == "emulated", emulated, host))
    # The size of a product that is not square is that of the square product with the same number of operations.
    sizes = records[["m", "n", "k"]].to_numpy(dtype=float)
    cube_root = np.rint(np.cbrt(np.maximum(sizes, 1).prod(axis=1)))
    is_rectangular = (
        records["m"].gt(0) & records["k"].gt(0) & (records["m"].ne(records["n"]) | records["k"].ne(records["n"]))
    )
    records["size"] = np.where(is_rectangular, cube_root, records["n"]).astype(np.int64)
    identity.name_tasks(records)
    # `expected` is 1 if the plan expects the status, 0 if not, and -1 in older files. In these, every status except
    # pass and skipped is unexpected. A finding is a bad status that the plan expects.
    is_bad = ~records["status"].isin(["pass", "skipped"])
    records["finding"] = is_bad & (records["expected"] == 1)
    records["unexpected"] = np.where(records["expected"] < 0, is_bad, records["expected"] == 0)
    records["answered"] = records["status"].isin(ANSWERED) & records["seconds_median"].gt(0)
    records["config"] = records["parameters"].map(
        {t: " ".join(f"{k}={identity.value_words(v)}" for k, v in p.items()) for t, p in parameters_of(records).items()}
    )
    derived = {name: _compact(records.pop(name)) for name in records.columns.difference(INPUTS)}
    results.table = _with_columns(results.table, **derived)


def parameters_of(records):
    """Maps each distinct JSON text in column `parameters` to its dict of values."""
    return {text: identity.parameters(text) for text in records["parameters"].unique()}


def parameter(records, name):
    """Returns the values of one parameter as a column; None in records that lack the parameter."""
    values = {text: p.get(name) for text, p in parameters_of(records).items()}
    return pd.Series([values[text] for text in records["parameters"]], index=records.index, dtype=object)
