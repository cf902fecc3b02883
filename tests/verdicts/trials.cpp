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

struct Family {
  const char* name;
  Dense (*make)(Random& random, std::int64_t n);
};

/// Families without structure.
constexpr Family noisy[] = {
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

/// Named matrices.
constexpr Family named[] = {
    {"zeros", [](Random&, std::int64_t n) { return filled(n, n, [](auto, auto) { return 0; }); }},
    {"constant",
     [](Random& random, std::int64_t n) {
       const double value = random.chance(0.5) ? 0.1 : random.unit();
       return filled(n, n, [=](auto, auto) { return value; });
     }},
    {"identity", [](Random&, std::int64_t n) { return filled(n, n, [](auto i, auto j) { return i == j; }); }},
    {"exchange",
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
    {"growth",
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
  const bool whole = random.chance(0.5);
  const auto element = [&](auto, auto) {
    return whole ? static_cast<double>(random.integer(-2, 2)) : random.between(-1, 1);
  };
  if (rank == 0) return filled(n, n, [](auto, auto) { return 0; });
  const Dense left = filled(n, rank, element);
  return times(left, filled(rank, n, element));
}

/// Makes any matrix worse: scales or clears rows and columns, or repeats a row exactly or nearly.
std::string worsen(Random& random, Dense& a, bool symmetric) {
  const std::int64_t n = a.rows;
  const std::int64_t way = random.integer(0, 7);
  const auto scaled = [&](std::int64_t i, std::int64_t j, double row, double col) {
    a(i, j) *= row;
    a(i, j) *= col;
  };
  if (way <= 2) {
    const double reach = random.between(0, way == 0 ? 10 : 290);
    std::vector<double> rows(static_cast<std::size_t>(n)), cols(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
      rows[static_cast<std::size_t>(i)] = power_of_ten(-reach * (way == 1 ? share : random.unit()) / 2);
      cols[static_cast<std::size_t>(i)] =
          symmetric ? rows[static_cast<std::size_t>(i)] : power_of_ten(-reach * random.unit() / 2);
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        scaled(i, j, rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]);
      }
    }
    return way == 1 ? ", graded" : ", scaled at random";
  }
  const std::int64_t line = random.integer(0, n - 1), other = random.integer(0, n - 1);
  if (way == 3) {
    for (std::int64_t k = 0; k < n; ++k) a(line, k) = a(k, line) = 0;
    return ", a row and column of zeros";
  }
  if (way == 4 && line != other) {
    const double apart = random.chance(0.5) ? 0 : power_of_ten(-random.between(3, 20));
    for (std::int64_t j = 0; j < n; ++j) a(line, j) = a(other, j) * (1 + apart * random.between(-1, 1));
    if (symmetric) {
      for (std::int64_t k = 0; k < n; ++k) a(k, line) = a(line, k);
    }
    return ", two rows alike";
  }
  if (way == 5) {
    const double factor = power_of_ten(random.between(-150, 0));
    for (std::int64_t k = 0; k < n; ++k) a(line, k) *= factor;
    if (symmetric) {
      for (std::int64_t k = 0; k < n; ++k) a(k, line) = a(line, k);
    }
    return ", a tiny row";
  }
  return "";
}

struct Raw {
  Dense a;
  std::string words;
};

Raw draw_square(Random& random, std::int64_t n, bool spd) {
  Raw raw;
  const double which = random.unit();
  if (which < 0.1) {
    raw = {low_rank(random, n), "low rank"};
  } else if (which < 0.55) {
    const Family& family = named[random.integer(0, std::size(named) - 1)];
    raw = {family.make(random, n), family.name};
  } else {
    const Family& family = noisy[random.integer(0, std::size(noisy) - 1)];
    raw = {family.make(random, n), family.name};
  }
  if (spd) {
    const bool gram = random.chance(0.6);
    raw.words += gram ? ", A A^T" : ", its symmetric part";
    raw.a = gram ? times(raw.a, transposed(raw.a)) : raw.a;
    if (gram && random.chance(0.5)) {
      for (std::int64_t i = 0; i < n; ++i) raw.a(i, i) += 1;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) raw.a(i, j) = raw.a(j, i) = raw.a(i, j) / 2 + raw.a(j, i) / 2;
    }
  }
  raw.words += worsen(random, raw.a, spd);
  return raw;
}

template <class T>
double decimal_exponent(T value) {
  return std::log10(static_cast<double>(value));
}

