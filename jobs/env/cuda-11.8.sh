# The environment file for CUDA 11.8, the last toolkit for Kepler. g++ 11 is the newest compiler that it supports. It is
# for nodes with K20/K40/K80 (sm_35, sm_37) and M40/Titan X (sm_52) up to Hopper (sm_90). The papers' portable kernels run
# on all of them; methods that need a newer GPU are skipped. The module names are guesses: see `module avail`.
GAUSSWEEP_MODULES="${GAUSSWEEP_MODULES_CUDA_11_8-gcc/11 cuda/11.8 openmpi hdf5}"
gaussweep_setup() {
  # Prefer the compilers of modules, which come first on PATH; else use the system's g++-11.
  if command -v gcc-11 >/dev/null; then export CC=gcc-11 CXX=g++-11; else export CC=gcc CXX=g++; fi
  export CUDAHOSTCXX=$CXX
  local nvcc
  nvcc=${CUDA_HOME:-/usr/local/cuda-11.8}/bin/nvcc
  if [[ -x $nvcc ]]; then export CUDACXX=$nvcc; fi
}
GAUSSWEEP_BUILD=$GAUSSWEEP_SOURCE/build-cuda-11.8
GAUSSWEEP_CUDA_ARCHITECTURES="35;37;52"
# Driver 470 is the last one for Kepler. nvcc warns about architectures that later versions drop.
GAUSSWEEP_CMAKE_OPTIONS=(-DCMAKE_CUDA_FLAGS=-Wno-deprecated-gpu-targets)
GAUSSWEEP_LAUNCHER=mpirun
