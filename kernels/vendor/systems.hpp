#pragma once
/// Applies BLAS and LAPACK routines on the CPU to each system of a batch.

#include "kernels/core/parallel_rows.hpp"
#include "kernels/registry/batch.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::vendor {

/// Calls work(operands of one system) for all systems. A single system may use all cores. The systems of a
/// batch are distributed over the cores, and BLAS uses one thread per system.
template <class T, class Work>
void for_systems(Operands<T>& op, Work&& work) {
  const std::int64_t batch = op.shape.batch;
  if (batch == 1) return work(op);
  const SingleThreadedBlas single_threaded;
  constexpr double min_cost = 1e4;  // operations per system, a lower bound; decides the number of threads
  for_row_ranges(batch, /*threads=*/0, min_cost * static_cast<double>(batch),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t s = begin; s < end; ++s) {
                     Operands<T> one = system_of(op, s);
                     work(one);
                   }
                 });
}

}  // namespace gaussweep::vendor
