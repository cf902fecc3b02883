// Tests the matrix generator: equal bits on every backend and thread count, and the properties of each kind.
#include <lapacke.h>

#include "kernels/matrix/condition.hpp"
#include "kernels/matrix/element.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/matrix/system.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

constexpr std::int64_t sizes[] = {1, 2, 31, 32, 33, 97};

const std::vector<MatrixKind> all_kinds = [] {
  std::vector<MatrixKind> kinds;
  for (const auto& [kind, name] : EnumNames<MatrixKind>::table) kinds.push_back(kind);
  return kinds;
}();

/// Returns the specification of an n x n matrix with default parameters that are valid for its kind.
MatrixSpec square(MatrixKind kind, std::int64_t n, std::uint64_t seed = 1) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  spec.seed = seed;
  if (n == 1) spec.condition = 1;
  spec.blur.width = n;
  spec.blur.height = 1;
  return spec;
}

// Compares with the known answers published with the Random123 library.
TEST(Philox, KnownAnswers) {
  const auto words_of = [](const PhiloxBlock& block) {
    return std::vector<std::uint32_t>(block.word, block.word + 4);
  };
  EXPECT_THAT(words_of(philox({{0, 0, 0, 0}}, 0)),
              testing::ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  constexpr std::uint32_t f = 0xffffffffu;
  EXPECT_THAT(words_of(philox({{f, f, f, f}}, ~std::uint64_t{0})),
              testing::ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(words_of(philox({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0x299f31d0a4093822u)),
              testing::ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(Philox, RandomElementsExcludeTheEnds) {
  double sum = 0;
  int negative = 0;
  for (int i = 0; i < 10000; ++i) {
    const RandomElement random = random_element(7, RandomStream::matrix, i, 0);
    ASSERT_GT(random.unit, 0);
    ASSERT_LT(random.unit, 1);
    sum += random.unit;
    negative += random.negative;
  }
  // Mean and fraction of 10^4 draws, within five standard deviations.
  EXPECT_NEAR(sum / 10000, 0.5, 5 * std::sqrt(1.0 / 12 / 10000));
  EXPECT_NEAR(negative / 10000.0, 0.5, 5 * 0.5 / 100);
}

PRECISION_TEST_SUITE(Generate);

TYPED_TEST(Generate, SameBitsForAnyThreadCount) {
  for (const MatrixKind kind : all_kinds) {
    for (const std::int64_t n : sizes) {
      const MatrixSpec spec = square(kind, n);
      const auto one = generate<TypeParam>(spec, 1);
      for (const int threads : {0, 2, 3, 7, 200}) {
        EXPECT_TRUE(same_bits(one, generate<TypeParam>(spec, threads)))
            << to_string(kind) << " n " << n << " threads " << threads;
      }
    }
  }
}

TYPED_TEST(Generate, SameBitsOnTheEmulatedBackend) {
  CpuContext context;
  for (const MatrixKind kind : all_kinds) {
    for (const std::int64_t n : sizes) {
      const MatrixSpec spec = square(kind, n, 5);
      EXPECT_TRUE(same_bits(generate<TypeParam>(spec, 1), generate_on<TypeParam>(context, spec)))
          << to_string(kind) << " n " << n;
    }
  }
  MatrixSpec wide = square(MatrixKind::uniform, 33);
  wide.cols = 7;
  const HostMatrix<TypeParam> on_host = generate<TypeParam>(wide);
  for (const std::int64_t elements : {std::int64_t{1}, 3 * wide.rows + 1, std::int64_t{1} << 29})
    EXPECT_TRUE(same_bits(on_host, generate_on<TypeParam>(context, wide, elements))) << elements;
}

TYPED_TEST(Generate, FloatIsTheDoubleRoundedOnce) {
  for (const MatrixKind kind : all_kinds) {
    const auto exact = generate<double>(square(kind, 33));
    const auto rounded = generate<TypeParam>(square(kind, 33));
    for (std::size_t k = 0; k < exact.data.size(); ++k) {
      ASSERT_EQ(rounded.data[k], static_cast<TypeParam>(exact.data[k])) << to_string(kind);
    }
  }
}

TYPED_TEST(Generate, UniformStaysInItsRangeAndIsNeverZero) {
  for (const auto& [low, high] :
       {std::pair{0.0, 1.0}, {-1.0, 1.0}, {-1.0, 2.0}, {0.0, 1000.0}, {-3.0, -2.0}, {1e6, 1e6 + 1}}) {
    for (const MatrixKind kind : {MatrixKind::uniform, MatrixKind::symmetric}) {
      MatrixSpec spec = square(kind, 97);
      spec.low = low;
      spec.high = high;
      const auto a = generate<TypeParam>(spec);
      double sum = 0;
      for (const TypeParam value : a.data) {
        ASSERT_NE(value, TypeParam(0));
        ASSERT_GE(value, static_cast<TypeParam>(low));
        ASSERT_LT(value, high);  // some 300 of 9409 floats between 1e6 and 1e6 + 1 would round to 1e6 + 1
        sum += value;
      }
      EXPECT_NEAR(sum / a.data.size(), (low + high) / 2, (high - low) * 0.03) << low << " " << high;
    }
  }
}

TYPED_TEST(Generate, SeedsAndPositionsDiffer) {
  const auto a = generate<TypeParam>(square(MatrixKind::uniform, 97, 1));
  EXPECT_FALSE(same_bits(a, generate<TypeParam>(square(MatrixKind::uniform, 97, 2))));
  EXPECT_FALSE(
      same_bits(a, generate<TypeParam>(square(MatrixKind::uniform, 97, (std::uint64_t{1} << 32) + 1))));
  const std::set<TypeParam> distinct(a.data.begin(), a.data.end());
  EXPECT_GT(distinct.size(), a.data.size() * 99 / 100);
}

// A larger matrix of the same seed contains the smaller one: an element depends only on its indices.
TYPED_TEST(Generate, ElementsDoNotDependOnTheSize) {
  const auto small = generate<TypeParam>(square(MatrixKind::uniform, 5));
  const auto large = generate<TypeParam>(square(MatrixKind::uniform, 33));
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(small(i, j), large(i, j));
  }
}

TYPED_TEST(Generate, SymmetricKindsAreSymmetric) {
  for (const MatrixKind kind : {MatrixKind::symmetric, MatrixKind::spd}) {
    const auto a = generate<TypeParam>(square(kind, 33));
    for (int j = 0; j < 33; ++j) {
      for (int i = 0; i < 33; ++i) ASSERT_EQ(a(i, j), a(j, i));
    }
  }
}

TYPED_TEST(Generate, DominantKindsAreStrictlyDominantAfterRounding) {
  for (const MatrixKind kind : {MatrixKind::spd, MatrixKind::diagonally_dominant}) {
    bool negative = false;
    for (const std::int64_t n : sizes) {
      const auto a = generate<TypeParam>(square(kind, n, 3));
      for (std::int64_t i = 0; i < n; ++i) {
        long double others = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_NE(a(i, j), TypeParam(0));
          if (j != i) others += std::fabs(static_cast<long double>(a(i, j)));
        }
        ASSERT_GT(std::fabs(static_cast<long double>(a(i, i))), others) << to_string(kind) << " n " << n;
        negative |= a(i, i) < 0;
      }
    }
    EXPECT_EQ(negative, kind == MatrixKind::diagonally_dominant);
  }
}

TYPED_TEST(Generate, SpdIsPositiveDefinite) {
  auto a = generate<TypeParam>(square(MatrixKind::spd, 97));
  int info = -1;
  if constexpr (sizeof(TypeParam) == 4) {
    info = LAPACKE_spotrf(LAPACK_COL_MAJOR, 'L', 97, a.data.data(), 97);
  } else {
    info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', 97, a.data.data(), 97);
  }
  EXPECT_EQ(info, 0);
}

TYPED_TEST(Generate, TriangularHasExactZerosOnTheOtherSide) {
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    MatrixSpec spec = square(MatrixKind::triangular, 33);
    spec.uplo = uplo;
    const auto a = generate<TypeParam>(spec);
    for (int j = 0; j < 33; ++j) {
      for (int i = 0; i < 33; ++i) {
        const double size = std::fabs(a(i, j));
        if (i == j) {
          EXPECT_GE(size, 1);
          EXPECT_LE(size, 2);
        } else if ((i > j) == (uplo == Uplo::lower)) {
          EXPECT_GT(size, 0);
          EXPECT_LT(size, 1.0 / 33);
        } else {
          EXPECT_EQ(size, 0);
        }
      }
    }
  }
}

TYPED_TEST(Generate, ClosedFormsByHand) {
  using T = TypeParam;
  const auto columns = [](MatrixKind kind) { return generate<T>(square(kind, 3)).data; };
  EXPECT_THAT(columns(MatrixKind::identity), testing::ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(columns(MatrixKind::wilkinson), testing::ElementsAre(1, -1, -1, 0, 1, -1, 1, 1, 1));
  EXPECT_THAT(columns(MatrixKind::ones), testing::ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(columns(MatrixKind::hilbert),
              testing::ElementsAre(T(1), T(1 / 2.), T(1 / 3.), T(1 / 2.), T(1 / 3.), T(1 / 4.), T(1 / 3.),
                                   T(1 / 4.), T(1 / 5.)));
  EXPECT_THAT(columns(MatrixKind::cauchy),
              testing::ElementsAre(T(1 / 1.5), T(1 / 2.5), T(1 / 3.5), T(1 / 2.5), T(1 / 3.5), T(1 / 4.5),
                                   T(1 / 3.5), T(1 / 4.5), T(1 / 5.5)));
  MatrixSpec ones = square(MatrixKind::ones, 2);
  ones.cols = 1;
  ones.value = 0.1;
  EXPECT_THAT(generate<T>(ones).data, testing::ElementsAre(T(0.1), T(0.1)));
}

/// Returns the singular values, computed by LAPACK, in descending order.
std::vector<double> lapack_singular_values(HostMatrix<double> a) {
  const int n = static_cast<int>(a.rows);
  std::vector<double> sigma(n), superdiagonal(n);
  const int info = LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', n, n, a.data.data(), n, sigma.data(), nullptr,
                                  1, nullptr, 1, superdiagonal.data());
  EXPECT_EQ(info, 0);
  return sigma;
}

TEST(Condition, SingularValuesAreTheModesOfLatms) {
  constexpr double kappa = 1e4;
  for (const std::int64_t n : {2, 5, 33, 97}) {
    for (int mode = 1; mode <= 5; ++mode) {
      MatrixSpec spec = square(MatrixKind::condition, n, 9);
      spec.condition = kappa;
      spec.mode = mode;
      const auto sigma = lapack_singular_values(generate<double>(spec));
      EXPECT_NEAR(sigma.front() / sigma.back(), kappa, kappa * 1e-9) << "mode " << mode << " n " << n;
      for (std::int64_t i = 1; i < n - 1; ++i) {
        const double t = static_cast<double>(i) / (n - 1);
        const double expected[] = {1 / kappa, 1, std::pow(kappa, -t), 1 - t * (1 - 1 / kappa)};
        if (mode < 5) {
          EXPECT_NEAR(sigma[i], expected[mode - 1], 1e-12) << "mode " << mode << " n " << n;
        } else {
          EXPECT_LE(sigma[i], 1 + 1e-12);
          EXPECT_GE(sigma[i], 1 / kappa - 1e-12);
        }
      }
    }
  }
}

// In float, a requested condition of 1e12 once became 1.3e10.
TEST(Condition, RefusesConditionsBeyondThePrecision) {
  MatrixSpec spec = square(MatrixKind::condition, 33);
  for (const double kappa : {1e6, 0x1p24}) {
    spec.condition = kappa;
    for (spec.mode = 1; spec.mode <= 5; ++spec.mode) {
      const auto narrow = generate<float>(spec);
      HostMatrix<double> a(33, 33);
      std::copy(narrow.data.begin(), narrow.data.end(), a.data.begin());
      const auto sigma = lapack_singular_values(a);
      EXPECT_NEAR(sigma.front() / sigma.back(), kappa, 0.05 * kappa) << "mode " << spec.mode;
    }
  }
  spec.mode = 3;
  spec.condition = 0x1.000002p24;
  EXPECT_THROW(generate<float>(spec), std::invalid_argument);
  EXPECT_NO_THROW(generate<double>(spec));
  spec.condition = 1e12;
  EXPECT_THAT(precision_fault(spec, Precision::float32),
              testing::AllOf(testing::HasSubstr("condition 1e+12 is beyond what a matrix in float"),
                             testing::HasSubstr("up to 1/u, 16777216")));
  EXPECT_EQ(precision_fault(spec, Precision::float64), "");
  spec.condition = 1e16;
  EXPECT_THROW(generate<double>(spec), std::invalid_argument);
}

TEST(Condition, IsDenseAndCoversOneToTheLimitOfDouble) {
  for (const double kappa : {1.0, 10.0, 1e8, 1e12}) {
    MatrixSpec spec = square(MatrixKind::condition, 33);
    spec.condition = kappa;
    const auto a = generate<double>(spec);
    EXPECT_EQ(std::count(a.data.begin(), a.data.end(), 0.0), 0);
    const auto sigma = lapack_singular_values(a);
    // Rounding moves the smallest singular value by about u.
    EXPECT_NEAR(sigma.front() / sigma.back(), kappa, kappa * (1e-12 + kappa * 1e-14));
  }
}

TEST(RightHandSide, EqualsProductComputedByHand) {
  HostMatrix<double> a(2, 3);
  a.data = {1, 4, 2, 5, 3, 6};  // [1 2 3; 4 5 6]
  HostMatrix<double> x(3, 2);
  x.data = {1, 1, 1, 0, -1, 2};
  EXPECT_THAT(right_hand_side(a, x).data, testing::ElementsAre(6, 15, 4, 7));
}

TYPED_TEST(Generate, RightHandSideIsRoundedOnceForAnyThreadCount) {
  for (const std::int64_t n : sizes) {
    const auto a = generate<TypeParam>(square(MatrixKind::uniform, n));
    const auto x = generate_solution<TypeParam>(n, 3, 2);
    const auto b = right_hand_side(a, x, 1);
    for (const int threads : {0, 2, 5, 100}) EXPECT_TRUE(same_bits(b, right_hand_side(a, x, threads)));
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) sum += static_cast<long double>(a(i, j)) * x(j, r);
        ASSERT_EQ(b(i, r), static_cast<TypeParam>(sum));
      }
    }
  }
}

