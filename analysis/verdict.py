"""Computes which method is the fastest per problem, size and device, by the rules of `gaussweep summary --best --by
gpu` (docs/reading.md). tests/mpi/test_verdict.py compares this module's results with the program's. A race is the
comparison of all methods on one task."""

import re

import numpy as np
import pandas as pd

from .identity import CONDITIONS
from .loader import DEVICE, gpu_counts, has_second_matrix

# Columns that define a task: a problem, its sizes and its operands. The digest identifies the matrix; `of_b` describes
# the second operand of gemm.
TASK = [*"problem precision m n k nrhs batch uplo matrix_digest matrix_seed of_b".split(), *CONDITIONS]
# Tasks that agree in these columns, and in `pool` (the task's name without its seed), differ only in their seeds.
POOLED = [name for name in TASK if name not in ("matrix_digest", "matrix_seed", "of_b")]
# Columns that define a configuration: a method with its parameters and its device model, on one task.
CONFIGURATION = [*TASK, "method", "backend", "parameters", "gpu_name", "capability"]
# The columns of records that races need.
RACED = [
    *"""problem precision m n k nrhs batch uplo matrix matrix_kind matrix_parameters matrix_digest matrix_seed method
backend parameters gpu_name gpu_uuid capability host threads status seconds_q1 seconds_median seconds_q3 task
matrix_name problem_flops problem_bytes reference_method launch_bound gpu_count pooled""".split(),
    *CONDITIONS,
]
RATES = ["copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"]
# Matches the text of a race's methods if all of them are emulated (GPU kernels that run on the CPU).
ONLY_EMULATED = r"(\S+ emulated(, )?)+"
# Records that are processed together. More would need too much memory: a million rows as Python dicts need gigabytes.
AT_ONCE = 50_000
# Statuses from best to worst. The column `worst` has indices: 0 means that no trial ran, 1 that all that ran passed.
SEVERITY = ["skipped", "pass", "suspect", "failed", "diverged", "timeout", "crashed", "oom", "error"]


def _identified(records, devices):
    """Adds the columns of TASK and CONFIGURATION that records lack, `worst` (the status as an index of SEVERITY),
    `place` (the record's row number), `gpus`, and the columns of `_limits`."""
    second_matrix = records["matrix_parameters"].where(has_second_matrix(records), "")
    # A matrix without a digest is identified by its kind, name and parameters.
    digest_or_name = records["matrix_digest"].where(
        records["matrix_digest"] != "",
        records["matrix_kind"] + " " + records["matrix"] + " " + records["matrix_parameters"],
    )
    severity = {status: i for i, status in enumerate(SEVERITY)}
    worst = records["status"].map(severity).fillna(len(SEVERITY))
    conditions = {name: records[name].replace("", usual) for name, usual in CONDITIONS.items()}
    added = dict(
        of_b=second_matrix, matrix_digest=digest_or_name, worst=worst, place=records.index, gpus=gpu_counts(records)
    )
    return records.assign(**added, **conditions, **_limits(records, devices))


def _limits(records, devices):
    """Returns two columns. `limit` is the least time of each record's problem at the measured rates of one GPU or the
    CPU. `bound` is `memory` or `compute`, whichever sets this limit. They use the rates of the record's own device, as
    the fraction of peak does. `devices` has the devices of one model. Its medians replace unknown rates, and the rates
    of a device that it lacks (a CPU next to a GPU)."""
    own = records[DEVICE].merge(devices[[*DEVICE, *RATES]].drop_duplicates(DEVICE), on=DEVICE, how="left")
    own = own[RATES].set_index(records.index)
    own = own.where(own > 0).fillna(devices[RATES].where(devices[RATES] > 0).median())
    rate = own["gemm_flops_double"].where(records["precision"] != "float", own["gemm_flops_float"])
    compute = (records["problem_flops"] / rate).where(records["precision"].isin(["float", "double"]))
    memory = records["problem_bytes"] / own["copy_bytes_per_second"]
    limit = np.maximum(compute, memory)
    bound = pd.Series(np.where(memory > compute, "memory", "compute"), records.index, dtype=object)
    return {"limit": limit, "bound": bound.where(limit.notna(), None)}


