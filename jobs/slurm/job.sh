# The scripts sweep.sbatch and array.sbatch source this file inside a job. It starts gaussweep on every rank. It forwards
# Slurm's notice to gaussweep: the signal USR1 some time before the time limit. It requeues the job until the sweep is
# complete. Exit code 5 means that the sweep is not complete.

# save_environment DIR: saves the sweep's environment in DIR/logs/environment-JOB[_TASK]-START.txt, readable by the owner
# only. START is the number of requeues before this start of the job. The file lists the variables that affect a
# measurement, except those whose name or value looks like a secret.
recorded_variables='PATH|LD_LIBRARY_PATH|LD_PRELOAD|MODULEPATH|LOADEDMODULES|HOSTNAME|LANG|LC_ALL|TMPDIR|(CUDA|NVIDIA|OMP|OPENBLAS|OMPI_MCA|PMIX_MCA|UCX|HDF5|GAUSSWEEP)_[A-Z0-9_a-z]*|SLURM_(JOB|ARRAY|NODE|NNODES|NTASKS|TASKS|CPUS?|GPUS?|MEM|RESTART|CLUSTER|DISTRIBUTION|TRES)[A-Z0-9_]*'
save_environment() {
  local file=$1/logs/environment-${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_}${SLURM_ARRAY_TASK_ID:-$SLURM_JOB_ID}-${SLURM_RESTART_COUNT:-0}.txt
  make_folder "$1/logs"
  (umask 077 && : >"$file")
  {
    echo "# $(date -u +%FT%TZ) on $(hostname), job $SLURM_JOB_ID, start ${SLURM_RESTART_COUNT:-0}"
    echo "# --- program"
    "$gaussweep" --version
    echo "$gaussweep"
    echo "# --- modules (GAUSSWEEP_MODULES=${GAUSSWEEP_MODULES:-})"
    if type module >/dev/null 2>&1; then module -t list 2>&1; else echo "no command 'module' here"; fi
    echo "# --- environment file ${env_file:-(none)}"
    if [[ -n $env_file ]]; then cat "$env_file"; fi
    echo "# --- tools"
    local tool
    for tool in "${CXX:-g++}" nvcc mpirun srun; do
      command -v "$tool" && "$tool" --version 2>&1 | head -n 4
    done
    if command -v nvidia-smi >/dev/null; then nvidia-smi -L; else echo "no nvidia-smi here"; fi
    echo "# --- job"
    scontrol show job "$SLURM_JOB_ID" 2>&1
    echo "# --- variables"
    env | LC_ALL=C sort | grep -E "^($recorded_variables)=" | grep -viE '^[^=]*(token|secret|pass|credential|key|auth|cookie|private|_proxy)[^=]*=|://[^/]*:[^/]*@'
  } >"$file" 2>&1
  # Slurm reports a job's GPUs, but not the GRES that it requested.
  if [[ -z ${SLURM_JOB_GRES:-} ]]; then
    # Depending on the version, Slurm writes gpu:2, gres:gpu:2 or gres/gpu:2.
    SLURM_JOB_GRES=$(scontrol show job "$SLURM_JOB_ID" |
      sed -n 's/^ *\(TresPerNode\|TresPerJob\|TresPerTask\|Gres\)=\(.*gpu.*\)/\2/; T; s/gres[:/]//g; p' | head -n 1)
    if [[ -z $SLURM_JOB_GRES && -n ${SLURM_GPUS_ON_NODE:-} ]]; then SLURM_JOB_GRES=gpu:$SLURM_GPUS_ON_NODE; fi
    export SLURM_JOB_GRES
  fi
}

# Prints the number of ranks per node: the number that the user gave, else one per GPU, else one.
ranks_per_node() {
  local gpus
  if [[ -n ${value[ranks-per-node]:-} ]]; then echo "${value[ranks-per-node]}"; return; fi
  if [[ ${SLURM_NTASKS_PER_NODE:-} =~ ^[0-9]+$ ]]; then echo "$SLURM_NTASKS_PER_NODE"; return; fi
  if [[ ${SLURM_GPUS_ON_NODE:-} =~ ^[0-9]+$ && ${SLURM_GPUS_ON_NODE:-0} -gt 0 ]]; then echo "$SLURM_GPUS_ON_NODE"; return; fi
  gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  echo $((gpus > 0 ? gpus : 1))
}

