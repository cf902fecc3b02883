#!/usr/bin/env bash
# On a machine with a GPU: builds, runs the tests labelled gpu, then compute-sanitizer on small sizes.
# Usage: tests/gpu_check.sh [--build DIR] [--no-sanitizer] [CMAKE_OPTION…]
# (Without the tests of peaks: they measure speed, which a checker spoils.) Results of the sanitizer are said in one line a tool: clean, FOUND ERRORS, or "not run" where the machine refuses it.
set -uo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=$source_dir/build-gpu
sanitize=yes
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --no-sanitizer) sanitize=no ;;
    --help) sed -n '2,4p' "$0"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done
cmake -G Ninja -S "$source_dir" -B "$build" -DCMAKE_BUILD_TYPE=Release -DGAUSSWEEP_CUDA=ON "${options[@]}" > "$build.configure.log" 2>&1 \
  || { tail -20 "$build.configure.log"; exit 1; }
ninja -C "$build" gaussweep gaussweep_faulty gpu_tests > "$build.build.log" 2>&1 || { grep -E 'error|FAILED' "$build.build.log" | head -30; exit 1; }
failed=0
(cd "$build" && ctest -L gpu --output-on-failure -j 2 > "$build.ctest.log" 2>&1) || failed=1
tail -25 "$build.ctest.log"
if [ $sanitize = yes ]; then
  for tool in memcheck racecheck; do
    log=$build.$tool.log
    GAUSSWEEP_SMALL=1 timeout 280 compute-sanitizer --tool $tool --error-exitcode 9 "$build/tests/gpu_tests" --gtest_filter='-*Peaks*' > "$log" 2>&1
    code=$?
    if grep -qiE 'device not supported|unable to|initialization failed' "$log" && [ $code -ne 9 ]; then
      echo "compute-sanitizer $tool: not run ($(grep -iE 'not supported|unable to' "$log" | head -1))"
    elif [ $code -eq 0 ]; then
      echo "compute-sanitizer $tool: clean ($(grep -E 'SUMMARY' "$log" | tail -1); $(grep -E '^\[  PASSED' "$log"))"
    elif [ $code -eq 124 ]; then
      echo "compute-sanitizer $tool: not finished in time"
    else
      echo "compute-sanitizer $tool: FOUND ERRORS (exit $code)"; grep -E '=========|FAILED' "$log" | head -40
      failed=1
    fi
  done
fi
exit $failed
