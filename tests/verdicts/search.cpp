/// Searches for matrices on which a method loses digits that LAPACK keeps. Each start draws a method, sizes
/// and a structure; those that look bad are made worse by changing elements.
///
///   search [--starts N] [--seed S] [--climb N] [--method PROBLEM/VARIANT]   runs for minutes, by hand
///   search --replay FILE                                      replays the worst cases so far, in seconds
///
/// A loss is a ratio above max(1, 3 x LAPACK's). Exit codes: 0 none, 1 losses, 2 usage.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "kernels/device/context.hpp"
#include "tests/verdicts/cases.hpp"

namespace gaussweep::verdicts {
namespace {

/// Returns true for methods that are meant to replace the vendor's. Other methods have known losses, which
/// are documented in their papers.
bool is_searched(const Method& method) {
  constexpr const char* variants[] = {"recursive", "residues",        "halves",
                                      "batched",   "inverted_blocks", "levels"};
  const bool named = std::any_of(std::begin(variants), std::end(variants),
                                 [&](const char* variant) { return method.variant == variant; });
  return named && (method.runs_on(Backend::emulated) || method.runs_on(Backend::host));
}

/// Draws an order near a block size, mostly a small one. One in 30 is above 100, where inverses are joined.
std::int64_t draw_order(Random& random) {
  constexpr std::int64_t blocks[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 130, 200};
  const std::int64_t block = blocks[std::min(random.integer(0, 10), random.integer(0, 10))];
  return std::max<std::int64_t>(1, block + random.integer(-1, 1));
}

Case draw_case(Random& random, const std::vector<const Method*>& methods) {
  const auto last = [](const auto& of) { return static_cast<std::int64_t>(of.size()) - 1; };
  const Method& method = *methods[static_cast<std::size_t>(random.integer(0, last(methods)))];
  Case one;
  one.method = method.id();
  one.single = method.has(Precision::float32) && (random.chance(0.5) || !method.has(Precision::float64));
  one.n = draw_order(random);
  if (method.problem->second == SecondOperand::right_hand_sides && random.chance(0.4))
    one.nrhs = std::min(method.max_nrhs, random.integer(2, 5));
  one.uplo = random.chance(0.5) ? Uplo::lower : Uplo::upper;
  const bool definite = std::count(method.needs.begin(), method.needs.end(), Need::spd) > 0;
  const Structure* structure = nullptr;
  do {
    structure = &structures()[static_cast<std::size_t>(random.integer(0, last(structures())))];
  } while (definite && !structure->definite);
  one.structure = structure->name;
  one.seed = random.next() >> 40;
  for (const Parameter& parameter : method.parameters) {
    if (parameter.name == "moduli") one.with["moduli"] = std::to_string(random.integer(14, 20));
    if (parameter.name == "least_inner") one.with["least_inner"] = "1";
  }
  return one;
}

class Search {
 public:
  Loss run(const Case& one) {
    Loss loss;
    try {
      loss = runner_.run(one);
    } catch (const std::invalid_argument& wrong) {
      loss.words = wrong.what();
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
  const Registry& registry() const { return runner_.registry(); }
  Runner& runner() { return runner_; }

 private:
  Runner runner_;
  std::map<std::string, std::pair<double, std::string>> worst_;
};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(
      stderr,
      "search: {}; allowed: --starts N, --seed S, --climb N, --method PROBLEM/VARIANT, or --replay FILE\n",
      why);
  std::exit(2);
}

std::uint64_t number(const std::string& option, const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  if (std::from_chars(text, end, value).ptr != end || text == end) usage(option + " needs a number");
  return value;
}

int replay(const std::string& path) {
  std::ifstream file(path);
  if (!file) usage(path + " cannot be read");
  Runner runner;
  int lost = 0, cases = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      const Loss loss = runner.run(parse_case(line));
      ++cases;
      const bool is_lost = loss.score > 1;
      // A case that neither method could run counts as lost, because it tests nothing.
      const bool is_void = loss.score == 0 && loss.of_lapack == 0 && !loss.words.empty();
      lost += is_lost || is_void;
      if (is_lost || loss.of_lapack > 30 || loss.score == 0)
        fmt::print("{}: ratio {:.3g}, LAPACK {:.2g}{}{}: {}\n", is_lost ? "lost" : "kept", loss.ratio,
                   loss.of_lapack, loss.words.empty() ? "" : ", ", loss.words, line);
    } catch (const std::invalid_argument& wrong) {
      usage(fmt::format("{}:{}: {}", path, number, wrong.what()));
    }
  }
  fmt::print("{} cases, {} lost\n", cases, lost);
  return lost > 0 ? 1 : 0;
}

int run(int argc, char** argv) {
  std::uint64_t starts = 1000, seed = 1, climb = 20;
  std::string only;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage("'" + option + "' needs a value");
    if (option == "--replay") return replay(argv[i + 1]);
    if (option == "--starts") {
      starts = number(option, argv[i + 1]);
    } else if (option == "--seed") {
      seed = number(option, argv[i + 1]);
    } else if (option == "--climb") {
      climb = number(option, argv[i + 1]);
    } else if (option == "--method") {
      only = argv[i + 1];
    } else {
      usage("unknown option '" + option + "'");
    }
  }
  Search search;
  std::vector<const Method*> methods;
  for (const Method& method : search.registry().all()) {
    if (only.empty() ? is_searched(method) : method.id() == only) methods.push_back(&method);
  }
  if (methods.empty()) usage("no method '" + only + "'");
  constexpr double worth_climbing = 0.05;
  for (std::uint64_t start = 0; start < starts; ++start) {
    Random random(seed, start);
    Case one = draw_case(random, methods);
    Loss loss = search.run(one);
    if (loss.score > worth_climbing && loss.score <= 1) one = search.climbed(one, loss, random, climb);
    if (loss.score > 1) {
      fmt::print("lost: ratio {:.3g}, LAPACK {:.2g}{}{}: {}\n", loss.ratio, loss.of_lapack,
                 loss.words.empty() ? "" : ", ", loss.words, line_of(one));
      std::fflush(stdout);
    }
  }
  fmt::print("{} starts; the worst score of each method:\n", starts);
  return search.report();
}

}  // namespace
}  // namespace gaussweep::verdicts

int main(int argc, char** argv) {
  return gaussweep::verdicts::run(argc, argv);
}
