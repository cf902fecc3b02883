"""The page's sections, in order: FIRST, the block of each problem (problems.py), LAST. Each is a function of (page,
night)."""

from . import (
    architectures,
    changes,
    costs,
    failures,
    overview,
    papers,
    provenance,
    restoration,
    roofline,
    timeline,
    verdict,
)

FIRST = [overview.overview, verdict.verdict, changes.table, changes.since, roofline.roofline]
LAST = [
    changes.trend,
    overview.what_ran,
    overview.ranking,
    costs.costs,
    architectures.architectures,
    timeline.timeline,
    failures.failures,
    papers.papers,
    restoration.restoration,
    provenance.provenance,
]
