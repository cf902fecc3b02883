#pragma once
/// `gaussweep run`: from the plan to the exit code.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "driver/base/errors.hpp"
#include "driver/plan/expand.hpp"
#include "driver/plan/shard.hpp"
#include "driver/sweep/queue.hpp"
#include "io/records/journal.hpp"

namespace gaussweep::driver {

struct RunOptions {
  std::string plan, output;
  std::optional<io::Plan> made_plan;  ///< in place of the file `plan`, which nobody wrote
  bool is_kept =
      true;  ///< false: the run directory goes away afterwards, so nothing hints at going on with it
  bool resume = false, retry_failed = false, dry_run = false;
  std::string backend = "auto";
  /// The reason why the sweep must not begin; empty if there is none. Only rank 0's value is used.
  std::string refusal;
  double time_limit = 0;  ///< seconds; 0: none
  double grace = 20;
  QueueOrder order =
      QueueOrder::longest_first;  ///< shortest first: for a sweep whose time limit may leave trials
  std::string store_limit;        ///< "50GiB", "none"; empty: the plan's, else half of the free disk
  Shard shard;
  std::string program = "gaussweep";  ///< as it was called
  std::string command_line;
  /// Called on the first rank once all is recorded, where nothing was stopped early.
  std::function<void(const io::JournalContents&)> at_end;
};

/// "auto" → cuda where every rank has a GPU; collective. @return the exit code
int run_sweep(const RunOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
