#pragma once
/// Inverts a triangular matrix level by level. The inverses X and Y of two neighbouring triangles on the
/// diagonal are joined to the inverse of both: with the block L between them, -Y (L X) is the missing block.
/// A few launches join all pairs of a level. The products skip the zeros of triangles tile by tile: small
/// ones in level_products.cuh, large ones in double on a Hopper GPU in large_tiles.cuh. Other large products
/// are computed by the vendor's library in strips, whose k range begins or ends at the diagonal. If the order
/// exceeds equal halves by a few rows, border.cuh adds these rows last.
///
/// L X determines the error A X - I: it multiplies the residual of Y and the errors of the second product. If
/// L X has large elements, whole_substitution.cuh overwrites the inverse. X A - I depends on Y L in the same
/// way. Triangles with `from_left`, for which X A - I has to be small, are therefore joined by -(Y L) X.

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

/// The order of the blocks on the diagonal, a multiple of 8, and the number of rows in the border. The order
/// is chosen for few levels whose pairs are almost equal. Either the last block is smaller than the others,
/// or the number of equal blocks is a power of two and a few rows remain for the border. Such rows in a level
/// of their own would need whole tiles, which take as long as full ones.
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
  /// The smallest order with a border. A border needs one more launch, or two if the inverse is computed in
  /// place, and space for its rows in the workspace of products.
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
  /// `order`: a.n, or more if the triangle is padded with an identity. `products`: workspace_elements(order)
  /// elements. Several triangles: `order` is that of each triangle, a power of two from 64 on, and `products`
  /// has product_elements(order) elements per triangle.
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products)
      : TriangleInverse(context, a, order, products,
                        a.count == 1 ? Schedule::of<T>(context, static_cast<int>(order))
                                     : Schedule::of_several(static_cast<int>(order))) {}
  TriangleInverse(Context& context, const Triangle<T>& a, std::int64_t order, T* products,
                  const Schedule& schedule)
      : context_(context), a_(a), order_(static_cast<int>(order)), products_(products), schedule_(schedule) {}

  /// Writes the inverse to x, order x order, with zeros in the other triangle; the inverses of several
  /// triangles are contiguous. x must not overlap the triangle, which is not changed. Asynchronous.
  /// @param info 0 at the start, receives the first index, from 1, with a 0 on the diagonal; or null
  void invert(T* x, std::int64_t ldx, int* info) {
    x_ = x;
    ldx_ = ldx;
    const bool copies = a_.n != order_ || a_.count > 1;
    invert_blocks(copies, info);
    from_ = copies ? x : a_.data;
    ld_from_ = copies ? ldx : a_.ld;
    for (int half = schedule_.blocks.order; half < even(); half *= 2) join(half);
    if (const int beyond = schedule_.blocks.beyond; beyond > 0) {
      add_border<T>(context_, {from_, ld_from_, x, ldx, products_, even(), beyond, a_.lower,
                               a_.lower == a_.from_left, trusted_product<T>(a_.unit, even()), needed()});
    }
    if (schedule_.blocks.order < order_ && needed() != nullptr) {
      invert_if_needed<T>(context_, {a_, x, ldx, order_}, needed());
    }
  }

 private:
  using Product = LevelProduct<T>;
  /// An operand of a level's products: the first pair's operand, the distance to the next pair's, and the
  /// distance to the next triangle's.
  struct Factor {
    const T* data;
    std::int64_t ld, step, next;
  };

  /// Returns the flag that a level sets if its products lose digits; null if there is no check. The flag lies
  /// behind the products in the workspace.
  int* needed() const {
    return a_.count == 1 ? reinterpret_cast<int*>(products_ + product_elements(order_)) : nullptr;
  }

  int even() const { return order_ - schedule_.blocks.beyond; }  ///< the order without a border

  void invert_blocks(bool copies, int* info) {
    context_.stage("diagonal_blocks");
    const int order = schedule_.blocks.order;
    const int count = (order_ + order - 1) / order;
    const dim3 grid(static_cast<unsigned>(count), copies ? static_cast<unsigned>(count) : 1u,
                    static_cast<unsigned>(a_.count));
    const Layout layout{order_, order, needed()};
    if (order <= 64) {
      simt::launch(context_, invert_diagonal_blocks<T, 64>, grid, dim3(256), sizeof(chain::Square<T, 64>), a_,
                   x_, ldx_, layout, info);
    } else {
      simt::launch(context_, invert_diagonal_blocks<T, 96>, grid, dim3(384), sizeof(chain::Square<T, 96>), a_,
                   x_, ldx_, layout, info);
    }
  }

  /// Joins all pairs of inverses of order `half`; the second inverse of the last pair may be smaller.
  void join(int half) {
    const int pairs = (even() - half + 2 * half - 1) / (2 * half);
    const int last = std::min(half, even() - (pairs - 1) * 2 * half - half);
    const bool lower = a_.lower;
    const std::int64_t next = ldx_ * order_;  // the distance between several triangles in x
    const std::int64_t second = half * (ldx_ + 1), x_step = 2 * second;
    const std::int64_t ld_first = pairs == 1 && lower ? last : half;
    const Factor beside{from_ + half * (lower ? 1 : ld_from_), ld_from_, 2 * half * (ld_from_ + 1), next};
    const Factor left{x_ + (lower ? second : 0), ldx_, x_step, next};
    const Factor right{x_ + (lower ? 0 : second), ldx_, x_step, next};
    const Factor between{products_, ld_first, half * ld_first, product_elements(order_)};
    const Inner of_left = lower ? Inner::up_to_rows : Inner::from_rows;
    const Inner of_right = lower ? Inner::from_columns : Inner::up_to_columns;
    const auto product = [&](const Factor& a, const Factor& b, Inner counts, T factor) {
      Product p{};
      p.a = a.data;
      p.lda = a.ld;
      p.a_step = a.step;
      p.a_next = a.next;
      p.b = b.data;
      p.ldb = b.ld;
      p.b_step = b.step;
      p.b_next = b.next;
      p.rows = p.columns = p.inner = half;
      p.last_rows = lower ? last : half;
      p.last_columns = lower ? half : last;
      p.counts = counts;
      p.factor = factor;
      return p;
    };
    const bool left_first = a_.from_left;
    Product first_product =
        left_first ? product(left, beside, of_left, T(1)) : product(beside, right, of_right, T(1));
    first_product.c = products_;
    first_product.ldc = between.ld;
    first_product.c_step = between.step;
    first_product.c_next = between.next;
    first_product.largest = trusted_product<T>(a_.unit, half);
    first_product.is_larger = needed();
    Product second_product =
        left_first ? product(between, right, of_right, T(-1)) : product(left, between, of_left, T(-1));
    second_product.c = x_ + half * (lower ? 1 : ldx_);
    second_product.ldc = ldx_;
    second_product.c_step = x_step;
    second_product.c_next = next;
    second_product.zeros = x_ + half * (lower ? ldx_ : 1);
    second_product.ldz = ldx_;
    second_product.z_step = x_step;
    second_product.z_next = next;

    const int tiles = TileGrid<64>(second_product, pairs, 1).blocks();
    if constexpr (sizeof(T) == sizeof(double)) {
      const int least =
          half >= schedule_.shared ? std::min(schedule_.large, schedule_.large_shared) : schedule_.large;
      if (a_.count == 1 && tiles >= least && can_be_large(context_)) {
        context_.stage("product");
        multiply_by_large_tiles(context_, first_product, pairs, schedule_.many, schedule_.shared);
        multiply_by_large_tiles(context_, second_product, pairs, schedule_.many, schedule_.shared);
        return;
      }
    }
    const std::int64_t own = schedule_.own_order;
    if (half <= own || (pairs == 1 && static_cast<std::int64_t>(half) * last <= own * own)) {
      context_.stage("join");
      launch(first_product, pairs, tiles);
      launch(second_product, pairs, tiles);
    } else {
      context_.stage("product");
      multiply_pairs_by_strips(first_product, pairs);
      const TileGrid<64> grid(second_product, pairs, simt::multiprocessors(context_));
      simt::launch(context_, look_and_write_zeros<T>, dim3(static_cast<unsigned>(grid.blocks())), dim3(256),
                   0, first_product, second_product, grid);
      multiply_pairs_by_strips(second_product, pairs);
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
    // The k range is the triangle's order, which is smaller for the last pair.
    if (p.counts == Inner::up_to_rows) p.inner = p.rows;
    if (p.counts == Inner::up_to_columns) p.inner = p.columns;
    return p;
  }

  void multiply_pairs_by_strips(const Product& p, int pairs) {
    const bool is_last_smaller = p.last_rows < p.rows || p.last_columns < p.columns;
    const int whole = is_last_smaller ? pairs - 1 : pairs;
    if (whole > 0) multiply_by_strips(p, whole);
    if (whole < pairs) multiply_by_strips(only_last(p, whole), 1);
  }

  /// Computes C in strips along the triangle, each over the k range in which the triangle is nonzero. The k
  /// indices on the triangle's diagonal are added last, because their terms are the largest in
  /// well-conditioned triangles: a term added after them would be rounded to the precision of the larger sum.
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
        vendor_gemm_batch(context_, vendor::Op::none, by_columns ? p.rows : end - begin,
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
  const T* from_ = nullptr;  // the blocks of the triangle that are not inverted yet
  std::int64_t ld_from_ = 0;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
