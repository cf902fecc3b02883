"""The first screen: the most important facts of a night, in sentences with links to the sections."""

import numpy as np
import pandas as pd

from ..frames import EMULATED, PAIRED, devices_by_age, pairs
from ..page import counted, factor, number, span, whole
from ..papers.beside import beside
from ..papers.common import heads
from ..papers.experiments import matching, run_of
from . import changes
from .failures import BROKEN, WRONG, is_without_digit, named, varying
from .provenance import shown_path

CLOCKS_APART = 0.03  # tolerated relative difference of one GPU model's median clocks between machines
MOST_DEMAND = 1.25  # threads per CPU; the run itself wants at most about one
LEAST_BUSY = 0.2  # fraction of the trials on the CPU; fewer are chance, since a short trial has one reading
PEAKS_APART = 0.1  # tolerated relative difference of one GPU model's measured peaks between files


def glance(night):
    """Returns (sentence, section) pairs, most important first."""
    records = night.take("status unexpected finding problem method matrix_name parameters forward_error timing")
    said = [
        *_ended(records),
        *_not_accepted(records.assign(configs=varying(records))),
        *changes.sentences(night),
        *_doubts(night),
        *_missing(night),
        *_gpus(night.answered(PAIRED)),
        *_published(night),
    ]
    return [(words, to) for words, to in said if words]


def _missing(night):
    """Yields a sentence about plans whose trials are not all in the file."""
    gaps = []
    shown = set(night.table["file"].unique())
    for i, (path, attributes, count) in enumerate(night.files):
        total = attributes.get("total", "")
        if total.isdigit() and int(total) > count and not attributes.get("merged_from"):
            name = attributes.get("plan_name") or path.parent.name
            if len(night.files) > 1:
                name += f" in {shown_path(path.parent)}"
                name += f", started {attributes['started']}" if attributes.get("started") else ""
                name += ", an earlier run" if count and i not in shown else ""
            gaps.append(f"{name} ({count} of {counted(int(total), 'trial')})")
    if gaps:
        yield (
            (
                f"Not complete: {', '.join(gaps[:8])}{f' and {len(gaps) - 8} more' if len(gaps) > 8 else ''}. The"
                " run's command with --resume runs the missing trials."
            ),
            "provenance",
        )


def _ended(records):
    """Yields a sentence about the trials that ended without an answer."""
    broken = records[records["status"].isin(BROKEN) & records["unexpected"]]
    if not len(broken):
        but = " but as the plan expects" if records["status"].isin(BROKEN).any() else ""
        yield f"No trial crashed, timed out, ran out of memory or ended with an error{but}.", ""
        return
    where = broken.groupby(["problem", "method", "status"]).size().sort_values(ascending=False, kind="stable")
    shown = [f"{problem}/{method} {status} ({count})" for (problem, method, status), count in where.items()]
    yield f"{counted(len(broken), 'trial')} did not finish: {_first(shown, 5)}.", "failures-unfinished"


def _not_accepted(records):
    """Yields sentences about wrong answers, unexpected passes, expected failures, doubtful times and lost digits."""
    wrong = records[records["status"].isin(WRONG) & records["unexpected"]]
    if len(wrong):
        yield f"{counted(len(wrong), 'answer')} did not pass: {_on_matrices(wrong)}.", "failures-wrong"
    passed = records[(records["status"] == "pass") & records["unexpected"]]
    if len(passed):
        many = counted(len(passed), "answer")
        yield f"{many} passed although the plan expects otherwise: {_on_matrices(passed)}.", "failures-passed"
    findings = records[records["finding"]]
    if len(findings):
        many, is_wrong = counted(len(findings), "expected failure"), findings["status"].isin(WRONG).any()
        yield f"{many}: {_on_matrices(findings)}.", "failures-wrong" if is_wrong else "failures-unfinished"
    fast = records[records["status"].isin(["pass", "suspect"]) & (records["timing"] == "suspect")]
    if len(fast):
        count = fast.groupby(["problem", "method"]).size()
        shown = _first([f"{problem}/{method} ({found})" for (problem, method), found in count.items()], 6)
        yield f"Doubtful times, faster than the device's peaks allow: {shown}.", "failures-doubted"
    blind = records[is_without_digit(records)]
    if len(blind):
        have = "passed answer has" if len(blind) == 1 else "passed answers have"
        yield f"{len(blind)} {have} no correct digit (ill-conditioned matrix): {_by_matrix(blind)}.", "failures-doubted"


def _on_matrices(records):
    words = []
    for (problem, method), rows in records.groupby(["problem", "method"]):
        configs = named(rows["configs"])
        names = _first(sorted(set(rows["matrix_name"])), 4)
        words.append(f"{problem}/{method} on {names}{f' ({configs})' if configs else ''}")
    return _first(words, 6, "; ")


def _by_matrix(records):
    count = records.groupby(["problem", "matrix_name"]).size()
    return _first([f"{problem} on {name} ({found})" for (problem, name), found in count.items()], 4)


