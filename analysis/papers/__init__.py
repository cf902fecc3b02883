"""How an experiment of a paper is drawn again: one function a kind of figure; which experiment wants which is data
(experiments.json). Each takes (page, night, experiment, drawing, rows) and returns whether it had something to show."""

from . import beside, calls, findings, others, times

DRAWINGS = {
    "published": beside.published,
    "lines": times.lines,
    "parameter": times.over_parameter,
    "ratio": times.ratio,
    "order": times.order,
    "verdict": times.verdict,
    "transfer": times.transfer,
    "stages": others.stages,
    "occupancy": others.occupancy,
    "calls": calls.calls,
    "gpus": others.gpus,
    "devices": others.devices,
    "first_row": others.first_row,
    "histories": others.histories,
    "accuracy": others.accuracy,
    "reference": others.reference,
    "peak": findings.peak,
    "fixed_point": findings.fixed_point,
    "values": findings.values,
}
