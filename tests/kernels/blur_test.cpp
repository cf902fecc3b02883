// Tests blur matrices against plain loops and by hand, and the noise that is added to images.
#include "kernels/matrix/blur.hpp"

#include <lapacke.h>

#include "kernels/matrix/generate.hpp"
#include "kernels/matrix/noise.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns the specification of a blur matrix for an image of width x height pixels.
MatrixSpec blur(std::int64_t width, std::int64_t height, PointSpread psf, BlurMatrix what = BlurMatrix::h) {
  MatrixSpec spec;
  spec.kind = MatrixKind::blur;
  spec.rows = spec.cols = width * height;
  spec.blur.width = width;
  spec.blur.height = height;
  spec.blur.psf = psf;
  spec.blur.what = what;
  return spec;
}

/// Returns specifications over all point-spread functions, and several sizes of the image and the seen image.
std::vector<MatrixSpec> samples(BlurMatrix what) {
  std::vector<MatrixSpec> all;
  for (const auto& [width, height] : {std::pair{1, 1}, {5, 1}, {1, 6}, {4, 7}, {9, 8}, {17, 12}}) {
    for (const auto& [psf, name] : EnumNames<PointSpread>::table) {
      MatrixSpec spec = blur(width, height, psf, what);
      spec.blur.sigma = 0.9;
      spec.blur.radius = 2;
      spec.blur.length = 4.5;
      spec.blur.angle = 70;
      spec.blur.amount = 0.7;
      spec.blur.weights = HostMatrix<double>(3, 5);
      std::iota(spec.blur.weights.data.begin(), spec.blur.weights.data.end(), -3.0);
      all.push_back(spec);
      if (psf != PointSpread::file) continue;
      for (const auto& [rows, cols] : {std::pair{2, 2}, {4, 1}, {3, 6}, {6, 8}}) {  // no central pixel
        spec.blur.weights = HostMatrix<double>(rows, cols);
        std::iota(spec.blur.weights.data.begin(), spec.blur.weights.data.end(), -3.0);
        all.push_back(spec);
      }
    }
  }
  // The blurred image that is seen has fewer or more pixels than the original.
  const std::size_t square = all.size();
  for (std::size_t i = 0; i < square; i += 3) {
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 9}, {12, 5}}) {
      MatrixSpec spec = all[i];
      spec.blur.seen_width = width;
      spec.blur.seen_height = height;
      spec.rows = width * height;
      spec.cols = spec.blur.matrix_columns();
      all.push_back(spec);
    }
  }
  return all;
}

/// Returns H of blurred = H original: row p has the weights of all original pixels in blurred pixel p.
HostMatrix<double> plain_h(const BlurSpec& spec) {
  const HostMatrix<double> w = point_spread(spec);
  const std::int64_t seen = spec.columns_seen();
  HostMatrix<double> h(spec.pixels_seen(), spec.pixels());
  for (std::int64_t p = 0; p < h.rows; ++p) {
    for (std::int64_t q = 0; q < h.cols; ++q) {
      const std::int64_t i = q / spec.width - p / seen + (w.rows + 1) / 2 - 1;  // (rows + 1) / 2 - 1: centre
      const std::int64_t j = q % spec.width - p % seen + (w.cols + 1) / 2 - 1;
      if (i >= 0 && i < w.rows && j >= 0 && j < w.cols) h(p, q) = w(i, j);
    }
  }
  return h;
}

HostMatrix<double> plain_system(const BlurSpec& spec) {
  const HostMatrix<double> h = plain_h(spec);
  HostMatrix<double> s(h.rows, h.rows);
  for (std::int64_t p = 0; p < h.rows; ++p) {
    for (std::int64_t q = 0; q < h.rows; ++q) {
      for (std::int64_t k = 0; k < h.cols; ++k) s(p, q) += h(p, k) * h(q, k);
    }
    s(p, p) += spec.lambda;
  }
  return s;
}

bool is_symmetric(const HostMatrix<double>& a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      if (a(i, j) != a(j, i)) return false;
    }
  }
  return true;
}

