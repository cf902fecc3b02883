/// Searches for matrices on which a method loses digits that LAPACK keeps. Each start draws a method, sizes
/// and a structure (structures.hpp). If the method's loss is above 5 % of what is allowed, random changes of
/// elements are tried, and those that increase the loss are kept.
///
///   search [OPTIONS]       runs for minutes, by hand
///     --starts N           the number of starts; default 1000
///     --seconds T          stops after this time; default: no limit
///     --seed S             default 1
///     --share I/N          takes starts I, I + N, ... (I from 0), so that N processes share the starts
///     --climb N            the number of random changes that are tried; default 20
///     --method PROBLEM/VARIANT, --structure NAME, --largest N    only these; orders up to N
///     --backend emulated|cuda    cuda: GPU 0; then methods that only run on a GPU are searched too
///     --replay FILE        runs the cases of a file, such as worst_cases.txt, and does not search
///
/// A method loses if its ratio is above max(1, 3 x LAPACK's), for potrf above max(1 + 1 / n, 3 x LAPACK's);
/// `Loss` in cases.hpp lists the exceptions. The score is the ratio divided by this limit. Losses are printed
/// when they are found, and the worst score of each method at the end, after SIGINT or SIGTERM too. Exit
/// codes: 0 none, 1 losses, 2 usage or no GPU.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>

#include "kernels/core/errors.hpp"
#include "kernels/device/context.hpp"
#include "kernels/gemm/residue_numbers.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/verdicts/cases.hpp"

namespace gaussweep::verdicts {
namespace {

/// Returns true for methods that are meant to replace the vendor's. Other methods have known losses, which
/// are documented in their papers.
bool is_searched(const Method& method) {
  constexpr const char* variants[] = {"recursive",       "residues", "halves",     "batched",
                                      "inverted_blocks", "levels",   "mixed_gmres"};
  return std::any_of(std::begin(variants), std::end(variants),
                     [&](const char* variant) { return method.variant == variant; });
}

struct Options {
  std::uint64_t starts = 1000, seconds = 0, seed = 1, climb = 20, share = 0, shares = 1, largest = 1000;
  std::string method, structure;  // empty: all
  std::string replay_path;        // empty: search
  Backend backend = Backend::emulated;
};

/// Prints the reason and the allowed options, and exits with code 2.
[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "search: {}; allowed: --starts N, --seconds T, --seed S, --share I/N, --climb N, --method "
             "PROBLEM/VARIANT, --structure NAME, --largest N, --backend emulated|cuda, --replay FILE\n",
             why);
  std::exit(2);
}

/// Draws an order near a block size, mostly a small one. One in 30 is above 100, where geinv joins two
/// inverses.
std::int64_t draw_order(Random& random) {
  constexpr std::int64_t blocks[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 130, 200};
  const std::int64_t block = blocks[std::min(random.integer(0, 10), random.integer(0, 10))];
  return std::max<std::int64_t>(1, block + random.integer(-1, 1));
}

/// Draws a method, its parameters, sizes and a structure that fits the method.
Case draw_case(Random& random, const std::vector<const Method*>& methods, const Options& options) {
  const auto last = [](const auto& list) { return static_cast<std::int64_t>(list.size()) - 1; };
  const Method& method = *methods[static_cast<std::size_t>(random.integer(0, last(methods)))];
  Case one;
  one.method = method.id();
  one.single = method.has(Precision::float32) && (random.chance(0.5) || !method.has(Precision::float64));
  do {
    one.n = draw_order(random);
  } while (static_cast<std::uint64_t>(one.n) > options.largest);
  if (method.problem->second == SecondOperand::right_hand_sides && random.chance(0.4))
    one.nrhs = std::min(method.max_nrhs, random.integer(2, 5));
  one.uplo = random.chance(0.5) ? Uplo::lower : Uplo::upper;
  const bool definite = std::count(method.needs.begin(), method.needs.end(), Need::spd) > 0;
  std::vector<const Structure*> fitting;
  for (const Structure& structure : structures()) {
    if ((!definite || structure.definite) &&
        (options.structure.empty() || options.structure == structure.name))
      fitting.push_back(&structure);
  }
  if (fitting.empty()) usage("no structure '" + options.structure + "' for " + one.method);
  one.structure = fitting[static_cast<std::size_t>(random.integer(0, last(fitting)))]->name;
  one.seed = random.next() >> 40;
  for (const Parameter& parameter : method.parameters) {
    // A product may have any number of moduli. LU has as many as its default or more.
    if (parameter.name == "moduli" && random.chance(0.9)) {
      const bool is_product = method.problem == Problem::named("gemm");
      const auto min_moduli = is_product ? static_cast<std::int64_t>(residues::min_moduli)
                                         : std::get<std::int64_t>(parameter.default_value);
      one.parameters["moduli"] = std::to_string(random.integer(min_moduli, residues::max_moduli));
    }
    if (parameter.name == "least_inner") one.parameters["least_inner"] = "1";
    if (parameter.name == "float_from" && random.chance(0.9)) one.parameters["float_from"] = "1";
    if (parameter.name == "kernel" && random.chance(0.4))
      one.parameters["kernel"] = random.chance(0.5) ? "rows" : "panels";
  }
  return one;
}

/// Runs cases, and remembers the worst one of each method.
class Search {
 public:
  explicit Search(Backend backend) : runner_(backend) {}
  Loss run(const Case& one) {
    Loss loss;
    try {
      loss = runner_.run(one);
    } catch (const std::invalid_argument& wrong) {
      loss.reason = wrong.what();
    }
    if (loss.score > worst_[one.method].first) worst_[one.method] = {loss.score, line_of(one)};
    return loss;
  }
  /// Tries `steps` random changes and keeps each one that increases the loss.
  Case climbed(Case one, Loss& loss, Random& random, std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      Case next = one;
      next.mutations.push_back(random.next() >> 44);
      const Loss found = run(next);
      if (found.score <= loss.score) continue;
      one = next;
      loss = found;
    }
    return one;
  }
  int report() const {
    bool lost = false;
    for (const auto& [method, worst] : worst_) {
      lost = lost || worst.first > 1;
      fmt::print("{:<22} {:>9.3g}  {}\n", method, worst.first, worst.second);
    }
    return lost ? 1 : 0;
  }
  const Runner& runner() const { return runner_; }

