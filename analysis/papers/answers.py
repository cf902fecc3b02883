"""The claims of the five texts, each confirmed, contradicted, or not measurable by these records. The claims are in
published/claims.csv; the rules that measure them are in claims.json. There is one function per kind of rule. It returns
our figure and a description of its source, or None if the records have no such figure."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ..fits import reciprocal
from ..frames import EMULATED, answered, best, one_kind, speedups, stage_rows
from ..loader import parameter
from ..page import factor, number, whole
from .common import heads, on, pick, table_of

RULES = Path(__file__).parent.parent / "claims.json"
# A claim of "about" holds within this fraction of the published figure. Claims of "at least" and "below" have no
# tolerance by default.
WITHIN = 0.25


def rules():
    return json.loads(RULES.read_text(encoding="utf-8"))


def _chosen(rows, rule, where):
    """Returns the answered records to which a rule applies."""
    rows = answered(pick(rows, where))
    return rows[rows["precision"] == rule["precision"]] if "precision" in rule else rows


def _two(rows, rule, slow="slow", fast="fast"):
    """Returns the times of two methods at their common sizes, on one kind of matrix and one triangle, in their best
    configurations."""
    slow = _chosen(rows, rule, rule[slow])
    fast = _chosen(rows, rule, rule[fast]) if len(slow) else slow
    if not len(fast):
        return fast, fast
    same = slow["matrix_kind"].isin(fast["matrix_kind"].unique())
    slow = slow[same] if same.any() else slow
    fast = fast[fast["matrix_kind"].isin(slow["matrix_kind"].unique())] if same.any() else fast
    same = ["size", "uplo"]
    slow, fast = (best(one_kind(part), same).set_index(same) for part in (slow, fast))
    both = slow.index.intersection(fast.index).sort_values()
    both = both[~both.get_level_values("size").duplicated()]  # keeps the lower triangle, the default, which sorts first
    return slow.loc[both].droplevel("uplo"), fast.loc[both].droplevel("uplo")


def ratio(night, rows, rule):
    """Returns one method's time over another's. The rule's `at` selects the ratio at the largest common size, the
    median, maximum or minimum over all sizes, or the ratio's growth from the smallest size to the largest."""
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
        (
            f"{ {'median': 'median', 'max': 'maximum', 'min': 'minimum'}[at]} of {len(over)} sizes, n ="
            f" {over.index[0]} to {over.index[-1]}"
        ),
    )


def power(night, rows, rule):
    """Returns the slope of ln(time) over ln(n), for sizes from a quarter of the largest one."""
    rows = best(one_kind(_chosen(rows, rule, rule["where"])), ["size"]).sort_values("size")
    rows = rows[rows["size"] >= rows["size"].max() / 4]
    if len(rows) < 3:
        return None
    slope = np.polyfit(np.log(rows["size"].to_numpy(float)), np.log(rows["seconds_median"].to_numpy(float)), 1)[0]
    return slope, f"n = {rows['size'].iloc[0]} to {rows['size'].iloc[-1]}"


def over_parameter(night, rows, rule):
    """Returns the largest speedup over a parameter's smallest value."""
    rows = _chosen(rows, rule, rule["where"])
    values = pd.to_numeric(parameter(rows, rule["parameter"]), errors="coerce")
    found = speedups(rows, rule["parameter"], values.where(values > 0))
    if not len(found):
        return None
    most = found.loc[found["speedup"].idxmax()]
    return most["speedup"], f"{whole(most['value'])} {rule['parameter']} over {whole(most['base'])}, n = {most['size']}"


