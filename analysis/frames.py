"""Functions that several sections use: the best configuration at each size, speedups with intervals, names of
series."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd

from .loader import DEVICE, gpu_counts, parameter, parameters_of
from .plots import Plot, Series
from .words import counted

MOST_MODELS = 3  # GPU models that share a figure or a grid
EMULATED = "emulated on "  # prefix of the device name of emulated kernels
MOST_LABELS = 16  # labels in a figure before it is split
MOST_VARIANTS = 4  # variants (matrix and operands) in a figure, distinguished by dashes
MOST_FACETS = 6  # figures side by side; more matrices are put on the x axis of one figure
MOST_FAINT = 1500  # slower configurations that are drawn one by one
LONG = 100  # iterations beyond which a history is drawn in a separate figure
# Columns for `Night.take`: DRAWN for `over`, LARGEST for `at_largest`, COMPARED for `gain` and `speedups`, PAIRED for
# `pairs`.
DRAWN = """problem precision device method matrix_name matrix_full operands size config status seconds_median
matrix_seed batch samples inner_repeats uplo threads""".split()
LARGEST = """problem precision device method system operands size status seconds_median matrix_kind
matrix_full matrix_seed uplo threads""".split()
COMPARED = """problem method precision device host m n k nrhs uplo matrix_digest task size file parameters status
answered seconds_q1 seconds_median seconds_q3 matrix_name matrix_full matrix_seed operands samples inner_repeats threads
config""".split()
PAIRED = """key problem precision method backend device capability matrix_kind config size nrhs operands status answered
seconds_q1 seconds_median seconds_q3""".split()
RANGE = "the full range of the seeds or repetitions"  # meaning of error bars at points that pool several trials
BOTH = ("the interval from the quartiles of both times",)  # meaning of error bars at a ratio of two times
RANK = {"pass": 0, "suspect": 1, "failed": 2}  # other statuses: the trial did not finish


def device_words(device):
    """Returns the words for a device in a sentence: "the CPU emulating a GPU" for emulated kernels."""
    return f"{device.removeprefix(EMULATED)} emulating a GPU" if device.startswith(EMULATED) else device


def answered(records):
    """Returns the records with an answer and a time, whatever their verdict."""
    return records if records["answered"].all() else records[records["answered"]]


def best(records, by):
    """Returns the best row for each value of the columns `by`: passed before other answers, then the smallest
    median."""
    order = np.lexsort((records["seconds_median"].to_numpy(), not_passed(records)))
    first = ~records[by].iloc[order].duplicated().to_numpy()  # reorders only these columns, not all hundred
    return records.iloc[order[first]]


def not_passed(rows):
    """Returns how far each answer was from passing: 0 passed, 1 suspect, 2 failed, 3 did not finish."""
    return rows["status"].map(RANK).fillna(3).astype(int).to_numpy()


def methods(records):
    """Maps each method to a number, which selects its colour and dashes on the whole page. Methods of one problem have
    different numbers. Methods that solve many problems get the smallest numbers."""
    problems = records.groupby("method")["problem"].agg(set)
    used, numbers = {}, {}  # numbers in use, per problem
    for name in sorted(problems.index, key=lambda name: (-len(problems[name]), name)):
        taken = set().union(*(used.setdefault(problem, set()) for problem in problems[name]))
        numbers[name] = next(i for i in itertools.count() if i not in taken)
        for problem in problems[name]:
            used[problem].add(numbers[name])
    return numbers


def panels(records):
    """Yields (problem, precision, device, rows). Up to MOST_MODELS GPU models share a panel. CPU methods are in every
    panel of a GPU; without GPUs they have their own panel. Emulated methods have a separate panel, because their times
    cannot be compared with others. `device` names all devices of the panel."""
    for (problem, precision), group in records.groupby(["problem", "precision"], sort=True):
        devices = sorted(group["device"].unique())
        cpu = [d for d in devices if d == "CPU"]
        emulated = [d for d in devices if d.startswith(EMULATED)]
        models = [d for d in devices if d not in cpu and d not in emulated]
        together = [models] if len(models) <= MOST_MODELS else [[d] for d in models]
        for heads, beside in [*((own, cpu) for own in together), (emulated, [])]:
            own = [*heads, *beside]
            here = group["device"].isin(own)
            if own:
                words = " and ".join([*short_names(heads).values(), *beside])
                words = EMULATED + words if heads and heads == emulated and not words.startswith(EMULATED) else words
                yield problem, precision, words, group if here.all() else group[here]


def short_names(devices):
    """Maps devices to the words in which their names differ: "NVIDIA H100 80GB HBM3" and "NVIDIA H200" to H100 and
    H200."""
    words = {device: device.removeprefix("NVIDIA ").split() for device in devices}
    if len(words) < 2:
        return {device: device for device in devices}
    while len({tuple(w[:1]) for w in words.values()}) == 1 and all(len(w) > 1 for w in words.values()):
        words = {device: w[1:] for device, w in words.items()}
    for count in range(1, max(map(len, words.values()), default=1) + 1):
        names = {device: " ".join(w[:count]) for device, w in words.items()}
        if len(set(names.values())) == len(names):
            return names
    return {device: device for device in devices}


def on_device(rows):
    """Returns the text that names each row's device in a label: " (CPU)" or ", H200"; empty if no other device needs to
    be told apart."""
    models = sorted(d for d in rows["device"].unique() if d != "CPU")
    names = {d: f", {name}" for d, name in short_names(models).items()} if len(models) > 1 else {}
    return rows["device"].map(dict(names, CPU=" (CPU)") if many(rows["device"]) else {}).fillna("")


def one_kind(rows):
    """Returns, per problem, the rows of the matrix (`system`) with most (method, size) pairs, so that a table compares
    methods on one matrix. Ties go to the matrix with most passed pairs; identity matrices come last. Methods that did
    not run on the chosen matrix get the matrix with most of their own pairs."""
    is_kept = np.zeros(len(rows), bool)
    known = rows[["problem", "system", "method", "size", "matrix_kind", "status"]].reset_index(drop=True)
    for _, group in known.groupby("problem"):
        while len(group):
            seen = group.drop_duplicates(["system", "method", "size"])
            covered = seen["system"].value_counts(sort=False)
            passed = group[group["status"] == "pass"].drop_duplicates(["system", "method", "size"])
            passed = passed["system"].value_counts()
            order = sorted(covered.index, key=lambda s: (-covered[s], -passed.get(s, 0)))
            trivial = set(seen.loc[seen["matrix_kind"] == "identity", "system"])
            system = next((s for s in order if s not in trivial), order[0])
            has = group[group["system"] == system]
            is_kept[has.index] = True
            group = group[~group["method"].isin(has["method"])]
    return rows[is_kept].sort_index(kind="stable")


def facets(records, x="size"):
    """Yields (words, rows, axis) of each figure; every row is in one figure. There is one figure per problem, precision
    and device. If that is too full, there is one figure per matrix, or per operands. More than MOST_FACETS matrices are
    put on the x axis of one figure. Batches have separate figures. `axis`: the column for x and, of matrices, `names`.
    """
    for problem, precision, device, several, rows in _apart(records):
        for words, part in _split(rows):
            words = ", ".join(w for w in (problem, precision, device, several, words) if w)
            if part["matrix_name"].nunique() > MOST_FACETS and len(_variants(part)) > MOST_VARIANTS:
                order = part.groupby("matrix_name")["size"].median().reset_index().sort_values(["size", "matrix_name"])
                names = order["matrix_name"].to_list()
                places = part["matrix_name"].map({name: i for i, name in enumerate(names)})
                yield words, part.assign(place=places), {"x": "place", "names": [brief(name) for name in names]}
            else:
                yield words, part, {"x": x}


def _apart(records):
    """Yields (problem, precision, device, words for batches, rows): each panel, with batches apart from single
    systems."""
    for problem, precision, device, rows in panels(records):
        batches = rows["batch"] > 1
        for several in sorted(batches.unique()):
            part = rows if (batches == several).all() else rows[batches == several]
            words = "" if not several else "batches" if many(part["operands"]) else part["operands"].iloc[0]
            yield problem, precision, device, words, part


def _variants(rows):
    return rows[["matrix_name", "operands"]].drop_duplicates()


def _split(rows, by=("matrix_name", "operands")):
    """Yields (words, rows) of each figure: all rows if they fit in one, else one figure per value of a column in
    `by`."""
    if (
        len(_variants(rows)) <= MOST_VARIANTS
        and len(rows[["method", "device", "matrix_name", "operands"]].drop_duplicates()) <= MOST_LABELS
    ):
        yield "", rows
        return
    for i, column in enumerate(by):
        if 1 < rows[column].nunique() <= MOST_FACETS:
            for value, part in rows.groupby(column):
                for words, piece in _split(part, by[:i] + by[i + 1 :]):
                    yield ", ".join(w for w in (value, words) if w), piece
            return
    yield "", rows


def brief(name):
    """Shortens a matrix's name for narrow cells: "condition=1e+08 mode=2" already names the kind."""
    kind, _, rest = name.partition(" ")
    return rest if rest.startswith(kind + "=") else name


