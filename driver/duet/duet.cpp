/// Implements `gaussweep duet`: two builds of this program alternate, trial by trial, on one device. A trial
/// is one method on one matrix.

#include "driver/duet/duet.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <spdlog/spdlog.h>
#include <utility>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/sweep/rank_facts.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/sweep/supervisor.hpp"
#include "driver/system/blas.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/stop_signals.hpp"
#include "io/files/errors.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

constexpr int wait_ms = 1;              // longest wait for a message of a worker, in milliseconds
constexpr double version_timeout = 30;  // seconds
constexpr std::size_t max_commit_length = 64, max_quote_length = 80;  // characters

/// Passes messages between `Build` and its supervisor, which starts and watches a worker process. `Build`
/// acts as the coordinator, which sends trials to supervisors.
class LocalPort final : public MessagePort {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  double sigkill_delay() const override { return std::numeric_limits<double>::infinity(); }  // no mpirun
  void lose_peer() override {}                                                               // no other rank

 protected:
  void send(int /*to*/, Mailbox box, const nlohmann::json& message) override {
    boxes_.at(box).push_back(message);
  }
  std::optional<Arrived> receive(Mailbox box) override {
    std::deque<nlohmann::json>& waiting = boxes_.at(box);
    if (waiting.empty()) return std::nullopt;
    Arrived first{0, std::move(waiting.front())};
    waiting.pop_front();
    return first;
  }

 private:
  std::array<std::deque<nlohmann::json>, 2> boxes_;
};

ExitCode exit_code_now() {
  return stop_signals() == 0 ? exit_ok : exit_stopped;
}

/// One of the two builds, with its run directory and its supervisor.
class Build {
 public:
  Build(const std::filesystem::path& folder, WorkerSpec spec, const Registry& registry)
      : directory_(folder, /*resume=*/false) {
    spec.directory = folder.string();
    spec.libraries = libraries_of(registry);
    spec.origin.run_id = directory_.run_id();
    supervisor_.emplace(port_, std::move(spec), registry);
  }

  RunDirectory& directory() { return directory_; }

  /// Runs a trial on the build's worker and appends its record.
  void run(const Trial& trial) {
    port_.send_to_supervisor(0, message::Batch{{trial}});
    std::optional<io::Record> record;
    while (!record) {
      supervisor_->step(wait_ms);
      while (const auto received = port_.next_for_coordinator()) handle(received->message, record);
    }
    record->expected = as_expected(trial, record->status) ? 1 : 0;
    directory_.append(*record);
  }

  /// Ends the worker, notes the end of the run and writes the results. After a stop signal, the worker does
  /// not store its remaining matrices.
  void finish() {
    bool stops_now = stop_signals() > 0;
    port_.send_to_supervisor(0, message::Finish{/*at_once=*/stops_now});
    while (!supervisor_->finished()) {
      supervisor_->step(wait_ms);
      if (stops_now || stop_signals() == 0) continue;
      stops_now = true;
      port_.send_to_supervisor(0, message::Finish{/*at_once=*/true});
    }
    int signal = 0;
    const bool was_stopped = stop_signals(&signal) > 0;
    directory_.end(exit_code_now(), was_stopped ? fmt::format("signal {}", strsignal(signal)) : "");
  }

  void note_end(ExitCode code, const std::string& reason) {
    directory_.note(io::note::End{code, reason, time_stamp()});
    directory_.sync();
  }

 private:
  /// @param record receives the record if the message has one
  void handle(const ToCoordinator& message, std::optional<io::Record>& record) {
    if (const auto* recorded = std::get_if<message::Recorded>(&message)) record = recorded->record;
    if (const auto* seen = std::get_if<message::DeviceSeen>(&message))
      directory_.note(io::note::Device{seen->row, {}});
    if (const auto* failed = std::get_if<message::StorageFailed>(&message))
      throw io::StorageError(failed->message);
    if (const auto* retired = std::get_if<message::Retired>(&message)) {
      throw std::runtime_error(fmt::format("the worker of {} cannot go on: {}",
                                           directory_.path().filename().string(), retired->reason));
    }
  }

  RunDirectory directory_;
  LocalPort port_;
  std::optional<Supervisor> supervisor_;
};

