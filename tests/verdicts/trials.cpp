// Draws hard matrices, right-hand sides and method parameters, and damages answers; see trials.hpp.
#include "tests/verdicts/trials.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/matrix/generate.hpp"

namespace gaussweep::verdicts {
namespace {

using Dense = HostMatrix<double>;
using Element = std::function<double(std::int64_t i, std::int64_t j)>;

Dense filled(std::int64_t rows, std::int64_t cols, const Element& element) {
  Dense a(rows, cols);
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) a(i, j) = element(i, j);
  }
  return a;
}

Dense times(const Dense& a, const Dense& b) {
  return filled(a.rows, b.cols, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.cols; ++k) sum += a(i, k) * b(k, j);
    return sum;
  });
}

Dense transposed(const Dense& a) {
  return filled(a.cols, a.rows, [&](std::int64_t i, std::int64_t j) { return a(j, i); });
}

double power_of_ten(double exponent) {
  return std::pow(10.0, exponent);
}

/// Generates a matrix of one of the program's kinds, with a random condition number up to 1e15.
Dense generated(Random& random, MatrixKind kind, std::int64_t n) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  spec.seed = random.next() >> 12;
  spec.condition = n == 1 ? 1 : power_of_ten(random.between(0, 15));
  spec.mode = static_cast<int>(random.integer(1, 5));
  return generate<double>(spec, 1);
}

/// Returns an n x n magic square if n is odd or a multiple of 4, otherwise a partly magic one. Squares of
/// even order are singular.
Dense magic(std::int64_t n) {
  if (n % 2 == 1) {
    return filled(n, n, [n](std::int64_t i, std::int64_t j) {
      return static_cast<double>(n * ((i + j + 1 + n / 2) % n) + (i + 2 * j + n - 3 + 5) % n + 1);
    });
  }
  return filled(n, n, [n](std::int64_t i, std::int64_t j) {
    const bool kept = (i % 4 == 0 || i % 4 == 3) == (j % 4 == 0 || j % 4 == 3);
    return static_cast<double>(kept ? n * n - (i * n + j) : i * n + j + 1);
  });
}

Dense pascal(std::int64_t n) {
  Dense a = filled(n, n, [](std::int64_t, std::int64_t) { return 1; });
  for (std::int64_t j = 1; j < n; ++j) {
    for (std::int64_t i = 1; i < n; ++i) a(i, j) = a(i - 1, j) + a(i, j - 1);
  }
  return a;
}

/// A named way to make a matrix of order n.
struct Family {
  const char* name;
  Dense (*make)(Random& random, std::int64_t n);
};

/// Families of random matrices.
constexpr Family random_families[] = {
    {"uniform -1…1",
     [](Random& random, std::int64_t n) {
       return filled(n, n, [&](auto, auto) { return random.between(-1, 1); });
     }},
    {"uniform 0…1",
     [](Random& random, std::int64_t n) { return filled(n, n, [&](auto, auto) { return random.unit(); }); }},
    {"small integers",
     [](Random& random, std::int64_t n) {
       return filled(n, n, [&](auto, auto) { return static_cast<double>(random.integer(-3, 3)); });
     }},
    {"mostly zeros",
     [](Random& random, std::int64_t n) {
       return filled(n, n, [&](auto, auto) { return random.chance(0.3) ? random.between(-1, 1) : 0.0; });
     }},
    {"diagonal and noise",
     [](Random& random, std::int64_t n) {
       return filled(n, n, [&](auto i, auto j) {
         return random.between(-1, 1) + (i == j ? static_cast<double>(n) : 0.0);
       });
     }},
    {"condition", [](Random& random, std::int64_t n) { return generated(random, MatrixKind::condition, n); }},
    {"diagonally dominant",
     [](Random& random, std::int64_t n) { return generated(random, MatrixKind::diagonally_dominant, n); }},
    {"all exponents",
     [](Random& random, std::int64_t n) {
       const double width = random.between(1, 300);
       return filled(
           n, n, [&](auto, auto) { return random.between(-1, 1) * power_of_ten(random.between(-width, 0)); });
     }},
};

