#pragma once
/// Access to the single systems of a batch. The systems' operands are stored side by side (Shape::batch).

#include <algorithm>
#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Returns a copy of matrix `s` (from 0) of the `batch` matrices in `all`; empty if `all` is empty.
template <class T>
HostMatrix<T> system_of(const HostMatrix<T>& all, std::int64_t batch, std::int64_t s) {
  if (all.empty()) return {};
  HostMatrix<T> one = HostMatrix<T>::uninitialized(all.rows, all.cols / batch);
  const std::int64_t elements = one.rows * one.cols;
  std::copy_n(all.data.begin() + s * elements, elements, one.data.begin());
  return one;
}

/// Copies `one` over matrix `s` of `all`. @pre `all` has its final size
template <class T>
void put_system(const HostMatrix<T>& one, std::int64_t s, HostMatrix<T>& all) {
  std::copy(one.data.begin(), one.data.end(), all.data.begin() + s * one.rows * one.cols);
}

/// Return copies of the inputs and of the answer of system s. If the batch has no pivots, the copy has none.
template <class T>
Inputs<T> system_of(const Inputs<T>& all, std::int64_t s) {
  const std::int64_t batch = all.shape.batch;
  return {all.shape.single(), system_of(all.a, batch, s), system_of(all.b, batch, s),
          system_of(all.x_true, batch, s)};
}
template <class T>
Answer<T> system_of(const Answer<T>& all, const Shape& shape, std::int64_t s) {
  Answer<T> one;
  one.x = system_of(all.x, shape.batch, s);
  one.info = all.infos.at(static_cast<std::size_t>(s));
  if (!all.pivots.empty())
    one.pivots.assign(all.pivots.begin() + s * shape.n, all.pivots.begin() + (s + 1) * shape.n);
  return one;
}

/// Returns views of the operands of system s. All systems use the same workspace.
template <class T>
Operands<T> system_of(const Operands<T>& all, std::int64_t s) {
  const auto view_of_system = [&](MatrixView<T> view) {
    view.cols /= all.shape.batch;
    if (view.data != nullptr) view.data += s * view.ld * view.cols;
    return view;
  };
  Operands<T> one = all;
  one.shape = all.shape.single();
  one.a = view_of_system(all.a);
  one.b = view_of_system(all.b);
  one.x = view_of_system(all.x);
  one.info = all.info + s;
  if (all.pivots != nullptr) one.pivots = all.pivots + s * all.shape.n;
  return one;
}

}  // namespace gaussweep
