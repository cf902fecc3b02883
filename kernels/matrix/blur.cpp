/// Generates matrices of kind `blur`, which blur or sharpen images.

#include "kernels/matrix/blur.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/matrix/shortest.hpp"

namespace gaussweep {
namespace {

/// Rounds to a multiple of 2^-40, so that the weights have the same bits everywhere. Math libraries disagree
/// about the last bits of exp, cos and sin.
double rounded(double value) {
  return std::nearbyint(value * 0x1p40) * 0x1p-40;
}

/// Scales the weights so that their sum is 1 and the image keeps its brightness.
void normalise(HostMatrix<double>& w) {
  double sum = 0;
  for (const double value : w.data) sum += value;
  for (double& value : w.data) value /= sum;
}

/// Returns (2 radius + 1) x (2 radius + 1) zeros.
HostMatrix<double> square_weights(std::int64_t radius) {
  return HostMatrix<double>(2 * radius + 1, 2 * radius + 1);
}

// The weights of the point-spread functions; blur.hpp (point_spread) has their formulas.

HostMatrix<double> gaussian(double sigma, std::int64_t radius) {
  HostMatrix<double> w = square_weights(radius);
  for (std::int64_t i = -radius; i <= radius; ++i) {
    for (std::int64_t j = -radius; j <= radius; ++j) {
      const double distance = static_cast<double>(i * i + j * j);
      w(i + radius, j + radius) = rounded(std::exp(-distance / (2 * sigma * sigma)));
    }
  }
  normalise(w);
  return w;
}

HostMatrix<double> motion(double length, double angle) {
  const double pi = 3.141592653589793;
  const double along_x = rounded(std::cos(angle * pi / 180));
  const double along_y = -rounded(std::sin(angle * pi / 180));  // the row index grows downwards
  const double end = length - 1;
  const auto radius = static_cast<std::int64_t>(std::ceil(end));
  HostMatrix<double> w = square_weights(radius);
  for (std::int64_t i = -radius; i <= radius; ++i) {
    for (std::int64_t j = -radius; j <= radius; ++j) {
      const auto y = static_cast<double>(i), x = static_cast<double>(j);
      // The point of the line that is nearest to (x, y), as its distance from the centre.
      const double nearest = std::clamp(x * along_x + y * along_y, 0.0, end);
      const double off_x = x - nearest * along_x, off_y = y - nearest * along_y;
      w(i + radius, j + radius) = std::max(0.0, rounded(1 - std::sqrt(off_x * off_x + off_y * off_y)));
    }
  }
  normalise(w);
  return w;
}

HostMatrix<double> sharpen(double amount) {
  HostMatrix<double> w(3, 3);
  w(1, 1) = 1 + 4 * amount;
  w(0, 1) = w(1, 0) = w(1, 2) = w(2, 1) = -amount;
  return w;
}

/// Return an error text for the weights, and for the numbers of a spec. The text is empty if they are valid.
std::string fault_of_weights(const HostMatrix<double>& w) {
  const std::int64_t max_size = 2 * largest_blur_radius + 1;
  const std::string size = std::to_string(w.rows) + " x " + std::to_string(w.cols);
  if (w.rows < 1 || w.cols < 1 || w.rows > max_size || w.cols > max_size) {
    return "the weights of a point-spread function must have 1 to " + std::to_string(max_size) +
           " rows and columns, not " + size;
  }
  double largest = 0;
  for (const double value : w.data) {
    if (!(std::fabs(value) <= 1e10)) return "the weights of a point-spread function must be -1e10 to 1e10";
    largest = std::max(largest, std::fabs(value));
  }
  if (largest < 1e-10) return "one weight of a point-spread function must be at least 1e-10 in magnitude";
  return {};
}

std::string fault_of_numbers(const BlurSpec& spec) {
  const auto range_fault = [](const char* name, double value, double low, double high) {
    if (value >= low && value <= high) return std::string();
    return std::string(name) + " must be " + shortest(low) + " to " + shortest(high) + ", not " +
           shortest(value);
  };
  const auto largest = static_cast<double>(largest_blur_radius);
  const std::string radius_fault = range_fault("radius", static_cast<double>(spec.radius), 0, largest);
  switch (spec.psf) {
    case PointSpread::gaussian: {
      const std::string sigma_fault = range_fault("sigma", spec.sigma, 0.1, 100);
      return sigma_fault.empty() ? radius_fault : sigma_fault;
    }
    case PointSpread::box:
      return radius_fault;
    case PointSpread::motion: {
      const std::string length_fault = range_fault("length", spec.length, 1, largest + 1);
      return length_fault.empty() ? range_fault("angle", spec.angle, -360, 360) : length_fault;
    }
    case PointSpread::sharpen:
      return range_fault("amount", spec.amount, 0, 1e6);
    case PointSpread::file:
      break;
  }
  return fault_of_weights(spec.weights);
}

/// The part [begin, end) of a window that lies in the image, in one dimension. Indices count from the
/// window's start.
struct WindowRange {
  std::int64_t begin, end;
};
/// Returns the part of a window of `extent` pixels around `centre` that lies in an image of `size` pixels.
WindowRange window_in_image(std::int64_t centre, std::int64_t extent, std::int64_t size) {
  const std::int64_t first = centre - (extent - 1) / 2;
  return {std::max<std::int64_t>(0, -first), std::min(extent, size - first)};
}

/// The size of the image f, and the window around a pixel: the pixels that have a weight in w, the
/// point-spread function.
/// `rows_above` and `columns_before` are the distances from the pixel to the window's first row and column.
struct ImageGeometry {
  explicit ImageGeometry(const BlurSpec& spec)
      : w(point_spread(spec)),
        width(spec.width),
        height(spec.height),
        rows_above((w.rows - 1) / 2),
        columns_before((w.cols - 1) / 2) {}
  HostMatrix<double> w;
  std::int64_t width, height, rows_above, columns_before;