/// Families of matrices with a formula.
constexpr Family named_families[] = {
    {"zeros", [](Random&, std::int64_t n) { return filled(n, n, [](auto, auto) { return 0; }); }},
    {"constant",
     [](Random& random, std::int64_t n) {
       const double value = random.chance(0.5) ? 0.1 : random.unit();
       return filled(n, n, [=](auto, auto) { return value; });
     }},
    {"identity", [](Random&, std::int64_t n) { return filled(n, n, [](auto i, auto j) { return i == j; }); }},
    {"exchange",  // ones on the antidiagonal
     [](Random&, std::int64_t n) { return filled(n, n, [n](auto i, auto j) { return i + j == n - 1; }); }},
    {"hilbert",
     [](Random&, std::int64_t n) {
       return filled(n, n, [](auto i, auto j) { return 1 / (static_cast<double>(i + j) + 1); });
     }},
    {"cauchy",
     [](Random&, std::int64_t n) {
       return filled(n, n, [](auto i, auto j) { return 1 / (static_cast<double>(i + j) + 1.5); });
     }},
    {"pascal", [](Random&, std::int64_t n) { return pascal(n); }},
    {"magic", [](Random&, std::int64_t n) { return magic(n); }},
    {"wilkinson",
     [](Random&, std::int64_t n) {
       return filled(n, n, [n](auto i, auto j) {
         if (i != j) return i - j == 1 || j - i == 1 ? 1.0 : 0.0;
         return std::fabs(static_cast<double>(i) - static_cast<double>(n - 1) / 2);
       });
     }},
    {"growth",  // partial pivoting doubles the last column in every step
     [](Random&, std::int64_t n) {
       return filled(n, n, [n](auto i, auto j) { return i == j || j == n - 1 ? 1.0 : (i > j ? -1.0 : 0.0); });
     }},
    {"kahan",
     [](Random& random, std::int64_t n) {
       const double c = random.between(0.1, 0.9), s = std::sqrt(1 - c * c);
       return filled(n, n, [=](auto i, auto j) {
         return std::pow(s, static_cast<double>(i)) * (i == j ? 1.0 : (i < j ? -c : 0.0));
       });
     }},
    {"frank",
     [](Random&, std::int64_t n) {
       return filled(
           n, n, [n](auto i, auto j) { return i > j + 1 ? 0.0 : static_cast<double>(n - std::max(i, j)); });
     }},
    {"min(i, j)",
     [](Random&, std::int64_t n) {
       return filled(n, n, [](auto i, auto j) { return static_cast<double>(std::min(i, j) + 1); });
     }},
    {"vandermonde",
     [](Random& random, std::int64_t n) {
       const double reach = random.between(0.1, 2);
       return filled(n, n, [=](auto i, auto j) {
         return std::pow(reach * static_cast<double>(i + 1) / static_cast<double>(n), static_cast<double>(j));
       });
     }},
};

/// Returns a rank-deficient matrix: exactly if the elements are integers, else to rounding.
Dense low_rank(Random& random, std::int64_t n) {
  const std::int64_t rank = random.integer(0, std::max<std::int64_t>(0, n - 1));
  const bool integers = random.chance(0.5);
  const auto element = [&](auto, auto) {
    return integers ? static_cast<double>(random.integer(-2, 2)) : random.between(-1, 1);
  };
  if (rank == 0) return filled(n, n, [](auto, auto) { return 0; });
  const Dense left = filled(n, rank, element);
  return times(left, filled(rank, n, element));
}

