/// The top level of `gaussweep run`: reads the plan, runs its trials (one method on one matrix each), and
/// determines the exit code. Rank 0 has the coordinator, which assigns trials to ranks. Every rank has a
/// supervisor, which runs its trials in a child process, the worker. The journal is the run's log file: one
/// record per trial, and notes on the run.

#include "driver/sweep/session.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/axes.hpp"
#include "driver/plan/matrix_request.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/sweep_status.hpp"
#include "driver/sweep/coordinator.hpp"
#include "driver/sweep/in_flight.hpp"
#include "driver/sweep/rank_facts.hpp"
#include "driver/sweep/store_keeper.hpp"
#include "driver/sweep/supervisor.hpp"
#include "driver/sweep/work.hpp"
#include "driver/sweep/world.hpp"
#include "driver/system/blas.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/console.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/origin.hpp"
#include "driver/system/process.hpp"
#include "driver/system/stop_signals.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/records/results.hpp"
#include "io/records/status.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr int wait_ms = 1;            // longest wait for a message per iteration of the loops below
constexpr double flush_timeout = 15;  // seconds for the last messages to reach their ranks

/// The state that all steps of a run share. `ranks` is empty except on rank 0.
struct Session {
  World& world;
  const RunOptions& options;
  Registry registry;    ///< with the methods of the run's libraries
  double deadline;      ///< when the run must stop, by `now_seconds`; 0: no time limit
  std::string began;    ///< time stamp of the start of this process
  RankFacts this_rank;  ///< the hardware of this rank
  std::vector<RankFacts> ranks;
  /// CPUs that the ranks of this host share, counted before each rank is bound to its part.
  int cpus = usable_cpus();
};

/// The plan, with the values that it gives for the GPU models of this run's ranks. `expansion` has the plan's
/// trials, and notes for the user.
struct Planned {
  Backend backend = Backend::host;
  io::Plan plan;
  Expansion expansion;
  MatrixFileCache files;
};

/// Throws if a resumed run has used GPUs and the backend "auto" would continue it on the CPU.
void refuse_other_backend(const RunOptions& options, const io::JournalContents& journal, Backend backend) {
  if (options.backend != "auto" || backend == Backend::cuda) return;
  std::string last_backend;
  for (const io::Note& each : journal.notes) {
    if (const auto* run = std::get_if<io::note::Run>(&each)) last_backend = run->backend;
  }
  if (last_backend != to_string(Backend::cuda)) return;
  throw UsageError(
      fmt::format("{} ran on cuda, but no rank has a GPU here (see gaussweep devices): resume on a machine "
                  "with a GPU, or give --backend {} to continue without GPUs",
                  options.output, to_string(backend)));
}

/// Throws if the run in the output directory has a plan of another name.
void refuse_other_plan(const RunOptions& options, const io::JournalContents& journal, const io::Plan& plan) {
  const std::string last_name = last_start(journal).plan_name;
  if (last_name.empty() || last_name == plan.name) return;
  throw UsageError(fmt::format(
      "-o {} holds a sweep of another plan (name: {}; {} has name: {}); give another directory",
      options.output, one_line_printable(last_name), options.plan, one_line_printable(plan.name)));
}

/// Throws if the command's shard (a part of the plan, option --shard) is not the shard of the run in the
/// output directory. `--shard 1/1`, the whole plan, is always allowed. A run of the whole plan cannot be
/// resumed with a shard, because its other trials would not be resumed.
void check_shard(const RunOptions& options, const io::JournalContents& journal) {
  const std::string text = last_start(journal).shard;
  const Shard last = read_shard(text).value_or(Shard{}), &shard = options.shard;
  const bool is_same = shard.count == last.count && shard.number == last.number;
  if (text.empty() || is_same || (options.has_shard && shard.count == 1)) return;
  const std::string wanted = fmt::format("{}/{}", shard.number, shard.count);
  throw UsageError(
      last.count == 1
          ? fmt::format("-o {} holds a run of the whole plan, not shard {}; leave --shard out",
                        options.output, wanted)
          : fmt::format(
                "-o {} holds shard {} of the plan{}; allowed: --shard {}, or --shard 1/1 for the whole plan",
                options.output, text, options.has_shard ? ", not " + wanted : "", text));
}