TYPED_TEST(Generate, RightHandSideOfASystemNeverOverflows) {
  constexpr TypeParam largest = std::numeric_limits<TypeParam>::max();
  for (const std::int64_t n : {1, 2, 5, 64, 97}) {
    HostMatrix<TypeParam> a(n, n);
    const auto plain = generate_solution<TypeParam>(n, 3, 2);
    // Every product of the first column is positive, so the sums are as large as possible.
    fill(a, [&](std::int64_t, std::int64_t j) { return plain(j, 0) > 0 ? largest : -largest; });
    const auto system = make_system(a, 3, 2);
    for (const TypeParam value : system.b.data) EXPECT_TRUE(std::isfinite(value)) << n;
    EXPECT_TRUE(same_bits(system.b, right_hand_side(a, system.x_true)));
    const TypeParam scale = system.x_true(0, 0) / plain(0, 0);
    EXPECT_TRUE(n < 64 ? scale <= 1 : scale < 1) << n;  // sums of few elements may not overflow
    for (std::size_t k = 0; k < plain.data.size(); ++k)
      EXPECT_EQ(system.x_true.data[k], plain.data[k] * scale);
    // Without overflow nothing is scaled.
    const auto uniform = generate<TypeParam>(square(MatrixKind::uniform, n));
    EXPECT_TRUE(same_bits(make_system(uniform, 3, 2).x_true, plain));
  }
}

