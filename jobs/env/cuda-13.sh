# The environment file for CUDA 13 with g++ 13 or 12. It builds for Turing (sm_75) to Blackwell (sm_100, sm_120); older GPUs
# need CUDA 11.8 or 12. The module names are guesses: see `module avail`.
GAUSSWEEP_MODULES="${GAUSSWEEP_MODULES_CUDA_13-gcc/13 cuda/13 openmpi hdf5}"
gaussweep_setup() {
  if command -v gcc-13 >/dev/null; then export CC=gcc-13 CXX=g++-13; else export CC=gcc CXX=g++; fi
  export CUDAHOSTCXX=$CXX
  local nvcc
  nvcc=${CUDA_HOME:-/usr/local/cuda-13}/bin/nvcc
  if [[ -x $nvcc ]]; then export CUDACXX=$nvcc; fi
}
GAUSSWEEP_BUILD=$GAUSSWEEP_SOURCE/build-cuda-13
GAUSSWEEP_CUDA_ARCHITECTURES="75-real;80-real;90-real;100-real;120"
GAUSSWEEP_LAUNCHER=mpirun
