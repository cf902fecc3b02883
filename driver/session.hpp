#pragma once
/// `gaussweep run`: from the plan to the exit code.

#include <filesystem>
#include <optional>
#include <string>

#include "driver/cli.hpp"
#include "driver/expand.hpp"
#include "driver/shard.hpp"

namespace gaussweep::driver {

struct RunOptions {
  std::string plan, output;
  bool resume = false, retry_failed = false, dry_run = false;
  std::string backend = "auto";
  double time_limit = 0;  ///< seconds; 0: none
  double grace = 20;
  std::string store_limit;  ///< "50GiB", "none"; empty: the plan's, else half of the free disk
  Shard shard;
  std::string command_line;
};

/// Reads a plan and expands it. Matrix files are looked up beside the plan.
Expansion expand_plan(const std::string& path, const Registry& registry, Backend requested, int capability,
                      io::Plan* plan = nullptr);

/// The part of the trials that a shard does.
std::vector<Trial> shard_of(std::vector<Trial> trials, const Shard& shard);

/// "auto" → cuda where every rank has a GPU; collective. @return the exit code
int run_sweep(const RunOptions& options, const Registry& registry);

/// The most bytes that DIR/matrices may take: the option's, else the plan's, else half of what the disk has
/// for it (free, or taken by matrices already). @throws io::InputError
double store_limit_of(const std::string& option, const io::Plan& plan, const std::filesystem::path& matrices);

/// Seconds of "90", "90s", "10min", "1h30min", or Slurm's "HH:MM:SS", "D-HH:MM:SS". @throws UsageError
double parse_time_limit(const std::string& text);

}  // namespace gaussweep::driver