# launch RANKS_PER_NODE COMMAND…: starts the launcher in the background and sets `launched` to its process id. If the
# environment file defines gaussweep_launch, for an MPI whose mpirun has other options, calls that.
launch() {
  local ranks=$1
  shift
  if declare -F gaussweep_launch >/dev/null; then
    leniently gaussweep_launch "$ranks" "$@" &
  elif [[ $GAUSSWEEP_LAUNCHER == srun ]]; then
    # --overcommit allows more tasks than the step has CPUs. rank.sh binds the tasks, so Slurm must not.
    srun --ntasks-per-node="$ranks" --ntasks=$((ranks * SLURM_JOB_NUM_NODES)) --overcommit --cpu-bind=none --kill-on-bad-exit=0 \
      "${GAUSSWEEP_LAUNCHER_OPTIONS[@]}" "$@" &
  else
    # mpirun starts one daemon per node. With --gpus-per-task that daemon, and therefore all of its ranks, would have one GPU.
    if [[ ${SLURM_GPUS_PER_TASK:-}${SLURM_TRES_PER_TASK:-} && -n ${SLURM_GPUS_ON_NODE:-} ]]; then
      export SLURM_GPUS_PER_NODE=$SLURM_GPUS_ON_NODE
      unset SLURM_GPUS_PER_TASK SLURM_TRES_PER_TASK
    fi
    mpirun --map-by "ppr:$ranks:node" --bind-to none "${GAUSSWEEP_LAUNCHER_OPTIONS[@]}" "$@" &
  fi
  launched=$!
}

# Prints the number by which Slurm knows this job: ARRAY_TASK for a task of an array. SLURM_JOB_ID alone is ambiguous there,
# because Slurm gives the array's last task the number of the whole array.
job_name() {
  if [[ -n ${SLURM_ARRAY_JOB_ID:-} ]]; then echo "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; else echo "$SLURM_JOB_ID"; fi
}

# Requeues a preempted job and exits. Returns if the job was not preempted or the requeue fails. After a preemption Slurm
# immediately ends the job's steps, and mpirun with them. It ends the job script only after the partition's GraceTime. Slurm
# requeues only jobs that it ends itself. This script ends earlier, because mpirun is gone, so it must requeue the job.
requeue_if_preempted() {
  local name
  name=$(job_name)
  scontrol show job "$name" | grep -q 'PreemptTime=[0-9]' || return 0
  trap '' TERM  # the requeue sends TERM to this script too
  scontrol requeue "$name" || return 0
  say "job $name makes room for another and was requeued; the sweep goes on at its next start"
  exit 5
}

# seconds_left: prints the seconds until the job's time limit; nothing if it has none.
seconds_left() {
  local end
  end=$(SLURM_TIME_FORMAT=standard scontrol show job "$(job_name)" | sed -n 's/.* EndTime=\([0-9T:-]*\).*/\1/p' | head -n 1)
  [[ -n $end ]] && end=$(date -d "$end" +%s 2>/dev/null) && echo $((end - $(date +%s)))
}

# Exits if an administrator has requeued the job, or Slurm itself because the job's node was set down.
exit_if_requeued() {
  local name
  name=$(job_name)
  if scontrol show job "$name" | grep -Eq "JobState=(PENDING|REQUEUED)|Restarts=$((${SLURM_RESTART_COUNT:-0} + 1)) "; then
    say "Slurm has requeued job $name; the sweep goes on at its next start"
    exit 5
  fi
}

