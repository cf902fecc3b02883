#include "kernels/core/staging.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/matrix/parallel_rows.hpp"

namespace gaussweep {
namespace {

constexpr std::size_t alignment = 256;  // what cudaMalloc and cudaMallocPitch give

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Sizes of the pieces of a working set, which lie in this order, each aligned: a, b, pivots, info, x.
/// Pristine sets end after info.
struct Pieces {
  MatrixView<char> a, b, x;  // rows, cols, ld; data unused
  std::size_t a_bytes = 0, b_bytes = 0, pivot_bytes = 0, info_bytes = aligned(sizeof(int)), x_bytes = 0;
  std::size_t workspace_bytes = 0;

  std::size_t pristine() const { return a_bytes + b_bytes + pivot_bytes + info_bytes; }
  std::size_t set() const { return pristine() + x_bytes; }
};

std::size_t matrix_bytes(const MatrixView<char>& view, Layout layout, std::size_t element) {
  const std::int64_t lines = layout == Layout::column_major ? view.cols : view.rows;
  return aligned(static_cast<std::size_t>(view.ld * lines) * element);
}

MatrixView<char> dense(const Extent& of, Layout layout) {
  return {nullptr, of.rows, of.cols, layout == Layout::row_major ? of.cols : of.rows};
}

Pieces measure(const Method& method, const Shape& shape, const Parameters& parameters, std::size_t element) {
  Pieces p;
  const Layout layout = method.layout;
  const ProblemRow& problem = method.problem.row();
  require_sizes(problem, shape, method.id());
  if (layout == Layout::augmented) {
    const auto row = static_cast<std::size_t>(shape.n + shape.nrhs) * element;
    const auto ld = static_cast<std::int64_t>(aligned(row) / element);
    p.a = {nullptr, shape.n, shape.n + shape.nrhs, ld};
    p.b = {nullptr, shape.n, shape.nrhs, ld};  // a view of the last columns of a
    p.a_bytes = matrix_bytes(p.a, layout, element);
  } else {
    p.a = dense(problem.a(shape), layout);
    p.a_bytes = matrix_bytes(p.a, layout, element);
    if (problem.b != nullptr) {
      p.b = dense(problem.b(shape), layout);
      p.b_bytes = matrix_bytes(p.b, layout, element);
    }
  }
  if (problem.has_pivots) p.pivot_bytes = aligned(static_cast<std::size_t>(shape.n) * sizeof(int));
  if (method.answer == AnswerIn::x) {
    const Layout x_layout = layout == Layout::row_major ? Layout::row_major : Layout::column_major;
    p.x = dense(problem.x(shape), x_layout);
    p.x_bytes = matrix_bytes(p.x, x_layout, element);
  }
  if (method.workspace_bytes != nullptr)
    p.workspace_bytes = method.workspace_bytes(shape, parameters, element);
  return p;
}

/// A method that leaves its inputs alone can be repeated on one and the same set.
int working_sets(const Method& method, int copies) {
  return method.overwrites ? copies : 1;
}

/// Calls copy(i, j) for every element, tile by tile, so that both sides of a transposition stay in cache, on
/// several threads.
template <class Copy>
void transpose_blocked(std::int64_t rows, std::int64_t cols, Copy copy) {
  constexpr std::int64_t tile = 32;
  const double cost = static_cast<double>(rows) * static_cast<double>(cols);
  for_row_ranges((rows + tile - 1) / tile, 0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i0 = begin * tile; i0 < std::min(end * tile, rows); i0 += tile) {
      const std::int64_t i1 = std::min(i0 + tile, rows);
      for (std::int64_t j0 = 0; j0 < cols; j0 += tile) {
        const std::int64_t j1 = std::min(j0 + tile, cols);
        for (std::int64_t i = i0; i < i1; ++i) {
          for (std::int64_t j = j0; j < j1; ++j) copy(i, j);
        }
      }
    }
  });
}

