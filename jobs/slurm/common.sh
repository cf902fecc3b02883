# The scripts of this folder source this file. It reads options and a site's environment file (jobs/env/template.sh), checks
# the plan, and submits jobs that run a sweep: all trials of a plan. A caller sets `script`, its file name, and `jobs`, the
# path of the folder jobs/. The batch scripts have two roles. Started by hand, they submit themselves. As a Slurm job they do
# the work; their name is then `slurm_script`, because slurmd runs a copy in its spool folder.
set -o pipefail
shopt -s inherit_errexit 2>/dev/null || true
# Makes the use of unset variables an error, except before bash 4.4 (RHEL 7), where `set -u` rejects empty arrays.
strict() { if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then set -u; fi; }
# leniently COMMAND…: runs code of the site and its modules without `set -u`, which that code may not support.
leniently() {
  set +u
  "$@"
  local code=$?
  strict
  return $code
}
strict

source_root=$(cd "$jobs/.." && pwd)
export GAUSSWEEP_SOURCE=$source_root

# Prints a message to standard error.
say() { echo "$script: $*" >&2; }
fail() { say "$*"; exit 2; }
# Returns true in a batch job.
in_job() { [[ ${0##*/} == slurm_script ]]; }
absolute() { realpath -m -- "$1"; }

# If this script is started inside another job (scrontab, an interactive shell on a node), that job's variables must not
# reach the submitted job: Slurm overwrites only variables that the new job has, too.
if [[ -n ${SLURM_JOB_ID:-} ]] && ! in_job; then
  unset GAUSSWEEP_SUBMITTED_BY
  for name in $(compgen -v | grep -E '^(SLURM|PMI|PMI2|PMIX)_'); do
    case $name in
      SLURM_CONF | SLURM_CONF_SERVER | SLURM_CLUSTERS | SLURM_JWT | SLURM_MPI_TYPE | PMIX_MCA_*) ;;
      *) unset "$name" ;;
    esac
  done
fi

# Prints the first comment of the script, which describes its usage.
show_help() { sed -n '2,/^$/{/^#/s/^# \{0,1\}//p}' "$jobs/slurm/$script"; }

# read_options ARGUMENT…: sets output, positionals, sbatch_options, value[NAME] and flag[NAME]. The caller lists its options
# with a value in `values` and those without a value in `flags`. Options that are also in `lists` may be repeated; their
# values are joined by newlines. Checks of later functions set `refused` to the exit code of a dry run whose submission would
# fail.
declare -A value=() flag=()
positionals=()
sbatch_options=()
output=
refused=
read_options() {
  local word name
  while (($#)); do
    word=$1
    shift
    case "$word" in
      -h | --help) show_help; exit 0 ;;
      --) sbatch_options=("$@"); break ;;
      -o) word=--output ;;
      --*=*) set -- "${word#*=}" "$@"; word=${word%%=*} ;;
    esac
    case "$word" in
      --output) (($#)) || fail "$word needs a directory"; output=$(absolute "$1"); shift ;;
      --*)
        name=${word#--}
        if [[ " $flags " == *" $name "* ]]; then
          flag[$name]=1
        elif [[ " $values " == *" $name "* ]]; then
          (($#)) || fail "$word needs a value"
          if [[ " ${lists:-} " == *" $name "* ]]; then value[$name]+=$1$'\n'; else value[$name]=$1; fi
          shift
        else
          # shellcheck disable=SC2086
          fail "unknown option '$word'; allowed: -o DIR --help $(printf -- '--%s ' $values $flags)-- SBATCH-OPTIONS"
        fi
        ;;
      *) positionals+=("$word") ;;
    esac
  done
  [[ -n $output ]] || fail "give the output directory: -o DIR"
  for name in nodes ranks-per-node requeues notice shards at-once gpus; do
    [[ -z ${value[$name]:-} || ${value[$name]} =~ ^(0|[1-9][0-9]{0,8})$ ]] || fail "--$name ${value[$name]}: not a whole number"
  done
  case ${value[backend]:-auto} in
    auto | cuda | emulated | host) ;;
    *) fail "--backend ${value[backend]}: allowed: auto, cuda, emulated, host" ;;
  esac
  requeues=${value[requeues]:-20}
  notice=${value[notice]:-120}
  ((notice >= 1 && notice <= 65535)) || fail "--notice $notice: Slurm takes 1 to 65535 seconds"
  check_time
}