# requeue DIR DONE_BEFORE: requeues this job, so that the sweep continues. DONE_BEFORE: the number of trials that were
# recorded when this start of the job began. Two starts in a row without a new record end the requeues; the file
# fruitless-starts has one line per such start. Returns only if the job is not requeued.
requeue() {
  local restarts=${SLURM_RESTART_COUNT:-0} name fruitless=$1/logs/fruitless-starts
  name=$(job_name)
  # Slurm sends TERM at the time limit, too. Any other TERM is final: it comes from scancel, and Slurm would accept the requeue of
  # a cancelled job.
  if [[ -n ${terminated:-} ]] && ! scontrol show job "$name" | grep -q 'Reason=TimeLimit'; then
    exit_if_requeued
    say "job $name was cancelled and is not requeued; go on by submitting again with --resume"
    return
  fi
  if ((restarts >= requeues)); then
    say "--requeues $requeues allows no more starts; go on by submitting again with --resume"
    return
  fi
  if [[ $(status_number "$1" "done") -le $2 ]]; then
    echo "start $restarts" >>"$fruitless"
    if (($(wc -l <"$fruitless") >= 2)); then
      say "no trial ended in two starts; not requeued. If each takes longer than the job's time, give more --time, or a smaller plan, and --resume"
      return
    fi
  else
    rm -f "$fruitless"
  fi
  trap '' TERM  # the requeue sends TERM to this script too
  if ! scontrol requeue "$name"; then
    exit_if_requeued
    say "Slurm does not requeue job $name; go on by submitting again with --resume"
    return
  fi
  say "job $name was requeued (${restarts} of $requeues requeues before); the sweep goes on at its next start"
  exit 5
}

# Forwards a signal of Slurm to the launcher, as USR1: after this signal gaussweep starts no more trials. The traps call this
# function, because Slurm's signal reaches only this script.
forward_signal() {
  interrupted=true
  if [[ -n $launched ]]; then
    kill -USR1 "$launched" 2>/dev/null
    forwarded=true
  fi
}

# wait_for_launched: waits for the process `launched` and sets `code` to its exit code. Signals do not end the wait; they
# are logged once, and the traps forward them.
wait_for_launched() {
  while :; do
    interrupted=false
    wait "$launched"
    code=$?
    if ! $interrupted; then break; fi
    $signal_logged || say "signalled: $(if [[ $stopped == notice ]]; then echo "Slurm's notice"; else echo "the job is being ended"; fi); draining"
    signal_logged=true
  done
  launched=
}

last_signal=64   # Linux's signals are 1 to 64; a launcher returns 128 + s if signal s killed a rank
lost_daemon=205  # Open MPI's exit code for a lost connection to a daemon

