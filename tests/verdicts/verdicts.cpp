/// Verifies answers of random trials over hard matrices twice: by the program (kernels/check, driver/judge),
/// and by a recomputation with exact sums and 120 digits that shares no code with it. Prints where the two
/// differ.
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

/// The allowed relative error of the program's ratio.
constexpr double ratio_tolerance = 1e-3;
/// If the exact ratio is at most this number, the program's ratio must also be at most this number, but need
/// not agree further.
constexpr double small_ratio = 1e-5;
/// The number of differences that are printed per kind.
constexpr int max_shown = 12;

/// Counts over all trials, for the report at the end.
struct Figures {
  std::int64_t trials = 0;
  std::int64_t refused = 0;   ///< trials that the method does not accept
  std::int64_t damaged = 0;   ///< trials whose answer was changed before it was verified
  std::int64_t compared = 0;  ///< ratios
  double largest_error = 0;   ///< the largest relative error of a ratio within the tolerance
  std::string largest_error_trial;
  /// Answers that pass only because the smallest normal number is added to a norm in the ratio's scale.
  std::int64_t passes_by_smallest_normal = 0;
  std::map<std::string, std::int64_t> statuses;
  std::map<std::string, std::int64_t> differences;
};

/// The program's verdict on an answer.
struct Verdict {
  double ratio;
  std::string status, message;
};

/// Verifies an answer as the program does.
template <class T>
Verdict verdict_of(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                   Convergence convergence) {
  const Findings found = check(method, inputs, answer);
  const driver::Evidence evidence{method.problem, found.ratio, default_tolerance(method.problem),
                                  answer.info,    convergence, found.flaw};
  return {found.ratio, name_of(driver::judge(evidence)), driver::finding_text(evidence)};
}

/// Runs random trials, and counts the differences between the two verdicts.
class Trials {
 public:
  Trials(std::uint64_t seed, bool verbose) : seed_(seed), verbose_(verbose) {
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
      report_difference("exception", error.what());
    }
  }

  const Figures& figures() const { return figures_; }

 private:
  struct Row {
    const Method* method;
    Backend backend;
  };

  void report_difference(const std::string& kind, const std::string& text) {
    if (++figures_.differences[kind] <= max_shown || verbose_) fmt::print("{}: {}: {}\n", kind, name_, text);
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
    name_ += testing_help::describe(method, row.backend, shape, parameters, drawn.description,
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
    const Verdict verdict = verdict_of(method, inputs, answer, convergence);
    const Truth truth = recompute(method, inputs, answer);
    const double tolerance = default_tolerance(method.problem);
    const std::vector<std::string> correct =
        right_statuses(method, truth, tolerance, answer.info, convergence);
    ++figures_.statuses[verdict.status];
    const bool has_ratio = truth.finite && truth.defined && !truth.infinite_ratio;
    const std::string figures = fmt::format(
        "info {}, recorded {:.6g} {} ({}), exact {} {}", answer.info, verdict.ratio, verdict.status,
        verdict.message, has_ratio ? truth.ratio.str(6) : std::string("none"), fmt::join(correct, " or "));
    if (verbose_) fmt::print("{}: {}\n", name_, figures);

    if (std::find(correct.begin(), correct.end(), verdict.status) == correct.end()) {
      const bool may_pass = std::find(correct.begin(), correct.end(), "pass") != correct.end();
      report_difference(verdict.status == "pass" ? "a wrong answer passes"
                                                 : (may_pass ? "a correct answer fails" : "a wrong status"),
                        figures);
    }
    compare_ratio(verdict, truth, has_ratio, figures);
    if (has_ratio && method.problem != Problem::named("gemm") && verdict.status == "pass" &&
        truth.by_norms > tolerance) {
      ++figures_.passes_by_smallest_normal;
    }
    if (truth.finite && verdict.message.find("the answer holds NaN or Inf") != std::string::npos) {
      report_difference("a message that a finite answer holds NaN or Inf", figures);
    }
    if (answer.info > 0 && verdict.message.find(std::to_string(answer.info)) == std::string::npos) {
      report_difference("a message that does not name info", figures);
    }
  }

  void compare_ratio(const Verdict& verdict, const Truth& truth, bool has_ratio, const std::string& figures) {
    if (!has_ratio) {
      // The program's ratio is infinite if the answer holds NaN or Inf. It is the largest double if the
      // residual is not 0 but its scale is, and if pivots are no row numbers.
      const double smallest = truth.finite ? std::numeric_limits<double>::max() : HUGE_VAL;
      if (!(verdict.ratio >= smallest)) report_difference("a ratio of an answer that has none", figures);
      return;
    }
    if (truth.either_side) return;
    ++figures_.compared;
    if (truth.ratio <= small_ratio) {
      if (!(verdict.ratio <= small_ratio * (1 + ratio_tolerance)))
        report_difference("a wrong ratio", figures);
      return;
    }
    if (truth.ratio > std::numeric_limits<double>::max()) {  // beyond double
      if (!(verdict.ratio >= std::numeric_limits<double>::max())) report_difference("a wrong ratio", figures);
      return;
    }
    if (!std::isfinite(verdict.ratio)) {
      report_difference("a wrong ratio", figures);
      return;
    }
    const auto error = static_cast<double>(abs(Wide(verdict.ratio) / truth.ratio - 1));
    if (error > figures_.largest_error && error <= ratio_tolerance) {
      figures_.largest_error = error;
      figures_.largest_error_trial = name_;
    }
    if (error > ratio_tolerance) report_difference("a wrong ratio", figures);
  }

  std::uint64_t seed_;
  bool verbose_;
  Registry registry_ = builtin_registry();
  std::vector<Row> rows_;
  std::unique_ptr<Device> host_device_ = testing_help::cpu(Backend::host);
  std::unique_ptr<Device> emulated_device_ = testing_help::cpu(Backend::emulated);
  Context on_host_{*host_device_};
  Context emulated_{*emulated_device_};
  std::string name_;
  Figures figures_;
};

std::string counts(const std::map<std::string, std::int64_t>& count_of) {
  std::string text;
  for (const auto& [name, count] : count_of)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
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
  fmt::print("{} trials (seed {}; {} answers damaged, {} trials refused by their method) in {:.0f} s\n",
             f.trials, seed, f.damaged, f.refused, testing_help::clock_seconds() - start);
  fmt::print("statuses: {}\n", counts(f.statuses));
  fmt::print("ratios compared: {}; largest relative error up to 1e-3: {:.2g} ({})\n", f.compared,
             f.largest_error, f.largest_error_trial);
  fmt::print("passes only because of the smallest normal number in the scale: {}\n",
             f.passes_by_smallest_normal);
  fmt::print("differences: {}\n", counts(f.differences));
  return f.differences.empty() ? 0 : 1;
}

}  // namespace
}  // namespace gaussweep::verdicts

int main(int argc, char** argv) {
  return gaussweep::verdicts::run(argc, argv);
}
