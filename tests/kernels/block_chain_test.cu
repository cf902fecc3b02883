// Tests the block-row solve that trsv/inverted_blocks and the solves after LU use, by residuals in long
// double. The orders are those at which a block, a group of right-hand sides or an aligned column ends.

#include "kernels/trsv/block_chain.cuh"
#include "kernels/trsv/block_chain.hpp"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using vendor::Diagonal;

/// A system A X = B. A is n x n, column-major with leading dimension `ld`; `shift` elements precede it, so
/// that it is not aligned. B has the leading dimension n + 3.
template <class T>
struct System {
  System(std::int64_t order, std::int64_t right_hand_sides, std::int64_t leading, std::int64_t shift_by)
      : n(order),
        nrhs(right_hand_sides),
        ld(leading),
        shift(shift_by),
        a(static_cast<std::size_t>(shift + ld * n), T(99)),
        b(static_cast<std::size_t>((n + 3) * nrhs)) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n * 1000 + nrhs * 100 + ld));
    std::uniform_real_distribution<double> unit(-1, 1);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        at(i, j) = static_cast<T>(i == j ? 2 + unit(random) : unit(random) / std::sqrt(double(n)));
      }
    }
    for (T& value : b) value = static_cast<T>(unit(random));
  }
  T& at(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(shift + i + j * ld)]; }
  T& right(std::int64_t i, std::int64_t r) { return b[static_cast<std::size_t>(i + r * (n + 3))]; }

  /// Returns max |b - A x| / ((max row sum of |A|) max |x| + max |b|) in units of u, for one triangle.
  double residual(std::vector<T>& x, bool lower, bool unit) {
    long double worst = 0, norm = 0, largest_x = 0, largest_b = 0;
    for (std::int64_t r = 0; r < nrhs; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        long double residual_i = right(i, r), row = 0;
        for (std::int64_t j = lower ? 0 : i; j < (lower ? i + 1 : n); ++j) {
          const long double element = unit && i == j ? 1.0L : static_cast<long double>(at(i, j));
          residual_i -= element * x[static_cast<std::size_t>(j + r * (n + 3))];
          row += std::fabs(element);
        }
        const T solved = x[static_cast<std::size_t>(i + r * (n + 3))];
        if (!std::isfinite(solved)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::fabs(residual_i));
        norm = std::max(norm, row);
        largest_x = std::max<long double>(largest_x, std::fabs(solved));
        largest_b = std::max<long double>(largest_b, std::fabs(right(i, r)));
      }
    }
    const long double u = std::numeric_limits<T>::epsilon() / 2;
    return static_cast<double>(worst / ((norm * largest_x + largest_b) * u));
  }

  std::int64_t n, nrhs, ld, shift;
  std::vector<T> a, b;
};

