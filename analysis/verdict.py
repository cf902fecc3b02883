"""Which method wins where: the races of `gaussweep summary --best --by gpu`, from the same rules (docs/running.md).
tests/mpi/test_verdict.py holds both against each other."""

import numpy as np
import pandas as pd

# All that decides what is solved; the matrix by its digest.
TASK = ["problem", "precision", "m", "n", "k", "nrhs", "batch", "uplo", "matrix_digest", "matrix_seed", "of_b"]
CONFIGURATION = [*TASK, "method", "backend", "parameters", "gpu_name", "capability"]
RACED = """problem precision m n k nrhs batch uplo matrix matrix_kind matrix_parameters matrix_digest matrix_seed method
backend parameters gpu_name capability host status seconds_q1 seconds_median seconds_q3 task matrix_name problem_flops
problem_bytes reference_method""".split()
AT_ONCE = 50_000  # records raced together: a million as rows of Python need gigabytes
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
    rows["place"] = rows.index
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
        first=("place", "first"),
    )
    return found.reset_index()


def _parts(night, own):
    """The records that `own` is true of, all of a size together, in parts of about AT_ONCE."""
    places = np.flatnonzero(own)
    if len(places) <= AT_ONCE:
        yield night.only(own).take(RACED)
        return
    sizes, which = np.unique(night.take("n")["n"].to_numpy()[places], return_inverse=True)
    part = np.cumsum(np.bincount(which)) // AT_ONCE
    for number in np.unique(part):
        some = np.zeros(night.count, bool)
        some[places[part[which] == number]] = True
        yield night.take(RACED, some)


class Machines:
    """Which devices there are, and whose CPUs' methods race beside a GPU."""

    def __init__(self, night):
        records = night.take("backend gpu_name capability host")
        self._cpu = {h: c for h, c in zip(night.hosts["host"], night.hosts["cpu"]) if c}
        gpus = records.loc[records["backend"] == "cuda", ["gpu_name", "capability", "host"]].drop_duplicates()
        gpus["gpu_name"] = gpus["gpu_name"].where(gpus["gpu_name"] != "", "unnamed GPU")
        hosts = gpus.groupby(["gpu_name", "capability"])["host"]
        self.hosts_of = {gpu: set(of) for gpu, of in hosts}
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
    # Emulated kernels race with one another only: their times say nothing about those of a CPU's methods.
    rows = [row for row in rows if row["backend"] != "emulated" and row["worst"] > 0] or rows
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
    records = night.take("backend host gpu_name capability")
    if not len(records):
        return []
    machines = Machines(night)
    found, placed = [], set()
    for gpu in machines.hosts_of:
        beside = machines.beside(gpu)
        placed |= beside | machines.hosts_of[gpu]
        own = np.where(
            records["backend"] == "cuda",
            (records["gpu_name"].replace("", "unnamed GPU") == gpu[0]) & (records["capability"] == gpu[1]),
            (records["backend"] == "host") & records["host"].isin(beside),
        )
        found.append((*gpu, sorted({machines.cpu(h) for h in beside}), own))
    alone = (records["backend"] != "cuda") & ~records["host"].isin(placed)
    cpu_of = records["host"].map({host: machines.cpu(host) for host in records["host"].unique()})
    for cpu in sorted(cpu_of[alone].unique()):
        found.append((cpu, 0, [], alone & (cpu_of == cpu)))
    result = []
    for device, capability, cpus, own in found:
        rates = {
            "float": _rate(night.devices, device, capability, "gemm_flops_float"),
            "double": _rate(night.devices, device, capability, "gemm_flops_double"),
            "copy": _rate(night.devices, device, capability, "copy_bytes_per_second"),
        }
        frames = [_races(part, rates, baseline) for part in _parts(night, own)]
        frame = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
        if len(frame):
            frame = frame.sort_index(kind="stable").reset_index(drop=True)
            result.append((device, int(capability), cpus, frame))
    return result


def _races(records, rates, baseline):
    """A row a race in which anything was tried, at the row of its first record."""
    tasks, first = {}, {}
    tried = configurations(records)
    for values in zip(*(tried[column].tolist() for column in tried)):
        row = dict(zip(tried, values))
        task = tuple(row[name] for name in TASK)
        tasks.setdefault(task, []).append(row)
        first.setdefault(task, row["first"])
    races = {first[task]: _race(rows, rates, baseline) for task, rows in tasks.items()}
    races = {place: race for place, race in races.items() if race["methods"] > 0}
    return pd.DataFrame(list(races.values()), index=list(races))