/// Throws if srun started several tasks that MPI does not connect, because each would run the whole plan.
/// Tasks with `--shard` are allowed: each of them runs its own part of the plan.
void refuse_unconnected_tasks(const World& world, const RunOptions& options) {
  const int tasks = world.unconnected_tasks();
  if (tasks == 1 || options.shard.count > 1) return;
  throw UsageError(fmt::format(
      "srun started {} tasks, but no MPI connects them: use srun --mpi=pmix (srun --mpi=list names "
      "the others), or mpirun, or give each task a shard of its own by --shard I/N",
      tasks));
}

/// Warns if the backend "auto" emulates GPU kernels. Throws if Slurm gave the job GPUs, because the user then
/// expects them to be used.
void check_emulation(const Session& session, const Planned& planned) {
  const RunOptions& options = session.options;
  if (options.backend != "auto" || planned.backend != Backend::emulated) return;
  std::size_t trials = 0;
  for (const Trial& trial : planned.expansion.trials)
    trials += trial.backend == Backend::emulated && trial.skip_reason.empty() ? 1 : 0;
  if (trials == 0) return;
  const std::string why = without_gpu(session.ranks);
  const std::string gpus = gpus_of_job();
  if (!gpus.empty()) {
    throw UsageError(
        fmt::format("Slurm gave this job GPUs ({}), but none can be used ({}). --backend emulated runs the "
                    "kernels on the CPU all the same",
                    gpus, why));
  }
  spdlog::warn("no GPU can be used ({}): {} of methods for GPUs run{} emulated on the CPU, which is slow",
               why, counted(trials, "trial"), trials == 1 ? "s" : "");
}

/// Returns true if some trial runs on the CPU, including emulated kernels.
bool has_cpu_trials(const std::vector<Trial>& trials) {
  return std::any_of(trials.begin(), trials.end(), [](const Trial& trial) {
    return trial.backend != Backend::cuda && trial.skip_reason.empty();
  });
}

/// Warns if this host has fewer CPUs than ranks and trials run on the CPU.
void check_shared_cpus(const Session& session, const Planned& planned) {
  const int ranks = session.world.cpu_parts(), cpus = session.cpus;
  if (ranks <= cpus || !has_cpu_trials(planned.expansion.trials)) return;
  spdlog::warn(
      "{} ranks share {} on this host, so trials on the CPU disturb each other's times: to measure "
      "times, start at most {}",
      ranks, counted(static_cast<std::size_t>(cpus), "CPU"), counted(static_cast<std::size_t>(cpus), "rank"));
}

/// Warns if other programs used the CPUs on which trials ran.
/// @param demand mean number of runnable threads per CPU of the host
/// @param threads BLAS threads per rank
void check_demand(const std::vector<Trial>& trials, double demand, std::int64_t threads) {
  if (!(demand > max_cpu_demand) || !has_cpu_trials(trials)) return;
  spdlog::warn(
      "{:.1f} threads per CPU wanted to run on this host: other programs make times on the CPU too long, "
      "those of methods with several threads (OpenBLAS) by far the most. Measure on an idle machine{}",
      demand, threads > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : "");
}

