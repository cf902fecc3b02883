#!/usr/bin/env bash
# Builds gaussweep and tests it. The last line counts: "N passed, N failed, N skipped".
#
#   tests/run.sh [--all | --unit [MODULE]]
#
#   (nothing)       tests that a change may break: on two cores 16 to 24 minutes with a compiler cache, 36 without
#   --all           also slow tests that seldom fail (tests/README.md has the list)
#   --unit [MODULE] the unit tests of kernels, io or driver, or of all three: no CUDA, at most 3 minutes after a first build
#
# In order: packages (jobs/setup.sh), the build `ci` in build/ with its tests, the build `dev` in build-dev/ with address
# and undefined-behaviour sanitizers and its unit tests, the kernels with CUDA 11.8 (kepler_program.sh).
# A failed step does not stop the next ones, except that nothing runs without a build.
# JOBS: number of concurrent compilers and tests (default: the number of cores).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
refuse() { echo "run.sh: $*; allowed: --all, --unit, --unit kernels, --unit io, --unit driver" >&2; exit 2; }
mode=${1:-}
module=${2:-}
case "$mode" in
  '' | --all) if (($# > 1)); then refuse "unexpected argument '$2'"; fi ;;
  --unit) if (($# > 2)); then refuse "unexpected argument '$3'"; fi ;;
  -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  *) refuse "unknown option '$mode'" ;;
esac
case "$module" in
  '' | kernels | io | driver) ;;
  *) refuse "unknown module '$module'" ;;
esac
jobs=${JOBS:-$(nproc)}
source jobs/mpi_environment.sh
failures=()
warnings=()
reports=()
minutes=()
current=

# step NAME: begins a step, which ends the previous one.
step() {
  if [[ -n $current ]]; then
    minutes+=("$current $(((SECONDS - began + 3) / 6))")
    printf '   %s took %d s\n' "$current" $((SECONDS - began))
  fi
  current=$1
  began=$SECONDS
  if [[ -n $current ]]; then printf '\n== %s\n' "$current"; fi
}