  /// Calls visit(pixel, weight) for all pixels of f on which pixel (y, x) of H f depends, in row-major order.
  template <class Visit>
  void for_each_in_window(std::int64_t y, std::int64_t x, Visit&& visit) const {
    const WindowRange rows = window_in_image(y, w.rows, height), cols = window_in_image(x, w.cols, width);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t j = cols.begin; j < cols.end; ++j) {
        visit((y + i - rows_above) * width + x + j - columns_before, w(i, j));
      }
    }
  }

  /// Returns (H H^T)(p, q) for the pixels p = (y, x) and q = (y + down, x + right), a sum over the overlap of
  /// their windows.
  double overlap(std::int64_t y, std::int64_t x, std::int64_t down, std::int64_t right) const {
    const WindowRange rows = window_in_image(y, w.rows, height), cols = window_in_image(x, w.cols, width);
    double sum = 0;
    // Weight (i, j) of p's window and weight (i - down, j - right) of q's window belong to the same pixel.
    for (std::int64_t i = std::max(rows.begin, down); i < std::min(rows.end, w.rows + down); ++i) {
      for (std::int64_t j = std::max(cols.begin, right); j < std::min(cols.end, w.cols + right); ++j) {
        sum += w(i, j) * w(i - down, j - right);
      }
    }
    return sum;
  }

  /// Returns true if the window around a pixel lies within the image.
  bool window_is_inside(std::int64_t y, std::int64_t x) const {
    return y >= rows_above && y - rows_above + w.rows <= height && x >= columns_before &&
           x - columns_before + w.cols <= width;
  }
};

}  // namespace

std::string blur_fault(const BlurSpec& spec, std::int64_t rows, std::int64_t cols) {
  const auto sides = [](std::int64_t width, std::int64_t height) {
    return std::to_string(width) + " x " + std::to_string(height);
  };
  const auto is_valid_side = [](std::int64_t side) { return side >= 1 && side <= largest_blur_side; };
  const bool has_size_of_image = spec.seen_width == 0 && spec.seen_height == 0;
  if (!has_size_of_image && !(is_valid_side(spec.seen_width) && is_valid_side(spec.seen_height))) {
    return "seen_width and seen_height must be 1 to " + std::to_string(largest_blur_side) + ", not " +
           sides(spec.seen_width, spec.seen_height);
  }
  const bool has_image = is_valid_side(spec.width) && is_valid_side(spec.height);
  if (has_size_of_image && (!has_image || spec.pixels() != rows || rows != cols)) {
    return "n must be width x height, not " + (rows == cols ? std::to_string(rows) : sides(rows, cols)) +
           " for " + sides(spec.width, spec.height);
  }
  if (!has_image || spec.pixels_seen() != rows || spec.matrix_columns() != cols) {
    return "an image of " + sides(spec.width, spec.height) + " pixels of which " +
           sides(spec.seen_width, spec.seen_height) + " are seen makes a matrix of " +
           sides(spec.pixels_seen(), spec.matrix_columns()) + ", not " + sides(rows, cols);
  }
  if (!(spec.lambda >= 0 && spec.lambda <= 1e30)) {
    return "lambda must be 0 to 1e30, not " + shortest(spec.lambda);
  }
  return fault_of_numbers(spec);
}

std::string BlurSpec::canonical() const {
  std::string text = "psf=";
  text += to_string(psf);
  switch (psf) {
    case PointSpread::gaussian:
      text += " sigma=" + shortest(sigma) + " radius=" + std::to_string(radius);
      break;
    case PointSpread::box:
      text += " radius=" + std::to_string(radius);
      break;
    case PointSpread::motion:
      text += " length=" + shortest(length) + " angle=" + shortest(angle);
      break;
    case PointSpread::sharpen:
      text += " amount=" + shortest(amount);
      break;
    case PointSpread::file:
      text += " weights=" + std::to_string(weights.rows) + "x" + std::to_string(weights.cols);
      for (const double value : weights.data) text += "," + shortest(value);
      break;
  }
  text += " width=" + std::to_string(width) + " height=" + std::to_string(height);
  if (columns_seen() != width || rows_seen() != height) {
    text += " seen=" + std::to_string(columns_seen()) + "x" + std::to_string(rows_seen());
  }
  text += " what=";
  text += to_string(what);
  if (what == BlurMatrix::system) text += " lambda=" + shortest(lambda);
  return text;
}

