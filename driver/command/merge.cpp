/// `gaussweep merge`: one results file of many; also the way to rebuild a results.h5 from its journal.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/results/merge.hpp"
#include "driver/system/console.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {

namespace {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  bool force = false, missing_ok = false;
};

void merge_to_file(const MergeOptions& options) {
  check_output(options.output, options.force);
  std::vector<Loaded> inputs;
  std::vector<std::string> missing;
  for (const std::string& path : options.paths) {
    try {
      inputs.push_back(load(path, true));
    } catch (const io::InputError& e) {
      if (!options.missing_ok) throw;
      missing.emplace_back(e.what());
    }
  }
  if (inputs.empty()) throw io::InputError(fmt::format("nothing to merge: {}", fmt::join(missing, "; ")));
  const Merged merged = merge(std::move(inputs), options.force);
  io::write_results(options.output, merged.results);

  std::int64_t dropped = 0;
  for (const MergeInput& input : merged.inputs) {
    fmt::print("{}: {}", input.path, counted(input.records, "record"));
    if (input.expected > input.records)
      fmt::print(", {} of its trials are missing", input.expected - input.records);
    if (input.dropped > 0) fmt::print(", {} dropped as duplicates", input.dropped);
    fmt::print("\n");
    dropped += input.dropped;
  }
  for (const std::string& what : missing) fmt::print("left out: {}\n", what);
  for (const std::string& remark : merged.remarks) say(fmt::format("note: {}\n", remark));
  fmt::print("{}: {}, {} dropped\n", options.output, counted(merged.results.records.size(), "record"),
             counted(dropped, "duplicate"));
}

}  // namespace

void add_merge_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* sub = app.add_subcommand("merge",
                                     "Join results files, run directories and journals into one results "
                                     "file; rebuilds a damaged results.h5");
  sub->add_option("inputs", options->paths, "Run directories, results files or journals")->required();
  refuse_empty(*sub->add_option("-o,--output", options->output, "The results file to write")->required());
  sub->add_flag("--force", options->force, "Replace the output; join results of different plans");
  sub->add_flag("--missing-ok", options->missing_ok,
                "Go on without inputs that are absent or unreadable, and say so");
  sub->callback([options] { merge_to_file(*options); });
}

}  // namespace gaussweep::driver
