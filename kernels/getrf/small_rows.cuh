#pragma once
/// LU with partial pivoting, and L D L^T, of small systems in registers, for the batched methods. A group of
/// threads, at most one block, factors one system of order n <= max_order, a constant up to 128.
///
/// Each thread keeps one row in registers. For large orders, W threads share a row (W: parts). Part w (0 <= w
/// < W) keeps the columns w, w + W, w + 2 W, ... Step k finds the largest element of column k among the rows
/// that have not been pivots yet. The thread of the pivot row stores its row in shared memory, and the other
/// threads subtract a multiple of it. Rows are not exchanged: each thread stores the number of the step in
/// which its row was the pivot.
///
/// Registers can only be indexed by constants. Therefore every step shifts the unfinished columns left by one
/// register. In step k, column k is in the first register, and the finished column moves behind the
/// unfinished ones. The steps are split into four segments. The columns of a finished segment stay in their
/// registers, and the next segment shifts only the remaining columns. The final register of each column is
/// therefore a constant (`final_register`).
///
/// The matrix is padded with an identity from order n to max_order, so that every loop has a constant length.
/// Segments beyond n are skipped. Padding row i is marked as the pivot of step i from the start. It therefore
/// is never the pivot of a step before n, even if the matrix contains NaN. Rounding errors are those of
/// unblocked right-looking LU.
///
/// A symmetric system is factored as L D L^T without pivoting. Every step subtracts products of one column of
/// the lower triangle only. Elimination in both triangles would be unstable: the triangles differ by rounding
/// errors, and a small pivot amplifies the difference. Column k of L D is row k of D L^T, which back
/// substitution and an upper Cholesky factor need. Up to order 48 all columns of L D stay in shared memory.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// The work split of a thread block for systems of order up to MaxOrder. A *part* is one of a row's threads.
/// @tparam Columns right-hand sides per system; part 0 of each row has their elements
/// @tparam Symmetric the matrix is positive definite, and row k is the pivot of step k
template <int MaxOrder, int Parts, int Columns, bool Symmetric>
struct RowSplit {
  static constexpr int max_order = MaxOrder, parts = Parts;
  static constexpr bool symmetric = Symmetric;
  /// All columns of L D stay in shared memory.
  static constexpr bool keeps_columns = Symmetric && parts == 1 && max_order <= 48;
  /// Cholesky factors are computed from L D with a single rounding per element. More roundings would make
  /// residuals in units of n u (u: unit roundoff) visibly larger than LAPACK's at orders up to 3.
  static constexpr bool rounds_once = Symmetric && max_order <= 4;
  static constexpr int columns = max_order / parts;  ///< columns of A per thread
  static constexpr int rhs_columns = Columns;        ///< right-hand sides per thread of part 0
  static constexpr int rows = max_order <= 4   ? 4
                              : max_order <= 8 ? 8
                              : max_order <= 16
                                  ? 16
                                  : (max_order + 31) / 32 * 32;  ///< threads per part, one per row
  static constexpr int group = rows * parts;                     ///< threads per system
  static constexpr int systems = group >= 64 ? 1 : 128 / group;  ///< systems per block
  static constexpr int threads = group * systems;
  static constexpr int lanes = rows < 32 ? rows : 32;  ///< lanes of a warp that search one pivot together
  static constexpr int warps = rows / lanes;           ///< warps per part
  static constexpr int segments = 4;
  static constexpr int steps = columns / segments;  ///< columns of a thread per segment
  /// Buffers for pivot rows. Two buffers need only one barrier per step if the group is within one warp.
  static constexpr int stages = keeps_columns ? max_order : group <= 32 ? 2 : 1;
  static_assert(max_order % (parts * segments) == 0 && (parts == 1 || max_order > 32),
                "segments have whole columns");

  /// Returns the register that holds the thread's column c (from 0) after the last step.
  static constexpr int final_register(int c) { return columns - (c / steps + 1) * steps + c % steps; }
};

