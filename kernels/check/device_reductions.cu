// Implements Reductions (reductions.hpp) by kernels: the norms, differences and residuals of verification.
#include "kernels/check/device_reductions.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/check/device_difference.cuh"
#include "kernels/check/device_product.cuh"
#include "kernels/device/scratch.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using namespace verification;

constexpr int threads = 128;
constexpr std::int64_t max_blocks = 8192;  // enough for any GPU; the kernels loop over the remaining elements
constexpr unsigned long long max_undecided = 1 << 16;  // with more, the CPU computes all elements

dim3 blocks_for(std::int64_t count) {
  return dim3(static_cast<unsigned>(std::min((count + threads - 1) / threads, max_blocks)));
}

/// Adds hashes of all 64-bit words to *sum. Integer sums do not depend on the order of the atomics.
__global__ void digest_kernel(const unsigned long long* words, std::int64_t count, unsigned long long* sum) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long thread_sum = 0;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += step) {
    // The hash of a word and its position: the finaliser of MurmurHash3 (Appleby, public domain).
    unsigned long long x = words[k] + 0x9e3779b97f4a7c15ull * static_cast<unsigned long long>(k + 1);
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
    thread_sum += x ^ (x >> 33);
  }
  for (int offset = 16; offset > 0; offset /= 2)
    thread_sum += __shfl_xor_sync(0xffffffffu, thread_sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, thread_sum);
}

template <class T>
class DeviceReductions final : public Reductions<T> {
 public:
  DeviceReductions(Context& context, std::vector<DeviceCopy<T>> copies, std::size_t workspace,
                   const ColumnShare& share)
      : context_(context),
        device_(context.device),
        copies_(std::move(copies)),
        workspace_(workspace),
        share_(share),
        scratch_(scratch_of(context)) {}
  ~DeviceReductions() override { scratch_.free_large(); }
  DeviceReductions(const DeviceReductions&) = delete;
  DeviceReductions& operator=(const DeviceReductions&) = delete;

