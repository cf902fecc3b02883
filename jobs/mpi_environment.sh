# Sourced by scripts that call mpirun on one machine: what Open MPI needs to start there, whoever the user is
# and however few cores there are. Under a batch system's own launcher it is not needed.
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# More ranks than cores are allowed: a rank mostly waits for its worker.
export OMPI_MCA_rmaps_base_oversubscribe=1
# A rank bound to a core would hand that binding to its worker, whose BLAS wants all of them.
export OMPI_MCA_hwloc_base_binding_policy=none
# Containers forbid one process to read another's memory; without this Open MPI complains once a rank.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
# mpirun looks at the machine's topology; what hwloc could say of graphics and OpenCL takes half a second on a machine
# with GPUs, and nobody asks for it.
export HWLOC_COMPONENTS=${HWLOC_COMPONENTS:--opencl,-gl,-cuda,-nvml}
