#!/usr/bin/env bash
# Runs one plan on several architectures (kinds of nodes or GPUs), each with its own toolchain and build directory. Then
# merges, compares and reports their results.
#
#   jobs/slurm/architectures.sh PLAN -o DIR --feature NAME=ENV [--feature …] [--gres TYPE=ENV …] [OPTION…] [-- SBATCH-OPTION…]
#
#   -o DIR             receives one run directory per architecture (DIR/NAME), results.h5, compare-FIRST-OTHER.txt, report/
#   --feature NAME=ENV nodes with the feature NAME (--constraint), with the environment file ENV: a path or the name of
#                      one in jobs/env, e.g. --feature kepler=cuda-11.8 --feature hopper=cuda-13
#   --gres TYPE=ENV    nodes with GPUs of this GRES type, e.g. --gres h200=cuda-13
#   --gpus N           the number of these GPUs per node, with --gres (default 1)
#   --resume           complete the sweeps of an earlier call, then merge, compare and report again
#   --dry-run          print what would be submitted; exit code: the submission's, or 1 if Slurm could not start the job
#
# Options of the sweeps: --nodes N, --ranks-per-node N, --time T, --requeues N, --notice SECONDS, --backend B,
# --retry-failed. SBATCH-OPTIONs go to each sweep. The other architectures are compared with the first one.

script=architectures.sh
jobs=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/.." && pwd) || exit 2
source "$jobs/slurm/common.sh"
values="feature gres gpus nodes ranks-per-node time requeues notice backend"
lists="feature gres"
flags="resume retry-failed dry-run"
read_options "$@"
read_plan

names=()
environments=()
requests=()
# add_architectures OPTION PREFIX SUFFIX LINES: adds the architectures in LINES (NAME=ENV per line), the values of --OPTION.
# The option of sbatch that requests an architecture is PREFIX NAME SUFFIX.
add_architectures() {
  local line name file
  value[$1]=
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    [[ $line == ?*=?* ]] || fail "--$1 $line: give NAME=ENV, the $1 and its environment file"
    name=${line%%=*}
    [[ $name =~ ^[A-Za-z0-9_.-]+$ ]] || fail "--$1 $line: a name has letters, digits, '_', '.', '-'"
    [[ " ${names[*]} " != *" $name "* ]] || fail "--$1 $line: $name was given twice"
    file=$(environment_file "${line#*=}") || exit 2
    names+=("$name")
    environments+=("$file")
    value[$1]+=$name=$file$'\n'  # with the file's full path
    requests+=("$2$name$3")
  done <<<"$4"
}
add_architectures feature --constraint= "" "${value[feature]:-}"
add_architectures gres --gres=gpu: ":${value[gpus]:-1}" "${value[gres]:-}"
[[ ${#names[@]} -ge 2 ]] || fail "give at least two architectures: --feature NAME=ENV or --gres TYPE=ENV each"
[[ -z ${value[gpus]:-} || -n ${value[gres]:-} ]] || fail "--gpus goes with --gres; for --feature put -- --gpus-per-node=${value[gpus]}"
export_submission

common_options nodes ranks-per-node time requeues notice backend

# Check everything before the first sweep waits in a queue.
for i in "${!names[@]}"; do
  (
    value[env]=${environments[$i]}
    read_environment
    check_directory "$output/${names[$i]}"
    check_plan
    # A dry run checks this when it shows the sweep.
    [[ -n ${flag[dry-run]:-} ]] ||
      check_gpus "${GAUSSWEEP_SBATCH[@]}" "${GAUSSWEEP_SWEEP_SBATCH[@]}" "${requests[$i]}" "${sbatch_options[@]}"
  ) || exit
done

# If one sweep is refused, the message names the sweeps that were submitted before, because no merge follows them.
sweeps=()
directories=()
for i in "${!names[@]}"; do
  id=$("$jobs/slurm/sweep.sbatch" "$plan" -o "$output/${names[$i]}" --parsable --env "${environments[$i]}" "${common[@]}" \
    -- --job-name="gaussweep-${names[$i]}" "${requests[$i]}" "${sbatch_options[@]}") || keep_dry_run $? "$id" || {
    code=$?
    say "the sweep on ${names[$i]} was not submitted${sweeps[*]:+; these were: ${sweeps[*]} (scancel them, or after them: the same call with --resume)}"
    exit "$code"
  }
  sweeps+=("$id")
  directories+=("$output/${names[$i]}")
done
finish_id=$("$jobs/slurm/finish.sbatch" -o "$output" --parsable --compare --env "${environments[0]}" \
  --after "$(IFS=:; echo "${sweeps[*]}")" ${flag[dry-run]:+--dry-run} "${directories[@]}") || keep_dry_run $? "$finish_id" || {
  say "the comparison was not submitted, but the sweeps were: ${sweeps[*]} (after them: the same call with --resume)"
  exit 1
}
if [[ -n ${flag[dry-run]:-} ]]; then
  echo "dry run: nothing was submitted"
  exit "${refused:-0}"
else
  echo "submitted sweeps ${sweeps[*]} (${names[*]}) and comparison $finish_id into $output"
fi
