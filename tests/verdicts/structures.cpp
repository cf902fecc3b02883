// Families of matrices on which fast methods have lost digits; see structures.hpp.
#include "tests/verdicts/structures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/matrix/generate.hpp"

namespace gaussweep::verdicts {
namespace {

using Dense = HostMatrix<double>;
using Element = std::function<double(std::int64_t i, std::int64_t j)>;

/// Returns the n x n matrix whose element (i, j), from 0, is element(i, j).
Dense filled(std::int64_t n, const Element& element) {
  Dense a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = element(i, j);
  }
  return a;
}

/// Returns i / (n - 1), which grows from 0 in the first row to 1 in the last one.
double fraction(std::int64_t i, std::int64_t n) {
  return n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
}

/// Returns a matrix of random elements, uniform in [-1, 1).
Dense noise(StructureParameters& parameters, std::int64_t n) {
  return filled(n, [&](auto, auto) { return parameters.random.between(-1, 1); });
}

/// Returns A A^T + lambda I, exactly symmetric.
Dense square_of(const Dense& a, double lambda) {
  Dense product(a.rows, a.rows);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) {
      double sum = i == j ? lambda : 0;
      for (std::int64_t k = 0; k < a.cols; ++k) sum += a(i, k) * a(j, k);
      product(i, j) = product(j, i) = sum;
    }
  }
  return product;
}

/// Divides rows and columns by powers of ten from 1 to 10^decades.
/// @param symmetric divides row i and column i by the same power
/// @param sorted gives the rows increasing powers instead of random ones
void scale(StructureParameters& parameters, Dense& a, double decades, bool symmetric, bool sorted) {
  const std::int64_t n = a.rows;
  std::vector<double> rows, cols;
  for (std::int64_t i = 0; i < n; ++i) {
    const double row_exponent = sorted ? fraction(i, n) : parameters.random.unit(),
                 col_exponent = parameters.random.unit();
    rows.push_back(std::pow(10.0, -decades * row_exponent));
    cols.push_back(symmetric ? rows.back() : std::pow(10.0, -decades * col_exponent));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, j) *= rows[static_cast<std::size_t>(i)];
      a(i, j) *= cols[static_cast<std::size_t>(j)];
    }
  }
}

/// Generates a matrix with a condition number of up to 10^max_decades, a parameter like its mode
/// (condition.hpp).
Dense generated(StructureParameters& parameters, MatrixKind kind, std::int64_t n, double max_decades) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  spec.dominant = false;
  spec.condition = parameters.power("condition", 0, max_decades);
  spec.mode = static_cast<int>(parameters.integer("mode", 1, 5));
  spec.seed = parameters.random.next() >> 12;
  if (n == 1) spec.condition = 1;
  return generate<double>(spec, 1);
}

Dense kernel(StructureParameters& parameters, std::int64_t n) {
  MatrixSpec spec;
  spec.kind = MatrixKind::kernel;
  spec.rows = spec.cols = n;
  spec.s = parameters.power("s", -1, 2);
  spec.lambda = parameters.power("lambda", -14, -1);
  return generate<double>(spec, 1);
}

Dense cauchy(StructureParameters& parameters, std::int64_t n) {
  const double shift = parameters.power("shift", -3, 1);
  return filled(n, [=](auto i, auto j) { return 1 / (static_cast<double>(i + j) + shift); });
}

Dense vandermonde(StructureParameters& parameters, std::int64_t n) {
  const double largest_node = parameters.real("reach", 0.1, 2);
  return filled(n, [=](auto i, auto j) {
    return std::pow(largest_node * static_cast<double>(i + 1) / static_cast<double>(n),
                    static_cast<double>(j));
  });
}

Dense kahan(StructureParameters& parameters, std::int64_t n) {
  const double c = parameters.real("c", 0.05, 0.95), s = std::sqrt(1 - c * c);
  return filled(n, [=](auto i, auto j) {
    return std::pow(s, static_cast<double>(std::min(i, j))) * (i == j ? 1.0 : -c);
  });
}

Dense prolate(StructureParameters& parameters, std::int64_t n) {
  const double w = parameters.real("w", 0.05, 0.45);
  return filled(n, [=](auto i, auto j) {
    const auto k = static_cast<double>(i - j);
    return k == 0 ? 2 * w : std::sin(2 * M_PI * w * k) / (M_PI * k);
  });
}