/// Notes this start of the run in the journal: the plan, the versions, the batch job and the hosts.
void note_start(RunDirectory& directory, const Session& session, const Planned& planned, const Work& work) {
  const RunOptions& options = session.options;
  const Timestamp clock = timestamp_now();
  io::note::Run run;
  run.run_id = directory.run_id();
  run.plan = planned.plan.text;
  run.plan_name = planned.plan.name;
  run.backend = to_string(planned.backend);
  run.shard = fmt::format("{}/{}", options.shard.number, options.shard.count);
  run.began = session.began;
  run.started = time_stamp();
  run.total = static_cast<std::int64_t>(work.all.size());
  run.clock = {clock.boot, clock.uptime};
  run.provenance = {{"version", version_string},
                    {"commit", version_commit},
                    {"dirty", version_dirty},
                    {"build", version_build},
                    {"compiler", __VERSION__},
                    {"command_line", options.command_line},
                    {"ranks", session.world.size()},
                    {"mpi_version", session.world.mpi_version()},
                    {"hdf5_version", io::hdf5_version()},
                    {"job_id", batch_job().id},
                    {"plan_trials", work.plan_trials}};
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST",
                           "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_GPUS", "SLURM_JOB_GRES",
                           "SLURM_RESTART_COUNT", "SLURM_CLUSTER_NAME", "CUDA_VISIBLE_DEVICES"}) {
    const std::string value = environment_value(name);
    if (!value.empty()) run.provenance[name] = value;
  }
  std::set<std::string> hosts;
  for (const RankFacts& rank : session.ranks) {
    if (hosts.insert(rank.host.host).second) directory.note(io::note::Host{rank.host});
    if (rank.gpu.driver) run.provenance["driver_version"] = *rank.gpu.driver;
  }
  directory.note(std::move(run));
  directory.note(io::note::Inputs{std::filesystem::absolute(options.plan).parent_path().string(),
                                  library_rows(session.registry)});
}

/// Returns the settings with which the supervisor starts this rank's worker.
WorkerSpec worker_spec(const Session& session, const SweepStart& sweep_start) {
  WorkerSpec spec;
  spec.origin = this_origin(sweep_start.run_id, session.world.rank());
  spec.backend = sweep_start.backend;
  if (spec.backend == Backend::cuda) {
    const RankGpu& gpu = session.this_rank.gpu;
    spec.gpu_uuid = gpu.uuid;
    spec.visible = gpu.visible;
    if (!gpu.exists()) spec.cannot_run_because = gpu.missing_because;
    spec.origin.device_index = gpu.index;
  }
  spec.gpus = session.options.gpus_per_rank;
  spec.threads = static_cast<int>(session.this_rank.host.blas_threads);
  if (spec.cannot_run_because.empty()) spec.cannot_run_because = blas_memory_error(spec.threads);
  spec.libraries = libraries_of(session.registry);
  if (spec.cannot_run_because.empty()) spec.cannot_run_because = library_fault(spec.libraries);
  spec.directory = sweep_start.directory;
  return spec;
}

std::string log_of_rank(const std::filesystem::path& directory, int rank) {
  return directory / "logs" / fmt::format("rank-{}.log", rank);
}

/// Runs the supervisor of a rank other than 0. The supervisor of rank 0 runs in `coordinate`.
void serve_rank(const Session& session, const SweepStart& sweep_start) {
  World& world = session.world;
  try {
    log_to_file(log_of_rank(sweep_start.directory, world.rank()));
  } catch (const io::StorageError& e) {
    // If the disk cannot be written, the worker's log cannot be opened either. That error ends the run.
    spdlog::warn("{}", e.what());
  }
  Supervisor supervisor(world, worker_spec(session, sweep_start), session.registry);
  bool stop_sent = false;
  while (!supervisor.finished()) {
    if (!stop_sent && stop_signals() > 0) {
      stop_sent = true;
      world.send_to_coordinator(message::Stop{});
    }
    supervisor.step(wait_ms);
  }
}

/// The end of a sweep.
struct SweepEnd {
  /// The reason why the sweep stopped early, or the lost ranks; empty if neither happened.
  std::string stopped_because;
  bool lost_its_ranks = false;  ///< true if trials are left because ranks were lost
};

