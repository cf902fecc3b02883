#!/usr/bin/env python3
"""Makes a large results file from a small one by repeating its records, each with another key. It has no checksums;
`gaussweep merge LARGE.h5 -o CHECKED.h5` adds them.

    tests/benchmark/grow_results.py SMALL.h5 LARGE.h5 COUNT
"""
import hashlib
import sys

import h5py
import numpy as np

small, large, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with h5py.File(small) as source, h5py.File(large, "w") as target:
    for name in source:
        if name not in ("records", "samples"):
            source.copy(name, target)
    for name, value in source.attrs.items():
        target.attrs[name] = value
    records = source["records"][()]
    times = -(-count // len(records))
    grown = np.tile(records, times)[:count]
    grown["key"] = [hashlib.sha256(b"%d" % i).hexdigest() for i in range(count)]
    target.create_dataset("records", data=grown, dtype=source["records"].dtype, chunks=True)
    samples = source["samples"][()]
    grown = np.tile(samples, times)
    grown["trial"] += np.repeat(np.arange(times) * len(records), len(samples))
    target.create_dataset("samples", data=grown[grown["trial"] < count], chunks=True)
    for name in ("records", "samples"):
        for key, value in source[name].attrs.items():
            if key != "checksums":
                target[name].attrs[key] = value
