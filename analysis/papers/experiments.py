"""The table of experiments (experiments.json), and which records belong to which."""

import json
import re
from pathlib import Path


def experiments():
    """The table of experiments, in the papers' order."""
    return json.loads((Path(__file__).parent.parent / "experiments.json").read_text(encoding="utf-8"))


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def plans_of(experiment):
    """The plans of jobs/plans/papers/ (their names without ending) that an experiment is drawn from; none: it needs no
    plan of its own."""
    return experiment.get("plans", [re.sub(r"[^a-z0-9]", "_", experiment["id"])])


def of_plans(experiment, name):
    """Whether a file's plan is one of the experiment's; a merged file names several."""
    return bool({plain(one) for one in plans_of(experiment)} & {plain(one) for one in name.split(", ")})


def run_of(night):
    """The experiments whose own plan is among the records'."""
    names = [name for name in night.take("plan_name")["plan_name"].unique() if name]
    return [e for e in experiments() if plans_of(e) and any(of_plans(e, name) for name in names)]


def matching(night, experiment):
    """The records an experiment is drawn from, with all columns: those of its plans, else all that fit; or None."""
    some = night.take("problem method matrix_kind plan_name status")
    found = _matching(some, experiment)
    return night.only(some.index.isin(found.index)).records if len(found) else None


def _matching(records, experiment):
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