/// Scales or clears rows and columns, or repeats a row exactly or nearly. @return a description of the change
std::string make_worse(Random& random, Dense& a, bool symmetric) {
  const std::int64_t n = a.rows;
  const std::int64_t kind = random.integer(0, 7);
  // In two steps, because row * col may underflow although the scaled element does not.
  const auto scale = [&](std::int64_t i, std::int64_t j, double row, double col) {
    a(i, j) *= row;
    a(i, j) *= col;
  };
  if (kind <= 2) {
    const double decades =
        random.between(0, kind == 0 ? 10 : 290);  // between the largest and smallest factor
    std::vector<double> rows(static_cast<std::size_t>(n)), cols(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const double fraction = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
      rows[static_cast<std::size_t>(i)] = power_of_ten(-decades * (kind == 1 ? fraction : random.unit()) / 2);
      cols[static_cast<std::size_t>(i)] =
          symmetric ? rows[static_cast<std::size_t>(i)] : power_of_ten(-decades * random.unit() / 2);
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        scale(i, j, rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]);
      }
    }
    return kind == 1 ? ", graded" : ", scaled at random";
  }
  const std::int64_t line = random.integer(0, n - 1), other = random.integer(0, n - 1);
  if (kind == 3) {
    for (std::int64_t k = 0; k < n; ++k) a(line, k) = a(k, line) = 0;
    return ", a row and column of zeros";
  }
  if (kind == 4 && line != other) {
    const double distance = random.chance(0.5) ? 0 : power_of_ten(-random.between(3, 20));
    for (std::int64_t j = 0; j < n; ++j) a(line, j) = a(other, j) * (1 + distance * random.between(-1, 1));
    if (symmetric) {
      for (std::int64_t k = 0; k < n; ++k) a(k, line) = a(line, k);
    }
    return ", two rows alike";
  }
  if (kind == 5) {
    const double factor = power_of_ten(random.between(-150, 0));
    for (std::int64_t k = 0; k < n; ++k) a(line, k) *= factor;
    if (symmetric) {
      for (std::int64_t k = 0; k < n; ++k) a(k, line) = a(line, k);
    }
    return ", a tiny row";
  }
  return "";
}

struct DescribedMatrix {
  Dense a;
  std::string description;
};

DescribedMatrix draw_square(Random& random, std::int64_t n, bool spd) {
  DescribedMatrix matrix;
  const double which = random.unit();
  if (which < 0.1) {
    matrix = {low_rank(random, n), "low rank"};
  } else if (which < 0.55) {
    const Family& family = named_families[random.integer(0, std::size(named_families) - 1)];
    matrix = {family.make(random, n), family.name};
  } else {
    const Family& family = random_families[random.integer(0, std::size(random_families) - 1)];
    matrix = {family.make(random, n), family.name};
  }
  if (spd) {
    const bool gram = random.chance(0.6);
    matrix.description += gram ? ", A A^T" : ", its symmetric part";
    matrix.a = gram ? times(matrix.a, transposed(matrix.a)) : matrix.a;
    if (gram && random.chance(0.5)) {
      for (std::int64_t i = 0; i < n; ++i) matrix.a(i, i) += 1;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i)
        matrix.a(i, j) = matrix.a(j, i) = matrix.a(i, j) / 2 + matrix.a(j, i) / 2;
    }
  }
  matrix.description += make_worse(random, matrix.a, spd);
  return matrix;
}

template <class T>
double decimal_exponent(T value) {
  return std::log10(static_cast<double>(value));
}

/// Converts to T, after scaling that gives the largest element a random decimal exponent of T.
template <class T>
HostMatrix<T> at_random_scale(Random& random, const Dense& a, double shift, std::string& description) {
  double largest = 0;
  for (const double value : a.data) largest = std::max(largest, std::fabs(value));
  double exponent = 0;
  const double highest = std::min(300.0, decimal_exponent(std::numeric_limits<T>::max()) - 0.3);
  const double lowest = std::max(-300.0, decimal_exponent(std::numeric_limits<T>::denorm_min()) + 1);
  const double which = random.unit();
  if (which < 0.5) {
    exponent = random.between(lowest, highest);
  } else if (which < 0.6) {
    exponent = decimal_exponent(std::numeric_limits<T>::max()) - random.between(0.001, 1);
  } else if (which < 0.65) {
    exponent = decimal_exponent(std::numeric_limits<T>::min()) - random.between(-1, 6);
  }
  exponent = std::min(exponent + shift, decimal_exponent(std::numeric_limits<T>::max()) - 0.001);
  HostMatrix<T> scaled(a.rows, a.cols);
  for (std::size_t k = 0; k < a.data.size(); ++k) {
    const double unit = largest > 0 ? a.data[k] / largest : 0;
    // In two steps, because 10^exponent may be subnormal although the elements are not.
    scaled.data[k] =
        static_cast<T>(unit * power_of_ten(exponent / 2) * power_of_ten(exponent - exponent / 2));
  }
  description += " (largest 1e" + std::to_string(static_cast<int>(std::floor(exponent))) + ")";
  return scaled;
}

