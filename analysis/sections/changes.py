"""Compares the last run of each plan with its earlier runs. Shows the trials that changed, the run since which they are
different, and the trend of the fastest trials. A night is one run of a plan, as in `gaussweep trend`."""

import numpy as np
import pandas as pd

from ..comparison import CannotCompare, advice_of, differences_of, disturbed_of, regressions_of, trend_of, verdicts_of
from ..captions import matrices
from ..frames import best, slug
from ..loader import STATUSES, TRIAL
from ..page import counted, factor, seconds
from ..plots import Plot, Series

# The columns in which the runs of one trial in a trend agree. Times with different numbers of threads are no trend.
SAME_TRIAL = [*TRIAL, "threads"]
COLUMNS = [
    *TRIAL,
    *"key gpu_name pooled problem method precision config task size device status seconds_median".split(),
]
LEAST_RUNS = 3  # fewest runs of a plan that make a trend
MOST_CHANGES = 3  # changes on the first screen
OTHER_THREADS = (
    "Methods of the CPU ran with different numbers of threads. Their times are compared only between runs with the same"
    " number."
)
MOST_PLANS = 4  # plans that the first screen names
MOST_DRAWN = 12  # trials that changed and get a plot
MOST_REGRESSIONS = 5  # regressions that the first screen names
VERDICTS = ["SAME", "FASTER", "SLOWER", "UNCLEAR", "HOST-BOUND", "UNTIMED"]  # of `gaussweep compare`
LISTED = ["WORSE", "SLOWER", "passes now", "FASTER"]  # the table of changes has only these, in this order


def changes(results):
    """Returns one row per trial that also ran before, with its status and median before and now. `change` is the
    verdict of `gaussweep compare` on all earlier runs. If times cannot be compared, the numbers before are those of the
    last earlier run."""
    if results.earlier is None:
        return pd.DataFrame()
    compared = ["status", "seconds_median"]
    before = results.earlier.loc[results.earlier["runs_ago"] == 1, [*TRIAL, *compared]]
    both = results.take(COLUMNS).merge(before, on=TRIAL, suffixes=("", "_before"))
    try:
        verdict_of = verdicts_of(results)
    except CannotCompare:  # reported on the first screen
        verdict_of = {}
    keys = (
        (key, backend, gpu if backend == "cuda" else None)
        for key, backend, gpu in both[["key", "backend", "gpu_name"]].itertuples(index=False)
    )
    both["comparison"] = pd.Series([verdict_of.get(key) for key in keys], index=both.index, dtype=object)
    both = _trials(both)
    both["ratio"] = both["seconds_median"] / both["seconds_median_before"]
    both["change"], both["reason"] = "", ""
    rank = {status: i for i, status in enumerate(STATUSES)}  # a larger number is a worse status
    for row in both.itertuples():
        now, then = rank.get(row.status, 0), rank.get(row.status_before, 0)
        is_worse = now > then and row.status != "skipped"
        if (found := row.comparison) is not None:
            is_worse = found["worse"]
            both.loc[row.Index, ["change", "reason"]] = found["verdict"], found["reason"]
            both.loc[row.Index, "seconds_median_before"] = found["base_median"]
            both.loc[row.Index, "ratio"] = 1 / found["speedup"] if found["speedup"] else float("nan")
        if is_worse:
            both.loc[row.Index, "change"] = "WORSE"
        elif now < then and row.status == "pass" and both.loc[row.Index, "change"] != "SLOWER":
            both.loc[row.Index, "change"] = "passes now"
    return both.drop(columns="comparison")


def _trials(records):
    """Returns one row per trial. Rounds of a trial are separate records, of which `gaussweep compare` names only one.
    The row has the worst statuses of the rounds, as those of compare. The rounds' times are equal (see
    `rounds.pool_rounds`)."""
    severity = {status: i for i, status in enumerate(STATUSES) if status != "skipped"}
    worst = {}
    for name in ("status", "status_before"):
        order = records[name].map(severity).fillna(-1).sort_values(kind="stable").index
        worst[name] = records.loc[order].groupby(["pooled", "plan_name"])[name].transform("last")
    times = records.groupby(["pooled", "plan_name"])[["seconds_median", "seconds_median_before"]].transform("max")
    records = records.assign(**worst, **times)
    # The round that compare names comes first, so that drop_duplicates keeps it.
    named_first = records["comparison"].isna().sort_values(kind="stable").index
    return records.loc[named_first].drop_duplicates(["pooled", "plan_name"]).sort_index()


