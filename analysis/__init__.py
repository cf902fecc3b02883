"""Reads and reports the results of gaussweep. Installed, the package is called gaussweep:

    >>> import gaussweep
    >>> records = gaussweep.load("runs/first").records          # a pandas frame, a row a trial; texts are str
    >>> records[records.status == "pass"]
"""

from .loader import load as load_all


def load(*places):
    """The Night of run directories and results files: frames records, samples, stages, iterations, devices, hosts.
    @raises ReportError where nothing can be read"""
    return load_all(places)
