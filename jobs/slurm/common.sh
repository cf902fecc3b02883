# Sourced by the scripts of this folder: options, the site's environment, submitting, running with requeues.
# Each script is two things. Started by hand it submits itself (or others); as a Slurm batch job, where its name is
# `slurm_script` in slurmd's spool folder, it does the work.
set -uo pipefail
shopt -s inherit_errexit 2>/dev/null || true

source_root=$(cd "$jobs/.." && pwd)
export GAUSSWEEP_SOURCE=$source_root

say() { echo "$script: $*" >&2; }
fail() { say "$*"; exit 2; }
in_job() { [[ ${0##*/} == slurm_script ]]; }
absolute() { realpath -m -- "$1"; }

show_help() { sed -n '2,/^$/{/^#/s/^# \{0,1\}//p}' "$jobs/slurm/$script"; }

# read_options WORD…: sets plan, output, positionals, sbatch_options, value[NAME] and flag[NAME]. `values` and `flags`
# name what the script takes, `lists` those of the values that may come several times (joined by newlines).
declare -A value=() flag=()
positionals=()
sbatch_options=()
output=
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
          fail "unknown option '$word'; allowed: -o DIR --help $(printf -- '--%s ' $values $flags)-- SBATCH-OPTIONS"
        fi
        ;;
      *) positionals+=("$word") ;;
    esac
  done
  [[ -n $output ]] || fail "give the output directory: -o DIR"
  for name in nodes ranks-per-node requeues notice shards at-once gpus; do
    [[ -z ${value[$name]:-} || ${value[$name]} =~ ^[0-9]+$ ]] || fail "--$name ${value[$name]}: not a whole number"
  done
  requeues=${value[requeues]:-20}
  notice=${value[notice]:-120}
}

read_plan() {
  [[ ${#positionals[@]} -eq 1 ]] || fail "give one plan (got ${#positionals[@]}: ${positionals[*]:-none}); --help says more"
  plan=$(absolute "${positionals[0]}")
  [[ -f $plan && -r $plan ]] || fail "the plan $plan cannot be read"
}

# environment_file NAME: a path, or the name of a file of jobs/env/.
environment_file() {
  local candidate
  for candidate in "$1" "$jobs/env/$1" "$jobs/env/$1.sh"; do
    if [[ -f $candidate ]]; then absolute "$candidate"; return; fi
  done
  fail "no environment file '$1', neither as a path nor in $jobs/env ($(cd "$jobs/env" && echo *.sh))"
}

# The site's variables; modules only by load_modules, which a login node need not be able to do.
read_environment() {
  local wanted=${value[env]:-${GAUSSWEEP_ENV:-}}
  env_file=
  if [[ -n $wanted ]]; then env_file=$(environment_file "$wanted") || exit 2; fi
  GAUSSWEEP_MODULES= GAUSSWEEP_LAUNCHER=mpirun
  GAUSSWEEP_LAUNCHER_OPTIONS=() GAUSSWEEP_SBATCH=() GAUSSWEEP_SWEEP_SBATCH=() GAUSSWEEP_ARRAY_SBATCH=() GAUSSWEEP_FINISH_SBATCH=()
  if [[ -n $env_file ]]; then
    # shellcheck disable=SC1090
    source "$env_file" || fail "$env_file ended with an error"
  fi
  export GAUSSWEEP_BUILD=${GAUSSWEEP_BUILD:-$source_root/build}
  gaussweep=${GAUSSWEEP:-$GAUSSWEEP_BUILD/gaussweep}
}

load_modules() {
  local file
  if [[ -n $GAUSSWEEP_MODULES ]]; then
    for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do
      if ! type module >/dev/null 2>&1 && [[ -r $file ]]; then
        set +u
        source "$file"
        set -u
      fi
    done
    type module >/dev/null 2>&1 || fail "GAUSSWEEP_MODULES is set in $env_file, but there is no command 'module' on $(hostname -s)"
    set +u
    module purge || true  # a module that refuses to leave is listed in the saved environment
    # shellcheck disable=SC2086
    module load $GAUSSWEEP_MODULES || fail "module load $GAUSSWEEP_MODULES ($env_file) failed"
    set -u
  fi
  if declare -F gaussweep_setup >/dev/null; then
    gaussweep_setup || fail "gaussweep_setup of $env_file failed"
  fi
}

# Before anything waits in a queue: is there a program, and does it understand the plan?
check_plan() {
  [[ -x $gaussweep ]] || fail "no program $gaussweep; build it with: $jobs/env/build.sh${env_file:+ --env $env_file}"
  local said code
  said=$( (load_modules && exec "$gaussweep" plan "$plan") 2>&1 >/dev/null)
  code=$?
  case $code in
    0) ;;
    2) fail "$plan: $said" ;;
    *) say "could not look at the plan here (exit code $code); the job will: $said" ;;
  esac
}

# As gaussweep itself does, for the owner only.
make_private_folder() { (umask 077 && mkdir -p "$1") || fail "cannot create the folder $1"; }

# submit WORD…: sbatch; the job's number is in job_id. Under --dry-run it only shows the command.
submit() {
  local -a command=(sbatch --parsable "$@")
  printf '%s: %s\n' "$script" "$(printf '%q ' "${command[@]}")" >&2
  if [[ -n ${flag[dry-run]:-} ]]; then
    job_id=JOB
    return
  fi
  command -v sbatch >/dev/null || fail "no sbatch here; run this where jobs are submitted"
  job_id=$("${command[@]}") || { say "sbatch refused"; exit 1; }
  job_id=${job_id%%;*}  # "ID;cluster" where there are several clusters
}

tell_submitted() {
  if [[ -n ${flag[parsable]:-} ]]; then
    echo "$job_id"
  elif [[ -n ${flag[dry-run]:-} ]]; then
    echo "dry run: nothing was submitted"
  else
    echo "submitted job $job_id: $*"
  fi
}

# status_number DIR NAME: `done` or `total` of a run directory; nothing where it has none.
status_number() {
  [[ -f $1/journal.jsonl ]] || return 0
  "$gaussweep" status "$1" --format json | sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p"
}

# A directory whose sweep has begun is gone on with only where that was asked for, or where Slurm started us again.
check_directory() {
  if [[ -f $1/journal.jsonl && -z ${flag[resume]:-} && -z ${flag[retry-failed]:-} && ${SLURM_RESTART_COUNT:-0} -eq 0 ]]; then
    fail "$1 holds a sweep already; give another directory, or --resume to go on with that one"
  fi
}