TEST(PointSpread, ByHand) {
  EXPECT_THAT(point_spread(blur(3, 3, PointSpread::sharpen).blur).data,
              testing::ElementsAre(0, -1, 0, -1, 5, -1, 0, -1, 0));
  MatrixSpec box = blur(3, 3, PointSpread::box);
  box.blur.radius = 1;
  EXPECT_THAT(point_spread(box.blur).data, testing::Each(1.0 / 9));
  MatrixSpec point = blur(3, 3, PointSpread::motion);
  point.blur.length = 1;
  EXPECT_THAT(point_spread(point.blur).data, testing::ElementsAre(1));
  // Motion by 2.5 pixels to the right: the last pixel is half a pixel beyond the end of the line.
  MatrixSpec right = blur(3, 3, PointSpread::motion);
  right.blur.length = 2.5;
  const HostMatrix<double> w = point_spread(right.blur);
  ASSERT_EQ(w.rows, 5);
  for (std::int64_t i = 0; i < 5; ++i) {
    const double row[] = {0, 0, 0.4, 0.4, 0.2};
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_DOUBLE_EQ(w(i, j), i == 2 ? row[j] : 0) << i << " " << j;
  }
  // 90 degrees point upwards, to smaller row numbers.
  MatrixSpec up = blur(3, 3, PointSpread::motion);
  up.blur.length = 2;
  up.blur.angle = 90;
  EXPECT_THAT(point_spread(up.blur).data, testing::ElementsAre(0, 0, 0, 0.5, 0.5, 0, 0, 0, 0));  // by columns
}

TEST(PointSpread, GaussianFollowsItsFormula) {
  MatrixSpec spec = blur(3, 3, PointSpread::gaussian);
  spec.blur.sigma = 1.5;
  spec.blur.radius = 4;
  const HostMatrix<double> w = point_spread(spec.blur);
  ASSERT_EQ(w.rows, 9);
  EXPECT_NEAR(std::accumulate(w.data.begin(), w.data.end(), 0.0), 1, 1e-14);
  for (std::int64_t i = 0; i < 9; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      const double distance = static_cast<double>((i - 4) * (i - 4) + (j - 4) * (j - 4));
      EXPECT_NEAR(w(i, j) / w(4, 4), std::exp(-distance / 4.5), 1e-12);
    }
  }
}

TEST(PointSpread, BlursKeepTheBrightness) {
  for (const MatrixSpec& spec : samples(BlurMatrix::h)) {
    if (spec.blur.psf == PointSpread::file) continue;
    const HostMatrix<double> w = point_spread(spec.blur);
    EXPECT_NEAR(std::accumulate(w.data.begin(), w.data.end(), 0.0), 1, 1e-13) << spec.blur.canonical();
  }
}

TEST(Blur, ByHand) {
  // Three pixels in a row, each smeared over itself and its right neighbour.
  MatrixSpec spec = blur(3, 1, PointSpread::motion);
  spec.blur.length = 2;
  EXPECT_THAT(generate<double>(spec).data, testing::ElementsAre(0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5));
  spec.blur.what = BlurMatrix::system;
  spec.blur.lambda = 0.25;
  EXPECT_THAT(generate<double>(spec).data,
              testing::ElementsAre(0.75, 0.25, 0, 0.25, 0.75, 0.25, 0, 0.25, 0.5));
  // 2 x 2 pixels, sharpened: diagonal neighbours have weight 0.
  EXPECT_THAT(generate<float>(blur(2, 2, PointSpread::sharpen)).data,
              testing::ElementsAre(5, -1, -1, 0, -1, 5, 0, -1, -1, 0, 5, -1, 0, -1, -1, 5));
}

TEST(Blur, EqualsPlainLoops) {
  for (const MatrixSpec& spec : samples(BlurMatrix::h)) {
    EXPECT_EQ(generate<double>(spec).data, plain_h(spec.blur).data) << spec.blur.canonical();
  }
  for (const MatrixSpec& spec : samples(BlurMatrix::system)) {
    const HostMatrix<double> s = generate<double>(spec), plain = plain_system(spec.blur);
    EXPECT_TRUE(is_symmetric(s)) << spec.blur.canonical();
    for (std::size_t k = 0; k < plain.data.size(); ++k) {
      ASSERT_NEAR(s.data[k], plain.data[k], 1e-14 * (1 + std::fabs(plain.data[k]))) << spec.blur.canonical();
    }
  }
}