TYPED_TEST(Generate, SolutionIsUniformNonzeroAndIndependentOfTheMatrix) {
  const auto x = generate_solution<TypeParam>(97, 5, 1);
  ASSERT_EQ(x.rows, 97);
  ASSERT_EQ(x.cols, 5);
  for (const TypeParam value : x.data) {
    EXPECT_NE(value, TypeParam(0));
    EXPECT_LE(std::fabs(value), 1);
  }
  MatrixSpec spec = square(MatrixKind::uniform, 97);
  spec.low = -1;
  spec.cols = 5;
  EXPECT_FALSE(same_bits(x, generate<TypeParam>(spec)));  // same seed, but another random stream
}

/// Returns the message of the exception with which `generate` rejects a specification, or "".
std::string rejection(const MatrixSpec& spec) {
  return message_of<std::invalid_argument>([&] { generate<double>(spec); });
}

TEST(MatrixSpec, RejectionsNameTheAllowedValues) {
  using testing::HasSubstr;
  EXPECT_THAT(rejection(square(MatrixKind::uniform, 0)),
              HasSubstr("rows and cols must be 1 to 2147483647, not 0 x 0"));
  MatrixSpec spec = square(MatrixKind::spd, 3);
  spec.cols = 4;
  EXPECT_THAT(rejection(spec), HasSubstr("matrix kind spd: the matrix must be square, not 3 x 4"));
  spec = square(MatrixKind::uniform, 3);
  spec.low = 2;
  EXPECT_THAT(rejection(spec), HasSubstr("low must be less than high, not low = 2, high = 1"));
  spec.low = NAN;
  EXPECT_THAT(rejection(spec), HasSubstr("low must be less than high"));
  spec.low = 1e6;
  spec.high = 1e6 + 0.25;  // four floats between low and high
  EXPECT_THAT(precision_fault(spec, Precision::float32),
              HasSubstr("too close in float; allowed: a distance"));
  EXPECT_THROW(generate<float>(spec), std::invalid_argument);
  EXPECT_NO_THROW(generate<double>(spec));
  spec = square(MatrixKind::symmetric, 3);
  spec.high = 1e300;
  EXPECT_THAT(rejection(spec), HasSubstr("1e-20 to 1e30"));
  spec = square(MatrixKind::condition, 3);
  spec.condition = 0.5;
  EXPECT_THAT(rejection(spec), HasSubstr("condition must be 1 to 1e300, not 0.5"));
  spec.condition = NAN;
  EXPECT_THAT(rejection(spec), HasSubstr("condition must be 1 to 1e300"));
  spec.condition = 10;
  spec.mode = 6;
  EXPECT_THAT(rejection(spec), HasSubstr("mode must be 1 to 5, not 6"));
  spec.mode = 3;
  spec.rows = spec.cols = 1;
  EXPECT_THAT(rejection(spec), HasSubstr("a 1 x 1 matrix has condition 1"));
  spec = square(MatrixKind::ones, 3);
  spec.value = INFINITY;
  EXPECT_THAT(rejection(spec), HasSubstr("value must be"));
  EXPECT_THROW(generate_solution<float>(0, 1, 1), std::invalid_argument);
  EXPECT_THROW(right_hand_side(HostMatrix<double>(2, 2), HostMatrix<double>(3, 1)), std::invalid_argument);
}

