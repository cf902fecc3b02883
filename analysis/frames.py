"""Functions that several sections of the report use. They select records, for example the best configuration per
size. They compute speedups with intervals, and turn records into figures and their captions."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd

from .captions import EMULATED, basis, matrices, over_rounds, pooled, sampled
from .loader import DEVICE, gpu_counts, parameter, parameters_of
from .plots import Plot, Series, listed
from .words import counted

MOST_MODELS = 3  # GPU models that share a figure or a table
MOST_LABELS = 16  # lines per figure; figures with more are split
MOST_VARIANTS = 4  # pairs of matrix and operands per figure; dashes distinguish them
MOST_FACETS = 6  # figures side by side, one per matrix; more matrices are put on the x axis of one figure
MOST_FAINT = 1500  # faint marks that are drawn one by one
LONG = 100  # residual histories with more iterations are drawn in separate figures
# Columns to request from `loader.Results.take`: DRAWN for `plots_over_size`, LARGEST for `at_largest`, COMPARED for
# `gain` and `speedups`, PAIRED for `common_trials`.
DRAWN = """problem precision device method matrix_name matrix_full operands size config status seconds_median
matrix_seed batch samples inner_repeats rounds pooled uplo threads""".split()
LARGEST = """problem precision device method system operands size status seconds_median matrix_kind
matrix_full matrix_seed samples inner_repeats rounds pooled uplo threads""".split()
COMPARED = """problem method precision device m n k nrhs uplo matrix_digest task size parameters status
answered seconds_q1 seconds_median seconds_q3 matrix_name matrix_full matrix_seed operands samples inner_repeats rounds
pooled threads cpu config""".split()
PAIRED = """same_trial problem precision method backend device capability matrix_kind config size nrhs operands status
answered seconds_q1 seconds_median seconds_q3""".split()
# Captions: the meaning of error bars at points that pool several trials, and at ratios of two times.
OF_ROUNDS = "first to third quartile of the rounds' quartiles and medians"  # see `rounds.pool_rounds`
POOLED_RANGE = "the full range of the seeds or repetitions"
RATIO_INTERVAL = ("the interval from the quartiles of both times",)
RANK = {"pass": 0, "suspect": 1, "failed": 2}  # other statuses: the trial did not finish
# Words for the ranks, for captions: "the 2 of 3 trials that passed".
VERDICT_WORDS = {0: "that passed", 1: "that are suspect", 2: "that failed", 3: "that did not finish"}


def device_words(device):
    """Returns a device's name for a sentence: "the CPU emulating a GPU" for emulated kernels."""
    return f"{device.removeprefix(EMULATED)} emulating a GPU" if device.startswith(EMULATED) else device


def answered(records):
    """Returns the records with an answer and a time, whatever their verdict (the status: pass, suspect or failed)."""
    return records if records["answered"].all() else records[records["answered"]]


def best(records, by):
    """Returns one row per combination of values of the columns `by`: the fastest of the answers with the best
    verdict."""
    order = np.lexsort((records["seconds_median"].to_numpy(), verdict_rank(records)))
    first = ~records[by].iloc[order].duplicated().to_numpy()  # copies only these columns, not all hundred
    return records.iloc[order[first]]


