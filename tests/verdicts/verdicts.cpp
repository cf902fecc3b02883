/// Verifies random trials over hard matrices twice: by the program (kernels/check, driver/judge), and by a
/// recomputation in exact sums and 120 digits that shares no code with it. Prints where the two differ.
///   verdicts [--trials N] [--seed S] [--only TRIAL]
/// Exit codes: 0 no difference, 1 differences, 2 usage.

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <exception>
#include <map>

#include "driver/judge/judge.hpp"
#include "kernels/check/check.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/verdicts/recompute.hpp"
#include "tests/verdicts/trials.hpp"

namespace gaussweep::verdicts {
namespace {

/// The allowed relative error of a recorded ratio, and the ratio below which it must only be small too.
constexpr double ratio_tolerance = 1e-3;
constexpr double small_ratio = 1e-5;
/// The number of differences that are shown per kind.
constexpr int shown = 12;

struct Figures {
  std::int64_t trials = 0, refused = 0, damaged = 0, compared = 0;
  double largest_off = 0;
  std::string largest_off_at;
  std::int64_t by_norms_otherwise =
      0;  ///< verdicts that depend on the smallest normal number's term in the scale
  std::map<std::string, std::int64_t> statuses;
  std::map<std::string, std::int64_t> differences;
};

/// The program's verdict on an answer.
struct Said {
  double ratio;
  std::string status, message;
};

template <class T>
Said judged(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Convergence convergence) {
  const Findings found = check(method, inputs, answer);
  const driver::Evidence evidence{method.problem, found.ratio, default_tolerance(method.problem),
                                  answer.info,    convergence, found.flaw};
  return {found.ratio, word(driver::judge(evidence)), driver::finding_text(evidence)};
}

class Trials {
 public:
  Trials(std::uint64_t seed, bool talkative) : seed_(seed), talkative_(talkative) {
    for (const Method& method : registry_.all()) {
      for (const Backend backend : {Backend::host, Backend::emulated}) {
        if (method.runs_on(backend)) rows_.push_back({&method, backend});
      }
    }
  }

  void run(std::uint64_t trial) {
    Random random(seed_, trial);
    const Row row =
        rows_[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(rows_.size()) - 1))];
    const bool single = random.chance(0.5);
    name_ = fmt::format("trial {}: ", trial);
    try {
      if (single ? row.method->has(Precision::float32) : !row.method->has(Precision::float64)) {
        run_typed<float>(random, row);
      } else {
        run_typed<double>(random, row);
      }
    } catch (const std::exception& error) {
      differ("exception", error.what());
    }
  }

  const Figures& figures() const { return figures_; }

 private:
  struct Row {
    const Method* method;
    Backend backend;
  };

  void differ(const std::string& kind, const std::string& words) {
    if (++figures_.differences[kind] <= shown || talkative_) fmt::print("{}: {}: {}\n", kind, name_, words);
  }

  template <class T>
  void run_typed(Random& random, const Row& row) {
    const Method& method = *row.method;
    const Shape shape = draw_shape(random, method);
    const Parameters parameters = draw_parameters(random, method, shape);
    if (method.accepts != nullptr && !method.accepts(shape, parameters)) {
      ++figures_.refused;
      return;
    }
    const Drawn<T> drawn = draw_inputs<T>(random, method, shape);
    name_ += testing_help::describe(method, row.backend, shape, parameters, drawn.words,
                                    to_string(precision_of<T>));
    Context& context = row.backend == Backend::host ? on_host_ : emulated_;
    Answer<T> answer = testing_help::run_method(context, method, drawn.inputs, parameters);
    Convergence convergence = context.report.convergence;
    if (random.chance(0.35)) {
      ++figures_.damaged;
      name_ += "; " + damage(random, answer);
      if (random.chance(0.05)) {
        convergence = Convergence::diverged;
        name_ += ", diverged";
      }
    }
    ++figures_.trials;
    compare(method, drawn.inputs, answer, convergence);
  }

