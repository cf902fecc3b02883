#!/usr/bin/env bash
# Measures the overhead around the methods. Prints, for a commit and a machine:
#   - trials per second: 1000 trials of n = 32 on the host, one sample each, two ranks, from the start of mpirun to
#     the finished results.h5 (goal: 100)
#   - seconds of `gaussweep summary` over 100,000 records (goal: 3)
#
#   tests/benchmark/machinery.sh [BUILD]        default: build
#
# Exit code 1 if a figure misses its goal.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
gaussweep=$(realpath "${1:-build}")/gaussweep
[[ -x $gaussweep ]] || { echo "machinery.sh: no $gaussweep; build first" >&2; exit 2; }
for python in "${PYTHON:-}" python3 /usr/bin/python3; do
  [[ -n $python ]] && "$python" -c 'import h5py' 2>/dev/null && break
done
source jobs/mpi_environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

now() { date +%s.%N; }
"$gaussweep" --version
echo "machine: $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"

start=$(now)
mpirun -n 2 "$gaussweep" run tests/benchmark/machinery.yaml --backend host -o "$work/run" >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
end=$(now)
"$python" - "$start" "$end" "$work/run/results.h5" <<'CODE' || missed=1
import sys
import h5py

with h5py.File(sys.argv[3]) as results:
    records = results["records"][()]
wrong = [r["status"] for r in records if r["status"] != b"pass"]
assert len(records) >= 1000 and not wrong, f"{len(records)} records, of which not passed: {wrong[:5]}"
seconds = float(sys.argv[2]) - float(sys.argv[1])
print(f"trials: {len(records)} in {seconds:.2f} s: {len(records) / seconds:.0f} per second (goal: 100)")
sys.exit(len(records) / seconds < 100)
CODE

"$python" tests/benchmark/grow_results.py "$work/run/results.h5" "$work/large.h5" 100000
start=$(now)
"$gaussweep" summary "$work/large.h5" >"$work/summary"
end=$(now)
awk -v start="$start" -v end="$end" -v lines="$(wc -l <"$work/summary")" 'BEGIN {
  printf "summary: 100000 records in %.2f s, %d lines (goal: 3)\n", end - start, lines
  exit end - start > 3
}' || missed=1
exit "${missed:-0}"