/// Runs the coordinator and the supervisor of rank 0 until the sweep ends. Moves the trials out of
/// `work.todo`.
/// @param demand samples the number of runnable threads per CPU of this host
/// @param is_first_pass false for the plans of `run_next_plans`, whose progress is not shown
/// @param store_limit maximum bytes of the matrices in the run directory
SweepEnd coordinate(const Session& session, const SweepStart& sweep_start, RunDirectory& directory,
                    Work& work, double store_limit, CpuDemand& demand, bool is_first_pass = true) {
  std::optional<Supervisor> supervisor(std::in_place, session.world, worker_spec(session, sweep_start),
                                       session.registry);
  supervisor->step(0);  // the worker sets up its device while the coordinator is constructed
  std::vector<std::string> hosts;
  for (const RankFacts& rank : session.ranks) hosts.push_back(rank.host.host);
  const std::size_t done = work.all.size() - work.todo.size();
  const RunLimits limits{session.deadline, session.options.grace, store_limit, session.options.order};
  const std::vector<std::string> unexpected = unexpected_before(work, directory.journal());
  Coordinator coordinator(session.world, directory, session.registry,
                          {std::move(work.todo), done, hosts, limits, is_first_pass, unexpected});
  try {
    while (!coordinator.finished() || !supervisor->finished()) {
      demand.sample();
      if (!coordinator.finished()) coordinator.step();
      if (!supervisor->finished()) {
        supervisor->step(wait_ms);
      } else {
        ::usleep(1000 * wait_ms);
      }
    }
  } catch (...) {
    supervisor.reset();
    coordinator.finish_after_error();
    throw;
  }
  SweepEnd end{coordinator.stopped_because(), coordinator.lost_its_ranks()};
  if (end.stopped_because.empty()) end.stopped_because = coordinator.silent_ranks();
  if (end.lost_its_ranks && end.stopped_because.empty()) end.stopped_because = "ranks were lost";
  return end;
}

/// Sets `planned` to the plan, with its values for the GPU models of this run's ranks, and to the plan's
/// trials.
void expand_for_ranks(const Session& session, io::Plan plan, Planned& planned) {
  std::vector<std::string> gpus;
  int lowest_capability = std::numeric_limits<int>::max();
  for (const RankFacts& rank : session.ranks) {
    if (!rank.gpu.exists()) continue;
    gpus.push_back(rank.gpu.name);
    lowest_capability = std::min(lowest_capability, rank.gpu.capability);
  }
  planned.plan = for_gpus(std::move(plan), gpus);
  planned.expansion = expand_plan(planned.plan, session.options.plan, session.registry, planned.backend,
                                  planned.backend == Backend::cuda ? lowest_capability : 0, planned.files);
}

/// Runs the further plans of `run --refine` and `try`, which depend on the records so far (see
/// RunOptions::next_plan). Each plan gets a new worker process, as each round (repetition of a plan's trials)
/// does.
void run_next_plans(const Session& session, const SweepStart& sweep_start, RunDirectory& directory,
                    Planned& planned, Work& work, double store_limit, CpuDemand& demand, SweepEnd& end) {
  const RunOptions& options = session.options;
  while (options.next_plan && end.stopped_because.empty()) {
    std::optional<io::Plan> next = options.next_plan(directory.journal());
    if (!next) return;
    expand_for_ranks(session, std::move(*next), planned);
    directory.save_plan(planned.plan.text);
    work = plan_work(options, std::move(planned.expansion.trials), directory.journal());
    note_start(directory, session, planned, work);
    record_skipped(directory, work, session.registry);
    if (!work.todo.empty())
      end = coordinate(session, sweep_start, directory, work, store_limit, demand, /*is_first_pass=*/false);
  }
}

