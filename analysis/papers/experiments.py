"""The table of experiments (experiments.json), and the records that belong to each."""

import json
import re
from pathlib import Path


def experiments():
    """Returns the experiments, in the papers' order."""
    return json.loads((Path(__file__).parent.parent / "experiments.json").read_text(encoding="utf-8"))


def plain(name):
    """Returns the name's letters and digits in lower case, by which names of plans are compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def plans_of(experiment):
    """Returns the names (without ending) of the plans in jobs/plans/papers/ for an experiment; empty if it needs no
    plan."""
    return experiment.get("plans", [re.sub(r"[^a-z0-9]", "_", experiment["id"])])


def of_plans(experiment, name):
    """Returns whether a file's plan is one of the experiment's. A merged file may name several plans."""
    return bool({plain(one) for one in plans_of(experiment)} & {plain(one) for one in name.split(", ")})


def run_of(night):
    """Returns the experiments of which a plan was run."""
    names = [name for name in night.take("plan_name")["plan_name"].unique() if name]
    return [e for e in experiments() if plans_of(e) and any(of_plans(e, name) for name in names)]


def matching(night, experiment):
    """Returns the records of an experiment with all columns: those of its plans, else all that fit; None if there are
    none."""
    some = night.take("problem method matrix_kind plan_name status")
    found = _matching(some, experiment)
    return night.only(some.index.isin(found.index)).records if len(found) else None


def _matching(records, experiment):
    """Returns the records of the experiment's problems, methods and matrix kinds, of its own plans if these were run.
    Returns none if methods that the experiment needs did not run: all of its methods (`needs_all`) or one of `needs`.
    """
    problems = experiment["problem"] if isinstance(experiment["problem"], list) else [experiment["problem"]]
    rows = records
    if problems != ["*"]:
        rows = rows[rows["problem"].isin(problems)]
    if experiment["methods"] != ["*"]:
        rows = rows[rows["method"].isin(experiment["methods"])]
    if "kinds" in experiment:
        rows = rows[rows["matrix_kind"].isin(experiment["kinds"])]
    named = rows["plan_name"].map({p: of_plans(experiment, p) for p in rows["plan_name"].unique()})
    if len(rows) and named.any():
        rows = rows[named.astype(bool)]
    ran = set(rows.loc[rows["status"] != "skipped", "method"])
    if experiment.get("needs_all") and not set(experiment["methods"]) <= ran:
        return rows.iloc[:0]
    if experiment.get("needs") and not ran & set(experiment["needs"]):
        return rows.iloc[:0]
    return rows if ran else rows.iloc[:0]