 private:
  Runner runner_;
  std::map<std::string, std::pair<double, std::string>> worst_;  // by method: score and case
};

volatile std::sig_atomic_t is_stopped = 0;

std::uint64_t number(const std::string& option, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ptr != end || text.empty()) usage(option + " needs a number");
  return value;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage("'" + option + "' needs a value");
    const std::string value = argv[i + 1];
    if (option == "--starts") {
      options.starts = number(option, value);
    } else if (option == "--seconds") {
      options.seconds = number(option, value);
    } else if (option == "--seed") {
      options.seed = number(option, value);
    } else if (option == "--climb") {
      options.climb = number(option, value);
    } else if (option == "--share") {
      const std::size_t slash = value.find('/');
      if (slash == std::string::npos) usage("--share needs I/N");
      options.share = number(option, value.substr(0, slash));
      options.shares = number(option, value.substr(slash + 1));
      if (options.share >= options.shares) usage("--share needs I/N with I < N");
    } else if (option == "--method") {
      options.method = value;
    } else if (option == "--structure") {
      options.structure = value;
    } else if (option == "--largest") {
      options.largest = number(option, value);
      if (options.largest == 0) usage("--largest must be at least 1");
    } else if (option == "--replay") {
      options.replay_path = value;
    } else if (option == "--backend") {
      const auto backend = from_string<Backend>(value);
      if (!backend || *backend == Backend::host) usage("--backend: '" + value + "' is not possible");
      options.backend = *backend;
    } else {
      usage("unknown option '" + option + "'");
    }
  }
  return options;
}

int replay(const Options& options) {
  const std::string& path = options.replay_path;
  std::ifstream file(path);
  if (!file) usage(path + " cannot be read");
  Runner runner(options.backend);
  int lost = 0, cases = 0, skipped = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      const Case one = parse_case(line);
      ++cases;
      if (!runner.can_run(runner.method_of(one))) {
        ++skipped;
        continue;
      }
      const Loss loss = runner.run(one);
      const bool is_lost = loss.score > 1;
      // A case that neither method could run counts as lost, because it tests nothing.
      const bool is_void = loss.score == 0 && loss.lapack_ratio == 0 && !loss.reason.empty();
      lost += is_lost || is_void;
      if (is_lost || loss.lapack_ratio > 30 || loss.score == 0)
        fmt::print("{}: ratio {:.3g}, LAPACK {:.2g}{}{}: {}\n", is_lost ? "lost" : "kept", loss.ratio,
                   loss.lapack_ratio, loss.reason.empty() ? "" : ", ", loss.reason, line);
    } catch (const std::invalid_argument& wrong) {
      usage(fmt::format("{}:{}: {}", path, number, wrong.what()));
    }
  }
  fmt::print("{} cases, {} lost, {} that need a GPU\n", cases, lost, skipped);
  return lost > 0 ? 1 : 0;
}

int search(const Options& options) {
  Search search(options.backend);
  std::vector<const Method*> methods;
  for (const Method& method : search.runner().registry().all()) {
    const bool is_chosen = options.method.empty() ? is_searched(method) : method.id() == options.method;
    if (is_chosen && search.runner().can_run(method)) methods.push_back(&method);
  }
  if (methods.empty()) usage(fmt::format("no method '{}' on {}", options.method, to_string(options.backend)));
  constexpr double climb_above = 0.05, report_seconds = 30;
  const double begin = testing_help::clock_seconds();
  double next_report = report_seconds;
  std::uint64_t done = 0;
  for (std::uint64_t start = options.share; start < options.starts; start += options.shares) {
    const double seconds = testing_help::clock_seconds() - begin;
    if (is_stopped != 0 || (options.seconds > 0 && seconds >= static_cast<double>(options.seconds))) break;
    if (seconds >= next_report) {
      fmt::print(stderr, "{} starts in {:.0f} s\n", done, seconds);
      next_report = seconds + report_seconds;
    }
    Random random(options.seed, start);
    Case one = draw_case(random, methods, options);
    Loss loss = search.run(one);
    if (loss.score > climb_above && loss.score <= 1) one = search.climbed(one, loss, random, options.climb);
    if (loss.score > 1) {
      fmt::print("lost: ratio {:.3g}, LAPACK {:.2g}{}{}: {}\n", loss.ratio, loss.lapack_ratio,
                 loss.reason.empty() ? "" : ", ", loss.reason, line_of(one));
      std::fflush(stdout);
    }
    ++done;
  }
  fmt::print("{} starts of seed {}, share {}/{}, in {:.0f} s; the worst score of each method:\n", done,
             options.seed, options.share, options.shares, testing_help::clock_seconds() - begin);
  return search.report();
}

int run(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { is_stopped = 1; });
  const Options options = parse_options(argc, argv);
  try {
    return options.replay_path.empty() ? search(options) : replay(options);
  } catch (const DeviceError& error) {
    fmt::print(stderr, "search: {}\n", error.what());
    return 2;
  }
}

}  // namespace
}  // namespace gaussweep::verdicts

int main(int argc, char** argv) {
  return gaussweep::verdicts::run(argc, argv);
}
