#!/usr/bin/env bash
# Runs compute-sanitizer on the kernels of gaussweep's own methods (tests/gpu/own_orders_test.cpp), in several concurrent processes on one GPU.
# Usage: tests/gpu/sanitize.sh PROGRAM OUT [--seconds S] [--jobs J] [--only REGEX]
#   PROGRAM      the test program, BUILD/tests/gpu_tests
#   OUT          a folder for the logs
#   --seconds S  total time (default: 500); the most important runs come first
#   --jobs J     processes at a time (default: half of the cores)
#   --only REGEX only the runs whose "TOOL ORDER METHODS" match
# Each run prints one line at its end: clean, FOUND ERRORS, "the tool failed", "cut off" or "not started". The exit status is 0 if all were clean.
# The vendors' kernels are not checked: their errors could not be mended here, and synccheck aborts launches of cuBLAS's triangular solves.
set -uo pipefail
program=$1 out=$2
seconds=500
jobs=$((($(nproc) + 1) / 2))
only=.
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --only) only=$2; shift ;;
    *) echo "sanitize.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
deadline=$((SECONDS + seconds))

declare -A methods=(
  [chain]="potrf_recursive"
  [lu]="getrf_recursive gesv_recursive"
  [cholesky]="posv_recursive poinv_recursive"
  [triangles]="trsv_inverted_blocks trtri_levels"
  [inverse]="geinv_recursive"
  [mixed]="gesv_mixed_gmres posv_mixed_gmres potrf_halves"
  [halves]="gemm_halves getrf_halves gesv_halves geinv_halves"
  [residues]="gemm_residues getrf_residues gesv_residues"
  [batched]="*_batched")

# Lists the runs as "tool order methods", the most important ones first.
runs() {
  local order tool group
  printf '%s\n' "racecheck 290 chain" "racecheck 1101 chain" "synccheck 37 lu" "synccheck 37 mixed" "synccheck 290 lu" "synccheck 290 chain" \
    "synccheck 1101 chain" "synccheck 1101 lu" "memcheck 4101 lu" "memcheck 4101 chain"
  for order in 37 290 1101 4101; do
    for tool in synccheck racecheck memcheck; do
      for group in chain lu cholesky triangles inverse mixed halves residues batched; do
        if ((order > 512)) && [ $group = batched ]; then continue; fi
        if ((order > 4000)) && [ $tool = racecheck ]; then continue; fi # minutes each
        echo "$tool $order $group"
      done
    done
  done
}

# run_one TOOL ORDER GROUP: runs the tool on a group of methods and prints the result
run_one() {
  local tool=$1 order=$2 group=$3 left=$((deadline - SECONDS)) began=$SECONDS filter="" method code summary tests
  local log=$out/$tool.$order.$group.log options=()
  for method in ${methods[$group]}; do filter+="*/OwnMethods.*/${method}_$order:"; done
  # LU's panels have more memory barriers than synccheck's table holds, so the table is enlarged. Such runs take turns, one
  # at a time.
  if [ "$tool" = synccheck ] && ((order > 100)) && [[ $group =~ ^(lu|inverse|mixed|halves|residues)$ ]]; then
    options=(--num-cuda-barriers 65536)
    exec 8> "$out/table.lock"
    flock -w "$left" 8 || { echo "$tool $order $group: not started"; return; }
    left=$((deadline - SECONDS))
  fi
  timeout -k 5 "$((left > 0 ? left : 1))" compute-sanitizer --tool "$tool" --error-exitcode 9 --kernel-name kns=gaussweep "${options[@]}" \
    "$program" --gtest_filter="$filter" > "$log" 2>&1
  code=$?
  tests=$(grep -cE '^\[       OK' "$log")
  summary=$(grep -hE 'SUMMARY' "$log" | tail -1 | sed 's/^=* *//')
  case $code in
    0)
      if grep -q '^\[  SKIPPED' "$log" || ((tests == 0)); then
        echo "$tool $order $group: NO TEST RAN"
      elif [[ $summary =~ :\ 0\  ]]; then
        echo "$tool $order $group: clean, $tests tests, $((SECONDS - began)) s"
      else
        echo "$tool $order $group: FOUND: $summary"
      fi ;;
    *) if grep -q 'Internal Sanitizer Error' "$log"; then
        echo "$tool $order $group: the tool failed ($(grep -m1 -o 'Internal Sanitizer Error.*' "$log"))"
        return
      fi ;;&
    124 | 137) echo "$tool $order $group: cut off after $((SECONDS - began)) s, $tests tests passed, $(grep -cE '^========= (Error|Warning|[A-Z].*(hazard|race))' "$log") messages" ;;
    *) echo "$tool $order $group: FOUND ERRORS ($code), $tests tests passed, $summary" ;;
  esac
}

done_file=$out/lines.txt
: > "$done_file"
while read -r tool order group; do
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
  if ((SECONDS + 5 > deadline)); then
    echo "$tool $order $group: not started" | tee -a "$done_file"
  else
    run_one "$tool" "$order" "$group" | tee -a "$done_file" &
  fi
done < <(runs | awk '!seen[$0]++' | grep -E "$only")
wait
all=$(wc -l < "$done_file")
clean=$(grep -c ': clean' "$done_file")
echo "compute-sanitizer: $clean of $all runs clean"
grep -hE '^=========' "$out"/*.log 2> /dev/null | grep -vE 'COMPUTE-SANITIZER|SUMMARY|^========= *$|Saved host|Host Frame|Target application' | head -40
((clean == all))
