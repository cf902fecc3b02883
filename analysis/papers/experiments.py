"""The table of experiments (experiments.json), and the records that belong to each."""

import json
import re
from pathlib import Path


def experiments():
    """Returns the experiments, in the papers' order."""
    return json.loads((Path(__file__).parent.parent / "experiments.json").read_text(encoding="utf-8"))


def letters_and_digits(name):
    """Returns the name's letters and digits in lower case. Names of plans are compared in this form."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def plans_of(experiment):
    """Returns the names (without ending) of the plans in jobs/plans/papers/ for an experiment; empty if it needs no
    plan."""
    return experiment.get("plans", [re.sub(r"[^a-z0-9]", "_", experiment["id"])])


def of_plans(experiment, name):
    """Returns whether a file's plan is one of the experiment's. A merged file may name several plans."""
    return bool(
        {letters_and_digits(one) for one in plans_of(experiment)}
        & {letters_and_digits(one) for one in name.split(", ")}
    )


def experiments_that_ran(results):
    """Returns the experiments with at least one plan that was run."""
    names = [name for name in results.take("plan_name")["plan_name"].unique() if name]
    return [e for e in experiments() if plans_of(e) and any(of_plans(e, name) for name in names)]


def matching(results, experiment):
    """Returns the records of an experiment, with all columns; None if there are none. Prefers the records of the
    experiment's own plans; without them, takes all records with its problems, methods and matrix kinds."""
    few_columns = results.take("problem method matrix_kind plan_name status")
    found = _matching(few_columns, experiment)
    return results.only(few_columns.index.isin(found.index)).records if len(found) else None


def _matching(records, experiment):
    """As `matching`, but on a frame with only the columns that decide. Returns no rows if a method that the experiment
    needs did not run. With `needs_all` it needs each of its methods, with `needs` at least one of those listed
    there."""
    problems = experiment["problem"] if isinstance(experiment["problem"], list) else [experiment["problem"]]
    rows = records
    if problems != ["*"]:
        rows = rows[rows["problem"].isin(problems)]
    if experiment["methods"] != ["*"]:
        rows = rows[rows["method"].isin(experiment["methods"])]
    if "kinds" in experiment:
        rows = rows[rows["matrix_kind"].isin(experiment["kinds"])]
    is_of_plans = rows["plan_name"].map({p: of_plans(experiment, p) for p in rows["plan_name"].unique()})
    if len(rows) and is_of_plans.any():
        rows = rows[is_of_plans.astype(bool)]
    ran = set(rows.loc[rows["status"] != "skipped", "method"])
    if experiment.get("needs_all") and not set(experiment["methods"]) <= ran:
        return rows.iloc[:0]
    if experiment.get("needs") and not ran & set(experiment["needs"]):
        return rows.iloc[:0]
    return rows if ran else rows.iloc[:0]
