#!/usr/bin/env bash
# House style that a tool can judge: clang-format 14 leaves every C++ and CUDA file as it is and black 23.1 every Python
# file, shellcheck and flake8 have nothing to say, no import hides in a function, no file is longer than 700 lines, and
# no note to do something later stands in the tree. Each tool in the version of Debian 12: others know other rules.
#
#   tests/style_test.sh [FILE…]        these files, or all of them
set -uo pipefail
asked=()
for file in "$@"; do asked+=("$(realpath -e -- "$file")") || exit 2; done
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "SKIPPED: not a git checkout, so which files are ours is unknown"; exit 77; }

failed=0
unchecked=0
# not_checked WHAT FOUND TOOL: for want of the tool in the version that the tree is held to.
not_checked() {
  echo "style_test.sh: !!! NO $3 HERE (found: ${2:-none}): $1 NOT CHECKED !!! jobs/setup.sh --for-tests installs it on Debian 12"
  unchecked=1
}
complain() {
  echo "style_test.sh: $*"
  failed=1
}
# ours PATTERN…: the tree's files, or those of them that were asked for, new ones too.
ours() {
  if [[ ${#asked[@]} -eq 0 ]]; then
    git ls-files -- "$@"
  else
    git ls-files --cached --others -- "$@" | sort -u | grep -Fxf <(realpath --relative-to=. -- "${asked[@]}")
  fi
}
mapfile -t sources < <(ours '*.cpp' '*.hpp' '*.cu' '*.cuh')
mapfile -t written < <(ours . | grep -E '\.(cpp|hpp|cu|cuh|py|sh|cmake|md|yaml|sbatch)$|CMakeLists\.txt$')
if [[ ${#written[@]} -eq 0 ]]; then complain "no file of the tree"; fi

there=()
for file in "${sources[@]}"; do if [[ -f $file ]]; then there+=("$file"); fi; done
formatter=$(command -v clang-format-14 || command -v clang-format || true)
version=$([[ -n $formatter ]] && "$formatter" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [[ ${#there[@]} -eq 0 ]]; then
  :
elif [[ $version == 14 ]]; then
  # All in one process: it starts as long as it formats.
  said=$(printf '%s\0' "${there[@]}" | xargs -0r "$formatter" --dry-run -Werror 2>&1) || {
    while read -r places file; do
      complain "$file: clang-format 14 would change $places places: clang-format-14 -i $file"
    done < <(sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$said" | sort | uniq -c)
    if ((!failed)); then complain "$said"; fi
  }
else
  not_checked "THE FORMAT OF THE C++ WAS" "$version" "CLANG-FORMAT 14"
fi

# Python: what black reads from pyproject.toml and flake8 from .flake8 holds for all of it.
mapfile -t python < <(ours '*.py' analysis/report)
version=$(black --version 2>/dev/null | sed -n 's/^black, \([0-9]*\.[0-9]*\)\..*/\1/p')
if [[ ${#python[@]} -eq 0 ]]; then
  :
elif [[ $version == 23.1 ]]; then
  black --quiet --check "${python[@]}" || {
    black --check "${python[@]}" 2>&1 | grep '^would reformat\|^error:'
    complain "black would lay out the files above otherwise: black FILE…"
  }
else
  not_checked "THE FORMAT OF THE PYTHON WAS" "$version" "BLACK 23.1"
fi
version=$(flake8 --version 2>/dev/null | sed -n '1s/^\([0-9]*\.[0-9]*\)\..*/\1/p')
if [[ ${#python[@]} -eq 0 ]]; then
  :
elif [[ $version == 5.0 ]]; then
  flake8 "${python[@]}" || complain "flake8 complains of what is above"
else
  not_checked "THE PYTHON WAS OTHERWISE" "$version" "FLAKE8 5.0"
fi
if [[ ${#python[@]} -gt 0 ]] && grep -nE '^[[:space:]]+(import [A-Za-z_]|from [A-Za-z_.]+ import )' "${python[@]}"; then
  complain "the imports above stand in functions, where they hide a circle: mend that"
fi

mapfile -t scripts < <(ours '*.sh' '*.sbatch')
version=$(shellcheck --version 2>/dev/null | sed -n 's/^version: \([0-9]*\.[0-9]*\)\..*/\1/p')
if [[ ${#scripts[@]} -eq 0 ]]; then
  :
elif [[ $version == 0.9 ]]; then
  shellcheck -x "${scripts[@]}" || complain "shellcheck complains of what is above"
else
  not_checked "THE SCRIPTS WERE" "$version" "SHELLCHECK 0.9"
fi

while read -r lines file; do complain "$file: $lines lines, at most 700"; done < <(
  for file in "${written[@]}"; do if [[ -f $file ]]; then printf '%s\0' "$file"; fi; done |
    xargs -0r wc -l | awk '$1 > 700 && $2 != "total"')
# Spelled so that this file does not find itself.
later='TO''DO|FIX''ME|XX''X'
if [[ ${#written[@]} -gt 0 ]] && grep -nEIw "$later" "${written[@]}"; then complain "the lines above put something off"; fi

if ((failed)); then exit 1; fi
echo "style_test.sh: ${#sources[@]} sources, ${#written[@]} files in all"
if ((unchecked)); then exit 77; fi