/// Rows of a row-major matrix that are converted at a time: the host needs no second copy of a large matrix.
std::int64_t panel_rows(std::int64_t row_bytes) {
  constexpr std::int64_t panel_bytes = std::int64_t{64} << 20;
  return std::max<std::int64_t>(32, panel_bytes / std::max<std::int64_t>(1, row_bytes) / 32 * 32);
}

/// Uploads the columns of `parts`, side by side, as one row-major matrix.
template <class T>
void upload_rows(Device& device, T* destination, std::int64_t ld,
                 const std::vector<MatrixView<const T>>& parts) {
  const std::int64_t rows = parts.front().rows;
  const std::int64_t step = std::min(rows, panel_rows(ld * static_cast<std::int64_t>(sizeof(T))));
  std::vector<T> panel(static_cast<std::size_t>(step * ld));
  for (std::int64_t i0 = 0; i0 < rows; i0 += step) {
    const std::int64_t count = std::min(step, rows - i0);
    std::int64_t first_column = 0;
    for (const MatrixView<const T>& part : parts) {
      const T* from = part.data + i0;
      T* to = panel.data() + first_column;
      transpose_blocked(count, part.cols,
                        [&](std::int64_t i, std::int64_t j) { to[i * ld + j] = from[i + j * rows]; });
      first_column += part.cols;
    }
    device.to_device(destination + i0 * ld, panel.data(), static_cast<std::size_t>(count * ld) * sizeof(T));
  }
}

/// Fetches a row-major view into a column-major matrix.
template <class T>
void download_rows(Device& device, const MatrixView<T>& to, const T* source, std::int64_t ld) {
  const std::int64_t width = to.cols;
  const auto width_bytes = static_cast<std::size_t>(width) * sizeof(T);
  const std::int64_t step = std::min(to.rows, panel_rows(static_cast<std::int64_t>(width_bytes)));
  std::vector<T> panel(static_cast<std::size_t>(step * width));
  for (std::int64_t i0 = 0; i0 < to.rows; i0 += step) {
    const std::int64_t count = std::min(step, to.rows - i0);
    device.to_host_2d(panel.data(), width_bytes, source + i0 * ld, static_cast<std::size_t>(ld) * sizeof(T),
                      width_bytes, static_cast<std::size_t>(count));
    T* column = to.data + i0;
    transpose_blocked(count, width, [&](std::int64_t i, std::int64_t j) {
      column[i + j * to.rows] = panel[i * width + j];
    });
  }
}

template <class T>
void require_shape(const MatrixView<const T>& matrix, std::int64_t rows, std::int64_t cols,
                   const char* name) {
  if (matrix.rows == rows && matrix.cols == cols && matrix.ld == rows) return;
  throw std::invalid_argument(std::string("operand ") + name + " is " + std::to_string(matrix.rows) + " x " +
                              std::to_string(matrix.cols) + ", but the trial's shape asks for " +
                              std::to_string(rows) + " x " + std::to_string(cols));
}

template <class T>
MatrixView<const T> dense_view(const HostMatrix<T>& matrix) {
  if (matrix.data.size() != static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols)) {
    throw std::invalid_argument("an operand of " + std::to_string(matrix.rows) + " x " +
                                std::to_string(matrix.cols) + " has " + std::to_string(matrix.data.size()) +
                                " elements");
  }
  return {matrix.data.data(), matrix.rows, matrix.cols, matrix.rows};
}

template <class T>
MatrixView<T> typed(const MatrixView<char>& view) {
  return {nullptr, view.rows, view.cols, view.ld};
}

}  // namespace

template <class T>
InputViews<T> views_of(const Inputs<T>& inputs) {
  return {dense_view(inputs.a), dense_view(inputs.b)};
}

std::size_t staging_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                          std::size_t element, int copies) {
  const Pieces p = measure(method, shape, parameters, element);
  if (copies == 0) return p.set() + p.workspace_bytes;
  return p.pristine() + static_cast<std::size_t>(working_sets(method, copies)) * p.set() + p.workspace_bytes;
}

