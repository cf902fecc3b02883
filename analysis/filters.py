"""Selects the records that the options --problem, --method and --gpu name."""

from fnmatch import fnmatchcase

from .loader import ReportError


def select(results, problems, methods, gpus, baseline=""):
    """Returns the results with only the selected records. The baseline method is always selected, and --gpu selects all
    methods on the CPU too. @raises ReportError if a pattern matches nothing, with a message that lists the existing
    values"""
    records = results.take("problem method backend")
    is_chosen = records["problem"].notna()
    if problems:
        is_chosen &= _matching("--problem", problems, records["problem"])
    if methods:
        is_wanted = _matching("--method", methods, records["method"], records["problem"] + "/" + records["method"])
        is_chosen &= is_wanted | (records["method"] == baseline)
    if gpus:
        is_cuda = records["backend"] == "cuda"
        is_chosen &= ~is_cuda | _matching("--gpu", gpus, results.take("device")["device"].where(is_cuda, ""))
    if baseline and len(records) and not (records["method"] == baseline).any():
        raise ReportError(f"--baseline {baseline}: no record has that method; there are {_list(records['method'])}")
    return results if is_chosen.all() else results.only(is_chosen)


def _matching(option, patterns, *columns):
    """Returns a mask of the rows in which one of the columns matches one of the comma-separated `patterns`."""
    is_any_match = None
    for pattern in patterns.split(","):
        is_match = None
        for column in columns:
            values = {value: fnmatchcase(value, pattern) for value in column.unique() if value}
            in_column = column.map(values).fillna(False).astype(bool)
            is_match = in_column if is_match is None else is_match | in_column
        if not is_match.any():
            raise ReportError(f"{option} {pattern}: no record names any; there are {_list(columns[0])}")
        is_any_match = is_match if is_any_match is None else is_any_match | is_match
    return is_any_match


def _list(column):
    """Returns the distinct values as text."""
    return ", ".join(sorted(v for v in column.unique() if v)) or "none"
