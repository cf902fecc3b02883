"""Draws the papers' experiments again from our records (see analysis/papers)."""

from ..papers import DRAWINGS
from ..papers.answers import claimed
from ..papers.experiments import experiments, experiments_that_ran, matching, of_plans, plans_of

NOT_REPEATED = (
    "Not repeated, because they have no measured numbers: Fuhrmann's Tables 5.1 and 5.2 (his machines), Čejka's Tables"
    " 1.2 to 1.6 (properties of GPUs, memories and his machine), all illustrations. docs/papers.md has the whole list."
)


def are_all_plans(results):
    """Returns whether all records come from plans of papers' experiments."""
    names = set(results.take("plan_name")["plan_name"])
    return bool(names) and all(any(name and of_plans(e, name) for e in experiments()) for name in names)


def papers(page, results, every=False, is_folded=True):
    """Adds the experiments whose plans were run; with `every`, all experiments that have matching records. `is_folded`:
    whether the section is folded, because most readers want their own numbers."""
    chosen = experiments() if every else experiments_that_ran(results)
    if not chosen:
        return
    page.begin("papers", "The papers, measured again")
    without_records, with_too_few = [], []
    for experiment in chosen:
        lacks_devices = experiment.get("needs_devices") and not (results.devices["capability"] > 0).any()
        rows = None if lacks_devices else matching(results, experiment)
        if rows is None:
            without_records.append(experiment["id"])
            continue
        mark = page.mark()
        page.heading(f"{experiment['paper']}: {experiment['title']} ({experiment['id']})", experiment["id"])
        has_own_plan = not plans_of(experiment) or rows["plan_name"].map(lambda p: of_plans(experiment, p)).any()
        if not has_own_plan:
            page.remark(
                f"Its plan ({', '.join(plans_of(experiment))}) is not in these records: drawn from other records that"
                " fit."
            )
        if "shape" in experiment:
            page.add(experiment["shape"])
        content_mark = page.mark()
        has_drawn = [
            DRAWINGS[drawing["kind"]](
                page,
                results,
                experiment,
                drawing,
                rows[rows["problem"] == drawing["problem"]] if "problem" in drawing else rows,
            )
            for drawing in experiment["draw"]
        ]
        if not any(has_drawn) or not has_own_plan and not page.shows_data(content_mark):
            page.remove_since(mark)
            with_too_few.append(experiment["id"])
    claimed(page, results)
    if with_too_few:
        page.remark("Too few records to draw (fewer than two points or two GPUs): " + ", ".join(with_too_few) + ".")
    if without_records:
        page.remark("Not in these records: " + ", ".join(without_records) + ".")
    page.remark(NOT_REPEATED)
    if is_folded:
        page.fold("The papers' figures and tables, from these records", name="kept")
