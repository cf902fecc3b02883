// Tests the wrappers of BLAS and LAPACK by hand, and the small kernels that adapt operands to them.
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/fixups.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

using namespace vendor;

/// Matches elements that equal `values` up to a few roundings.
template <class T>
auto near(std::initializer_list<double> values) {
  std::vector<testing::Matcher<T>> matchers;
  for (const double value : values) {
    if constexpr (sizeof(T) == 4) {
      matchers.push_back(testing::FloatNear(static_cast<float>(value), 1e-5f));
    } else {
      matchers.push_back(testing::DoubleNear(value, 1e-13));
    }
  }
  return testing::ElementsAreArray(matchers);
}

PRECISION_TEST_SUITE(Blas);

// All answers are computed by hand; matrices are column-major.
TYPED_TEST(Blas, Gemm) {
  using T = TypeParam;
  const std::vector<T> a{1, 2, 3, 4, 5, 6};  // 2 x 3: [1 3 5; 2 4 6]
  const std::vector<T> b{1, 0, -1};          // 3 x 1
  std::vector<T> c{10, 20};
  gemm(Op::none, Op::none, 2, 1, 3, T(2), a.data(), 2, b.data(), 3, T(1), c.data(), 2);
  EXPECT_THAT(c, ElementsAre(2, 12));
  std::vector<T> d(3);
  gemm(Op::transpose, Op::none, 3, 1, 2, T(1), a.data(), 2, std::vector<T>{1, 1}.data(), 2, T(0), d.data(),
       3);
  EXPECT_THAT(d, ElementsAre(3, 7, 11));
}

TYPED_TEST(Blas, Triangular) {
  using T = TypeParam;
  const std::vector<T> a{2, 3, 7, 4};  // lower [2 .; 3 4], upper [2 7; . 4]
  std::vector<T> x{2, 11};
  trsv(Uplo::lower, Op::none, Diagonal::stored, 2, a.data(), 2, x.data());
  EXPECT_THAT(x, ElementsAre(1, 2));
  x = {16, 8};
  trsv(Uplo::upper, Op::none, Diagonal::stored, 2, a.data(), 2, x.data());
  EXPECT_THAT(x, ElementsAre(1, 2));
  x = {1, 5};
  trsm(Side::left, Uplo::lower, Op::none, Diagonal::unit, 2, 1, T(1), a.data(), 2, x.data(), 2);
  EXPECT_THAT(x, ElementsAre(1, 2));
  trmm(Side::left, Uplo::lower, Op::none, Diagonal::stored, 2, 1, T(1), a.data(), 2, x.data(), 2);
  EXPECT_THAT(x, ElementsAre(2, 11));
  x = {8, 8};  // one row: x upper(A) = [8 8]
  trsm(Side::right, Uplo::upper, Op::none, Diagonal::stored, 1, 2, T(1), a.data(), 2, x.data(), 1);
  EXPECT_THAT(x, near<T>({4, -5}));
}

TYPED_TEST(Blas, SolveExchangesRows) {
  using T = TypeParam;
  std::vector<T> a{0, 2, 1, 1};  // [0 1; 2 1]
  std::vector<T> b{1, 5};
  std::vector<int> pivots(2);
  EXPECT_EQ(gesv(2, 1, a.data(), 2, pivots.data(), b.data(), 2), 0);
  EXPECT_THAT(b, near<T>({2, 1}));
  EXPECT_THAT(pivots, ElementsAre(2, 2));
}

TYPED_TEST(Blas, FactorSolveInvert) {
  using T = TypeParam;
  std::vector<T> a{4, 2, 3, 1};  // [4 3; 2 1], inverse [-0.5 1.5; 1 -2]
  std::vector<int> pivots(2);
  ASSERT_EQ(getrf(2, 2, a.data(), 2, pivots.data()), 0);
  EXPECT_THAT(a, near<T>({4, 0.5, 3, -0.5}));
  std::vector<T> b{7, 3};
  EXPECT_EQ(getrs(Op::none, 2, 1, a.data(), 2, pivots.data(), b.data(), 2), 0);
  EXPECT_THAT(b, near<T>({1, 1}));
  std::vector<T> work(128);
  EXPECT_EQ(getri(2, a.data(), 2, pivots.data(), work.data(), 128), 0);
  EXPECT_THAT(a, near<T>({-0.5, 1, 1.5, -2}));
}

TYPED_TEST(Blas, Cholesky) {
  using T = TypeParam;
  std::vector<T> a{4, 2, 99, 5};  // [4 2; 2 5], the upper triangle is not read
  ASSERT_EQ(potrf(Uplo::lower, 2, a.data(), 2), 0);
  EXPECT_THAT(a, near<T>({2, 1, 99, 2}));
  EXPECT_EQ(potri(Uplo::lower, 2, a.data(), 2), 0);
  EXPECT_THAT(a, near<T>({5. / 16, -2. / 16, 99, 4. / 16}));
}