template <class T>
void draw_right_hand_side(Random& random, Inputs<T>& inputs, std::string& description) {
  const Shape& s = inputs.shape;
  const std::int64_t kind = random.integer(0, 4);
  if (kind <= 2) {
    inputs.x_true = generate_solution<T>(s.n, s.nrhs, random.next() >> 12);
    try {
      inputs.b = right_hand_side<T>(inputs.a, inputs.x_true, 1);
      const auto finite = [](T value) { return std::isfinite(value); };
      if (std::all_of(inputs.b.data.begin(), inputs.b.data.end(), finite)) return;
    } catch (const std::exception&) {
      // T cannot hold A x_true. Another right-hand side is drawn below.
    }
    inputs.x_true = {};
  }
  if (kind == 3) {
    inputs.b = HostMatrix<T>(s.n, s.nrhs);
    description += ", b = 0";
    return;
  }
  description += ", b";
  inputs.b = at_random_scale<T>(
      random, filled(s.n, s.nrhs, [&](auto, auto) { return random.between(-1, 1); }), 0, description);
}

}  // namespace

Shape draw_shape(Random& random, const Method& method) {
  const std::int64_t n = random.chance(0.5) ? random.size(1, 100) : random.integer(1, 100);
  const Uplo uplo = random.chance(0.5) ? Uplo::lower : Uplo::upper;
  if (method.problem == Problem::named("gemm")) {
    return {random.size(1, 100), n, random.chance(0.1) ? random.size(1, 3000) : random.size(1, 100), 1, uplo};
  }
  const bool solves = method.problem->second == SecondOperand::right_hand_sides;
  const std::int64_t nrhs =
      solves && random.chance(0.3) ? random.integer(1, std::min<std::int64_t>(4, method.max_nrhs)) : 1;
  return {n, n, n, nrhs, uplo};
}

Parameters draw_parameters(Random& random, const Method& method, const Shape& shape) {
  Parameters parameters;
  for (const Parameter& parameter : method.parameters) {
    if (parameter.name == "gpus") {
      parameters.set(parameter.name, parameter.default_value);  // the runs here have one device
    } else if (!parameter.choices.empty()) {
      parameters.set(parameter.name, parameter.choices[static_cast<std::size_t>(random.integer(
                                         0, static_cast<std::int64_t>(parameter.choices.size()) - 1))]);
    } else if (std::holds_alternative<double>(parameter.default_value)) {
      const double value = random.chance(0.6) ? std::get<double>(parameter.default_value)
                                              : power_of_ten(random.between(-20, 0));
      parameters.set(parameter.name, std::clamp(value, parameter.low, parameter.high));
    } else {
      // Limits on iterations and blocks, which dominate the time: an emulated sweep of order 100 takes 10 ms.
      const auto low = static_cast<std::int64_t>(parameter.low);
      const bool iterations = parameter.name == "max_iterations";
      const std::int64_t limit =
          iterations ? std::max<std::int64_t>(3, 20000 / (shape.n * shape.n)) : std::int64_t{64};
      const auto high = std::min(static_cast<std::int64_t>(parameter.high), std::max(low, limit));
      parameters.set(parameter.name,
                     random.size(std::max<std::int64_t>(low, 1), std::max<std::int64_t>(high, 1)));
      if (!iterations && random.chance(0.3)) parameters.set(parameter.name, parameter.default_value);
    }
  }
  return parameters;
}

