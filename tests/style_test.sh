#!/usr/bin/env bash
# Tests the style: clang-format 14 changes no C++ or CUDA file, black 23.1 no Python file; shellcheck and flake8 report
# nothing; functions contain no imports; no file has more than 700 lines or a note to do something later. The tools have
# the versions of Debian 12, because other versions have other rules.
#
#   tests/style_test.sh [FILE…]        these files, or all of them
set -uo pipefail
requested=()
for file in "$@"; do requested+=("$(realpath -e -- "$file")") || exit 2; done
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "SKIPPED: not a git checkout, so which files are files_of_project is unknown"; exit 77; }

failed=0
unchecked=0
# not_checked WHAT FOUND TOOL: reports that the required version of a tool is missing.
not_checked() {
  echo "style_test.sh: !!! NO $3 HERE (found: ${2:-none}): $1 NOT CHECKED !!! jobs/setup.sh --for-tests installs it on Debian 12"
  unchecked=1
}
complain() {
  echo "style_test.sh: $*"
  failed=1
}
# files_of_project PATTERN…: lists the tree's files, new ones too, or those that were given as arguments.
files_of_project() {
  if [[ ${#requested[@]} -eq 0 ]]; then
    git ls-files --cached --others --exclude-standard -- "$@" | sort -u
  else
    git ls-files --cached --others -- "$@" | sort -u | grep -Fxf <(realpath --relative-to=. -- "${requested[@]}")
  fi
}
mapfile -t sources < <(files_of_project '*.cpp' '*.hpp' '*.cu' '*.cuh')
mapfile -t written < <(files_of_project . | grep -E '\.(cpp|hpp|cu|cuh|py|sh|cmake|md|yaml|sbatch)$|CMakeLists\.txt$')
if [[ ${#written[@]} -eq 0 ]]; then complain "no file of the tree"; fi

existing=()
for file in "${sources[@]}"; do if [[ -f $file ]]; then existing+=("$file"); fi; done
formatter=$(command -v clang-format-14 || command -v clang-format || true)
version=$([[ -n $formatter ]] && "$formatter" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [[ ${#existing[@]} -eq 0 ]]; then
  :
elif [[ $version == 14 ]]; then
  # One process for all files, because its start takes as long as the formatting.
  output=$(printf '%s\0' "${existing[@]}" | xargs -0r "$formatter" --dry-run -Werror 2>&1) || {
    while read -r places file; do
      complain "$file: clang-format 14 would change $places places: clang-format-14 -i $file"
    done < <(sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$output" | sort | uniq -c)
    if ((!failed)); then complain "$output"; fi
  }
else
  not_checked "THE FORMAT OF THE C++ WAS" "$version" "CLANG-FORMAT 14"
fi

# Python files follow pyproject.toml (black) and .flake8 (flake8).
mapfile -t python < <(files_of_project '*.py' analysis/report)
version=$(black --version 2>/dev/null | sed -n 's/^black, \([0-9]*\.[0-9]*\)\..*/\1/p')
if [[ ${#python[@]} -eq 0 ]]; then
  :
elif [[ $version == 23.1 ]]; then
  black --quiet --check "${python[@]}" || {
    black --check "${python[@]}" 2>&1 | grep '^would reformat\|^error:'
    complain "black would change the files above: black FILE…"
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
  complain "the imports above are in functions, where they hide an import cycle"
fi

mapfile -t scripts < <(files_of_project '*.sh' '*.sbatch')
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
# The words are split so that this file does not match.
later='TO''DO|FIX''ME|XX''X'
if [[ ${#written[@]} -gt 0 ]] && grep -nEIw "$later" "${written[@]}"; then complain "the lines above put something off"; fi

if ((failed)); then exit 1; fi
echo "style_test.sh: ${#sources[@]} sources, ${#written[@]} files in all"
if ((unchecked)); then exit 77; fi
