/// `gaussweep status`: how a running or ended sweep stands.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/records/sweep_status.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {
constexpr std::int64_t most_rows = 1'000'000;
}

void add_status_command(CLI::App& app, Commands&) {
  struct Options {
    std::string directory, format = "table";
    std::size_t failures = 10;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("status", "Say how a running or ended sweep stands; changes nothing");
  sub->add_option("directory", options->directory, "Run directory")->required();
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "json"});
  allow_whole(*sub->add_option("--failures", options->failures, "How many of the last failures to list")
                   ->capture_default_str(),
              0, most_rows);
  sub->callback([options] {
    const Format format = parse_format(options->format);
    const std::filesystem::path directory = options->directory;
    const std::filesystem::path journal = directory / "journal.jsonl";
    std::error_code error;  // what cannot be looked at may be there: reading it says why not
    if (std::filesystem::status(journal, error).type() == std::filesystem::file_type::not_found) {
      throw io::InputError(
          fmt::format("{}: no journal.jsonl is there; expected a run directory, as `gaussweep run PLAN "
                      "-o DIR` makes it",
                      directory.string()));
    }
    // The lock first: a run that ends in between then shows as running with all done, not as killed.
    const bool running = is_locked(directory / "lock");
    const SweepStatus status = status_of(io::read_journal(journal), running, moment_now(), options->failures);
    if (format == Format::json) {
      fmt::print("{}\n", json_text(status_json(status)));
    } else {
      fmt::print("{}", status_text(status, output_width()));
    }
  });
}

}  // namespace gaussweep::driver