TEST(MatrixSpec, CanonicalTextsAreEqualOnlyForEqualMatrices) {
  MatrixSpec spec = square(MatrixKind::uniform, 3);
  spec.low = 0.1;
  spec.high = 1000;
  EXPECT_EQ(spec.canonical(Precision::float64),
            "gaussweep generator 1: kind=uniform precision=double rows=3 cols=3 seed=1 low=0.1 high=1000");
  EXPECT_NE(spec.canonical(Precision::float64), spec.canonical(Precision::float32));
  // Version 2 no longer rounds floats to `high`.
  EXPECT_THAT(spec.canonical(Precision::float32), testing::HasSubstr("generator 2: kind=uniform"));
  MatrixSpec other = spec;
  other.condition = 7;  // ignored by this kind
  EXPECT_EQ(spec.canonical(Precision::float64), other.canonical(Precision::float64));
  other.seed = 2;
  EXPECT_NE(spec.canonical(Precision::float64), other.canonical(Precision::float64));
  MatrixSpec hilbert = square(MatrixKind::hilbert, 3, 1);
  MatrixSpec another_seed = square(MatrixKind::hilbert, 3, 2);
  EXPECT_EQ(hilbert.canonical(Precision::float32), another_seed.canonical(Precision::float32));
  std::set<std::string> texts;
  for (const MatrixKind kind : all_kinds) texts.insert(square(kind, 3).canonical(Precision::float64));
  EXPECT_EQ(texts.size(), all_kinds.size());
}

