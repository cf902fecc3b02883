"""Reads the results of gaussweep, and writes reports on them. The installed package is called gaussweep:

    >>> import gaussweep
    >>> records = gaussweep.load("runs/first").records          # a pandas frame, one row per record; texts are str
    >>> records[records.status == "pass"]
"""

from .loader import load as load_all


def load(*paths):
    """Loads run directories and results files, given as arguments or as one list, into a `loader.Results`. Its
    attributes records, samples, stages, iterations, devices and hosts are pandas frames with the rows of all files; a
    record in two files counts once. `warnings` has texts about files and columns that could not be read.
    @raises ReportError if nothing can be read"""
    if len(paths) == 1 and isinstance(paths[0], (list, tuple)):
        paths = paths[0]
    return load_all(paths, as_recorded=True)