/// `Storage` padded to an odd multiple of 16 bytes, so that the same element of different systems in a warp
/// lies in different banks.
template <class Storage>
struct Padded : Storage {
  alignas(16) char padding[sizeof(Storage) / 16 % 2 == 0 ? 16 : 32];
};
template <class T, class Split>
struct SharedStorage {
  alignas(16) T row[Split::stages][Split::parts][Split::columns];  ///< the pivot row, part by part
  T rhs[Split::stages][Split::rhs_columns];                        ///< the pivot row's right-hand sides
  T factor[Split::parts > 1 ? Split::rows : 1];  ///< per row: the multiplier in the current step
  T candidate[Split::warps];                     ///< per warp: the value of its pivot candidate
  int candidate_row[Split::warps];
  int flag;                      ///< 1 if any_in_group has found a thread with a true value
  int pivots[Split::max_order];  ///< per step: the pivot row (invert) or LAPACK's pivot index from 0 (factor)
  T sum[2][Split::parts][Split::rhs_columns];  ///< the current unknown, or a partial sum per part
  T pivot[2];                                  ///< with several parts: the pivot of the current unknown's row
  /// 1 / sqrt(pivot) per row. If Split::rounds_once, the rounding errors of these numbers follow.
  T inverse_root[Split::symmetric ? (Split::rounds_once ? 2 : 1) * Split::rows : 1];
};
template <class T, class Split>
struct InverseStorage {
  alignas(16) T rows[2][Split::max_order];   ///< rows of the inverse, double-buffered
  T columns[Split::max_order][Split::rows];  ///< columns of U; rows scaled by powers of two near 1 / pivot
};