def _with_times_of_trials(records):
    """Returns the records with pooled times for each configuration that was measured several times, for example on two
    hosts. The new median is the median of the medians. The new quartiles are those of a list with the quartiles and
    medians of all measurements. `gaussweep summary` does the same. The column `pooled`, the number of a trial with all
    its rounds, is then equal for all records of such a configuration."""
    group = records.groupby(CONFIGURATION, sort=False, dropna=False)
    several = group["pooled"].transform("nunique") > 1
    if not several.any():
        return records
    configuration = group.ngroup()
    is_used = several & ~_is_repeated(records)
    times = ["seconds_q1", "seconds_median", "seconds_q3"]
    # Per configuration: the quartiles and medians of all its measurements.
    lists = pd.concat([records.loc[is_used, name].set_axis(configuration[is_used]) for name in times]).groupby(level=0)
    new_times = {name: configuration.map(lists.quantile(p)) for name, p in zip(times[::2], (0.25, 0.75))}
    new_times["seconds_median"] = configuration.map(
        records.loc[is_used, "seconds_median"].groupby(configuration).median()
    )
    new_times = {name: records[name].where(~several, values) for name, values in new_times.items()}
    return records.assign(**new_times, pooled=configuration)


def _is_repeated(records):
    """Returns a mask of the records whose times must not count again, because an earlier record has them. All rounds of
    a trial have equal times (`rounds.pool_rounds`)."""
    has_time = records["seconds_median"].notna()
    return has_time & records.assign(has_time=has_time).duplicated(["pooled", "has_time"])


