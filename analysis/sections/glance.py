"""Writes the first screen: the most important facts of the results, as sentences with links to sections."""

import json

import numpy as np
import pandas as pd

from ..captions import EMULATED
from ..frames import PAIRED, common_trials, devices_by_age
from ..page import counted, factor, number, span, whole
from ..papers.published_times import with_measured
from ..papers.common import panel_devices
from ..papers.experiments import experiments_that_ran, matching
from . import changes
from .failures import BROKEN, WRONG, is_without_digit, named, varying
from .provenance import shown_path

MOST_CLOCK_DIFFERENCE = 0.03  # relative, between the median clocks of one GPU model on different machines
# If more threads per CPU are ready to run (`cpu_demand`), other programs compete: the run itself has at most about one.
MOST_DEMAND = 1.25
# The fraction of CPU trials that must have run on a busy CPU before this is reported. A smaller fraction may be chance,
# because a short trial reads the demand for the CPU only once.
MIN_BUSY = 0.2
MOST_PEAK_DIFFERENCE = 0.1  # relative, between the measured peaks of one GPU model in different files


def glance(results):
    """Returns (sentence, section) pairs, most important first."""
    # `finding`: true for a bad status that the plan expects.
    records = results.take("status unexpected finding problem method matrix_name parameters forward_error timing")
    sentences = [
        *_ended(records),
        # `configs`: the parameters that differ between the records, as text.
        *_not_accepted(records.assign(configs=varying(records))),
        *changes.sentences(results),
        *_doubts(results),
        *_missing(results),
        *_gpus(results.take_answered(PAIRED)),  # PAIRED: the columns that common_trials reads
        *_published(results),
    ]
    return [(words, to) for words, to in sentences if words]


def _missing(results):
    """Yields a sentence about files that lack trials of their plan."""
    incomplete = []
    files_with_records = set(results.table["file"].unique())
    for i, (path, attributes, count) in enumerate(results.files):
        total = attributes.get("total", "")
        without_records = _without_records(attributes)
        if without_records or (total.isdigit() and int(total) > count):
            name = attributes.get("plan_name") or path.parent.name
            if len(results.files) > 1:
                name += f" in {shown_path(path.parent)}"
                name += f", started {attributes['started']}" if attributes.get("started") else ""
                # All records of the file belong to an earlier run of the plan (`Results.earlier`).
                name += ", an earlier run" if count and i not in files_with_records else ""
            number = f"{count} of {counted(int(total), 'trial')}" if total.isdigit() else counted(count, "trial")
            incomplete.append(f"{name} ({number}{without_records})")
    incomplete += _without_shards(results.files)
    if incomplete:
        more = f" and {len(incomplete) - 8} more" if len(incomplete) > 8 else ""
        yield (
            (
                f"Not complete: {', '.join(incomplete[:8])}{more}. The"
                " run's command with --resume runs the missing trials."
            ),
            "provenance",
        )


def _without_shards(files):
    """Returns texts about the sweeps of which some shards are missing, such as "sweep (4 of 9 trials, no results from
    shard 3 of 3)". At least two shards must be given. A sweep is a plan with its shards in one folder."""
    sweeps = {}  # (folder, plan, number of shards) -> ({shard: number of its trials}, numbers of the plan's trials)
    for path, attributes, count in files:
        shard, _, shards = attributes.get("shard", "").partition("/")
        total, plan_trials = attributes.get("total", ""), attributes.get("plan_trials", "")
        if all(word.isdigit() for word in (shard, shards, total, plan_trials)) and int(shards) > 1:
            plan = attributes.get("plan_name") or path.parent.name
            trials_of, plans = sweeps.setdefault((path.parent.parent, plan, int(shards)), ({}, set()))
            trials_of[int(shard)] = max(trials_of.get(int(shard), 0), int(total))
            plans.add(int(plan_trials))
    texts = []
    for (folder, plan, shards), (trials_of, plans) in sweeps.items():
        plan_trials = max(plans)
        if 1 < len(trials_of) < shards and len(plans) == 1 and sum(trials_of.values()) < plan_trials:
            absent = [str(i) for i in range(1, shards + 1) if i not in trials_of]
            more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
            number = f"{sum(trials_of.values())} of {counted(plan_trials, 'trial')}"
            texts.append(
                f"{plan} in {shown_path(folder)} ({number}, no results from shard {', '.join(absent[:3])}{more} of"
                f" {shards})"
            )
    return texts


def _without_records(attributes):
    """Returns ", no records from shard 3 of 4": the shards and run directories of merged results that have no records.
    The text is empty if there are none."""
    names = json.loads(attributes.get("without_records") or "[]")
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f", no records from {', '.join(names[:3])}{more}" if names else ""


def _ended(records):
    """Yields a sentence about the trials that ended without an answer."""
    broken = records[records["status"].isin(BROKEN) & records["unexpected"]]
    if not len(broken):
        unless_expected = " but as the plan expects" if records["status"].isin(BROKEN).any() else ""
        yield f"No trial crashed, timed out, ran out of memory or ended with an error{unless_expected}.", ""
        return
    counts = broken.groupby(["problem", "method", "status"]).size().sort_values(ascending=False, kind="stable")
    shown = [f"{problem}/{method} {status} ({count})" for (problem, method, status), count in counts.items()]
    yield f"{counted(len(broken), 'trial')} did not finish: {_first(shown, 5)}.", "failures-unfinished"


