#!/usr/bin/env bash
# On a machine with N GPUs: tests/gpu/two_gpus.yaml over N ranks, and the misbehaving kernels. Prints statuses by method.
# Usage: tests/gpu_sweep.sh BUILD N OUTPUT [RUN_OPTION…]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../jobs/mpi_environment.sh"
build=$1 ranks=$2 output=$3
shift 3
time mpirun -n "$ranks" "$build/gaussweep" run "$here/gpu/two_gpus.yaml" -o "$output/sweep-$ranks" "$@"
echo "sweep: exit code $?"
time mpirun -n "$ranks" "$build/gaussweep_faulty" run "$here/gpu/faults.yaml" -o "$output/faults-$ranks"
echo "faults: exit code $?"
"$here/run_python.sh" - "$output/sweep-$ranks/results.h5" "$output/faults-$ranks/results.h5" <<'P'
import collections, sys, h5py
for path in sys.argv[1:]:
    with h5py.File(path) as f:
        r = f["records"][:]
    print(path, len(r), "records; GPUs:", sorted({u.decode() for u in r["gpu_uuid"] if u}))
    print("  largest difference from the vendor where it passed:",
          max((d for d, s in zip(r["reference_difference"], r["status"]) if s == b"pass" and d == d), default=None))
    count = collections.Counter((m.decode(), k.decode(), s.decode()) for m, k, s in zip(r["method"], r["matrix_kind"], r["status"]))
    for key, number in sorted(count.items()):
        print("  %-28s %-20s %-8s %d" % (*key, number))
    nameless = sum(b == b"cuda" and not name for b, name in zip(r["backend"], r["gpu_name"]))
    if nameless:
        print("  FAILED:", nameless, "records of a GPU do not name it")
    for row in r:
        if row["status"] in (b"crashed", b"timeout", b"oom", b"error"):
            print("  !", row["method"].decode(), row["n"], row["status"].decode(), row["message"].decode())
P
