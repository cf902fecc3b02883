// Tests `run --refine`, which adds orders near crossovers.

#include "driver/rule/refine.hpp"
#include "driver/protocol/trial_record.hpp"
#include "driver/system/origin.hpp"
#include "io/plan/plan.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* text = R"(
name: refined
repeats: 3
sweep:
  - {problem: gesv, method: [lapack, gauss_pivot_serial], n: [256, 1024, 4096], nrhs: [1, 4]}
  - {problem: getrf, method: [lapack, crout_serial], n: [256, 4096], precision: [float, double],
     exclude: [{precision: float, n: "<1000"}], matrix: {kind: diagonally_dominant}}
)";

/// Returns the time of a trial. Crossovers are known: of gesv at 700 (one right-hand side) and 2000 (four),
/// of getrf in double at 3333.
double formula_seconds(const Trial& trial) {
  const auto n = static_cast<double>(trial.shape.n);
  if (trial.method == "lapack") return 1e-6 * n * n;
  const double crossover = trial.problem->name == "getrf" ? 3333 : trial.shape.nrhs == 1 ? 700 : 2000;
  return 1e-6 * std::pow(n, 3) / crossover;
}

class RefinedSweep {
 public:
  RefinedSweep() : registry_(builtin_registry()), plan_(io::parse_plan(text, "plan", {"gesv", "getrf"})) {}
  /// Runs the trials that have no record yet, until there are `most` records. @return false if this limit was
  /// reached
  bool run(const io::Plan& plan, std::size_t most) {
    const auto no_file = [](const std::string&, const std::string&) -> FileFacts {
      throw std::logic_error("file");
    };
    std::set<std::string> known;
    for (const io::Record& r : results_.records) known.insert(r.key);
    for (const Trial& trial : expand(plan, registry_, Backend::host, 0, no_file).trials) {
      if (!known.insert(trial.key).second) continue;
      if (results_.records.size() == most) return false;
      io::Record r = blank_record(trial, registry_.find(trial.problem, trial.method), Origin{});
      const double t = formula_seconds(trial);
      r.status = "pass";
      r.seconds_median = t;
      r.seconds_q1 = 0.9999 * t;
      r.seconds_q3 = 1.0001 * t;
      results_.records.push_back(r);
    }
    return true;
  }
  /// Runs until nothing is left to refine, or until `most` records, as `run --resume --refine` does: from the
  /// records and the plan's last text.
  void refine(std::size_t most = 1000) {
    Refinement refinement(plan_, "plan", registry_);
    refinement.restore(last_text_);
    std::optional<io::Plan> next = refinement.plan(Backend::host, {});
    while (next) {
      last_text_ = next->text;
      if (!run(*next, most)) return;
      next = refinement.next(results_, Backend::host);
    }
  }
  const io::Results& results() const { return results_; }
  io::Results& results() { return results_; }
  const io::Plan& plan() const { return plan_; }
  const std::string& last_text() const { return last_text_; }

 private:
  Registry registry_;
  io::Plan plan_;
  io::Results results_;
  std::string last_text_;
};

std::set<std::string> keys_of(const io::Results& results) {
  std::set<std::string> keys;
  for (const io::Record& r : results.records) keys.insert(r.key);
  return keys;
}

TEST(Refine, FindsPlantedCrossoversWithAThirdOfAFullSweep) {
  RefinedSweep sweep;
  sweep.refine();
  const std::vector<Bracket> brackets = brackets_of(sweep.results());
  std::set<int> found;
  for (const Bracket& bracket : brackets) {
    EXPECT_TRUE(bracket.is_known()) << bracket.low << " " << bracket.high;
    for (const int crossover : {700, 2000, 3333}) {
      if (bracket.low <= crossover && crossover <= bracket.high) found.insert(crossover);
    }
  }
  EXPECT_EQ(brackets.size(), 3u);
  EXPECT_EQ(found.size(), 3u);
  // A full sweep has orders of 256 to 4096 at steps of 3 %, for three series of two methods.
  const double full = std::log(4096.0 / 256) / std::log(known_crossover) * 3 * 2;
  EXPECT_LT(static_cast<double>(sweep.results().records.size()), full / 3);
}

TEST(Refine, AStoppedSweepGoesOnWithTheSameTrials) {
  RefinedSweep whole;
  whole.refine();
  const std::size_t all = whole.results().records.size();
  for (std::size_t stop = 1; stop < all; stop += 3) {
    RefinedSweep sweep;
    sweep.refine(stop);
    ASSERT_EQ(sweep.results().records.size(), stop);
    sweep.refine();
    EXPECT_TRUE(keys_of(sweep.results()) == keys_of(whole.results())) << stop;
  }
}

TEST(Refine, APlanWithCommentsMeasuresTheSameOrders) {
  RefinedSweep first, again;
  first.refine();
  const Registry registry = builtin_registry();
  Refinement refinement(io::parse_plan(first.last_text(), "plan", {"gesv", "getrf"}), "plan", registry);
  ASSERT_TRUE(again.run(again.plan(), 1000));
  const std::optional<io::Plan> next = refinement.next(again.results(), Backend::host);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->text, first.last_text());
  ASSERT_TRUE(again.run(*next, 1000));
  EXPECT_TRUE(keys_of(again.results()) == keys_of(first.results()));
  EXPECT_FALSE(refinement.next(again.results(), Backend::host).has_value());
}

TEST(Refine, LeavesTiesAndFailuresAlone) {
  RefinedSweep sweep;
  ASSERT_TRUE(sweep.run(sweep.plan(), 1000));
  const std::size_t planned = sweep.results().records.size();
  for (io::Record& r : sweep.results().records) {
    if (r.problem == "gesv" && r.nrhs == 1) r.status = "failed";
    if (r.problem == "getrf" || r.nrhs == 4) {  // quartiles of a tenth and of ten times the median: a tie
      r.seconds_q1 = 0.1 * r.seconds_median;
      r.seconds_q3 = 10 * r.seconds_median;
    }
  }
  sweep.refine();
  EXPECT_EQ(sweep.results().records.size(), planned);
}

}  // namespace
}  // namespace gaussweep::driver