/// Opens the run directory. @throws UsageError if the directory cannot be written: the sweep has not begun,
/// so this is no StorageError
std::unique_ptr<RunDirectory> open_directory(const RunOptions& options) {
  const bool resumes = options.resume || options.retry_failed;
  if (!options.start_error.empty()) {
    check_run_directory(options.output, resumes);
    throw UsageError(options.start_error);
  }
  try {
    return std::make_unique<RunDirectory>(options.output, resumes);
  } catch (const io::StorageError& e) {
    throw UsageError(
        fmt::format("-o {}: {}; give a directory that can be written", options.output, e.what()));
  }
}

/// Throws if the directory cannot be written or, for a new directory, its closest existing parent.
void require_writable(const std::string& output) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(output);
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw UsageError(fmt::format("-o {}: {}: {}; give a directory that can be written", output, folder.string(),
                               std::strerror(errno)));
}

/// Prints the trials that the run would do. If the run would not start, throws its error afterwards.
void dry_run(const Session& session, Planned& planned) {
  const RunOptions& options = session.options;
  const bool resumes = options.resume || options.retry_failed;
  io::JournalContents journal;
  std::exception_ptr fault;  // rethrown after the trials are printed
  try {
    check_emulation(session, planned);
    check_run_directory(options.output, resumes);
    if (!options.start_error.empty()) throw UsageError(options.start_error);
    require_writable(options.output);
    if (resumes)
      journal =
          io::read_journal(std::filesystem::path(options.output) / "journal.jsonl", /*with_details=*/false);
    refuse_other_plan(options, journal, planned.plan);
    check_shard(options, journal);
    refuse_other_backend(options, journal, planned.backend);
  } catch (const std::runtime_error&) {
    fault = std::current_exception();
  }
  const Work work = plan_work(options, std::move(planned.expansion.trials), journal);
  for (const Trial& trial : work.todo) {
    fmt::print("{} {}{}\n", trial.key, describe(trial),
               trial.skip_reason.empty() ? "" : " [skipped: " + one_line_printable(trial.skip_reason) + "]");
  }
  const std::string part = resumes ? fmt::format("{} of ", work.todo.size()) : "";
  fmt::print("{}{}\n", part, counted(work.all.size(), "trial"));
  if (fault) std::rethrow_exception(fault);
}

/// Warns if an earlier start of the run had another number of BLAS threads per rank.
void warn_of_other_threads(const io::JournalContents& journal, std::int64_t threads) {
  std::set<std::int64_t> others;
  for (const io::Note& note : journal.notes) {
    if (const auto* host = std::get_if<io::note::Host>(&note)) others.insert(host->row.blas_threads);
  }
  others.erase(0);  // 0: the number is unknown
  others.erase(threads);
  if (others.empty()) return;
  spdlog::warn(
      "this start has {} of BLAS per rank, an earlier one of this run had {}: times on the CPU differ",
      counted(static_cast<std::size_t>(threads), "thread"), fmt::join(others, " and "));
}