/// Returns the commit of the other build. @throws UsageError if it is not a gaussweep program
std::string commit_of(const std::string& program) {
  const std::string prefix = "(commit ";
  std::string version;
  try {
    version = captured_output({"--version"}, child_environment({}), version_timeout, program);
  } catch (const std::runtime_error& e) {
    throw UsageError(fmt::format("{}: {}; give the program of another build, e.g. ../before/build/gaussweep",
                                 program, e.what()));
  }
  const std::size_t at = version.find(prefix), first = at + prefix.size();
  const std::size_t end = version.find_first_of(",)", first);
  const bool is_gaussweep = version.rfind("gaussweep ", 0) == 0 && at != std::string::npos &&
                            end != std::string::npos && end - first <= max_commit_length;
  if (!is_gaussweep)
    throw UsageError(
        fmt::format("{}: is no gaussweep: its --version says \"{}\"", program,
                    one_line_printable(version.substr(0, std::min(version.find('\n'), max_quote_length)))));
  return version.substr(first, end - first);
}

/// Throws UsageError if the output directory holds a duet, because a duet cannot be resumed.
void require_new(const std::filesystem::path& output) {
  std::error_code error;  // set if the path does not exist; RunDirectory reports all other errors
  for (const char* name : {duet_base, duet_new}) {
    const std::filesystem::path folder = output / name;
    if (!std::filesystem::is_empty(folder, error) && !error)
      throw UsageError(
          fmt::format("-o {}: {} exists and is not empty. A duet cannot be resumed: give a new directory",
                      output.string(), folder.string()));
  }
}

/// Logs the notes on the plan, and each trial that cannot run here. A trial has copies in all rounds; only
/// the first round's copy is logged.
void log_left_out(const Expansion& expansion) {
  for (const std::string& note : expansion.notes) spdlog::info("{}", note);
  for (const Trial& trial : expansion.trials) {
    if (trial.round == 1 && !trial.skip_reason.empty())
      spdlog::warn("{} is left out: {}", one_line_printable(describe(trial)),
                   one_line_printable(trial.skip_reason));
  }
}

/// Returns the trials of each round (repetition of all trials) in their order.
std::vector<std::vector<Trial>> rounds_of(const Expansion& expansion, const DuetOptions& options) {
  std::vector<std::vector<Trial>> rounds(static_cast<std::size_t>(options.rounds));
  for (const Trial& trial : expansion.trials) {
    if (trial.skip_reason.empty()) rounds.at(static_cast<std::size_t>(trial.round - 1)).push_back(trial);
  }
  if (rounds.front().empty()) throw UsageError(fmt::format("{}: no trial can run here", options.plan));
  return rounds;
}

/// Throws UsageError with the first difference if the two lists of trials differ.
/// @param base, current trials of the plan with the libraries of the base build and of the new build
void require_same_trials(const std::vector<Trial>& base, const std::vector<Trial>& current) {
  const auto is_same = [](const Trial& a, const Trial& b) { return describe(a) == describe(b); };
  const auto [a, b] = std::mismatch(base.begin(), base.end(), current.begin(), current.end(), is_same);
  if (a == base.end() && b == current.end()) return;
  const auto description_of = [](auto trial, const std::vector<Trial>& trials) {
    return trial == trials.end() ? std::string("no more trials") : one_line_printable(describe(*trial));
  };
  std::vector<std::string> defaults;
  if (a != base.end() && b != current.end() && a->method == b->method) {
    for (const auto& [name, value] : a->parameters.all()) {
      const ParameterValue* other = find_in(b->parameters.all(), name);
      if (other != nullptr && *other != value) defaults.push_back(name + ":");
    }
  }
  throw UsageError(fmt::format(
      "--methods: names and parameters of the methods must agree. With its own libraries the plan has {}; "
      "with these {}{}",
      description_of(a, base), description_of(b, current),
      defaults.empty() ? "" : "; set " + joined(defaults) + " in the plan"));
}