template <class T>
class BlockChain : public testing::Test {
 protected:
  /// Solves with one triangle of A and returns X. Expects that A is unchanged, and that a solve with the
  /// transpose gives the same bits.
  std::vector<T> triangle(System<T>& s, Uplo uplo, Diagonal diagonal = Diagonal::stored) {
    const DeviceArray<T> a(*device, s.a), b(*device, s.b);
    const DeviceArray<int> info(*device, 1);
    const DeviceArray<unsigned char> memory(*device, solve_triangle_workspace(s.n, s.nrhs, sizeof(T)));
    solve_triangle<T>(context, uplo, diagonal, s.n, s.nrhs, a.data() + s.shift, s.ld, b.data(), s.n + 3,
                      memory.data(), info.data());
    this->info = info.values()[0];
    EXPECT_EQ(std::memcmp(a.values().data(), s.a.data(), s.a.size() * sizeof(T)), 0) << "A was overwritten";
    expect_same_by_transpose(s, uplo, diagonal, b.values());
    return b.values();
  }
  /// Transposes A in memory and solves with Op::transpose. Expects the bits `x` and the info of the solve
  /// with A.
  void expect_same_by_transpose(const System<T>& s, Uplo uplo, Diagonal diagonal, const std::vector<T>& x) {
    System<T> transposed = s;
    for (std::int64_t j = 0; j < s.n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) std::swap(transposed.at(i, j), transposed.at(j, i));
    }
    const DeviceArray<T> a(*device, transposed.a), b(*device, s.b);
    const DeviceArray<int> info(*device, 1);
    const DeviceArray<unsigned char> memory(*device, solve_triangle_workspace(s.n, s.nrhs, sizeof(T)));
    solve_triangle<T>(context, uplo == Uplo::lower ? Uplo::upper : Uplo::lower, diagonal, s.n, s.nrhs,
                      a.data() + s.shift, s.ld, b.data(), s.n + 3, memory.data(), info.data(),
                      vendor::Op::transpose);
    EXPECT_EQ(info.values()[0], this->info);
    EXPECT_EQ(std::memcmp(b.values().data(), x.data(), x.size() * sizeof(T)), 0) << "n " << s.n;
  }
  std::vector<T> lu(System<T>& s, const std::vector<int>& pivots) {
    const DeviceArray<T> a(*device, s.a), b(*device, s.b);
    const DeviceArray<int> info(*device, 1), rows(*device, pivots);
    const DeviceArray<unsigned char> memory(*device, solve_lu_workspace(s.n, s.nrhs, sizeof(T)));
    solve_lu<T>(context, s.n, s.nrhs, a.data() + s.shift, s.ld, pivots.empty() ? nullptr : rows.data(),
                b.data(), s.n + 3, memory.data(), info.data());
    this->info = info.values()[0];
    return b.values();
  }

  std::unique_ptr<Device> device = test_device();
  Context context{*device};
  int info = 0;
};
TYPED_TEST_SUITE(BlockChain, Precisions);

TYPED_TEST(BlockChain, SolvesBothTrianglesInEveryShape) {
  for (const std::int64_t n : {1, 2, 63, 64, 65, 128, 129, 200, 256, 321}) {
    for (const std::int64_t nrhs : {1, 2, 4, 5, 8, 9, 27, 521}) {  // groups of 8; 512 per launch
      if ((nrhs > 2 && n % 2 == 0) || nrhs * n > 5000) continue;
      for (const std::int64_t extra : {0, 1, 6}) {
        System<TypeParam> s(n, nrhs, n + extra, extra == 6 ? 1 : 0);
        for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
          for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            std::vector<TypeParam> x = this->triangle(s, uplo, diagonal);
            EXPECT_LE(s.residual(x, uplo == Uplo::lower, diagonal == Diagonal::unit), 20)
                << "n " << n << ", nrhs " << nrhs << ", ld " << s.ld << ", " << to_string(uplo);
            EXPECT_EQ(this->info, 0);
            for (std::int64_t r = 0; r < nrhs; ++r) {
              for (std::int64_t i = n; i < n + 3; ++i) {
                ASSERT_EQ(x[static_cast<std::size_t>(i + r * (n + 3))], s.right(i, r)) << "below b";
              }
            }
          }
        }
      }
    }
  }
}

// The blocks of order 64 have a unit diagonal and -c below it; their inverses have elements up to
// c (1 + c)^62. With growing c the kernel multiplies by the inverse, then also corrects the product once or
// twice, then substitutes instead. The answer does not grow with c.
TYPED_TEST(BlockChain, SolvesTrianglesOfEveryCondition) {
  for (const double c : {0.02, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.9}) {
    for (const std::int64_t nrhs : {1, 3, 8}) {
      for (const bool lower : {true, false}) {
        System<TypeParam> s(200, nrhs, 200, 0);
        const std::vector<TypeParam> answer = s.b;
        std::fill(s.b.begin(), s.b.end(), TypeParam(0));
        for (std::int64_t j = 0; j < s.n; ++j) {
          for (std::int64_t i = 0; i < s.n; ++i) {
            s.at(i, j) = i == j ? 1 : i / 64 == j / 64 ? static_cast<TypeParam>(-c) : 0;
            if (lower ? i < j : i > j) continue;
            for (std::int64_t r = 0; r < nrhs; ++r) {
              s.right(i, r) += s.at(i, j) * answer[static_cast<std::size_t>(j + r * (s.n + 3))];
            }
          }
        }
        std::vector<TypeParam> x = this->triangle(s, lower ? Uplo::lower : Uplo::upper);
        EXPECT_LE(s.residual(x, lower, false), 4) << c << ", nrhs " << nrhs << ", lower " << lower;
      }
    }
  }
}

