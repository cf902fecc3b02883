# Scripts that call mpirun on one machine source this file. Its settings let Open MPI start as any user and on any number of
# cores. A batch system's own launcher does not need them.
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Allows more ranks than cores: a rank mostly waits for its worker, the process that runs its trials.
export OMPI_MCA_rmaps_base_oversubscribe=1
# A worker would inherit a rank's binding to one core, but its BLAS needs all cores.
export OMPI_MCA_hwloc_base_binding_policy=none
# Containers forbid processes to read each other's memory. Without this setting Open MPI prints one warning per rank there.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
# mpirun reads the machine's topology. On machines with GPUs hwloc's plugins for graphics and OpenCL take half a second,
# and nothing uses their results.
export HWLOC_COMPONENTS=${HWLOC_COMPONENTS:--opencl,-gl,-cuda,-nvml}
