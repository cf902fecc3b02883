"""The records that --problem, --method and --gpu select."""

from fnmatch import fnmatchcase

from .loader import ReportError


def choose(night, problems, methods, gpus, baseline=""):
    """Returns the night with only the selected records. The baseline method and, with --gpu, methods on the CPU stay.
    @raises ReportError if a pattern matches nothing; the message lists the existing values"""
    records = night.take("problem method backend")
    chosen = records["problem"].notna()
    if problems:
        chosen &= _matching("--problem", problems, records["problem"])
    if methods:
        wanted = _matching("--method", methods, records["method"], records["problem"] + "/" + records["method"])
        chosen &= wanted | (records["method"] == baseline)
    if gpus:
        cuda = records["backend"] == "cuda"
        chosen &= ~cuda | _matching("--gpu", gpus, night.take("device")["device"].where(cuda, ""))
    if baseline and len(records) and not (records["method"] == baseline).any():
        raise ReportError(f"--baseline {baseline}: no record has that method; there are {_list(records['method'])}")
    return night if chosen.all() else night.only(chosen)


def _matching(option, words, *columns):
    """Returns a mask of the rows in which a column matches one of the comma-separated patterns in `words`."""
    matched = None
    for word in words.split(","):
        hits = None
        for column in columns:
            values = {value: fnmatchcase(value, word) for value in column.unique() if value}
            in_column = column.map(values).fillna(False).astype(bool)
            hits = in_column if hits is None else hits | in_column
        if not hits.any():
            raise ReportError(f"{option} {word}: no record names any; there are {_list(columns[0])}")
        matched = hits if matched is None else matched | hits
    return matched


def _list(column):
    return ", ".join(sorted(v for v in column.unique() if v)) or "none"