TYPED_TEST(BlockChain, SolvesWithThreadsInAnyOrder) {
  System<TypeParam> s(321, 3, 322, 0);
  const std::vector<TypeParam> expected = this->triangle(s, Uplo::upper);
  for (const std::uint64_t seed : shuffle_seeds) {
    this->context.emulation.shuffle_seed = seed;
    EXPECT_EQ(this->triangle(s, Uplo::upper), expected) << "seed " << seed;
  }
}

/// Solves L U x = P b. The test applies the row exchanges `pivots` to b one by one.
TYPED_TEST(BlockChain, SolvesBothTrianglesAfterExchanges) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 31, 64, 97, 321}) {
    std::mt19937_64 random(7);
    std::vector<std::vector<int>> cases(5, std::vector<int>(static_cast<std::size_t>(n)));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const auto row_among_next = [&](std::int64_t count) {
        return static_cast<int>(i + 1 +
                                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count)));
      };
      cases[0][k] = row_among_next(n - i);
      cases[1][k] = static_cast<int>(n);                   // all with the last row
      cases[2][k] = static_cast<int>(std::min(i + 2, n));  // one row moves down through all others
      cases[3][k] = row_among_next(std::min<std::int64_t>(n - i, 7));
      cases[4][k] = static_cast<int>(i + 1);  // no exchange
    }
    cases.push_back({});
    for (const std::vector<int>& pivots : cases) {
      System<T> s(n, n == 97 ? 19 : 1, n + 1, 1);
      std::vector<T> x = this->lu(s, pivots);
      EXPECT_EQ(this->info, 0);
      for (std::int64_t i = 0; i < n && !pivots.empty(); ++i) {
        for (std::int64_t r = 0; r < s.nrhs; ++r) {
          std::swap(s.right(i, r), s.right(pivots[static_cast<std::size_t>(i)] - 1, r));
        }
      }
      // L (U x) = b: the right-hand side of U is the answer of L.
      std::vector<T> y(s.b.size());
      for (std::int64_t r = 0; r < s.nrhs; ++r) {
        for (std::int64_t i = 0; i < n; ++i) {
          long double sum = 0;
          for (std::int64_t j = i; j < n; ++j) {
            sum += static_cast<long double>(s.at(i, j)) * x[static_cast<std::size_t>(j + r * (n + 3))];
          }
          y[static_cast<std::size_t>(i + r * (n + 3))] = static_cast<T>(sum);
        }
      }
      EXPECT_LE(s.residual(y, true, true), 60) << "n " << n << ", case " << (&pivots - cases.data());
    }
  }
}

using BlockChainInFloat = BlockChain<float>;
TEST_F(BlockChainInFloat, AppliesMoreExchangesThanSharedMemoryHolds) {
  using T = float;
  const std::int64_t n = chain::block_order * chain::stride * static_cast<std::int64_t>(sizeof(T)) / 4 + 40;
  System<T> s(n, 1, n, 0);
  std::fill(s.a.begin(), s.a.end(), T(0));
  std::vector<int> pivots(static_cast<std::size_t>(n));
  std::mt19937_64 random(7);
  for (std::int64_t i = 0; i < n; ++i) {
    s.at(i, i) = 1;
    pivots[static_cast<std::size_t>(i)] =
        static_cast<int>(i + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n - i)));
  }
  const std::vector<T> x = this->lu(s, pivots);
  for (std::int64_t i = 0; i < n; ++i)
    std::swap(s.right(i, 0), s.right(pivots[static_cast<std::size_t>(i)] - 1, 0));
  EXPECT_EQ(x, s.b);
}

TYPED_TEST(BlockChain, InfoIsTheFirstZeroOnTheDiagonal) {
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    System<TypeParam> s(200, 1, 200, 0);
    s.at(70, 70) = s.at(150, 150) = 0;
    const std::vector<TypeParam> x = this->triangle(s, uplo);
    EXPECT_EQ(this->info, 71);
    EXPECT_FALSE(std::isfinite(x[70]));
    this->triangle(s, uplo, Diagonal::unit);
    EXPECT_EQ(this->info, 0);
    this->lu(s, {});
    EXPECT_EQ(this->info, 71);
  }
}

