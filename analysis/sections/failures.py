"""Shows the failures, their causes, and whether a method fails on a matrix that other methods solve."""

import numpy as np
import pandas as pd

from ..frames import without
from ..loader import TOO_FAST, parameters_of
from ..page import number, percent, whole

COLUMNS = """key problem precision method device matrix_name matrix_full matrix_kind matrix_digest parameters size
status unexpected message info residual_ratio first_row_percent timing peak_share digits_lost backward_error
componentwise_error forward_error reference_method backend"""
BROKEN = ["crashed", "timeout", "oom", "error"]
WRONG = ["suspect", "failed", "diverged"]
NO_DIGIT = 0.1  # an answer whose relative forward error is larger has no correct digit
# If the vendor's methods exceed the peaks too, the peaks were measured too low. A method's fraction of peak is then
# plausible if it is at most EXPLAINED times the vendor's largest fraction, as in driver/summary.
EXPLAINED = 1.25
MOST_CONFIGS = 3  # configurations that a text names


def failures(page, results):
    page.begin("failures", "Failures")
    records = results.take(COLUMNS)
    _doubted(page, records)
    if not ((records["status"] != "pass") | records["unexpected"]).any():
        page.remark("Every trial passed." if len(records) else "There are no records.")
        return
    _broken(page, records)
    _skipped(page, records)
    _wrong(page, records)
    _passed(page, records)


def doubted(records):
    """Returns the answers with the status pass or suspect that deserve doubt, for one of four reasons. An answer was
    computed faster than the device allows, or is 100 times less accurate than the reference. Its componentwise error is
    1000 times the normwise one, or it passed without a correct digit.

    The value suspect has two meanings. The status suspect is about the residual, which is slightly above the tolerance.
    The column `timing` is suspect if the time is shorter than the device allows."""
    answered = records["status"].isin(["pass", "suspect"])
    doubt = (records["timing"] == "suspect") | (records["digits_lost"] >= 2) | _is_wrong_in_parts(records)
    return records[answered & doubt | is_without_digit(records)]


def is_without_digit(records):
    """Returns a mask of the answers that passed although their forward error exceeds NO_DIGIT."""
    return (records["status"] == "pass") & (records["forward_error"] > NO_DIGIT)


def varying(records):
    """Returns the parameters of each record as text, without those that have the same value in all records."""
    return records["parameters"].map(without(parameters_of(records), ""))  # "": leaves out no parameter by name


def named(configs):
    """Joins the texts of configurations: "blocks=4, blocks=8 and 2 more". Leaves out empty ones."""
    names = sorted(set(configs) - {""})
    more = len(names) - MOST_CONFIGS
    return ", ".join(names[:MOST_CONFIGS]) + (f" and {more} more" if more > 0 else "")


def _is_wrong_in_parts(records):
    """Returns a mask of answers with a componentwise error of at least 1000 times the normwise error, and at least 1000
    unit roundoffs."""
    unit = np.where(records["precision"] == "float", 2.0**-24, 2.0**-53)
    return records["componentwise_error"] >= 1000 * np.maximum(records["backward_error"], unit)


def _doubted(page, records):
    """Adds the table of the answers that deserve doubt, although their status is pass or suspect."""
    rows = doubted(records)
    if not len(rows):
        return
    page.heading("Doubtful times or digits, with the status pass or suspect", "failures-doubted")
    grouped = (
        rows.assign(
            too_fast=rows["timing"] == "suspect", parts=rows["componentwise_error"].where(_is_wrong_in_parts(rows))
        )
        .groupby(["problem", "method", "matrix_name"])
        .agg(
            trials=("key", "size"),
            too_fast=("too_fast", "sum"),
            share=("peak_share", "max"),
            digits=("digits_lost", "max"),
            forward=("forward_error", "max"),
            parts=("parts", "max"),
            smallest=("size", "min"),
            largest=("size", "max"),
        )
        .reset_index()
    )
    columns = [
        "problem method matrix_name trials",
        ("too_fast", "faster than the device", whole),
        ("share", "fraction of peak", percent),
        ("digits", "digits lost", number),
        ("forward", "forward error", number),
        ("parts", "componentwise error", number),
        "smallest largest",
    ]
    page.table(
        "failures-doubted",
        grouped,
        columns,
        limit=60,
        caption="Too fast, digits lost, no correct digit, or small components wrong.",
    )
    fast = rows[rows["timing"] == "suspect"].groupby("device")["peak_share"].max()
    vendors = records[(records["method"] == records["reference_method"]) & (records["backend"] != "emulated")]
    for device, share in vendors.groupby("device")["peak_share"].max().items():
        if device in fast.index and share > TOO_FAST:
            is_explained = fast[device] <= EXPLAINED * share
            why = "the peaks were measured too low"
            still = f"the fastest method is still {number(fast[device] / share)} times too fast"
            page.add(
                f"On {device}, the vendor's methods reach {number(share)} times the peaks:"
                f" {why if is_explained else still}."
            )


def _broken(page, records):
    rows = records[records["status"].isin(BROKEN)]
    page.heading("Could not finish", "failures-unfinished")
    if not len(rows):
        page.remark("No trial crashed, timed out, ran out of memory or ended with an error.")
        return
    causes = _by_cause(rows)
    page.table("failures-broken", causes, _cause_columns(), limit=60, caption="Ended without an answer, by cause.")


def _skipped(page, records):
    rows = records[records["status"] == "skipped"]
    if len(rows):
        page.heading("Skipped")
        page.table("failures-skipped", _by_cause(rows), _cause_columns(), limit=30, caption="Not run, by reason.")