template <class T>
Staging<T>::Staging(Device& device, const Method& method, const Parameters& parameters, const Shape& shape,
                    int copies)
    : device_(device),
      method_(method),
      shape_(shape),
      copies_(copies == 0 ? 0 : working_sets(method, copies)) {
  if (copies < 0) throw std::invalid_argument(method.id() + ": fewer than no working sets");
  const Pieces p = measure(method, shape, parameters, sizeof(T));
  a_bytes_ = p.a_bytes;
  b_bytes_ = p.b_bytes;
  x_bytes_ = p.x_bytes;
  pivot_bytes_ = p.pivot_bytes;
  workspace_bytes_ = p.workspace_bytes;
  a_ = typed<T>(p.a);
  b_ = typed<T>(p.b);
  x_ = typed<T>(p.x);
  pristine_bytes_ = p.pristine();
  pristine_ = Buffer(device, copies_ == 0 ? p.set() : p.pristine());
  for (int copy = 0; copy < copies_; ++copy) sets_.emplace_back(device, p.set());
  workspace_ = Buffer(device, p.workspace_bytes);
}

template <class T>
void Staging<T>::upload(const InputViews<T>& inputs) {
  auto* base = static_cast<std::byte*>(pristine_.data());
  auto* a = reinterpret_cast<T*>(base);
  auto* b = reinterpret_cast<T*>(base + a_bytes_);
  if (method_.layout == Layout::augmented) {
    require_shape(inputs.a, shape_.n, shape_.n, "a");
    require_shape(inputs.b, shape_.n, shape_.nrhs, "b");
    upload_rows(device_, a, a_.ld, {inputs.a, inputs.b});
  } else {
    const bool by_rows = method_.layout == Layout::row_major;
    const auto put = [&](T* to, const MatrixView<T>& view, const MatrixView<const T>& from,
                         const char* name) {
      require_shape(from, view.rows, view.cols, name);
      if (by_rows) {
        upload_rows(device_, to, view.ld, {from});
      } else {
        device_.to_device(to, from.data, static_cast<std::size_t>(from.rows * from.cols) * sizeof(T));
      }
    };
    put(a, a_, inputs.a, "a");
    if (b_bytes_ > 0) put(b, b_, inputs.b, "b");
  }
  std::byte* tail = base + a_bytes_ + b_bytes_;
  if (pivot_bytes_ > 0) {
    std::vector<int> no_exchange(static_cast<std::size_t>(shape_.n));
    std::iota(no_exchange.begin(), no_exchange.end(), 0);
    device_.to_device(tail, no_exchange.data(), no_exchange.size() * sizeof(int));
  }
  device_.fill(tail + pivot_bytes_, 0, sizeof(int));
  if (copies_ == 0) poison(pristine_);
}

/// Every byte 0xFF is a NaN in both precisions.
template <class T>
void Staging<T>::poison(const Buffer& set) {
  if (x_bytes_ > 0) device_.fill(static_cast<std::byte*>(set.data()) + pristine_bytes_, 0xFF, x_bytes_);
}

template <class T>
void Staging<T>::reset() {
  if (copies_ == 0)
    throw std::logic_error(method_.id() + ": what was uploaded and overwritten cannot be reset");
  for (Buffer& set : sets_) {
    device_.copy(set.data(), pristine_.data(), pristine_bytes_);
    poison(set);
  }
}

template <class T>
Operands<T> Staging<T>::operands(int copy) {
  if (copy < 0) throw std::out_of_range("working sets are counted from 0");
  // Where one set serves all repeats (overwrites == false), copies_ is 1.
  if (copy >= std::max(copies_, 1) && method_.overwrites) {
    throw std::out_of_range("working set " + std::to_string(copy) + " of " + std::to_string(copies_));
  }
  const Buffer& set = copies_ == 0 ? pristine_ : sets_[static_cast<std::size_t>(copy % copies_)];
  auto* base = static_cast<std::byte*>(set.data());
  Operands<T> op;
  op.shape = shape_;
  op.a = a_;
  op.a.data = reinterpret_cast<T*>(base);
  op.b = b_;
  if (method_.layout == Layout::augmented) {
    op.b.data = op.a.data + shape_.n;
  } else if (b_bytes_ > 0) {
    op.b.data = reinterpret_cast<T*>(base + a_bytes_);
  }
  if (pivot_bytes_ > 0) op.pivots = reinterpret_cast<int*>(base + a_bytes_ + b_bytes_);
  op.info = reinterpret_cast<int*>(base + a_bytes_ + b_bytes_ + pivot_bytes_);
  op.x = x_;
  if (x_bytes_ > 0) op.x.data = reinterpret_cast<T*>(base + pristine_bytes_);
  op.workspace = Workspace(workspace_.data(), workspace_bytes_);
  return op;
}