TYPED_TEST(Blas, TriangularInverse) {
  using T = TypeParam;
  std::vector<T> a{2, 1, 99, 4};
  EXPECT_EQ(trtri(Uplo::lower, Diagonal::stored, 2, a.data(), 2), 0);
  EXPECT_THAT(a, near<T>({0.5, -0.125, 99, 0.25}));
}

TYPED_TEST(Blas, InfoIsReturned) {
  using T = TypeParam;
  std::vector<int> pivots(2);
  std::vector<T> b{1, 1};
  std::vector<T> singular{1, 1, 2, 2};
  EXPECT_EQ(gesv(2, 1, singular.data(), 2, pivots.data(), b.data(), 2), 2);
  std::vector<T> indefinite{1, 2, 2, 1};
  EXPECT_EQ(potrf(Uplo::lower, 2, indefinite.data(), 2), 2);
  std::vector<T> zero_first{0, 1, 1, 1};
  EXPECT_EQ(trtri(Uplo::lower, Diagonal::stored, 2, zero_first.data(), 2), 1);
}

TYPED_TEST(Blas, WrongCallsAreProgramErrors) {
  using T = TypeParam;
  std::vector<T> a{1, 1, 1, 1};
  EXPECT_THROW(to_int(std::int64_t{1} << 31), std::invalid_argument);
  EXPECT_THROW(to_int(-1), std::invalid_argument);
  const std::string message =
      message_of<std::logic_error>([&] { static_cast<void>(potrf(Uplo::lower, 2, a.data(), 1)); });
  EXPECT_THAT(message, testing::HasSubstr("potrf_work"));
  EXPECT_THAT(message, testing::HasSubstr("blas.cpp:"));
}

template <class T>
MatrixView<T> view(HostMatrix<T>& a) {
  return {a.data.data(), a.rows, a.cols, a.rows};
}

TYPED_TEST(Blas, SetIdentityAndFindZeroDiagonals) {
  using T = TypeParam;
  const auto device = cpu(Backend::emulated);
  for (const std::uint64_t seed : {0, 1, 2}) {
    Context context(*device);
    context.emulation.shuffle_seed = seed;
    for (const std::int64_t n : {1, 2, 31, 32, 33, 97}) {
      HostMatrix<T> a(n, n);
      emulated::set_identity(context, view(a));
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(a(i, j), i == j ? 1 : 0);
      }
      int info = 0;
      emulated::find_zero_diagonal(context, view(a), &info);
      EXPECT_EQ(info, 0);
      a(n - 1, n - 1) = 0;
      emulated::find_zero_diagonal(context, view(a), &info);
      EXPECT_EQ(info, n);
      a(n / 2, n / 2) = 0;
      emulated::find_zero_diagonal(context, view(a), &info);
      EXPECT_EQ(info, n / 2 + 1);
      HostMatrix<T> two(n, 2 * n);
      std::copy(a.data.begin(), a.data.end(), two.data.begin() + n * n);
      for (std::int64_t i = 0; i < n; ++i) two(i, i) = 1;
      int infos[2] = {0, 0};
      emulated::find_zero_diagonals(context, view(two), infos, 2);
      EXPECT_EQ(infos[0], 0);
      EXPECT_EQ(infos[1], n / 2 + 1);

      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i) a(i, j) = static_cast<T>(100 * i + j);
        }
        emulated::mirror_triangle(context, uplo, view(a), view(a));
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i) {
            const auto low = std::min(i, j), high = std::max(i, j);
            ASSERT_EQ(a(i, j), uplo == Uplo::lower ? 100 * high + low : 100 * low + high);
          }
        }
        const std::int64_t smaller = std::max<std::int64_t>(n - 1, 1);  // the first n - 1 rows and columns
        HostMatrix<T> same(smaller, smaller);
        emulated::mirror_triangle(context, uplo, view(a), view(same));
        for (std::int64_t j = 0; j < smaller; ++j) {
          for (std::int64_t i = 0; i < smaller; ++i) ASSERT_EQ(same(i, j), a(i, j));
        }
      }
      std::vector<int> pivots(n);
      for (std::int64_t i = 0; i < n; ++i) pivots[i] = static_cast<int>(n - i);
      emulated::make_pivots_zero_based(context, pivots.data(), n);
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(pivots[i], n - i - 1);
    }
  }
}

}  // namespace
}  // namespace gaussweep
