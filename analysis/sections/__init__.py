"""The page's sections, in order. Each is a function of (page, night)."""

from . import accuracy, architectures, failures, overview, papers, provenance, restoration, stages, timing

ALL = [
    overview.overview,
    overview.ranking,
    timing.time_over_size,
    timing.speedup,
    timing.roofline,
    stages.stages,
    accuracy.accuracy,
    accuracy.convergence,
    timing.transfer,
    architectures.architectures,
    failures.failures,
    papers.papers,
    restoration.restoration,
    provenance.provenance,
]
