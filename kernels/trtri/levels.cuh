#pragma once
/// Inverts a triangular matrix level by level. A level joins the inverses X and Y of neighbouring triangles
/// on the diagonal. Let L be the block between these triangles; then -Y (L X) is the missing block of the
/// pair's inverse. Each level doubles the order of the inverses. A few launches join all pairs of a level.
///
/// level_products.cuh computes small products, large_tiles.cuh large ones in double on a Hopper GPU; both
/// skip the zeros of triangles tile by tile. The vendor's library computes other large products in strips of
/// InversionSchedule::strip_width rows or columns. The k range of a strip begins or ends at the diagonal. If
/// the order exceeds a power of two times the block order by a few rows, border.cuh adds these rows last.
///
/// Let Z be the inverse of a pair's triangle A. The elements of L X determine the error A Z - I, because L X
/// multiplies the residual of Y and the errors of the second product. If L X has large elements,
/// whole_substitution.cuh computes the whole inverse again. Z A - I depends on Y L in the same way. Triangles
/// with `from_left` (Triangle in diagonal_blocks.cuh), for which Z A - I has to be small, are therefore
/// joined by -(Y L) X.

#include <algorithm>
#include <cstdint>

#include "kernels/trtri/border.cuh"
#include "kernels/trtri/diagonal_blocks.cuh"
#include "kernels/trtri/large_tiles.cuh"
#include "kernels/trtri/level_products.cuh"
#include "kernels/trtri/levels_workspace.hpp"
#include "kernels/trtri/whole_substitution.cuh"
#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

using namespace gaussweep::levels;

/// The sizes of the blocks on the diagonal and of the border (the last rows, border.cuh). They give few
/// levels and pairs of almost equal order. Either there is a power of two of equal blocks, and a border of
/// at most max_border rows follows. Or there is no border, and the last block may be smaller. Without the
/// border these few rows would need another level, which would take as long as a full one.
struct BlockSizes {
  int order;   ///< order of the blocks, a multiple of 8
  int border;  ///< rows of the border
  /// Returns the sizes for a triangle of order `order`, with blocks of order `max_order` or less.
  static BlockSizes of(int order, int max_order) {
    const int max_border_rows = order >= min_order_with_border ? max_border : 0;
    int count = 1;
    while (count * max_order + max_border_rows < order) count *= 2;
    const int block_order = std::min(order / count / 8 * 8, max_order), border = order - count * block_order;
    if (border == 0 || (border <= max_border_rows && block_order % 32 == 0)) return {block_order, border};
    return {(order / count + 8) / 8 * 8, /*border=*/0};
  }
  /// The smallest order with a border. Below it a border does not pay: it takes one more launch, or two if
  /// the triangle was first copied to the memory of the inverse. Also, the rows that add_border stages must
  /// fit in the workspace of products.
  static constexpr int min_order_with_border = 1000;
};

/// The schedule of one inversion: block orders and the thresholds between kernels.
struct InversionSchedule {
  static constexpr int unreachable_threshold = 1 << 30;  ///< a threshold that no size reaches
  BlockSizes blocks{/*order=*/64, /*border=*/0};
  /// The largest order of the inverses X and Y for which level_products.cuh computes their products. For a
  /// single pair, the limit is max_kernel_half^2 elements of C.
  int max_kernel_half = unreachable_threshold;
  /// The smallest number of 64 x 64 tiles for which level_products.cuh uses them instead of 32 x 32 tiles.
  int min_64_tiles = unreachable_threshold;
  int strip_width = 0;  ///< rows or columns of C per product of the vendor's library
  /// The smallest number of 64 x 64 tiles of a product in double for which large_tiles.cuh computes it.
  int min_tiles_for_large = unreachable_threshold;
  /// The smallest number of 128 x 128 tiles for which large_tiles.cuh uses them instead of 64 x 64 tiles.
  int min_128_tiles = 0;
  int min_split_k = min_split_k_of_level;  ///< smallest k for which two thread blocks may share a large tile
  int min_tiles_for_large_split = unreachable_threshold;  ///< min_tiles_for_large if k >= min_split_k

