"""Which method wins where: the races of `gaussweep summary --best --by gpu`, from the same rules (docs/running.md).
tests/analysis/test_verdict.py holds both against each other."""

import numpy as np
import pandas as pd

# All that decides what is solved; the matrix by its digest.
TASK = ["problem", "precision", "m", "n", "k", "nrhs", "batch", "uplo", "matrix_digest", "matrix_seed", "of_b"]
CONFIGURATION = [*TASK, "method", "backend", "parameters", "gpu_name", "capability"]
SEVERITY = ["skipped", "pass", "suspect", "failed", "diverged", "timeout", "crashed", "oom", "error"]


def configurations(records):
    """One row a configuration on a device: repetitions together, with the worst of their statuses."""
    b = records["matrix_parameters"].where(
        (records["problem"] == "gemm") & records["matrix_parameters"].str.contains('"b":', regex=False), ""
    )
    # Without a digest what is known of the matrix stands for it.
    named = records["matrix_digest"].where(
        records["matrix_digest"] != "",
        records["matrix_kind"] + " " + records["matrix"] + " " + records["matrix_parameters"],
    )
    severity = {status: i for i, status in enumerate(SEVERITY)}
    rows = records.assign(of_b=b, matrix_digest=named, worst=records["status"].map(severity).fillna(len(SEVERITY)))
    found = rows.groupby(CONFIGURATION, sort=False, dropna=False).agg(
        worst=("worst", "max"),
        q1=("seconds_q1", "median"),
        median=("seconds_median", "median"),
        q3=("seconds_q3", "median"),
        task=("task", "first"),
        matrix_name=("matrix_name", "first"),
        problem_flops=("problem_flops", "first"),
        problem_bytes=("problem_bytes", "first"),
        vendor=("reference_method", "first"),
    )
    return found.reset_index()


class Machines:
    """Which devices there are, and whose CPUs' methods race beside a GPU."""

    def __init__(self, night):
        records = night.records
        self._cpu = {h: c for h, c in zip(night.hosts["host"], night.hosts["cpu"]) if c}
        cuda = records["backend"] == "cuda"
        names = records["gpu_name"].where(records["gpu_name"] != "", "unnamed GPU")
        self.gpu = pd.Series(list(zip(names, records["capability"])), index=records.index, dtype=object)
        self.hosts_of = {g: set(records.loc[cuda & (self.gpu == g), "host"]) for g in sorted(set(self.gpu[cuda]))}
        self._with_methods = set(records.loc[records["backend"] == "host", "host"])

    def cpu(self, host):
        return self._cpu.get(host, "CPU")

    def beside(self, gpu):
        return self.hosts_of[gpu] & self._with_methods or self._with_methods


def _rate(devices, name, capability, column):
    unnamed = "unnamed GPU" if capability > 0 else "CPU"
    names = devices["gpu_name"].where(
        devices["gpu_name"] != "", np.where(devices["capability"] > 0, "unnamed GPU", "CPU")
    )
    own = devices[(names == (name or unnamed)) & (devices["capability"] == capability) & (devices[column] > 0)]
    return float(own[column].median()) if len(own) else np.nan


def _race(rows, rates, baseline):
    """One race as a dict. `rows`: the configurations that solved one task, as dicts; `baseline`: the method that the
    winner is held against, by default the vendor's."""
    first = rows[0]
    compute = first["problem_flops"] / rates.get(first["precision"], np.nan)
    memory = first["problem_bytes"] / rates["copy"]
    known = np.isfinite(compute) and np.isfinite(memory)
    race = {
        **{name: first[name] for name in TASK},
        "task": first["task"],
        "matrix_name": first["matrix_name"],
        "methods": len({(row["method"], row["backend"]) for row in rows if row["worst"] > 0}),
        "winner": "",
        "backend": "",
        "parameters": "",
        "median": np.nan,
        "runner_up": "",
        "runner_up_backend": "",
        "runner_up_median": np.nan,
        "lead": np.nan,
        "tie": False,
        "baseline": "",
        "over_baseline": np.nan,
        "limit": max(compute, memory) if known else np.nan,
        "bound": ("memory" if memory > compute else "compute") if known else "",
        "share": np.nan,
    }
    passed = sorted((row for row in rows if row["worst"] == 1 and row["median"] > 0), key=lambda row: row["median"])
    if not passed:
        return race
    best = passed[0]
    race.update(winner=best["method"], backend=best["backend"], parameters=best["parameters"], median=best["median"])
    race["share"] = race["limit"] / best["median"]
    # The fastest of that name: on the GPU before on the CPU, for the vendor's names differ there.
    name = baseline or max((row["vendor"] for row in rows if row["backend"] == "cuda"), default="")
    name = name or max((row["vendor"] for row in rows), default="")
    held = next((row for row in passed if row["method"] == name), None)
    if held is not None:
        race.update(baseline=name, over_baseline=held["median"] / best["median"])
    others = [row for row in passed if (row["method"], row["backend"]) != (best["method"], best["backend"])]
    if others:
        second = others[0]
        race.update(
            runner_up=second["method"],
            runner_up_backend=second["backend"],
            runner_up_median=second["median"],
            lead=second["median"] / best["median"],
            tie=bool(second["q1"] < best["q3"]),
        )
    return race


def grids(night, baseline=""):
    """(device, capability, CPUs beside it, races) each; races as a frame, a row a race in which anything was tried."""
    records = night.records
    if not len(records):
        return []
    machines = Machines(night)
    found, placed = [], set()
    for gpu in machines.hosts_of:
        beside = machines.beside(gpu)
        placed |= beside | machines.hosts_of[gpu]
        own = np.where(
            records["backend"] == "cuda",
            machines.gpu == gpu,
            (records["backend"] == "host") & records["host"].isin(beside),
        )
        found.append((*gpu, sorted({machines.cpu(h) for h in beside}), records[own]))
    alone = records[(records["backend"] != "cuda") & ~records["host"].isin(placed)]
    for cpu, own in alone.groupby(alone["host"].map(machines.cpu)):
        found.append((cpu, 0, [], own))
    result = []
    for device, capability, cpus, own in found:
        rates = {
            "float": _rate(night.devices, device, capability, "gemm_flops_float"),
            "double": _rate(night.devices, device, capability, "gemm_flops_double"),
            "copy": _rate(night.devices, device, capability, "copy_bytes_per_second"),
        }
        tasks = {}
        tried = configurations(own)
        for values in zip(*(tried[column].tolist() for column in tried)):
            row = dict(zip(tried, values))
            tasks.setdefault(tuple(row[name] for name in TASK), []).append(row)
        races = [_race(rows, rates, baseline) for rows in tasks.values()]
        frame = pd.DataFrame([race for race in races if race["methods"] > 0])
        if len(frame):
            result.append((device, int(capability), cpus, frame))
    return result