def over(
    rows, name, title, ylabel, y, low=None, high=None, others=False, ends=Series.ends, point="", per_time=False, **more
):
    """Yields a Plot of the column `y` for each of `facets`. `ends`: the meanings of `low` and `high` of one trial.
    `others`, `per_time`: as in `curves`. `point`: describes a point in the caption if it is not a median of samples;
    `{samples}` in it is replaced by `_sampled_seeds`."""
    # Keeps few columns, because they are copied often below.
    rows = rows[[c for c in dict.fromkeys([*DRAWN, "ago", y, low, high]) if c in rows]]
    for words, part, axis in facets(rows):
        series = curves(part, y, low, high, x=axis["x"], others=others, ends=ends, per_time=per_time)
        names = axis.get("names")
        xlabel = "matrix" if names else "n"
        yield Plot(
            slug(name, *words.split(", ")),
            f"{title}: {words}",
            xlabel,
            ylabel,
            series,
            names=names,
            basis=f"{matrices(part, bool(names))} Each point: {point.format(samples=_sampled_seeds(part))}."
            if point
            else basis(part, with_sizes=bool(names), pooled=True),
            **more,
        )


def basis(rows, statistic="median", with_sizes=False, pooled=False):
    """Returns sentences for a caption: the matrices, the sizes if no axis shows them, the statistic and the number of
    samples behind each point. `pooled`: a point is the median over the seeds."""
    seeds = _most_seeds(rows) if pooled else 1
    over_seeds = f"median over up to {seeds} seeds of the {statistic}s" if seeds > 1 else statistic
    return f"{matrices(rows, with_sizes)} Each point: the {over_seeds} of {sampled(rows)}."


