"""Checks of HDF5 files that may be damaged or come from other programs: the schema version and the claimed sizes."""

import math

# Exceptions of h5py and NumPy for files that are damaged or come from another program.
DAMAGED = (OSError, KeyError, ValueError, TypeError, RuntimeError, MemoryError, OverflowError)
NEWEST_SCHEMA = 1
BEST_COMPRESSION = 1032  # deflate compresses at most 1032:1


class Foreign(ValueError):
    """The reason why this report does not read a file."""


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
    """Checks a dataset's size before it is read. @raises Foreign if its values need more bytes than its stored bytes
    can decompress to, or more than the available memory"""
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    held = dataset.id.get_storage_size()
    if claimed > held * BEST_COMPRESSION + dataset.dtype.itemsize:
        raise Foreign(f"{dataset.name} claims {' x '.join(map(str, dataset.shape))} values but holds only {held} bytes")
    available = _available_bytes()
    if claimed > available:
        raise Foreign(f"{dataset.name} needs {claimed} bytes of memory, {available} are available")


def _available_bytes():
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:
            return next(1024 * int(line.split()[1]) for line in facts if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return math.inf
