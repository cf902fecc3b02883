"""Plots of the papers' experiments: one function per kind of figure. experiments.json lists the kinds that each
experiment draws. Each function takes (page, night, experiment, drawing, rows) and returns whether it had data."""

from . import beside, calls, findings, others, times

_OF_TIMES = (times.lines, times.ratio, times.order, times.verdict, times.transfer)
_OTHERS = (others.stages, others.occupancy, others.gpus, others.devices, others.first_row, others.histories)
_MORE = (others.accuracy, others.reference, findings.peak, findings.fixed_point, findings.values)
DRAWINGS = {drawing.__name__: drawing for drawing in (beside.published, calls.calls, *_OF_TIMES, *_OTHERS, *_MORE)}
DRAWINGS["parameter"] = times.over_parameter
