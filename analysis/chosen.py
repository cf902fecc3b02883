"""What --problem, --method and --gpu leave of a night."""

from fnmatch import fnmatchcase

from .loader import ReportError


def choose(night, problems, methods, gpus, baseline=""):
    """The night of what is asked for; of methods the baseline stays too, of GPUs the CPU's methods.
    @raises ReportError where a word matches nothing, with what there is"""
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
        raise ReportError(f"--baseline {baseline}: no record is of that method; there are {_list(records['method'])}")
    return night if chosen.all() else night.only(chosen)


def _matching(option, words, *columns):
    """Which rows match one of the words in one of the columns."""
    found = None
    for word in words.split(","):
        hits = None
        for column in columns:
            values = {value: fnmatchcase(value, word) for value in column.unique() if value}
            these = column.map(values).fillna(False).astype(bool)
            hits = these if hits is None else hits | these
        if not hits.any():
            raise ReportError(f"{option} {word}: no record names any; there are {_list(columns[0])}")
        found = hits if found is None else found | hits
    return found


def _list(column):
    return ", ".join(sorted(v for v in column.unique() if v)) or "none"
