#!/usr/bin/env bash
# Takes a fresh clone to a first sweep: installs missing packages, builds, runs jobs/plans/quickstart.yaml on MPI ranks,
# prints the fastest methods and reads the results with h5py.
#
#   jobs/quickstart.sh [-o DIR] [-n RANKS]
#
#   -o DIR    the run directory (default: runs/quickstart, or the next free runs/quickstart-2, -3, …)
#   -n RANKS  default: one per GPU; 2 if there is no GPU
#
# GAUSSWEEP_BUILD: the build folder (default: build). An existing build folder keeps its CMake settings.
set -euo pipefail
fail() { echo "quickstart.sh: $*" >&2; exit 2; }
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=
ranks=
while [[ $# -gt 0 ]]; do
  case "$1" in
    -o) [[ -n ${2:-} ]] || fail "-o needs a directory"; output=$(realpath -m "$2"); shift 2 ;;
    -n) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "-n needs a number of ranks, 1 or more"; ranks=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) fail "unknown option '$1'; allowed: -o DIR, -n RANKS" ;;
  esac
done
cd "$source_root"
build=${GAUSSWEEP_BUILD:-build}

jobs/setup.sh

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
# A unity build compiles several files together, which reduces the time of a build from scratch by a third.
options=(-DCMAKE_BUILD_TYPE=Release -DGAUSSWEEP_UNITY=ON)
if [[ $gpus -eq 0 ]]; then
  # Without a GPU the backend cuda cannot run, and compiling it takes most of the build's time.
  options+=(-DGAUSSWEEP_CUDA=OFF)
  echo "quickstart.sh: no GPU here: building without the backend cuda; GPU methods run emulated"
fi
if [[ ! -f $build/CMakeCache.txt ]]; then
  cmake -S . -B "$build" -G Ninja "${options[@]}"
fi
cmake --build "$build" --target gaussweep
gaussweep=$build/gaussweep

if [[ -z $output ]]; then
  output=runs/quickstart
  for ((next = 2; ; ++next)); do
    [[ -e $output ]] || break
    output=runs/quickstart-$next
  done
fi
mkdir -p "$(dirname "$output")"
if [[ -z $ranks ]]; then
  ranks=$((gpus > 0 ? gpus : 2))
fi

source jobs/mpi_environment.sh
mpirun -n "$ranks" "$gaussweep" run jobs/plans/quickstart.yaml -o "$output"

echo
"$gaussweep" summary "$output" --best --by gpu
echo
echo "The run directory is $output. Its results are $output/results.h5; with h5py:"
# Debian's h5py belongs to the system's python3, which may not be the first on PATH.
python=
for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
  if [[ -n $candidate ]] && "$candidate" -c 'import h5py' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [[ -z $python ]]; then
  echo "quickstart.sh: no python3 with h5py found (package python3-h5py; or name one in PYTHON)" >&2
  exit 1
fi
show='import sys, h5py
with h5py.File(sys.argv[1]) as results:
    records, samples = results["records"][()], results["samples"]
    print("/records", records.shape, "of", len(records.dtype.names), "columns;  /samples", samples.shape)
    best = min(records[records["status"] == b"pass"], key=lambda record: record["residual_ratio"])
    print("most accurate:", best["problem"].decode() + "/" + best["method"].decode(), "n =", best["n"],
          "residual ratio", best["residual_ratio"])'
printf '%s\n' "$show" | sed 's/^/    /'
"$python" -c "$show" "$output/results.h5"