def verdict_rank(rows):
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
    panel of a GPU; without GPUs they have their own panel. Emulated methods (GPU kernels that run on the CPU) have a
    separate panel, because their times cannot be compared with others. `device` names all devices of the panel."""
    for (problem, precision), group in records.groupby(["problem", "precision"], sort=True):
        devices = sorted(group["device"].unique())
        cpu = [d for d in devices if d == "CPU"]
        emulated = [d for d in devices if d.startswith(EMULATED)]
        models = [d for d in devices if d not in cpu and d not in emulated]
        gpu_groups = [models] if len(models) <= MOST_MODELS else [[d] for d in models]
        for main, cpus in [*((gpus, cpu) for gpus in gpu_groups), (emulated, [])]:
            shown = [*main, *cpus]
            is_shown = group["device"].isin(shown)
            if shown:
                words = " and ".join([*short_names(main).values(), *cpus])
                words = EMULATED + words if main and main == emulated and not words.startswith(EMULATED) else words
                yield problem, precision, words, group if is_shown.all() else group[is_shown]


def short_names(devices):
    """Maps devices to the words in which their names differ: "NVIDIA H100 80GB HBM3" and "NVIDIA H200" to H100 and
    H200."""
    words = {device: device.removeprefix("NVIDIA ").split() for device in devices}
    if len(words) < 2:
        return {device: device for device in devices}
    # Removes the first words that all names share, then keeps the fewest words that distinguish the names.
    while len({tuple(w[:1]) for w in words.values()}) == 1 and all(len(w) > 1 for w in words.values()):
        words = {device: w[1:] for device, w in words.items()}
    for count in range(1, max(map(len, words.values()), default=1) + 1):
        names = {device: " ".join(w[:count]) for device, w in words.items()}
        if len(set(names.values())) == len(names):
            return names
    return {device: device for device in devices}


def on_device(rows):
    """Returns, per row, the text that names its device in a label: " (CPU)" or ", H200"; empty if all rows have one
    device."""
    models = sorted(d for d in rows["device"].unique() if d != "CPU")
    names = {d: f", {name}" for d, name in short_names(models).items()} if len(models) > 1 else {}
    return rows["device"].map(dict(names, CPU=" (CPU)") if has_several(rows["device"]) else {}).fillna("")


def on_main_matrix(rows):
    """Returns the rows of one matrix (`system`) per problem, so that a table compares methods on the same matrix. It is
    the matrix with most (method, size) pairs; ties go to the one with most passed pairs, and identity matrices come
    last. Methods that did not run on it are shown on another matrix, chosen by the same rule from their own rows."""
    is_kept = np.zeros(len(rows), bool)
    known = rows[["problem", "system", "method", "size", "matrix_kind", "status"]].reset_index(drop=True)
    for _, group in known.groupby("problem"):
        while len(group):
            pairs = group.drop_duplicates(["system", "method", "size"])
            pairs_of_system = pairs["system"].value_counts(sort=False)
            passed_pairs = group[group["status"] == "pass"].drop_duplicates(["system", "method", "size"])
            passed_pairs = passed_pairs["system"].value_counts()
            order = sorted(pairs_of_system.index, key=lambda s: (-pairs_of_system[s], -passed_pairs.get(s, 0)))
            trivial = set(pairs.loc[pairs["matrix_kind"] == "identity", "system"])
            system = next((s for s in order if s not in trivial), order[0])
            of_system = group[group["system"] == system]
            is_kept[of_system.index] = True
            group = group[~group["method"].isin(of_system["method"])]
    return rows[is_kept].sort_index(kind="stable")


def facets(records, x="size"):
    """Yields (title words, rows, axis) of each figure; each row is yielded once. There is one figure per panel (see
    `panels`). If that has too many lines, there is one figure per matrix, or per operands. More than MOST_FACETS
    matrices are put on the x axis of one figure. Batches have separate figures. `axis["x"]` is the column of the x
    values. If the matrices are on the x axis, `axis["names"]` has their names. The column `main` is then true for the
    rows at the matrix's n (see `_main_sizes`). Only plots with `others` (see `curves`) draw the other rows."""
    for problem, precision, device, batch_words, rows in _split_batches(records):
        for words, part in _split_figures(rows):
            words = ", ".join(w for w in (problem, precision, device, batch_words, words) if w)
            if part["matrix_name"].nunique() > MOST_FACETS and len(_variants(part)) > MOST_VARIANTS:
                sizes = _main_sizes(part)
                positions = part["matrix_name"].map({name: i for i, name in enumerate(sizes)})
                is_main = part["size"] == part["matrix_name"].map(sizes)
                n = ", n = {}" if len(set(sizes.values())) > 1 else ""
                names = [brief(name) + n.format(size) for name, size in sizes.items()]
                yield words, part.assign(place=positions, main=is_main), {"x": "place", "names": names}
            else:
                yield words, part, {"x": x}


def _main_sizes(rows):
    """Maps each matrix to one n, ordered by n and name. The common n is the one with most (method, matrix) pairs. A
    matrix that ran with the common n gets it. Another matrix gets the n with most methods. Ties go to the largest n."""
    pairs = rows[["matrix_name", "method", "size"]].drop_duplicates()
    counts = pairs["size"].value_counts()
    common = max(counts.index, key=lambda n: (counts[n], n))
    sizes = {}
    for name, of_matrix in pairs.groupby("matrix_name")["size"]:
        counts = of_matrix.value_counts()
        sizes[name] = max(counts.index, key=lambda n: (n == common, counts[n], n))
    return dict(sorted(sizes.items(), key=lambda item: (item[1], item[0])))