/// Returns 2^-e for |value| in [2^e, 2^(e + 1)), or the largest power of two for 0 and subnormal values.
template <class T>
__device__ __forceinline__ T inverse_power_of_two(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  // Exponent field of the largest power of two. The fields of 2^e and 2^-e add up to this number.
  constexpr Bits largest = (Bits(1) << (8 * sizeof(T) - 1 - digits)) - 2;
  Bits bits;
  memcpy(&bits, &value, sizeof bits);
  const Bits exponent = (bits >> digits) & (largest + 1);
  bits = (exponent < largest ? largest - exponent : Bits(1)) << digits;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

/// Waits for all threads of the thread's group, which are those of one system.
template <class Split>
__device__ __forceinline__ void wait_for_group() {
  if (Split::group <= 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// A column-major n x n matrix. `a` is null for a thread group without a system, as in the last block of a
/// batch. Such a group factors the identity, so that all threads of a block reach the same barriers.
template <class T>
struct System {
  T* a;
  std::int64_t ld;
  int n;
};

/// One thread's row of a system, or its part of a row.
template <class T, class Split>
class ThreadRow {
 public:
  __device__ ThreadRow(SharedStorage<T, Split>& shared, int thread)
      : shared_(shared), row_(thread % Split::rows), part_(thread / Split::rows) {}

  __device__ int row() const { return row_; }
  /// Returns the step in which the row was the pivot, or -1.
  __device__ int step() const { return step_; }
  __device__ bool is_first_part() const { return part_ == 0; }

  __device__ void load(const System<const T>& source) {
    load_elements([&](int i, int j) { return source.a[i + j * source.ld]; }, source);
  }
  /// Loads the row of a symmetric A from the stored triangle. Elements right of the diagonal become 0 if no
  /// step uses them.
  __device__ void load(const System<const T>& source, Uplo uplo) {
    const bool lower = uplo == Uplo::lower;
    load_elements(
        [&](int i, int j) {
          if (Split::keeps_columns && j > i) return T(0);
          return source.a[lower == (i > j) ? i + j * source.ld : j + i * source.ld];
        },
        source);
  }
  /// Loads the row's elements of the first `count` columns of B. All others are 0; `b` may be null.
  __device__ void load_rhs(const T* b, std::int64_t ld, int n, int count) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) {
      const bool inside = b != nullptr && row_ < n && r < count && part_ == 0;
      y_[r] = inside ? b[row_ + r * ld] : T(0);
    }
  }

  /// Runs all elimination steps. Returns LAPACK's info: 0, or the index (from 1) of the first step whose
  /// pivot is 0 (LU) or not positive (L D L^T).
  __device__ int factor() {
    int info = 0;
    eliminate_segment<0>(info);
    return info_within(info);
  }

  /// Solves U x = y, with y the eliminated B. Afterwards `unknown` returns the unknown with index step().
  __device__ void substitute() {
    scale_ = inverse_power_of_two(pivot_);
    inverse_ = T(1) / (pivot_ * scale_);
    substitute_segment<Split::segments - 1>();
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) y_[r] = x_[r];
  }

  /// Returns true to all threads of the group if the system must be solved again with scaled rows. For LU
  /// this means that an unknown is not finite. For L D L^T it means that all pivots are so small that sums
  /// underflow; back substitution with D L^T multiplies the errors of these sums by elements of L.
  __device__ bool needs_rescaling(int info) {
    if constexpr (Split::symmetric) return !any_in_group(row_ < n_ && pivot_ >= tiny);
    bool finite = true;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) finite = finite && y_[r] - y_[r] == T(0);
    return any_in_group(info == 0 && !finite);
  }
  /// Like needs_rescaling(info), for an inverse. Tests only the row that was computed last, because it
  /// depends on all other rows.
  __device__ bool needs_rescaling(const InverseStorage<T, Split>& upper, int info) {
    const T element = row_ < n_ ? upper.rows[0][row_] : T(0);
    return any_in_group(info == 0 && element - element != T(0));
  }
  /// Returns true if `value` is true for a thread with which this thread shares barriers: any thread of the
  /// warp if groups are within warps. @pre `value` is the same for all threads of a group
  static __device__ bool any_that_synchronizes(bool value) {
    return Split::group <= 32 ? __any_sync(0xffffffffu, value ? 1 : 0) != 0 : value;
  }
  /// Multiplies the rows of A and B by powers of two, which keeps X, and returns the factor of the thread's
  /// row. For LU, the largest element of each row of A is then in [1, 2). For L D L^T, all rows have the same
  /// factor, which is 1 unless all elements of A are tiny. If `wanted` is false, the factor is 1.
  __device__ T rescale(bool wanted) {
    T largest = 0;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::columns; ++c) largest = std::fmax(largest, std::fabs(a_[c]));
    T scale = 1;
    if constexpr (Split::symmetric) {
      wait_for_group<Split>();  // until load_elements has set shared_.flag to 0
      if (!any_in_group(!wanted || (row_ < n_ && largest >= tiny)))
        scale = sizeof(T) == 8 ? T(0x1p200) : T(0x1p64);
    } else {
      GAUSSWEEP_UNROLL
      for (int part = 0; Split::parts > 1 && part < Split::parts; ++part) {
        if (part_ == part)
          shared_.factor[row_] = part == 0 ? largest : std::fmax(shared_.factor[row_], largest);
        wait_for_group<Split>();
      }
      if (Split::parts > 1) largest = shared_.factor[row_];
      scale = wanted && row_ < n_ ? inverse_power_of_two(largest) : T(1);
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::columns; ++c) a_[c] *= scale;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) y_[r] *= scale;
    return scale;
  }
  /// Replaces the inverse of the rescaled A by the inverse of A. `scale`: the result of rescale().
  __device__ void unscale_inverse(InverseStorage<T, Split>& upper, T scale) {
    wait_for_group<Split>();
    upper.columns[0][row_] = scale;
    wait_for_group<Split>();
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::max_order; ++c) a_[c] *= c < n_ ? upper.columns[0][shared_.pivots[c]] : T(1);
  }

  __device__ T unknown(int r) const { return y_[r]; }
  /// Stores the row of L and U as row step() of the result.
  __device__ void store(const System<T>& to) const {
    store_elements(to, [&](int c, int) { return a_[Split::final_register(c)]; });
  }
  /// Stores LAPACK's pivots, from 0. LAPACK exchanges the pivot row with row k in step k.
  __device__ void store_pivots(int* pivots, int n) {
    wait_for_group<Split>();
    if (pivots != nullptr && row_ < n && part_ == 0) pivots[row_] = shared_.pivots[row_];
  }
  /// Stores the index of the pivot row of each step.
  __device__ void store_order(int* rows, int n) const {
    if (row_ < n && step_ >= 0 && step_ < n && part_ == 0) rows[step_] = row_;
  }
  /// Stores the row of the Cholesky factor. @pre the system is symmetric
  __device__ void store_cholesky(const System<T>& to, Uplo uplo) {
    const T root = std::sqrt(pivot_), inverse_root = T(1) / root;
    if (part_ == row_ % Split::parts) shared_.inverse_root[row_] = inverse_root;
    if constexpr (Split::rounds_once) {
      // Rounding errors of the root and of its reciprocal. No product overflows if the pivot is subnormal.
      const T root_error = T(-0.5) * std::fma(-root, root, pivot_) * inverse_root * inverse_root;
      const T reciprocal_error = std::fma(-root, inverse_root, T(1));
      shared_.inverse_root[Split::rows + row_] = inverse_root * (reciprocal_error + root_error);
    }
    wait_for_group<Split>();
    if (to.a == nullptr || row_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::columns; ++c) {
      const int j = c * Split::parts + part_;
      const T element = a_[Split::final_register(c)];
      if (j == row_) to.a[row_ + j * to.ld] = root;
      if (uplo == Uplo::lower && j < row_) to.a[row_ + j * to.ld] = divided_by_root(element, j);
      if (uplo == Uplo::upper && j > row_ && j < to.n)
        to.a[row_ + j * to.ld] = divided_by_root(right_of_diagonal(j, element), row_);
    }
  }

  /// Replaces A, n x n, by its inverse. First computes L^-1 in the registers of the finished columns and U in
  /// shared memory, then substitutes with U. Rows of U are divided by a power of two near their pivot, so
  /// that no product overflows before it cancels. Returns LAPACK's info.
  __device__ int invert(InverseStorage<T, Split>& upper, int n) {
    static_assert(Split::parts == 1, "each thread keeps a whole row");
    int info = 0;
    T pivot = 1;
    GAUSSWEEP_ROLLED
    for (int k = 0; k < Split::max_order; ++k) invert_step(k, upper, pivot, info);
    const T scale = inverse_power_of_two(pivot), inverse = T(1) / (pivot * scale);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::max_order; ++c) a_[c] *= scale;
    wait_for_group<Split>();
    GAUSSWEEP_ROLLED
    for (int k = n - 1; k >= 0; --k) {
      T* const row = upper.rows[k % 2];
      if (step_ == k) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Split::max_order; ++c) {
          a_[c] *= inverse;
          row[c] = a_[c];
        }
      }
      wait_for_group<Split>();
      const T factor = step_ < k ? upper.columns[k][row_] : T(0);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Split::max_order; ++c) a_[c] = std::fma(-factor, row[c], a_[c]);
    }
    return info_within(info);
  }
  /// Stores the thread's row of the inverse as row step(). Register c holds the column whose index is the
  /// pivot row of step c.
  __device__ void store_inverse(const System<T>& to) {
    wait_for_group<Split>();
    if (to.a == nullptr || step_ < 0 || step_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::max_order; ++c) {
      if (c < to.n) to.a[step_ + shared_.pivots[c] * to.ld] = a_[c];
    }
  }

 private:
  /// If all pivots of L D L^T are below this limit, underflow in sums may cause larger errors than rounding.
  /// The limit is above the smallest subnormal number divided by u^2, which bounds these errors by u |A|.
  static constexpr T tiny = sizeof(T) == 8 ? T(0x1p-900) : T(0x1p-90);

  /// Loads element(i, j) for each of the thread's elements (i, j) of the matrix, and the identity beyond n.
  template <class Element>
  __device__ void load_elements(Element&& element, const System<const T>& source) {
    if (Split::group > 32 && row_ == 0 && is_first_part()) shared_.flag = 0;
    n_ = source.n;
    step_ = row_ < n_ ? -1 : row_;
    position_ = row_;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::columns; ++c) {
      const int j = c * Split::parts + part_;
      const bool inside = source.a != nullptr && row_ < source.n && j < source.n;
      a_[c] = inside ? element(row_, j) : row_ == j ? T(1) : T(0);
    }
  }
  /// Stores element(c, j) for each of the thread's columns j; c is the column's index in the thread.
  template <class Element>
  __device__ void store_elements(const System<T>& to, Element&& element) const {
    if (to.a == nullptr || step_ < 0 || step_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::columns; ++c) {
      const int j = c * Split::parts + part_;
      if (j < to.n) to.a[step_ + j * to.ld] = element(c, j);
    }
  }
  __device__ __forceinline__ int first_lane() const {
    return static_cast<int>(threadIdx.x) % 32 / Split::lanes * Split::lanes;
  }
  /// Returns true to all threads of the group if `value` is true in one of them. @pre shared_.flag is 0, and
  /// the group has waited since then
  __device__ bool any_in_group(bool value) {
    if constexpr (Split::group <= 32) {
      constexpr unsigned all = 0xffffffffu;
      return (__ballot_sync(all, value ? 1 : 0) >> first_lane() & all >> (32 - Split::lanes)) != 0;
    }
    if (value) shared_.flag = 1;
    wait_for_group<Split>();
    const bool any = shared_.flag != 0;
    if (any) wait_for_group<Split>();  // all threads have read the flag before one of them resets it
    return any;
  }
  /// Returns info, or 0 if it is the index of a padding step beyond n.
  __device__ int info_within(int info) const { return info > n_ ? 0 : info; }

  /// Like lane_of_largest (largest.cuh) for groups below 32 lanes. Returns a lane of the group, or -1.
  __device__ int lane_of_largest_in_group(bool eligible, T value) const {
    constexpr unsigned all = 0xffffffffu;
    using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    const T magnitude = std::fabs(value);
    Bits bits;
    memcpy(&bits, &magnitude, sizeof bits);
    const auto group_max = [](unsigned word) {
      GAUSSWEEP_UNROLL
      for (int distance = Split::lanes / 2; distance > 0; distance /= 2) {
        const unsigned other = __shfl_xor_sync(all, word, distance);
        word = other > word ? other : word;
      }
      return word;
    };
    constexpr unsigned mask = all >> (32 - Split::lanes);
    const auto lanes_with = [this](bool has) {
      return __ballot_sync(all, has ? 1 : 0) >> first_lane() & mask;
    };
    const unsigned high = static_cast<unsigned>(bits >> (8 * sizeof(T) - 32));
    const unsigned largest = group_max(eligible ? high : 0);
    const bool has_largest = eligible && high == largest;
    unsigned lanes = lanes_with(has_largest);
    if (sizeof(T) == 8 && __any_sync(all, (lanes & (lanes - 1)) != 0 ? 1 : 0)) {
      const unsigned low = static_cast<unsigned>(bits);
      const unsigned largest_low = group_max(has_largest ? low : 0);
      lanes = lanes_with(has_largest && low == largest_low);
    }
    return __ffs(static_cast<int>(lanes)) - 1;
  }
  /// Returns the pivot row of the current step: the row with the largest |element|; ties go to the lowest
  /// row. NaN compares as larger than every number, so that it spreads to all elements that depend on it.
  /// Returns no valid row in padding steps. `owner`: the thread's part contains the pivot column.
  __device__ int find_pivot(bool owner, T& pivot) {
    constexpr int no_row = 0x7fffffff;
    if (owner) {
      const bool eligible = step_ < 0;
      int lane = 0;
      if constexpr (Split::lanes == 32) {
        lane = lane_of_largest(eligible, a_[0]);
      } else {
        lane = lane_of_largest_in_group(eligible, a_[0]);
      }
      pivot = __shfl_sync(0xffffffffu, a_[0], lane & (Split::lanes - 1), Split::lanes);  // masks -1
      const int row = lane < 0 ? no_row : row_ / 32 * 32 + lane;
      if (Split::group <= 32) return row;
      if (row_ % 32 == 0) {
        shared_.candidate[row_ / 32] = row == no_row ? T(0) : pivot;
        shared_.candidate_row[row_ / 32] = row;
      }
    }
    wait_for_group<Split>();
    int row = no_row;
    T largest = T(-1);
    GAUSSWEEP_UNROLL
    for (int w = 0; w < Split::warps; ++w) {
      const T candidate = shared_.candidate[w];
      const T candidate_magnitude = shared_.candidate_row[w] == no_row ? T(-1)
                                    : candidate == candidate           ? std::fabs(candidate)
                                                                       : T(INFINITY);
      if (candidate_magnitude > largest) {
        largest = candidate_magnitude;
        row = shared_.candidate_row[w];
        pivot = candidate;
      }
    }
    return row;
  }
  /// Runs step k in a segment with Width registers, `done` of which contain finished columns. Part
  /// `owner_part` of each row contains column k.
  template <int Width>
  __device__ void eliminate_step(int k, int owner_part, int done, int& info) {
    if constexpr (Split::symmetric) return eliminate_symmetric_step<Width>(k, owner_part, done, info);
    const bool owner = Split::parts == 1 || part_ == owner_part;
    const int stage = k % Split::stages;
    T pivot = T(0);
    const bool is_pivot_row = row_ == find_pivot(owner, pivot);
    // Finished columns are in the last registers. Parts before `owner_part` have one more finished column.
    const int active = Width - done - (Split::parts > 1 && part_ < owner_part ? 1 : 0);
    if (is_pivot_row) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Width; ++c) shared_.row[stage][part_][c] = c < active ? a_[c] : T(0);
      if (part_ == 0) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < Split::rhs_columns; ++r) shared_.rhs[stage][r] = y_[r];
      }
    }
    if (info == 0 && pivot == T(0)) info = k + 1;
    const bool remains = step_ < 0 && !is_pivot_row;
    T factor = owner && remains && pivot != T(0) ? a_[0] / pivot : T(0);  // pivot 0: the column is 0
    if (Split::parts > 1 && owner) shared_.factor[row_] = factor;
    if (is_pivot_row) {
      step_ = k;
      pivot_ = pivot;
      shared_.pivots[k] = position_;
    }
    wait_for_group<Split>();
    // LAPACK exchanges the pivot row with the row at position k.
    position_ = is_pivot_row ? k : position_ == k && k < n_ ? shared_.pivots[k] : position_;
    if (Split::parts > 1) factor = shared_.factor[row_];
    // The factor of a finished row is 0, so its values do not change. A test per element would be slower.
    add_row<Width>(shared_.row[stage][part_], owner, -factor, remains ? factor : a_[0]);
    if (part_ == 0 && remains) subtract_rhs(factor, stage);
  }
  /// Runs step k of a symmetric system. The thread of every row from k on stores its element of column k of L
  /// D in shared memory. This is row k of D L^T. (The thread's own elements right of the diagonal differ by
  /// rounding.) If shared memory does not keep all columns, the thread of row k copies this row into its
  /// registers.
  template <int Width>
  __device__ void eliminate_symmetric_step(int k, int owner_part, int done, int& info) {
    const bool owner = Split::parts == 1 || part_ == owner_part, is_pivot_row = row_ == k, remains = row_ > k;
    const int stage = k % Split::stages;
    T(*const column)[Split::columns] = shared_.row[stage];
    const int own_part = row_ % Split::parts;  // the part and the register of column row_, for row k
    const int own_column = row_ / Split::parts - k / Split::parts - (own_part < owner_part ? 1 : 0);
    // Element j of row k of D L^T goes where row k's thread keeps column j after k shifts (finished columns
    // are last). Threads beyond the last row compute a valid address but write nothing.
    T* const element = &column[own_part][row_ >= Split::max_order ? 0
                                         : own_column < 0         ? own_column + Split::columns
                                                                  : own_column];
    // Rows above k store 0, so that finished columns do not change.
    if (owner && row_ < Split::max_order) *element = row_ < k ? T(0) : a_[0];
    if (is_pivot_row && part_ == 0) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < Split::rhs_columns; ++r) shared_.rhs[stage][r] = y_[r];
    }
    T pivot = T(0);
    if (Split::group <= 32) pivot = __shfl_sync(0xffffffffu, a_[0], k, Split::rows);
    wait_for_group<Split>();
    if (Split::group > 32) pivot = column[owner_part][0];
    if (info == 0 && !(pivot > T(0))) info = k + 1;
    const T own_element = Split::parts == 1 ? a_[0] : *element;
    const T factor = remains && pivot != T(0) ? own_element / pivot : T(0);
    if (is_pivot_row) {
      step_ = k;
      pivot_ = pivot;
    }
    if constexpr (Split::keeps_columns) {
      add_row<Width>(column[0], owner, -factor, a_[0]);
    } else {
      const int active = Width - done - (Split::parts > 1 && part_ < owner_part ? 1 : 0);
      if (is_pivot_row) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Width; ++c) a_[c] = c < active && !(owner && c == 0) ? T(0) : a_[c];
      }
      add_row<Width>(column[part_], owner, is_pivot_row ? T(1) : -factor, a_[0]);
    }
    if (part_ == 0 && remains) subtract_rhs(factor, stage);
    if (Split::stages == 1) wait_for_group<Split>();
  }
  __device__ __forceinline__ void subtract_rhs(T factor, int stage) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) y_[r] = std::fma(-factor, shared_.rhs[stage][r], y_[r]);
  }
  /// Returns element j > row() of the thread's row of D L^T: `own`, unless shared memory keeps all columns.
  __device__ __forceinline__ T right_of_diagonal(int j, T own) const {
    if constexpr (Split::keeps_columns) {
      return j > row_ ? shared_.row[row_][0][j - row_] : T(0);
    } else {
      return own;
    }
  }

  /// Returns `element` / sqrt(pivot of step k).
  __device__ __forceinline__ T divided_by_root(T element, int k) const {
    const T inverse_root = shared_.inverse_root[k], product = element * inverse_root;
    if constexpr (!Split::rounds_once) return product;
    const T correction = shared_.inverse_root[Split::rows + k];
    return product + std::fma(element, correction, std::fma(element, inverse_root, -product));
  }

  /// Adds `factor` times a row in shared memory to the thread's elements. If the thread's part contains the
  /// pivot column (`owner`), also shifts the columns left and appends `finished`.
  template <int Width>
  __device__ __forceinline__ void add_row(const T* row, bool owner, T factor, T finished) {
    if (owner) {
      GAUSSWEEP_UNROLL
      for (int c = 1; c < Width; ++c) a_[c - 1] = std::fma(factor, row[c], a_[c]);
      a_[Width - 1] = finished;
    } else {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Width; ++c) a_[c] = std::fma(factor, row[c], a_[c]);
    }
  }

  /// Runs step k of the elimination of [A I]. The register of a finished column of A receives a
  /// column of the identity.
  __device__ void invert_step(int k, InverseStorage<T, Split>& upper, T& own_pivot, int& info) {
    // Padding steps beyond n have no pivot row. They read buffer 0, because an unwritten buffer may hold NaN.
    T* const row = shared_.row[k < n_ ? k % Split::stages : 0][0];
    T pivot = T(0);
    const bool is_pivot_row = row_ == find_pivot(/*owner=*/true, pivot), was_pivot_row = step_ >= 0;
    if (pivot == T(0) && info == 0) info = k + 1;
    if (is_pivot_row) {
      GAUSSWEEP_UNROLL
      for (int c = 1; c < Split::max_order; ++c) row[c] = a_[c];
      shared_.pivots[k] = row_;
      step_ = k;
      own_pivot = pivot;
    }
    const T factor = is_pivot_row || was_pivot_row || pivot == T(0) ? T(0) : a_[0] / pivot;
    if (was_pivot_row) upper.columns[k][row_] = a_[0] * inverse_power_of_two(own_pivot);
    wait_for_group<Split>();
    GAUSSWEEP_UNROLL
    for (int c = 1; c < Split::max_order; ++c) a_[c - 1] = std::fma(-factor, row[c], a_[c]);
    a_[Split::max_order - 1] = is_pivot_row ? T(1) : -factor;
  }

  /// Runs the steps of this segment and of all later ones.
  template <int Segment>
  __device__ void eliminate_segment(int& info) {
    constexpr int width = Split::columns - Segment * Split::steps;
    GAUSSWEEP_ROLLED
    for (int t = 0; t < Split::steps; ++t) {
      GAUSSWEEP_UNROLL
      for (int part = 0; part < Split::parts; ++part)
        eliminate_step<width>((Segment * Split::steps + t) * Split::parts + part, part, t, info);
    }
    if constexpr (Segment + 1 < Split::segments) {
      if ((Segment + 1) * Split::steps * Split::parts < n_) eliminate_segment<Segment + 1>(info);
    }
  }

  /// Solves for the unknowns of this segment and of all earlier segments, last unknown first.
  template <int Segment>
  __device__ void substitute_segment() {
    if (Segment * Split::steps * Split::parts < n_) {
      GAUSSWEEP_UNROLL
      for (int t = Split::steps - 1; t >= 0; --t) {
        GAUSSWEEP_UNROLL
        for (int part = Split::parts - 1; part >= 0; --part) {
          constexpr int first = Split::columns - (Segment + 1) * Split::steps;
          solve_unknown((Segment * Split::steps + t) * Split::parts + part, part, a_[first + t]);
        }
      }
    }
    if constexpr (Segment > 0) substitute_segment<Segment - 1>();
  }
  /// Returns y / pivot. Multiplies by the pivot's reciprocal, which was computed once, and corrects the
  /// quotient by its remainder. A power of two keeps the reciprocal of a small pivot finite without a branch.
  __device__ __forceinline__ T divided_by_pivot(T y) const {
    const T quotient = y * scale_ * inverse_;
    return std::fma(std::fma(-quotient, pivot_, y) * scale_, inverse_, quotient);
  }
  /// Computes unknown k of every right-hand side and subtracts its products from the rows above. Part
  /// `owner_part` has `column_element`, the row's element of column k.
  __device__ void solve_unknown(int k, int owner_part, T column_element) {
    const bool owner = Split::parts == 1 || part_ == owner_part, owns_unknown = step_ == k;
    const int stage = k % 2;
    const T element = right_of_diagonal(k, column_element);
    int owner_lane = k;  // the lane of the group whose row was the pivot of step k
    if (Split::group <= 32 && !Split::symmetric) {
      const unsigned lanes = __ballot_sync(0xffffffffu, owns_unknown ? 1 : 0);
      owner_lane = __ffs(static_cast<int>(lanes >> first_lane())) - 1;
    }
    if (Split::group > 32) {
      // Each part of the row stores its partial sum.
      if (owns_unknown) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < Split::rhs_columns; ++r)
          shared_.sum[stage][part_][r] = Split::parts == 1 ? divided_by_pivot(y_[r]) : y_[r];
        if (Split::parts > 1 && owner) shared_.pivot[stage] = column_element;
      }
      wait_for_group<Split>();
    }
    GAUSSWEEP_UNROLL
    for (int r = 0; r < Split::rhs_columns; ++r) {
      T x;
      if (Split::group <= 32) {
        x = __shfl_sync(0xffffffffu, divided_by_pivot(y_[r]), owner_lane, Split::rows);
      } else {
        x = shared_.sum[stage][0][r];
        GAUSSWEEP_UNROLL
        for (int w = 1; w < Split::parts; ++w) x += shared_.sum[stage][w][r];
        if (Split::parts > 1) x /= shared_.pivot[stage];
      }
      if (owns_unknown) x_[r] = x;
      if (owner && step_ < k) y_[r] = std::fma(-element, x, y_[r]);
    }
  }

  SharedStorage<T, Split>& shared_;
  int row_, part_;
  int n_ = Split::max_order;
  int step_ = -1;        ///< the step in which the row was the pivot, or -1
  int position_ = row_;  ///< the row's current position under LAPACK's row exchanges
  T pivot_ = 1;
  T scale_ = 1, inverse_ = 1;  ///< a power of two near 1 / pivot_, and 1 / (pivot_ * scale_)
  T a_[Split::columns];        ///< elements of A, then of L and U or of the inverse
  T y_[Split::rhs_columns] = {}, x_[Split::rhs_columns] = {};  ///< right-hand sides, unknowns
};

