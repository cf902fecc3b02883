"""The papers' experiments, each drawn again where the records contain it."""

import json
import re
from pathlib import Path


NOT_REPEATED = ("Not repeated, for there is no measured number in them to lay ours beside: Fuhrmann's Tables 5.1 and 5.2 (his machines), "
                "Čejka's Tables 1.2 to 1.6 (properties of GPUs, memories and his machine), all figures that illustrate. Not drawn, for the records hold sums over the "
                "calls of a kernel and not single ones: Soriano's Figures 5.5 and 5.6. docs/papers.md has the whole list.")


def experiments():
    """The table of experiments, in the papers' order."""
    return json.loads((Path(__file__).parent.parent / "experiments.json").read_text(encoding="utf-8"))


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def plans_of(experiment):
    """The plans of jobs/plans/papers/ (their names without ending) that an experiment is drawn from; none: it needs no plan of its own."""
    return experiment.get("plans", [re.sub(r"[^a-z0-9]", "_", experiment["id"])])


def of_plans(experiment, name):
    """Whether a file's plan is one of the experiment's; a merged file names several."""
    return bool({plain(one) for one in plans_of(experiment)} & {plain(one) for one in name.split(", ")})


def matching(records, experiment):
    """The records an experiment is drawn from: those of its plans, else all that fit."""
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


def papers(page, night):
    from ..papers import DRAWINGS, answers  # they use other sections

    page.begin("papers", "The papers, measured again")
    absent, little = [], []
    for experiment in experiments():
        rows = matching(night.records, experiment)
        if experiment.get("needs_devices") and not (night.devices["capability"] > 0).any():
            rows = rows.iloc[:0]
        if not len(rows):
            absent.append(experiment["id"])
            continue
        mark = page.mark()
        page.heading(f"{experiment['paper']}: {experiment['title']} ({experiment['id']})", experiment["id"])
        own = not plans_of(experiment) or rows["plan_name"].map(lambda p: of_plans(experiment, p)).any()
        if not own:
            page.nothing(f"Its own plan ({', '.join(plans_of(experiment))}) is not in these records: drawn from what fits in them.")
        if "shape" in experiment:
            page.add(experiment["shape"])
        inside = page.mark()
        shown = [DRAWINGS[drawing["kind"]](page, night, experiment, drawing, rows[rows["problem"] == drawing["problem"]] if "problem" in drawing else rows)
                 for drawing in experiment["draw"]]
        if not any(shown) or not own and not page.shows_data(inside):
            page.back_to(mark)
            little.append(experiment["id"])
    answers.claimed(page, night)
    if little:
        page.nothing("Touched by these records, which hold too little of it (no two points, or no two GPUs, to compare): " + ", ".join(little) + ".")
    if absent:
        page.nothing("Not in these records: " + ", ".join(absent) + ".")
    page.nothing(NOT_REPEATED)
