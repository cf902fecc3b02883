#!/usr/bin/env bash
# The matrices and the image that ship are, byte for byte, what tests/data/make_matrices.py and make_image.py write.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 tests/data/make_matrices.py "$made"
python3 tests/data/make_image.py "$made"
diff -r "$made" jobs/plans/data
echo "data_test.sh: $(find jobs/plans/data -type f | wc -l) files are as generated"
