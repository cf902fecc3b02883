#!/usr/bin/env bash
# Prints a short text about a night's results, for mail. A night is the run of one day in a nightly series. The text lists
# missing trials, unexpected failures, and trials that became slower or wrong compared with the nights before. It also has
# the night of each change (`gaussweep trend`), the times of the fastest trials in each night, and the fastest methods.
#
#   jobs/slurm/night.sh [--env FILE] NIGHT [BEFORE [EARLIER…]]
#
#   NIGHT, BEFORE, EARLIER   directories with results.h5 (and missing.txt), as nightly.sh writes them, directories that contain
#                            a run directory `sweep`, or results files
#   --env FILE               the site, as for nightly.sh (default: $GAUSSWEEP_ENV); its build has the program
#   $GAUSSWEEP               the program, without an environment file (default: build/gaussweep, or the one on the path)
#   $GAUSSWEEP_TREND         the trials whose times are shown for three or more nights, as options of analysis/report, e.g.
#                            --problem gesv,trsv --gpu *H200*; default: the fastest of each problem, at its largest size
#
# Its first line is the mail's subject. Exit code: 0, or 4 if trials became slower or wrong, or trials of the nights before
# are missing.

set -uo pipefail
script=night.sh
jobs=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/.." && pwd) || exit 2
source "$jobs/slurm/common.sh"
gaussweep=${GAUSSWEEP:-}
paths=()
while (($#)); do
  case $1 in
    -h | --help) show_help; exit 0 ;;
    --env)
      (($# > 1)) || fail "--env needs a value"
      value[env]=$2 gaussweep=''
      shift 2
      ;;
    -*) fail "unknown option '$1'; allowed: --env FILE, --help" ;;
    *) paths+=("$1") && shift ;;
  esac
done
set -- "${paths[@]}"
if [[ -z $gaussweep ]]; then
  read_environment
  load_modules >&2 || exit 2
fi
if [[ ! -x $gaussweep ]]; then
  missing=$gaussweep
  gaussweep=$(command -v gaussweep) || fail "$(no_program "$missing")"