def _gpus(records):
    devices, rows = devices_by_age(records)
    for first, second in zip(devices, devices[1:]):
        both = pairs(rows, first, second)
        if len(both):
            low, middle, high = (factor(float(v)) for v in both["ratio"].quantile([0, 0.5, 1]))
            yield (
                f"{second} over {first}: median speedup {middle} over {counted(len(both), 'trial')} in common"
                f" ({low} to {high})."
            ), "architectures"


def _published(night):
    """Yields a sentence per device: how many measured times are faster than published ones, and by how much."""
    found = {}
    for experiment in run_of(night):
        for drawing in experiment["draw"]:
            if drawing["kind"] == "published" and "rate" not in drawing:
                rows = matching(night, experiment)
                for device in heads(rows) if rows is not None else []:
                    table = beside(drawing, rows, device)
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
    """Returns the words for a device and its CPU. Times of emulated kernels are not compared, so only the CPU
    remains."""
    return "the CPU" if device == "CPU" or device.startswith(EMULATED) else f"{device} and its CPU"


def _doubts(night):
    """Yields sentences about reasons to doubt times."""
    records = night.take("backend device sm_clock_mhz host gpu_uuid commit samples cpu_demand")
    slow = night.samples["throttled"] != 0
    if slow.any():
        yield f"Taken under throttling: {slow.sum()} of {counted(len(slow), 'sample')}.", "provenance-clocks"
    on_cpu = records[(records["backend"] != "cuda") & (records["samples"] > 0)]
    busy = on_cpu["cpu_demand"][on_cpu["cpu_demand"] > MOST_DEMAND]
    if len(busy) and len(busy) >= LEAST_BUSY * len(on_cpu):
        yield (
            f"Other programs used the CPUs during {len(busy)} of {counted(len(on_cpu), 'trial')} on the CPU"
            f" ({busy.min():.1f} to {busy.max():.1f} threads per CPU wanted to run): their times may be too long."
        ), "provenance"
    for name, group in night.peaks[night.peaks["capability"] > 0].groupby("gpu_name"):
        apart = [
            f"{what} {span(low, high, unit)}"
            for column, what, unit in (
                ("copy_bytes_per_second", "copy", "B/s"),
                ("gemm_flops_float", "GEMM float", "FLOP/s"),
                ("gemm_flops_double", "GEMM double", "FLOP/s"),
            )
            for low, high in [(group[column].min(), group[column].max())]
            if high > low * (1 + PEAKS_APART)
        ]
        if apart:
            yield (
                f"The peaks measured on {name} differ from run to run ({'; '.join(apart)}): the clocks differ, or"
                " another program used the machine. Times and fractions of the slower runs are doubtful."
            ), "provenance-machines"
    clocks = records[(records["backend"] == "cuda") & records["sm_clock_mhz"].gt(0)]
    for device, group in clocks.groupby("device"):
        typical = group.groupby(["host", "gpu_uuid"])["sm_clock_mhz"].median()
        if typical.max() > typical.min() * (1 + CLOCKS_APART):
            yield (
                f"{device} ran at {number(typical.min())} MHz on one machine and at {number(typical.max())} MHz on"
                " another (median clocks): their times are not comparable."
            ), "provenance-clocks"
    cpus = sorted({c for c in night.hosts["cpu"] if c})
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
    # A merged file lists the values of its parts.
    if any({"true", "1", "True"} & set(attributes.get("dirty", "").split(", ")) for _, attributes, _ in night.files):
        yield "Some trials were measured by a program with uncommitted changes.", "provenance"


def _first(shown, most, between=", "):
    """Joins the first `most` texts, and counts the others: "a, b and 3 more"."""
    return between.join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def leaders(rows):
    """Returns one race (all methods on one task) per (problem, precision), over all devices: the largest size with at
    least half as many competitors as the race with most. `rows`: the accepted answers of all races, as
    `overview.winners` returns them."""
    race = ["problem", "precision", "task", "size"]
    rows = rows[
        (rows["matrix_kind"] != "identity")
        | ~rows["problem"].isin(rows.loc[rows["matrix_kind"] != "identity", "problem"])
    ]
    entrants = rows[rows["place"] == 1]
    entrants = entrants.assign(spread=entrants.groupby(["problem", "precision", "task"])["size"].transform("nunique"))
    most = entrants.groupby(["problem", "precision"])["of"].transform("max")
    full = entrants[(entrants["of"] * 2 >= most) & ((entrants["of"] > 1) | (most == 1))]
    order = ["size", "of", "spread", "seconds_median"]
    full = full.sort_values(order, ascending=[False, False, False, True], kind="stable")
    chosen = full.drop_duplicates(["problem", "precision"]).sort_values(["problem", "precision"], kind="stable")
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
        also=("config", "seconds_q1", "seconds_q3"),
    )