/// Runs the sweep on rank 0 in an open run directory and returns the exit code. Sets `sweep_start_sent` once
/// it has broadcast the SweepStart to all ranks. Moves the trials out of `planned`, because a copy of a
/// million trials takes gigabytes.
int run_in_directory(RunDirectory& directory, Session& session, Planned& planned, bool& sweep_start_sent) {
  World& world = session.world;
  const RunOptions& options = session.options;
  log_to_file(log_of_rank(directory.path(), world.rank()));
  if (directory.journal().torn) spdlog::warn("the journal's last line was torn by a kill; it was dropped");
  if (directory.journal().damaged > 0) {
    spdlog::warn("not counted: {} of the journal", counted(directory.journal().damaged, "damaged line"));
  }
  const double store_limit =
      store_limit_of(options.store_limit, planned.plan, directory.path() / "matrices", options.shard.count);
  refuse_other_plan(options, directory.journal(), planned.plan);
  check_shard(options, directory.journal());
  refuse_other_backend(options, directory.journal(), planned.backend);
  judge_records_again(directory, planned.expansion.trials);
  directory.save_plan(planned.plan.text);
  note_unplanned(directory, planned.expansion.trials);
  record_in_flight(directory, planned.expansion.trials, session.registry);
  Work work = plan_work(options, std::move(planned.expansion.trials), directory.journal());
  const std::vector<std::string> failed = failed_before(work, directory.journal());
  const std::string builds = mixed_builds(directory.journal().records, version_commit);
  if (!builds.empty() && !work.todo.empty()) spdlog::warn("{}: {}", options.output, builds);
  if (!work.todo.empty()) warn_of_other_threads(directory.journal(), session.this_rank.host.blas_threads);
  note_start(directory, session, planned, work);
  record_skipped(directory, work, session.registry);
  directory.sync();
  spdlog::info("{}, {} to do, {}, backend {}, into {}", counted(work.all.size(), "trial"), work.todo.size(),
               counted(static_cast<std::size_t>(world.size()), "rank"), to_string(planned.backend),
               directory.path().string());
  if (options.lists_unexpected) {
    for (const std::string& line : skipped_methods(work.all)) spdlog::info("{}", line);
  }
  if (const RequestedThreads request = requested_threads(); request.threads > 0)
    spdlog::info("{} of BLAS per rank, by {}",
                 counted(static_cast<std::size_t>(session.this_rank.host.blas_threads), "thread"),
                 request.variable);
  SweepStart sweep_start;
  sweep_start.has_work = !work.todo.empty();  // otherwise no rank needs a worker
  sweep_start.backend = planned.backend;
  sweep_start.directory = directory.path().string();
  sweep_start.run_id = directory.run_id();
  sweep_start.libraries = library_rows(session.registry);
  world.broadcast(sweep_start);
  sweep_start_sent = true;
  SweepEnd end;
  CpuDemand demand(/*ignored=*/1);  // ignores this thread, which only waits for messages
  if (sweep_start.has_work) end = coordinate(session, sweep_start, directory, work, store_limit, demand);
  run_next_plans(session, sweep_start, directory, planned, work, store_limit, demand, end);
  const Outcome outcome = outcome_of(work, directory.journal());
  int code = exit_code_of(outcome, end.lost_its_ranks);
  // Other ranks may have run the trials of a lost rank, but its node or device needs attention.
  if (world.lost_peer() && code != exit_stopped) code = exit_broken;
  directory.end(code, end.stopped_because);
  if (options.lists_unexpected) {
    check_demand(work.all, demand.mean(), session.this_rank.host.blas_threads);
    for (const std::string& line : skipped_in_run(work, directory.journal())) spdlog::warn("{}", line);
  }
  log_unexpected(work, directory.journal(), options,
                 resume_command(options, world.launcher(), "--retry-failed"));
  log_repaired(failed, directory.journal());
  if (code == exit_stopped || end.lost_its_ranks)
    spdlog::warn("stopped early ({}){}", end.stopped_because,
                 options.is_kept ? "; " + resume_advice(options, world.launcher()) : "");
  else if (options.at_end)
    options.at_end(directory.journal());
  if (code != exit_ok && options.lists_unexpected) {
    // Open MPI's mpirun adds a paragraph about an aborted job to every exit code but 0.
    const bool by_mpirun = world.launcher().rfind("mpirun", 0) == 0 && !world.lost_peer();
    spdlog::warn(
        "{}{}", exit_text(code, outcome),
        by_mpirun ? ". mpirun calls this an aborted job, but all ranks have ended by themselves" : "");
  }
  return code;
}