def sampled(rows):
    """Returns "3 samples", "3 to 7 samples" or "3 samples of 10 calls": the numbers of samples of the rows."""
    samples, calls = (_extent(rows[name]) for name in ("samples", "inner_repeats"))
    return counted(samples, "sample") + (f" of {calls} calls" if calls not in ("0", "1") else "")


def _most_seeds(rows):
    """Returns the largest number of seeds of a matrix."""
    return rows.groupby("matrix_name")["matrix_seed"].nunique().max()


def _sampled_seeds(rows):
    """Returns the text of `sampled`, with the number of seeds per matrix if their times are pooled to one point."""
    seeds = _most_seeds(rows)
    return sampled(rows) + (f" with each of up to {seeds} seeds" if seeds > 1 else "")


def _extent(values):
    """Returns the range of the values: "3" or "3 to 7"."""
    least, most = int(values.min()), int(values.max())
    return f"{least}" if least == most else f"{least} to {most}"


def matrices(rows, with_sizes=False):
    """Returns a caption's sentences that name the matrices with all their parameters and seeds, the sizes, and the
    operands, triangle and number of BLAS threads if all rows have the same."""
    names = [f"{name}, {_seeds(part)}" for name, part in rows.groupby("matrix_full")["matrix_seed"]]
    said = f"Matrix: {'; '.join(names[:4])}{f' and {len(names) - 4} more' if len(names) > 4 else ''}"
    if with_sizes:
        said += f"; n = {_extent(rows['size'])}"
    shared = _shared(rows)
    return f"{said}. Measured with {', '.join(shared)}." if shared else f"{said}."


