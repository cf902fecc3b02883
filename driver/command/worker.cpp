/// Implements `gaussweep worker`, the process that runs trials (one method on one matrix each). A supervisor
/// in `run`, `try` or `duet` starts it, not the user.

#include "driver/worker/worker.hpp"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/command/cli.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/system/process.hpp"

namespace gaussweep::driver {
namespace {

/// Makes Linux kill this worker before its supervisor if memory runs out. Disables core dumps, which could be
/// as large as the machine's memory.
void be_expendable() {
  std::ofstream("/proc/self/oom_score_adj") << "1000\n";
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) != 0) return;
  core.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &core);
}

/// Prints the descriptions of a shared library's methods as JSON. Output of the library itself goes to
/// standard error. Ends the process without calling the library's destructors, which could crash.
[[noreturn]] void print_library(const std::string& path) {
  be_expendable();
  const int output = ::dup(STDOUT_FILENO);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw std::runtime_error("dup failed");
  using Json = nlohmann::json;
  const std::string text =
      library_table(path).dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t now = ::write(output, text.data() + written, text.size() - written);
    if (now <= 0) ::_exit(exit_broken);
    written += static_cast<std::size_t>(now);
  }
  ::_exit(exit_ok);
}

}  // namespace

void add_worker_command(CLI::App& app, Commands& commands) {
  CLI::App* worker =
      app.add_subcommand("worker", "(started by run) Serve trials on descriptor 3, note steps in 4");
  worker->group("");  // hidden from the help
  auto parent = std::make_shared<pid_t>(0);
  auto library = std::make_shared<std::string>();
  worker->add_option("--parent", *parent, "The supervisor's process")->required();
  worker->add_option("--library", *library, "Print the table of this library as JSON instead");
  worker->callback([parent, library, &commands] {
    if (!die_with_parent(*parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    if (!library->empty()) print_library(*library);
    // srun and scancel signal every process of a job step. The worker ignores these signals, because the
    // supervisor decides when a running trial ends.
    for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) std::signal(number, SIG_IGN);
    be_expendable();
    // The supervisor may kill this process at any time. Without a buffer, the text that a method has printed
    // is then in the log.
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    try {
      commands.exit_code = serve_trials(3, 4, commands.registry, commands.make_device);
    } catch (const std::bad_alloc&) {
      ::_exit(exit_broken);  // without memory an orderly exit may fail
    }
  });
}

}  // namespace gaussweep::driver