def _split_batches(records):
    """Yields (problem, precision, device, title words for batches, rows): each panel, split into batches and single
    systems."""
    for problem, precision, device, rows in panels(records):
        are_batches = rows["batch"] > 1
        for is_batch in sorted(are_batches.unique()):
            part = rows if (are_batches == is_batch).all() else rows[are_batches == is_batch]
            words = "" if not is_batch else "batches" if has_several(part["operands"]) else part["operands"].iloc[0]
            yield problem, precision, device, words, part


def _variants(rows):
    return rows[["matrix_name", "operands"]].drop_duplicates()


def _split_figures(rows, by=("matrix_name", "operands")):
    """Yields (title words, rows) of each figure. If all rows fit, there is one figure. Otherwise there is one per value
    of a column: the first in `by` that has 2 to MOST_FACETS values."""
    if (
        len(_variants(rows)) <= MOST_VARIANTS
        and len(rows[["method", "device", "matrix_name", "operands"]].drop_duplicates()) <= MOST_LABELS
    ):
        yield "", rows
        return
    for i, column in enumerate(by):
        if 1 < rows[column].nunique() <= MOST_FACETS:
            for value, part in rows.groupby(column):
                for words, piece in _split_figures(part, by[:i] + by[i + 1 :]):
                    yield ", ".join(w for w in (brief(value), words) if w), piece
            return
    yield "", rows


def brief(name):
    """Shortens a matrix's name for narrow cells: the kind is left out if the first parameter has the same name, as in
    "condition condition=1e+08"."""
    kind, _, rest = name.partition(" ")
    return rest if rest.startswith(kind + "=") else name


def plots_over_size(
    rows,
    name,
    title,
    ylabel,
    y,
    low=None,
    high=None,
    others=False,
    ends=Series.ends,
    point="",
    y_is_rate=False,
    reference=None,
    **more,
):
    """Yields a Plot of the column `y` over size for each of `facets`. `low`, `high`, `ends`, `others`, `y_is_rate`: as
    in `curves`. `point`: describes a point in the caption if it is not a median of samples. `{samples}` in it is
    replaced by `sampled` and the number of trials that share a point, `{median}` by "median time" or its median over
    the seeds, `{of_seeds}` by "the median over the seeds of " if there are several, and `{of_rounds}` by `over_rounds`.
    `reference`: the records of a method whose times are in every point. Its name and `sampled` replace `{reference}`
    and `{reference_samples}`. The column `reference_status` has its verdict per row. `more`: further fields of the
    Plot."""
    # Drops rows that are not drawn, which captions must not name, and other columns, because the rows are copied often.
    values = rows[y].to_numpy(dtype=float)
    is_drawn = np.isfinite(values) & (values > 0 if more.get("ylog") else True)
    columns = [*DRAWN, "runs_ago", "reference_status", y, low, high]
    rows = rows.loc[is_drawn, [c for c in dict.fromkeys(columns) if c in rows]]
    for words, part, axis in facets(rows):
        undrawn = set()
        if "main" in part and not others:
            undrawn = set(part["method"]) - set(part.loc[part["main"], "method"])
            part = part[part["main"]]
        notes = [f"Not drawn: {', '.join(sorted(undrawn))}, which ran only at other n."] if undrawn else []
        series = curves(part, y, low, high, x=axis["x"], others=others, ends=ends, y_is_rate=y_is_rate)
        names = axis.get("names")
        xlabel = "matrix" if names else "n"
        count, trials = pooled(part)
        is_pooled = count > 1
        words_of = {
            "samples": sampled(part) + (f" in each of up to {count} {trials}" if is_pooled else ""),
            "median": f"median over the {trials} of the median time" if is_pooled else "median time",
            "of_seeds": f"the median over the {trials} of " if is_pooled else "",
            "of_rounds": over_rounds(part),
        }
        if reference is not None:
            same = part[["problem", "precision", "size", "matrix_name", "operands"]].drop_duplicates()
            words_of["reference"] = reference["method"].iloc[0]
            words_of["reference_samples"] = sampled(reference.merge(same))
            wrong = part[part["reference_status"] != "pass"].groupby("matrix_name", observed=True)["size"]
            places = [f"{brief(name)} at n = {', '.join(map(str, sorted(sizes.unique())))}" for name, sizes in wrong]
            notes += [f"The reference {words_of['reference']} did not pass on {listed(places)}."] if places else []
        yield Plot(
            slug(name, *words.split(", ")),
            f"{title}: {words}",
            xlabel,
            ylabel,
            series,
            names=names,
            note=" ".join(notes),
            basis=f"{matrices(part, bool(names), words_of.get('reference'))} Each point: {point.format(**words_of)}."
            if point
            else basis(part, with_sizes=bool(names), is_pooled=True),
            **more,
        )


