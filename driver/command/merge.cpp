/// Implements `gaussweep merge`: merges results of runs into one results file. It also rebuilds the
/// results.h5 of a run from the run's journal, the file to which each record is appended when its trial ends.

#include "driver/results/merge.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/system/console.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  bool force = false, missing_ok = false;
};

/// Returns the number of records that a run's results.h5 would lose if `records` replaced its content.
/// Returns 0 for any other file, because it may be replaced.
std::size_t records_lost_by(const std::filesystem::path& output, const std::vector<io::Record>& records) {
  std::error_code error;
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  if (output.filename() != "results.h5" || !std::filesystem::exists(folder / "journal.jsonl", error))
    return 0;
  return records_only_in(output, [&]() -> const std::vector<io::Record>& { return records; });
}

/// Merges the inputs into a results file, and prints the numbers of records and duplicates per input.
void merge_to_file(const MergeOptions& options) {
  check_output(options.output, options.force, options.paths, Rebuild::yes);
  std::vector<Loaded> inputs;
  std::vector<std::string> missing_messages;
  std::vector<std::filesystem::path> missing_paths;
  for (const std::filesystem::path& path : runs_with_notes(options.paths)) {
    try {
      inputs.push_back(load(path, /*with_details=*/true));
    } catch (const io::InputError& e) {
      if (!options.missing_ok) throw;
      missing_messages.emplace_back(e.what());
      missing_paths.push_back(path);
    }
  }
  if (inputs.empty())
    throw io::InputError(fmt::format("nothing to merge: {}", fmt::join(missing_messages, "; ")));
  const Merged merged = merge(std::move(inputs), options.force, missing_paths);
  if (const std::size_t lost = records_lost_by(options.output, merged.results.records)) {
    throw io::InputError(fmt::format(
        "-o {}: has {} that the inputs lack, because their lines in the journal are gone or damaged. "
        "Give another name, so that they are not lost",
        options.output, counted(lost, "record")));
  }
  io::write_results(options.output, merged.results);

  std::int64_t dropped = 0;
  for (const MergeInput& input : merged.inputs) {
    fmt::print("{}: {}", input.path, counted(input.records, "record"));
    if (input.expected > input.records)
      fmt::print(", {} of {} missing", input.expected - input.records,
                 counted(static_cast<std::size_t>(input.expected), "trial"));
    if (input.dropped > 0) fmt::print(", {} dropped as duplicates", input.dropped);
    fmt::print("\n");
    dropped += input.dropped;
  }
  for (const std::string& message : missing_messages) fmt::print("left out: {}\n", message);
  for (const std::string& remark : merged.remarks) print_stderr(fmt::format("note: {}\n", remark));
  fmt::print("{}: {}, {} dropped\n", options.output, counted(merged.results.records.size(), "record"),
             counted(dropped, "duplicate"));
}

}  // namespace

void add_merge_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* sub = app.add_subcommand("merge",
                                     "Join results files, run directories and journals into one results "
                                     "file; rebuilds a damaged results.h5");
  sub->add_option("inputs", options->paths,
                  "Run directories, directories of run directories, results files or journals")
      ->required();
  add_output(*sub, options->output, "The results file to write").required();
  sub->add_flag("--force", options->force, "Replace the output; join results of different plans");
  sub->add_flag("--missing-ok", options->missing_ok,
                "Go on without inputs that are absent or unreadable, and name them");
  sub->callback([options] { merge_to_file(*options); });
}

}  // namespace gaussweep::driver