def _shared(rows):
    """Returns the words for the operands and the triangle, if all rows have the same, and for the BLAS threads on the
    CPU."""
    operands, uplo = rows["operands"].unique(), rows["uplo"].unique()
    words = [operands[0]] if len(operands) == 1 and operands[0] else []
    words = [f"{word} triangle" if word in ("lower", "upper") else word for word in words]
    # LAPACK's names of problems that read one triangle: po for definite matrices, tr for triangular ones.
    has_triangle = rows["problem"].str.startswith(("po", "tr")).all()
    if has_triangle and len(uplo) == 1 and not any(uplo[0] in word for word in words):
        words.append(f"{uplo[0]} triangle")
    threads = rows["threads"][rows["threads"].gt(0) & ~rows["device"].str.startswith(EMULATED)]
    return [*words, f"BLAS on {counted(_extent(threads), 'thread')}"] if len(threads) else words


def _seeds(values):
    """Returns "seed 1", "seeds 1, 2, 5" or "20 seeds from 1 to 20"."""
    seeds = sorted({int(seed) for seed in values.dropna()})
    if len(seeds) > 6:
        return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def comparable(rows):
    """Returns `one_kind` of each problem and precision."""
    groups = [one_kind(group) for _, group in rows.groupby(["problem", "precision"])]
    return pd.concat(groups).sort_index() if groups else rows


# Describes the rows of `at_largest` in captions.
AT_LARGEST = "Each method at its largest size, on the matrix that most methods and sizes ran with"


def at_largest(rows):
    """Returns one row per (problem, precision, device, method, operands), on comparable matrices: the best
    configuration at the largest size."""
    same = ["problem", "precision", "device", "method", "system", "operands"]
    rows = best(comparable(rows), [*same, "size"]).sort_values("size", kind="stable")
    return rows.drop_duplicates(same, keep="last")


def many(values):
    return values.nunique() > 1


def series_label(rows, of_matrix=True):
    """Returns the label of each row's series: the method, and the properties in which series differ."""
    label = rows["method"].astype(str)
    label = label + on_device(rows)
    if many(rows["operands"]):
        label = label + np.where(rows["operands"] == "", "", ", " + rows["operands"])
    if of_matrix and rows.groupby(["method", "device", "operands"])["matrix_name"].nunique().gt(1).any():
        label = label + ", " + rows["matrix_name"]
    return label


