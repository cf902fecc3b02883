"""A block for each problem: everything that was measured of it. Nothing is left out for lack of room."""

from . import accuracy, stages, timing
from .verdict import anchor

TITLES = {
    "gemm": "products",
    "trsv": "triangular systems",
    "gesv": "linear systems",
    "getrf": "LU factorisation",
    "potrf": "Cholesky factorisation",
    "trtri": "inverse of a triangle",
    "geinv": "inverse",
    "poinv": "inverse of a positive definite matrix",
}


def problems(page, night, baseline=""):
    parts = [
        timing.time_over_size,
        lambda page, night: timing.over_baseline(page, night, baseline),
        timing.speedup,
        timing.roofline,
        stages.stages,
        accuracy.accuracy,
        accuracy.convergence,
        timing.transfer,
    ]
    records = night.records
    if not len(records):
        for part in parts:
            part(page, night)
        return
    for problem in sorted(records["problem"].unique(), key=lambda p: (list(TITLES) + [p]).index(p)):
        own = night.only(records["problem"] == problem)
        page.begin(anchor(problem), f"{problem}: {TITLES.get(problem, 'a problem of another version')}")
        page.problem = problem
        for part in parts:
            part(page, own)
            page.drop_if_bare()
        page.problem = ""