# build PRESET FOLDER TARGET OPTION…: configures and builds; prints the compiler's output if there are errors or
# warnings.
build() {
  local preset=$1 folder=$2 target=$3 log
  shift 3
  log=$folder/build.log
  mkdir -p "$folder"
  cmake --preset "$preset" -B "$folder" -DGAUSSWEEP_UNITY=ON "$@" >"$log" 2>&1 &&
    cmake --build "$folder" -j "$jobs" --target "$target" >>"$log" 2>&1
  local code=$?
  if ((code)) && [[ ${!#} != -DGAUSSWEEP_UNITY=OFF ]]; then
    # Two files that compile alone may use one name for different things.
    grep -m 5 'error' "$log"
    echo "run.sh: the build $preset failed with several files at a time; once more, file by file"
    build "$preset" "$folder" "$target" "$@" -DGAUSSWEEP_UNITY=OFF || return
    warnings+=("the build $preset passes file by file only: two files of a library use one name")
    return
  fi
  grep -E '^-- Backends|warning' "$log" || true
  if ((code)); then
    grep -E -A 20 'error|FAILED|Error' "$log" | head -n 200
    echo "run.sh: the build $preset failed; all of its output is in $log"
    failures+=("build $preset")
  elif grep -q 'warning' "$log"; then
    failures+=("warnings in the build $preset")
  fi
  return $code
}

# test_in FOLDER TESTS_AT_ONCE OPTION…
test_in() {
  local folder=$1 at_once=$2
  shift 2
  reports+=("$folder/tests.xml")
  rm -f "$folder/tests.xml" "$folder"/tests/*_tests.*.xml
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$at_once" --output-junit tests.xml "$@" \
    >"$folder/tests.log" 2>&1 || {
    failures+=("tests in $folder")
    # Passed and skipped tests are in the log and in the summary.
    awk '/^The following tests did not run:/ {listing = 1} /^$/ {listing = 0}
      !listing && !/^ +Start +[0-9]+:|\.\.\.+ +Passed |\*\*\*Skipped/' "$folder/tests.log"
  }
}

build_and_test_units() {
  step "build of the unit tests"
  build ci build-unit "unit_tests${module:+_$module}" -DGAUSSWEEP_CUDA=OFF || exit 1
  step "unit tests"
  test_in build-unit "$jobs" -L "^(${module:-kernels|io|driver})\$"
}

build_and_test_everything() {
  # Without a GPU nothing runs on the backend cuda, so only its compilation is tested. With a GPU the build is for that
  # GPU.
  local options=(-DGAUSSWEEP_CUDA=AUTO) gpu=true fast=(-LE slow) sanitized=(-L '^(io|simt)$')
  nvidia-smi -L >/dev/null 2>&1 || gpu=false
  if [[ $mode == --all ]]; then
    fast=()
    sanitized=(-L unit)
  fi
  if ! $gpu; then
    options+=(-DGAUSSWEEP_SLOW_KERNELS=ON -DCMAKE_CUDA_ARCHITECTURES=90-real)
    if [[ $mode == --all ]]; then options+=(-DCMAKE_CUDA_ARCHITECTURES="75-real;90-real;120"); fi
  fi
  step "build ci"
  build ci build all "${options[@]}" || exit 1
  if ! grep -q '^-- Backends: cuda' build/build.log; then
    echo "run.sh: !!! NO CUDA COMPILER HERE: THE BACKEND cuda WAS NOT EVEN COMPILED !!!"
  fi
  step "tests"
  # Five more processes than cores, because the tests of Slurm, of time limits and of hangs mostly wait.
  test_in build $((jobs + 5)) "${fast[@]}"

  step "build dev, with sanitizers"
  if build dev build-dev "$([[ $mode == --all ]] && echo unit_tests || echo sanitized_tests)"; then
    step "unit tests with sanitizers"
    test_in build-dev "$jobs" "${sanitized[@]}"
  fi
  if [[ $mode == --all ]]; then
    step "the program for Kepler and Maxwell"
    tests/kepler_program.sh || failures+=("the program for Kepler and Maxwell")
    # The build above was for this GPU only.
    if $gpu; then tests/portable_compile.sh || failures+=("portable kernels"); fi
  else
    step "the kernels for Kepler"
    tests/kepler_program.sh --kernels || failures+=("the kernels for Kepler")
  fi
}

step "packages"
jobs/setup.sh --for-tests || exit 1
if [[ $mode == --unit ]]; then build_and_test_units; else build_and_test_everything; fi

step "summary"
mkdir -p build
python3 - "${reports[@]}" <<'CODE'
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

passed = failed = 0
skipped = collections.defaultdict(list)
slowest = []


def skip(name, message):
    # googletest prints the reason of a skip below its location
    lines = [line.strip() for line in message.splitlines()]
    lines = [s for s in lines if s and not re.match(r"\[|Running|Note:|\S+:\d+$|.*Skipped", s)]
    skipped[next(iter(lines), "no reason given")].append(name)


def tests_of(process):
    """Returns googletest's results of the tests that ran in one process, as (name, status, message)."""
    for case in xml.parse(process).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        status = "failed" if case.find("failure") is not None else case.get("result")
        yield name, status, "".join(part.text or "" for part in case.findall("skipped"))


for report in map(pathlib.Path, sys.argv[1:]):
    for case in xml.parse(report).getroot().iter("testcase"):
        name = case.get("name")
        slowest.append((float(case.get("time") or 0), report.parts[0], name))
        process = report.parent / "tests" / f"{name}.xml"
        tests = list(tests_of(process)) if process.exists() else []
        for test, status, message in tests:
            if status == "skipped":
                skip(test, message)
            elif status == "completed":
                passed += 1
            else:
                failed += 1
                print(f"FAILED: {test} ({report.parts[0]})")
        if case.get("status") == "run":
            passed += not tests
        elif case.get("status") in ("notrun", "disabled"):
            skip(name, case.findtext("system-out") or "")
        elif not any(status == "failed" for _, status, _ in tests):  # a process that died has written no results
            failed += 1
            print(f"FAILED: {name} ({report.parts[0]})")
for reason, names in skipped.items():
    print(f"SKIPPED {len(names)}: {reason} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
print("slowest:", "; ".join(f"{name} {seconds:.0f} s" for seconds, _, name in sorted(slowest, reverse=True)[:8]))
open("build/counts", "w", encoding="utf-8").write(f"{passed} passed, {failed} failed, {sum(map(len, skipped.values()))} skipped\n")
CODE
# shellcheck disable=SC2181
if (($?)); then failures+=("counting the tests"); fi
step ""
for line in "${minutes[@]}"; do
  printf 'minutes: %5.1f  %s\n' "${line##* }e-1" "${line% *}"
done
echo "took $SECONDS s"
if ((${#warnings[@]})); then printf 'WARNING: %s\n' "${warnings[@]}"; fi
if ((${#failures[@]})); then
  printf 'FAILED: %s\n' "${failures[@]}"
fi
cat build/counts
((${#failures[@]} == 0))
