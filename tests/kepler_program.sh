#!/usr/bin/env bash
# Builds the whole program for Kepler (sm_35) and Maxwell (sm_52) with CUDA 11.8 and g++ 11, with warnings as errors.
# Tests that --version and the list of methods work, and that every portable kernel is in it for both architectures.
# The build is not optimised; docs/toolchains.md has the build for use.
#
#   tests/kepler_program.sh [--kernels] [FOLDER]     default: build-kepler
#
#   --kernels   only the library of kernels, for sm_35; takes a quarter of the time
#
# JOBS: number of concurrent compilers (default: the number of cores).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=gaussweep
architectures="35;52"
unity=OFF
if [[ ${1:-} == --kernels ]]; then
  target=gaussweep_kernels_cuda
  architectures=35
  unity=ON
  shift
fi
folder=${1:-build-kepler}
log=$folder/build.log
fail() { echo "kepler_program.sh: $*" >&2; exit 1; }

toolkit=$(dirname "$(tests/cuda11_toolchain.sh | tail -n 1)")/toolkit
mkdir -p "$folder"
if ! { CC=gcc-11 CXX=g++-11 cmake --preset cluster -B "$folder" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DCMAKE_CUDA_FLAGS_DEBUG= \
  -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" -DCUDAToolkit_ROOT="$toolkit" -DCMAKE_CUDA_HOST_COMPILER=g++-11 \
  -DCMAKE_CUDA_ARCHITECTURES="$architectures" -DCMAKE_CUDA_FLAGS="-Wno-deprecated-gpu-targets -Werror all-warnings" \
  -DGAUSSWEEP_WERROR=ON -DGAUSSWEEP_MEX=OFF -DGAUSSWEEP_SLOW_KERNELS=ON -DGAUSSWEEP_UNITY=$unity >"$log" 2>&1 &&
  cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target "$target" >>"$log" 2>&1; }; then
  grep -E -A 20 'error|FAILED|Error' "$log" | head -n 100
  fail "the build failed; all of its output is in $log"
fi
if grep -i 'warning' "$log"; then fail "the build warned; all of its output is in $log"; fi

binary=$folder/gaussweep
if [[ $target == gaussweep ]]; then
  "$binary" --version
  "$binary" methods --format json | python3 -c '
import json, sys
methods = [m["id"] for m in json.load(sys.stdin) if "cuda" in m["backends"] and m["capability"] <= 35]
print(len(methods), "methods for a GPU of compute capability 3.5:", ", ".join(methods))
sys.exit(not methods)'
  kernels=$(find kernels -name '*.cu' ! -name '*_cuda.cu' | wc -l)
else
  binary=$folder/kernels/cuda/libgaussweep_kernels_cuda.a
  kernels=$(ar t "$binary" | grep '\.cu\.o$' | grep -vc '_cuda\.')  # one file may hold several kernels
fi
"$toolkit/bin/cuobjdump" --list-elf "$binary" >"$folder/elf.log"
for architecture in ${architectures//;/ }; do
  found=$(grep -c "\.sm_$architecture\." "$folder/elf.log" || true)
  ((found >= kernels)) || fail "$binary has $found files of kernels for sm_$architecture, but there are $kernels portable files"
done
echo "kepler_program.sh: $binary has $found files of portable kernels for sm_${architectures//;/ and sm_}"
