#pragma once
/// The inverse of a triangular matrix level by level. From the inverses X and Y of two neighbours on the
/// diagonal that of [X 0; L Y] follows, -Y (L X) below them. All pairs of a level are joined in a few
/// launches. Products skip the triangles' zeros tile by tile, small ones by level_products.cuh, large ones in
/// double on a Hopper GPU by large_tiles.cuh. Other large ones are by the vendor's products over strips, each
/// of which begins or ends where the triangle does. A few rows beyond equal halves come last, by border.cuh.

#include <algorithm>
#include <cstdint>

#include "kernels/trtri/border.cuh"
#include "kernels/trtri/diagonal_blocks.cuh"
#include "kernels/trtri/large_tiles.cuh"
#include "kernels/trtri/level_products.cuh"
#include "kernels/trtri/levels_workspace.hpp"
#include "kernels/vendor/gemm_here.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

using namespace gaussweep::levels;

/// The order of the blocks on the diagonal, a multiple of 8, and what is beyond them. There are few levels,
/// and what they join is all but equal. Either the last block is smaller than the others, or few rows are
/// beyond a power of two of blocks whose levels have whole tiles. A tile for these rows would take as long as
/// others.
struct Blocks {
  int order, beyond;
  static Blocks of(int order, int most) {
    const int may = order >= least_with_border ? most_border : 0;
    int count = 1;
    while (count * most + may < order) count *= 2;
    const int less = std::min(order / count / 8 * 8, most), beyond = order - count * less;
    if (beyond == 0 || (beyond <= may && less % 32 == 0)) return {less, beyond};
    return {(order / count + 8) / 8 * 8, 0};
  }
  /// A border takes one launch more, in place two, and room for its lines in the workspace of products.
  static constexpr int least_with_border = 1000;
};

/// The schedule of one inversion: block orders and the thresholds between kernels.
struct Schedule {
  static constexpr int never = 1 << 30;
  Blocks blocks{64, 0};  ///< on the diagonal
  int own_order =
      never;  ///< the largest half whose products our kernels compute; a lone pair may be as large
  int own_tiles = never;  ///< the number of 64 x 64 tiles from which they replace smaller tiles
  int strip = 0;          ///< columns (or rows) per call of the vendor's product
  int large = never;      ///< the number of tiles from which large_tiles.cuh computes products in double
  int many = 0;           ///< the number of 128 x 128 tiles from which large_tiles.cuh uses these
  int shared = shared_of_level;  ///< the k range from which two thread blocks may share such a tile
  int large_shared = never;      ///< `large` for k ranges from `shared` on

  /// Returns the fastest schedule on an H100 for one matrix.
  template <class T>
  static Schedule of(const Context& context, int order) {
    // A diagonal block of order 96 needs its square in a thread block's shared memory.
    const bool roomy = simt::max_shared_bytes(context) >= sizeof(chain::Square<T, 96>);
    Schedule result;
    result.blocks = Blocks::of(order, roomy ? 96 : 64);
    if (sizeof(T) == sizeof(double) && can_be_large(context)) {
      result.large = 80;
      result.many = many_of_level;
      result.large_shared = 72;
    } else {
      result.own_order = 300;
      result.own_tiles = 264;
      result.strip = order <= 2048 ? order : 512;
    }
    return result;
  }

  /// Returns the schedule for several matrices: all products by our kernels.
  static Schedule of_several(int order) {
    Schedule result;
    result.own_order = result.strip = order;
    result.own_tiles = 264;
    return result;
  }
};