template <class T>
Drawn<T> draw_inputs(Random& random, const Method& method, const Shape& shape) {
  Drawn<T> drawn;
  drawn.inputs.shape = shape;
  if (method.problem == Problem::named("gemm")) {
    const std::int64_t order = std::max({shape.m, shape.n, shape.k});
    // Rectangles are cut from squares. If k is large, that takes long; then the elements are random or
    // constant.
    const auto rectangle = [&](std::int64_t rows, std::int64_t cols) {
      if (order > 128) {
        const bool constant = random.chance(0.5);
        const double value = random.unit();
        drawn.description += constant ? "constant" : "uniform";
        return filled(rows, cols, [&](auto, auto) { return constant ? value : random.between(-1, 1); });
      }
      const DescribedMatrix matrix = draw_square(random, std::max(rows, cols), false);
      drawn.description += matrix.description;
      return filled(rows, cols, [&](auto i, auto j) { return matrix.a(i, j); });
    };
    const Dense a = rectangle(shape.m, shape.k);
    drawn.inputs.a = at_random_scale<T>(random, a, 0, drawn.description);
    drawn.description += " times ";
    const Dense b = rectangle(shape.k, shape.n);
    drawn.inputs.b = at_random_scale<T>(random, b, 0, drawn.description);
    return drawn;
  }
  const bool spd = method.problem == Problem::named("potrf") || method.problem == Problem::named("posv") ||
                   method.problem == Problem::named("poinv");
  DescribedMatrix matrix = draw_square(random, shape.n, spd);
  const bool triangle = method.problem == Problem::named("trsv") || method.problem == Problem::named("trtri");
  if (triangle && random.chance(0.5)) {
    // Without a large diagonal nearly every solution of a triangular system overflows.
    for (std::int64_t i = 0; i < shape.n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < shape.n; ++j) sum += std::fabs(matrix.a(i, j));
      matrix.a(i, i) = sum;
    }
    matrix.description += ", heavy diagonal";
  }
  drawn.description = matrix.description;
  drawn.inputs.a = at_random_scale<T>(random, matrix.a, 0, drawn.description);
  if (triangle) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      for (std::int64_t i = 0; i < shape.n; ++i) {
        if (shape.uplo == Uplo::lower ? i < j : i > j) drawn.inputs.a(i, j) = 0;
      }
    }
  }
  if (method.problem->second == SecondOperand::right_hand_sides) {
    draw_right_hand_side(random, drawn.inputs, drawn.description);
  }
  return drawn;
}

template <class T>
std::string damage(Random& random, Answer<T>& answer) {
  auto& data = answer.x.data;
  const auto index = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(data.size()) - 1));
  const std::string where = " at " + std::to_string(index);
  // Any size up to 1; half of the errors are ten to a thousand roundoffs, which gives ratios around the
  // tolerance.
  const int bits = std::numeric_limits<T>::digits;
  const int below_one =
      static_cast<int>(random.chance(0.5) ? random.integer(bits - 14, bits) : random.integer(0, 56));
  const double relative = std::ldexp(random.between(-1, 1), -below_one);
  switch (random.integer(0, 11)) {
    case 0:
      for (T& value : data) value = static_cast<T>(value * (1 + relative));
      return "all scaled by 1 + 2^-" + std::to_string(below_one);
    case 1:
    case 2:
      for (T& value : data) value = static_cast<T>(value * (1 + relative * random.between(-1, 1)));
      return "all perturbed by 2^-" + std::to_string(below_one);
    case 3:
    case 4:
      data[index] = static_cast<T>(data[index] * (1 + relative));
      return "one perturbed" + where;
    case 5:
      data[index] = 0;
      return "one zero" + where;
    case 6:
      std::fill(data.begin(), data.end(), T(0));
      return "all zero";
    case 7:
      data[index] =
          random.chance(0.5) ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      return "NaN or Inf" + where;
    case 8: {
      const int exponent = static_cast<int>(random.integer(-60, 60));
      for (T& value : data) value = static_cast<T>(std::ldexp(value, exponent));
      return "all times 2^" + std::to_string(exponent);
    }
    case 9:
      if (answer.pivots.empty()) {
        std::swap(data[index], data[data.size() - 1 - index]);
        return "two exchanged" + where;
      } else {
        const auto n = static_cast<std::int64_t>(answer.pivots.size());
        answer.pivots[static_cast<std::size_t>(random.integer(0, n - 1))] =
            static_cast<int>(random.integer(-1, n));
        return "a pivot changed";
      }
    case 10:
      answer.info = random.integer(1, answer.x.rows);
      return "info " + std::to_string(answer.info);
    default:
      data[index] = static_cast<T>(random.between(-1, 1) * power_of_ten(random.between(-30, 30)));
      return "one at random" + where;
  }
}

template Drawn<float> draw_inputs(Random&, const Method&, const Shape&);
template Drawn<double> draw_inputs(Random&, const Method&, const Shape&);
template std::string damage(Random&, Answer<float>&);
template std::string damage(Random&, Answer<double>&);

}  // namespace gaussweep::verdicts