def straight(night, rows, rule):
    """Returns R² of t = K + c / blocks at the size with most numbers of blocks."""
    rows = _chosen(rows, rule, rule["where"])
    rows = one_kind(rows.assign(blocks=pd.to_numeric(parameter(rows, "blocks"), errors="coerce"))).dropna(
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


def _stages(night, rows, rule, where):
    """Returns the stages of the fastest trial at the largest size."""
    details = stage_rows(night, _chosen(rows, rule, where).index)
    if not len(details):
        return details
    details = details[details["size"] == details["size"].max()]
    return details[details["trial"] == details.sort_values("seconds_median", kind="stable")["trial"].iloc[0]]


def _means(stages, kernel):
    """Returns the seconds per call of the stages whose names begin with `kernel` (gets_1, gets_2, … are one kernel)."""
    some = stages[stages["kernel"].str.startswith(kernel)]
    return some["seconds"].sum() / some["calls"].sum() if len(some) and some["calls"].sum() > 0 else np.nan


def share(night, rows, rule):
    stages = _stages(night, rows, rule, rule["where"])
    some = stages[stages["kernel"].str.startswith(rule["stage"])] if len(stages) else stages
    return (100 * some["seconds"].sum() / stages["seconds"].sum(), f"n = {some['size'].iloc[0]}") if len(some) else None


def stages(night, rows, rule):
    """Returns one stage's time per call over another's, in one trial."""
    found = _stages(night, rows, rule, rule["where"])
    over = _means(found, rule["slow"]) / _means(found, rule["fast"]) if len(found) else np.nan
    return (over, f"n = {found['size'].iloc[0]}") if np.isfinite(over) else None


def kernels(night, rows, rule):
    """Returns the time per call of one method's stage over that of another method's stage, at the largest size at which
    both have stages."""
    wheres = [{k: v for k, v in rule[name].items() if k != "stage"} for name in ("slow", "fast")]
    common = set.intersection(*(set(pick(rows, where)["size"]) for where in wheres))
    for size in sorted(common, reverse=True):
        slow, fast = (_stages(night, rows[rows["size"] == size], rule, where) for where in wheres)
        if len(slow) and len(fast):
            over = _means(slow, rule["slow"]["stage"]) / _means(fast, rule["fast"]["stage"])
            return (over, f"n = {size}") if np.isfinite(over) else None
    return None


def occupancy(night, rows, rule):
    found = _stages(night, rows, rule, rule["where"])
    some = found[found["kernel"].str.startswith(rule["stage"]) & found["occupancy"].notna()] if len(found) else found
    return (
        (np.average(some["occupancy"], weights=some["calls"]), f"n = {some['size'].iloc[0]}; allowed by the launches")
        if len(some)
        else None
    )


def column(night, rows, rule):
    """Returns the largest value of a column, or of its quotient by the column `over`."""
    if rule["column"] not in rows:
        return None
    rows = _chosen(rows, rule, rule["where"])
    values = (rows[rule["column"]] / (rows[rule["over"]] if "over" in rule else 1)).dropna()
    if not len(values):
        return None
    worst = values.idxmax()
    size = rows.loc[worst, "size"]
    return values[worst] * rule.get("scale", 1), f"maximum of {len(values)} trials, n = {size}"


def passed(night, rows, rule):
    rows = pick(rows, rule["where"])
    rows = rows[rows["status"].isin(["pass", "suspect", "failed", "diverged"])]
    return (
        (100 * (rows["status"] == "pass").mean(), f"{int((rows['status'] == 'pass').sum())} of {len(rows)} trials")
        if len(rows)
        else None
    )


def errors(night, rows, rule):
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


def value(night, rows, rule):
    return rule["value"], rule["words"]


MEASURES = {
    **{m.__name__: m for m in (ratio, power, share, stages, kernels, occupancy, column, passed, errors, value)},
    **{"parameter": over_parameter, "reciprocal": straight},
}


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
    """Returns the device that a figure describes. Emulated times are not used, so a figure of times is the CPU's."""
    return "CPU" if rule["kind"] in TIMED and device.startswith(EMULATED) else device


def answers(night):
    """Returns one row per claim and device: the claim, our figure and the verdict in words."""
    records, all_rules, said = night.records, rules(), []
    # The records are split by device once, not for each claim, because splitting copies all columns.
    of_device = {device: on(records, device) for device in heads(records)}
    timed = {device: rows[rows["backend"] != "emulated"] for device, rows in of_device.items()}
    for claim in table_of("claims.csv").itertuples():
        rule = all_rules[claim.id]
        published = _published(claim)
        row = dict(
            source=claim.source, line=claim.line, claim=claim.quantity, published=published, experiment=claim.experiment
        )
        if rule["kind"] == "none":
            said.append(dict(row, ours=np.nan, of="", device="", verdict=f"not measurable here: {rule['why']}"))
            continue
        # Emulated times do not apply to a GPU. Without a GPU, only CPU methods are compared by time.
        rows_of = timed if rule["kind"] in TIMED else of_device
        found = [
            (_of_times(device, rule), MEASURES[rule["kind"]](night, rows, rule)) for device, rows in rows_of.items()
        ]
        found = [(device, figure) for device, figure in found if figure is not None and np.isfinite(figure[0])]
        for device, (ours, of) in found:
            said.append(
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
            said.append(
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
    return pd.DataFrame(said)


def claimed(page, night):
    """Adds the table of all claims, and how many of them these records confirm."""
    table = answers(night)
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