/// Returns a matrix whose leading block of order k is nearly singular.
Dense leading_block(StructureParameters& parameters, std::int64_t n) {
  Dense a = noise(parameters, n);
  const double small = parameters.power("small", -20, -2);
  const std::int64_t k = std::min(n, parameters.integer("k", 1, n));
  for (std::int64_t j = 0; j < k; ++j) a(k - 1, j) = (k > 1 ? a(0, j) : 0) + small * a(k - 1, j);
  return a;
}

/// Returns the Cholesky factor of a kernel or prolate matrix in the lower triangle and its transpose in the
/// upper one.
Dense factor(StructureParameters& parameters, std::int64_t n) {
  const double lambda = parameters.power("lambda", -14, -1);
  Dense a = parameters.integer("of", 0, 1) == 0 ? kernel(parameters, n) : prolate(parameters, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      double sum = i == j ? a(i, i) + lambda : a(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= a(i, k) * a(j, k);
      a(i, j) = a(j, i) = i == j ? std::sqrt(std::max(sum, lambda)) : sum / a(j, j);
    }
  }
  return a;
}

Dense arrow(StructureParameters& parameters, std::int64_t n) {
  const double decades = parameters.real("decades", 0, 12);
  Dense a(n, n);
  double sum = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    a(i, i) = std::pow(10.0, -decades * fraction(i, n));
    if (i == 0) continue;
    a(i, 0) = a(0, i) = parameters.random.between(-1, 1) * a(i, i);
    sum += a(i, 0) * a(i, 0) / a(i, i);
  }
  a(0, 0) = sum + parameters.power("rest", -14, 0);
  return a;
}

Dense graded(StructureParameters& parameters, std::int64_t n) {
  Dense a = noise(parameters, n);
  scale(parameters, a, parameters.real("decades", 0, 60), false, true);
  return a;
}

Dense scaled(StructureParameters& parameters, std::int64_t n) {
  Dense a = noise(parameters, n);
  scale(parameters, a, parameters.real("decades", 0, 60), false, false);
  return a;
}

/// Returns a matrix whose rows alternate between very large and very small elements: the product of a large
/// and a small one is representable, all other products overflow or underflow.
Dense alternating(StructureParameters& parameters, std::int64_t n) {
  const double decades = parameters.real("decades", 0, 290);
  return filled(n, [&](auto i, auto) {
    return parameters.random.between(0.5, 2) * std::pow(10.0, i % 2 == 0 ? decades : -decades);
  });
}

Dense permuted(StructureParameters& parameters, std::int64_t n) {
  const Dense a = graded(parameters, n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(parameters.random.integer(0, i))]);
  return filled(n, [&](auto i, auto j) { return a(order[static_cast<std::size_t>(i)], j); });
}

Dense low_rank(StructureParameters& parameters, std::int64_t n) {
  const double small = parameters.power("small", -18, -1);
  const std::int64_t rank = std::min(n, parameters.integer("rank", 1, n));
  Dense left = noise(parameters, n);
  for (std::int64_t j = rank; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) left(i, j) = 0;
  }
  return square_of(left, small);
}

Dense definite_graded(StructureParameters& parameters, std::int64_t n) {
  Dense a = generated(parameters, MatrixKind::spd, n, 14);
  scale(parameters, a, parameters.real("decades", 0, 40), true, parameters.random.chance(0.5));
  return a;
}

/// Returns a definite matrix near the smallest numbers, so that pivots become subnormal.
Dense tiny(StructureParameters& parameters, std::int64_t n) {
  Dense a = generated(parameters, MatrixKind::spd, n, 6);
  const double unit = std::pow(2.0, -static_cast<double>(parameters.integer("exponent", 100, 1074)));
  for (double& value : a.data) value *= unit;
  return a;
}

/// Returns a matrix of 0, 1 and powers of two: products are exact, but sums may cancel completely.
Dense powers(StructureParameters& parameters, std::int64_t n) {
  const std::int64_t max_exponent = parameters.integer("most", 1, 60);
  return filled(n, [&](auto, auto) {
    const double unit = parameters.random.unit();
    if (unit < 0.5) return unit < 0.2 ? 0.0 : 1.0;
    return std::pow(2.0, -static_cast<double>(parameters.random.integer(0, max_exponent)));
  });
}

