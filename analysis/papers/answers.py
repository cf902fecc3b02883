"""Checks the claims of the papers (docs/papers.md) against our records. published/claims.csv has the claims;
claims.json has, per claim, a rule that measures it. MEASURES has one function per kind of rule, with the parameters
(results, rows, rule): all loaded data, the records of one device, and the rule. A figure is a number here. A function
returns (our figure, description of the trials behind it), or None if the records have no such figure."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ..fits import reciprocal
from ..captions import EMULATED, range_text
from ..frames import answered, best, on_main_matrix, speedups, stage_rows
from ..loader import parameter
from ..page import factor, number, whole
from ..words import counted
from .common import panel_devices, panel_rows, pick, table_of
from .experiments import experiments, of_plans

RULES = Path(__file__).parent.parent / "claims.json"
# A claim of "about" holds within this fraction of the published figure. Claims of "at least" and "below" have no
# tolerance by default.
WITHIN = 0.25


def rules():
    """Returns the rules by the ids of their claims."""
    return json.loads(RULES.read_text(encoding="utf-8"))


def _chosen(rows, rule, where):
    """Returns the answered records that fit `where` and have the rule's precision."""
    rows = answered(pick(rows, where))
    return rows[rows["precision"] == rule["precision"]] if "precision" in rule else rows


def _two(rows, rule):
    """Returns the records of the rule's methods `slow` and `fast`, indexed by their common sizes: the best
    configurations on one matrix and one triangle. The matrix is the one with most common sizes; ties go to the one with
    most passed answers, and identity matrices come last."""
    slow, fast = (_chosen(rows, rule, rule[name]) for name in ("slow", "fast"))
    key = ["matrix", "size", "uplo"]
    slow, fast = (
        best(part.assign(matrix=part["matrix_full"] + ", seed " + part["matrix_seed"].astype(str)), key).set_index(key)
        for part in (slow, fast)
    )
    both = slow.index.intersection(fast.index).sort_values()
    if not len(both):
        return slow.iloc[:0], fast.iloc[:0]
    pairs = pd.DataFrame({"kind": slow.loc[both, "matrix_kind"], "passed": 0}).reset_index()
    pairs["passed"] = sum((part.loc[both, "status"] == "pass").to_numpy().astype(int) for part in (slow, fast))
    of_matrix = pairs.groupby("matrix").agg(kind=("kind", "first"), sizes=("size", "nunique"), passed=("passed", "sum"))
    of_matrix["kind"] = of_matrix["kind"] != "identity"
    matrix = max(of_matrix.index, key=lambda m: tuple(of_matrix.loc[m]))
    both = both[both.get_level_values("matrix") == matrix]
    both = both[~both.get_level_values("size").duplicated()]  # keeps the lower triangle, the default, which sorts first
    return tuple(part.loc[both].droplevel(["matrix", "uplo"]) for part in (slow, fast))


def ratio(results, rows, rule):
    """Returns the time of the rule's `slow` method over that of its `fast` one. The rule's `at` selects the ratio at
    the largest common size, or its median, maximum or minimum over all sizes. It may also select the growth of the
    ratio from the smallest size to the largest. With `time: transfer` the numerator is the time of allocation and
    copies."""
    slow, fast = _two(rows, rule)
    if rule.get("time") == "transfer":
        over = (
            slow[["allocate_seconds", "h2d_seconds", "d2h_seconds"]].sum(axis=1, min_count=3) / fast["seconds_median"]
        )
    else:
        over = slow["seconds_median"] / fast["seconds_median"]
    over = over[(over.index > rule.get("above", 0)) & over.notna()] * rule.get("scale", 1)
    if not len(over):
        return None
    at = rule.get("at", "largest")
    if at == "growth":
        return (
            (
                over.iloc[-1] / over.iloc[0],
                f"{factor(over.iloc[0])} at n = {over.index[0]}, {factor(over.iloc[-1])} at {over.index[-1]}",
            )
            if len(over) > 1
            else None
        )
    if at == "largest":
        return over.iloc[-1], f"n = {over.index[-1]}"
    value = {"median": over.median(), "max": over.max(), "min": over.min()}[at]
    return (
        value,
        f"{ {'median': 'median', 'max': 'maximum', 'min': 'minimum'}[at]} of {counted(len(over), 'size')}, n ="
        f" {range_text(over.index)}",
    )