def on_main_matrices(rows):
    """Applies `on_main_matrix` to the rows of each problem and precision separately."""
    groups = [on_main_matrix(group) for _, group in rows.groupby(["problem", "precision"])]
    return pd.concat(groups).sort_index() if groups else rows


# Words for captions: which rows `at_largest` returns.
AT_LARGEST = "Each method at its largest size, on the matrix that most methods and sizes ran with"


def at_largest(rows):
    """Returns one row per (problem, precision, device, method, operands): the best configuration at the largest size,
    on the matrix that `on_main_matrices` selects."""
    same = ["problem", "precision", "device", "method", "system", "operands"]
    rows = best(on_main_matrices(rows), [*same, "size"]).sort_values("size", kind="stable")
    return rows.drop_duplicates(same, keep="last")


def pooled_at_largest(rows, rates, others):
    """As `at_largest`, but pools seeds and repetitions as `curves` does. The columns `others` and the time become their
    medians. The columns `rates` become the median work over the median time. Returns these rows, and the records that
    they pool."""
    same = ["problem", "precision", "device", "method", "matrix_name", "operands"]
    rows = on_main_matrices(rows.assign(system=rows["matrix_name"]))
    rows = rows[rows["size"] == rows.groupby(same)["size"].transform("max")]
    rows = rows.assign(point=rows.groupby([*same, "config"], sort=False).ngroup(), rank=verdict_rank(rows))
    ranks = rows.groupby("point")["rank"].agg(["min", "max", "size"])
    trials = rows[rows["rank"] == rows["point"].map(ranks["min"])]
    points = trials.drop_duplicates("point").set_index("point")
    points["status"] = ranks["max"].map({rank: status for status, rank in RANK.items()})
    counts = trials.groupby("point").agg(count=("rank", "size"), rank=("rank", "first"), rounds=("rounds", "max"))
    counts.insert(0, "tried", ranks["size"])
    points["shown"] = pd.Series({of[0]: _shown_words(*of[1:]) for of in counts.itertuples()}, dtype=object)
    is_pooled = trials.groupby("point")["seconds_median"].nunique() > 1
    once = trials.drop_duplicates(["point", "pooled"])  # all rounds of a trial have the same times
    work = once[rates].mul(once["seconds_median"], axis=0).assign(point=once["point"]).groupby("point").median()
    medians = once.groupby("point")[["seconds_median", *others]].median()
    of_several = medians.join(work.div(medians["seconds_median"], axis=0))
    for name in of_several:
        points[name] = points[name].mask(is_pooled, of_several[name])
    points = best(points, same)
    return points, trials[trials["point"].isin(points.index)]


def has_several(values):
    return values.nunique() > 1


def series_label(rows, of_matrix=True):
    """Returns, per row, the label of its series: the method, and the device, operands and matrix if these differ."""
    label = rows["method"].astype(str)
    label = label + on_device(rows)
    if has_several(rows["operands"]):
        label = label + np.where(rows["operands"] == "", "", ", " + rows["operands"])
    if of_matrix and has_several(rows["matrix_name"]):
        label = label + ", " + rows["matrix_name"].map(brief)
    return label