def _not_accepted(records):
    """Yields sentences about wrong answers, unexpected passes, expected failures, doubtful times, and answers without a
    correct digit."""
    wrong = records[records["status"].isin(WRONG) & records["unexpected"]]
    if len(wrong):
        yield f"{counted(len(wrong), 'answer')} did not pass: {_on_matrices(wrong)}.", "failures-wrong"
    passed = records[(records["status"] == "pass") & records["unexpected"]]
    if len(passed):
        count_words = counted(len(passed), "answer")
        yield f"{count_words} passed although the plan expects otherwise: {_on_matrices(passed)}.", "failures-passed"
    findings = records[records["finding"]]
    if len(findings):
        count_words, is_wrong = counted(len(findings), "expected failure"), findings["status"].isin(WRONG).any()
        yield f"{count_words}: {_on_matrices(findings)}.", "failures-wrong" if is_wrong else "failures-unfinished"
    fast = records[records["status"].isin(["pass", "suspect"]) & (records["timing"] == "suspect")]
    if len(fast):
        count = fast.groupby(["problem", "method"]).size()
        shown = _first([f"{problem}/{method} ({found})" for (problem, method), found in count.items()], 6)
        yield f"Doubtful times, faster than the device's peaks allow: {shown}.", "failures-doubted"
    without_digit = records[is_without_digit(records)]
    if len(without_digit):
        have = "passed answer has" if len(without_digit) == 1 else "passed answers have"
        matrices = _by_matrix(without_digit)
        yield f"{len(without_digit)} {have} no correct digit: {matrices}.", "failures-doubted"


def _on_matrices(records):
    """Returns "gesv/crout on wilkinson (block=4); …": the methods of the records with matrices and parameters."""
    words = []
    for (problem, method), rows in records.groupby(["problem", "method"]):
        configs_of = {name: named(configs) for name, configs in rows.groupby("matrix_name")["configs"]}
        names = [f"{name} ({configs})" if configs else name for name, configs in configs_of.items()]
        words.append(f"{problem}/{method} on {_first(names, 4)}")
    return _first(words, 6, "; ")


def _by_matrix(records):
    """Returns "gesv/crout on cauchy (4), …": the number of records per method and matrix."""
    count = records.groupby(["problem", "method", "matrix_name"]).size()
    return _first([f"{problem}/{method} on {name} ({found})" for (problem, method, name), found in count.items()], 4)


def _gpus(records):
    """Yields a sentence per pair of consecutive GPU models: the speedup of the newer one over the older one."""
    devices, rows = devices_by_age(records)
    for first, second in zip(devices, devices[1:]):
        common = common_trials(rows, first, second)
        if len(common):
            low, middle, high = (factor(float(v)) for v in common["ratio"].quantile([0, 0.5, 1]))
            yield (
                f"{second} over {first}: median speedup {middle} over {counted(len(common), 'trial')} in common"
                f" ({low} to {high})."
            ), "architectures"


def _published(results):
    """Yields a sentence per device: how many measured times are shorter than published ones, and by which factors."""
    found = {}
    for experiment in experiments_that_ran(results):
        for drawing in experiment["draw"]:
            # A drawing with a key "rate" compares rates of operations, not times.
            if drawing["kind"] == "published" and "rate" not in drawing:
                rows = matching(results, experiment)
                for device in panel_devices(rows) if rows is not None else []:
                    table = with_measured(drawing, rows, device)
                    if table is not None:
                        found.setdefault(device, []).append(table)
    for device, tables in found.items():
        ratios = pd.concat(tables)["faster"].dropna()
        if len(ratios):
            yield (
                f"Compared with the papers: {len(ratios)} measured times have published ones ({_with_cpu(device)}),"
                f" {int((ratios > 1).sum())} of them are faster; published over measured time:"
                f" {factor(ratios.min())} to {factor(ratios.max())}."
            ), "papers"


def _with_cpu(device):
    """Returns words for a device and the CPU next to it; for emulated kernels only the CPU, because their times are not
    compared."""
    return "the CPU" if device == "CPU" or device.startswith(EMULATED) else f"{device} and its CPU"