TEST(Blur, IsSymmetricIfThePointSpreadIs) {
  for (const MatrixSpec& spec : samples(BlurMatrix::h)) {
    const bool symmetric = spec.blur.psf != PointSpread::motion && spec.blur.psf != PointSpread::file;
    if (spec.rows == spec.cols && spec.rows > 1 && spec.blur.width > 1 && spec.blur.height > 1) {
      EXPECT_EQ(is_symmetric(generate<double>(spec)), symmetric) << spec.blur.canonical();
    }
  }
}

TEST(Blur, SystemIsPositiveDefinite) {
  for (const MatrixSpec& spec : samples(BlurMatrix::system)) {
    HostMatrix<double> s = generate<double>(spec);
    const auto n = static_cast<lapack_int>(spec.rows);
    EXPECT_EQ(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, s.data.data(), n), 0) << spec.blur.canonical();
  }
}

TEST(Blur, HasTheSameBitsForAnyThreadCount) {
  for (const BlurMatrix what : {BlurMatrix::h, BlurMatrix::system}) {
    for (const MatrixSpec& spec : samples(what)) {
      const auto one = generate<double>(spec, 1);
      for (const int threads : {0, 2, 5, 64}) EXPECT_EQ(one.data, generate<double>(spec, threads).data);
    }
  }
}

TEST(Blur, AppliesWithoutTheMatrix) {
  for (const MatrixSpec& spec : samples(BlurMatrix::h)) {
    const HostMatrix<double> h = generate<double>(spec);
    const auto seen = static_cast<std::size_t>(h.rows), n = static_cast<std::size_t>(h.cols);
    std::vector<double> f(n), g(seen), straight(seen, 0.0), transposed(n, 0.0);
    for (std::size_t q = 0; q < n; ++q) f[q] = std::sin(static_cast<double>(q));
    for (std::size_t p = 0; p < seen; ++p) g[p] = std::cos(static_cast<double>(p));
    for (std::size_t p = 0; p < seen; ++p) {
      for (std::size_t q = 0; q < n; ++q) {
        straight[p] += h.data[p + q * seen] * f[q];
        transposed[q] += h.data[p + q * seen] * g[p];
      }
    }
    const auto near = testing::Pointwise(testing::DoubleNear(1e-12), straight);
    EXPECT_THAT(apply_blur(spec.blur, f, false), near) << spec.blur.canonical();
    EXPECT_THAT(apply_blur(spec.blur, g, true), testing::Pointwise(testing::DoubleNear(1e-12), transposed));
  }
  EXPECT_THROW(apply_blur(blur(2, 2, PointSpread::box).blur, {1, 2, 3}, false), std::invalid_argument);
}

TEST(Blur, RejectionsNameTheAllowedValues) {
  const auto rejection = [](const std::function<void(MatrixSpec&)>& change) {
    MatrixSpec spec = blur(4, 3, PointSpread::gaussian, BlurMatrix::system);
    change(spec);
    try {
      generate<double>(spec);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(rejection([](MatrixSpec&) {}), "");
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.width = 5; }),
              HasSubstr("matrix kind blur: n must be width x height, not 12 for 5 x 3"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.height = -3, s.blur.width = -4; }),
              HasSubstr("width x height"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.sigma = 0; }),
              HasSubstr("sigma must be 0.1 to 100, not 0"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.sigma = NAN; }), HasSubstr("sigma must be"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.radius = 16; }),
              HasSubstr("radius must be 0 to 15, not 16"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.lambda = -1; }),
              HasSubstr("lambda must be 0 to 1e30, not -1"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.psf = PointSpread::motion, s.blur.length = 17; }),
              HasSubstr("length must be 1 to 16, not 17"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.psf = PointSpread::file; }),
              HasSubstr("1 to 31 rows and columns, not 0 x 0"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.seen_width = 2, s.blur.seen_height = 5; }),
              HasSubstr("4 x 3 pixels of which 2 x 5 are seen makes a matrix of 10 x 10, not 12 x 12"));
  EXPECT_THAT(rejection([](MatrixSpec& s) { s.blur.seen_width = 2; }), HasSubstr("seen_height must be 1 to"));
  EXPECT_THAT(rejection([](MatrixSpec& s) {
                s.blur.psf = PointSpread::file;
                s.blur.weights = HostMatrix<double>(3, 1);
              }),
              HasSubstr("at least 1e-10"));
}

