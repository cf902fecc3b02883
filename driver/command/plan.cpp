/// `gaussweep plan`: what a plan would do.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>

#include "driver/base/printable.hpp"
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/plan/cost_model.hpp"
#include "driver/plan/demand.hpp"
#include "driver/plan/plan_words.hpp"
#include "driver/plan/planned_trials.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

/// A line of the table: a method on a backend, or all of them.
struct Line {
  std::size_t trials = 0, skipped = 0;
  double seconds = 0;
  Footprint most;
};

void print_plan(const Expansion& expansion, const Registry& registry, Backend backend) {
  const CostModel model(registry);
  std::map<std::string, Line> lines;
  Line all;
  std::map<std::string, double> disk;
  for (const Trial& trial : expansion.trials) {
    if (trial.skip_reason.empty()) {
      for_stored(trial,
                 [&](const MatrixRequest& matrix) { disk[matrix.digest] = stored_bytes(matrix, trial); });
    }
    const Method* method = registry.find(trial.problem, trial.method);
    for (Line* line : {&lines[method->id() + " (" + std::string(to_string(trial.backend)) + ")"], &all}) {
      line->trials += 1;
      if (!trial.skip_reason.empty()) {
        line->skipped += 1;
        continue;
      }
      line->seconds += model.estimate(trial);
      const Footprint need = footprint(*method, trial);
      line->most.device_bytes = std::max(line->most.device_bytes, need.device_bytes);
      line->most.host_bytes = std::max(line->most.host_bytes, need.host_bytes);
    }
  }
  double disk_bytes = 0;
  for (const auto& [digest, bytes] : disk) disk_bytes += bytes;
  fmt::print("{:44} {:>8} {:>8} {:>12} {:>12} {:>16}\n", "method", "trials", "skipped", "GPU MiB", "host MiB",
             "about");
  const auto print = [](const std::string& name, const Line& line) {
    fmt::print("{:44} {:>8} {:>8} {:>12.1f} {:>12.1f} {:>16}\n", name, line.trials, line.skipped,
               line.most.device_bytes / 0x1p20, line.most.host_bytes / 0x1p20, duration_words(line.seconds));
  };
  for (const auto& [name, line] : lines) print(name, line);
  print("all, one after the other", all);
  fmt::print(
      "backend {}; matrices on disk: {} in {:.1f} MiB; times are a rough guess before anything was "
      "measured\n",
      to_string(backend), disk.size(), disk_bytes / 0x1p20);
}

}  // namespace

void add_plan_command(CLI::App& app, Commands& commands) {
  CLI::App* plan = app.add_subcommand("plan", "Check a plan: its trials, memory, disk and time");
  auto path = std::make_shared<std::string>();
  auto backend = std::make_shared<std::string>("auto");
  refuse_empty(*plan->add_option("plan", *path, "The plan (YAML)")->required());
  allow_backends(*plan->add_option("--backend", *backend, "As for run")->capture_default_str());
  plan->callback([path, backend, &commands] {
    int capability = 0;
    Backend chosen = from_string<Backend>(*backend).value_or(Backend::emulated);
    if (*backend == "auto") chosen = cuda_device_count() > 0 ? Backend::cuda : Backend::emulated;
    if (chosen == Backend::cuda && cuda_device_count() > 0)
      capability = make_cuda_device(0)->info().capability;
    const Expansion expansion = expand_plan(io::read_plan(*path, enum_names<Problem>()), *path,
                                            commands.registry, chosen, capability);
    for (const std::string& note : expansion.notes) fmt::print("note: {}\n", printable(note));
    print_plan(expansion, commands.registry, chosen);
  });
}

}  // namespace gaussweep::driver