/// Returns elements near 1 + a 2^-11 + b 2^-23, the worst case for splitting a float into two halves.
Dense halves(StructureParameters& parameters, std::int64_t n) {
  const std::int64_t high = parameters.integer("high", 0, 3), low = parameters.integer("low", -8, 8);
  return filled(n, [=](auto, auto) {
    return 1 + static_cast<double>(high) * 0x1p-11 + static_cast<double>(low) * 0x1p-23;
  });
}

/// Returns a matrix like `halves`, but draws a and b per element.
Dense mixed_halves(StructureParameters& parameters, std::int64_t n) {
  return filled(n, [&](auto, auto) {
    return 1 + static_cast<double>(parameters.random.integer(0, 3)) * 0x1p-11 +
           static_cast<double>(parameters.random.integer(-8, 8)) * 0x1p-23;
  });
}

}  // namespace

double StructureParameters::power(const std::string& name, double low, double high) {
  return taken(name, std::pow(10.0, random.between(low, high)));
}

double StructureParameters::taken(const std::string& name, double drawn) {
  const auto found = given_.find(name);
  return used_[name] = found == given_.end() ? drawn : found->second;
}

std::vector<std::string> StructureParameters::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : given_) {
    if (used_.count(name) == 0) names.push_back(name);
  }
  return names;
}

const std::vector<Structure>& structures() {
  static const std::vector<Structure> all = {
      {"kernel", true, kernel},
      {"spd", true,
       [](StructureParameters& parameters, std::int64_t n) {
         return generated(parameters, MatrixKind::spd, n, 14);
       }},
      {"definite_graded", true, definite_graded},
      {"tiny", true, tiny},
      {"prolate", true, prolate},
      {"low_rank", true, low_rank},
      {"arrow", true, arrow},
      {"cauchy", true, cauchy},
      {"cauchy_product", true,
       [](StructureParameters& parameters, std::int64_t n) {
         return square_of(cauchy(parameters, n), parameters.power("lambda", -14, -2));
       }},
      {"vandermonde_product", true,
       [](StructureParameters& parameters, std::int64_t n) {
         return square_of(vandermonde(parameters, n), parameters.power("lambda", -14, -2));
       }},
      {"leading_block_product", true,
       [](StructureParameters& parameters, std::int64_t n) {
         return square_of(leading_block(parameters, n), parameters.power("lambda", -14, -2));
       }},
      {"uniform", false, noise},
      {"condition", false,
       [](StructureParameters& parameters, std::int64_t n) {
         return generated(parameters, MatrixKind::condition, n, 15);
       }},
      {"vandermonde", false, vandermonde},
      {"kahan", false, kahan},
      {"factor", false, factor},
      {"leading_block", false, leading_block},
      {"graded", false, graded},
      {"scaled", false, scaled},
      {"alternating", false, alternating},
      {"permuted", false, permuted},
      {"powers", false, powers},
      {"halves", false, halves},
      {"mixed_halves", false, mixed_halves},
  };
  return all;
}

void mutate(HostMatrix<double>& a, std::uint64_t number, bool symmetric) {
  Random random(number, 1);
  const std::int64_t n = a.rows, i = random.integer(0, n - 1), j = random.integer(0, a.cols - 1);
  const auto change = [&](std::int64_t row, std::int64_t col, double value) {
    a(row, col) = value;
    if (symmetric) a(col, row) = value;
  };
  const double size = std::pow(2.0, -random.between(0, 60));
  switch (random.integer(0, 5)) {
    case 0:
      return change(i, j, a(i, j) * (1 + random.between(-1, 1) * size));
    case 1:
      return change(i, j, random.between(-1, 1) * size);
    case 2:
      return change(i, j, i == j && symmetric ? a(i, j) : 0);
    case 3:
      return change(i, j, a(random.integer(0, n - 1), j));
    case 4: {
      const double factor = std::pow(2.0, static_cast<double>(random.integer(-40, 40)));
      for (std::int64_t k = 0; k < a.cols; ++k) a(i, k) *= factor;
      for (std::int64_t k = 0; symmetric && k < n; ++k) a(k, i) *= factor;
      return;
    }
    default:
      return change(i, i, a(i, i) * (1 + random.between(-1, 1) * size));
  }
}

}  // namespace gaussweep::verdicts