  /// Returns the schedule for one matrix, the fastest one on an H100.
  template <class T>
  static InversionSchedule of(const Context& context, int order) {
    // A diagonal block of order 96 must fit in a thread block's shared memory.
    const bool has_room_for_96 = simt::max_shared_bytes(context) >= sizeof(chain::SharedTriangle<T, 96>);
    InversionSchedule result;
    result.blocks = BlockSizes::of(order, has_room_for_96 ? 96 : 64);
    if (sizeof(T) == sizeof(double) && supports_large_tiles(context)) {
      result.min_tiles_for_large = 80;
      result.min_128_tiles = min_large_tiles_of_level;
      result.min_tiles_for_large_split = 72;
    } else {
      result.max_kernel_half = 300;
      result.min_64_tiles = 264;
      result.strip_width = order <= 2048 ? order : 512;
    }
    return result;
  }

  /// Returns the schedule for several matrices: level_products.cuh computes all products.
  static InversionSchedule of_several(int order) {
    InversionSchedule result;
    result.max_kernel_half = result.strip_width = order;
    result.min_64_tiles = 264;
    return result;
  }
};

/// The inversion of one triangle, or of several triangles of the same order.
template <class T>
class TriangleInverse {
 public:
  /// @param order a.n, or more if the triangle is padded with an identity. For several triangles: the order
  /// of each triangle, 64 times a power of two
  /// @param products workspace of workspace_elements(order) elements. For several triangles:
  /// product_elements(order) elements per triangle
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products)
      : TriangleInverse(context, a, order, products,
                        a.count == 1 ? InversionSchedule::of<T>(context, static_cast<int>(order))
                                     : InversionSchedule::of_several(static_cast<int>(order))) {}
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products,
                  const InversionSchedule& schedule)
      : context_(context), a_(a), order_(static_cast<int>(order)), products_(products), schedule_(schedule) {}

  /// Writes the inverse to x (order x order), with zeros in the other triangle. The inverses of several
  /// triangles are contiguous. The memory of x must not overlap the triangle, which is not changed.
  /// Asynchronous.
  /// @param info null, or must be 0 and receives the index, from 1, of the first 0 on the diagonal
  void invert(T* x, std::int64_t ldx, int* info) {
    x_ = x;
    ldx_ = ldx;
    // A padded triangle, or several triangles, are copied to x, and the levels read their blocks L there.
    const bool copies = a_.n != order_ || a_.count > 1;
    invert_blocks(copies, info);
    source_ = copies ? x : a_.data;
    ld_source_ = copies ? ldx : a_.ld;
    for (int half = schedule_.blocks.order; half < order_without_border(); half *= 2) join(half);
    if (const int border_rows = schedule_.blocks.border; border_rows > 0) {
      add_border<T>(context_, {source_, ld_source_, x, ldx, products_, order_without_border(), border_rows,
                               a_.lower, /*corner_first=*/a_.lower == a_.from_left,
                               max_product<T>(a_.unit, order_without_border()), needs_substitution()});
    }
    if (schedule_.blocks.order < order_ && needs_substitution() != nullptr) {
      invert_if_needed<T>(context_, {a_, x, ldx, order_}, needs_substitution());
    }
  }

 private:
  using Product = LevelProduct<T>;
  /// An operand of a level's products: the first pair's operand, the distance to the operand of the next
  /// pair, and the distance to that of the next triangle.
  struct BlockOperand {
    const T* data;
    std::int64_t ld, step, triangle_stride;
  };

  /// Returns the flag that a level sets if its products lose digits, or null if there is no check. The flag
  /// follows the products in the workspace.
  int* needs_substitution() const {
    return a_.count == 1 ? reinterpret_cast<int*>(products_ + product_elements(order_)) : nullptr;
  }

  int order_without_border() const { return order_ - schedule_.blocks.border; }

  /// Inverts the blocks on the diagonal. If `copies`, copies the other blocks of the triangle to x_.
  void invert_blocks(bool copies, int* info) {
    context_.stage("diagonal_blocks");
    const int order = schedule_.blocks.order;
    const int count = (order_ + order - 1) / order;
    const dim3 grid(static_cast<unsigned>(count), copies ? static_cast<unsigned>(count) : 1u,
                    static_cast<unsigned>(a_.count));
    const DiagonalBlocksLayout layout{order_, order, needs_substitution()};
    if (order <= 64) {
      simt::launch(context_, invert_diagonal_blocks<T, 64>, grid, dim3(256),
                   sizeof(chain::SharedTriangle<T, 64>), a_, x_, ldx_, layout, info);
    } else {
      simt::launch(context_, invert_diagonal_blocks<T, 96>, grid, dim3(384),
                   sizeof(chain::SharedTriangle<T, 96>), a_, x_, ldx_, layout, info);
    }
  }

  /// Joins all pairs of inverses of order `half`. The second inverse of the last pair may be smaller
  /// (`last_half`).
  void join(int half) {
    // Pair p begins at row 2 p half. It counts if at least one row is left for its second inverse.
    const int pairs = (order_without_border() - half + 2 * half - 1) / (2 * half);
    const int last_half = std::min(half, order_without_border() - (pairs - 1) * 2 * half - half);
    const bool lower = a_.lower;
    const std::int64_t triangle_stride = ldx_ * order_;  // from one triangle's inverse to the next in x
    // The second inverse of a pair begins half rows and half columns after the first one.
    const std::int64_t second_offset = half * (ldx_ + 1), x_step = 2 * second_offset;
    const std::int64_t ld_first = pairs == 1 && lower ? last_half : half;
    const BlockOperand l_block{source_ + half * (lower ? 1 : ld_source_), ld_source_,
                               2 * half * (ld_source_ + 1), triangle_stride};
    // The missing block is -left_inverse L right_inverse. If the triangle is lower, the second inverse is on
    // the left; if it is upper, the first one is.
    const BlockOperand left_inverse{x_ + (lower ? second_offset : 0), ldx_, x_step, triangle_stride};
    const BlockOperand right_inverse{x_ + (lower ? 0 : second_offset), ldx_, x_step, triangle_stride};
    const BlockOperand first_result{products_, ld_first, half * ld_first, product_elements(order_)};
    const KRange left_range = lower ? KRange::up_to_rows : KRange::from_rows;
    const KRange right_range = lower ? KRange::from_columns : KRange::up_to_columns;
    const auto product = [&](const BlockOperand& a, const BlockOperand& b, KRange k_range, T factor) {
      Product p{};
      p.a = a.data;
      p.lda = a.ld;
      p.a_step = a.step;
      p.a_triangle_step = a.triangle_stride;
      p.b = b.data;
      p.ldb = b.ld;
      p.b_step = b.step;
      p.b_triangle_step = b.triangle_stride;
      p.rows = p.columns = p.k = half;
      p.last_rows = lower ? last_half : half;
      p.last_columns = lower ? half : last_half;
      p.k_range = k_range;
      p.factor = factor;
      return p;
    };
    const bool left_first = a_.from_left;
    Product first_product = left_first ? product(left_inverse, l_block, left_range, /*factor=*/T(1))
                                       : product(l_block, right_inverse, right_range, /*factor=*/T(1));
    first_product.c = products_;
    first_product.ldc = first_result.ld;
    first_product.c_step = first_result.step;
    first_product.c_triangle_step = first_result.triangle_stride;
    first_product.max_abs_product = max_product<T>(a_.unit, half);
    first_product.exceeds_limit = needs_substitution();
    Product second_product = left_first ? product(first_result, right_inverse, right_range, /*factor=*/T(-1))
                                        : product(left_inverse, first_result, left_range, /*factor=*/T(-1));
    second_product.c = x_ + half * (lower ? 1 : ldx_);
    second_product.ldc = ldx_;
    second_product.c_step = x_step;
    second_product.c_triangle_step = triangle_stride;
    second_product.zeros = x_ + half * (lower ? ldx_ : 1);
    second_product.ldz = ldx_;
    second_product.z_step = x_step;
    second_product.z_triangle_step = triangle_stride;

    const int tiles = TileGrid<64>(second_product, pairs, /*multiprocessors=*/1).tile_count();
    if constexpr (sizeof(T) == sizeof(double)) {
      const int min_tiles = half >= schedule_.min_split_k
                                ? std::min(schedule_.min_tiles_for_large, schedule_.min_tiles_for_large_split)
                                : schedule_.min_tiles_for_large;
      if (a_.count == 1 && tiles >= min_tiles && supports_large_tiles(context_)) {
        context_.stage("product");
        multiply_by_large_tiles(context_, first_product, pairs, schedule_.min_128_tiles,
                                schedule_.min_split_k);
        multiply_by_large_tiles(context_, second_product, pairs, schedule_.min_128_tiles,
                                schedule_.min_split_k);
        return;
      }
    }
    const std::int64_t max_half = schedule_.max_kernel_half;
    if (half <= max_half ||
        (pairs == 1 && static_cast<std::int64_t>(half) * last_half <= max_half * max_half)) {
      context_.stage("join");
      launch(first_product, pairs, tiles);
      launch(second_product, pairs, tiles);
    } else {
      context_.stage("product");
      multiply_pairs_by_strips(first_product, pairs);
      const TileGrid<64> grid(second_product, pairs, simt::multiprocessors(context_));
      simt::launch(context_, check_and_write_zeros<T>, dim3(static_cast<unsigned>(grid.tile_count())),
                   dim3(256), 0, first_product, second_product, grid);
      multiply_pairs_by_strips(second_product, pairs);
    }
  }

  /// Launches level_products.cuh.
  /// @param tiles number of 64 x 64 tiles of C in all pairs
  void launch(const Product& p, int pairs, int tiles) {
    const bool uses_64_tiles = tiles * a_.count >= schedule_.min_64_tiles &&
                               simt::max_shared_bytes(context_) >= LevelTileProduct<T, 64, 128, 3>::bytes;
    return uses_64_tiles ? launch</*Order=*/64, /*Threads=*/128, /*Stages=*/3>(p, pairs)
                         : launch</*Order=*/32, /*Threads=*/128, /*Stages=*/4>(p, pairs);
  }
  template <int Order, int Threads, int Stages>
  void launch(const Product& p, int pairs) {
    const TileGrid<Order> grid(p, pairs, simt::multiprocessors(context_));
    simt::launch_early(context_, multiply_pairs<T, Order, Threads, Stages>,
                       dim3(static_cast<unsigned>(grid.tile_count()), static_cast<unsigned>(a_.count)),
                       dim3(Threads), LevelTileProduct<T, Order, Threads, Stages>::bytes, p, grid);
  }

  /// Returns the product of the last pair alone. `pair` is its index.
  static Product only_last(Product p, int pair) {
    p.a += pair * p.a_step;
    p.b += pair * p.b_step;
    p.c += pair * p.c_step;
    p.rows = p.last_rows;
    p.columns = p.last_columns;
    // The k range is the triangle's order, which is smaller for the last pair.
    if (p.k_range == KRange::up_to_rows) p.k = p.rows;
    if (p.k_range == KRange::up_to_columns) p.k = p.columns;
    return p;
  }

  /// Computes the products of all pairs by the vendor's library. A smaller last pair gets separate calls.
  void multiply_pairs_by_strips(const Product& p, int pairs) {
    const bool is_last_smaller = p.last_rows < p.rows || p.last_columns < p.columns;
    const int full_pairs = is_last_smaller ? pairs - 1 : pairs;
    if (full_pairs > 0) multiply_by_strips(p, full_pairs);
    if (full_pairs < pairs) multiply_by_strips(only_last(p, full_pairs), /*pairs=*/1);
  }

  /// Computes C in strips of rows or columns, each with the k range in which the triangle is nonzero. The
  /// terms on the triangle's diagonal are added last, because they are the largest in well-conditioned
  /// triangles: smaller terms added after them would lose digits.
  void multiply_by_strips(const Product& p, int pairs) {
    const bool by_columns = p.is_by_columns();
    const bool from_diagonal = p.k_range == KRange::from_columns || p.k_range == KRange::from_rows;
    const int length = by_columns ? p.columns : p.rows;
    for (int begin = 0; begin < length; begin += schedule_.strip_width) {
      const int end = std::min(begin + schedule_.strip_width, length);
      const auto multiply = [&](int k_begin, int k_end, T beta) {
        const T* const a = p.a + k_begin * p.lda + (by_columns ? 0 : begin);
        const T* const b = p.b + k_begin + (by_columns ? begin * p.ldb : 0);
        T* const c = p.c + (by_columns ? begin * p.ldc : begin);
        vendor_gemm_batch(context_, vendor::Op::none, by_columns ? p.rows : end - begin,
                          by_columns ? end - begin : p.columns, k_end - k_begin, p.factor, a, p.lda, p.a_step,
                          b, p.ldb, p.b_step, beta, c, p.ldc, p.c_step, pairs);
      };
      if (!from_diagonal) {
        multiply(/*k_begin=*/0, end, /*beta=*/T(0));
      } else {
        if (end < p.k) multiply(end, p.k, /*beta=*/T(0));
        multiply(begin, end, /*beta=*/end < p.k ? T(1) : T(0));
      }
    }
  }

  Context& context_;
  Triangle<T> a_;
  int order_;
  T* products_;
  InversionSchedule schedule_;
  T* x_ = nullptr;
  std::int64_t ldx_ = 0;
  const T* source_ = nullptr;  // the matrix from which levels read their blocks L: the triangle, or x_
  std::int64_t ld_source_ = 0;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
