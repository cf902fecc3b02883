#!/usr/bin/env bash
# Tests that an installation by `cmake --install` works: the program runs and finds the installed plans.
#
#   tests/install_test.sh BUILD        a built build folder
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "${1:?usage: tests/install_test.sh BUILD}" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }
program=$prefix/bin/gaussweep
[[ $("$program" --version) == gaussweep\ * ]] || { echo "install_test.sh: $program prints no version"; exit 1; }
# The installed program looks for cuBLAS and cuSOLVER in the same folders as the built one.
folders() { readelf -d "$1" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p' | tr ':' '\n' | sort -u; }
missing=$(comm -23 <(folders "$1/gaussweep") <(folders "$program"))
[[ -z $missing ]] || { echo "install_test.sh: the installed program no longer searches $missing"; exit 1; }
output=$("$program" plan "$prefix/share/gaussweep/jobs/plans/quickstart.yaml" --backend emulated)
[[ $output == *"trials, 0 skipped, one after the other"* ]] || { echo "install_test.sh: plan printed: $output"; exit 1; }
for name in README.md io/SCHEMA.md tests/README.md LICENSE docs/plan.md docs/pictures/architecture.svg; do
  find "$prefix" -path "*/$name" | grep -q . || { echo "install_test.sh: $name is missing"; exit 1; }
done
grep -q '^\.SH' "$prefix/share/man/man1/gaussweep.1" || { echo "install_test.sh: no manual page"; exit 1; }
grep -q 'complete .*gaussweep' "$prefix/share/bash-completion/completions/gaussweep" || { echo "install_test.sh: no completion"; exit 1; }
[[ $("$prefix/bin/gaussweep-report" --help) == usage:* ]] || { echo "install_test.sh: the report does not start"; exit 1; }
# The Python package reads results, and its strings compare equal to str.
python3=$(PATH=/usr/bin:$PATH command -v python3)
run=$prefix/results.h5
"$python3" -c 'import sys; sys.path.insert(0, sys.argv[1]); import fixture; n = fixture.Night(); n.trial("gesv", "lapack", 4, 1e-3)
n.write(sys.argv[2])' "$(dirname "$0")/analysis" "$run"
output=$(cd "$prefix" && PYTHONPATH=$prefix/lib/python3/dist-packages "$python3" -c 'import gaussweep, sys
records = gaussweep.load(sys.argv[1]).records
print((records.status == "pass").sum(), gaussweep.__file__)' "$run")
[[ $output == "1 $prefix"* ]] || { echo "install_test.sh: the Python package printed: $output"; exit 1; }
# A job script finds the program that was installed with it, and submits nothing under --dry-run.
output=$("$prefix/share/gaussweep/jobs/slurm/sweep.sbatch" "$prefix/share/gaussweep/jobs/plans/quickstart.yaml" -o "$prefix/run" --dry-run 2>&1) || true  # sbatch may refuse
[[ $output != *"no program"* && $output == *"dry run: nothing was submitted"* ]] || { echo "install_test.sh: sweep.sbatch printed: $output"; exit 1; }
if find "$prefix" -name '*faulty*' | grep -q .; then echo "install_test.sh: parts of the build were installed"; exit 1; fi
# The methods work as a CMake package, and the C interface also by pkg-config alone.
libraries=$(dirname "$(find "$prefix" -name libgaussweep.so)")
package=$(dirname "$0")/package
{
  # A rule whose choice has parameters, for docs/rule.md's call of the chosen method.
  echo 'sweep: [{problem: gesv, method: batched, kernel: panels, n: 2, matrix: {kind: uniform}}]' >"$prefix/plan.yaml"
  "$program" run "$prefix/plan.yaml" -o "$prefix/panels" --backend emulated
  "$program" rule "$prefix/panels" -o "$prefix/rule"
  grep -q 'panels' "$prefix/rule/rule.h"
  for language in . c rule; do
    cmake -S "$package/$language" -B "$prefix/package/$language" -DCMAKE_PREFIX_PATH="$prefix" -DRULE="$prefix/rule" &&
      cmake --build "$prefix/package/$language"
  done
  # shellcheck disable=SC2046  # several words
  cc -std=c99 "$package/c/solve.c" -o "$prefix/package/solve_by_pkg_config" \
    $(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs gaussweep)
} >"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
export LD_LIBRARY_PATH=$libraries
for program in solve rule/choose rule/times c/solve solve_by_pkg_config; do
  output=$("$prefix/package/$program" | tail -n 1)
  [[ $output == "info 0, x = (2, 3)" ]] || { echo "install_test.sh: $program printed: $output"; exit 1; }
done
# The library for LD_PRELOAD is next to libgaussweep, and a program starts with it.
output=$(LD_PRELOAD=$libraries/libgaussweep_cusolver.so "$prefix/package/c/solve" 2>&1)
[[ $output == "info 0, x = (2, 3)" ]] || { echo "install_test.sh: with libgaussweep_cusolver a program printed: $output"; exit 1; }