HostMatrix<double> point_spread(const BlurSpec& spec) {
  switch (spec.psf) {
    case PointSpread::gaussian:
      return gaussian(spec.sigma, spec.radius);
    case PointSpread::box: {
      HostMatrix<double> w = square_weights(spec.radius);
      std::fill(w.data.begin(), w.data.end(), 1.0);
      normalise(w);
      return w;
    }
    case PointSpread::motion:
      return motion(spec.length, spec.angle);
    case PointSpread::sharpen:
      return sharpen(spec.amount);
    case PointSpread::file:
      break;
  }
  return spec.weights;
}

std::vector<double> apply_blur(const BlurSpec& spec, const std::vector<double>& f, bool transposed) {
  const std::int64_t from = transposed ? spec.pixels_seen() : spec.pixels();
  if (static_cast<std::int64_t>(f.size()) != from) {
    throw std::invalid_argument("blur: the image must have " + std::to_string(from) + " pixels, not " +
                                std::to_string(f.size()));
  }
  const ImageGeometry image(spec);
  std::vector<double> g(static_cast<std::size_t>(transposed ? spec.pixels() : spec.pixels_seen()), 0.0);
  for (std::int64_t y = 0; y < spec.rows_seen(); ++y) {
    for (std::int64_t x = 0; x < spec.columns_seen(); ++x) {
      const auto p = static_cast<std::size_t>(y * spec.columns_seen() + x);
      image.for_each_in_window(y, x, [&](std::int64_t pixel, double weight) {
        const auto q = static_cast<std::size_t>(pixel);
        if (transposed) {
          g[q] += weight * f[p];
        } else {
          g[p] += weight * f[q];
        }
      });
    }
  }
  return g;
}

template <class T>
HostMatrix<T> blur_matrix(const BlurSpec& spec, int threads) {
  const std::int64_t n = spec.pixels_seen(), width = spec.columns_seen();
  const ImageGeometry image(spec);
  HostMatrix<T> a(n, spec.matrix_columns());
  if (spec.what == BlurMatrix::h) {
    for_row_ranges(n, threads, static_cast<double>(n) * static_cast<double>(image.w.data.size()),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t p = begin; p < end; ++p) {
                       image.for_each_in_window(p / width, p % width, [&](std::int64_t q, double weight) {
                         a(p, q) = static_cast<T>(weight);
                       });
                     }
                   });
    return a;
  }
  // An element of H H^T is a sum over the overlap of two windows. If neither crosses the image's edge, the
  // sum depends only on the offset between the pixels. It is computed once per offset, in the same order as
  // sums at the edge, so that the bits are the same.
  const std::int64_t reach_y = image.w.rows - 1, reach_x = image.w.cols - 1;
  HostMatrix<double> interior(2 * reach_y + 1, 2 * reach_x + 1);
  ImageGeometry unbounded = image;  // becomes so large that windows around its centre do not reach an edge
  unbounded.width = unbounded.height = 4 * (2 * largest_blur_radius + 1);
  for (std::int64_t down = -reach_y; down <= reach_y; ++down) {
    for (std::int64_t right = -reach_x; right <= reach_x; ++right) {
      interior(down + reach_y, right + reach_x) =
          unbounded.overlap(unbounded.height / 2, unbounded.width / 2, down, right);
    }
  }
  const double cost = static_cast<double>(n) * static_cast<double>(interior.data.size()) * 8;
  for_row_ranges(n, threads, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t y = p / width, x = p % width;
      const bool far_from_edge = image.window_is_inside(y, x);
      for (std::int64_t down = -reach_y; down <= reach_y; ++down) {
        if (y + down < 0 || y + down >= spec.rows_seen()) continue;
        for (std::int64_t right = -reach_x; right <= reach_x; ++right) {
          if (x + right < 0 || x + right >= width) continue;
          const double sum =
              far_from_edge ? interior(down + reach_y, right + reach_x) : image.overlap(y, x, down, right);
          const bool diagonal = down == 0 && right == 0;
          a(p, p + down * width + right) = static_cast<T>(diagonal ? sum + spec.lambda : sum);
        }
      }
    }
  });
  return a;
}

template HostMatrix<float> blur_matrix<float>(const BlurSpec&, int);
template HostMatrix<double> blur_matrix<double>(const BlurSpec&, int);

}  // namespace gaussweep
