#!/usr/bin/env bash
# Builds on a machine with GPUs, runs the tests labelled gpu, then compute-sanitizer on small sizes.
# Usage: tests/gpu_check.sh [--build DIR] [--no-sanitizer] [--shards N] [--seconds S] [CMAKE_OPTION…]
#   --shards N   processes per sanitizer (default: a third of the cores)
#   --seconds S  time limit (default: 500)
# Several GPUs share the tests and the sanitizers' processes. The sanitizers skip tests of peaks, because these measure speed. racecheck skips vendor
# kernels: they take minutes and are not ours. memcheck skips tests of refused calls, which it reports. Each tool prints clean, FOUND ERRORS,
# not finished, or "not run" (refused by the machine). tests/gpu/sanitize.sh then runs our own methods at larger orders, also under synccheck, and
# prints one line per run.
set -uo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=$source_dir/build-gpu
sanitize=yes
shards=$((($(nproc) + 2) / 3))
seconds=500
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --no-sanitizer) sanitize=no ;;
    --shards) shards=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --help) sed -n '2,9p' "$0"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done
cmake -G Ninja -S "$source_dir" -B "$build" -DCMAKE_BUILD_TYPE=Release -DGAUSSWEEP_CUDA=ON "${options[@]}" > "$build.configure.log" 2>&1 \
  || { tail -20 "$build.configure.log"; exit 1; }
ninja -C "$build" gaussweep gaussweep_faulty gpu_tests > "$build.build.log" 2>&1 || { grep -E 'error|FAILED' "$build.build.log" | head -30; exit 1; }
gpus=$(nvidia-smi -L | grep -c '^GPU')
((gpus > 0)) || { echo "gpu_check.sh: nvidia-smi lists no GPU" >&2; exit 1; }
failed=0

# Every GPU takes each gpus-th test.
began=$SECONDS
tests=()
for ((gpu = 0; gpu < gpus; ++gpu)); do
  (cd "$build" && CUDA_VISIBLE_DEVICES=$gpu ctest -L gpu --output-on-failure -j 8 -I "$((gpu + 1)),,$gpus" > "$build.ctest.$gpu.log" 2>&1) &
  tests+=($!)
done
for gpu in "${!tests[@]}"; do
  wait "${tests[$gpu]}" || failed=1
  grep -E 'tests passed|Failed|\*\*\*' "$build.ctest.$gpu.log"
done
echo "tests: $((SECONDS - began)) s on $gpus GPUs"

# sanitizer TOOL FILTER
sanitizer() {
  local tool=$1 shard codes=0 unfinished=0 running=()
  for ((shard = 0; shard < shards; ++shard)); do
    CUDA_VISIBLE_DEVICES=$((shard % gpus)) GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard GAUSSWEEP_SMALL=1 \
      timeout "$seconds" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/gpu_tests" --gtest_filter="$2" \
      > "$build.$tool.$shard.log" 2>&1 &
    running+=($!)
  done
  for shard in "${!running[@]}"; do
    wait "${running[$shard]}"
    case $? in
      0) ;;
      124) unfinished=$((unfinished + 1)) ;;
      *) codes=$((codes + 1)) ;;
    esac
  done
  local logs=("$build.$tool".*.log) ok
  ok="$(cat "${logs[@]}" | grep -cE '^\[       OK') tests passed"
  if grep -qiE 'device not supported|unable to|initialization failed' "${logs[@]}" && ! grep -q '^\[       OK' "${logs[@]}"; then
    echo "compute-sanitizer $tool: not run ($(grep -hiE 'not supported|unable to' "${logs[@]}" | head -1))"
  elif ((codes)); then
    echo "compute-sanitizer $tool: FOUND ERRORS in $codes of $shards processes, $ok"
    grep -hE '=========|FAILED' "${logs[@]}" | grep -v 'ERROR SUMMARY: 0' | head -40
    return 1
  elif ((unfinished)); then
    echo "compute-sanitizer $tool: nothing found, $ok; $unfinished of $shards processes not finished in $seconds s"
    return 1
  else
    echo "compute-sanitizer $tool: clean, $ok"
  fi
}
if [ $sanitize = yes ]; then
  rm -f "$build".memcheck.*.log "$build".racecheck.*.log
  sanitizer memcheck '-*Peaks*:RecordingOnGpu.*Refused*:Gpu.*Refused*' &
  memcheck=$!
  sanitizer racecheck '-*Peaks*:*VendorMethods*:RecordingOnGpu.VendorRoutines*' || failed=1
  wait $memcheck || failed=1
  "$source_dir"/tests/gpu/sanitize.sh "$build/tests/gpu_tests" "$build.orders" --seconds "$seconds" || failed=1
fi
exit $failed