def _base_words(results, rows):
    """Returns words for the runs that the last runs are compared with: "the 3 earlier runs of the same plan", or
    "the 4 earlier runs of 2 plans (3 of nightly, 1 of weekly)". `rows`: the result of `changes`."""
    runs = results.earlier[results.earlier["plan_name"].isin(rows["plan_name"])]
    runs = runs.groupby("plan_name")["runs_ago"].max().astype(int)  # per plan
    since = (
        f"the {runs.sum()} earlier runs" if (runs > 1).any() else "the last run" if len(runs) == 1 else "the last runs"
    )
    columns = ["plan_name", "file", "same_trial"]
    plans = pd.concat([results.take(columns), results.earlier[columns]]).drop_duplicates()
    plans = plans[plans["same_trial"].isin(rows["same_trial"])]  # a run without compared trials may have another text
    plans["text"] = [results.files[file][1].get("plan", "") for file in plans["file"]]
    versions = plans.groupby("plan_name")["text"].nunique()
    changed = [name for name in runs.index if versions[name] > 1]
    differences = _listed(differences_of(results), "; ")
    if len(runs) == 1:
        plan = "the plan, whose text changed" if changed else "the same plan"
        return f"{since} of {plan}{f' ({differences})' if differences else ''}"
    of_plans = [f"{count} of {name}" for name, count in runs.items()] if (runs > 1).any() else []
    details = [", ".join(of_plans)] if len(runs) <= MOST_PLANS else []
    details += [f"the text of {_listed(changed)} changed"] if changed else []
    details = "; ".join(filter(None, [*details, differences]))
    return f"{since} of {len(runs)} plans{f' ({details})' if details else ''}"


def _listed(names, separator=", "):
    """Returns "a, b and 3 more"."""
    more = len(names) - MOST_PLANS
    return separator.join(names[:MOST_PLANS]) + (f" and {more} more" if more > 0 else "")


def sentences(results):
    """Yields (sentence, section) for the first screen."""
    rows = changes(results)
    if not len(rows):
        return
    yield f"Since {_base_words(results, rows)}: {_counts(results, rows)}", "changes"
    for sentence in advice_of(results)[:1]:
        yield sentence, "changes"
    try:
        trend_sentences = trend_of(results)["changes"]
    except CannotCompare:  # reported above
        return
    if trend_of(results).get("other_threads"):
        yield OTHER_THREADS, ""
    for sentence in trend_sentences[:MOST_CHANGES]:
        yield f"{sentence}.", "since"
    if len(trend_sentences) > MOST_CHANGES:
        more = counted(len(trend_sentences) - MOST_CHANGES, "more trial")
        yield f"{more} changed (gaussweep trend names them).", "since"


def since(page, results):
    """Adds the changes that `gaussweep trend` finds, with a plot of each changed trial's times over the nights."""
    if results.earlier is None:
        return
    try:
        found = trend_of(results)
    except CannotCompare:  # reported on the first screen
        return
    changed = [series for series in found["series"] if series["steps"] or "drift" in series]
    if not changed:
        return
    days = [night["name"] for night in found["nights"]]
    page.begin("since", "Since when")
    page.items([(f"{sentence}.", "") for sentence in found["changes"][:30]])
    largest = {
        id(s): max(abs(np.log(step["ratio"])) for step in [*s["steps"], s.get("drift")] if step) for s in changed
    }
    changed.sort(key=lambda series: -largest[id(series)])
    page.plots([_over_nights(series, days) for series in changed[:MOST_DRAWN]])
    if len(changed) > MOST_DRAWN:
        page.add(f"{counted(len(changed) - MOST_DRAWN, 'more trial')} changed; those that changed most are drawn.")