def power(results, rows, rule):
    """Returns the slope of ln(time) over ln(n), for sizes from a quarter of the largest one."""
    rows = best(on_main_matrix(_chosen(rows, rule, rule["where"])), ["size"]).sort_values("size")
    rows = rows[rows["size"] >= rows["size"].max() / 4]
    if len(rows) < 3:
        return None
    slope = np.polyfit(np.log(rows["size"].to_numpy(float)), np.log(rows["seconds_median"].to_numpy(float)), 1)[0]
    return slope, f"n = {rows['size'].iloc[0]} to {rows['size'].iloc[-1]}"


def over_parameter(results, rows, rule):
    """Returns the largest speedup of any value of a parameter over the parameter's smallest value."""
    rows = _chosen(rows, rule, rule["where"])
    values = pd.to_numeric(parameter(rows, rule["parameter"]), errors="coerce")
    found = speedups(rows, rule["parameter"], values.where(values > 0))
    if not len(found):
        return None
    most = found.loc[found["speedup"].idxmax()]
    return most["speedup"], f"{whole(most['value'])} {rule['parameter']} over {whole(most['base'])}, n = {most['size']}"


def reciprocal_fit(results, rows, rule):
    """Returns R² of the fit t = K + c / blocks, at the size that was measured with most numbers of blocks."""
    rows = _chosen(rows, rule, rule["where"])
    rows = on_main_matrix(rows.assign(blocks=pd.to_numeric(parameter(rows, "blocks"), errors="coerce"))).dropna(
        subset=["blocks"]
    )
    if not len(rows):
        return None
    extent = rows.groupby("size")["blocks"].nunique()
    size = extent[extent == extent.max()].index.max()
    rows = best(rows[rows["size"] == size], ["blocks"])
    fit = reciprocal(rows["blocks"], rows["seconds_median"])
    return (
        (fit.r_squared, f"n = {size}, {len(rows)} numbers of blocks, K = {number(fit.coefficients['K'])} s")
        if fit
        else None
    )


def _stages(results, rows, rule, where):
    """Returns the stages of the fastest trial at the largest size that has stages."""
    details = stage_rows(results, _chosen(rows, rule, where).index)
    if not len(details):
        return details
    details = details[details["size"] == details["size"].max()]
    return details[details["trial"] == details.sort_values("seconds_median", kind="stable")["trial"].iloc[0]]


def _means(stages, kernel):
    """Returns the mean seconds per call of the stages whose names begin with `kernel`; a method may number the stages
    of one kernel: gets_1, gets_2, …"""
    some = stages[stages["kernel"].str.startswith(kernel)]
    return some["seconds"].sum() / some["calls"].sum() if len(some) and some["calls"].sum() > 0 else np.nan


def share(results, rows, rule):
    """Returns the percentage of a method's time that the rule's stage takes."""
    stages = _stages(results, rows, rule, rule["where"])
    chosen = stages[stages["kernel"].str.startswith(rule["stage"])] if len(stages) else stages
    return (
        (100 * chosen["seconds"].sum() / stages["seconds"].sum(), f"n = {chosen['size'].iloc[0]}")
        if len(chosen)
        else None
    )


def stages(results, rows, rule):
    """Returns one stage's time per call over another's, in one trial."""
    found = _stages(results, rows, rule, rule["where"])
    over = _means(found, rule["slow"]) / _means(found, rule["fast"]) if len(found) else np.nan
    return (over, f"n = {found['size'].iloc[0]}") if np.isfinite(over) else None


