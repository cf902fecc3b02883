#!/usr/bin/env bash
# Tests that the shipped matrices and image equal the output of tests/data/make_matrices.py and make_image.py, byte for
# byte.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 tests/data/make_matrices.py "$made"
python3 tests/data/make_image.py "$made"
diff -r "$made" jobs/plans/data
echo "data_test.sh: $(find jobs/plans/data -type f | wc -l) files are as generated"
