#!/usr/bin/env bash
# Runs a command as one rank of a sweep, bound to the CPUs beside the GPU that the rank will take: the one of its local
# number among those that CUDA_VISIBLE_DEVICES names (all, where it is not set). Without a GPU nothing is bound.
#
#   rank.sh [--started FILE] COMMAND [ARGUMENT…]
#
# FILE is made when the rank starts.
# GAUSSWEEP_BIND=none turns it off; the launcher's own binding then holds. GAUSSWEEP_SYSFS: instead of /sys.

set -uo pipefail
case "${1:-}" in
  "" | -h | --help) sed -n '2,/^$/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  --started)
    : >"$2"
    shift 2
    ;;
esac
# Under mpirun SLURM_LOCALID is that of the batch step, the same for all ranks.
local_rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${SLURM_LOCALID:-0}}}

cpus_beside_gpu() {
  local -a visible=()
  local gpu bus list
  if [[ -n ${CUDA_VISIBLE_DEVICES+set} ]]; then
    IFS=, read -r -a visible <<<"$CUDA_VISIBLE_DEVICES"
  else
    mapfile -t visible < <(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null)
  fi
  if [[ ${#visible[@]} -eq 1 ]]; then
    gpu=${visible[0]}  # --gpus-per-task: everybody sees his own
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
  cpus=$(cpus_beside_gpu)
  # CPUs that the job does not own are refused; then the rank stays where it is.
  if [[ -n $cpus ]] && taskset -cp "$cpus" $$ >/dev/null 2>&1; then
    echo "rank.sh: $(hostname -s), local rank $local_rank: CPUs $cpus" >&2
  fi
fi
exec "$@"
