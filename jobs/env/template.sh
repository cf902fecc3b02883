# An environment file: the settings of one cluster. Copy it (my-cluster.sh), edit it, and name it with --env or in
# GAUSSWEEP_ENV. It is bash. The scripts of jobs/slurm source it on the login node (to submit) and in the job;
# jobs/env/build.sh sources it to build. Every setting may be omitted; the values here are the defaults. GAUSSWEEP_SOURCE
# is the source folder. Every run directory keeps a copy of this file, so it must not contain passwords.

# Modules that are loaded in the job and for the build, after `module purge`. If Slurm's commands come from a module, list
# that module, too. If this is empty, no modules are loaded and no command `module` is needed.
GAUSSWEEP_MODULES=""

# A function that is called after the modules are loaded, for settings that depend on them (paths under $CUDA_HOME, a
# Python environment).
gaussweep_setup() { :; }

# Use a separate build directory for each toolchain.
GAUSSWEEP_BUILD=$GAUSSWEEP_SOURCE/build
# The program, if it is not $GAUSSWEEP_BUILD/gaussweep:
# GAUSSWEEP=/opt/gaussweep/bin/gaussweep

# For the build: compilers as CMake knows them, and GPU architectures (default: those of the building machine).
# export CC=gcc-12 CXX=g++-12 CUDACXX=/usr/local/cuda/bin/nvcc CUDAHOSTCXX=g++-12
GAUSSWEEP_CUDA_ARCHITECTURES=""
GAUSSWEEP_CMAKE_OPTIONS=()             # nodes without GPUs: (-DGAUSSWEEP_CUDA=OFF)

# The launcher: mpirun (Open MPI's options) or srun (if Slurm and MPI share PMIx or PMI2: `srun --mpi=list`).
GAUSSWEEP_LAUNCHER=mpirun
GAUSSWEEP_LAUNCHER_OPTIONS=()          # e.g. (--mpi=pmix) for srun, (--mca pml ucx) for mpirun
# For another MPI: a function that starts COMMAND with this number of ranks on each node of the job. It must use `exec`, so
# that Slurm's notice reaches the launcher, which must forward USR1 to the ranks.
# gaussweep_launch() { local ranks=$1; shift; exec mpiexec -ppn "$ranks" -n $((ranks * SLURM_JOB_NUM_NODES)) "$@"; }

# Options of sbatch at this site: for every job, then for whole nodes (sweep.sbatch), for a task of an array
# (array.sbatch), and for the merge (finish.sbatch), which needs no GPU.
GAUSSWEEP_SBATCH=()                    # e.g. (--account=ab123)
GAUSSWEEP_SWEEP_SBATCH=()              # e.g. (--partition=gpu --gres=gpu:4): on some clusters --exclusive alone gives no GPUs
GAUSSWEEP_ARRAY_SBATCH=()              # e.g. (--partition=gpu --gres=gpu:1 --cpus-per-task=8)
GAUSSWEEP_FINISH_SBATCH=()             # e.g. (--partition=cpu --time=30 --mem=8G)

# Options of analysis/report: the trials whose times the mail of a night shows for the past week (jobs/slurm/night.sh).
# Default: the fastest trial of each problem.
# GAUSSWEEP_TREND="--problem gesv --method recursive"

# Ranks are bound to the CPUs next to their GPU (jobs/slurm/rank.sh); `none` keeps the launcher's binding.
export GAUSSWEEP_BIND=gpu
