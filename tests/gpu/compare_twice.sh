#!/usr/bin/env bash
# On a machine with a GPU: runs compare_twice.yaml twice, and lets `gaussweep compare` say what changed (tests/compare_runs.py):
# at least 95 % of the trials must be SAME or UNCLEAR, and a method slowed by 10 % must be found. About a minute of GPU time.
# Usage: tests/gpu/compare_twice.sh BUILD OUT [RUN_OPTION…]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,4p' "$0"; exit 2; }
build=$1 out=$2
shift 2
for run in first second; do
  "$build/gaussweep" run "$here/compare_twice.yaml" -o "$out/$run" "$@"
  code=$?
  # A wrong answer has a time too; a run that broke off is no run.
  [ $code -le 1 ] || { echo "FAILED: run '$run' ended with exit code $code"; exit 1; }
done
"$here/../run_python.sh" "$here/../compare_runs.py" "$build/gaussweep" "$out/first/results.h5" "$out/second/results.h5" "$out"