// If these values change, stored digests no longer identify their matrices, and generator_version must be
// increased. The values are exact except for `condition`, whose powers come from the C library.
TEST(MatrixSpec, BitsOfGeneratorVersionOne) {
  const auto first_column = [](MatrixKind kind) {
    const auto a = generate<double>(square(kind, 3, 42));
    return std::vector<double>(a.data.begin(), a.data.begin() + 3);
  };
  EXPECT_THAT(first_column(MatrixKind::uniform),
              testing::ElementsAre(0x1.39d5e0a6efea9p-1, 0x1.f9b6424ea774dp-1, 0x1.a6d8044b510ebp-1));
  EXPECT_THAT(first_column(MatrixKind::spd),
              testing::ElementsAre(0x1.5047f3941f8ecp+1, 0x1.f36c849d4ee9ap-1, 0x1.4db00896a21d6p-1));
  EXPECT_THAT(first_column(MatrixKind::diagonally_dominant),
              testing::ElementsAre(-0x1.b2088e48d7a9cp+0, 0x1.f36c849d4ee9ap-1, 0x1.4db00896a21d6p-1));
  EXPECT_THAT(first_column(MatrixKind::triangular),
              testing::ElementsAre(-0x1.9ceaf05377f54p+0, 0x1.4cf3031389f11p-2, 0x1.bceab61e2d7c8p-3));
  EXPECT_THAT(first_column(MatrixKind::condition),
              testing::ElementsAre(testing::DoubleNear(-0x1.13b1fa728fd15p-1, 1e-15),
                                   testing::DoubleNear(-0x1.5690ab87ba3a9p-2, 1e-15),
                                   testing::DoubleNear(0x1.30ddb832ec9cbp-3, 1e-15)));
  EXPECT_THAT(first_column(MatrixKind::kernel),
              testing::ElementsAre(1.01, 0x1.78b56362cef38p-2, 0x1.2c155b8213cf4p-6));
  EXPECT_THAT(generate_solution<double>(2, 1, 42).data,
              testing::ElementsAre(-0x1.f5b3225b7eb86p-1, -0x1.7c01bb1808b7ap-1));
}

}  // namespace
}  // namespace gaussweep
