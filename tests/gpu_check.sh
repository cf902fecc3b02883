#!/usr/bin/env bash
# On a machine with a GPU: builds, runs the tests labelled gpu, then compute-sanitizer on small sizes.
# Usage: tests/gpu_check.sh [--build DIR] [--no-sanitizer] [CMAKE_OPTION…]
# Left out of the sanitizers: the tests of peaks, which measure speed, and from racecheck the vendors' kernels, which are not
# ours and take minutes. Each tool says one line: clean, FOUND ERRORS, not finished, or "not run" where the machine refuses it.
set -uo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=$source_dir/build-gpu
sanitize=yes
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --no-sanitizer) sanitize=no ;;
    --help) sed -n '2,5p' "$0"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done
cmake -G Ninja -S "$source_dir" -B "$build" -DCMAKE_BUILD_TYPE=Release -DGAUSSWEEP_CUDA=ON "${options[@]}" > "$build.configure.log" 2>&1 \
  || { tail -20 "$build.configure.log"; exit 1; }
ninja -C "$build" gaussweep gaussweep_faulty gpu_tests > "$build.build.log" 2>&1 || { grep -E 'error|FAILED' "$build.build.log" | head -30; exit 1; }
failed=0
(cd "$build" && ctest -L gpu --output-on-failure -j 8 > "$build.ctest.log" 2>&1) || failed=1
tail -25 "$build.ctest.log"
# sanitizer TOOL FILTER
sanitizer() {
  local tool=$1 log=$build.$1.log
  GAUSSWEEP_SMALL=1 timeout 500 compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/gpu_tests" --gtest_filter="$2" > "$log" 2>&1
  local code=$?
  if grep -qiE 'device not supported|unable to|initialization failed' "$log" && [ $code -ne 9 ]; then
    echo "compute-sanitizer $tool: not run ($(grep -iE 'not supported|unable to' "$log" | head -1))"
  elif [ $code -eq 0 ]; then
    echo "compute-sanitizer $tool: clean ($(grep -E 'SUMMARY' "$log" | tail -1); $(grep -E '^\[  PASSED' "$log"))"
  elif [ $code -eq 124 ]; then
    echo "compute-sanitizer $tool: not finished in time, $(grep -cE '^\[       OK' "$log") tests passed"
    return 1
  else
    echo "compute-sanitizer $tool: FOUND ERRORS (exit $code)"
    grep -E '=========|FAILED' "$log" | head -40
    return 1
  fi
}
if [ $sanitize = yes ]; then
  sanitizer memcheck '-*Peaks*' &
  memcheck=$!
  sanitizer racecheck '-*Peaks*:*VendorRows*' || failed=1
  wait $memcheck || failed=1
fi
exit $failed