/// Runs rank 0. @param gathered the `RankFacts` of all ranks @return the exit code
int run_first_rank(Session& session, const std::vector<json>& gathered) {
  const RunOptions& options = session.options;
  bool sweep_start_sent = false;
  try {
    refuse_unconnected_tasks(session.world, options);
    if (options.next_plan && session.world.size() > 1)
      throw UsageError(
          fmt::format("a refined sweep has one rank, and {} were started: its next trials depend on "
                      "the last ones",
                      session.world.size()));
    for (const json& facts : gathered) session.ranks.push_back(facts.get<RankFacts>());
    Planned planned;
    planned.backend = choose_backend(options.backend, session.ranks, options.resume || options.retry_failed);
    for (const RankFacts& rank : session.ranks) {
      for (const std::string& warning : rank.gpu.warnings) spdlog::warn("{}: {}", rank.host.host, warning);
    }
    planned.files = options.files;
    io::Plan plan =
        options.made_plan ? *options.made_plan : io::read_plan(options.plan, enum_names<Problem>());
    add_libraries_of(session.registry, plan, options.plan, options.libraries);
    expand_for_ranks(session, std::move(plan), planned);
    if (options.lists_unexpected) {
      for (const std::string& note : planned.expansion.notes) spdlog::info("{}", note);
    }
    if (options.dry_run) {
      dry_run(session, planned);
      session.world.broadcast(SweepStart{});
      return exit_ok;
    }
    check_emulation(session, planned);
    check_shared_cpus(session, planned);
    const std::unique_ptr<RunDirectory> directory = open_directory(options);
    try {
      return run_in_directory(*directory, session, planned, sweep_start_sent);
    } catch (const io::StorageError& e) {
      std::string cause = e.what();
      if (cause.back() == '.') cause.pop_back();
      std::error_code error;
      // `try` has no plan file, so its run cannot be resumed.
      if (!options.is_kept || !std::filesystem::exists(options.plan, error))
        throw io::StorageError(cause + ". Nothing was kept; once this is mended, start again");
      throw io::StorageError(fmt::format("{}. {} safe in {}. Once this is mended, go on with: {}", cause,
                                         counted(directory->safe_records(), "record"),
                                         (directory->path() / "journal.jsonl").string(),
                                         resume_command(options, session.world.launcher(), "--resume")));
    }
  } catch (...) {
    if (!sweep_start_sent) session.world.broadcast(SweepStart{});
    throw;
  }
}

}  // namespace

int run_sweep(const RunOptions& options, const Registry& registry) {
  const double deadline = options.time_limit > 0 ? now_seconds() + options.time_limit : 0;
  std::exception_ptr error;
  int code = exit_ok;
  {
    const std::string began = fine_time_stamp();
    PendingListing devices = start_device_listing(options.backend);
    World world;
    count_stop_signals();
    Session session{world, options, registry, deadline, began, /*this_rank=*/{}, /*ranks=*/{}};
    session.this_rank = rank_facts(world, options.backend, std::move(devices), options.gpus_per_rank);
    bind_to_cpu_share(world.cpu_part(), world.cpu_parts());
    const std::vector<json> gathered = world.gather(session.this_rank);
    try {
      if (world.rank() == 0) {
        code = run_first_rank(session, gathered);
      } else {
        const SweepStart sweep_start = world.broadcast(nullptr).get<SweepStart>();
        add_library_rows(session.registry, sweep_start.libraries);
        if (sweep_start.has_work) serve_rank(session, sweep_start);
      }
      if (!world.lost_peer()) world.flush(flush_timeout);
    } catch (const std::exception& e) {
      // Rethrown after MPI_Finalize, in which the other ranks wait for this one.
      error = std::current_exception();
      if (world.rank() != 0 || world.lost_peer()) {
        spdlog::error("rank {}: {}", world.rank(), e.what());
        world.abort(exit_broken);
      }
    }
    // MPI_Finalize would wait for the lost peer. Only rank 0 knows the run's exit code.
    if (world.lost_peer()) world.abort(world.rank() == 0 && code != exit_ok ? code : exit_broken);
  }
  if (error) std::rethrow_exception(error);
  return code;
}

}  // namespace gaussweep::driver