def configurations(rows):
    """Returns one row per configuration and device, with the medians over its repetitions and the worst of their
    statuses. `rows`: records as `_identified` returns them."""
    times = ["seconds_q1", "seconds_median", "seconds_q3"]
    rows = rows.assign(**rows[times].mask(_is_repeated(rows)))
    # The bound of a configuration is that of the record with the median limit. Of an even number of records it is the
    # one with the larger of the two middle limits.
    by_limit = rows.sort_values("limit").groupby(CONFIGURATION, sort=False, dropna=False)["limit"]
    rows["bound"] = rows["bound"].where(by_limit.cumcount() == by_limit.transform("count") // 2)
    group = rows.groupby(CONFIGURATION, sort=False, dropna=False)
    return group.agg(
        worst=("worst", "max"),
        q1=("seconds_q1", "median"),
        median=("seconds_median", "median"),
        q3=("seconds_q3", "median"),
        task=("task", "first"),
        matrix_name=("matrix_name", "first"),
        limit=("limit", "median"),
        bound=("bound", "first"),
        vendor=("reference_method", "first"),
        first=("place", "first"),
        launch_bound=("launch_bound", "max"),
        gpus=("gpus", "first"),
    ).reset_index()


def _parts(results, chosen):
    """Yields the records for which `chosen` is true, in parts of about AT_ONCE records. All records of one size are in
    one part, because they may compete."""
    rows = np.flatnonzero(chosen)
    if len(rows) <= AT_ONCE:
        yield results.only(chosen).take(RACED)
        return
    sizes, size_index = np.unique(results.take("n")["n"].to_numpy()[rows], return_inverse=True)
    part_of_size = np.cumsum(np.bincount(size_index)) // AT_ONCE
    for number in np.unique(part_of_size):
        is_in_part = np.zeros(results.count, bool)
        is_in_part[rows[part_of_size[size_index] == number]] = True
        yield results.take(RACED, is_in_part)


class Machines:
    """The GPUs of the records, and the hosts whose CPU methods compete with each GPU."""

    def __init__(self, results):
        records = results.take("backend gpu_name capability host")
        self._cpu = {h: c for h, c in zip(results.hosts["host"], results.hosts["cpu"]) if c}
        gpus = records.loc[records["backend"] == "cuda", ["gpu_name", "capability", "host"]].drop_duplicates()
        gpus["gpu_name"] = gpus["gpu_name"].where(gpus["gpu_name"] != "", "unnamed GPU")
        hosts = gpus.groupby(["gpu_name", "capability"])["host"]
        self.hosts_of = {gpu: set(of) for gpu, of in hosts}
        self._with_methods = set(records.loc[records["backend"] == "host", "host"])

    def cpu(self, host):
        """Returns the CPU model of a host."""
        return self._cpu.get(host, "CPU")

    def cpu_hosts(self, gpu):
        """Returns the hosts whose CPU methods compete with a GPU. These are the GPU's hosts that ran CPU methods. If
        there are none, they are all hosts that ran CPU methods."""
        return self.hosts_of[gpu] & self._with_methods or self._with_methods


def of_model(devices, name, capability):
    """Returns the rows of a device model."""
    unnamed = "unnamed GPU" if capability > 0 else "CPU"
    names = devices["gpu_name"].where(
        devices["gpu_name"] != "", np.where(devices["capability"] > 0, "unnamed GPU", "CPU")
    )
    return devices[(names == (name or unnamed)) & (devices["capability"] == capability)]


def rate(devices, name, capability, column):
    """Returns a device model's measured rate, as the median over its devices; NaN if it is unknown."""
    rates = of_model(devices, name, capability)[column]
    return float(rates[rates > 0].median())


def _race(rows, baseline):
    """Returns one race as a dict. `rows`: the task's configurations, as dicts; `baseline`: the method with which the
    winner is compared, by default the vendor's."""
    # Emulated kernels compete only if nothing else ran, because their times cannot be compared with others.
    # `worst` is above 0 if a trial ran.
    rows = [row for row in rows if row["backend"] != "emulated" and row["worst"] > 0] or rows
    first = rows[0]
    tried = {f"{row['method']} {row['backend']}" for row in rows if row["worst"] > 0}
    # The vendor's name comes from the GPU's records if there are any, because the CPU has another vendor.
    vendor = max((row["vendor"] for row in rows if row["backend"] == "cuda"), default="")
    vendor = vendor or max((row["vendor"] for row in rows), default="")
    race = {
        **{name: first[name] for name in TASK},
        "task": first["task"],
        "matrix_name": first["matrix_name"],
        "methods": len(tried),
        "tried": ", ".join(sorted(tried)),
        "has_vendor": any(row["method"] == vendor and row["worst"] > 0 for row in rows),
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
        # The least possible time at the measured rates of one GPU. Below it is divided by the number of GPUs.
        "limit": first["limit"],
        "bound": first["bound"] or "",
        "share": np.nan,  # limit / median: the winner's fraction of the limit
        "launch_bound": False,
    }
    passed = sorted((row for row in rows if row["worst"] == 1 and row["median"] > 0), key=lambda row: row["median"])
    if not passed:
        return race
    best = passed[0]
    race.update(winner=best["method"], backend=best["backend"], parameters=best["parameters"], median=best["median"])
    limit = best["limit"] / best["gpus"]
    race.update(gpus=int(best["gpus"]), limit=limit, bound=best["bound"] or "", share=limit / best["median"])
    race.update(launch_bound=best["launch_bound"] == 1)
    name = baseline or vendor  # the fastest configuration of this method is the baseline
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


def grids(results, baseline=""):
    """Returns a list of (device, capability, CPU models whose methods compete with the device, races, pooled). `races`
    is a frame with one row per race in which at least one method was tried. `pooled` has one row for all tasks that
    differ only in their seeds. It uses only seeds that ran with the same methods (see `with_common_methods`). A
    method's time is its median over these seeds, and it passes if it passed with all of them. `seeds` is the number of
    these seeds; `wins` is the number of seeds with which the winner is the fastest. `lacks_seeds` is true if the winner
    has no runner-up, but another competing method ran with seeds that are not used."""
    records = results.take("backend host gpu_name capability")
    if not len(records):
        return []
    machines = Machines(results)
    devices, hosts_with_gpu = [], set()
    for gpu in machines.hosts_of:
        cpu_hosts = machines.cpu_hosts(gpu)
        hosts_with_gpu |= cpu_hosts | machines.hosts_of[gpu]
        is_competing = np.where(
            records["backend"] == "cuda",
            (records["gpu_name"].replace("", "unnamed GPU") == gpu[0]) & (records["capability"] == gpu[1]),
            (records["backend"] == "host") & records["host"].isin(cpu_hosts),
        )
        devices.append((*gpu, sorted({machines.cpu(h) for h in cpu_hosts}), is_competing))
    is_without_gpu = (records["backend"] != "cuda") & ~records["host"].isin(hosts_with_gpu)
    cpu_of = records["host"].map({host: machines.cpu(host) for host in records["host"].unique()})
    for cpu in sorted(cpu_of[is_without_gpu].unique()):
        devices.append((cpu, 0, [], is_without_gpu & (cpu_of == cpu)))
    result = []
    for device, capability, cpus, is_competing in devices:
        own = of_model(results.devices, device, capability)
        parts = [_races(part, own, baseline) for part in _parts(results, is_competing)]
        races, pooled = (_joined([part[i] for part in parts]) for i in (0, 1))
        if len(races):
            result.append((device, int(capability), cpus, races, pooled))
    return result


def _joined(frames):
    """Joins the frames and sorts their rows by the index: the row number of a race's first record."""
    frame = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    return frame.sort_index(kind="stable").reset_index(drop=True) if len(frame) else frame


def _races(records, devices, baseline):
    """Returns `races` and `pooled` as `grids` describes them. The index is the row number of a race's first record."""
    races, pooled = _pooled_races(records, devices, baseline)
    names = ["tried", "has_vendor"]
    return races.drop(columns=names, errors="ignore"), pooled.drop(columns=names, errors="ignore")


def _pooled_races(records, devices, baseline):
    """As `_races`, with the columns `tried` and `has_vendor`."""
    records = _with_times_of_trials(_identified(records, devices))
    races = _one_per_task(configurations(records), baseline)
    if not len(races):
        return races, races
    pool_of = without_seed(races["task"])
    races = races.assign(pool=pool_of, seeds=1, wins=races["winner"].ne("").astype(int), lacks_seeds=False)
    pool = [*POOLED, "pool"]
    group = races.groupby(pool)
    several = group["task"].transform("size") > 1
    if not several.any():
        return races, races
    full_races = races.loc[
        several & with_common_methods(races, pool, "methods", "tried", "has_vendor"), [*TASK, "pool"]
    ]
    pooled_records = records.merge(full_races, on=TASK)
    pooled_records = pooled_records.assign(
        matrix_digest=pooled_records["pool"], matrix_seed=0, task=pooled_records["pool"]
    )
    pooled = _one_per_task(configurations(pooled_records), baseline).assign(pool=lambda rows: rows["task"])
    with_pooled = races.merge(full_races, on=[*TASK, "pool"])
    with_pooled = with_pooled.merge(pooled[[*pool, "winner", "backend"]], on=pool, suffixes=("", "_pooled"))
    is_won = (with_pooled["winner"] != "") & (with_pooled["winner"] == with_pooled["winner_pooled"])
    with_pooled["is_won"] = is_won & (with_pooled["backend"] == with_pooled["backend_pooled"])
    counts = with_pooled.groupby(pool)["is_won"].agg(seeds="size", wins="sum").reset_index()
    tried = {key: list(names) for key, names in group["tried"]}
    pooled["lacks_seeds"] = [
        not runner_up and _has_other_competitors(tried[(*key,)], row)
        for *key, row, runner_up in pooled[[*pool, "tried", "runner_up"]].itertuples(index=False, name=None)
    ]
    pooled = pooled.reset_index().merge(counts, on=pool).set_index("index")
    return races, pd.concat([races[~several], pooled])


def _has_other_competitors(tried, pooled):
    """Returns True if a race in `tried` has a method that competes with those of the race `pooled` and is not among
    them. Emulated kernels compete only with one another. Each race is given as the text of its methods."""
    is_emulated = re.fullmatch(ONLY_EMULATED, pooled)
    competing = (race for race in tried if is_emulated or not re.fullmatch(ONLY_EMULATED, race))
    return any(not set(race.split(", ")) <= set(pooled.split(", ")) for race in competing)


def with_common_methods(races, pool, count, tried, has_vendor):
    """Returns a mask of the races that count when the races of each pool are pooled. They have the same methods,
    because times on different matrices cannot be compared. A set of methods that has more than emulated kernels is
    preferred. Next come the number of methods, the presence of the vendor's method, and the number of races, in this
    order. The program has the same rule (driver/summary/verdict_grid.cpp). `count`, `tried` and `has_vendor`: the
    columns with the number and the names of the methods, and whether the vendor's is among them."""
    size = races.groupby([*pool, tried])[count].transform("size")
    only_emulated = races[tried].str.fullmatch(ONLY_EMULATED)
    rank = pd.DataFrame(
        {
            "emulated": only_emulated,
            "count": -races[count],
            "lacks_vendor": ~races[has_vendor].astype(bool),
            "size": -size,
            "tried": races[tried],
        }
    )
    order = rank.sort_values(list(rank), kind="stable").index
    chosen = races.loc[order].groupby(pool, sort=False)[tried].transform("first")
    return races[tried] == chosen.reindex(races.index)


def without_seed(tasks):
    """Returns the names of tasks without their seeds."""
    return tasks.str.replace(r", seed -?\d+", "", regex=True)


def _one_per_task(tried, baseline):
    """Returns one row per race of the configurations `tried`. The index is the row number of the race's first
    record."""
    tasks, first = {}, {}
    for values in zip(*(tried[column].tolist() for column in tried)):
        row = dict(zip(tried, values))
        task = tuple(row[name] for name in TASK)
        tasks.setdefault(task, []).append(row)
        first.setdefault(task, row["first"])
    races = {first[task]: _race(rows, baseline) for task, rows in tasks.items()}
    races = {place: race for place, race in races.items() if race["methods"] > 0}
    return pd.DataFrame(list(races.values()), index=list(races))


def ratios(base, new):
    """Returns the tasks that have a winner on two devices, with the speedup `ratio` of the second device. `base`,
    `new`: elements of the list that `grids` returns. Leaves out winners whose times say nothing about the devices: CPU
    methods next to a GPU, and emulated kernels."""
    sides = []
    for _, capability, _, races, _ in (base, new):
        with_winner = races[(races["winner"] != "") & (races["backend"] != "emulated")]
        sides.append(with_winner[(with_winner["backend"] != "host") | (capability == 0)])
    common = sides[0].merge(
        sides[1][[*TASK, "winner", "tie", "median", "launch_bound"]], on=TASK, suffixes=("", "_new")
    )
    return common.assign(ratio=common["median"] / common["median_new"])
