"""The grid of winners of `gaussweep summary --best --by gpu`, by the same rules (docs/reading.md).
tests/mpi/test_verdict.py compares both."""

import numpy as np
import pandas as pd

from .loader import gpu_counts

# Columns that define a task. The digest identifies the matrix; `of_b` is the second operand of gemm.
TASK = ["problem", "precision", "m", "n", "k", "nrhs", "batch", "uplo", "matrix_digest", "matrix_seed", "of_b"]
# Columns that agree for tasks that differ only in their seeds.
POOLED = [name for name in TASK if name not in ("matrix_digest", "matrix_seed", "of_b")]
CONFIGURATION = [*TASK, "method", "backend", "parameters", "gpu_name", "capability"]
RACED = """problem precision m n k nrhs batch uplo matrix matrix_kind matrix_parameters matrix_digest matrix_seed method
backend parameters gpu_name capability host status seconds_q1 seconds_median seconds_q3 task matrix_name problem_flops
problem_bytes reference_method launch_bound gpu_count""".split()
AT_ONCE = 50_000  # records that are processed together, because a million Python rows need gigabytes
# Statuses from best to worst. An index of 0 means that the trial did not run, 1 that it passed.
SEVERITY = ["skipped", "pass", "suspect", "failed", "diverged", "timeout", "crashed", "oom", "error"]


def _identified(records):
    """Returns the records with the columns of TASK and CONFIGURATION, `worst` (the status as an index of SEVERITY) and
    `place` (the record's row)."""
    b = records["matrix_parameters"].where(
        (records["problem"] == "gemm") & records["matrix_parameters"].str.contains('"b":', regex=False), ""
    )
    # A matrix without a digest is identified by its kind, name and parameters.
    named = records["matrix_digest"].where(
        records["matrix_digest"] != "",
        records["matrix_kind"] + " " + records["matrix"] + " " + records["matrix_parameters"],
    )
    severity = {status: i for i, status in enumerate(SEVERITY)}
    worst = records["status"].map(severity).fillna(len(SEVERITY))
    return records.assign(of_b=b, matrix_digest=named, worst=worst, place=records.index, gpus=gpu_counts(records))


def configurations(rows):
    """Returns one row per configuration and device: repetitions are merged to their medians, with the worst of their
    statuses. `rows`: records as `_identified` returns them."""
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
        launch_bound=("launch_bound", "max"),
        gpus=("gpus", "first"),
    )
    return found.reset_index()


def _parts(night, own):
    """Yields the records for which `own` is true, in parts of about AT_ONCE records. All records of one size are in one
    part, because they may compete."""
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
    """The devices, and the hosts whose CPU methods compete with each GPU's."""

    def __init__(self, night):
        records = night.take("backend gpu_name capability host")
        self._cpu = {h: c for h, c in zip(night.hosts["host"], night.hosts["cpu"]) if c}
        gpus = records.loc[records["backend"] == "cuda", ["gpu_name", "capability", "host"]].drop_duplicates()
        gpus["gpu_name"] = gpus["gpu_name"].where(gpus["gpu_name"] != "", "unnamed GPU")
        hosts = gpus.groupby(["gpu_name", "capability"])["host"]
        self.hosts_of = {gpu: set(of) for gpu, of in hosts}
        self._with_methods = set(records.loc[records["backend"] == "host", "host"])

    def cpu(self, host):
        """Returns the CPU model of a host."""
        return self._cpu.get(host, "CPU")

    def beside(self, gpu):
        """Returns the hosts whose CPU methods compete with a GPU: its own hosts that ran some, else all that did."""
        return self.hosts_of[gpu] & self._with_methods or self._with_methods


def rate(devices, name, capability, column):
    """Returns the median of a measured rate of a device model; NaN if it is unknown."""
    unnamed = "unnamed GPU" if capability > 0 else "CPU"
    names = devices["gpu_name"].where(
        devices["gpu_name"] != "", np.where(devices["capability"] > 0, "unnamed GPU", "CPU")
    )
    own = devices[(names == (name or unnamed)) & (devices["capability"] == capability) & (devices[column] > 0)]
    return float(own[column].median()) if len(own) else np.nan


