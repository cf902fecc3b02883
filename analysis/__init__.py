"""Reads and reports the results of gaussweep. Installed, the package is called gaussweep:

    >>> import gaussweep
    >>> records = gaussweep.load("runs/first").records          # a pandas frame, one row per trial; texts are str
    >>> records[records.status == "pass"]
"""

from .loader import load as load_all


def load(*places):
    """Loads run directories and results files into a Night: frames records, samples, stages, iterations, devices,
    hosts. @raises ReportError if nothing can be read"""
    return load_all(places)