/// Notes the start of the run in a build's journal. @param duet_id identifies the duet; equal for both builds
void note_start(RunDirectory& directory, const io::Plan& plan, const DuetOptions& options,
                const RankFacts& facts, const std::string& duet_id, const std::string& commit,
                std::size_t trials) {
  directory.save_plan(plan.text);
  directory.note(io::note::Host{facts.host});
  io::note::Run run;
  run.run_id = directory.run_id();
  run.plan = plan.text;
  run.plan_name = plan.name;
  run.shard = "1/1";
  run.started = time_stamp();
  run.total = static_cast<std::int64_t>(trials);
  run.provenance = {
      {"duet", duet_id}, {"commit", commit}, {"command_line", options.command_line}, {"ranks", 1}};
  if (facts.gpu.driver) run.provenance["driver_version"] = *facts.gpu.driver;
  directory.note(std::move(run));
}

}  // namespace

int run_duet(const DuetOptions& options, const Registry& builtin) {
  require_new(options.output);
  PendingListing devices = start_device_listing(options.backend);
  World world;
  if (world.size() > 1) throw UsageError("duet runs on one device: start it without mpirun");
  count_stop_signals();
  const RankFacts facts = rank_facts(world, options.backend, std::move(devices));
  const Backend backend = choose_backend(options.backend, {facts}, /*resume=*/false);
  const std::string other_program = std::filesystem::absolute(options.other).string();
  const std::string other_commit = commit_of(other_program);
  io::Plan plan = io::read_plan(options.plan, enum_names<Problem>());
  const std::vector<std::string> plan_libraries = libraries_of(plan, options.plan);
  // If the plan and --methods both name libraries, the base build uses the plan's, and this build the others.
  Registry registry = builtin, base_registry = builtin;
  add_libraries(registry, options.libraries.empty() ? plan_libraries : options.libraries);
  add_libraries(base_registry, plan_libraries.empty() ? options.libraries : plan_libraries);
  const int capability = backend == Backend::cuda ? facts.gpu.capability : 0;
  for (io::Entry& entry : plan.sweep) entry.settings.rounds = options.rounds;  // replaces the plan's rounds
  MatrixFileCache files;
  const auto expansion_with = [&](const Registry& methods) {
    return expand_plan(plan, options.plan, methods, backend, capability, files);
  };
  const Expansion expansion = expansion_with(registry);
  log_left_out(expansion);
  const std::vector<std::vector<Trial>> rounds = rounds_of(expansion, options);
  const bool has_two_library_sets = !plan_libraries.empty() && !options.libraries.empty();
  const std::vector<std::vector<Trial>> base_rounds =
      has_two_library_sets ? rounds_of(expansion_with(base_registry), options) : rounds;
  require_same_trials(base_rounds.front(), rounds.front());

  WorkerSpec spec;
  spec.origin = this_origin("");
  spec.backend = backend;
  spec.threads = static_cast<int>(facts.host.blas_threads);
  const std::string limit = blas_memory_error(spec.threads);
  if (!limit.empty()) throw UsageError(limit);
  if (backend == Backend::cuda) {
    spec.gpu_uuid = facts.gpu.uuid;
    spec.visible = facts.gpu.visible;
    spec.origin.device_index = facts.gpu.index;
  }
  WorkerSpec other_spec = spec;
  other_spec.program = other_program;
  other_spec.origin.commit = other_commit;

  const std::filesystem::path output = options.output;
  Build base(output / duet_base, std::move(other_spec), base_registry);
  Build current(output / duet_new, std::move(spec), registry);
  const std::string duet_id = random_id();
  const std::size_t trials = rounds.size() * rounds.front().size();
  note_start(base.directory(), plan, options, facts, duet_id, other_commit, trials);
  note_start(current.directory(), plan, options, facts, duet_id, version_commit, trials);
  try {
    for (std::size_t round = 0; round < rounds.size() && stop_signals() == 0; ++round) {
      for (std::size_t i = 0; i < rounds[round].size() && stop_signals() == 0; ++i) {
        const bool base_first = (round + i) % 2 == 0;
        if (base_first) base.run(base_rounds[round][i]);
        current.run(rounds[round][i]);
        if (!base_first) base.run(base_rounds[round][i]);
      }
      spdlog::info("round {} of {}", round + 1, rounds.size());
    }
    base.finish();
    current.finish();
  } catch (const io::StorageError&) {
    throw;  // the end cannot be noted either
  } catch (const std::exception& e) {
    base.note_end(exit_broken, e.what());
    current.note_end(exit_broken, e.what());
    throw;
  }
  return exit_code_now();
}

}  // namespace gaussweep::driver
