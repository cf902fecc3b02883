"""The papers' experiments, plotted again from the records that belong to them."""

from ..papers import DRAWINGS
from ..papers.answers import claimed
from ..papers.experiments import experiments, matching, of_plans, plans_of, run_of

NOT_REPEATED = (
    "Not repeated, because they have no measured numbers: Fuhrmann's Tables 5.1 and 5.2 (his machines), Čejka's Tables"
    " 1.2 to 1.6 (properties of GPUs, memories and his machine), all illustrations. Not drawn, because the records have"
    " sums over the calls of a kernel: Soriano's Figures 5.5 and 5.6. docs/papers.md has the whole list."
)


def are_all_plans(night):
    """Returns whether every plan of the night belongs to an experiment of a paper."""
    names = set(night.take("plan_name")["plan_name"])
    return bool(names) and all(any(name and of_plans(e, name) for e in experiments()) for name in names)


def papers(page, night, every=False, is_folded=True):
    """Adds the experiments whose plans were run. `is_folded`: they are folded, because most readers want their own
    numbers. `every`: adds all experiments that some records fit."""
    run = experiments() if every else run_of(night)
    if not run:
        return
    page.begin("papers", "The papers, measured again")
    absent, little = [], []
    for experiment in run:
        lacks_devices = experiment.get("needs_devices") and not (night.devices["capability"] > 0).any()
        rows = None if lacks_devices else matching(night, experiment)
        if rows is None:
            absent.append(experiment["id"])
            continue
        mark = page.mark()
        page.heading(f"{experiment['paper']}: {experiment['title']} ({experiment['id']})", experiment["id"])
        own = not plans_of(experiment) or rows["plan_name"].map(lambda p: of_plans(experiment, p)).any()
        if not own:
            page.nothing(
                f"Its plan ({', '.join(plans_of(experiment))}) is not in these records: drawn from other records that"
                " fit."
            )
        if "shape" in experiment:
            page.add(experiment["shape"])
        inside = page.mark()
        shown = [
            DRAWINGS[drawing["kind"]](
                page,
                night,
                experiment,
                drawing,
                rows[rows["problem"] == drawing["problem"]] if "problem" in drawing else rows,
            )
            for drawing in experiment["draw"]
        ]
        if not any(shown) or not own and not page.shows_data(inside):
            page.back_to(mark)
            little.append(experiment["id"])
    claimed(page, night)
    if little:
        page.nothing("Too few records to draw (fewer than two points or two GPUs): " + ", ".join(little) + ".")
    if absent:
        page.nothing("Not in these records: " + ", ".join(absent) + ".")
    page.nothing(NOT_REPEATED)
    if is_folded:
        page.fold("The papers' figures and tables, from these records", name="kept")