TEST(Blur, CanonicalTextHasExactlyTheRelevantParameters) {
  MatrixSpec spec = blur(4, 3, PointSpread::gaussian, BlurMatrix::system);
  EXPECT_EQ(
      spec.canonical(Precision::float64),
      "gaussweep generator 1: kind=blur precision=double rows=12 cols=12 psf=gaussian sigma=1.5 radius=3 "
      "width=4 height=3 what=system lambda=0.01");
  MatrixSpec other = spec;
  other.blur.length = 9;  // ignored by gaussian
  other.seed = 7;
  EXPECT_EQ(spec.canonical(Precision::float64), other.canonical(Precision::float64));
  other.blur.width = 3, other.blur.height = 4;
  EXPECT_NE(spec.canonical(Precision::float64), other.canonical(Precision::float64));
  other = spec;
  other.blur.seen_width = 4, other.blur.seen_height = 3;  // the whole image
  EXPECT_EQ(spec.canonical(Precision::float64), other.canonical(Precision::float64));
  other.blur.seen_width = 3, other.blur.seen_height = 4;
  EXPECT_THAT(other.canonical(Precision::float64), HasSubstr("width=4 height=3 seen=3x4 what=system"));
  MatrixSpec file = blur(4, 3, PointSpread::file);
  file.blur.weights = HostMatrix<double>(1, 3);
  file.blur.weights.data = {0.25, 0.5, 0.25};
  EXPECT_THAT(file.canonical(Precision::float64),
              HasSubstr("psf=file weights=1x3,0.25,0.5,0.25 width=4 height=3 what=h"));
}

TEST(Noise, SaltAndPepperHitTheRequestedFraction) {
  std::vector<double> image(10000, 100.0);
  add_noise(image, {NoiseKind::salt_pepper, 0.1}, 3);
  const auto salt = std::count(image.begin(), image.end(), 255.0);
  const auto pepper = std::count(image.begin(), image.end(), 0.0);
  EXPECT_EQ(std::count(image.begin(), image.end(), 100.0), 10000 - salt - pepper);
  // Within five standard deviations of 500 each.
  EXPECT_NEAR(static_cast<double>(salt), 500, 5 * std::sqrt(10000 * 0.05 * 0.95));
  EXPECT_NEAR(static_cast<double>(pepper), 500, 5 * std::sqrt(10000 * 0.05 * 0.95));
}

TEST(Noise, GaussianHasItsStandardDeviation) {
  std::vector<double> image(10000, 100.0);
  add_noise(image, {NoiseKind::gaussian, 8}, 3);
  double sum = 0, squares = 0;
  for (const double value : image) {
    sum += value - 100;
    squares += (value - 100) * (value - 100);
  }
  EXPECT_NEAR(sum / 10000, 0, 5 * 8 / 100.0);
  EXPECT_NEAR(squares / 10000, 64, 5 * 64 * std::sqrt(2.0) / 100);
  std::vector<double> again(10000, 100.0), other(10000, 100.0), none(10000, 100.0);
  add_noise(again, {NoiseKind::gaussian, 8}, 3);
  EXPECT_EQ(image, again);
  add_noise(other, {NoiseKind::gaussian, 8}, 4);
  EXPECT_NE(image, other);
  add_noise(none, {}, 3);
  EXPECT_THAT(none, testing::Each(100.0));
}

}  // namespace
}  // namespace gaussweep
