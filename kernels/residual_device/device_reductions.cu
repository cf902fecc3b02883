// The judge's reductions of matrices on a device.
#include "kernels/residual_device/device_reductions.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/device/scratch.hpp"
#include "kernels/residual_device/device_difference.cuh"
#include "kernels/residual_device/device_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using namespace judge;

constexpr int threads = 128;
constexpr std::int64_t max_blocks = 8192;  // fills any GPU; the kernels loop over the remaining elements
constexpr unsigned long long max_undecided = 1 << 16;

dim3 blocks_for(std::int64_t count) {
  return dim3(static_cast<unsigned>(std::min((count + threads - 1) / threads, max_blocks)));
}

__global__ void digest_kernel(const unsigned long long* words, std::int64_t count, unsigned long long* sum) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long own = 0;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += step) {
    // The finaliser of MurmurHash3 (Appleby, public domain) over a word and its position.
    unsigned long long x = words[k] + 0x9e3779b97f4a7c15ull * static_cast<unsigned long long>(k + 1);
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
    own += x ^ (x >> 33);
  }
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_xor_sync(0xffffffffu, own, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

template <class T>
class DeviceReductions final : public Reductions<T> {
 public:
  DeviceReductions(Context& context, std::vector<DeviceCopy<T>> copies, std::size_t workspace)
      : context_(context),
        device_(context.device),
        copies_(std::move(copies)),
        workspace_(workspace),
        scratch_(scratch_of(context)) {}
  ~DeviceReductions() override { scratch_.keep_small(); }
  DeviceReductions(const DeviceReductions&) = delete;
  DeviceReductions& operator=(const DeviceReductions&) = delete;

  std::optional<Place> first_not_finite(const HostMatrix<T>& a, Part part) override {
    if (a.rows * a.cols == 0) return std::nullopt;
    constexpr unsigned long long none = ~0ull;
    const Scratch::Piece position = scratch_.take(sizeof none);
    const auto data = position.as<unsigned long long>();
    device_.fill(data, 0xFF, sizeof none);
    simt::launch(context_, not_finite_kernel<T>, blocks_for(a.rows * a.cols), dim3(threads), 0,
                 elements(Operand<T>(a, part)), data);
    const unsigned long long found = downloaded(data, 1)[0];
    if (found == none) return std::nullopt;
    return Place{static_cast<std::int64_t>(found) % a.rows, static_cast<std::int64_t>(found) / a.rows};
  }
  double max_norm(const HostMatrix<T>& a, Part part) override {
    if (a.rows * a.cols == 0) return 0;
    const unsigned long long zero = 0;
    const Scratch::Piece bits = uploaded(&zero, 1);
    const auto data = bits.as<unsigned long long>();
    simt::launch(context_, largest_kernel<T>, blocks_for(a.rows * a.cols), dim3(threads), 0,
                 elements(Operand<T>(a, part)), data);
    double largest = 0;
    device_.to_host(&largest, data, sizeof largest);
    return largest;
  }
  Scaled one_norm(const HostMatrix<T>& a, Part part) override {
    return largest_sum(a, Lines<T>{elements(Operand<T>(a, part)), false, false, 0});
  }
  Scaled infinity_norm(const HostMatrix<T>& a, Part part) override {
    return largest_sum(a, Lines<T>{elements(Operand<T>(a, part)), true, false, 0});
  }
  Scaled symmetric_norm(const HostMatrix<T>& a, Part part) override {
    return largest_sum(a, Lines<T>{elements(Operand<T>(a, part)), true, true, 0});
  }
  Scaled frobenius_norm(const HostMatrix<T>& a) override {
    const int exponent = exponent_of(max_norm(a, Part::all));
    const std::vector<double> sums =
        folds(Lines<T>{elements(Operand<T>(a)), false, false, exponent}, Fold::squares);
    return Scaled(std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0)), exponent);
  }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override {
    return folds(Lines<T>{elements(Operand<T>(a)), false, false, 0}, Fold::largest);
  }
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, Part part,
                                       double x_norm, double y_norm) override {
    const std::int64_t unit = unit_of_gaps(x_norm, y_norm);
    const Scratch::Piece gaps = scratch_.take(static_cast<std::size_t>(y.cols) * sizeof(ColumnGaps));
    const auto columns = gaps.as<ColumnGaps>();
    // For few columns a block has one column, so that it stages more of it in shared memory.
    constexpr int width = lines_of_block;
    const bool few = y.cols <= width;
    const auto blocks = static_cast<unsigned>(few ? y.cols : (y.cols + width - 1) / width);
    simt::launch(context_, few ? gaps_kernel<T, 1> : gaps_kernel<T, width>, dim3(blocks), dim3(gap_threads),
                 0, elements(Operand<T>(x, part)), elements(Operand<T>(y, part)), unit, columns);
    return combined(downloaded(columns, y.cols), count_of(part, y.rows, y.cols), unit, y_norm);
  }

  std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                               Measure measure) override {
    const Job job(*this, factors, target, measure);
    const std::int64_t rows = factors.rows(), cols = factors.cols();
    const std::int64_t down = (rows + edge - 1) / edge;
    const ColumnBlock column_block = take_column_block(cols, static_cast<std::size_t>(down) * sizeof(Scaled));
    const auto parts = column_block.workspace.template as<Scaled>();
    const Scratch::Piece sums = scratch_.take(static_cast<std::size_t>(column_block.width) * sizeof(Scaled));
    const auto block_sums = sums.as<Scaled>();
    std::vector<ColumnResidual> columns(static_cast<std::size_t>(cols));
    for (std::int64_t begin = 0; begin < cols; begin += column_block.width) {
      const std::int64_t width = std::min(column_block.width, cols - begin);
      launch_product<Epilogue::columns>(job, begin, width, parts, nullptr, {});
      simt::launch(context_, add_parts_kernel<>, dim3(static_cast<unsigned>((width + threads - 1) / threads)),
                   dim3(threads), 0, static_cast<const Scaled*>(parts), down, width, measure, block_sums);
      const std::vector<Scaled> found = downloaded(block_sums, width);
      for (std::int64_t j = 0; j < width; ++j) {
        columns[static_cast<std::size_t>(begin + j)].value = found[static_cast<std::size_t>(j)];
      }
    }
    set_bounds(factors, job.rows, job.cols, measure, columns);
    return columns;
  }

  double largest_share(const Factors<T>& factors, const Target<T>& target,
                       const Allowance& allowance) override {
    Factors<T> absolute = factors;
    absolute.left.absolute = absolute.right.absolute = true;
    const Job job(*this, factors, target, Measure::largest);
    const Job absolute_job(*this, absolute, target, Measure::largest);
    const std::int64_t rows = factors.rows(), cols = factors.cols();
    const ColumnBlock column_block = take_column_block(cols, static_cast<std::size_t>(rows) * sizeof(double));
    const auto sizes = column_block.workspace.template as<double>();
    const unsigned long long zeros[2] = {0, 0};
    const Scratch::Piece counters = uploaded(zeros, 2);
    const auto share_counters = counters.as<unsigned long long>();
    const Scratch::Piece list = scratch_.take(max_undecided * sizeof(Undecided));
    const double unit = tiles::error_of_term<T> * static_cast<double>(factors.terms());
    const Shares shares{allowance,    unit, share_counters, share_counters + 1, list.as<Undecided>(),
                        max_undecided};
    for (std::int64_t begin = 0; begin < cols; begin += column_block.width) {
      const std::int64_t width = std::min(column_block.width, cols - begin);
      launch_product<Epilogue::sizes>(absolute_job, begin, width, nullptr, sizes, shares);
      launch_product<Epilogue::shares>(job, begin, width, nullptr, sizes, shares);
    }
    const std::vector<unsigned long long> found = downloaded(share_counters, 2);
    if (static_cast<double>(found[1]) > allowance.max_exact_terms / static_cast<double>(factors.terms()))
      return std::numeric_limits<double>::quiet_NaN();
    // With that many elements near the smallest numbers the CPU computes all of them.
    if (found[1] > 0) require_on_host(factors, target);
    if (found[1] > max_undecided) return gaussweep::largest_share(factors, target, allowance);
    double largest = 0;
    std::memcpy(&largest, &found[0], sizeof largest);
    for (const Undecided& one : downloaded(shares.list, static_cast<std::int64_t>(found[1]))) {
      const Scaled residual = exact_element(factors, target(one.row, one.col), one.row, one.col);
      largest = std::max(largest, (residual / one.allowed).value());
    }
    return largest;
  }

 private:
  /// A product's operands on the device, with the largest elements of their rows and columns.
  struct Job {
    Job(DeviceReductions& r, const Factors<T>& factors, const Target<T>& target, Measure measure)
        : product{r.elements(factors.left), r.elements(factors.right), nullptr, nullptr, {}, measure, 0, 0},
          largest(
              r.scratch_.take(static_cast<std::size_t>(factors.rows() + factors.cols()) * sizeof(double))) {
      const auto row_maxima = largest.template as<double>(), col_maxima = row_maxima + factors.rows();
      r.fold(Lines<T>{product.left, true, false, 0}, Fold::largest, row_maxima);
      r.fold(Lines<T>{product.right, false, false, 0}, Fold::largest, col_maxima);
      product.largest_of_rows = row_maxima;
      product.largest_of_cols = col_maxima;
      rows = r.downloaded(product.largest_of_rows, factors.rows() + factors.cols());
      cols.assign(rows.begin() + factors.rows(), rows.end());
      rows.resize(static_cast<std::size_t>(factors.rows()));
      if (target.matrix == nullptr) return;
      const Strided<T> copy = r.device_copy(*target.matrix);
      product.target = {copy.data, copy.down, copy.across, target.known, nullptr};
      if (target.order == nullptr) return;
      order.emplace(r.uploaded(target.order->data(), target.order->size()));
      product.target.order = order->template as<std::int64_t>();
    }
    Product<T> product;
    Scratch::Piece largest;  ///< of each row, followed by that of each column
    std::optional<Scratch::Piece> order;
    std::vector<double> rows, cols;
  };

  /// A block of columns, a multiple of `edge`, that is computed at a time, and its workspace.
  struct ColumnBlock {
    std::int64_t width;
    Scratch::Piece workspace;
  };
  ColumnBlock take_column_block(std::int64_t cols, std::size_t bytes_per_column) {
    const std::int64_t all = (cols + edge - 1) / edge;
    std::int64_t tiles =
        std::clamp(static_cast<std::int64_t>(workspace_ / bytes_per_column) / edge, std::int64_t{1}, all);
    while (true) {
      try {
        return {tiles * edge, scratch_.take(static_cast<std::size_t>(tiles * edge) * bytes_per_column)};
      } catch (const OutOfMemory&) {
        if (tiles == 1) throw;
        tiles /= 2;
      }
    }
  }

  template <Epilogue epilogue>
  void launch_product(const Job& job, std::int64_t begin, std::int64_t width, Scaled* parts, double* sizes,
                      const Shares& shares) {
    Product<T> product = job.product;
    product.begin = begin;
    product.cols = width;
    const std::int64_t blocks = (product.left.rows + edge - 1) / edge * ((width + edge - 1) / edge);
    simt::launch(context_, product_kernel<T, epilogue>, dim3(static_cast<unsigned>(blocks)),
                 dim3(product_threads), 0, product, parts, sizes, shares);
  }

  void fold(const Lines<T>& lines, Fold fold, double* out) {
    const std::int64_t count = lines.rows ? lines.matrix.rows : lines.matrix.cols;
    const auto blocks = static_cast<unsigned>((count + lines_of_block - 1) / lines_of_block);
    simt::launch(context_, lines_kernel<T>, dim3(blocks), dim3(line_threads), 0, lines, fold, out);
  }
  std::vector<double> folds(const Lines<T>& lines, Fold by) {
    const std::int64_t count = lines.rows ? lines.matrix.rows : lines.matrix.cols;
    const Scratch::Piece out = scratch_.take(static_cast<std::size_t>(count) * sizeof(double));
    fold(lines, by, out.as<double>());
    return downloaded(out.as<double>(), count);
  }
  /// Returns the largest sum over a line, of elements scaled below 1 as by Reduced (norms.hpp).
  Scaled largest_sum(const HostMatrix<T>& a, Lines<T> lines) {
    lines.exponent = exponent_of(max_norm(a, lines.matrix.part));
    const std::vector<double> sums = folds(lines, Fold::sum);
    return Scaled(sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end()), lines.exponent);
  }

  /// Returns the device copy of a matrix, which is uploaded if there is none.
  Strided<T> device_copy(const HostMatrix<T>& matrix) {
    for (const DeviceCopy<T>& copy : copies_) {
      if (copy.host == &matrix) return copy.place;
    }
    require_on_host(matrix);
    const std::size_t bytes = matrix.data.size() * sizeof(T);
    uploads_.emplace_back(device_, bytes);
    device_.to_device(uploads_.back().data(), matrix.data.data(), bytes);
    copies_.push_back({&matrix, {static_cast<const T*>(uploads_.back().data()), 1, matrix.rows}});
    return copies_.back().place;
  }
  Elements<T> elements(const Operand<T>& operand) {
    const Strided<T> copy = device_copy(*operand.matrix);
    Elements<T> e{copy.data,      copy.down,       copy.across,           operand.rows(),
                  operand.cols(), operand.shape(), operand.unit_diagonal, operand.absolute};
    if (operand.transposed) std::swap(e.down, e.across);
    return e;
  }

  template <class U>
  Scratch::Piece uploaded(const U* values, std::size_t count) {
    Scratch::Piece piece = scratch_.take(count * sizeof(U));
    device_.to_device(piece.template as<U>(), values, count * sizeof(U));
    return piece;
  }
  template <class U>
  std::vector<U> downloaded(const U* from, std::int64_t count) {
    std::vector<U> values(static_cast<std::size_t>(count));
    device_.to_host(values.data(), from, values.size() * sizeof(U));
    return values;
  }

  Context& context_;
  Device& device_;
  std::vector<DeviceCopy<T>> copies_;
  std::size_t workspace_;
  std::vector<Buffer> uploads_;
  Scratch& scratch_;
};

}  // namespace

template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies,
                                                 std::size_t workspace) {
  return std::make_unique<DeviceReductions<T>>(context, std::move(copies), workspace);
}

void start_digest(Context& context, const void* data, std::size_t bytes, unsigned long long* digest) {
  context.device.fill(digest, 0, sizeof *digest);
  const auto count = static_cast<std::int64_t>(bytes / sizeof(unsigned long long));
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_for(count).x, 1024));
  simt::launch(context, digest_kernel, dim3(blocks), dim3(threads), 0,
               static_cast<const unsigned long long*>(data), count, digest);
}

template std::unique_ptr<Reductions<float>> device_reductions(Context&, std::vector<DeviceCopy<float>>,
                                                              std::size_t);
template std::unique_ptr<Reductions<double>> device_reductions(Context&, std::vector<DeviceCopy<double>>,
                                                               std::size_t);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
