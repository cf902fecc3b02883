#pragma once
/// The template that `gaussweep plan --template` prints. docs/plan.md describes every key.

namespace gaussweep::driver {

inline constexpr const char* plan_template =
    R"(# A plan: what is to be measured. gaussweep plan FILE says what it would do, docs/plan.md has every key.
name: mine
precision: [double]                  # float, double
repeats: 5                           # timed samples a trial
warmup: 1                            # runs before them that are not timed
timeout: 10min                       # of a trial
# tolerance: {gesv: 16}              # the judged ratio may be at most so much; these are the defaults
matrix: {kind: diagonally_dominant, seed: 1}   # for entries without their own
sweep:
  - problem: gesv                    # gemm, trsv, gesv, getrf, potrf, posv, trtri, geinv, poinv
    method: all                      # names, globs, all: gaussweep methods lists them
    n: {cuda: 512:8k:*2, emulated: 16:64:*2, host: 512:2k:*2}   # start:stop, start:stop:step, start:stop:*factor
    # nrhs: [1, 4]                   # right-hand sides of gesv, posv and trsv
    # blocks: [1, 4]                 # a parameter of some of the methods
    # A method without row exchanges may fail; expected failures:
    expect: {gauss_cyclic_*: [pass, suspect, failed], lu_fixed_point: [pass, suspect, failed, diverged]}
  - problem: potrf
    method: all
    n: {cuda: 512:8k:*2, emulated: 64, host: 512:2k:*2}
    matrix: {kind: spd, seed: 1}
#  - problem: gesv                   # a matrix of your own: Matrix Market, .npy, MATLAB or HDF5
#    method: [lapack, cusolver]
#    matrix: {file: A.mtx}
)";

}  // namespace gaussweep::driver
