"""Checks HDF5 files, which may be damaged or come from other programs, before they are read: schema version and
sizes."""

import math

# Exceptions of h5py and NumPy for files that are damaged or come from another program.
DAMAGED = (OSError, KeyError, ValueError, TypeError, RuntimeError, MemoryError, OverflowError)
NEWEST_SCHEMA = 1
BEST_COMPRESSION = 1032  # uncompressed over compressed bytes: the limit of deflate, HDF5's usual filter


class Foreign(ValueError):
    """Raised for a file that this report does not read; its text is the reason."""


def check_schema(file):
    """Checks the schema version; other programs' files may lack it. @raises Foreign if a newer program wrote the
    file"""
    version = file.attrs.get("schema_version", NEWEST_SCHEMA)
    try:
        version = int(version)
    except (TypeError, ValueError):
        raise Foreign("the attribute schema_version is not a whole number") from None
    if version > NEWEST_SCHEMA:
        raise Foreign(
            f"it was written by a newer gaussweep (schema version {version}; this report reads versions up to"
            f" {NEWEST_SCHEMA})"
        )


def check_claim(dataset):
    """Checks a dataset's claimed shape before it is read, because a damaged header may claim any size. @raises Foreign
    if the stored bytes cannot decompress to that many values, or the values do not fit into memory"""
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    if claimed > stored * BEST_COMPRESSION + dataset.dtype.itemsize:
        raise Foreign(
            f"{dataset.name} claims {' x '.join(map(str, dataset.shape))} values but holds only {stored} bytes"
        )
    available = _available_bytes()
    if claimed > available:
        raise Foreign(f"{dataset.name} needs {claimed} bytes of memory, {available} are available")


def _available_bytes():
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:
            return next(1024 * int(line.split()[1]) for line in facts if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return math.inf
