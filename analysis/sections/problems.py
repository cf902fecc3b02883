"""Adds one block per problem: a heading and the sections about this problem."""

from ..frames import slug
from . import accuracy, costs, stages, timing, verdict_map
from .several_gpus import several_gpus
from .verdict import anchor


def problems(page, results, baseline=""):
    parts = [
        verdict_map.verdict_map,
        timing.time_over_size,
        lambda page, results: timing.over_baseline(page, results, baseline),
        timing.speedup,
        several_gpus,
        stages.stages,
        accuracy.accuracy,
        accuracy.convergence,
        timing.transfer,
        costs.energy,
    ]
    problem_of_record = results.take("problem")["problem"]
    for problem in sorted(problem_of_record.unique()):
        of_problem = results.only(problem_of_record == problem)
        title = of_problem.take("problem_title")["problem_title"].max()  # empty in older files
        page.begin(anchor(problem), f"{problem}: {title}" if title else problem)
        page.problem = slug(problem)
        for part in parts:
            part(page, of_problem)
        page.problem = ""