/// The kernel marks a missing value by the NaN with all bits set. It must not wait if an answer is this NaN.
TYPED_TEST(BlockChain, TerminatesIfNaNHasAllBitsSet) {
  TypeParam all_bits;
  std::memset(&all_bits, 0xff, sizeof(all_bits));
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    System<TypeParam> s(200, 1, 200, 0);
    s.right(100, 0) = all_bits;
    const std::vector<TypeParam> x = this->triangle(s, uplo);
    EXPECT_TRUE(std::isnan(x[uplo == Uplo::lower ? 199 : 0]));
    EXPECT_TRUE(std::isfinite(x[uplo == Uplo::lower ? 0 : 199]));
    EXPECT_EQ(this->info, 0) << "a wait timed out";
    std::vector<int> pivots(200);
    for (int i = 0; i < 200; ++i) pivots[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_TRUE(std::isnan(this->lu(s, pivots)[0]));
    EXPECT_EQ(this->info, 0) << "a wait timed out";
    s.right(100, 0) = 0;
    s.at(199, 0) = s.at(0, 199) = std::numeric_limits<TypeParam>::infinity();
    EXPECT_FALSE(std::isfinite(this->triangle(s, uplo)[uplo == Uplo::lower ? 199 : 0]));
  }
}

/// Ones on the diagonal and -1 off it: the inverse of a block grows to 2^62. The answers are small integers,
/// which substitution finds without rounding.
TYPED_TEST(BlockChain, DoesNotUseIllConditionedInverses) {
  for (const std::int64_t n : {64, 97, 200}) {
    for (const std::int64_t nrhs : {1, 5, 17}) {
      for (const bool lower : {true, false}) {
        for (const std::int64_t extra : {0, 1}) {
          System<TypeParam> s(n, nrhs, n + extra, 0);
          for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = 0; i < n; ++i) s.at(i, j) = i == j ? 1 : -1;
          }
          std::vector<TypeParam> expected = s.b;
          for (std::int64_t r = 0; r < nrhs; ++r) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < n; ++k) {
              const std::int64_t i = lower ? k : n - 1 - k;
              const std::int64_t x = (k * k * k + 3 * k * k + r) % 7 - 3;
              s.right(i, r) = static_cast<TypeParam>(x - sum);
              expected[static_cast<std::size_t>(i + r * (n + 3))] = static_cast<TypeParam>(x);
              sum += x;
            }
          }
          EXPECT_EQ(this->triangle(s, lower ? Uplo::lower : Uplo::upper), expected)
              << "n " << n << ", nrhs " << nrhs << ", ld " << s.ld;
        }
      }
    }
  }
}

/// One row is never solved. The rows that wait for it time out and set info.
TYPED_TEST(BlockChain, AWaitTimesOut) {
  using T = TypeParam;
  System<T> s(200, 1, 200, 0);
  const DeviceArray<T> a(*this->device, s.a), b(*this->device, s.b);
  const DeviceArray<int> info(*this->device, 1);
  const ChainWorkspace layout(s.n, 1, sizeof(T), false);
  const DeviceArray<unsigned char> memory(*this->device, std::vector<unsigned char>(layout.bytes(), 0xff));
  const DeviceArray<chain::GroupCounters> counters(
      *this->device, {chain::GroupCounters{0, 0, chain::unset_counter,
                                           chain::unset_counter}});  // ticket 0 is taken and finished_items
  chain::LaunchArguments<T> work{};
  work.n = s.n;
  work.nrhs = 1;
  work.block_rows = 4;
  work.sweeps = 1;
  work.a = a.data();
  work.ld = s.ld;
  work.b = b.data();
  work.ldb = s.n;
  work.sweep[0] = {true, false, nullptr, reinterpret_cast<T*>(memory.data() + layout.segments(0)), true};
  work.counters = counters.data();
  work.info = info.data();
  work.max_polls = 5000;
  simt::launch(this->context, chain::solve_chain<T, 1, 2, false>, dim3(3), dim3(chain::threads), 0, work);
  this->device->synchronize();
  EXPECT_EQ(info.values()[0], -1);
  EXPECT_TRUE(std::isnan(b.values()[199]));
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
