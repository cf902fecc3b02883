#pragma once
/// `gaussweep export`: records for other programs.

namespace CLI {
class App;
}

namespace gaussweep::driver {

void add_export_command(CLI::App& app);

}  // namespace gaussweep::driver