def curves(rows, y, low=None, high=None, x="size", others=False, ends=Series.ends, y_is_rate=False):
    """Returns one Series per method, matrix and operands, with the best configuration at each x. Trials that differ
    only in seed, host or repetition become one point: the median and full range of those with the best verdict. Its
    mark is hollow if any of the trials did not pass. `low`, `high`: the columns with the range of a single trial;
    `ends`: the meaning of that range, for captions. `y_is_rate`: `y` is a rate, so a pooled point is the median work
    over the median time. `others`: adds faint series with other configurations, earlier runs and other n. Rows at other
    n are those whose column `main` is false, if `rows` has that column."""
    label = series_label(rows, of_matrix=x == "size")
    rank = verdict_rank(rows)
    is_main = rows["main"] if "main" in rows else np.full(len(rows), True)
    setting = rows["config"]
    if "main" in rows:
        setting = setting + np.where(is_main, "", rows["size"].map(" n={}".format))
    # `config` distinguishes configurations that share an x; `setting` is the text about a point in captions. `unsure`
    # is true if the method whose time is in the point, such as a baseline, did not pass.
    rows = pd.DataFrame(
        {
            "label": label,
            "x": rows[x],
            "setting": setting.str.strip(),
            "main": is_main,
            "config": rows["config"] if x == "size" else rows["config"] + rows["size"].map(" n = {}".format),
            "y": rows[y],
            "low": rows[low] if low else np.nan,
            "high": rows[high] if high else np.nan,
            "time": rows["seconds_median"],
            "work": rows[y] * rows["seconds_median"],
            "rank": rank,
            "seed": rows["matrix_seed"],
            "runs_ago": rows["runs_ago"] if "runs_ago" in rows else 0,
            "threads": rows["threads"] if "threads" in rows else 0,
            "rounds": rows["rounds"] if "rounds" in rows else 1,
            "trial": rows["pooled"] if "pooled" in rows else np.arange(len(rows)),
            "unsure": rows["reference_status"] != "pass" if "reference_status" in rows else False,
        }
    )
    if (rows["rounds"] > 1).any():
        ends = tuple(OF_ROUNDS if end in Series.ends else end for end in ends)
    rows = rows[np.isfinite(rows["y"].to_numpy(dtype=float))]
    key = ["label", "x", "runs_ago", "config"]
    group = rows.groupby(key, sort=False)["rank"]
    rows = rows.assign(worst=group.transform("max"), tried=group.transform("size"), least=group.transform("min"))
    rows = rows[rows["rank"] == rows["least"]]  # pools only trials with the best verdict: those that passed, if any
    # A trial whose rounds have equal values counts once; NaN is not counted.
    of_trial = [*key, "trial"]
    is_repeated = rows.duplicated(of_trial) & (rows.groupby(of_trial)["y"].transform("nunique") == 1)
    values = ["y", "time", "work"]
    rows = rows.assign(**rows[values].mask(is_repeated))
    group = rows.groupby(key, sort=False)
    points = group.agg(
        y=("y", "median"), least=("y", "min"), most=("y", "max"), low=("low", "min"), high=("high", "max"),
        time=("time", "median"), work=("work", "median"), worst=("worst", "first"), rank=("rank", "first"),
        tried=("tried", "first"), rounds=("rounds", "max"), main=("main", "first"),
        setting=("setting", "first"), count=("y", "size"), seeds=("seed", "nunique"), threads=("threads", "first"),
        trials=("trial", "nunique"), unsure=("unsure", "max"),
    ).reset_index()  # fmt: skip
    # All rounds of a trial have equal times (`rounds.pool_rounds`). Only a point of several trials has a range between
    # its values; the range of a single trial is that of its samples.
    is_pooled = points["pooled"] = points["most"] > points["least"]
    if y_is_rate:
        points["y"] = points["y"].where(~is_pooled, points["work"] / points["time"])
    points["low"], points["high"] = np.where(is_pooled, points["least"], points["low"]), np.where(
        is_pooled, points["most"], points["high"]
    )
    points = points.sort_values(["label", "x", "runs_ago", "worst", "time"], kind="stable")
    earlier = points["runs_ago"].map(lambda runs: f"{runs} runs ago" if runs > 1 else "the run before" if runs else "")
    of_cpu = points.loc[points["threads"] > 0].groupby(["label", "x"])["threads"]
    threads_differ = of_cpu.transform("nunique").reindex(points.index).gt(1) & (points["runs_ago"] > 0)
    earlier += np.where(threads_differ, points["threads"].map(lambda count: f" ({counted(count, 'thread')})"), "")
    points["config"] = np.where(
        points["runs_ago"] > 0, (points["config"] + ", " + earlier).str.lstrip(", "), points["config"]
    )
    points["earlier"] = earlier
    is_best = points["main"] & ~points.duplicated(["label", "x", "main"])
    curves_ = [
        _curve(name, part, low or part["pooled"].any(), ends, is_over_size=x == "size")
        for name, part in points[is_best].groupby("label", sort=True)
    ]
    curves_.sort(key=_in_order)
    if others:
        slower = points[~is_best]
        if len(slower) > MOST_FAINT:  # too many to draw: each series gets one point with a range per x
            slower = slower.assign(
                low=slower[["y", "low", "least"]].min(axis=1), high=slower[["y", "high", "most"]].max(axis=1)
            )
            slower = slower.groupby(["label", "x"], sort=False).agg(
                y=("y", "median"), low=("low", "min"), high=("high", "max"), worst=("worst", "min"),
                count=("count", "sum"), tried=("tried", "sum"), seeds=("seeds", "max"), earlier=("earlier", "min"),
                pooled=("pooled", "max"), rounds=("rounds", "max"), trials=("trials", "sum"), unsure=("unsure", "max"),
                rank=("rank", lambda ranks: ranks.iloc[0] if ranks.nunique() == 1 else -1),
            ).reset_index().assign(config="other configurations", setting="")  # fmt: skip
        faint = (_curve(name, part, True, ends) for name, part in slower.groupby("label", sort=True))
        curves_ = [*(replace(series, line=False, faint=True, band=False) for series in faint), *curves_]
    return curves_


