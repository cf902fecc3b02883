#!/usr/bin/env bash
# The matrices that ship are, byte for byte, what tests/data/make_matrices.py writes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 tests/data/make_matrices.py "$made"
diff -r "$made" jobs/plans/data
echo "data_test.sh: $(find jobs/plans/data -name '*.mtx' | wc -l) matrices are as generated"
