"""Adds one block per problem, with everything that was measured about it."""

from ..frames import slug
from . import accuracy, costs, judgements, stages, timing
from .several_gpus import several_gpus
from .verdict import anchor


def problems(page, night, baseline=""):
    parts = [
        judgements.judgements,
        timing.time_over_size,
        lambda page, night: timing.over_baseline(page, night, baseline),
        timing.speedup,
        several_gpus,
        stages.stages,
        accuracy.accuracy,
        accuracy.convergence,
        timing.transfer,
        costs.energy,
    ]
    of = night.take("problem")["problem"]
    for problem in sorted(of.unique()):
        own = night.only(of == problem)
        title = own.take("problem_title")["problem_title"].max()  # empty in older files
        page.begin(anchor(problem), f"{problem}: {title}" if title else problem)
        page.problem = slug(problem)
        for part in parts:
            part(page, own)
        page.problem = ""