def kernels(results, rows, rule):
    """Returns the time per call of one method's stage over that of another method's stage, at the largest size at which
    both have stages."""
    wheres = [{k: v for k, v in rule[name].items() if k != "stage"} for name in ("slow", "fast")]
    common = set.intersection(*(set(pick(rows, where)["size"]) for where in wheres))
    for size in sorted(common, reverse=True):
        slow, fast = (_stages(results, rows[rows["size"] == size], rule, where) for where in wheres)
        if len(slow) and len(fast):
            over = _means(slow, rule["slow"]["stage"]) / _means(fast, rule["fast"]["stage"])
            return (over, f"n = {size}") if np.isfinite(over) else None
    return None


def occupancy(results, rows, rule):
    """Returns the mean occupancy of a stage over its calls."""
    found = _stages(results, rows, rule, rule["where"])
    chosen = found[found["kernel"].str.startswith(rule["stage"]) & found["occupancy"].notna()] if len(found) else found
    return (
        (
            np.average(chosen["occupancy"], weights=chosen["calls"]),
            f"n = {chosen['size'].iloc[0]}; allowed by the launches",
        )
        if len(chosen)
        else None
    )


def column(results, rows, rule):
    """Returns the largest value of a column of the records, divided by the column `over` if the rule names one. With
    the rule's `all_answers`, an answer without a value (NaN or Inf) counts as infinite."""
    if rule["column"] not in rows:
        return None
    rows = _chosen(rows, rule, rule["where"])
    values = rows[rule["column"]] / (rows[rule["over"]] if "over" in rule else 1)
    values = (
        values.mask(values.isna() & np.isinf(rows["residual_ratio"]), np.inf) if "all_answers" in rule else values
    ).dropna()
    if not len(values):
        return None
    worst = values.idxmax()
    size = rows.loc[worst, "size"]
    return values[worst] * rule.get("scale", 1), f"maximum of {len(values)} trials, n = {size}"


def passed(results, rows, rule):
    """Returns the percentage of verified trials that passed."""
    rows = pick(rows, rule["where"])
    rows = rows[rows["status"].isin(["pass", "suspect", "failed", "diverged"])]
    return (
        (100 * (rows["status"] == "pass").mean(), f"{int((rows['status'] == 'pass').sum())} of {len(rows)} trials")
        if len(rows)
        else None
    )


def errors(results, rows, rule):
    """Returns the median ratio of two methods' backward errors on the same systems."""
    same = ["precision", "matrix_digest", "size", "nrhs"]
    rows = answered(rows)
    rows = rows[rows["backward_error"] > 0]
    first, second = (
        pick(rows, rule[k]).sort_values("backward_error").drop_duplicates(same) for k in ("first", "second")
    )
    both = first.merge(second, on=same, suffixes=("", "_2"))
    return (
        ((both["backward_error"] / both["backward_error_2"]).median(), f"median of {len(both)} systems")
        if len(both)
        else None
    )


def value(results, rows, rule):
    """Returns the figure that the rule itself states, independent of the records."""
    return rule["value"], rule["words"]


MEASURES = {
    **{m.__name__: m for m in (ratio, power, share, stages, kernels, occupancy, column, passed, errors, value)},
    **{"parameter": over_parameter, "reciprocal": reciprocal_fit},
}

# Kinds of rules whose figures are computed from times.
TIMED = {"ratio", "power", "parameter", "reciprocal", "share", "stages", "kernels", "occupancy"}


def holds(claim, rule, found):
    """Returns whether our figure confirms the claim. All tolerances are fractions of the published figure. `within`:
    the tolerance of "about", or the accepted shortfall of "at least"; `beyond`: the excess that "at least" requires."""
    low, high = claim.low, claim.high
    if claim.relation == "about":
        width = rule.get("within", WITHIN)
        return low * (1 - width) <= found <= high * (1 + width)
    if claim.relation == "at least":
        return found >= low * (1 - rule.get("within", 0) + rule.get("beyond", 0))
    return found > low if claim.relation == "more than" else found < high


