"""Reads and reports the results of gaussweep. The installed package is called gaussweep:

    >>> import gaussweep
    >>> records = gaussweep.load("runs/first").records          # a pandas frame, one row per trial; texts are str
    >>> records[records.status == "pass"]
"""

from .loader import load as load_all


def load(*places):
    """Loads run directories and results files into a `loader.Night`, whose attributes are the frames records, samples,
    stages, iterations, devices and hosts. @raises ReportError if nothing can be read"""
    return load_all(places)
