/// Implements `gaussweep devices`: lists the GPUs and the CPU of this machine, with warnings.

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "driver/base/errors.hpp"
#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/system/devices_listing.hpp"
#include "driver/system/process.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

void add_devices_command(CLI::App& app, Commands& commands) {
  auto format = std::make_shared<std::string>("table");
  CLI::App* sub = app.add_subcommand(
      "devices", "List GPUs and CPU; warn of ECC off, MIG, low power caps, other processes");
  add_format(*sub, *format, {"table", "json"});
  auto untouched = std::make_shared<bool>(false);
  sub->add_flag("--untouched", *untouched,
                "Create no context on the GPUs, which may be in use; free memory is then unknown");
  auto parent = std::make_shared<pid_t>(0);
  sub->add_option("--parent", *parent,
                  "(given by run) The id of the parent process; this process ends with it")
      ->group("");
  sub->callback([format, untouched, parent, &commands] {
    if (*parent != 0 && !die_with_parent(*parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    const Format chosen = parse_format(*format);
    const MachineFacts machine =
        machine_facts(*untouched ? GpuQuery::without_context : GpuQuery::with_context);
    if (chosen == Format::json) {
      fmt::print("{}\n", json_text(devices_json(machine)));
    } else {
      fmt::print("{}", devices_text(machine, output_width()));
    }
  });
}

}  // namespace gaussweep::driver