def _race(rows, rates, baseline):
    """Returns one race (the comparison of all methods on one task) as a dict. `rows`: the task's configurations, as
    dicts. `baseline`: the method with which the winner is compared, by default the vendor's."""
    # Emulated kernels compete only with one another: their times do not compare with CPU methods' times.
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
        "backend": "emulated" if first["backend"] == "emulated" else "",  # the winner's, if there is one
        "parameters": "",
        "gpus": 1,
        "median": np.nan,
        "runner_up": "",
        "runner_up_backend": "",
        "runner_up_median": np.nan,
        "lead": np.nan,
        "tie": False,
        "baseline": "",
        "over_baseline": np.nan,
        # The least time by the measured rates of one GPU; below it is divided by the number of GPUs.
        "limit": max(compute, memory) if known else np.nan,
        "bound": ("memory" if memory > compute else "compute") if known else "",
        "share": np.nan,  # limit / median: the winner's fraction of the limit
        "launch_bound": False,
    }
    passed = sorted((row for row in rows if row["worst"] == 1 and row["median"] > 0), key=lambda row: row["median"])
    if not passed:
        return race
    best = passed[0]
    race.update(winner=best["method"], backend=best["backend"], parameters=best["parameters"], median=best["median"])
    limit = race["limit"] / best["gpus"]
    race.update(
        gpus=int(best["gpus"]), limit=limit, share=limit / best["median"], launch_bound=best["launch_bound"] == 1
    )
    # The vendor's name comes from the GPU's records if there are any, because the CPU has another vendor. The fastest
    # configuration of that method is the baseline.
    name = baseline or max((row["vendor"] for row in rows if row["backend"] == "cuda"), default="")
    name = name or max((row["vendor"] for row in rows), default="")
    baseline_row = next((row for row in passed if row["method"] == name), None)
    if baseline_row is not None:
        race.update(baseline=name, over_baseline=baseline_row["median"] / best["median"])
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
    """Returns a list of (device, capability, CPUs whose methods compete there, races, pooled). `races` is a frame with
    one row per race in which at least one method was tried. `pooled` has one row for all seeds of a task: a method's
    time is its median over the seeds that most methods ran with, and it passes if it passed with all of these seeds.
    `seeds` is their number, and `wins` the number of seeds with which the winner is the fastest."""
    records = night.take("backend host gpu_name capability")
    if not len(records):
        return []
    machines = Machines(night)
    found, hosts_with_gpu = [], set()
    for gpu in machines.hosts_of:
        beside = machines.beside(gpu)
        hosts_with_gpu |= beside | machines.hosts_of[gpu]
        own = np.where(
            records["backend"] == "cuda",
            (records["gpu_name"].replace("", "unnamed GPU") == gpu[0]) & (records["capability"] == gpu[1]),
            (records["backend"] == "host") & records["host"].isin(beside),
        )
        found.append((*gpu, sorted({machines.cpu(h) for h in beside}), own))
    alone = (records["backend"] != "cuda") & ~records["host"].isin(hosts_with_gpu)
    cpu_of = records["host"].map({host: machines.cpu(host) for host in records["host"].unique()})
    for cpu in sorted(cpu_of[alone].unique()):
        found.append((cpu, 0, [], alone & (cpu_of == cpu)))
    result = []
    for device, capability, cpus, own in found:
        rates = {
            "float": rate(night.devices, device, capability, "gemm_flops_float"),
            "double": rate(night.devices, device, capability, "gemm_flops_double"),
            "copy": rate(night.devices, device, capability, "copy_bytes_per_second"),
        }
        parts = [_races(part, rates, baseline) for part in _parts(night, own)]
        races, pooled = (_joined([part[i] for part in parts]) for i in (0, 1))
        if len(races):
            result.append((device, int(capability), cpus, races, pooled))
    return result


def _joined(frames):
    """Returns the frames' rows in the order of their first records."""
    frame = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    return frame.sort_index(kind="stable").reset_index(drop=True) if len(frame) else frame


def _races(records, rates, baseline):
    """Returns `races` and `pooled` of `grids`, with the row of a race's first record as index."""
    records = _identified(records)
    races = _one_per_task(configurations(records), rates, baseline)
    if not len(races):
        return races, races
    races = races.assign(pool=without_seed(races["task"]), seeds=1, wins=races["winner"].ne("").astype(int))
    pool = [*POOLED, "pool"]
    group = races.groupby(pool)
    several = group["task"].transform("size") > 1
    if not several.any():
        return races, races
    # Pools only the seeds that most methods ran with, because times on different matrices cannot be compared.
    full = races.loc[several & (races["methods"] == group["methods"].transform("max")), [*TASK, "pool"]]
    own = records.merge(full, on=TASK)
    own = own.assign(matrix_digest=own["pool"], matrix_seed=0, task=own["pool"])
    pooled = _one_per_task(configurations(own), rates, baseline).assign(pool=lambda rows: rows["task"])
    both = races.merge(pooled[[*pool, "winner", "backend"]], on=pool, suffixes=("", "_pooled"))
    is_won = (both["winner"] != "") & (both["winner"] == both["winner_pooled"])
    both["is_won"] = is_won & (both["backend"] == both["backend_pooled"])
    counts = both.groupby(pool)["is_won"].agg(seeds="size", wins="sum").reset_index()
    pooled = pooled.reset_index().merge(counts, on=pool).set_index("index")
    return races, pd.concat([races[~several], pooled])


def without_seed(tasks):
    """Returns the names of tasks without their seeds."""
    return tasks.str.replace(r", seed -?\d+", "", regex=True)


def _one_per_task(tried, rates, baseline):
    """Returns one row per race of the configurations `tried`. Its index is the row of the race's first record."""
    tasks, first = {}, {}
    for values in zip(*(tried[column].tolist() for column in tried)):
        row = dict(zip(tried, values))
        task = tuple(row[name] for name in TASK)
        tasks.setdefault(task, []).append(row)
        first.setdefault(task, row["first"])
    races = {first[task]: _race(rows, rates, baseline) for task, rows in tasks.items()}
    races = {place: race for place, race in races.items() if race["methods"] > 0}
    return pd.DataFrame(list(races.values()), index=list(races))


def ratios(base, new):
    """Returns the tasks that passed on two devices with the speedup of the second. `base` and `new`: elements of
    `grids`. Winners on the CPU of a GPU's machine are left out, because their times say nothing about the GPU. Emulated
    winners are left out, because their times say nothing about any device."""
    sides = []
    for _, capability, _, races, _ in (base, new):
        own = races[(races["winner"] != "") & (races["backend"] != "emulated")]
        sides.append(own[(own["backend"] != "host") | (capability == 0)])
    both = sides[0].merge(sides[1][[*TASK, "winner", "tie", "median", "launch_bound"]], on=TASK, suffixes=("", "_new"))
    return both.assign(ratio=both["median"] / both["median_new"])
