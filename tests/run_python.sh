#!/usr/bin/env bash
# Runs a Python test with an interpreter that has h5py. Usage: run_python.sh SCRIPT [ARGUMENT…]
set -euo pipefail
# If this variable is not set, gaussweep sets it and starts itself again (driver/command/cli.cpp), which takes time.
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
# Looks for the modules without importing them, which would take longer than most scripts.
has='import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("h5py", "pandas"))))'
for python in "${GAUSSWEEP_PYTHON:-}" /usr/bin/python3 python3; do
  if [ -n "$python" ] && "$python" -c "$has" 2>/dev/null; then
    exec "$python" -B "$@"
  fi
done
echo "no python3 with h5py and pandas (Debian: python3-h5py python3-pandas)" >&2
exit 1
