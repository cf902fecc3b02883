#!/usr/bin/env bash
# Compiles every kernel (kernels/**/*.cu) for the supported architectures:
# sm_35 and sm_52 with CUDA 11.8, and sm_75, sm_90, sm_120 with CUDA 13. Any error or warning fails. The first call
# fetches CUDA 11.8 (860 MB, tests/cuda11_toolchain.sh).
#
#   tests/portable_compile.sh [FILE.cu…]      only these files (paths from the top of the source tree)
#
# NVCC names CUDA 13's nvcc (default: nvcc on PATH, else /usr/local/cuda/bin/nvcc). JOBS: number of concurrent compilers (2).
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$source_root"

files=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    -*) echo "portable_compile.sh: unknown option '$1'" >&2; exit 2 ;;
    *) files+=("$1"); shift ;;
  esac
done
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(find kernels -name '*.cu' | LC_ALL=C sort)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  echo "portable_compile.sh: no kernels/**/*.cu at all: nothing was checked" >&2
  exit 1
fi

nvcc13=${NVCC:-$(command -v nvcc || true)}
if [[ -z $nvcc13 && -x /usr/local/cuda/bin/nvcc ]]; then nvcc13=/usr/local/cuda/bin/nvcc; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile LABEL FILE NVCC FLAGS…: prints one line with the result, followed by the compiler's output if it failed.
compile() {
  local label=$1 file=$2
  shift 2
  local object="$work/$label-${file//\//_}.o" log="$work/$label-${file//\//_}.log" outcome=ok
  local -a launcher=()
  if command -v ccache >/dev/null; then launcher=(env CCACHE_BASEDIR="$source_root" CCACHE_NOHASHDIR=1 ccache); fi
  if ! "${launcher[@]}" "$@" -std=c++17 --expt-relaxed-constexpr -fmad=false -Wno-deprecated-gpu-targets \
    -Werror all-warnings -Xcompiler=-Wall -DGAUSSWEEP_HAS_CUDA=1 -I "$source_root" -c "$file" -o "$object" \
    >"$log" 2>&1; then
    outcome=FAILED
  elif [[ ! -s $object ]]; then
    outcome="FAILED (no object file)"
  elif grep -qi warning "$log"; then
    outcome="FAILED (warnings)"
  fi
  echo "$label  $file  $outcome"
  if [[ $outcome != ok ]]; then
    cat "$log"
    echo "$label $file" >>"$work/failed"
  fi
  rm -f "$object"
}
export -f compile
export work source_root

# compile_all LABEL NVCC FLAGS…
compile_all() {
  local label=$1
  shift
  printf '%s\0' "${files[@]}" | xargs -0 -P "${JOBS:-2}" -I FILE bash -c 'compile "$@"' _ "$label" FILE "$@"
}

if cuda11=$("$source_root/tests/cuda11_toolchain.sh" | tail -n 1); then
  compile_all cuda-11.8:sm_35,sm_52 "$cuda11" -gencode arch=compute_35,code=sm_35 -gencode arch=compute_52,code=sm_52
else
  cuda11=
fi
if [[ -n $nvcc13 ]]; then
  compile_all cuda-13:sm_75,sm_90,sm_120 "$nvcc13" -gencode arch=compute_75,code=sm_75 \
    -gencode arch=compute_90,code=sm_90 -gencode arch=compute_120,code=sm_120
else
  echo "portable_compile.sh: !!! NO CUDA 13 HERE: sm_75, sm_90 and sm_120 WERE NOT COMPILED (set NVCC) !!!" >&2
fi

if [[ -z $cuda11 ]]; then
  echo "portable_compile.sh: !!! NO CUDA 11.8 HERE: sm_35 and sm_52 WERE NOT COMPILED !!!" >&2
fi
if [[ -s $work/failed ]]; then
  echo "portable_compile.sh: $(wc -l <"$work/failed") of the compilations failed:" >&2
  cat "$work/failed" >&2
  exit 1
fi
if [[ -z $cuda11 ]]; then exit 1; fi
echo "portable_compile.sh: ${#files[@]} files compile"
