#!/usr/bin/env bash
# Runs a command as one rank of a sweep, bound to the CPUs next to the rank's GPU. The rank with local number i has GPU i of
# CUDA_VISIBLE_DEVICES, or of all GPUs if that is not set. Without a GPU nothing is bound.
#
#   rank.sh [--started FILE] COMMAND [ARGUMENT…]
#
# FILE is created when the rank starts.
# GAUSSWEEP_BIND=none keeps the launcher's own binding. GAUSSWEEP_SYSFS replaces /sys.

set -uo pipefail
case "${1:-}" in
  "" | -h | --help) sed -n '2,/^$/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  --started)
    : >"$2"
    shift 2
    ;;
esac
# mpirun's own variable comes first, because under mpirun all ranks inherit the batch step's SLURM_LOCALID.
local_rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${SLURM_LOCALID:-0}}}

# Prints the list of CPUs next to the rank's GPU; nothing if they are unknown.
cpus_near_gpu() {
  local -a visible=()
  local gpu bus list
  if [[ -n ${CUDA_VISIBLE_DEVICES+set} ]]; then
    IFS=, read -r -a visible <<<"$CUDA_VISIBLE_DEVICES"
  else
    mapfile -t visible < <(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null)
  fi
  if [[ ${#visible[@]} -eq 1 ]]; then
    gpu=${visible[0]}  # --gpus-per-task: each rank sees only its own GPU
  else
    gpu=${visible[$local_rank]:-}
  fi
  [[ -n $gpu ]] || return 0
  bus=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader -i "$gpu" 2>/dev/null) || return 0
  bus=${bus,,}
  # nvidia-smi writes the domain with eight digits, the kernel with four.
  list=${GAUSSWEEP_SYSFS:-/sys}/bus/pci/devices/${bus#0000}/local_cpulist
  if [[ -r $list ]]; then cat "$list"; fi
}

if [[ ${GAUSSWEEP_BIND:-gpu} != none ]] && command -v nvidia-smi >/dev/null && command -v taskset >/dev/null; then
  cpus=$(cpus_near_gpu)
  # taskset fails for CPUs outside of the job; the rank then keeps its binding.
  if [[ -n $cpus ]] && taskset -cp "$cpus" $$ >/dev/null 2>&1; then
    echo "rank.sh: $(hostname -s), local rank $local_rank: CPUs $cpus" >&2
  fi
fi
exec "$@"