fi
if (($# < 1)); then fail "give NIGHT [BEFORE [EARLIER…]]"; fi

# results_of PATH: prints the results file of a night.
results_of() {
  if [[ -d $1 && ! -e $1/results.h5 && -e $1/sweep/results.h5 ]]; then
    echo "$1/sweep/results.h5"
  elif [[ -d $1 ]]; then
    echo "$1/results.h5"
  else
    echo "$1"
  fi
}
# next_step DIR: prints the command that makes the results file of a directory whose sweep is running or was killed. Prints
# nothing if the directory has no sweep.
next_step() {
  local journals
  mapfile -t journals < <(compgen -G "$1/journal.jsonl"; compgen -G "$1/*/journal.jsonl")
  ((${#journals[@]})) || return 0
  printf '; its sweep is running or was killed: go on with --resume, or make the file by: %q merge %q -o %q' \
    "$gaussweep" "$1" "$1/results.h5"
}
for folder; do
  [[ -e $(results_of "$folder") ]] || fail "there is no $(results_of "$folder")$(next_step "$folder")"
done
# The name of a night is the last part of its path that is not the same for all nights.
names=()
for folder; do
  folder=$(realpath -ms "$folder")
  folder=${folder%/results.h5}
  names+=("${folder%/sweep}")
done
# distinct WORD…: prints the number of different words.
distinct() { printf '%s\n' "$@" | sort -u | wc -l; }
while (($(distinct "${names[@]}") > 1 && $(distinct "${names[@]##*/}") == 1)); do
  names=("${names[@]%/*}")
done
names=("${names[@]##*/}")
night=$(results_of "$1")
max_lines=15 # per section, because the mail may be read on a phone

failures=$("$gaussweep" summary "$night" --failures) || exit
count=$(tail -n 1 <<<"$failures")
count=${count/ trial*missing (run *--shard)/ missing}
# Without any record, the shards without records need no list.
if [[ $count == "0 records: "* ]]; then count=${count#0 records: } count=${count%%; no records from*}; fi
unexpected=$(sed -n '/^Not as expected:/,/^$/p' <<<"$failures")
compared='' regressions='' code=0
if (($# > 1)); then
  bases=()
  for folder in "${@:2}"; do bases+=("$(results_of "$folder")"); done
  compared=$("$gaussweep" compare "${bases[@]}" "$night" --same-models --only slower,worse --sort speedup \
    --limit "$max_lines" 2>&1)
  code=$?
  compared=${compared/ (--only)/}  # a hint for the terminal
  if ((code != 0 && code != 4)); then
    compared="Not compared: $compared" code=0
    # The trials that this night lacks need no comparison.
    if [[ $count == *" missing"* || $count == *"no records from"* ]]; then code=4; fi
  fi
  if ((code == 4)); then
    regressions=$("$gaussweep" compare "${bases[@]}" "$night" --same-models --format json 2>/dev/null |
      sed -n '/^  "regressions": \[/,/^  \]/ { /^    "/p }')
  fi
fi
trend='' changes=''
if (($# > 2)); then
  nights=() chosen=()
  for folder; do nights+=("$(results_of "$folder")"); done
  changes=$("$gaussweep" trend "${nights[@]}" --limit "$max_lines" 2>&1) || changes="Not available: $changes"
  IFS=' ' read -r -a chosen <<<"${GAUSSWEEP_TREND:-}"
  trend=$("$source_root/analysis/report" --trend "${chosen[@]}" "${nights[@]}" 2>&1) || trend="Not available: $trend"
fi
# Fractions of a limit use the peaks of all nights, as in the report.
peaks=()
for folder in "${@:2}"; do peaks+=(--peaks "$(results_of "$folder")"); done
# Standard error has notes, e.g. on other programs that used the CPUs.
winners=$(COLUMNS=${COLUMNS:-100} "$gaussweep" summary "$night" "${peaks[@]}" --best --by gpu --brief 2>&1) || {
  code=$?
  echo "$winners" >&2
  exit "$code"
}
# --brief leaves out the legend; a fraction of the limit above 100 % is marked by * and needs its line.
if [[ $winners =~ %\*\ (compute|memory) ]]; then
  legend=$("$gaussweep" summary "$night" "${peaks[@]}" --best --by gpu 2>/dev/null | sed -n '/^\* \(compute\|memory\): /,/\.$/p')
  winners+=${legend:+$'\n\n'$legend}
fi
missing=''
if [[ -d $1 && -s $1/missing.txt ]]; then
  # Leaves out the trials' names. Keeps the last line, which has the command that goes on.
  missing=$(grep -v '^  ' "$1/missing.txt" | sed -n "1,$((max_lines - 1))p; $max_lines,\${\$p}")
fi

subject="gaussweep, ${names[0]}: $count"
if [[ $count != *" missing"* && $count != *"no records from"* && (-n $missing || $regressions == *"(missing)"*) ]]; then subject+=", incomplete"; fi
if [[ -n $unexpected ]]; then subject+=", unexpected failures"; fi
if [[ -n $regressions ]] && grep -qv ' (missing)",*$' <<<"$regressions"; then subject+=", slower or worse"; fi
echo "$subject"
if [[ -n $missing ]]; then printf '\n%s\n' "$missing"; fi
if [[ -n $unexpected ]]; then printf '\n%s\n' "$(head -n "$max_lines" <<<"$unexpected")"; fi
if [[ -n $compared ]]; then printf '\nAgainst %s:\n%s\n' "${names[*]:1}" "$compared"; fi
if [[ -n $changes ]]; then printf '\nSince when:\n%s\n' "$changes"; fi
if [[ -n $trend ]]; then printf '\nFirst against last, not tested. Night by night (medians):\n%s\n' "$trend"; fi
printf '\n%s\n' "$winners"
exit "$code"