template <class T>
class TriangleInverse {
 public:
  /// `order`: a.n, or more where an identity continues the triangle; `products`: product_elements(order)
  /// elements. Of several triangles the order of each, a power of two from 64 on, and so many elements each.
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products)
      : TriangleInverse(context, a, order, products,
                        a.count == 1 ? Schedule::of<T>(context, static_cast<int>(order))
                                     : Schedule::of_several(static_cast<int>(order))) {}
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products,
                  const Schedule& schedule)
      : context_(context), a_(a), order_(static_cast<int>(order)), products_(products), schedule_(schedule) {}

  /// x = the inverse, order x order, with zeros in the other triangle; those of several triangles one behind
  /// the other. `x` may be where the triangle is. Asynchronous.
  /// Where it is not and a.n is the order, the triangle stays where it is.
  /// @param info 0 at the start, becomes the first i, from 1, with a 0 on the diagonal; or null
  void invert(T* x, std::int64_t ldx, int* info) {
    x_ = x;
    ldx_ = ldx;
    const bool copies = a_.n != order_ || a_.count > 1;
    invert_blocks(copies, info);
    from_ = copies ? x : a_.data;
    ld_from_ = copies ? ldx : a_.ld;
    for (int half = schedule_.blocks.order; half < even(); half *= 2) join(half);
    if (const int beyond = schedule_.blocks.beyond; beyond > 0) {
      add_border<T>(context_, {from_, ld_from_, x, ldx, products_, even(), beyond, a_.lower});
    }
  }

 private:
  using Product = LevelProduct<T>;

  int even() const { return order_ - schedule_.blocks.beyond; }  ///< the order without a border

  void invert_blocks(bool copies, int* info) {
    context_.stage("diagonal_blocks");
    const int order = schedule_.blocks.order;
    const int count = (order_ + order - 1) / order;
    const dim3 grid(static_cast<unsigned>(count), copies ? static_cast<unsigned>(count) : 1u,
                    static_cast<unsigned>(a_.count));
    const Layout layout{order_, order};
    if (order <= 64) {
      simt::launch(context_, invert_diagonal_blocks<T, 64>, grid, dim3(256), sizeof(chain::Square<T, 64>), a_,
                   x_, ldx_, layout, info);
    } else {
      simt::launch(context_, invert_diagonal_blocks<T, 96>, grid, dim3(384), sizeof(chain::Square<T, 96>), a_,
                   x_, ldx_, layout, info);
    }
  }

  /// All pairs of inverses of order `half`; the last pair's second one may be smaller.
  void join(int half) {
    const int pairs = (even() - half + 2 * half - 1) / (2 * half);
    const int last = std::min(half, even() - (pairs - 1) * 2 * half - half);
    const bool lower = a_.lower;
    const std::int64_t beside = lower ? half : half * ld_from_;
    const std::int64_t x_beside = lower ? half : half * ldx_;
    const std::int64_t second = half * (ldx_ + 1);
    const std::int64_t step = 2 * half, x_step = step * (ldx_ + 1);
    const std::int64_t x_next = ldx_ * order_;
    Product p{};
    p.rows = p.columns = p.inner = half;
    p.last_rows = lower ? last : half;
    p.last_columns = lower ? half : last;

    Product right = p;  // what lies beside the triangles, times the one it lies above or left of
    right.a = from_ + beside;
    right.lda = ld_from_;
    right.a_step = step * (ld_from_ + 1);
    right.b = x_ + (lower ? 0 : second);
    right.ldb = ldx_;
    right.b_step = x_step;
    right.c = products_;
    right.ldc = pairs == 1 ? p.last_rows : half;
    right.c_step = static_cast<std::int64_t>(half) * right.ldc;
    right.counts = lower ? Inner::from_columns : Inner::up_to_columns;
    right.factor = T(1);
    right.a_next = right.b_next = x_next;  // several triangles are in x
    right.c_next = product_elements(order_);

    Product left = p;
    left.a = x_ + (lower ? second : 0);
    left.lda = ldx_;
    left.a_step = x_step;
    left.b = right.c;
    left.ldb = right.ldc;
    left.b_step = right.c_step;
    left.c = x_ + x_beside;
    left.ldc = ldx_;
    left.c_step = x_step;
    left.counts = lower ? Inner::up_to_rows : Inner::from_rows;
    left.factor = T(-1);
    left.a_next = left.c_next = x_next;
    left.b_next = right.c_next;
    left.zeros = x_ + (lower ? half * ldx_ : half);
    left.ldz = ldx_;
    left.z_step = x_step;
    left.z_next = x_next;

    const int tiles = TileGrid<64>(left, pairs, 1).blocks();
    if constexpr (sizeof(T) == sizeof(double)) {
      const int least =
          half >= schedule_.shared ? std::min(schedule_.large, schedule_.large_shared) : schedule_.large;
      if (a_.count == 1 && tiles >= least && can_be_large(context_)) {
        context_.stage("product");
        multiply_by_large_tiles(context_, right, pairs, schedule_.many, schedule_.shared);
        multiply_by_large_tiles(context_, left, pairs, schedule_.many, schedule_.shared);
        return;
      }
    }
    const std::int64_t own = schedule_.own_order;
    if (half <= own || (pairs == 1 && static_cast<std::int64_t>(half) * last <= own * own)) {
      context_.stage("join");
      launch(right, pairs, tiles);
      launch(left, pairs, tiles);
    } else {
      context_.stage("product");
      const TileGrid<64> grid(left, pairs, simt::multiprocessors(context_));
      simt::launch(context_, write_all_zeros<T>, dim3(static_cast<unsigned>(grid.blocks())), dim3(256), 0,
                   left, grid);
      const int whole = last == half ? pairs : pairs - 1;
      for (Product* product : {&right, &left}) {
        if (whole > 0) multiply_by_strips(*product, whole);
        if (whole < pairs) multiply_by_strips(only_last(*product, whole), 1);
      }
    }
  }

  void launch(const Product& p, int pairs, int tiles) {
    const bool large = tiles * a_.count >= schedule_.own_tiles &&
                       simt::max_shared_bytes(context_) >= TileProduct<T, 64, 128, 3>::bytes;
    return large ? launch<64, 128, 3>(p, pairs) : launch<32, 128, 4>(p, pairs);
  }
  template <int Order, int Threads, int Pieces>
  void launch(const Product& p, int pairs) {
    const TileGrid<Order> grid(p, pairs, simt::multiprocessors(context_));
    simt::launch_early(context_, multiply_pairs<T, Order, Threads, Pieces>,
                       dim3(static_cast<unsigned>(grid.blocks()), static_cast<unsigned>(a_.count)),
                       dim3(Threads), TileProduct<T, Order, Threads, Pieces>::bytes, p, grid);
  }

  static Product only_last(Product p, int pair) {
    p.a += pair * p.a_step;
    p.b += pair * p.b_step;
    p.c += pair * p.c_step;
    p.rows = p.last_rows;
    p.columns = p.last_columns;
    // The inner size is that of the triangle, which is the smaller one where it ends with the matrix.
    if (p.counts == Inner::up_to_rows) p.inner = p.rows;
    if (p.counts == Inner::up_to_columns) p.inner = p.columns;
    return p;
  }

  /// C in strips along the triangle, each over the inner indices that count for it. The triangle's diagonal,
  /// whose elements are the largest where it is well conditioned, comes last. What is added to a sum after it
  /// is rounded as the sum is.
  void multiply_by_strips(const Product& p, int pairs) {
    const bool by_columns = p.is_by_columns();
    const bool from = p.counts == Inner::from_columns || p.counts == Inner::from_rows;
    const int length = by_columns ? p.columns : p.rows;
    for (int begin = 0; begin < length; begin += schedule_.strip) {
      const int end = std::min(begin + schedule_.strip, length);
      const auto multiply = [&](int inner_begin, int inner_end, T beta) {
        const T* const a = p.a + inner_begin * p.lda + (by_columns ? 0 : begin);
        const T* const b = p.b + inner_begin + (by_columns ? begin * p.ldb : 0);
        T* const c = p.c + (by_columns ? begin * p.ldc : begin);
        gemm_batch_here(context_, vendor::Op::none, by_columns ? p.rows : end - begin,
                        by_columns ? end - begin : p.columns, inner_end - inner_begin, p.factor, a, p.lda,
                        p.a_step, b, p.ldb, p.b_step, beta, c, p.ldc, p.c_step, pairs);
      };
      if (!from) {
        multiply(0, end, T(0));
      } else {
        if (end < p.inner) multiply(end, p.inner, T(0));
        multiply(begin, end, end < p.inner ? T(1) : T(0));
      }
    }
  }

  Context& context_;
  Triangle<T> a_;
  int order_;
  T* products_;
  Schedule schedule_;
  T* x_ = nullptr;
  std::int64_t ldx_ = 0;
  const T* from_ = nullptr;  // what is not inverted yet
  std::int64_t ld_from_ = 0;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