def _doubts(results):
    """Yields sentences with reasons to doubt the times."""
    records = results.take("backend device sm_clock_mhz host gpu_uuid commit samples cpu_demand")
    is_throttled = results.samples["throttled"] != 0
    if is_throttled.any():
        samples = counted(len(is_throttled), "sample")
        yield f"Taken under throttling: {is_throttled.sum()} of {samples}.", "provenance-clocks"
    on_cpu = records[(records["backend"] != "cuda") & (records["samples"] > 0)]
    busy = on_cpu["cpu_demand"][on_cpu["cpu_demand"] > MOST_DEMAND]
    if len(busy) and len(busy) >= MIN_BUSY * len(on_cpu):
        yield (
            f"Other programs used the CPUs during {len(busy)} of {counted(len(on_cpu), 'trial')} on the CPU"
            f" ({busy.min():.1f} to {busy.max():.1f} threads per CPU wanted to run): their times may be too long."
        ), ""
    for name, group in results.peaks[results.peaks["capability"] > 0].groupby("gpu_name"):
        differing = [
            f"{what} {span(low, high, unit)}"
            for column, what, unit in (
                ("copy_bytes_per_second", "copy", "B/s"),
                ("gemm_flops_float", "GEMM float", "FLOP/s"),
                ("gemm_flops_double", "GEMM double", "FLOP/s"),
            )
            for low, high in [(group[column].min(), group[column].max())]
            if high > low * (1 + MOST_PEAK_DIFFERENCE)
        ]
        if differing:
            yield (
                f"The peaks measured on {name} differ from run to run ({'; '.join(differing)}): the clocks differ, or"
                " another program used the machine. Times and fractions of the slower runs are doubtful."
            ), "provenance-machines"
    clocks = records[(records["backend"] == "cuda") & records["sm_clock_mhz"].gt(0)]
    for device, group in clocks.groupby("device"):
        clocks_of_machine = group.groupby(["host", "gpu_uuid"])["sm_clock_mhz"].median()
        if clocks_of_machine.max() > clocks_of_machine.min() * (1 + MOST_CLOCK_DIFFERENCE):
            low, high = number(clocks_of_machine.min()), number(clocks_of_machine.max())
            yield (
                f"{device} ran at {low} MHz on one machine and at {high} MHz on another (median clocks):"
                " their times are not comparable."
            ), "provenance-clocks"
    cpus = sorted({c for c in results.hosts["cpu"] if c})
    if len(cpus) > 1 and (records["backend"] != "cuda").any():
        yield f"Methods on the CPU ran on several CPU models: {_first(cpus, 4)}.", "provenance-machines"
    commits = [c for c in records["commit"].unique() if c]
    if len(commits) > 1:
        yield (
            (
                f"The records were made by {len(commits)} versions of the program"
                f" ({', '.join(c[:8] for c in commits[:4])}): differences may be due to the program."
            ),
            "provenance-machines",
        )
    # An attribute of a merged file lists the values of all its parts.
    if any({"true", "1", "True"} & set(attributes.get("dirty", "").split(", ")) for _, attributes, _ in results.files):
        yield "Some trials were measured by a program with uncommitted changes.", "provenance"


def _first(shown, most, between=", "):
    """Joins the first `most` texts, and counts the others: "a, b and 3 more"."""
    return between.join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def leaders(rows):
    """Returns the winner of one race per (problem, precision). A race is the comparison of all methods, on all devices,
    on one task and size. The race is the one at the largest size. Races with less than half as many competitors as the
    race with most of them do not count. `rows`: the answers that passed, as `overview.ranked_methods` returns them:
    `place` is the rank in the race, and `of` the number of competitors."""
    race = ["problem", "precision", "task", "size"]
    rows = rows[
        (rows["matrix_kind"] != "identity")
        | ~rows["problem"].isin(rows.loc[rows["matrix_kind"] != "identity", "problem"])
    ]
    fastest = rows[rows["place"] == 1]
    fastest = fastest.assign(
        sizes_of_task=fastest.groupby(["problem", "precision", "task"])["size"].transform("nunique")
    )
    most_competitors = fastest.groupby(["problem", "precision"])["of"].transform("max")
    large_races = fastest[(fastest["of"] * 2 >= most_competitors) & ((fastest["of"] > 1) | (most_competitors == 1))]
    order = ["size", "of", "sizes_of_task", "seconds_median"]
    large_races = large_races.sort_values(order, ascending=[False, False, False, True], kind="stable")
    chosen = large_races.drop_duplicates(["problem", "precision"]).sort_values(["problem", "precision"], kind="stable")
    next_one = rows[rows["place"] == 2].set_index(race)
    keys = list(chosen[race].itertuples(index=False, name=None))
    second = [next_one.loc[[k]].iloc[0] if k in next_one.index else None for k in keys]
    return chosen.assign(
        second=[
            "–" if r is None else f"{r.method}{'' if r.device == first else f' ({r.device})'}"
            for r, first in zip(second, chosen["device"])
        ],
        second_behind=[np.nan if r is None else r.behind for r in second],
    )


def leaders_table(page, rows):
    """Adds the table of `leaders`."""
    table = leaders(rows)
    page.table(
        "leaders",
        table,
        [
            "problem precision",
            ("method", "fastest", None),
            "seconds_median",
            ("device", "on", None),
            "size task gflops peak_share",
            ("second", "next", None),
            ("second_behind", "slower by", factor),
            ("of", "of", whole),
        ],
        caption=(
            "The winner of one race per problem, over all devices: at the largest size that most methods reached, the"
            " matrix and triangle with most sizes, then with the fastest answer."
        ),
        more_csv_columns=("config", "seconds_q1", "seconds_q3"),
    )
