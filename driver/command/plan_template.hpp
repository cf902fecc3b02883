#pragma once
/// The plans (YAML files of trials) that `gaussweep plan --template` prints as templates. docs/plan.md
/// describes every key.

namespace gaussweep::driver {

inline constexpr const char* plan_template =
    R"(# A plan lists what to measure. gaussweep plan FILE checks it; docs/plan.md has every key.
name: mine
precision: [double]                  # float, double
repeats: 5                           # timed samples per trial
warmup: 1                            # untimed runs before the samples
timeout: 10min                       # per trial
# tolerance: {gesv: 16}              # the largest residual ratio that passes; default: per problem
matrix: {kind: diagonally_dominant, seed: 1}   # for entries without a matrix
sweep:
  - problem: gesv                    # gemm, trsv, gesv, getrf, potrf, posv, trtri, geinv, poinv
    method: all                      # names, globs, all: gaussweep methods lists them
    n: {cuda: 512:8k:*2, emulated: 16:64:*2, host: 512:2k:*2}   # start:stop, start:stop:step, start:stop:*factor
    # nrhs: [1, 4]                   # right-hand sides of gesv, posv and trsv
    # blocks: [1, 4]                 # a parameter of some of the methods
    # Methods without row exchanges may fail. These statuses are expected of them:
    expect: {gauss_cyclic_*: [pass, suspect, failed], lu_fixed_point: [pass, suspect, failed, diverged]}
  - problem: potrf
    method: all
    n: {cuda: 512:8k:*2, emulated: 64, host: 512:2k:*2}
    matrix: {kind: spd, seed: 1}
#  - problem: gesv                   # a matrix of your own: Matrix Market, .npy, MATLAB or HDF5
#    method: [lapack, cusolver]
#    matrix: {file: A.mtx}
)";

/// The plan that `gaussweep plan --template rule` prints. `gaussweep rule` learns from its records which
/// method is the fastest at which sizes.
inline constexpr const char* rule_plan_template =
    R"(# Measurements for `gaussweep rule`: vendor methods and gaussweep's methods over orders, right-hand sides and batches.
# Takes about four minutes on one H200. Times between these sizes are interpolated; other sizes stay "not measured".
name: rule
precision: [double, float]
repeats: 5
stages: never
store: never
matrix: {kind: uniform, seed: 1}
sweep:
  # One matrix per run. The list has orders that are not multiples of 32, because products of these orders are slower.
  - problem: gemm
    method: [cublas, residues, halves, openblas, serial]
    repeats: 9
    rounds: 3
    n: &orders {cuda: [32, 45, 49, 64, 91, 128, 181, 256, 363, 512, 725, 1k, 1449, 2k, 2897, 4k, 5793, 8k, 10k], emulated: [16, 48], host: [64, 128, 256, 512]}
  - problem: trsv
    method: [inverted_blocks, cublas, openblas, serial_rows]
    n: *orders
    nrhs: &sides [1, 2, 8, 16, 64]
    uplo: [lower, upper]
    matrix: &triangular {kind: triangular, seed: 1}
  - problem: gesv
    method: [recursive, mixed_gmres, cusolver, lapack, gauss_pivot_serial]
    n: *orders
    nrhs: *sides
  - problem: gesv
    method: [recursive, mixed_gmres, cusolver, lapack]
    n: {cuda: [1k, 2k, 4k, 5793, 8k], emulated: 48, host: [64, 256]}
    matrix: {kind: diagonally_dominant, seed: 1}
  - {problem: getrf, method: [recursive, cusolver, lapack], n: *orders}
  - {problem: geinv, method: [recursive, cusolver, lapack], n: *orders}
  - {problem: potrf, method: [recursive, halves, cusolver, lapack], n: *orders, uplo: [lower, upper], matrix: &spd {kind: spd, seed: 1}}
  - {problem: posv, method: [recursive, mixed_gmres, cusolver, lapack], n: *orders, nrhs: *sides, matrix: *spd}
  - {problem: poinv, method: [recursive, cusolver, lapack], n: *orders, matrix: *spd}
  - {problem: trtri, method: [levels, cusolver, lapack], n: *orders, matrix: *triangular}
  # Methods that can be the fastest only for large matrices.
  - {problem: gesv, method: [residues, halves], n: &large {cuda: [2k, 2897, 4k, 5793, 8k, 10k], emulated: 48, host: 64}, nrhs: [1, 8, 64]}
  - {problem: getrf, method: [residues, halves], n: *large}
  # Methods for batches of small systems, on a single system up to order 512.
  - {problem: getrf, method: [batched, cublas], n: &small {cuda: [32, 45, 49, 64, 91, 128, 181, 256, 363, 512], emulated: [16, 48], host: 64}}
  - {problem: geinv, method: [batched, cublas], n: *small}
  - {problem: gesv, method: [batched, cublas], n: *small, nrhs: *sides}
  - {problem: potrf, method: batched, n: *small, uplo: [lower, upper], matrix: *spd}
  - {problem: posv, method: batched, n: *small, nrhs: *sides, matrix: *spd}
  # Batches of at most 70 million elements.
  - &batches
    problem: getrf
    method: [batched, cublas]
    n: {cuda: [8, 16, 24, 32, 45, 49, 64, 91, 128, 181, 256, 363], emulated: 3, host: 8}
    batch: [10, 100, 1000, 10000]
    exclude: [{n: ">64", batch: ">1000"}, {n: ">256", batch: ">100"}]
  - {<<: *batches, problem: geinv}
  - {<<: *batches, problem: gesv, nrhs: [1, 8]}
  - &definite {<<: *batches, problem: potrf, method: [batched, cusolver], matrix: *spd}
  - {<<: *definite, problem: posv, nrhs: [1, 8]}
)";

}  // namespace gaussweep::driver