# Checks that the time limit is longer than the notice, the seconds before the limit at which Slurm sends a signal. Otherwise
# the signal would come at the start, and there would be no time to work.
check_time() {
  local seconds
  # Only minutes and minutes:seconds can be too short; hours and days are long enough. 0 means no limit.
  [[ ${value[time]:-} =~ ^([0-9]{1,8})(:([0-9]{1,2}))?$ ]] || return 0
  seconds=$((10#${BASH_REMATCH[1]} * 60 + 10#${BASH_REMATCH[3]:-0}))
  ((seconds == 0 || seconds > notice)) ||
    fail "--time ${value[time]} is no longer than the notice, which comes $notice s before the end: give more --time or less --notice"
}

# Sets `plan` to the plan's path, the only positional argument.
read_plan() {
  [[ ${#positionals[@]} -eq 1 ]] || fail "give one plan (got ${#positionals[@]}: ${positionals[*]:-none}); see --help"
  plan=$(absolute "${positionals[0]}")
  if [[ ! -f $plan ]]; then
    local folder=$plan
    [[ -d $plan ]] || folder=${plan%/*}
    compgen -G "$folder/*.y*ml" >/dev/null || folder=$jobs/plans
    fail "there is no file $plan; plans in $folder: $(cd "$folder" 2>/dev/null && compgen -G '*.y*ml' | sort | head -n 20 | paste -sd ' ')"
  fi
  [[ -r $plan ]] || fail "the plan $plan cannot be read"
}

# Prints the command that repeats this submission, without --resume and --retry-failed. The program's hints and missing.txt
# show it with one of these options.
submission() {
  local name word
  local -a words
  printf '%q %q -o %q' "$jobs/slurm/$script" "$plan" "$output"
  if [[ -n ${env_file:-} ]]; then value[env]=$env_file; fi
  for name in $values; do
    mapfile -t words < <(printf '%s' "${value[$name]:-}")
    for word in "${words[@]}"; do printf ' --%s %q' "$name" "$word"; done
  done
  if ((${#sbatch_options[@]})); then printf ' --'; printf ' %q' "${sbatch_options[@]}"; fi
}

# common_options NAME…: sets `common` to the arguments that a script passes on to the script of its sweeps. These are the
# options NAME… and the flags that the user gave.
common_options() {
  local name
  common=()
  for name in "$@"; do
    if [[ -n ${value[$name]:-} ]]; then common+=("--$name" "${value[$name]}"); fi
  done
  for name in resume retry-failed dry-run; do
    if [[ -n ${flag[$name]:-} ]]; then common+=("--$name"); fi
  done
}

# Exports the output of `submission`, so that jobs can show it. Keeps the command that a calling script has exported, because
# the user gave that one.
export_submission() { export GAUSSWEEP_SUBMITTED_BY=${GAUSSWEEP_SUBMITTED_BY:-$(submission)}; }

# environment_file NAME: prints the path of an environment file, given a path or the name of a file in jobs/env/.
environment_file() {
  local candidate
  for candidate in "$1" "$jobs/env/$1" "$jobs/env/$1.sh"; do
    if [[ -f $candidate ]]; then absolute "$candidate"; return; fi
  done
  fail "no environment file '$1', neither as a path nor in $jobs/env ($(cd "$jobs/env" && printf '%s\n' *.sh | sed '/^build.sh$/d; s/\.sh$//' | paste -sd ' '))"
}

# Sets the site's variables from the environment file, and `gaussweep` to the path of the program. Does not load modules, which
# a login node may lack; load_modules does.
read_environment() {
  local name=${value[env]:-${GAUSSWEEP_ENV:-}}
  env_file=
  if [[ -n $name ]]; then env_file=$(environment_file "$name") || exit 2; fi
  GAUSSWEEP_MODULES=''
  GAUSSWEEP_LAUNCHER=mpirun
  GAUSSWEEP_LAUNCHER_OPTIONS=() GAUSSWEEP_SBATCH=() GAUSSWEEP_SWEEP_SBATCH=() GAUSSWEEP_ARRAY_SBATCH=() GAUSSWEEP_FINISH_SBATCH=()
  if [[ -n $env_file ]]; then
    # shellcheck disable=SC1090
    leniently source "$env_file" || fail "$env_file ended with an error"
  fi
  [[ $GAUSSWEEP_LAUNCHER == mpirun || $GAUSSWEEP_LAUNCHER == srun ]] || declare -F gaussweep_launch >/dev/null ||
    fail "GAUSSWEEP_LAUNCHER=$GAUSSWEEP_LAUNCHER in $env_file: allowed are mpirun and srun, or a function gaussweep_launch"
  export GAUSSWEEP_BUILD=${GAUSSWEEP_BUILD:-$source_root/build}
  gaussweep=${GAUSSWEEP:-$GAUSSWEEP_BUILD/gaussweep}
  # An installation has share/gaussweep instead of the source folder.
  [[ -e $source_root/CMakeLists.txt ]] || gaussweep=${GAUSSWEEP:-$(realpath -m "$source_root/../../bin/gaussweep")}
}

# Loads the modules and calls gaussweep_setup. If that fails, returns false and sets `refusal` to the message.
load_modules() {
  local file
  if [[ -n $GAUSSWEEP_MODULES ]]; then
    for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do
      # shellcheck disable=SC1090
      if ! type module >/dev/null 2>&1 && [[ -r $file ]]; then leniently source "$file"; fi
    done
    type module >/dev/null 2>&1 || {
      refuse_modules "GAUSSWEEP_MODULES is set in $env_file, but there is no command 'module' on $(hostname -s)"
      return
    }
    leniently module purge  # a module that cannot be unloaded is listed in the saved environment
    # shellcheck disable=SC2086
    leniently module load $GAUSSWEEP_MODULES || { refuse_modules "module load $GAUSSWEEP_MODULES ($env_file) failed"; return; }
  fi
  if declare -F gaussweep_setup >/dev/null; then
    leniently gaussweep_setup || { refuse_modules "gaussweep_setup of $env_file failed"; return; }
  fi
}
refusal=''
refuse_modules() {
  refusal=$1
  say "$refusal"
  return 1
}

no_program() { echo "no program $1; build it with: $jobs/env/build.sh${env_file:+ --env $env_file}"; }

# Checks, before the job waits in a queue, that the program exists and accepts the plan.
check_plan() {
  local message code
  if [[ ! -x $gaussweep ]]; then
    message=$(no_program "$gaussweep")
    [[ -n ${flag[dry-run]:-} ]] || fail "$message"
    say "$message"
    refused=2
    return
  fi
  message=$( (load_modules && exec "$gaussweep" plan "$plan") 2>&1 >/dev/null)
  code=$?
  case $code in
    0) ;;
    2) fail "$plan: $message" ;;
    *) say "could not look at the plan here (exit code $code), the job will: $message" ;;
  esac
}

# make_folder DIR: creates a folder and its parents, and lists the new ones in `made`, the deepest first.
made=()
make_folder() {
  local folder=$1
  while [[ -n $folder && ! -e $folder ]]; do
    made+=("$folder")
    folder=${folder%/*}
  done
  mkdir -p "$1" || fail "cannot create the folder $1"
}
# make_logs: creates the output directory and its folder `logs`, in which the jobs write. Fails if it cannot write to them. A
# dry run creates nothing, and only sets `refused` if it cannot write to them.
make_logs() {
  local folder=$output/logs
  while [[ -n $folder && ! -e $folder ]]; do folder=${folder%/*}; done
  for folder in "${folder:-/}" "$output"; do
    if [[ ! -e $folder || (-d $folder && -w $folder && -x $folder) ]]; then continue; fi
    folder="the directory $folder cannot be written; give another one by -o, or change its permissions"
    [[ -n ${flag[dry-run]:-} ]] || fail "$folder"
    say "$folder"
    refused=2
    return
  done
  if [[ -z ${flag[dry-run]:-} ]]; then make_folder "$output/logs"; fi
}
# remove_made: removes the empty folders that make_folder has created.
remove_made() { if ((${#made[@]})); then rmdir "${made[@]}" 2>/dev/null; fi; }

# has_no_cuda: returns true if the program was built without CUDA.
has_no_cuda() { (load_modules && exec "$gaussweep" devices) 2>/dev/null | grep -q 'built without CUDA'; }
# plan_uses_gpus: returns true if the plan has methods for GPUs, and --backend does not exclude GPUs.
plan_uses_gpus() {
  case ${value[backend]:-auto} in emulated | host) return 1 ;; esac
  (load_modules && exec "$gaussweep" plan "$plan" --backend emulated) 2>/dev/null | grep -q '(emulated)'
}
# requests_gpus ARGUMENT…: returns true if the ARGUMENTs of sbatch request GPUs. If Slurm manages the GPUs, a job gets only
# those that it requests.
requests_gpus() { [[ " $* " =~ \ (-G|--gpus|--(gres|tres-per-task)[=\ ][^\ ]*gpu) ]]; }

# check_gpus ARGUMENT…: fails if the job would refuse to start. This happens if the program was built without CUDA, but the job
# gets GPUs for the plan's methods, or --backend is cuda. A dry run only sets `refused`, so that it shows the job.
check_gpus() {
  local message=''
  if [[ ${value[backend]:-auto} == cuda ]]; then
    if has_no_cuda; then message="--backend cuda: $gaussweep was built without CUDA"; fi
  elif requests_gpus "$@" && has_no_cuda && plan_uses_gpus; then
    message="$gaussweep was built without CUDA: a job to which Slurm gives GPUs refuses to start; add --backend emulated"
  fi
  [[ -n $message ]] || return 0
  [[ -n ${flag[dry-run]:-} ]] || fail "$message; nothing was submitted"
  say "$message"
  refused=2
}

# warn_without_gpus ARGUMENT…: warns if the plan has methods for GPUs, but the ARGUMENTs of sbatch request no GPUs.
warn_without_gpus() {
  if requests_gpus "$@" || ! plan_uses_gpus; then return; fi
  if ! has_no_cuda; then
    say "the job asks for no GPUs, and the plan has methods for GPUs: where Slurm manages the GPUs, add e.g. -- --gpus-per-node=1"
  elif [[ ${value[backend]:-auto} == auto ]]; then
    say "$gaussweep was built without CUDA: a job to which Slurm gives GPUs will refuse to start; add --backend emulated"
  fi
}

# submit ARGUMENT…: calls sbatch and sets job_id. With --dry-run it only shows the command. It then sets `refused` if Slurm
# would refuse the job or could never start it, e.g. because it asks for too many nodes.
submit() {
  local -a command=(sbatch --parsable "$@")
  local message
  if [[ -n ${plan:-} ]]; then warn_without_gpus "$@"; fi
  printf '%s: %s\n' "$script" "$(printf '%q ' "${command[@]}")" >&2
  if [[ -n ${flag[dry-run]:-} ]]; then
    job_id=JOB
    if command -v sbatch >/dev/null && [[ $* != *--dependency=afterany:JOB* ]]; then
      message=$(sbatch --test-only "${command[@]:2}" 2>&1) || {
        say "Slurm would refuse this job or leave it pending: ${message//sbatch: /}"
        refused=${refused:-1}
      }
    fi
    return
  fi
  command -v sbatch >/dev/null || {
    remove_made
    fail "there is no command 'sbatch' here; run this on a node from which jobs are submitted"
  }
  job_id=$("${command[@]}") || { remove_made; say "sbatch refused"; exit 1; }
  job_id=${job_id%%;*}  # with several clusters, sbatch prints "ID;CLUSTER"
}

# slurm_path DIR: prints DIR for --output. It escapes %, because Slurm replaces patterns such as %j.
slurm_path() { echo "${1//%/%%}"; }

# keep_dry_run CODE ID: call it after a script that submits a job has failed with CODE. A dry run that printed a job ID failed
# only because the submission would be refused. Then sets `refused` and returns 0, so that the caller shows its other jobs
# too. Otherwise returns CODE.
keep_dry_run() {
  [[ -n ${flag[dry-run]:-} && -n $2 ]] || return "$1"
  refused=$1
}

# print_submitted WORD…: prints the job's number and a description. Ends the script if Slurm would refuse the job (dry run).
print_submitted() {
  if [[ -n ${flag[parsable]:-} ]]; then
    echo "$job_id"
  elif [[ -n ${flag[dry-run]:-} ]]; then
    echo "dry run: nothing was submitted"
  else
    echo "submitted job $job_id: $*"
  fi
  if [[ -n $refused ]]; then exit "$refused"; fi
}

# status_number DIR NAME: prints the number NAME in the output of `gaussweep status` for a run directory. Examples are `done`,
# the number of recorded trials, and `for_now`, the number of failures that may be temporary. Prints nothing if there is none.
status_number() {
  [[ -f $1/journal.jsonl ]] || return 0
  "$gaussweep" status "$1" --format json | sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p"
}

# plan_name FILE: prints the line of a plan that names it, without quotes and comment.
plan_name() { sed -n "/^name:/{s/ *#.*//; s/[\"']//g; p; q}" "$1"; }

# check_directory DIR: fails if DIR has a sweep of another plan. Fails if DIR has any sweep, unless --resume or --retry-failed
# was given or Slurm has restarted the job.
check_directory() {
  if [[ -f $1/journal.jsonl && -z ${flag[resume]:-} && -z ${flag[retry-failed]:-} && ${SLURM_RESTART_COUNT:-0} -eq 0 ]]; then
    fail "$1 holds a sweep already; give another directory, or --resume to go on with that one"
  fi
  if [[ -f $1/plan.yaml && $(plan_name "$1/plan.yaml") != "$(plan_name "$plan")" ]]; then
    fail "$1 holds a sweep of another plan ($(plan_name "$1/plan.yaml"); $plan has $(plan_name "$plan")); give another directory"
  fi
}

# check_submitted: fails if jobs of an earlier submission into this output directory wait or run, for example because Slurm has
# requeued them. Two jobs would write into one directory. A dry run only sets `refused`.
check_submitted() {
  local numbers waiting
  [[ -s $output/logs/submitted ]] && command -v squeue >/dev/null || return 0
  numbers=$(<"$output/logs/submitted")
  waiting=$(squeue --noheader --format=%i --states=PENDING,RUNNING,SUSPENDED --jobs="$numbers" 2>/dev/null | paste -sd ' ')
  [[ -n $waiting ]] || return 0
  waiting="$output was submitted already; its jobs have not ended: $waiting (wait, or scancel them)"
  [[ -n ${flag[dry-run]:-} ]] || fail "$waiting"
  say "$waiting"
  refused=2
}
# note_submitted JOBS: records the jobs (numbers separated by commas) for check_submitted.
note_submitted() { if [[ -z ${flag[dry-run]:-} ]]; then echo "$1" >"$output/logs/submitted"; fi; }

# note_new_sweep PARENT DIR…: prints a note if --resume or --retry-failed was given, but no DIR has a sweep: PARENT may be
# misspelled. This is no error, because scripts always give --resume.
note_new_sweep() {
  local parent=$1 directory
  shift
  [[ -n ${flag[resume]:-}${flag[retry-failed]:-} ]] || return 0
  for directory; do
    if [[ -f $directory/journal.jsonl ]]; then return; fi
  done
  say "nothing to resume in $parent: a new sweep begins"
}
