# An environment file: what differs between clusters. Copy it (my-cluster.sh), change it, name it with --env or in
# GAUSSWEEP_ENV. The scripts of jobs/slurm source it on the login node (to submit) and in the job; jobs/env/build.sh
# sources it to build. It is bash. Everything may be left out; the values here are the defaults. GAUSSWEEP_SOURCE is
# the source folder. Every run directory keeps a copy of this file: no passwords in it.

# Modules that are loaded in the job and for the build, after `module purge`: where Slurm's commands come from a module,
# name that too. Empty: none, no `module` needed.
GAUSSWEEP_MODULES=""

# Called after the modules: what depends on them (paths under $CUDA_HOME, a Python environment, LD_LIBRARY_PATH).
gaussweep_setup() { :; }

# Each toolchain has a build directory of its own.
GAUSSWEEP_BUILD=$GAUSSWEEP_SOURCE/build
# The program, where it is not $GAUSSWEEP_BUILD/gaussweep:
# GAUSSWEEP=/opt/gaussweep/bin/gaussweep

# For the build: compilers as CMake knows them, GPU architectures. No architectures: those of the machine that builds.
# export CC=gcc-12 CXX=g++-12 CUDACXX=/usr/local/cuda/bin/nvcc CUDAHOSTCXX=g++-12
GAUSSWEEP_CUDA_ARCHITECTURES=""
GAUSSWEEP_CMAKE_OPTIONS=()             # nodes without GPUs: (-DGAUSSWEEP_CUDA=OFF)

# How ranks start: mpirun (Open MPI's options) or srun (where Slurm and MPI share PMIx or PMI2: `srun --mpi=list`).
GAUSSWEEP_LAUNCHER=mpirun
GAUSSWEEP_LAUNCHER_OPTIONS=()          # e.g. (--mpi=pmix) for srun, (--mca pml ucx) for mpirun
# Another MPI: a function that starts COMMAND with so many ranks on each node of the job; by `exec`, so that Slurm's notice
# reaches the launcher, which must pass USR1 on to the ranks.
# gaussweep_launch() { local ranks=$1; shift; exec mpiexec -ppn "$ranks" -n $((ranks * SLURM_JOB_NUM_NODES)) "$@"; }

# What sbatch needs at this site: for every job, then for whole nodes (sweep.sbatch), a task of an array (array.sbatch)
# and the merge (finish.sbatch), which needs no GPU.
GAUSSWEEP_SBATCH=()                    # e.g. (--account=ab123)
GAUSSWEEP_SWEEP_SBATCH=()              # e.g. (--partition=gpu --gres=gpu:4): --exclusive alone brings no GPU everywhere
GAUSSWEEP_ARRAY_SBATCH=()              # e.g. (--partition=gpu --gres=gpu:1 --cpus-per-task=8)
GAUSSWEEP_FINISH_SBATCH=()             # e.g. (--partition=cpu --time=30 --mem=8G)

# Ranks are bound to the CPUs beside their GPU (jobs/slurm/rank.sh); `none` leaves them as the launcher binds them.
export GAUSSWEEP_BIND=gpu
