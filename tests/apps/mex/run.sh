#!/usr/bin/env bash
# Tests the gateway to MATLAB and Octave in Octave, on the CPU's backends.
#
#   tests/apps/mex/run.sh BUILD      a build folder with gaussweep and gaussweep_mex
#
# Skipped (exit code 77) if Octave or the gateway is missing; with CI=true that is a failure.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:?the build folder}" && pwd)

missing() {
  if [[ ${CI:-} == true ]]; then
    echo "FAILED: $1 (in CI nothing may be missing)"
    exit 1
  fi
  echo "SKIPPED: $1"
  exit 77
}
command -v octave-cli >/dev/null || missing "no octave-cli on PATH (Debian: octave)"
[[ -f $build/mex/gaussweep_mex.mex ]] || missing "no gateway for Octave in $build/mex (Debian: octave-dev, then configure anew)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/gaussweep" methods --format json >"$work/methods.json"
# Octave reads neither its history file nor the user's start-up files.
octave-cli --norc --no-history --quiet "$folder/gateway_test.m" "$build/mex" "$work/methods.json"