def curves(rows, y, low=None, high=None, x="size", others=False, ends=Series.ends, per_time=False):
    """Returns one Series per method, matrix and operands, with the best configuration at each x. Trials that differ
    only in seed, host or repetition are pooled to one point, with their median and full range. Its mark is hollow if
    any of them did not pass. `low`, `high`: the columns with the range of a single trial, whose meaning is `ends`.
    `per_time`: `y` is a rate, so a pooled point is the pooled work over the pooled time. `others`: adds the slower
    configurations."""
    label = series_label(rows, of_matrix=x == "size")
    rank = not_passed(rows)
    rows = pd.DataFrame(
        {
            "label": label,
            "x": rows[x],
            "setting": rows["config"],
            "config": rows["config"] if x == "size" else rows["config"] + rows["size"].map(" n = {}".format),
            "y": rows[y],
            "low": rows[low] if low else np.nan,
            "high": rows[high] if high else np.nan,
            "time": rows["seconds_median"],
            "work": rows[y] * rows["seconds_median"],
            "rank": rank,
            "seed": rows["matrix_seed"],
            "ago": rows["ago"] if "ago" in rows else 0,
            "threads": rows["threads"] if "threads" in rows else 0,
        }
    )
    rows = rows[np.isfinite(rows["y"].to_numpy(dtype=float))]
    same = ["label", "x", "ago", "config"]
    group = rows.groupby(same, sort=False)["rank"]
    rows = rows.assign(worst=group.transform("max"), tried=group.transform("size"), least=group.transform("min"))
    rows = rows[rows["rank"] == rows["least"]]  # pools only the times of the best verdict, of passed answers if any
    group = rows.groupby(same, sort=False)
    found = group.agg(
        y=("y", "median"), least=("y", "min"), most=("y", "max"), low=("low", "first"), high=("high", "first"),
        time=("time", "median"), work=("work", "median"), worst=("worst", "first"), rank=("rank", "first"),
        tried=("tried", "first"),
        setting=("setting", "first"), count=("y", "size"), seeds=("seed", "nunique"), threads=("threads", "first"),
    ).reset_index()  # fmt: skip
    several = found["count"] > 1
    if per_time:
        found["y"] = found["y"].where(~several, found["work"] / found["time"])
    found["low"], found["high"] = np.where(several, found["least"], found["low"]), np.where(
        several, found["most"], found["high"]
    )
    found = found.sort_values(["label", "x", "ago", "worst", "time"], kind="stable")
    earlier = found["ago"].map(lambda ago: f"{ago} runs ago" if ago > 1 else "the run before" if ago else "")
    of_cpu = found.loc[found["threads"] > 0].groupby(["label", "x"])["threads"]
    differ = of_cpu.transform("nunique").reindex(found.index).gt(1) & (found["ago"] > 0)
    earlier += np.where(differ, found["threads"].map(lambda count: f" ({counted(count, 'thread')})"), "")
    found["config"] = np.where(found["ago"] > 0, (found["config"] + ", " + earlier).str.lstrip(", "), found["config"])
    found["earlier"] = earlier
    front = ~found.duplicated(["label", "x"])
    result = [
        _curve(name, part, low or (part["count"] > 1).any(), ends)
        for name, part in found[front].groupby("label", sort=True)
    ]
    # Numbers in labels are compared as numbers: "nrhs 8" comes before "nrhs 16".
    result.sort(key=lambda s: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", s.label)])
    if others:
        behind = found[~front]
        if len(behind) > MOST_FAINT:  # too many to draw: they become one point with a range per x
            behind = behind.assign(
                low=behind[["y", "low", "least"]].min(axis=1), high=behind[["y", "high", "most"]].max(axis=1)
            )
            behind = behind.groupby(["label", "x"], sort=False).agg(
                y=("y", "median"), low=("low", "min"), high=("high", "max"), worst=("worst", "min"),
                count=("count", "sum"), tried=("tried", "sum"), seeds=("seeds", "max"), earlier=("earlier", "min"),
            ).reset_index().assign(config="other configurations", setting="")  # fmt: skip
        faint = (_curve(name, part, True, ends) for name, part in behind.groupby("label", sort=True))
        result = [*(replace(series, line=False, faint=True, band=False) for series in faint), *result]
    return result


def _curve(label, rows, with_ends, ends):
    """Returns the Series of one label. A point's text says how many seeds or trials were tried, and how many of them
    the point pools."""
    seeds = rows["seeds"] > 1
    counts = [
        f"{config}{'; ' * bool(config)}{tried} {'seeds' if seeds == tried else 'trials'}"
        + (f", {count} of them" if count < tried else "")
        if tried > 1
        else config
        for config, tried, count, seeds in zip(rows["config"], rows["tried"], rows["count"], rows["seeds"])
    ]
    return Series(
        label,
        rows["x"].to_numpy(),
        rows["y"].to_numpy(),
        rows["low"].to_numpy() if with_ends is not None and with_ends is not False else None,
        rows["high"].to_numpy() if with_ends is not None and with_ends is not False else None,
        rows["worst"].to_numpy(),
        told=counts,
        settings=rows["setting"].to_numpy(),
        earlier=rows["earlier"].to_numpy(),
        band=bool(seeds.any()) and len(rows) > 1,
        ends=(*ends[: int((rows["count"] == 1).any())], *[RANGE][: int((rows["count"] > 1).any())]),
    )


def numeric_parameters(records):
    """Maps each parameter that has several numeric values to its column of numbers, NaN in records without it."""
    found = {}
    texts = parameters_of(records)
    names = sorted({name for p in texts.values() for name in p})
    for name in names:
        column = parameter(records, name)
        numbers = pd.to_numeric(column.map(lambda v: None if isinstance(v, bool) else v), errors="coerce")
        if name == "threads":
            numbers = numbers.where(numbers > 0)  # 0: the method chooses
        if numbers.nunique() > 1:
            found[name] = numbers
    return found


def without(texts, name):
    """Maps each parameters text to a label without the parameter `name` and without parameters that never vary.
    `texts`: as `parameters_of` returns them."""
    values = {}
    for parameters in texts.values():
        for key, value in parameters.items():
            values.setdefault(key, set()).add(str(value))
    shown = {key for key, found in values.items() if len(found) > 1 and key != name}
    return {t: " ".join(f"{k}={v}" for k, v in p.items() if k in shown) for t, p in texts.items()}


def other_settings(settings, name):
    """Returns the settings without the parameter that an axis shows."""
    return settings.str.replace(rf"(^| ){re.escape(name)}=\S*", "", regex=True).to_numpy()


def terse(settings):
    """Shortens "back_substitution=pipelined threads=64" to "pipelined threads=64", because a long name's value that is
    a word is clear without the name in a legend."""
    return re.sub(r"\b\w{8,}=([a-z]\w*)", r"\1", settings)


def gain(over, rows):
    """Returns the speedup of `rows` over `over`, and its lowest and highest value by the quartiles of both times."""
    return (
        over["seconds_median"] / rows["seconds_median"],
        over["seconds_q1"] / rows["seconds_q3"],
        over["seconds_q3"] / rows["seconds_q1"],
    )


def speedups(records, name, values):
    """Returns the trials for which there are others with another value of the parameter `name` and all else equal.
    `values`: the parameter's column. Adds the speedup over the trial with the smallest value, and its interval by the
    quartiles of both times."""
    rows = answered(records.assign(value=values)).dropna(subset=["value"])
    if not len(rows):
        return rows.assign(speedup=[], speedup_low=[], speedup_high=[], rest=[])
    texts = parameters_of(rows)
    rows = rows.assign(rest=rows["parameters"].map(without(texts, name)))
    same = "problem method precision device host m n k nrhs uplo matrix_digest task rest file".split()
    rows = best(rows, [*same, "value"]).sort_values([*same, "value"], kind="stable")
    group = rows.groupby(same, sort=False, observed=True)
    rows = rows[group["value"].transform("nunique") > 1]
    group = rows.groupby(same, sort=False, observed=True)
    first = group[["seconds_q1", "seconds_median", "seconds_q3", "value"]].transform("first")
    speedup, low, high = gain(first, rows)
    return rows.assign(base=first["value"], speedup=speedup, speedup_low=low, speedup_high=high)


def call_rows(night, trials=None):
    """Returns the stage rows with their record's columns; one row per call if the plan kept calls separate. `trials`:
    the records to use, by default all."""
    columns = (
        "problem method precision device backend size nrhs config parameters "
        "matrix_kind matrix_full matrix_seed operands uplo threads task status seconds_median answered plan_name file"
    ).split()
    stages = night.stages if trials is None else night.stages[night.stages["trial"].isin(trials)]
    stages = stages.join(night.take(columns), on="trial")
    return stages[stages["seconds"].notna()]


def stage_rows(night, trials=None):
    """Returns one row per trial and stage with the record's columns, the mean occupancy and the fraction of the stage
    run's time. Separate calls are summed. `trials`: the records to use, by default all."""
    rows = call_rows(night, trials)
    apart = rows.duplicated(["trial", "kernel"], keep=False)
    if not apart.any():
        return rows
    calls = rows[apart]
    known = calls["calls"].where(calls["occupancy"].notna())
    sums = calls.assign(weight=known, weighted=calls["occupancy"] * known).groupby(["trial", "kernel"], sort=False)
    sums = sums[["calls", "seconds", "share", "weight", "weighted"]].sum(min_count=1)
    first = calls.drop_duplicates(["trial", "kernel"]).set_index(["trial", "kernel"], drop=False)
    first.index.names = [None, None]
    sums.index.names = [None, None]
    first[["calls", "seconds", "share"]] = sums[["calls", "seconds", "share"]]
    first["mean"] = first["seconds"] / first["calls"]
    first["occupancy"] = sums["weighted"] / sums["weight"]
    return pd.concat([rows[~apart], first.reset_index(drop=True)]).sort_values("trial", kind="stable")


def shares(night, rows):
    """Returns the records with their fractions of the copy bandwidth and GEMM rate that table /devices has."""
    where = ["file", *DEVICE]
    peaks = night.devices[[*where, "copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"]].drop_duplicates(
        where, keep="last"
    )
    found = rows[where].merge(peaks, on=where, how="left").set_index(rows.index)
    rate = np.where(rows["precision"] == "float", found["gemm_flops_float"], found["gemm_flops_double"])
    gpus = gpu_counts(rows)
    return rows.assign(
        copy_share=rows["bytes"] / rows["seconds_median"] / found["copy_bytes_per_second"] / gpus,
        rate_share=rows["gflops"] * 1e9 / rate / gpus,
    )


def pairs(records, first, second):
    """Returns the trials that ran on both devices, with the speedup of `second` over `first` and its interval by the
    quartiles of both times."""
    columns = (
        "key problem precision method matrix_kind config size "
        "nrhs operands status seconds_q1 seconds_median seconds_q3"
    ).split()
    left, right = (best(records[records["device"] == d], ["key"])[columns] for d in (first, second))
    both = left.merge(
        right[["key", "status", "seconds_q1", "seconds_median", "seconds_q3"]], on="key", suffixes=("", "_2")
    )
    return both.assign(
        ratio=both["seconds_median"] / both["seconds_median_2"],
        low=both["seconds_q1"] / both["seconds_q3_2"],
        high=both["seconds_q3"] / both["seconds_q1_2"],
        first=first,
        second=second,
    )


def devices_by_age(records):
    """Returns the GPU models, oldest capability first, and their answered records."""
    rows = answered(records[records["backend"] == "cuda"])
    return rows.groupby("device")["capability"].max().sort_values(kind="stable").index.to_list(), rows


def slug(*words):
    """Joins words to a file name."""
    text = "-".join(str(w) for w in words if str(w))
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in text)


