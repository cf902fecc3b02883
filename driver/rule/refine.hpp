#pragma once
/// Implements `run --refine`: adds orders n near each crossover of two methods, until the crossover is known
/// to 3 %. At a crossover, the fastest method changes.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/expand.hpp"
#include "driver/plan/planned_trials.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// A crossover counts as known if the two orders around it differ by at most this factor (3 %).
inline constexpr double known_crossover = 1.03;

/// Two neighbouring orders at which different methods are the fastest.
struct Bracket {
  std::int64_t low = 0, high = 0;
  std::string low_key, high_key;  ///< keys of trials of the fastest method at `low` and at `high`
  /// Orders that narrow the bracket; empty if the crossover is known or the methods tie.
  std::vector<std::int64_t> next;
  bool is_known() const {
    return static_cast<double>(high) <= known_crossover * static_cast<double>(low) || high - low < 2;
  }
};

/// Returns the brackets of all series. A series has the records that differ only in the order and the method.
/// A bracket needs correct answers of both methods at both orders.
std::vector<Bracket> brackets_of(const io::Results& results);

/// Makes the plans of a refined sweep. A plan's text ends with a comment per added trial, "# refined KEY N".
/// KEY is the key (Trial::key) of a trial of the user's plan, N the new order. A resumed sweep reads the
/// added trials from these comments, which are in plan.yaml and in the journal.
class Refinement {
 public:
  /// @param plan the user's plan, or a plan with such comments @param path the path of its file
  Refinement(io::Plan plan, std::string path, const Registry& registry);
  /// Adds the trials that the comments of `text` list. `text` is a later version of this sweep's plan.
  void restore(const std::string& text);
  /// Returns the plan with an entry for each added trial.
  /// @param backend, devices the backend and the devices that the sweep runs on
  io::Plan plan(Backend backend, const std::vector<io::DeviceRow>& devices);
  /// Adds the trials that narrow the brackets, and returns the plan; nothing if there are no such trials.
  /// Orders are not refined if they vary together with another axis (in a zip), or if the operands of a
  /// product are not square.
  /// @pre the results are complete: every trial of the last plan has a record
  std::optional<io::Plan> next(const io::Results& results, Backend backend);

 private:
  /// A trial of the plan, and the indices of the plan's entry and of its matrix that make the trial.
  struct EntryTrial {
    std::size_t entry = 0, matrix = 0;
    Trial trial;
  };
  /// The key of a trial of the plan, and a new order.
  using Addition = std::pair<std::string, std::int64_t>;
  void index(Backend backend, const std::vector<io::DeviceRow>& devices);
  io::Entry entry_for(const EntryTrial& made, std::int64_t n) const;
  std::vector<Trial> trials_of(io::Entry entry, Backend backend);
  io::Plan plan_;
  std::string path_;
  MatrixFileCache files_;
  const Registry& registry_;
  std::map<std::string, EntryTrial> own_trials_;    ///< the plan's own trials, by key
  std::map<std::string, std::string> planned_key_;  ///< key of an added trial → key of the plan's trial
  std::vector<Addition> additions_;                 ///< in the order in which they were added
  std::set<Addition> known_additions_;              ///< the same additions, for fast look-up
  std::size_t planned_ = 0;  ///< number of additions in the last plan that was returned
};

}  // namespace gaussweep::driver