/// Calls launch with the smallest RowSplit that covers order n. @pre n <= MaxOrder <= max_rows
template <class T, int Columns, bool Symmetric, int MaxOrder = batched::max_rows, class Launch>
void with_work_split(std::int64_t n, Launch&& launch) {
  // Threads per row above order 64. In double one thread would exceed its 255 registers.
  constexpr int parts = sizeof(T) == 8 ? 4 : 1;
  if (n <= 4) return launch(RowSplit<4, 1, Columns, Symmetric>());
  if (n <= 8) return launch(RowSplit<8, 1, Columns, Symmetric>());
  if (n <= 12) return launch(RowSplit<12, 1, Columns, Symmetric>());
  if (n <= 16) return launch(RowSplit<16, 1, Columns, Symmetric>());
  if (n <= 24) return launch(RowSplit<24, 1, Columns, Symmetric>());
  if (n <= 32) return launch(RowSplit<32, 1, Columns, Symmetric>());
  if (n <= 48) return launch(RowSplit<48, 1, Columns, Symmetric>());
  if (n <= 64 || MaxOrder <= 64) return launch(RowSplit<64, 1, Columns, Symmetric>());
  if constexpr (MaxOrder > 64) {
    if (n <= 96) return launch(RowSplit<96, parts, Columns, Symmetric>());
    launch(RowSplit<128, parts, Columns, Symmetric>());
  }
}

/// The index of a thread's system in the block (`in_block`) and in the batch (`system`), and the thread's
/// index in its group.
template <class Split>
struct GroupIndex {
  __device__ GroupIndex()
      : in_block(static_cast<int>(threadIdx.x) / Split::group),
        thread(static_cast<int>(threadIdx.x) % Split::group),
        system(static_cast<std::int64_t>(blockIdx.x) * Split::systems + in_block) {}
  int in_block, thread;
  std::int64_t system;
};
/// Returns the grid for `systems` systems; blockIdx.y selects one of `rhs_groups` groups of right-hand sides.
template <class Split>
dim3 blocks_for(std::int64_t systems, std::int64_t rhs_groups = 1) {
  return dim3(static_cast<unsigned>((systems + Split::systems - 1) / Split::systems),
              static_cast<unsigned>(rhs_groups));
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
