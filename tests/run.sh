#!/usr/bin/env bash
# Builds gaussweep and tests all of it. The last line counts: "N passed, N failed, N skipped".
#
#   tests/run.sh [--quick]
#
#   --quick   without the sanitizer build and without the program for Kepler and Maxwell
#
# In order: packages (jobs/setup.sh), the build `ci` in build/ with every test, the build `dev` in build-dev/
# with address and undefined-behaviour sanitizers and its unit tests, the program with CUDA 11.8 (kepler_program.sh).
# A step that fails does not keep the next ones from running, except that nothing runs without a build.
# JOBS: how many compilers and tests at once (default: the number of cores).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
quick=false
for argument in "$@"; do
  case "$argument" in
    --quick) quick=true ;;
    -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "run.sh: unknown option '$argument'; allowed: --quick" >&2; exit 2 ;;
  esac
done
jobs=${JOBS:-$(nproc)}
source jobs/mpi_environment.sh
failures=()
reports=()

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# build PRESET FOLDER TARGET OPTION…: configures and builds; the compiler's output only where it has something to say.
build() {
  local preset=$1 folder=$2 target=$3 log
  shift 3
  log=$folder/build.log
  mkdir -p "$folder"
  cmake --preset "$preset" "$@" >"$log" 2>&1 && cmake --build "$folder" -j "$jobs" --target "$target" >>"$log" 2>&1
  local code=$?
  grep -E '^-- Backends|warning' "$log" || true
  if ((code)) && [[ ${!#} == -DGAUSSWEEP_UNITY=* && ${!#} != *=OFF ]]; then
    # Names of two files may clash that are right one by one.
    grep -m 5 'error' "$log"
    echo "run.sh: the build $preset failed with several files at a time; once more, file by file"
    build "$preset" "$folder" "$target" "${@:1:$#-1}" -DGAUSSWEEP_UNITY=OFF
    return
  fi
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
    # What passed or was skipped is in the log and in the summary.
    awk '/^The following tests did not run:/ {listing = 1} /^$/ {listing = 0}
      !listing && !/^ +Start +[0-9]+:|\.\.\.+ +Passed |\*\*\*Skipped/' "$folder/tests.log"
  }
}

step "packages"
jobs/setup.sh --for-tests || exit 1

step "build ci"
# Without a GPU here the architectures are those of the machines to come; with one, that one's as well.
options=(-DGAUSSWEEP_CUDA=AUTO)
gpu=true
nvidia-smi -L >/dev/null 2>&1 || gpu=false
# Nothing of them runs here, so that they compile is all there is to see.
if ! $gpu; then options+=(-DCMAKE_CUDA_ARCHITECTURES="75-real;90-real;120" -DGAUSSWEEP_SLOW_KERNELS=ON); fi
build ci build all "${options[@]}" -DGAUSSWEEP_UNITY=tests || exit 1
if ! grep -q '^-- Backends: cuda' build/build.log; then
  echo "run.sh: !!! NO CUDA COMPILER HERE: THE BACKEND cuda WAS NOT EVEN COMPILED !!!"
fi

step "tests"
# Three more than cores: the tests of Slurm, of time limits and of hangs mostly wait.
test_in build $((jobs + 3))

if ! $quick; then
  step "build dev, with sanitizers"
  if build dev build-dev unit_tests -DGAUSSWEEP_UNITY=ON; then
    step "unit tests with sanitizers"
    test_in build-dev "$jobs" -L unit
  fi
  step "the program for Kepler and Maxwell"
  tests/kepler_program.sh || failures+=("the program for Kepler and Maxwell")
  # The build above was for this GPU alone.
  if $gpu; then tests/portable_compile.sh || failures+=("portable kernels"); fi
fi

step "summary"
python3 - "${reports[@]}" <<'CODE'
import collections
import pathlib
import sys
import xml.etree.ElementTree as xml

passed = failed = 0
skipped = collections.defaultdict(list)
slowest = []


def skip(name, said):
    # googletest prints the reason of a skip under the place where it stands
    lines = [line.strip() for line in said.splitlines()]
    lines = [s for s in lines if s and not s.startswith(("[", "Running", "Note:", "/", "../")) and "Skipped" not in s]
    skipped[next(iter(lines), "no reason given")].append(name)


def tests_of(process):
    """What googletest says of the tests that ran in one process, as (name, status, what it said)."""
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
        for test, status, said in tests:
            if status == "skipped":
                skip(test, said)
            elif status == "completed":
                passed += 1
            else:
                failed += 1
                print(f"FAILED: {test} ({report.parts[0]})")
        if case.get("status") == "run":
            passed += not tests
        elif case.get("status") in ("notrun", "disabled"):
            skip(name, case.findtext("system-out") or "")
        elif not any(status == "failed" for _, status, _ in tests):  # a process that died has written nothing
            failed += 1
            print(f"FAILED: {name} ({report.parts[0]})")
for reason, names in skipped.items():
    print(f"SKIPPED {len(names)}: {reason} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
print("slowest:", "; ".join(f"{name} {seconds:.0f} s" for seconds, _, name in sorted(slowest, reverse=True)[:8]))
open("build/counts", "w", encoding="utf-8").write(f"{passed} passed, {failed} failed, {sum(map(len, skipped.values()))} skipped\n")
CODE
# shellcheck disable=SC2181
if (($?)); then failures+=("counting the tests"); fi
echo "took $SECONDS s"
if ((${#failures[@]})); then
  printf 'FAILED: %s\n' "${failures[@]}"
fi
cat build/counts
((${#failures[@]} == 0))
