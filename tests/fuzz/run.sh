#!/usr/bin/env bash
# Fuzzes the readers of plans, Matrix Market files, journals, matrices in HDF5 and MATLAB files, images and results.h5
# with libFuzzer, under address and undefined-behaviour sanitizers. Exit code 0: no findings.
#
#   tests/fuzz/run.sh [--seconds S] [--build FOLDER] [TARGET…]
#
#   --seconds S      per target (default 60)
#   --build FOLDER   folder for the targets and the findings (default build-fuzz)
#   TARGET           plan, matrix_market, journal, hdf5_matrix, image, results (default: all, one after the other)
#
# Starts with the inputs in tests/fuzz/corpus/TARGET and does not change them. New inputs go to FOLDER/corpus, crashing
# ones to FOLDER/found. Add the input of a fixed finding to tests/fuzz/corpus, where the unit tests fuzz.TARGET
# replay it. Needs clang-14 and libclang-rt-14-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=60
build="build-fuzz"
targets=()
while (($#)); do
  case "$1" in
    --seconds) seconds=$2; shift ;;
    --build) build=$2; shift ;;
    -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    plan | matrix_market | journal | hdf5_matrix | image | results) targets+=("$1") ;;
    *) echo "run.sh: unknown '$1'; allowed: --seconds, --build, plan, matrix_market, journal, hdf5_matrix, image, results" >&2; exit 2 ;;
  esac
  shift
done
((${#targets[@]})) || targets=(plan matrix_market journal hdf5_matrix image results)

mkdir -p "$build/objects" "$build/found"
compiler=${CXX:-clang++-14}
# shellcheck disable=SC2054
flags=(-std=c++17 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
  -DGAUSSWEEP_HAS_NETPBM -I. -isystem /usr/include/hdf5/serial)
# compile SOURCE OBJECT FLAG…: compiles unless the object is newer than all its sources.
compile() {
  local source=$1 object=$2
  shift 2
  if [[ -f $object && -f $object.d ]]; then
    local stale=false file
    # shellcheck disable=SC2013
    for file in $(sed -e 's/^[^:]*://' -e 's/\\$//' "$object.d"); do
      [[ ! -e $file || $file -nt $object ]] && stale=true
    done
    $stale || return 0
  fi
  "$compiler" "${flags[@]}" "$@" -MD -MF "$object.d" -c "$source" -o "$object"
}
objects=()
for source in io/*/*.cpp; do
  object=$build/objects/$(basename "$source" .cpp).o
  compile "$source" "$object" -fsanitize=fuzzer-no-link
  objects+=("$object")
done

export LSAN_OPTIONS=suppressions=$PWD/tests/fuzz/leaks.supp:print_suppressions=0
# The allocation limit is the sanitizer's, because libFuzzer's would save inputs that ended only a child of the target.
export ASAN_OPTIONS=max_allocation_size_mb=2048
failed=()
for target in "${targets[@]}"; do
  compile "tests/fuzz/${target}_fuzz.cpp" "$build/objects/${target}_fuzz.o" -fsanitize=fuzzer-no-link
  "$compiler" "${flags[@]}" -fsanitize=fuzzer "$build/objects/${target}_fuzz.o" "${objects[@]}" -o "$build/$target" \
    -L/usr/lib/x86_64-linux-gnu/hdf5/serial -lyaml-cpp -lhdf5 -lcrypto -lz -lpng -lnetpbm
  mkdir -p "$build/corpus/$target"
  echo "== $target, $seconds s"
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=4096 -print_final_stats=1
    -artifact_prefix="$build/found/$target-")
  [[ -f tests/fuzz/$target.dict ]] && options+=(-dict="tests/fuzz/$target.dict")
  [[ $target == journal ]] && options+=(-max_len=8192)
  "$build/$target" "${options[@]}" "$build/corpus/$target" "tests/fuzz/corpus/$target" >"$build/$target.log" 2>&1 ||
    failed+=("$target")
  grep -E '^(==.*(ERROR|WARNING)|SUMMARY|stat::number_of_executed_units|stat::peak_rss|Done)|runtime error' "$build/$target.log" || true
done
if ((${#failed[@]})); then
  echo "found something: ${failed[*]}; see $build/TARGET.log and $build/found"
  exit 1
fi
