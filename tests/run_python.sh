#!/usr/bin/env bash
# Runs a Python test with an interpreter that has h5py. Usage: run_python.sh SCRIPT [ARGUMENT…]
set -euo pipefail
for python in "${GAUSSWEEP_PYTHON:-}" /usr/bin/python3 python3; do
  if [ -n "$python" ] && "$python" -c 'import h5py, pandas' 2>/dev/null; then
    exec "$python" -B "$@"
  fi
done
echo "no python3 with h5py and pandas (Debian: python3-h5py python3-pandas)" >&2
exit 1
