#!/usr/bin/env bash
# Builds gaussweep with a site's toolchain, into that site's build directory.
#
#   jobs/env/build.sh [--env FILE] [--dry-run]
#
#   --env FILE   a file like jobs/env/template.sh, or the name of one in jobs/env (default: $GAUSSWEEP_ENV, else none)
#   --dry-run    print the commands
#
# JOBS: the number of parallel compilers (default: the number of cores). If the site forbids long builds on login nodes,
# build in a job: srun --cpus-per-task=8 jobs/env/build.sh --env FILE

script=build.sh
jobs=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/.." && pwd) || exit 2
source "$jobs/slurm/common.sh"
show_help() { sed -n '2,/^$/{/^#/s/^# \{0,1\}//p}' "$jobs/env/build.sh"; }
values="env"
flags="dry-run"
read_options -o / "$@"
[[ ${#positionals[@]} -eq 0 ]] || fail "unknown argument '${positionals[0]}'; allowed: --env FILE, --dry-run"
GAUSSWEEP_CUDA_ARCHITECTURES=''
GAUSSWEEP_CMAKE_OPTIONS=()
read_environment
configure=(cmake --preset cluster -S "$source_root" -B "$GAUSSWEEP_BUILD"
  ${GAUSSWEEP_CUDA_ARCHITECTURES:+-DCMAKE_CUDA_ARCHITECTURES="$GAUSSWEEP_CUDA_ARCHITECTURES"} "${GAUSSWEEP_CMAKE_OPTIONS[@]}")
build=(cmake --build "$GAUSSWEEP_BUILD" --target gaussweep -j "${JOBS:-$(nproc)}")
if [[ -n ${flag[dry-run]:-} ]]; then
  if [[ -n $GAUSSWEEP_MODULES ]]; then echo "module load $GAUSSWEEP_MODULES"; fi
  printf '%q ' "${configure[@]}"
  echo
  printf '%q ' "${build[@]}"
  echo
  exit 0
fi
load_modules || exit 1
cd "$source_root" && "${configure[@]}" && "${build[@]}" || exit 1
"$gaussweep" --version