def _published(claim):
    if pd.isna(claim.low):
        return "–"
    figures = (
        f"{claim.low:g}" if claim.relation != "about" or claim.low == claim.high else f"{claim.low:g} to {claim.high:g}"
    )
    return f"{claim.relation} {figures}" + ("" if claim.unit == "1" else f" {claim.unit}")


def _of_times(device, rule):
    """Returns the device that a figure describes. Among the records of an emulated device only CPU methods are used for
    times, so that a figure of times is the CPU's."""
    return "CPU" if rule["kind"] in TIMED and device.startswith(EMULATED) else device


def _figure(rule, results, rows, is_own):
    """Returns the figure of a claim: from the records of its own plans (mask `is_own`), or else from all records."""
    found = MEASURES[rule["kind"]](results, rows[is_own], rule) if is_own.any() and not is_own.all() else None
    return found if found is not None else MEASURES[rule["kind"]](results, rows, rule)


def answers(results):
    """Returns a frame with one row per claim and device: the claim, our figure and the verdict in words."""
    records, all_rules, answer_rows = results.records, rules(), []
    experiment_of = {experiment["id"]: experiment for experiment in experiments()}
    # The records are split by device once, not for each claim, because splitting copies all columns.
    of_device = {device: panel_rows(records, device) for device in panel_devices(records)}
    timed_rows_of = {device: rows[rows["backend"] != "emulated"] for device, rows in of_device.items()}
    for claim in table_of("claims.csv").itertuples():
        rule = all_rules[claim.id]
        published = _published(claim)
        row = dict(
            source=claim.source, line=claim.line, claim=claim.quantity, published=published, experiment=claim.experiment
        )
        if rule["kind"] == "none":
            answer_rows.append(dict(row, ours=np.nan, of="", device="", verdict=f"not measurable here: {rule['why']}"))
            continue
        # Times of emulated kernels do not apply to a GPU, so rules of times do not use them.
        rows_of = timed_rows_of if rule["kind"] in TIMED else of_device
        own_plans = [p for p in records["plan_name"].unique() if of_plans(experiment_of[claim.experiment], p)]
        found = [
            (_of_times(device, rule), _figure(rule, results, rows, rows["plan_name"].isin(own_plans)))
            for device, rows in rows_of.items()
        ]
        found = [(device, figure) for device, figure in found if figure is not None and np.isfinite(figure[0])]
        for device, (ours, of) in found:
            answer_rows.append(
                dict(
                    row,
                    ours=float(ours),
                    of=of,
                    device=device,
                    verdict="confirmed" if holds(claim, rule, ours) else "contradicted",
                )
            )
        if not found:
            no_gpu = rule["kind"] in TIMED and not (records["backend"] == "cuda").any()
            answer_rows.append(
                dict(
                    row,
                    ours=np.nan,
                    of="",
                    device="",
                    verdict="not measurable here: these records lack its methods, or their times on a GPU"
                    if no_gpu
                    else "not in these records",
                )
            )
    return pd.DataFrame(answer_rows)


def claimed(page, results):
    """Adds the table of all claims, and the number of claims per verdict."""
    table = answers(results)
    counts = table["verdict"].str.split(":").str[0].value_counts()
    page.heading("What the texts claim, and what these records measured", "claims")
    page.add(
        f"{table[['claim', 'line']].drop_duplicates().shape[0]} claims: "
        + ", ".join(
            f"{counts[name]} {name}"
            for name in ("confirmed", "contradicted", "not measurable here", "not in these records")
            if name in counts
        )
        + f" (one row per claim and device). A claim of about a figure holds within {WITHIN:.0%} of it; claims of"
        " profiles have a smaller tolerance."
    )
    page.table(
        "claims",
        table,
        [
            ("source", "claimed in", None),
            ("line", "text:line", None),
            "claim published",
            ("ours", "ours", number),
            ("of", "taken from", None),
            "device verdict",
        ],
        limit=200,
    )