/// Where the answer lies. In an augmented matrix a solver's takes the place of the right-hand sides.
template <class T>
MatrixView<T> Staging<T>::answer_view(const Operands<T>& op) const {
  if (method_.answer == AnswerIn::x) return op.x;
  return method_.answer == AnswerIn::b || method_.layout == Layout::augmented ? op.b : op.a;
}

template <class T>
bool Staging<T>::answer_by_rows() const {
  return method_.layout == Layout::row_major ||
         (method_.layout == Layout::augmented && method_.answer != AnswerIn::x);
}

template <class T>
std::int64_t Staging<T>::download_to(T* destination, int copy) {
  const Operands<T> op = operands(copy);
  const MatrixView<T> view = answer_view(op);
  if (answer_by_rows()) {
    download_rows(device_, MatrixView<T>{destination, view.rows, view.cols, view.rows}, view.data, view.ld);
  } else {
    device_.to_host(destination, view.data, static_cast<std::size_t>(view.rows * view.cols) * sizeof(T));
  }
  int info = 0;
  device_.to_host(&info, op.info, sizeof(int));
  return info;
}

template <class T>
Answer<T> Staging<T>::download(int copy) {
  const Operands<T> op = operands(copy);
  const MatrixView<T> view = answer_view(op);
  Answer<T> answer;
  answer.x = HostMatrix<T>::unset(view.rows, view.cols);
  answer.info = download_to(answer.x.data.data(), copy);
  if (op.pivots != nullptr) {
    answer.pivots.resize(static_cast<std::size_t>(shape_.n));
    device_.to_host(answer.pivots.data(), op.pivots, answer.pivots.size() * sizeof(int));
    bool exchanged = false;
    for (std::size_t i = 0; i < answer.pivots.size(); ++i)
      exchanged |= answer.pivots[i] != static_cast<int>(i);
    if (!exchanged) answer.pivots.clear();
  }
  return answer;
}

namespace {

template <class T>
Strided<T> strided(const T* data, std::int64_t ld, bool by_rows) {
  return by_rows ? Strided<T>{data, ld, 1} : Strided<T>{data, 1, ld};
}

}  // namespace

template <class T>
const Buffer& Staging<T>::pristine() const {
  if (copies_ == 0) throw std::logic_error(method_.id() + ": the pristine inputs lie on the host");
  return pristine_;
}

template <class T>
Strided<T> Staging<T>::pristine_a() const {
  const auto* data = static_cast<const T*>(pristine().data());
  return strided(data, a_.ld, method_.layout != Layout::column_major);
}

template <class T>
Strided<T> Staging<T>::pristine_b() const {
  const auto* data = static_cast<const std::byte*>(pristine().data());
  if (method_.layout == Layout::augmented) {
    return strided(reinterpret_cast<const T*>(data) + shape_.n, b_.ld, true);
  }
  if (b_bytes_ == 0) return {};
  return strided(reinterpret_cast<const T*>(data + a_bytes_), b_.ld, method_.layout == Layout::row_major);
}

template <class T>
Strided<T> Staging<T>::answer(int copy) {
  const MatrixView<T> view = answer_view(operands(copy));
  return strided<T>(view.data, view.ld, answer_by_rows());
}

template InputViews<float> views_of(const Inputs<float>&);
template InputViews<double> views_of(const Inputs<double>&);
template class Staging<float>;
template class Staging<double>;

}  // namespace gaussweep