def _over_nights(series, days):
    """Returns the plot of a trial's times over the nights. Its line shows the median level before and after each step,
    or the slow drift. `series`: a trial in the JSON of `gaussweep trend`; `days`: the name of each night."""
    nights, times = np.asarray(series["nights"]), np.asarray(series["seconds"], dtype=float)
    starts = [0, *(int(np.flatnonzero(nights == step["night"])[0]) for step in series["steps"]), len(nights)]
    # Per night: the median time of all nights between the two steps around it.
    levels = np.concatenate([np.full(e - b, np.median(times[b:e])) for b, e in zip(starts, starts[1:])])
    step_words = [""] * len(nights)
    for step in series["steps"]:
        step_words[
            int(np.flatnonzero(nights == step["night"])[0])
        ] = f"{100 * (step['ratio'] - 1):+.1f} % since this night"
    if "drift" in series:
        levels = np.exp(np.polyval(np.polyfit(nights, np.log(times), 1), nights))
    # A step function: the level of a night lasts until the next night.
    x, y = np.repeat(nights, 2)[1:].astype(float), np.repeat(levels, 2)[:-1]
    name = f"{series['problem']}/{series['method']} {series['precision']} n = {series['n']}"
    by = "GPU alone" if series["clock"] == "GPU" else "run"
    return Plot(
        slug("since", series["problem"], series["method"], series["key"][:12], series["place"]),
        f"{name}, {series['place']}",
        "night",
        f"median time ({by})",
        [
            Series(f"{series['method']}, a night each", nights.astype(float), times, line=False, hover=step_words),
            Series("before and after" if series["steps"] else "slow drift", x, y, marker=False, plain=True),
        ],
        xlog=False,
        seconds=True,
        names=days,
    )


def _kind(trial):
    """Returns the word that counts a trial: its verdict, or "failed" if it failed in both runs and has no verdict."""
    failed_in_both = not {trial["base_status"], trial["new_status"]} & {"pass", "suspect", "skipped"}
    return "failed" if failed_in_both and trial["verdict"] == "UNTIMED" else trial["verdict"]


def _counts(results, rows):
    """Returns sentences with the number of trials per verdict, and with the regressions that `gaussweep compare`
    found."""
    try:
        verdict_of, regressions = verdicts_of(results), regressions_of(results)
    except CannotCompare as why:
        worse = int((rows["change"] == "WORSE").sum())
        return f"{counted(len(rows), 'trial')} in both, {worse} WORSE. Times were not compared: {why}."
    count = pd.Series([_kind(comparison) for comparison in verdict_of.values()]).value_counts()
    names = {
        "WORSE": "WORSE (no right answer now)",
        "REPAIRED": "repaired",
        "UNTIMED": "without comparable times",
        "failed": "failed in both (not rated)",
    }
    undecided = ["WORSE", "REPAIRED", "UNCLEAR", "UNTIMED", "failed"]
    words = ", ".join(f"{count[v]} {names.get(v, v)}" for v in dict.fromkeys([*VERDICTS, *undecided]) if v in count)
    first_ones = "; ".join(regressions[:MOST_REGRESSIONS])
    more = len(regressions) - MOST_REGRESSIONS
    decided_count = int(count.drop(undecided, errors="ignore").sum())
    none = f"No regression among {counted(decided_count, 'decided trial')}" if decided_count else "No trial was decided"
    summary = f"{counted(len(regressions), 'regression')}: {first_ones}" if regressions else none
    summary += f"; and {more} more" if more > 0 else ""
    if disturbed := disturbed_of(results):
        summary += f". Other programs used the CPUs during {disturbed} of these trials: measure again"
    return f"{counted(len(verdict_of), 'trial')} in both: {words}. {summary}."


def table(page, results):
    """Adds the table of trials that changed, the worst first."""
    rows = changes(results)
    rows = rows[rows["change"].isin(LISTED)] if len(rows) else rows
    if not len(rows):
        return
    rows = rows.assign(order_=rows["change"].map(LISTED.index), far_=-(rows["ratio"] - 1).abs())
    rows = rows.sort_values(["order_", "far_"], kind="stable").drop(columns=["order_", "far_"])
    try:
        verdicts_of(results)
        base = "all earlier runs. Status before (was): that of the last of them."
    except CannotCompare:
        base = "the last earlier run. Times were not compared."
    page.begin("changes", "Against earlier runs")
    page.table(
        "changes",
        rows,
        [
            "change reason problem method precision config task size device",
            ("status_before", "was", None),
            ("status", "is", None),
            ("seconds_median_before", "median before", seconds),
            ("seconds_median", "now", seconds),
            ("ratio", "now / before", factor),
        ],
        limit=30,
        caption=f"Trials whose status changed, or that gaussweep compare calls SLOWER or FASTER, against {base}",
        more_csv_columns=(),
    )


