#!/usr/bin/env bash
# Submits a sweep, and a job that merges the results and writes the report. That job runs however the sweep ends. Made for
# unattended use from crontab or scrontab.
#
#   jobs/slurm/nightly.sh PLAN -o DIR [OPTION…] [-- SBATCH-OPTION…]
#
#   -o DIR        receives the sweep's run directories, results.h5, missing.txt and report/
#   --dated       use DIR/YYYY-MM-DD instead: one directory per night, compared with the previous one
#   --mail WHOM   send DIR/night.txt, a short summary of the night, to this address
#   --shards N    run the sweep as a job array of N shards (array.sbatch); default: as one job on whole nodes (sweep.sbatch)
#   --resume      complete the sweep of an earlier call, then merge and report again. To complete a dated night, give its
#                 directory as DIR and omit --dated.
#   --dry-run     print what would be submitted; exit code: the submission's, or 1 if Slurm could not start the job
#
# Options of the sweep: --env FILE, --time T, --ranks-per-node N, --requeues N, --notice SECONDS, --backend B,
# --retry-failed; --nodes N without --shards; --at-once M with it. SBATCH-OPTIONs go to the sweep, not to the merge.

script=nightly.sh
jobs=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/.." && pwd) || exit 2
source "$jobs/slurm/common.sh"
values="shards at-once nodes env ranks-per-node time requeues notice backend mail"
flags="dated resume retry-failed dry-run"
read_options "$@"
read_plan
read_environment
if [[ -n ${flag[dated]:-} ]]; then output=$output/$(date +%F); fi
nights=
if [[ ${output##*/} =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]]; then nights=--nights; fi
export_submission
check_submitted

# check_layout RUN-DIRECTORY…: fails if DIR has results or run directories of other names, which the merge would replace or
# leave out.
check_layout() {
  local directory
  local -a others=()
  for directory; do
    if [[ -f $directory/journal.jsonl ]]; then return; fi
  done
  for directory in "$output"/*/journal.jsonl; do
    if [[ -f $directory ]]; then directory=${directory%/*} && others+=("${directory##*/}"); fi
  done
  if ((${#others[@]})); then
    fail "$output holds ${others[*]}; give the same --shards as for these (sweep: none), or another directory"
  elif [[ -f $output/results.h5 ]]; then
    fail "$output holds results.h5 of a sweep whose run directories are gone, so that it cannot go on; give another directory"
  fi
}

common_options env ranks-per-node time requeues notice backend
directories=()
if [[ -n ${value[shards]:-} ]]; then
  [[ -z ${value[nodes]:-} ]] || fail "--nodes does not go with --shards: a shard runs on one node"
  for ((shard = 1; shard <= value[shards]; ++shard)); do directories+=("$output/shard-$shard-of-${value[shards]}"); done
  check_layout "${directories[@]}"
  sweep_id=$("$jobs/slurm/array.sbatch" "$plan" -o "$output" --parsable --shards "${value[shards]}" \
    ${value[at-once]:+--at-once "${value[at-once]}"} "${common[@]}" -- "${sbatch_options[@]}") || keep_dry_run $? "$sweep_id" || exit
else
  [[ -z ${value[at-once]:-} ]] || fail "--at-once goes with --shards"
  directories=("$output/sweep")
  check_layout "${directories[@]}"
  sweep_id=$("$jobs/slurm/sweep.sbatch" "$plan" -o "$output/sweep" --parsable ${value[nodes]:+--nodes "${value[nodes]}"} \
    "${common[@]}" -- "${sbatch_options[@]}") || keep_dry_run $? "$sweep_id" || exit
fi
finish_id=$("$jobs/slurm/finish.sbatch" -o "$output" --parsable ${env_file:+--env "$env_file"} \
  ${sweep_id:+--after "$sweep_id"} ${flag[dry-run]:+--dry-run} $nights ${value[mail]:+--mail "${value[mail]}"} \
  "${directories[@]}") || keep_dry_run $? "$finish_id" || {
  say "the merge was not submitted${sweep_id:+, but the sweep was: job $sweep_id (after it: the same call with --resume)}"
  exit 1
}
if [[ -n ${flag[dry-run]:-} ]]; then
  echo "dry run: nothing was submitted"
  exit "${refused:-0}"
else
  note_submitted "${sweep_id:+$sweep_id,}$finish_id"
  echo "submitted ${sweep_id:+sweep $sweep_id and }merge and report $finish_id into $output"
fi
