#pragma once
/// The CPU's libraries over the systems of a batch.

#include "kernels/core/parallel_rows.hpp"
#include "kernels/registry/batch.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::vendor {

/// Calls work(operands of one system) for all of them: a single one may use all cores, of several each core
/// takes its own.
template <class T, class Work>
void for_systems(Operands<T>& op, Work&& work) {
  const std::int64_t batch = op.shape.batch;
  if (batch == 1) return work(op);
  const OneThread each;
  constexpr double of_one = 1e4;  // operations at least, however small it is
  for_row_ranges(batch, 0, of_one * static_cast<double>(batch), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      Operands<T> one = system_of(op, s);
      work(one);
    }
  });
}

}  // namespace gaussweep::vendor
