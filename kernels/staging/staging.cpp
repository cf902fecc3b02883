/// Implements staging.hpp: memory layout, upload, download and guard of a trial's operands.

#include "kernels/staging/staging.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kernels/staging/guard.hpp"
#include "kernels/staging/host_layout.hpp"
#include "kernels/staging/working_sets.hpp"

namespace gaussweep {
namespace {

using namespace host_layout;

constexpr int nan_byte = 0xFF;  // a number that consists of such bytes is NaN in both precisions

/// The shapes of the operands on the device, and their offsets in a working set.
struct OperandLayout {
  MatrixView<char> a, b, x;  // only shapes: rows, cols and ld are set, data is not
  StagingLayout layout;
};

std::size_t matrix_bytes(const MatrixView<char>& view, Layout layout, std::size_t element_bytes) {
  const std::int64_t lines = layout == Layout::column_major ? view.cols : view.rows;
  return static_cast<std::size_t>(view.ld * lines) * element_bytes;
}

/// Returns the shape of a matrix without padding.
MatrixView<char> dense(const Extent& extent, Layout layout) {
  return {/*data=*/nullptr, extent.rows, extent.cols,
          layout == Layout::row_major ? extent.cols : extent.rows};
}

/// Returns the operand that holds the answer. With the augmented layout [A | B], the solution replaces the
/// right-hand sides.
template <class View>
const View& answer_operand(AnswerIn answer, Layout layout, const View& a, const View& b, const View& x) {
  if (answer == AnswerIn::x) return x;
  return answer == AnswerIn::b || layout == Layout::augmented ? b : a;
}

std::int64_t pivot_count(const Shape& shape) {
  return shape.n * shape.batch;
}
/// Returns the value of pivot i that means "no exchange".
int identity_pivot(std::size_t i, const Shape& shape) {
  return static_cast<int>(static_cast<std::int64_t>(i) % shape.n);
}

/// Returns the leading dimension of an augmented matrix, whose rows begin at multiples of 256 bytes.
std::int64_t augmented_ld(std::int64_t columns, std::size_t element_bytes) {
  const std::int64_t elements = 256 / static_cast<std::int64_t>(element_bytes);
  return (columns + elements - 1) / elements * elements;
}

/// Computes the layout of a trial's operands on the first GPU. If A is distributed over several GPUs, it is
/// not part of this layout (part_layout).
OperandLayout layout_of(const Method& method, const Shape& shape, const Parameters& parameters,
                        std::size_t element_bytes) {
  OperandLayout operands;
  StagingLayout& staging = operands.layout;
  staging.set = staging.workspace = GappedLayout(element_bytes);
  const auto append = [&](StagingLayout::OperandRange& range, const char* name, std::size_t bytes) {
    const bool is_matrix = &range != &staging.pivots && &range != &staging.info;
    if (bytes > 0) range = {staging.set.append(name, bytes, is_matrix ? element_bytes : sizeof(int)), bytes};
  };
  const Layout layout = method.layout;
  const ProblemRow& problem = method.problem.row();
  require_sizes(problem, shape, method.id());
  if (layout == Layout::augmented) {
    const std::int64_t columns_of_b = problem.b(shape).cols, columns = problem.a(shape).cols + columns_of_b;
    const std::int64_t ld = augmented_ld(columns, element_bytes);
    operands.a = {/*data=*/nullptr, shape.n, columns, ld};
    operands.b = {/*data=*/nullptr, shape.n, columns_of_b, ld};  // a view of the last columns of a
    staging.a = {staging.set.append("[A|B]", "row", static_cast<std::size_t>(shape.n),
                                    static_cast<std::size_t>(columns) * element_bytes,
                                    static_cast<std::size_t>(ld) * element_bytes),
                 matrix_bytes(operands.a, layout, element_bytes)};
  } else {
    operands.a = dense(problem.a(shape), layout);
    if (gpus_of(method, shape, parameters) == 1)
      append(staging.a, "A", matrix_bytes(operands.a, layout, element_bytes));
    if (problem.b != nullptr) {
      operands.b = dense(problem.b(shape), layout);
      append(staging.b, "B", matrix_bytes(operands.b, layout, element_bytes));
    }
  }
  staging.answer_offset = staging.set.bytes();
  if (problem.has_pivots)
    append(staging.pivots, "pivots", static_cast<std::size_t>(pivot_count(shape)) * sizeof(int));
  append(staging.info, "info", static_cast<std::size_t>(shape.batch) * sizeof(int));
  staging.pristine_bytes = staging.set.bytes();
  const AnswerIn holder = answer_in(method, shape, parameters);
  if (holder == AnswerIn::x) {
    const Layout x_layout = layout == Layout::row_major ? Layout::row_major : Layout::column_major;
    operands.x = dense(problem.x(shape), x_layout);
    append(staging.x, "X", matrix_bytes(operands.x, x_layout, element_bytes));
  }
  const MatrixView<char>& answer = answer_operand(holder, layout, operands.a, operands.b, operands.x);
  staging.pinned_bytes =
      staging.answer_offset + static_cast<std::size_t>(answer.rows * answer.cols) * element_bytes;
  if (method.workspace_bytes != nullptr)
    staging.workspace_bytes = method.workspace_bytes(shape, parameters, element_bytes);
  if (staging.workspace_bytes > 0)
    staging.workspace.append("the workspace", staging.workspace_bytes, /*element_bytes=*/1);
  return operands;
}

/// Returns the number of working sets of a trial for which the caller requests `sets`. Repeats share one set
/// if they may.
int working_set_count(const Method& method, int sets) {
  return needs_set_per_repeat(method) ? sets : 1;
}

/// Returns the distribution of A over the GPUs.
ColumnBlocks blocks_of(const Method& method, const Shape& shape, const Parameters& parameters) {
  return {shape.n, method.column_block(shape, parameters), gpus_of(method, shape, parameters)};
}

template <class T>
void require_shape(const MatrixView<const T>& matrix, std::int64_t rows, std::int64_t cols,
                   const char* name) {
  if (matrix.rows == rows && matrix.cols == cols && matrix.ld == rows) return;
  throw std::invalid_argument(std::string("operand ") + name + " is " + std::to_string(matrix.rows) + " x " +
                              std::to_string(matrix.cols) + ", but the trial's shape requires " +
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
std::size_t dense_bytes(const MatrixView<T>& view) {
  return static_cast<std::size_t>(view.rows * view.cols) * sizeof(T);
}

template <class T>
MatrixView<T> typed(const MatrixView<char>& view) {
  return {/*data=*/nullptr, view.rows, view.cols, view.ld};
}

/// Returns the triangle of an operand that the problem does not use, without the diagonal.
Region unreferenced_triangle(UsedElements used, Uplo uplo) {
  if (used == UsedElements::all) return Region::none;
  return uplo == Uplo::lower ? Region::above : Region::below;
}

/// Returns the elements of an operand that the problem uses.
Region referenced(UsedElements used, Uplo uplo) {
  if (used == UsedElements::all) return Region::all;
  return uplo == Uplo::lower ? Region::lower : Region::upper;
}

/// Allocates the memory of a layout. Fills the gaps between operands (patterns that reveal overruns) that
/// begin at offset `from` or later.
Buffer with_gaps(Device& device, const GappedLayout& layout, std::size_t from = 0) {
  Buffer memory(device, layout.bytes());
  layout.fill(device, memory, from);
  return memory;
}

/// Returns the workspace in memory with the layout StagingLayout::workspace.
void* workspace_in(const Buffer& memory) {
  if (memory.bytes() == 0) return memory.data();
  return static_cast<std::byte*>(memory.data()) + GappedLayout::first_offset;
}

template <class T>
WritableStridedView<T> writable(const StridedView<T>& matrix) {
  return {const_cast<T*>(matrix.data), matrix.row_stride, matrix.col_stride};
}

}  // namespace

template <class T>
InputViews<T> views_of(const Inputs<T>& inputs) {
  return {dense_view(inputs.a), dense_view(inputs.b)};
}

std::size_t staging_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                          std::size_t element_bytes, int sets) {
  const StagingLayout staging = layout_of(method, shape, parameters, element_bytes).layout;
  const bool is_distributed = gpus_of(method, shape, parameters) > 1;
  const std::size_t part =
      is_distributed ? part_layout(blocks_of(method, shape, parameters), /*gpu=*/0, element_bytes).bytes()
                     : 0;
  const std::size_t set_bytes = staging.set.bytes() + part;
  if (sets == 0) return set_bytes + staging.workspace.bytes();
  return staging.pristine_bytes + part +
         static_cast<std::size_t>(working_set_count(method, sets)) * set_bytes + staging.workspace.bytes();
}

std::size_t pinned_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                         std::size_t element_bytes) {
  return layout_of(method, shape, parameters, element_bytes).layout.pinned_bytes;
}

template <class T>
Staging<T>::Staging(Device& device, const Method& method, const Parameters& parameters, const Shape& shape,
                    int sets, ResidentInputs<T> resident, DeviceGroup* group)
    : device_(device),
      method_(method),
      shape_(shape),
      set_count_(sets == 0 ? 0 : working_set_count(method, sets)),
      answer_in_(answer_in(method, shape, parameters)),
      gpus_(gpus_of(method, shape, parameters)),
      group_(group) {
  if (gpus_ > 1 && (group == nullptr || group->size() < gpus_ || sets > 1 || resident.has_a()))
    throw std::logic_error(method.id() + ": several GPUs need a group of them, and at most one working set");
  if (sets < 0) throw std::invalid_argument(method.id() + ": negative number of working sets");
  const OperandLayout operands = layout_of(method, shape, parameters, sizeof(T));
  layout_ = operands.layout;
  a_ = typed<T>(operands.a);
  b_ = typed<T>(operands.b);
  x_ = typed<T>(operands.x);
  is_resident_ = set_count_ > 0 && resident.has_a() && resident.layout == method.layout &&
                 resident.problem == method.problem && resident.memory.bytes() == layout_.pristine_bytes &&
                 (method.problem->b == nullptr || resident.b.data != nullptr);
  if (is_resident_) {
    pristine_ = std::move(resident.memory);
  } else {
    pristine_ = Buffer(device, set_count_ == 0 ? layout_.set.bytes() : layout_.pristine_bytes);
    resident_ = std::move(resident);
  }
  layout_.set.fill(device, pristine_);
  for (int set = 0; set < set_count_; ++set)  // `reset` fills the gaps of the inputs
    sets_.push_back(with_gaps(device, layout_.set, layout_.pristine_bytes));
  workspace_ = with_gaps(device, layout_.workspace);
  if (gpus_ == 1) return;
  const ColumnBlocks blocks = blocks_of(method, shape, parameters);
  if (set_count_ > 0) distributed_pristine_.emplace(*group, blocks);
  distributed_.emplace(*group, blocks);
  for (int gpu = 1; gpu < gpus_; ++gpu)
    further_workspaces_.push_back(with_gaps(group->device(gpu), layout_.workspace));
}

/// Returns the host matrices that form the pristine set. Checks their shapes first.
template <class T>
std::vector<typename Staging<T>::StagedMatrix> Staging<T>::staged_matrices(
    const InputViews<T>& inputs) const {
  if (method_.layout == Layout::augmented) {
    require_shape(inputs.a, shape_.n, a_.cols - b_.cols, "a");
    require_shape(inputs.b, shape_.n, b_.cols, "b");
    return {{layout_.a.offset, a_.ld, {inputs.a, inputs.b}}};
  }
  require_shape(inputs.a, a_.rows, a_.cols, "a");
  std::vector<StagedMatrix> matrices;
  if (gpus_ == 1) matrices.push_back({layout_.a.offset, a_.ld, {inputs.a}});
  if (layout_.b.bytes == 0) return matrices;
  require_shape(inputs.b, b_.rows, b_.cols, "b");
  matrices.push_back({layout_.b.offset, b_.ld, {inputs.b}});
  return matrices;
}

template <class T>
void Staging<T>::upload(const InputViews<T>& inputs) {
  for (const StagedMatrix& staged : staged_matrices(inputs)) upload_one(staged);
  if (gpus_ > 1) (distributed_pristine_ ? *distributed_pristine_ : *distributed_).upload(inputs.a.data);
  upload_pivots_and_info();
}

/// Uploads a matrix to its offset in the pristine set.
template <class T>
void Staging<T>::upload_one(const StagedMatrix& staged) {
  auto* to = reinterpret_cast<T*>(static_cast<std::byte*>(pristine_.data()) + staged.offset);
  if (method_.layout == Layout::column_major) {
    device_.to_device(to, staged.parts.front().data, dense_bytes(staged.parts.front()));
  } else {
    upload_rows(device_, to, staged.ld, staged.parts, layout_.set.padding());
  }
}

template <class T>
WritableStridedView<T> Staging<T>::writable_view(const StridedView<T>& view) const {
  return {const_cast<T*>(view.data), view.row_stride, view.col_stride};
}

template <class T>
void Staging<T>::upload_from(Context& context, const InputViews<T>& inputs) {
  const std::vector<StagedMatrix> matrices = staged_matrices(inputs);
  if (std::exchange(is_resident_, false)) return;
  const ResidentInputs<T> resident = std::move(resident_);
  const Extent b = method_.problem->b != nullptr ? method_.problem->b(shape_) : Extent{0, 0};
  const bool augmented = method_.layout == Layout::augmented;
  // Each row of an augmented matrix has elements of A and B, so that both must be resident.
  if (set_count_ == 0 || !resident.has_a() || (augmented && resident.b.data == nullptr))
    return upload(inputs);
  layout_.set.fill_padding(device_, pristine_);
  convert_layout(context, resident.a, inputs.a.rows, inputs.a.cols, writable_view(pristine_a()));
  if (b.rows * b.cols > 0 && resident.b.data != nullptr) {
    convert_layout(context, resident.b, b.rows, b.cols, writable_view(pristine_b()));
  } else if (b.rows * b.cols > 0) {
    upload_one(matrices.back());
  }
  upload_pivots_and_info();
  device_.synchronize();  // the resident memory is freed on return
}

template <class T>
ResidentInputs<T> Staging<T>::release_inputs() {
  if (set_count_ == 0 || gpus_ > 1) return {};
  ResidentInputs<T> released{{}, method_.problem, method_.layout, pristine_a(), pristine_b()};
  released.memory = std::move(pristine_);
  return released;
}

template <class T>
void Staging<T>::stage_pinned(const InputViews<T>& inputs) {
  pinned_.reset();
  pinned_ = HostBuffer(device_, layout_.pinned_bytes);
  for (const StagedMatrix& staged : staged_matrices(inputs)) {
    auto* to = reinterpret_cast<T*>(static_cast<std::byte*>(pinned_.data()) + staged.offset);
    if (method_.layout == Layout::column_major) {
      copy_blocked(to, staged.parts.front().data, dense_bytes(staged.parts.front()));
    } else {
      pack_rows(to, staged.ld, staged.parts, layout_.set.padding(), /*i0=*/0, staged.parts.front().rows);
    }
  }
  upload_pivots_and_info();
}

template <class T>
void Staging<T>::upload_pinned() {
  auto* to = static_cast<std::byte*>(pristine_.data());
  const auto* from = static_cast<const std::byte*>(pinned_.data());
  for (const auto& piece : {layout_.a, layout_.b})
    device_.copy(to + piece.offset, from + piece.offset, piece.bytes);
  device_.synchronize();
}

/// Initializes the pristine set except for a and b.
template <class T>
void Staging<T>::upload_pivots_and_info() {
  auto* const set = static_cast<std::byte*>(pristine_.data());
  if (layout_.pivots.bytes > 0) {
    std::vector<int> no_exchange(static_cast<std::size_t>(pivot_count(shape_)));
    for (std::size_t i = 0; i < no_exchange.size(); ++i) no_exchange[i] = identity_pivot(i, shape_);
    device_.to_device(set + layout_.pivots.offset, no_exchange.data(), layout_.pivots.bytes);
  }
  device_.fill(set + layout_.info.offset, /*byte=*/0, layout_.info.bytes);
  if (set_count_ == 0) fill_answer_with_nan(pristine_);
}

/// Fills x with NaN, if the answer has a separate operand x.
template <class T>
void Staging<T>::fill_answer_with_nan(const Buffer& set) {
  if (layout_.x.bytes > 0)
    device_.fill(static_cast<std::byte*>(set.data()) + layout_.x.offset, nan_byte, layout_.x.bytes);
}

template <class T>
void Staging<T>::reset() {
  if (set_count_ == 0) throw std::logic_error(method_.id() + ": reset needs pristine inputs on the device");
  for (Buffer& set : sets_) {
    device_.copy(set.data(), pristine_.data(), layout_.pristine_bytes);
    fill_answer_with_nan(set);
  }
  if (gpus_ > 1) distributed_->copy_from(*distributed_pristine_);
}

template <class T>
Operands<T> Staging<T>::operands(int set) {
  if (set < 0) throw std::out_of_range("working sets are counted from 0");
  // If all repeats share a set, set_count_ is 1, and `set` may be larger.
  if (set >= std::max(set_count_, 1) && needs_set_per_repeat(method_)) {
    throw std::out_of_range("working set " + std::to_string(set) + " of " + std::to_string(set_count_));
  }
  const Buffer& memory = set_count_ == 0 ? pristine_ : sets_[static_cast<std::size_t>(set % set_count_)];
  auto* base = static_cast<std::byte*>(memory.data());
  Operands<T> op;
  op.shape = shape_;
  op.a = a_;
  if (gpus_ == 1) op.a.data = reinterpret_cast<T*>(base + layout_.a.offset);
  op.b = b_;
  if (method_.layout == Layout::augmented) {
    op.b.data = op.a.data + a_.cols - b_.cols;
  } else if (layout_.b.bytes > 0) {
    op.b.data = reinterpret_cast<T*>(base + layout_.b.offset);
  }
  if (layout_.pivots.bytes > 0) op.pivots = reinterpret_cast<int*>(base + layout_.pivots.offset);
  op.info = reinterpret_cast<int*>(base + layout_.info.offset);
  op.x = x_;
  if (layout_.x.bytes > 0) op.x.data = reinterpret_cast<T*>(base + layout_.x.offset);
  op.workspace = Workspace(workspace_in(workspace_), layout_.workspace_bytes);
  for (int gpu = 0; gpus_ > 1 && gpu < gpus_; ++gpu) {
    const Buffer& workspace = gpu == 0 ? workspace_ : further_workspaces_[static_cast<std::size_t>(gpu - 1)];
    op.parts.push_back(
        {distributed_->part(gpu), Workspace(workspace_in(workspace), layout_.workspace_bytes)});
  }
  return op;
}

template <class T>
MatrixView<T> Staging<T>::answer_view(const Operands<T>& op) const {
  return answer_operand(answer_in_, method_.layout, op.a, op.b, op.x);
}

template <class T>
bool Staging<T>::answer_is_row_major() const {
  return method_.layout == Layout::row_major ||
         (method_.layout == Layout::augmented && answer_in_ != AnswerIn::x);
}

template <class T>
std::int64_t Staging<T>::download_to(T* destination, int set) {
  const Operands<T> op = operands(set);
  const MatrixView<T> view = answer_view(op);
  if (has_distributed_answer()) {
    distributed_->download(destination);
  } else if (answer_is_row_major()) {
    download_rows(device_, MatrixView<T>{destination, view.rows, view.cols, view.rows}, view.data, view.ld);
  } else {
    device_.to_host(destination, view.data, dense_bytes(view));
  }
  return download_info(set);
}

template <class T>
std::int64_t Staging<T>::download_info(int set) {
  const std::vector<int> infos = download_infos(set);
  const auto first = std::find_if(infos.begin(), infos.end(), [](int info) { return info != 0; });
  return first == infos.end() ? 0 : *first;
}

template <class T>
std::vector<int> Staging<T>::download_infos(int set) {
  std::vector<int> infos(static_cast<std::size_t>(shape_.batch));
  device_.to_host(infos.data(), operands(set).info, infos.size() * sizeof(int));
  return infos;
}

/// Returns an answer of the right shape, with uninitialized elements.
template <class T>
Answer<T> Staging<T>::uninitialized_answer(int set) {
  const MatrixView<T> view = answer_view(operands(set));
  Answer<T> answer;
  answer.x = HostMatrix<T>::uninitialized(view.rows, view.cols);
  return answer;
}

template <class T>
Answer<T> Staging<T>::download(int set, const T* column_major_answer) {
  Answer<T> answer = uninitialized_answer(set);
  if (column_major_answer != nullptr) {
    device_.to_host(answer.x.data.data(), column_major_answer, answer.x.data.size() * sizeof(T));
    answer.info = download_info(set);
  } else {
    answer.info = download_to(answer.x.data.data(), set);
  }
  download_pivots_and_infos(answer, set);
  return answer;
}

template <class T>
void Staging<T>::download_pinned(int set) {
  const MatrixView<T> view = answer_view(operands(set));
  std::byte* to = static_cast<std::byte*>(pinned_.data()) + layout_.answer_offset;
  const std::size_t row = static_cast<std::size_t>(view.cols) * sizeof(T);
  if (answer_is_row_major() && view.ld != view.cols) {
    device_.to_host_2d(to, row, view.data, static_cast<std::size_t>(view.ld) * sizeof(T), row,
                       static_cast<std::size_t>(view.rows));
  } else {
    device_.copy(to, view.data, dense_bytes(view));
  }
  device_.synchronize();
}

template <class T>
Answer<T> Staging<T>::pinned_answer(int set) {
  Answer<T> answer = uninitialized_answer(set);
  const MatrixView<T> to{answer.x.data.data(), answer.x.rows, answer.x.cols, answer.x.rows};
  const auto* from =
      reinterpret_cast<const T*>(static_cast<const std::byte*>(pinned_.data()) + layout_.answer_offset);
  if (answer_is_row_major()) {
    unpack_rows(to, from, /*i0=*/0, to.rows);
  } else {
    copy_blocked(to.data, from, dense_bytes(to));
  }
  pinned_.reset();
  answer.info = download_info(set);
  download_pivots_and_infos(answer, set);
  return answer;
}

/// Downloads the infos of a batch and the pivots. Drops the pivots if no rows were exchanged.
template <class T>
void Staging<T>::download_pivots_and_infos(Answer<T>& answer, int set) {
  if (shape_.batch > 1) answer.infos = download_infos(set);
  const Operands<T> op = operands(set);
  if (op.pivots == nullptr) return;
  answer.pivots.resize(static_cast<std::size_t>(pivot_count(shape_)));
  device_.to_host(answer.pivots.data(), op.pivots, answer.pivots.size() * sizeof(int));
  bool exchanged = false;
  for (std::size_t i = 0; i < answer.pivots.size(); ++i)
    exchanged |= answer.pivots[i] != identity_pivot(i, shape_);
  if (!exchanged) answer.pivots.clear();
}

namespace {

template <class T>
StridedView<T> strided(const T* data, std::int64_t ld, bool row_major) {
  return row_major ? StridedView<T>{data, ld, /*col_stride=*/1} : StridedView<T>{data, /*row_stride=*/1, ld};
}

}  // namespace

template <class T>
const Buffer& Staging<T>::pristine() const {
  if (set_count_ == 0) throw std::logic_error(method_.id() + ": the pristine inputs are on the host");
  return pristine_;
}

template <class T>
StridedView<T> Staging<T>::pristine_a() const {
  const auto* data = static_cast<const std::byte*>(pristine().data()) + layout_.a.offset;
  return strided(reinterpret_cast<const T*>(data), a_.ld, method_.layout != Layout::column_major);
}

template <class T>
StridedView<T> Staging<T>::pristine_b() const {
  if (method_.layout == Layout::augmented)
    return strided(pristine_a().data + a_.cols - b_.cols, b_.ld, /*row_major=*/true);
  const auto* data = static_cast<const std::byte*>(pristine().data());
  if (layout_.b.bytes == 0) return {};
  return strided(reinterpret_cast<const T*>(data + layout_.b.offset), b_.ld,
                 method_.layout == Layout::row_major);
}

template <class T>
StridedView<T> Staging<T>::answer(int set) {
  const MatrixView<T> view = answer_view(operands(set));
  return strided<T>(view.data, view.ld, answer_is_row_major());
}

template <class T>
Region Staging<T>::hidden_region() const {
  return unreferenced_triangle(method_.problem->used_of_a, shape_.uplo);
}

/// Returns the elements of the answer that change sign if the operands are negated.
template <class T>
Region Staging<T>::negated_of_answer() const {
  const ProblemRow& problem = method_.problem.row();
  if (problem.negated_of_b != Region::none) return problem.negated_of_b;
  if (!problem.has_pivots) return problem.negated;
  // A factorisation with pivots: only the factor without the unit diagonal changes its signs.
  return method_.unit_diagonal == UnitDiagonal::lower ? Region::upper : Region::lower;
}

/// Returns A in a working set. In an augmented matrix, A consists of the columns before B.
template <class T>
StridedView<T> Staging<T>::guarded_a(int set) {
  const MatrixView<T> a = operands(set).a;
  if (method_.layout == Layout::column_major) return {a.data, /*row_stride=*/1, a.ld};
  return {a.data, a.ld, /*col_stride=*/1};
}

template <class T>
StridedView<T> Staging<T>::guarded_b(int set) {
  const MatrixView<T> b = operands(set).b;
  if (method_.layout == Layout::column_major) return {b.data, /*row_stride=*/1, b.ld};
  return {b.data, b.ld, /*col_stride=*/1};
}

template <class T>
void Staging<T>::guard(Context& context, int set, bool negated) {
  // All working sets share the workspace.
  if (set == 0) device_.fill(workspace_in(workspace_), nan_byte, layout_.workspace_bytes);
  for (int gpu = 1; gpu < gpus_; ++gpu) {
    const Buffer& workspace = further_workspaces_[static_cast<std::size_t>(gpu - 1)];
    group_->device(gpu).fill(workspace_in(workspace), nan_byte, layout_.workspace_bytes);
  }
  const ProblemRow& problem = method_.problem.row();
  const OperandGuard guard{negated ? problem.negated : Region::none, hidden_region(),
                           /*noise=*/method_.vendor};
  if (gpus_ > 1) {
    distributed_->guard(guard);
  } else if (guard.negated != Region::none || guard.hidden != Region::none) {
    guard_operand(context, writable(guarded_a(set)), problem.a(shape_), guard);
  }
  if (!negated || problem.negated_of_b == Region::none) return;
  guard_operand(context, writable(guarded_b(set)), problem.b(shape_),
                {problem.negated_of_b, /*hidden=*/Region::none, /*noise=*/false});
}

template <class T>
void Staging<T>::restore_signs(Context& context, int set) {
  const OperandGuard signs{negated_of_answer(), /*hidden=*/Region::none, /*noise=*/false};
  if (has_distributed_answer()) return distributed_->guard(signs);
  guard_operand(context, writable(answer(set)), method_.problem->x(shape_), signs);
}

template <class T>
std::uint64_t Staging<T>::answer_digest(Context& context, int set, bool negated) {
  const ProblemRow& problem = method_.problem.row();
  const Region counted = referenced(problem.used_of_x, shape_.uplo);
  const Region signs = negated ? negated_of_answer() : Region::none;
  std::uint64_t digest = has_distributed_answer()
                             ? distributed_->digest(counted, signs)
                             : digest_elements(context, answer(set), problem.x(shape_), counted, signs);
  const Operands<T> op = operands(set);
  std::vector<int> integers(op.pivots != nullptr ? static_cast<std::size_t>(shape_.n * shape_.batch) : 0);
  if (!integers.empty()) device_.to_host(integers.data(), op.pivots, integers.size() * sizeof(int));
  if (problem.has_pivots) {
    const std::vector<int> infos = download_infos(set);
    integers.insert(integers.end(), infos.begin(), infos.end());
  }
  // The digest hashes each value with its position. Pivots and infos get the positions ~0, ~1, ..., which
  // differ from those of the answer's elements (0, 1, ...).
  for (std::size_t i = 0; i < integers.size(); ++i)
    digest +=
        guard::hashed_word(static_cast<unsigned long long>(integers[i]), ~static_cast<unsigned long long>(i));
  return digest;
}

/// Returns a digest of A and B in a working set.
template <class T>
std::uint64_t Staging<T>::input_digest(Context& context, int set) {
  const ProblemRow& problem = method_.problem.row();
  std::uint64_t digest =
      digest_elements(context, guarded_a(set), problem.a(shape_), Region::all, Region::none);
  if (problem.b == nullptr) return digest;
  // The factor 31 makes the digest change if A and B are exchanged.
  return digest ^
         (31 * digest_elements(context, guarded_b(set), problem.b(shape_), Region::all, Region::none));
}

/// Returns GappedLayout::overrun of the first buffer with a changed gap; empty if there is none. It does not
/// check the distributed A of a vendor's method.
template <class T>
std::string Staging<T>::overrun() {
  std::string found = set_count_ == 0 ? layout_.set.overrun(device_, pristine_.data()) : "";
  for (std::size_t set = 0; found.empty() && set < sets_.size(); ++set)
    found = layout_.set.overrun(device_, sets_[set].data());
  if (found.empty()) found = layout_.workspace.overrun(device_, workspace_.data());
  for (int gpu = 1; found.empty() && gpu < gpus_; ++gpu) {
    const Buffer& workspace = further_workspaces_[static_cast<std::size_t>(gpu - 1)];
    found = layout_.workspace.overrun(group_->device(gpu), workspace.data());
  }
  if (found.empty() && gpus_ > 1 && !method_.vendor) found = distributed_->overrun();
  return found;
}

template <class T>
std::string Staging<T>::forbidden_writes(Context& context, int set, bool negated) {
  const Region hidden = hidden_region();
  if (hidden != Region::none && !method_.vendor) {
    const std::int64_t count =
        gpus_ > 1 ? distributed_->count_overwritten(hidden)
                  : count_overwritten(context, guarded_a(set), method_.problem->a(shape_), hidden);
    if (count > 0) {
      return "the method wrote " + std::to_string(count) + (count == 1 ? " element" : " elements") +
             " of the unreferenced triangle of A";
    }
  }
  const std::string overrun = this->overrun();
  if (!overrun.empty()) return "the method wrote outside of its operands: " + overrun;
  if (method_.overwrites || set_count_ == 0) return {};
  const std::uint64_t after = input_digest(context, set);
  reset();
  guard(context, set, negated);
  if (input_digest(context, set) == after) return {};
  return "the method overwrote its inputs, which its registry row declares as preserved";
}

template InputViews<float> views_of(const Inputs<float>&);
template InputViews<double> views_of(const Inputs<double>&);
template class Staging<float>;
template class Staging<double>;

}  // namespace gaussweep
