#!/usr/bin/env bash
# What `cmake --install` puts under a prefix works there: the program runs, and knows the plans that came along.
#
#   tests/install_test.sh BUILD        a built build folder
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "${1:?usage: tests/install_test.sh BUILD}" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }
program=$prefix/bin/gaussweep
[[ $("$program" --version) == gaussweep\ * ]] || { echo "install_test.sh: $program does not say its version"; exit 1; }
# It looks for cuBLAS and cuSOLVER where the one that was built does.
folders() { readelf -d "$1" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p' | tr ':' '\n' | sort -u; }
lost=$(comm -23 <(folders "$1/gaussweep") <(folders "$program"))
[[ -z $lost ]] || { echo "install_test.sh: no library is found in $lost any more"; exit 1; }
said=$("$program" plan "$prefix/share/gaussweep/plans/quickstart.yaml" --backend emulated)
[[ $said == *"trials, 0 skipped, one after the other"* ]] || { echo "install_test.sh: plan said: $said"; exit 1; }
for name in README.md io/SCHEMA.md LICENSE docs/plan.md docs/pictures/architecture.svg; do
  find "$prefix" -path "*/$name" | grep -q . || { echo "install_test.sh: $name is not there"; exit 1; }
done
[[ -x $prefix/share/gaussweep/analysis/report ]] || { echo "install_test.sh: the report is not there"; exit 1; }
if find "$prefix" -name '*faulty*' -o -name '*.a' | grep -q .; then echo "install_test.sh: parts of the build came along"; exit 1; fi