def _by_cause(rows):
    """Groups trials by status and message. Messages are compared without their numbers, because these differ from trial
    to trial. One message of each group is shown as an example."""
    messages = rows["message"].replace("", "no message")
    without_numbers = {m: pd.Series([m]).str.replace(r"\d+", "#", regex=True)[0] for m in messages.unique()}
    rows = rows.assign(message=messages, kind_=messages.map(without_numbers))
    return (
        rows.groupby(["status", "problem", "method", "matrix_name", "kind_"])
        .agg(
            trials=("key", "size"),
            unexpected=("unexpected", "sum"),
            smallest=("size", "min"),
            largest=("size", "max"),
            device=("device", lambda d: ", ".join(sorted(set(d)))),
            message=("message", "first"),
        )
        .reset_index()
        .drop(columns="kind_")
        .sort_values("trials", ascending=False, kind="stable")
    )


def _cause_columns():
    return [
        ("status", "status", None),
        "problem method matrix_name trials",
        ("unexpected", "not as expected", whole),
        "smallest largest device",
        ("message", "message (example)", None),
    ]


def _wrong(page, records):
    """Adds the table of methods with wrong answers."""
    page.heading("Wrong answers", "failures-wrong")
    verified = records[records["status"].isin(["pass", *WRONG])]
    if not verified["status"].isin(WRONG).any():
        page.remark("Every verified answer passed.")
        return
    page.add(
        "A method without pivoting, or made for one kind of matrix, may fail on another. The table shows the matrices"
        " on which it fails and passes, and whether another method solved the same systems. If one did, the method is"
        " at fault, not the matrix alone."
    )
    solved = verified[verified["status"] == "pass"].groupby(["problem", "matrix_digest"])["method"].agg(set)
    with_counts = verified.assign(
        passed=(verified["status"] == "pass").astype(int),
        infinite=np.isinf(verified["residual_ratio"].to_numpy(float)).astype(int),
        zero_pivots=(verified["info"] > 0).astype(int),
        configs=varying(verified).where(verified["status"].isin(WRONG), ""),
    )
    table = (
        with_counts.groupby(["problem", "precision", "method", "matrix_name"])
        .agg(
            trials=("key", "size"),
            passed=("passed", "sum"),
            worst=("residual_ratio", "max"),
            infinite=("infinite", "sum"),
            smallest=("size", "min"),
            largest=("size", "max"),
            info=("zero_pivots", "sum"),
            unexpected=("unexpected", "sum"),
            configs=("configs", named),
        )
        .reset_index()
    )
    table["wrong"] = table["trials"] - table["passed"]
    table = table[table["wrong"] > 0].copy()
    passed_on = (
        verified[verified["status"] == "pass"]
        .groupby(["problem", "precision", "method"])["matrix_name"]
        .agg(lambda k: sorted(set(k)))
        .to_dict()
    )
    failed_systems = (
        verified[verified["status"].isin(WRONG)]
        .groupby(["problem", "precision", "method", "matrix_name"])["matrix_digest"]
        .agg(set)
        .to_dict()
    )
    table["finding"] = [_finding(row, passed_on, failed_systems, solved) for row in table.itertuples()]
    table = table.sort_values(["wrong", "worst"], ascending=False, kind="stable")
    page.table(
        "findings",
        table,
        [
            "problem precision method matrix_name",
            ("configs", "parameters", None),
            ("wrong", "did not pass", whole),
            ("unexpected", "not as expected", whole),
            ("trials", "trials", whole),
            "smallest largest",
            ("worst", "largest ratio", number),
            ("info", "zero pivots", whole),
            ("finding", "comparison", None),
        ],
        limit=60,
        caption="Methods whose answers did not pass, by matrix.",
    )


def _passed(page, records):
    """Adds the table of answers that passed although the plan expects another status."""
    rows = records[(records["status"] == "pass") & records["unexpected"]]
    if not len(rows):
        return
    page.heading("Passed, although the plan expects a failure", "failures-passed")
    grouped = rows.groupby(["problem", "precision", "method", "matrix_name"]).agg(
        trials=("key", "size"), smallest=("size", "min"), largest=("size", "max"), worst=("residual_ratio", "max")
    )
    page.table(
        "failures-passed",
        grouped.reset_index(),
        ["problem precision method matrix_name trials smallest largest", ("worst", "largest ratio", number)],
        limit=60,
        caption="Answers that passed; `expect` in the plan names another status.",
    )


def _finding(row, passed_on, failed_systems, solved):
    """Returns words: on which matrices the method of a table row passes, and which other methods solved the systems on
    which it failed. `passed_on`: method -> matrices on which it passed; `failed_systems`: (method, matrix) -> digests
    of the systems on which it failed; `solved`: digest -> methods that passed."""
    key = (row.problem, row.precision, row.method)
    failed_on = failed_systems.get((*key, row.matrix_name), set())
    solved_by = [
        found for found in (solved.get((row.problem, digest), set()) - {row.method} for digest in failed_on) if found
    ]
    others = set().union(*solved_by)
    passes_on = [k for k in passed_on.get(key, []) if k != row.matrix_name]
    words = []
    if row.passed:
        words.append(f"passes {row.passed} of {row.trials} on this matrix")
    elif passes_on:
        words.append(f"never passes on {row.matrix_name or 'this matrix'}, passes on {', '.join(passes_on[:4])}")
    else:
        words.append("never passes here")
    if others:
        shown = sorted(others)
        count = f"{len(solved_by)} of these {len(failed_on)} systems" if len(failed_on) > 1 else "this system"
        words.append(
            f"others solved {count}: {', '.join(shown[:3])}" + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")
        )
    elif failed_on:
        words.append("nothing else solved " + ("these systems" if len(failed_on) > 1 else "this system"))
    return "; ".join(words)