def _in_order(series):
    """Returns the sort key of a series: its label with the numbers as numbers, so that "nrhs 8" precedes "nrhs 16"."""
    return [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", series.label)]


def _curve(label, rows, with_ends, ends, is_over_size=True):
    """Returns the Series of one label. The text at the pointer has a point's configuration. It also has the number
    of seeds or trials that were tried, and the number and verdict of those that the point shows."""
    seeds = rows["seeds"] > 1
    has_own_range = ~rows["pooled"].astype(bool) & (rows["high"] > rows["low"])  # a single sample has no quartiles
    counts = [
        "; ".join(filter(None, [config, _count_words(*numbers), "the reference did not pass" if unsure else ""]))
        for config, unsure, *numbers in zip(
            *(rows[name] for name in ("config", "unsure", "tried", "count", "seeds", "rank", "rounds", "trials"))
        )
    ]
    return Series(
        label,
        rows["x"].to_numpy(),
        rows["y"].to_numpy(),
        rows["low"].to_numpy() if with_ends is not None and with_ends is not False else None,
        rows["high"].to_numpy() if with_ends is not None and with_ends is not False else None,
        rows["worst"].to_numpy(),
        hover=counts,
        settings=rows["setting"].to_numpy(),
        earlier=rows["earlier"].to_numpy(),
        band=bool(seeds.any()) and len(rows) > 1 and is_over_size,
        ends=(*(ends if has_own_range.any() else ()), *([POOLED_RANGE] if rows["pooled"].any() else ())),
        shown=np.array(
            [_shown_words(*of) for of in zip(*(rows[name] for name in ("tried", "count", "rank", "rounds")))]
        ),
    )


def _count_words(tried, count, seeds, rank, rounds, trials):
    """Returns words for the trials of a point: `_shown_words`, or "3 seeds"; an empty text for a single trial."""
    all_words = f"{trials} {'seeds' if seeds == trials else 'trials'}" if trials > 1 else ""
    return _shown_words(tried, count, rank, rounds) or all_words


def _shown_words(tried, count, rank, rounds):
    """Returns "the 2 of 3 trials that passed" for a point that shows only the trials with the best verdict. Returns an
    empty text if the point shows all trials. `tried`, `count`: numbers of records, of which a trial has at most
    `rounds`. `rank`: the verdict, or -1 for several verdicts."""
    records = "rounds" if rounds > 1 else "trials"
    verdict = VERDICT_WORDS.get(rank, "with the best verdict")
    return f"the {count} of {tried} {records} {verdict}" if count < tried else ""


def numeric_parameters(records):
    """Maps each parameter with several numeric values to a column of its numbers; NaN in records without a number."""
    found = {}
    texts = parameters_of(records)
    names = sorted({name for p in texts.values() for name in p})
    for name in names:
        column = parameter(records, name)
        numbers = pd.to_numeric(column.map(lambda v: None if isinstance(v, bool) else v), errors="coerce")
        if name == "threads":
            numbers = numbers.where(numbers > 0)  # 0 means that the method chooses the number
        if numbers.nunique() > 1:
            found[name] = numbers
    return found


def without(texts, name):
    """Maps each JSON text of parameters to a label "name=value …" without the parameter `name` and without parameters
    that have one value in all texts. `texts`: JSON text -> dict, as `parameters_of` returns it."""
    values = {}
    for parameters in texts.values():
        for key, value in parameters.items():
            values.setdefault(key, set()).add(str(value))
    shown = {key for key, found in values.items() if len(found) > 1 and key != name}
    return {t: " ".join(f"{k}={v}" for k, v in p.items() if k in shown) for t, p in texts.items()}


def other_settings(settings, name):
    """Returns texts of settings without the parameter `name`, which the x axis shows."""
    return settings.str.replace(rf"(^| ){re.escape(name)}=\S*", "", regex=True).to_numpy()


def terse(settings):
    """Shortens settings for a legend: "back_substitution=pipelined threads=64" becomes "pipelined threads=64". Names of
    eight letters and more are left out before values that are words."""
    return re.sub(r"\b\w{8,}=([a-z]\w*)", r"\1", settings)


def gain(base, rows):
    """Returns the speedup of `rows` over `base` (aligned rows), and its lowest and highest value by the quartiles of
    both times."""
    return (
        base["seconds_median"] / rows["seconds_median"],
        base["seconds_q1"] / rows["seconds_q3"],
        base["seconds_q3"] / rows["seconds_q1"],
    )


def speedups(records, name, values):
    """Returns the trials for which other trials differ only in the value of the parameter `name`. `values`: the
    parameter's column. Adds the speedup over the trial with the smallest value (`base`), and its interval from the
    quartiles of both times. The interval of the base itself is 1 to 1. `rest`: the other parameters as text."""
    rows = answered(records.assign(value=values)).dropna(subset=["value"])
    if not len(rows):
        return rows.assign(speedup=[], speedup_low=[], speedup_high=[], rest=[])
    texts = parameters_of(rows)
    rows = rows.assign(rest=rows["parameters"].map(without(texts, name)))
    key = "problem method precision device cpu threads m n k nrhs uplo matrix_digest task rest".split()
    rows = best(rows, [*key, "value"]).sort_values([*key, "value"], kind="stable")
    group = rows.groupby(key, sort=False, observed=True)
    rows = rows[group["value"].transform("nunique") > 1]
    group = rows.groupby(key, sort=False, observed=True)
    first = group[["seconds_q1", "seconds_median", "seconds_q3", "value"]].transform("first")
    speedup, *ends = gain(first, rows)
    low, high = (end.mask(rows["value"] == first["value"], 1) for end in ends)
    return rows.assign(base=first["value"], speedup=speedup, speedup_low=low, speedup_high=high)


def call_rows(results, trials=None):
    """Returns the rows of table /stages with columns of their records. A stage is the part of a method's time in one
    kernel. A row is the sum over the kernel's calls, or one call if the plan has `stages: calls`. `trials`: row numbers
    of the records to use, by default all."""
    columns = (
        "problem method precision device backend size nrhs config parameters "
        "matrix_kind matrix_full matrix_seed operands uplo threads task status seconds_median answered plan_name file"
    ).split()
    stages = results.stages if trials is None else results.stages[results.stages["trial"].isin(trials)]
    stages = stages.join(results.take(columns), on="trial")
    return stages[stages["seconds"].notna()]


def stage_rows(results, trials=None):
    """As `call_rows`, but with one row per trial and stage: rows of separate calls are summed, and their occupancy is
    averaged over the calls."""
    rows = call_rows(results, trials)
    repeated = rows.duplicated(["trial", "kernel"], keep=False)
    if not repeated.any():
        return rows
    calls = rows[repeated]
    # Weights of the mean occupancy: the number of calls of each row with a known occupancy.
    known = calls["calls"].where(calls["occupancy"].notna())
    sums = calls.assign(weight=known, weighted=calls["occupancy"] * known).groupby(["trial", "kernel"], sort=False)
    sums = sums[["calls", "seconds", "share", "weight", "weighted"]].sum(min_count=1)
    first = calls.drop_duplicates(["trial", "kernel"]).set_index(["trial", "kernel"], drop=False)
    first.index.names = [None, None]
    sums.index.names = [None, None]
    first[["calls", "seconds", "share"]] = sums[["calls", "seconds", "share"]]
    first["mean"] = first["seconds"] / first["calls"]
    first["occupancy"] = sums["weighted"] / sums["weight"]
    return pd.concat([rows[~repeated], first.reset_index(drop=True)]).sort_values("trial", kind="stable")


def with_peak_fractions(results, rows):
    """Adds `copy_peak` and `rate_peak`: the measured copy bandwidth and GEMM rate of a trial's device (table /devices).
    Adds `copy_share` and `rate_share`: the fractions of them that the trial reaches."""
    where = ["file", *DEVICE]
    peaks = results.devices[[*where, "copy_bytes_per_second", "gemm_flops_float", "gemm_flops_double"]].drop_duplicates(
        where, keep="last"
    )
    found = rows[where].merge(peaks, on=where, how="left").set_index(rows.index)
    rate = np.where(rows["precision"] == "float", found["gemm_flops_float"], found["gemm_flops_double"])
    gpus = gpu_counts(rows)
    return rows.assign(
        copy_peak=found["copy_bytes_per_second"],
        rate_peak=rate,
        copy_share=rows["bytes"] / rows["seconds_median"] / found["copy_bytes_per_second"] / gpus,
        rate_share=rows["gflops"] * 1e9 / rate / gpus,
    )


def common_trials(records, first, second):
    """Returns the trials that ran on both devices (equal `same_trial`). The column `ratio` is the speedup of `second`
    over `first`. Its interval (`low`, `high`) is from the quartiles of both times."""
    columns = (
        "same_trial problem precision method matrix_kind config size "
        "nrhs operands status seconds_q1 seconds_median seconds_q3"
    ).split()
    left, right = (best(records[records["device"] == d], ["same_trial"])[columns] for d in (first, second))
    both = left.merge(
        right[["same_trial", "status", "seconds_q1", "seconds_median", "seconds_q3"]],
        on="same_trial",
        suffixes=("", "_2"),
    )
    return both.assign(
        ratio=both["seconds_median"] / both["seconds_median_2"],
        low=both["seconds_q1"] / both["seconds_q3_2"],
        high=both["seconds_q3"] / both["seconds_q1_2"],
        first=first,
        second=second,
    )


def devices_by_age(records):
    """Returns the GPU models, lowest compute capability first, and the answered records of all GPUs."""
    rows = answered(records[records["backend"] == "cuda"])
    return rows.groupby("device")["capability"].max().sort_values(kind="stable").index.to_list(), rows


def slug(*words):
    """Joins words to a name that is safe in files and links."""
    text = "-".join(str(w) for w in words if str(w))
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in text)