def history_plots(night, records, name="history"):
    """Yields plots of residual histories. For each method, task and kind of ending they show the trial at the largest
    size."""
    visible = night.iterations[night.iterations["residual"].gt(0) & np.isfinite(night.iterations["residual"])]
    points = visible["trial"].value_counts()
    records = records[records.index.isin(points.index[points > 1])]
    records = records.sort_values("size", ascending=False, kind="stable")
    records = records.drop_duplicates(["problem", "precision", "device", "method", "task", "convergence"])
    last = night.iterations.groupby("trial")["iteration"].max()
    records = records.assign(long=records.index.map(last) > LONG)
    for (problem, precision, device, long), group in records.groupby(["problem", "precision", "device", "long"]):
        lengths = night.iterations[night.iterations["trial"].isin(group.index)]
        series = []
        for trial, record in group.iterrows():
            part = lengths[lengths["trial"] == trial].sort_values("iteration")
            label = f"{record['method']}, {record['task']}, n = {record['size']}"
            label += f", {record['convergence']}" if record["convergence"] else ""
            settings = [record.get("config", "")] * len(part)
            series.append(
                Series(label, part["iteration"].to_numpy() + 1, part["residual"].to_numpy(), settings=settings)
            )
        yield Plot(
            slug(name, problem, precision, device, "long" if long else ""),
            f"Residual over {'many ' if long else ''}iterations: {problem}, {precision}, {device}",
            "iteration",
            "residual",
            series,
            ylog=True,
            xlog=False,
            farthest=1e10,
            note="" if np.isfinite(lengths["residual"]).all() else "Residuals that are infinite are not drawn.",
            basis=f"{matrices(group)} Each line: one trial, the first of those at the largest size.",
        )