  std::optional<ElementIndex> first_not_finite(const HostMatrix<T>& a, MatrixPart part) override {
    if (a.rows * a.cols == 0) return std::nullopt;
    constexpr unsigned long long none = ~0ull;
    const Scratch::PooledBuffer position = scratch_.take(sizeof none);
    const auto data = position.as<unsigned long long>();
    device_.fill(data, /*byte=*/0xFF, sizeof none);
    simt::launch(context_, not_finite_kernel<T>, blocks_for(a.rows * a.cols), dim3(threads), 0,
                 elements(Operand<T>(a, part)), data);
    const unsigned long long found = downloaded(data, /*count=*/1)[0];
    if (found == none) return std::nullopt;
    return ElementIndex{static_cast<std::int64_t>(found) % a.rows, static_cast<std::int64_t>(found) / a.rows};
  }
  double max_norm(const HostMatrix<T>& a, MatrixPart part) override {
    if (a.rows * a.cols == 0) return 0;
    const unsigned long long zero = 0;
    const Scratch::PooledBuffer bits = uploaded(&zero, /*count=*/1);
    const auto data = bits.as<unsigned long long>();
    simt::launch(context_, largest_kernel<T>, blocks_for(a.rows * a.cols), dim3(threads), 0,
                 elements(Operand<T>(a, part)), data);
    double largest = 0;
    device_.to_host(&largest, data, sizeof largest);
    return largest;
  }
  WideNumber one_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return largest_sum(
        a, Lines<T>{elements(Operand<T>(a, part)), LineKind::columns, /*mirrored=*/false, /*exponent=*/0});
  }
  WideNumber infinity_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return largest_sum(
        a, Lines<T>{elements(Operand<T>(a, part)), LineKind::rows, /*mirrored=*/false, /*exponent=*/0});
  }
  WideNumber symmetric_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return largest_sum(
        a, Lines<T>{elements(Operand<T>(a, part)), LineKind::rows, /*mirrored=*/true, /*exponent=*/0});
  }
  WideNumber frobenius_norm(const HostMatrix<T>& a) override {
    const int exponent = exponent_of(max_norm(a, MatrixPart::all));
    const std::vector<double> sums = downloaded_reduction(
        Lines<T>{elements(Operand<T>(a)), LineKind::columns, /*mirrored=*/false, exponent},
        Reduction::squares);
    return WideNumber(std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0)), exponent);
  }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override {
    return downloaded_reduction(
        Lines<T>{elements(Operand<T>(a)), LineKind::columns, /*mirrored=*/false, /*exponent=*/0},
        Reduction::largest);
  }
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                                       double x_norm, double y_norm) override {
    const std::int64_t exponent = difference_exponent(x_norm, y_norm);
    const Scratch::PooledBuffer differences =
        scratch_.take(static_cast<std::size_t>(y.cols) * sizeof(ColumnDifferences));
    const auto columns = differences.as<ColumnDifferences>();
    // If there are few columns, each thread block processes only one column, so that more blocks run.
    constexpr int width = lines_per_block;
    const bool is_narrow = y.cols <= width;
    const auto blocks = static_cast<unsigned>(is_narrow ? y.cols : (y.cols + width - 1) / width);
    simt::launch(context_, is_narrow ? differences_kernel<T, 1> : differences_kernel<T, width>, dim3(blocks),
                 dim3(difference_threads), 0, elements(Operand<T>(x, part)), elements(Operand<T>(y, part)),
                 exponent, columns);
    return combined(downloaded(columns, y.cols), count_of(part, y.rows, y.cols), exponent, y_norm);
  }

  std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                               const ResidualTarget<T>& target, Measure measure) override {
    const ProductJob job(*this, operands, target, measure);
    const std::int64_t rows = operands.rows(), cols = operands.cols();
    const std::int64_t tile_rows = (rows + tile_edge - 1) / tile_edge;
    const ColumnBlock column_block =
        take_column_block(cols, static_cast<std::size_t>(tile_rows) * sizeof(WideNumber));
    const auto parts = column_block.workspace.template as<WideNumber>();
    const Scratch::PooledBuffer sums =
        scratch_.take(static_cast<std::size_t>(column_block.width) * sizeof(WideNumber));
    const auto block_sums = sums.as<WideNumber>();
    std::vector<ColumnResidual> columns(static_cast<std::size_t>(cols));
    share_.for_columns(cols, column_block.width, [&](std::int64_t begin, std::int64_t width) {
      launch_product<Epilogue::columns>(job, begin, width, parts, /*magnitudes=*/nullptr,
                                        /*allowance_ratios=*/{});
      simt::launch(context_, combine_partial_sums_kernel<>,
                   dim3(static_cast<unsigned>((width + threads - 1) / threads)), dim3(threads), 0,
                   static_cast<const WideNumber*>(parts), tile_rows, width, measure, block_sums);
      const std::vector<WideNumber> measures = downloaded(block_sums, width);
      for (std::int64_t j = 0; j < width; ++j) {
        columns[static_cast<std::size_t>(begin + j)].value = measures[static_cast<std::size_t>(j)];
      }
    });
    set_bounds(operands, job.host_row_maxima, job.host_col_maxima, measure, columns);
    return columns;
  }

  double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                                 const Allowance& allowance) override {
    ProductOperands<T> absolute = operands;
    absolute.left.absolute = absolute.right.absolute = true;
    const ProductJob job(*this, operands, target, Measure::largest);
    const ProductJob absolute_job(*this, absolute, target, Measure::largest);
    const std::int64_t rows = operands.rows(), cols = operands.cols();
    const ColumnBlock column_block = take_column_block(cols, static_cast<std::size_t>(rows) * sizeof(double));
    const auto magnitudes = column_block.workspace.template as<double>();
    const unsigned long long zeros[2] = {0, 0};
    const Scratch::PooledBuffer counters = uploaded(zeros, /*count=*/2);
    const auto counters_data = counters.as<unsigned long long>();
    const Scratch::PooledBuffer list = scratch_.take(max_undecided * sizeof(UndecidedElement));
    const double error_unit = tiles::error_of_term<T> * static_cast<double>(operands.terms());
    const AllowanceRatios allowance_ratios{
        allowance, error_unit, counters_data, counters_data + 1, list.as<UndecidedElement>(), max_undecided};
    share_.for_columns(cols, column_block.width, [&](std::int64_t begin, std::int64_t width) {
      launch_product<Epilogue::magnitudes>(absolute_job, begin, width, /*parts=*/nullptr, magnitudes,
                                           allowance_ratios);
      launch_product<Epilogue::allowance_ratios>(job, begin, width, /*parts=*/nullptr, magnitudes,
                                                 allowance_ratios);
    });
    const std::vector<unsigned long long> counters_on_host = downloaded(counters_data, /*count=*/2);
    const unsigned long long largest_bits = counters_on_host[0], undecided_count = counters_on_host[1];
    // The host sums each undecided element exactly, which takes operands.terms() terms.
    if (static_cast<double>(undecided_count) >
        allowance.max_exact_terms / static_cast<double>(operands.terms()))
      return std::numeric_limits<double>::quiet_NaN();
    if (undecided_count > 0) require_on_host(operands, target);
    if (undecided_count > max_undecided)
      return gaussweep::largest_allowance_ratio(operands, target, allowance);
    double largest = 0;
    std::memcpy(&largest, &largest_bits, sizeof largest);
    for (const UndecidedElement& e :
         downloaded(allowance_ratios.list, static_cast<std::int64_t>(undecided_count))) {
      const WideNumber residual = exact_element(operands, target(e.row, e.col), e.row, e.col);
      largest = std::max(largest, (residual / e.allowed).value());
    }
    return largest;
  }

 private:
  /// The arguments of a product on the device, with max |element| per row of the left operand and per column
  /// of the right operand.
  struct ProductJob {
    ProductJob(DeviceReductions& r, const ProductOperands<T>& operands, const ResidualTarget<T>& target,
               Measure measure)
        : product{r.elements(operands.left),
                  r.elements(operands.right),
                  /*largest_of_rows=*/nullptr,
                  /*largest_of_cols=*/nullptr,
                  /*target=*/{},
                  measure,
                  /*begin=*/0,
                  /*cols=*/0},
          largest(
              r.scratch_.take(static_cast<std::size_t>(operands.rows() + operands.cols()) * sizeof(double))) {
      const auto row_maxima = largest.template as<double>(), col_maxima = row_maxima + operands.rows();
      r.reduce_lines(Lines<T>{product.left, LineKind::rows, /*mirrored=*/false, /*exponent=*/0},
                     Reduction::largest, row_maxima);
      r.reduce_lines(Lines<T>{product.right, LineKind::columns, /*mirrored=*/false, /*exponent=*/0},
                     Reduction::largest, col_maxima);
      product.largest_of_rows = row_maxima;
      product.largest_of_cols = col_maxima;
      // One download for the maxima of rows and of columns, which are split afterwards.
      host_row_maxima = r.downloaded(product.largest_of_rows, operands.rows() + operands.cols());
      host_col_maxima.assign(host_row_maxima.begin() + operands.rows(), host_row_maxima.end());
      host_row_maxima.resize(static_cast<std::size_t>(operands.rows()));
      if (target.matrix == nullptr) return;
      const StridedView<T> copy = r.device_copy(*target.matrix);
      product.target = {copy.data, copy.row_stride, copy.col_stride, target.stored, /*order=*/nullptr};
      if (target.order == nullptr) return;
      order.emplace(r.uploaded(target.order->data(), target.order->size()));
      product.target.order = order->template as<std::int64_t>();
    }
    ProductArguments<T> product;
    Scratch::PooledBuffer largest;  ///< max |element| of each row, then of each column
    std::optional<Scratch::PooledBuffer> order;
    std::vector<double> host_row_maxima, host_col_maxima;
  };

  /// A block of columns that one launch computes, and its workspace. `width` is a multiple of tile_edge.
  struct ColumnBlock {
    std::int64_t width;
    Scratch::PooledBuffer workspace;
  };
  /// Returns the widest column block whose workspace fits in the free memory.
  ColumnBlock take_column_block(std::int64_t cols, std::size_t bytes_per_column) {
    const std::int64_t all_tiles = (share_.width(cols) + tile_edge - 1) / tile_edge;
    std::int64_t tiles = std::clamp(static_cast<std::int64_t>(workspace_ / bytes_per_column) / tile_edge,
                                    std::int64_t{1}, all_tiles);
    while (true) {
      try {
        return {tiles * tile_edge,
                scratch_.take(static_cast<std::size_t>(tiles * tile_edge) * bytes_per_column)};
      } catch (const OutOfMemory&) {
        if (tiles == 1) throw;
        tiles /= 2;
      }
    }
  }

  template <Epilogue epilogue>
  void launch_product(const ProductJob& job, std::int64_t begin, std::int64_t width, WideNumber* parts,
                      double* magnitudes, const AllowanceRatios& allowance_ratios) {
    ProductArguments<T> product = job.product;
    product.begin = begin;
    product.cols = width;
    const std::int64_t blocks =
        (product.left.rows + tile_edge - 1) / tile_edge * ((width + tile_edge - 1) / tile_edge);
    simt::launch(context_, product_kernel<T, epilogue>, dim3(static_cast<unsigned>(blocks)),
                 dim3(product_threads), 0, product, parts, magnitudes, allowance_ratios);
  }

  /// Reduces every line to an element of `out` on the device. downloaded_reduction() returns the results on
  /// the host.
  void reduce_lines(const Lines<T>& lines, Reduction reduction, double* out) {
    const std::int64_t count = lines.are_columns() ? lines.matrix.cols : lines.matrix.rows;
    const auto blocks = static_cast<unsigned>((count + lines_per_block - 1) / lines_per_block);
    simt::launch(context_, lines_kernel<T>, dim3(blocks), dim3(line_threads), 0, lines, reduction, out);
  }
  std::vector<double> downloaded_reduction(const Lines<T>& lines, Reduction reduction) {
    const std::int64_t count = lines.are_columns() ? lines.matrix.cols : lines.matrix.rows;
    const Scratch::PooledBuffer out = scratch_.take(static_cast<std::size_t>(count) * sizeof(double));
    reduce_lines(lines, reduction, out.as<double>());
    return downloaded(out.as<double>(), count);
  }
  /// Returns the largest sum of |elements| of a line. Elements are scaled to less than 1, as by ScaledDown
  /// (norms.hpp), so that sums do not overflow.
  WideNumber largest_sum(const HostMatrix<T>& a, Lines<T> lines) {
    lines.exponent = exponent_of(max_norm(a, lines.matrix.part));
    const std::vector<double> sums = downloaded_reduction(lines, Reduction::sum);
    return WideNumber(sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end()), lines.exponent);
  }

  /// Returns the device copy of a matrix; uploads the matrix if there is none.
  StridedView<T> device_copy(const HostMatrix<T>& matrix) {
    for (const DeviceCopy<T>& copy : copies_) {
      if (copy.host == &matrix) return copy.device;
    }
    require_on_host(matrix);
    const std::size_t bytes = matrix.data.size() * sizeof(T);
    uploads_.emplace_back(device_, bytes);
    device_.to_device(uploads_.back().data(), matrix.data.data(), bytes);
    copies_.push_back(
        {&matrix, {static_cast<const T*>(uploads_.back().data()), /*row_stride=*/1, matrix.rows}});
    return copies_.back().device;
  }
  /// Returns the operand's device copy as a kernel argument.
  DeviceOperand<T> elements(const Operand<T>& operand) {
    const StridedView<T> copy = device_copy(*operand.matrix);
    DeviceOperand<T> e{copy.data,      copy.row_stride,     copy.col_stride,       operand.rows(),
                       operand.cols(), operand.used_part(), operand.unit_diagonal, operand.absolute};
    if (operand.transposed) std::swap(e.row_stride, e.col_stride);
    return e;
  }

  /// Return a device copy of host values, and a host copy of device values.
  template <class U>
  Scratch::PooledBuffer uploaded(const U* values, std::size_t count) {
    Scratch::PooledBuffer piece = scratch_.take(count * sizeof(U));
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
  std::size_t workspace_;        ///< maximum bytes of a column block's workspace
  ColumnShare share_;            ///< the columns of products that this device computes
  std::vector<Buffer> uploads_;  ///< the device copies that this object has made
  Scratch& scratch_;
};

}  // namespace

template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies,
                                                 std::size_t workspace, ColumnShare share) {
  return std::make_unique<DeviceReductions<T>>(context, std::move(copies), workspace, share);
}

void start_digest(Context& context, const void* data, std::size_t bytes, unsigned long long* digest) {
  context.device.fill(digest, /*byte=*/0, sizeof *digest);
  const auto count = static_cast<std::int64_t>(bytes / sizeof(unsigned long long));
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_for(count).x, 1024));
  simt::launch(context, digest_kernel, dim3(blocks), dim3(threads), 0,
               static_cast<const unsigned long long*>(data), count, digest);
}

template std::unique_ptr<Reductions<float>> device_reductions(Context&, std::vector<DeviceCopy<float>>,
                                                              std::size_t, ColumnShare);
template std::unique_ptr<Reductions<double>> device_reductions(Context&, std::vector<DeviceCopy<double>>,
                                                               std::size_t, ColumnShare);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
