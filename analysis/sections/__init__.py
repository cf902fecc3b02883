"""The report's sections. The page has those of FIRST, then a block per problem (problems.py), then those of LAST. A
section is a function of (page, results), the `Page` to which it adds and the `loader.Results`."""

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