  template <class T>
  void compare(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
               Convergence convergence) {
    const Said said = judged(method, inputs, answer, convergence);
    const Truth truth = recompute(method, inputs, answer);
    const double tolerance = default_tolerance(method.problem);
    const std::vector<std::string> right = right_statuses(method, truth, tolerance, answer.info, convergence);
    ++figures_.statuses[said.status];
    const bool has_ratio = truth.finite && truth.defined && !truth.infinite_ratio;
    const std::string figures = fmt::format(
        "info {}, recorded {:.6g} {} ({}), exact {} {}", answer.info, said.ratio, said.status, said.message,
        has_ratio ? truth.ratio.str(6) : std::string("none"), fmt::join(right, " or "));
    if (talkative_) fmt::print("{}: {}\n", name_, figures);

    if (std::find(right.begin(), right.end(), said.status) == right.end()) {
      const bool may_pass = std::find(right.begin(), right.end(), "pass") != right.end();
      differ(said.status == "pass" ? "a wrong answer passes"
                                   : (may_pass ? "a right answer fails" : "another status"),
             figures);
    }
    compare_ratio(said, truth, has_ratio, figures);
    if (has_ratio && method.problem != Problem::named("gemm") && said.status == "pass" &&
        truth.by_norms > tolerance) {
      ++figures_.by_norms_otherwise;
    }
    if (truth.finite && said.message.find("the answer holds NaN or Inf") != std::string::npos) {
      differ("a finite answer said to hold NaN or Inf", figures);
    }
    if (answer.info > 0 && said.message.find(std::to_string(answer.info)) == std::string::npos) {
      differ("a zero pivot that is not said", figures);
    }
  }

  void compare_ratio(const Said& said, const Truth& truth, bool has_ratio, const std::string& figures) {
    if (!has_ratio) {
      // A nonzero residual over a scale of 0, and pivots that are no row numbers, are recorded as the largest
      // number; NaN or Inf in the answer as infinity.
      const double least = truth.finite ? std::numeric_limits<double>::max() : HUGE_VAL;
      if (!(said.ratio >= least)) differ("a ratio where there is none", figures);
      return;
    }
    if (truth.either_side) return;
    ++figures_.compared;
    if (truth.ratio <= small_ratio) {
      if (!(said.ratio <= small_ratio * (1 + ratio_tolerance))) differ("a ratio off", figures);
      return;
    }
    if (truth.ratio > std::numeric_limits<double>::max()) {  // beyond double
      if (!(said.ratio >= std::numeric_limits<double>::max())) differ("a ratio off", figures);
      return;
    }
    if (!std::isfinite(said.ratio)) {
      differ("a ratio off", figures);
      return;
    }
    const auto off = static_cast<double>(abs(Wide(said.ratio) / truth.ratio - 1));
    if (off > figures_.largest_off && off <= ratio_tolerance) {
      figures_.largest_off = off;
      figures_.largest_off_at = name_;
    }
    if (off > ratio_tolerance) differ("a ratio off", figures);
  }

  std::uint64_t seed_;
  bool talkative_;
  Registry registry_ = builtin_registry();
  std::vector<Row> rows_;
  std::unique_ptr<Device> host_device_ = testing_help::cpu(Backend::host);
  std::unique_ptr<Device> emulated_device_ = testing_help::cpu(Backend::emulated);
  Context on_host_{*host_device_};
  Context emulated_{*emulated_device_};
  std::string name_;
  Figures figures_;
};

std::string counts(const std::map<std::string, std::int64_t>& of) {
  std::string text;
  for (const auto& [name, count] : of) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "none" : text;
}

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr, "verdicts: {}; allowed: --trials N, --seed S, --only TRIAL\n", why);
  std::exit(2);
}

std::uint64_t number(const char* option, const char* text) {
  std::uint64_t value = 0;
  const char* end = text == nullptr ? nullptr : text + std::strlen(text);
  if (text == nullptr || std::from_chars(text, end, value).ptr != end || text == end) {
    usage(fmt::format("{} needs a number", option));
  }
  return value;
}

int run(int argc, char** argv) {
  std::uint64_t trials = 300, seed = 1, first = 0;
  bool only = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (option == "--trials") {
      trials = number("--trials", value);
    } else if (option == "--seed") {
      seed = number("--seed", value);
    } else if (option == "--only") {
      first = number("--only", value);
      only = true;
    } else {
      usage("unknown option '" + option + "'");
    }
  }
  test_recomputation();
  const double start = testing_help::clock_seconds();
  Trials all(seed, only);
  const std::uint64_t end = only ? first + 1 : trials;
  for (std::uint64_t trial = first; trial < end; ++trial) all.run(trial);
  const Figures& f = all.figures();
  fmt::print("{} trials (seed {}; {} answers damaged, {} points refused by their row) in {:.0f} s\n",
             f.trials, seed, f.damaged, f.refused, testing_help::clock_seconds() - start);
  fmt::print("statuses: {}\n", counts(f.statuses));
  fmt::print("ratios compared: {}; of those that agree to 1e-3 the furthest apart: {:.2g} ({})\n", f.compared,
             f.largest_off, f.largest_off_at);
  fmt::print("passes only by the smallest normal number's share of the scale: {}\n", f.by_norms_otherwise);
  fmt::print("differences: {}\n", counts(f.differences));
  return f.differences.empty() ? 0 : 1;
}

}  // namespace
}  // namespace gaussweep::verdicts

int main(int argc, char** argv) {
  return gaussweep::verdicts::run(argc, argv);
}
