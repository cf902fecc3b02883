#!/usr/bin/env bash
# Tests that jobs/quickstart.sh succeeds with an existing build: its output, and the records in results.h5.
#
#   tests/quickstart_test.sh BUILD FOLDER     FOLDER is replaced
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
GAUSSWEEP_BUILD=$build jobs/quickstart.sh -o "$folder/run" 2>&1 | tee "$folder/output"
grep -q "The run directory is $folder/run" "$folder/output"
grep -q '^/records (' "$folder/output"
grep -q '^A cell has the fastest method' "$folder/output"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import h5py' 2>/dev/null && break
done
"$python" - "$folder/run/results.h5" <<'CODE'
import sys
import h5py

with h5py.File(sys.argv[1]) as results:
    records = results["records"][()]
    assert len(records) >= 20, f"only {len(records)} trials"
    assert len(results["samples"]) >= len(records), "fewer samples than trials"
    ran = {record["problem"] + b"/" + record["method"] for record in records}
    for method in (b"gesv/gauss_serial", b"gesv/gauss_cyclic_decrement", b"gesv/lapack"):
        assert method in ran, f"{method} did not run"
    kinds = {record["matrix_kind"] for record in records}
    assert b"file" in kinds, f"no matrix came from a file: {kinds}"
    bad = [r for r in records if r["status"] not in (b"pass", b"suspect", b"failed", b"skipped")]
    assert not bad, bad
    # Only the cyclic schedules may fail.
    for record in records:
        assert record["status"] in (b"pass", b"skipped") or b"cyclic" in record["method"], record
CODE
