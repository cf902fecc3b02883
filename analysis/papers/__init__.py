"""Draws the experiments of the papers (docs/papers.md) again from our records. experiments.json has one entry per
experiment; each entry of its list `draw` is a drawing, whose `kind` selects a function of DRAWINGS. Parameters of these
functions:
`page`: the Page to which they add tables and plots; `results`: all loaded data (`loader.Results`);
`experiment`: the entry of experiments.json; `drawing`: the element of its `draw`; `rows`: the experiment's records.
They return True if they added something, also if it is only a remark that explains why there is no plot."""

from . import calls, findings, others, published_times, times

_OF_TIMES = (times.lines, times.ratio, times.order, times.verdict, times.transfer)
_OTHERS = (others.stages, others.occupancy, others.gpus, others.devices, others.first_row, others.histories)
_MORE = (others.accuracy, others.reference, findings.peak, findings.fixed_point, findings.values)
DRAWINGS = {
    drawing.__name__: drawing for drawing in (published_times.published, calls.calls, *_OF_TIMES, *_OTHERS, *_MORE)
}
DRAWINGS["parameter"] = times.over_parameter