def _undrawn(values):
    """Returns a sentence about values that a logarithmic axis cannot show; an empty text if there are none."""
    zeros, others = int((values == 0).sum()), int((~np.isfinite(values)).sum())
    words = [f"{counted(n, 'value')} of {what}" for n, what in ((zeros, "0"), (others, "NaN or Inf")) if n]
    return f" Not drawn: {' and '.join(words)}." if words else ""


def history_plots(results, records, name="history"):
    """Yields plots of the values that the methods' convergence tests use, over the iterations. Each line is one trial:
    the one at the largest size among those that agree in method, task and `convergence` (how the iteration ended)."""
    visible = results.iterations[results.iterations["residual"].gt(0) & np.isfinite(results.iterations["residual"])]
    point_count = visible["trial"].value_counts()
    records = records[records.index.isin(point_count.index[point_count > 1])]
    records = records.sort_values("size", ascending=False, kind="stable")
    records = records.drop_duplicates(["problem", "precision", "device", "method", "task", "convergence"])
    last = results.iterations.groupby("trial")["iteration"].max()
    records = records.assign(long=records.index.map(last) > LONG)
    for (problem, precision, device, long), group in records.groupby(["problem", "precision", "device", "long"]):
        iterations = results.iterations[results.iterations["trial"].isin(group.index)]
        series = []
        for trial, record in group.iterrows():
            part = iterations[iterations["trial"] == trial].sort_values("iteration")
            label = f"{record['method']}, {record['task']}, n = {record['size']}"
            label += f", {record['convergence']}" if record["convergence"] else ""
            settings = [record.get("config", "")] * len(part)
            series.append(
                Series(label, part["iteration"].to_numpy() + 1, part["residual"].to_numpy(), settings=settings)
            )
        series.sort(key=_in_order)
        yield Plot(
            slug(name, problem, precision, device, "long" if long else ""),
            f"Convergence test over {'many ' if long else ''}iterations: {problem}, {precision}, {device}",
            "iteration",
            "value tested",
            series,
            ylog=True,
            xlog=False,
            farthest=1e10,
            note="The value is the one that the method compares with its limit, for example a residual or a change."
            + _undrawn(iterations["residual"]),
            basis=f"{matrices(group)} Each line: one trial, the first of those at the largest size with the line's"
            " method, matrix and outcome.",
        )
