# The environment file for CUDA 12 with g++ 12. CUDA 12 supports Maxwell (sm_52) to Hopper (sm_90); this file builds for
# Volta, Turing, Ampere, Ada and Hopper. The module names are guesses: see `module avail`.
GAUSSWEEP_MODULES="${GAUSSWEEP_MODULES_CUDA_12-gcc/12 cuda/12 openmpi hdf5}"
gaussweep_setup() {
  if command -v gcc-12 >/dev/null; then export CC=gcc-12 CXX=g++-12; else export CC=gcc CXX=g++; fi
  export CUDAHOSTCXX=$CXX
  local nvcc
  nvcc=${CUDA_HOME:-/usr/local/cuda-12}/bin/nvcc
  if [[ -x $nvcc ]]; then export CUDACXX=$nvcc; fi
}
GAUSSWEEP_BUILD=$GAUSSWEEP_SOURCE/build-cuda-12
GAUSSWEEP_CUDA_ARCHITECTURES="70-real;75-real;80-real;89-real;90"
GAUSSWEEP_LAUNCHER=mpirun