# run_sweep DIR WORD…: runs `gaussweep run PLAN -o DIR --resume WORD…` on all ranks and exits with its exit code. `stopped` is
# `notice` after Slurm's notice, `ended` after TERM, else empty. rank.sh creates the file `started` when a rank starts.
run_sweep() {
  local directory=$1 ranks code=0 before left ended signal_logged=false stopped='' interrupted=false forwarded=false launched=''
  local terminated='' failures=0 started starts recorded
  shift
  check_directory "$directory"
  started=$directory/logs/started-$(job_name)
  # mpirun forwards USR1 to the ranks; on TERM it would end them.
  trap 'stopped=notice; forward_signal' USR1
  trap 'terminated=yes; stopped=${stopped:-ended}; forward_signal' TERM
  load_modules || exit 2
  [[ -x $gaussweep ]] || fail "$(no_program "$gaussweep")"
  command -v scontrol >/dev/null ||
    fail "no scontrol after the modules were loaded; where Slurm is a module itself, name it in GAUSSWEEP_MODULES of $env_file"
  # shellcheck source=jobs/mpi_environment.sh
  source "$jobs/mpi_environment.sh"
  export CUDA_DEVICE_ORDER=${CUDA_DEVICE_ORDER:-PCI_BUS_ID}  # so that CUDA and nvidia-smi number GPUs alike
  save_environment "$directory"
  if ((${SLURM_RESTART_COUNT:-0} == 0)); then rm -f "$directory/logs/fruitless-starts"; fi
  # Slurm cannot reach a failed node. Processes of an earlier start may run on there for a while, and hold the lock of the run
  # directory.
  if [[ -f $directory/lock ]]; then
    flock --timeout 600 "$directory/lock" true &
    launched=$!
    signal_logged=true
    wait_for_launched
    signal_logged=false
    if [[ $code -ne 0 && -z $stopped ]]; then
      say "another run still holds $directory/lock"
      exit 5
    fi
  fi
  before=$(status_number "$directory" "done")
  starts=$(status_number "$directory" starts)
  if [[ -z $stopped ]]; then
    ranks=$(ranks_per_node)
    local -a arguments=(run "$plan" -o "$directory" --grace $((notice / 2)) --backend "${value[backend]:-auto}")
    if [[ -n ${flag[retry-failed]:-} && ${SLURM_RESTART_COUNT:-0} -eq 0 ]]; then arguments+=(--retry-failed); else arguments+=(--resume); fi
    # With a limit, the sweep starts no trial that is estimated to outlast the job. After a start that finished no trial
    # there is no limit: the estimate may be too long.
    left=$(seconds_left)
    if [[ -n $left && ! -f $directory/logs/fruitless-starts ]] && ((left > 2 * notice)); then arguments+=(--time-limit $((left - notice / 2))); fi
    say "job $(job_name), start ${SLURM_RESTART_COUNT:-0}, on ${SLURM_JOB_NODELIST:-?}, $ranks rank(s) per node, ${before:-0} trials are recorded"
    # A launcher may fail before it starts a rank, e.g. because a daemon could not connect in time. Then it is started again. If
    # the folder of `started` is gone (e.g. unmounted), a rank may have started, and the sweep would begin anew elsewhere.
    while rm -f "$started"; do
      launch "$ranks" "$jobs/slurm/rank.sh" --started "$started" "$gaussweep" "${arguments[@]}" "$@"
      if [[ -n $stopped ]] && ! $forwarded; then forward_signal; fi  # the signal came just before the launch
      wait_for_launched
      if [[ $code -eq 0 || -n $stopped || -e $started || ! -d ${started%/*} ]] || ((++failures == 3)); then break; fi
      requeue_if_preempted
      say "the launcher ended with exit code $code before a rank started; attempt $((failures + 1)) of 3"
      sleep 2
    done
    ended="gaussweep ended with exit code"
    if [[ -n $stopped || $code -eq 0 ]]; then
      # A signal may end the launcher before the program ends. If a node fails, mpirun may lose its ranks and return 0. Then the
      # exit code comes from the journal, if it has one.
      recorded=
      if [[ $(status_number "$directory" starts) != "$starts" ]]; then recorded=$(status_number "$directory" exit_code); fi
      if [[ $code -eq 0 && -z $recorded ]]; then ended="the launcher ended with exit code 0, but the sweep did not end: exit code"; fi
      code=${recorded:-5}
    elif ((failures == 3)); then
      ended="no rank started in 3 attempts; the launcher ended with exit code"
    elif ((code > 128 + last_signal)); then
      ended="the launcher ended with exit code"
    fi
    rm -f "$started"
  else
    ended="signalled before the sweep began: exit code"
    code=5
  fi
  # Without its folder (e.g. unmounted), a requeued sweep would begin anew elsewhere. Exit code 3 prevents the requeue.
  if [[ ! -d $directory/logs ]]; then code=3; fi
  if [[ $code -ge 5 ]]; then requeue_if_preempted; fi
  say "$ended $code"
  # Requeues the job unless it was ended by scancel or a preemption: then the user or Slurm decides if it starts again.
  if [[ $code -eq 5 && $stopped != ended ]]; then requeue "$directory" "${before:-0}"; fi
  # If a rank was killed (e.g. by the kernel, which was out of memory), all ranks end. The sweep continues after a requeue.
  if [[ $code -gt 128 && -z $stopped ]] && scontrol show job "$(job_name)" | grep -q 'JobState=RUNNING'; then
    if ((code == lost_daemon)); then
      say "from Open MPI's mpirun this code means that it lost its daemon on a node, for example because the node failed"
    elif ((failures < 3 && code <= 128 + last_signal)); then
      say "a rank was killed by signal $((code - 128))"
    fi
    requeue "$directory" "${before:-0}"
  fi
  exit "$code"
}