/// Converts to T, with the largest element at a random exponent of T.
template <class T>
HostMatrix<T> at_any_scale(Random& random, const Dense& a, double shift, std::string& words) {
  double largest = 0;
  for (const double value : a.data) largest = std::max(largest, std::fabs(value));
  double exponent = 0;
  const double most = std::min(300.0, decimal_exponent(std::numeric_limits<T>::max()) - 0.3);
  const double least = std::max(-300.0, decimal_exponent(std::numeric_limits<T>::denorm_min()) + 1);
  const double which = random.unit();
  if (which < 0.5) {
    exponent = random.between(least, most);
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
  words += " (largest 1e" + std::to_string(static_cast<int>(std::floor(exponent))) + ")";
  return scaled;
}

template <class T>
void draw_right_hand_side(Random& random, Inputs<T>& inputs, std::string& words) {
  const Shape& s = inputs.shape;
  const std::int64_t way = random.integer(0, 4);
  if (way <= 2) {
    inputs.x_true = generate_solution<T>(s.n, s.nrhs, random.next() >> 12);
    try {
      inputs.b = right_hand_side<T>(inputs.a, inputs.x_true, 1);
      const auto finite = [](T value) { return std::isfinite(value); };
      if (std::all_of(inputs.b.data.begin(), inputs.b.data.end(), finite)) return;
    } catch (const std::exception&) {
      // T cannot hold this right-hand side; another one is drawn below.
    }
    inputs.x_true = {};
  }
  if (way == 3) {
    inputs.b = HostMatrix<T>(s.n, s.nrhs);
    words += ", b = 0";
    return;
  }
  words += ", b";
  inputs.b = at_any_scale<T>(random, filled(s.n, s.nrhs, [&](auto, auto) { return random.between(-1, 1); }),
                             0, words);
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
      // Iterations and blocks dominate the time: emulated sweeps of order 100 take ten milliseconds each.
      const auto low = static_cast<std::int64_t>(parameter.low);
      const bool iterations = parameter.name == "max_iterations";
      const std::int64_t most =
          iterations ? std::max<std::int64_t>(3, 20000 / (shape.n * shape.n)) : std::int64_t{64};
      const auto high = std::min(static_cast<std::int64_t>(parameter.high), std::max(low, most));
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
    // A rectangle cut from a square takes long if k is large; such rectangles are noise or constant.
    const auto rectangle = [&](std::int64_t rows, std::int64_t cols) {
      if (order > 128) {
        const bool constant = random.chance(0.5);
        const double value = random.unit();
        drawn.words += constant ? "constant" : "uniform";
        return filled(rows, cols, [&](auto, auto) { return constant ? value : random.between(-1, 1); });
      }
      const Raw raw = draw_square(random, std::max(rows, cols), false);
      drawn.words += raw.words;
      return filled(rows, cols, [&](auto i, auto j) { return raw.a(i, j); });
    };
    const Dense a = rectangle(shape.m, shape.k);
    drawn.inputs.a = at_any_scale<T>(random, a, 0, drawn.words);
    drawn.words += " times ";
    const Dense b = rectangle(shape.k, shape.n);
    drawn.inputs.b = at_any_scale<T>(random, b, 0, drawn.words);
    return drawn;
  }
  const bool spd = method.problem == Problem::named("potrf") || method.problem == Problem::named("posv") ||
                   method.problem == Problem::named("poinv");
  Raw raw = draw_square(random, shape.n, spd);
  const bool triangle = method.problem == Problem::named("trsv") || method.problem == Problem::named("trtri");
  if (triangle && random.chance(0.5)) {
    // Without a weight on the diagonal nearly every triangular answer overflows.
    for (std::int64_t i = 0; i < shape.n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < shape.n; ++j) sum += std::fabs(raw.a(i, j));
      raw.a(i, i) = sum;
    }
    raw.words += ", heavy diagonal";
  }
  drawn.words = raw.words;
  drawn.inputs.a = at_any_scale<T>(random, raw.a, 0, drawn.words);
  if (triangle) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      for (std::int64_t i = 0; i < shape.n; ++i) {
        if (shape.uplo == Uplo::lower ? i < j : i > j) drawn.inputs.a(i, j) = 0;
      }
    }
  }
  if (method.problem->second == SecondOperand::right_hand_sides) {
    draw_right_hand_side(random, drawn.inputs, drawn.words);
  }
  return drawn;
}

template <class T>
std::string damage(Random& random, Answer<T>& answer) {
  auto& data = answer.x.data;
  const auto place = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(data.size()) - 1));
  const std::string where = " at " + std::to_string(place);
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
      data[place] = static_cast<T>(data[place] * (1 + relative));
      return "one perturbed" + where;
    case 5:
      data[place] = 0;
      return "one zero" + where;
    case 6:
      std::fill(data.begin(), data.end(), T(0));
      return "all zero";
    case 7:
      data[place] =
          random.chance(0.5) ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      return "NaN or Inf" + where;
    case 8: {
      const int by = static_cast<int>(random.integer(-60, 60));
      for (T& value : data) value = static_cast<T>(std::ldexp(value, by));
      return "all times 2^" + std::to_string(by);
    }
    case 9:
      if (answer.pivots.empty()) {
        std::swap(data[place], data[data.size() - 1 - place]);
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
      data[place] = static_cast<T>(random.between(-1, 1) * power_of_ten(random.between(-30, 30)));
      return "one at random" + where;
  }
}

template Drawn<float> draw_inputs(Random&, const Method&, const Shape&);
template Drawn<double> draw_inputs(Random&, const Method&, const Shape&);
template std::string damage(Random&, Answer<float>&);
template std::string damage(Random&, Answer<double>&);

}  // namespace gaussweep::verdicts
