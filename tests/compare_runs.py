#!/usr/bin/env python3
"""What `gaussweep compare` says of two runs of the same plan on the same machine, and of one with a method made 10 %
slower.

    tests/compare_runs.py GAUSSWEEP BASE NEW OUT [METHOD]

BASE and NEW are results files. At least 95 % of the timed trials must be SAME or UNCLEAR. Then OUT/slowed.h5 becomes a
copy of NEW in which every sample of METHOD (`problem/variant`; the one with the most trials, where none is given) is
1.1 times as long: compare must say SLOWER of that method, as a whole, and of no other, and exit with code 4. Exit code
0: all of this was so.
"""

import collections
import pathlib
import shutil
import sys

import h5py

from compared import compare, verdicts

LEAST_SHARE = 0.95
SLOWED = 1.10


def methods_of(records):
    return [f"{p.decode()}/{m.decode()}" for p, m in zip(records["problem"], records["method"])]


def forget_checksums(file):
    """What was written by hand agrees with no checksum; a file without any is read, and that is said."""
    file["records"].attrs.pop("checksums", None)


def slow_down(source, target, method):
    """A copy in which one method took longer, down to its samples."""
    shutil.copyfile(source, target)
    with h5py.File(target, "r+") as file:
        records, samples = file["records"][:], file["samples"][:]
        chosen = [m == method for m in methods_of(records)]
        for name in records.dtype.names:
            if name.startswith("seconds_"):
                records[name][chosen] *= SLOWED
        rows = [chosen[trial] for trial in samples["trial"]]
        samples["seconds"][rows] *= SLOWED
        file["records"][:], file["samples"][:] = records, samples
        forget_checksums(file)


def most_tried(path):
    with h5py.File(path, "r") as file:
        records = file["records"][:]
    return collections.Counter(m for m, n in zip(methods_of(records), records["samples"]) if n >= 3).most_common(1)[0][
        0
    ]


def slower_methods(said):
    return sorted({m["method"] for m in said["methods"] if m["verdict"] == "SLOWER"})


def judge(gaussweep, base, new, folder, method=None):
    """Prints what was found. Returns the complaints."""
    complaints = []
    code, said = compare(gaussweep, base, new)
    counts = verdicts(said)
    timed = sum(counts.values())
    if not timed:
        return ["no timed trial is in both"]
    quiet = counts["SAME"] + counts["UNCLEAR"]
    print(
        f"the same twice: {timed} trials, {dict(sorted(counts.items()))}: {100 * quiet / timed:.1f} % SAME or UNCLEAR;"
        f" exit code {code}"
    )
    for trial in said["trials"]:
        if trial["verdict"] in ("FASTER", "SLOWER"):
            print(
                "   {verdict} {method} {precision} n={n} {parameters} {matrix_kind}: {base_median:.3e} s ->"
                " {new_median:.3e} s".format(**trial)
            )
    if quiet < LEAST_SHARE * timed:
        complaints.append(f"only {quiet} of {timed} trials are SAME or UNCLEAR")
    if slower_methods(said):
        complaints.append(f"the same twice, but slower as a whole: {slower_methods(said)}")

    method = method or most_tried(new)
    slowed = pathlib.Path(folder) / "slowed.h5"
    slow_down(new, slowed, method)
    code, said = compare(gaussweep, base, slowed)
    found = slower_methods(said)
    trials = [t["verdict"] for t in said["trials"] if t["method"] == method]
    print(
        f"{method} slowed by {100 * (SLOWED - 1):.0f} %: SLOWER as a whole: {found}; of its {len(trials)} trials"
        f" {trials.count('SLOWER')}; exit code {code}"
    )
    if found != [method]:
        complaints.append(f"{method} was slowed, found was {found}")
    if code != 4:
        complaints.append(f"exit code {code}, not 4")
    return complaints


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    problems = judge(*sys.argv[1:])
    for problem in problems:
        print(f"FAILED: {problem}")
    sys.exit(1 if problems else 0)