def _unit(span):
    """Returns (name, length in seconds) of the largest unit that fits into `span`, in seconds, at least twice; minutes
    if none does."""
    return next(
        (u, s) for u, s in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)) if span >= 2 * s or s == 60
    )


def followed(results, least=LEAST_RUNS):
    """Returns the times over all runs of the fastest trial of each problem, precision and device at its largest size. A
    trial has one row per run in which it passed with the threads of the last run; `at` is the run's start. Trials with
    fewer than `least` rows are left out. `attrs["left_out"]`: the number of times that were left out because the run
    had another number of threads."""
    race = ["problem", "precision", "device"]
    shown = [*SAME_TRIAL, "run_start", "seconds_median"]
    if results.earlier is None:
        return pd.DataFrame(columns=[*shown, *race, "method", "size", "at"])
    before = results.earlier.loc[results.earlier["status"] == "pass", shown]
    repeated = before.groupby(SAME_TRIAL).size()
    repeated = repeated[repeated >= least - 1].reset_index()[SAME_TRIAL]
    columns = [*shown, *race, "method", "size", "matrix_full", "matrix_seed", "operands", "uplo"]
    last = results.take_answered([*columns, "status"]).merge(repeated, on=SAME_TRIAL)
    last = last[(last["status"] == "pass") & (last["size"] == last.groupby(race)["size"].transform("max"))]
    fastest = best(last, race)[columns]
    times = fastest.drop(columns=["run_start", "seconds_median"]).merge(before, on=SAME_TRIAL)
    left_out = len(fastest[TRIAL].merge(before[TRIAL], on=TRIAL)) - len(times)
    times = pd.concat([times, fastest])
    times = times[times["seconds_median"] > 0].assign(at=pd.to_datetime(times["run_start"], errors="coerce", utc=True))
    times = times.dropna(subset=["at"]).sort_values("at", kind="stable")
    times.attrs["left_out"] = left_out
    return times


def left_out_words(times):
    """Returns a sentence about the times that `followed` left out; an empty text if there are none. `times`: its
    result."""
    count = times.attrs.get("left_out", 0)
    return f"Left out: {counted(count, 'time')} with another number of threads, which do not compare." if count else ""


def too_few_words(results):
    """Returns a sentence that explains why there is no trend."""
    words = "No trial passed in three runs of its plan"
    if results.earlier is None:
        return f"{words}."
    now, before = (sorted(set(rows["threads"]) - {0}) for rows in (results.take("threads"), results.earlier))
    others = [threads for threads in before if threads not in now]
    if not others:
        return f"{words}."
    named = [" or ".join(map(str, threads)) for threads in (now, others)]
    return f"{words} with the threads per rank of the last run ({named[0]}; earlier runs had {named[1]})."


def trend(page, results):
    """Plots the times that `followed` returns over the runs, if a plan ran LEAST_RUNS times or more."""
    times = followed(results)
    if not len(times):
        return
    figures = []
    for (problem, device), group in times.groupby(["problem", "device"]):
        begun = group["at"].min()
        unit, seconds_of_it = _unit((group["at"].max() - begun).total_seconds())
        series = [
            Series(
                f"{method}, {precision}, n = {size}",
                ((part["at"] - begun).dt.total_seconds() / seconds_of_it).to_numpy(),
                (part["seconds_median"] / part["seconds_median"].iloc[0]).to_numpy(),
            )
            for (method, precision, size), part in group.groupby(["method", "precision", "size"])
        ]
        figures.append(
            Plot(
                slug("trend", problem, device),
                f"From run to run: {problem}, {device}",
                f"{unit} since {begun:%Y-%m-%d %H:%M} UTC",
                "median time / the first run's",
                series,
                ylog=True,
                xlog=False,
                lines_at=[(1, "as the first")],
                basis=f"{matrices(group)} Each point: the median of one run, divided by the first run's.",
            )
        )
    page.begin("trend", "From run to run")
    page.add(
        "The fastest trial of each problem, precision and device at its largest size, in every run of its plan."
        " --problem and --method choose others. " + left_out_words(times)
    )
    page.plots(figures)
