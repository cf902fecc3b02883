/// Implements `gaussweep try`: runs the methods that suit one matrix, and reports the fastest method of each
/// task. A task is one problem with fixed precision, nrhs and triangle. Emulated kernels are GPU kernels that
/// run on the CPU.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <utility>

#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/command/try_answer.hpp"
#include "driver/command/try_rounds.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/expand.hpp"
#include "driver/plan/file_facts.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/plan/time_limit.hpp"
#include "driver/plan/try_plan.hpp"
#include "driver/summary/summary.hpp"
#include "driver/sweep/session.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/origin.hpp"
#include "driver/system/process.hpp"
#include "driver/system/scratch_folder.hpp"
#include "driver/system/stop_signals.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

constexpr double devices_timeout = 300;  // seconds for the process that lists the GPUs
constexpr double min_seconds = 0.5;      // minimum time for the methods, even if reading took longer

struct TryOptions {
  std::string file, output, backend = "auto", time_limit = "1min", uplo;
  std::vector<std::string> problems, precisions, libraries;
  bool condition = false, lists_left_out = false;
  TryRequest request;
  /// Returns true if the user requested emulated kernels; then they run even if other methods passed.
  bool emulates() const { return backend == "emulated" || !request.methods.empty(); }
};

/// Returns the backend that the run will choose for the value `name` of --backend, and the GPU's compute
/// capability (0: no GPU). A separate process queries the GPU, because this process must not occupy the GPU
/// during measurements.
std::pair<Backend, int> expected_backend(const std::string& name) {
  if (name == "emulated") return {Backend::emulated, 0};
  if (name == "host") return {Backend::host, 0};
  const nlohmann::json devices = nlohmann::json::parse(
      captured_output({"devices", "--untouched", "--format", "json", "--parent", std::to_string(::getpid())},
                      child_environment({}), devices_timeout));
  for (const nlohmann::json& gpu : devices.at("gpus")) {
    if (gpu.value("error", "").empty()) return {Backend::cuda, gpu.value("capability", 0)};
  }
  return {name == "cuda" ? Backend::cuda : Backend::emulated, 0};  // the run reports why there is no GPU
}

/// Returns true if the factorisation that estimates the condition takes less than a quarter of the time
/// limit.
/// @param time_limit seconds
bool is_soon_factored(std::int64_t order, double time_limit) {
  constexpr double flops_per_second = 5e9;  // assumed speed of one CPU
  constexpr double fraction = 0.25;
  return std::pow(static_cast<double>(order), 3) / flops_per_second < fraction * time_limit;
}

/// Returns the name of the GPU that the methods ran on, or of the CPU if no method ran on a GPU.
std::string device_name(const io::Results& results) {
  for (const io::Record& r : results.records) {
    if (r.backend == "cuda" && !r.gpu_name.empty()) return r.gpu_name;
  }
  return results.hosts.empty() || results.hosts.front().cpu.empty() ? "this CPU" : results.hosts.front().cpu;
}

/// Throws if mpirun started several ranks.
void refuse_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* ranks = std::getenv(name);
    if (ranks != nullptr && std::atoi(ranks) > 1)
      throw UsageError("try: is for one process; run takes the ranks of mpirun");
  }
}

/// Throws UsageError if Slurm gave this job GPUs, but methods for GPUs would run emulated.
void refuse_unusable_gpus(const TryPlan& plan, Backend backend) {
  const bool emulates = std::any_of(plan.methods.begin(), plan.methods.end(), [&](const Method* method) {
    return resolve_backend(*method, backend) == Backend::emulated;
  });
  const std::string gpus = gpus_of_job();
  if (!emulates || gpus.empty()) return;
  throw UsageError(fmt::format(
      "Slurm gave this job GPUs ({}), but none can be used (gaussweep devices names the reason). --backend "
      "emulated tries the kernels on the CPU nevertheless",
      gpus));
}

/// Converts a reason from singular to plural, for several methods: "needs …" becomes "need …".
std::string in_plural(const std::string& why) {
  for (const auto& [singular, plural] : {std::pair("needs ", "need "), {"has ", "have "}, {"does ", "do "}}) {
    if (why.rfind(singular, 0) == 0) return plural + why.substr(std::strlen(singular));
  }
  return why;
}

/// Prints the methods that are not tried, one line per reason.
void print_left_out(const std::vector<LeftOut>& left_out) {
  for (const LeftOut& entry : left_out) {
    const std::string why = entry.methods.size() > 1 ? in_plural(entry.why) : entry.why;
    fmt::print("Not tried: {}: {}\n", fmt::join(entry.methods, ", "), one_line_printable(why));
  }
}

/// Prints one table per task, an explanation of the columns, and a table of unexpected failures.
void print_details(const std::vector<TriedTask>& tasks, const std::vector<io::Record>& records) {
  fmt::print("{}", task_tables(tasks, output_width()));
  std::string legend =
      "DIGITS: correct digits of a solution or an inverse; for factors, digits in which their product agrees "
      "with A. RATIO: the residual in units of the error that rounding may cause; up to the problem's "
      "tolerance it passes.";
  const auto has_any = [&](auto is_such) { return std::any_of(records.begin(), records.end(), is_such); };
  if (has_any([](const io::Record& r) { return r.round > 1; }))
    legend += " TIMES FASTEST: compared round by round, so it may differ from the quotient of the medians.";
  if (has_any([](const io::Record& r) { return r.backend == "emulated"; }))
    legend += " emulated: a GPU's kernels on this CPU; their times say nothing about a GPU.";
  if (has_any(is_expected_failure))
    legend += " suspect, failed, diverged: it was unknown whether these methods suit the matrix.";
  fmt::print("\n{}", paragraph(legend, prose_width()));
  const Table unexpected = failure_table(records, Failures::unexpected);
  if (!unexpected.rows.empty())
    fmt::print("\nNot as expected, although the method suits the matrix:\n{}",
               render_text(unexpected, output_width()));
}

/// Returns a note if the matrix is sparse; otherwise an empty text.
std::string sparse_text(const MatrixFacts& facts) {
  constexpr double sparse_share = 0.05;
  constexpr std::int64_t min_rows = 100;
  const double share = static_cast<double>(facts.nonzeros) /
                       (static_cast<double>(facts.rows) * static_cast<double>(facts.cols));
  if (facts.rows < min_rows || share > sparse_share) return {};
  return fmt::format(
      "Only {} of the elements are not zero: a sparse solver needs less time and memory. All methods here "
      "treat the matrix as dense.",
      to_text(Cell(share), Style::percent));
}

/// The command's answer must fit on a terminal of 24 rows and 80 columns. Three rows are reserved: for a
/// blank line, the number of tasks that are not shown, and the shell's prompt.
constexpr std::size_t answer_width = 80, answer_rows = 21;

/// Returns the number of terminal rows that a text fills.
std::size_t rows_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) rows += 1 + width_of(line) / (answer_width + 1);
  return rows;
}

/// Returns the plan's methods that have no record because time ran out, without emulated kernels.
std::vector<const Method*> unreached_methods(const TryPlan& plan, Backend backend,
                                             const std::vector<io::Record>& records) {
  std::vector<const Method*> unreached;
  for (const Method* method : plan.methods) {
    const bool has_record = std::any_of(records.begin(), records.end(), [&](const io::Record& r) {
      return r.problem == method->problem->name && r.method == method->variant;
    });
    if (!has_record && resolve_backend(*method, backend) != Backend::emulated) unreached.push_back(method);
  }
  return unreached;
}

/// The numbers of trials of the first round (repetition of the trials) that did not run in time.
struct Missing {
  std::size_t all = 0;
  std::size_t emulated = 0;  ///< trials of emulated kernels, which are included in `all`
};

Missing missing_trials(const TryPlan& plan, const std::vector<io::Record>& records) {
  std::size_t reached = 0, emulated = 0;
  for (const io::Record& r : records) {
    if (r.round != 1) continue;
    ++reached;
    if (r.backend == "emulated") ++emulated;
  }
  return {plan.trials - std::min(plan.trials, reached),
          plan.emulated_trials - std::min(plan.emulated_trials, emulated)};
}

/// Prints the answer: one sentence per task, warnings, and the commands that solve or invert.
/// @param unreached methods that did not run in time
/// @param not_emulated number of trials of emulated kernels that were left out as unnecessary
/// @param program this program's name as the user entered it
void print_answer(const TryOptions& options, const InspectedMatrix& matrix, const TryPlan& plan,
                  const std::vector<TriedTask>& tasks, const io::Results& results,
                  const std::vector<const Method*>& unreached, const Missing& missing,
                  std::size_t not_emulated, const std::string& program) {
  std::string notes;
  const auto note = [&](const std::string& text) {
    if (!text.empty()) notes += paragraph(text, answer_width);
  };
  note(noise_sentence(tasks, results));
  note(sparse_text(matrix.facts));
  note(singular_text(matrix, tasks));
  if (missing.all > 0) {
    const bool has_others = plan.emulated_trials < plan.trials;
    const std::string emulated =
        missing.emulated > 0 && has_others
            ? fmt::format(" (emulated kernels, which come last: {})", missing.emulated)
            : "";
    note(
        fmt::format("Not reached within --time-limit {}: {} of {}{}. A longer limit, or fewer methods "
                    "(--problem, --method), reach more.",
                    options.time_limit, missing.all, counted(plan.trials, "trial"), emulated));
  }
  std::vector<std::string> not_tried;
  if (plan.left_out_count > 0 && !options.lists_left_out)
    not_tried.push_back(counted(plan.left_out_count, "method") + " (--left-out)");
  if (not_emulated > 0)
    not_tried.push_back(counted(not_emulated, "emulated trial") + " (--backend emulated)");
  if (!not_tried.empty()) note(fmt::format("Not tried: {}.", fmt::join(not_tried, "; ")));
  std::vector<TriedTask> solvable = tasks;
  solvable.erase(std::remove_if(solvable.begin(), solvable.end(),
                                [&](const TriedTask& task) { return is_singular(matrix, task); }),
                 solvable.end());
  notes += solve_commands(solvable, options.request, program, options.file);

  const std::vector<std::string> sentences = race_sentences(tasks, unreached);
  const std::string device = one_line_printable(device_name(results));
  std::string answer = paragraph(
      sentences.empty()
          ? fmt::format("No method ran on {}.", device)
          : fmt::format("The fastest methods on {}, each with the 99 % interval of its lead:", device),
      answer_width);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::string lines = paragraph(sentences[i], answer_width);
    if (rows_of(answer + lines + notes) > answer_rows && i > 0) {
      answer += fmt::format("{} more, in the tables above.\n", counted(sentences.size() - i, "task"));
      break;
    }
    answer += lines;
  }
  fmt::print("\n{}{}", answer, notes);
}

/// Sets the request from the texts of the options. @throws UsageError
void parse_request(TryOptions& options) {
  TryRequest& request = options.request;
  std::vector<std::string> problems_of_one_matrix;
  for (const Problem problem : all_problems()) {
    if (problem->second != SecondOperand::matrix) problems_of_one_matrix.emplace_back(to_string(problem));
  }
  for (const std::string& name : options.problems) {
    request.problems.push_back(parse_option<Problem>("--problem", name, problems_of_one_matrix));
    if (request.problems.back()->second == SecondOperand::matrix) {
      throw UsageError(
          fmt::format("--problem {}: takes two matrices; give them in a plan (gaussweep plan --help)", name));
    }
  }
  if (!options.precisions.empty()) request.precisions.clear();
  for (const std::string& name : options.precisions)
    request.precisions.push_back(parse_option<Precision>("--precision", name));
  if (!options.uplo.empty()) request.uplo = parse_option<Uplo>("--uplo", options.uplo);
  request.libraries = options.libraries;
  request.seconds = parse_time_limit(options.time_limit);
}

/// Reads and inspects the matrix, and prints its properties.
InspectedMatrix print_matrix(const TryOptions& options, const std::filesystem::path& path) {
  const TryRequest& request = options.request;
  const io::MatrixInfo info = io::matrix_info_in_child(path, request.dataset);
  fmt::print("Matrix:    {}\n{}", one_line_printable(options.file), info_text(info));
  const std::int64_t order = std::max(info.rows, info.cols);
  const bool factors =
      options.condition || (order <= max_factored && is_soon_factored(order, request.seconds));
  InspectedMatrix matrix = inspect(io::import_matrix_in_child(path, request.dataset), factors);
  fmt::print("{}", properties_text(matrix));
  return matrix;
}

/// Runs rounds (repetitions of the trials in new processes) until the fastest methods are known, or until the
/// deadline.
/// @param run has the output directory and the matrix file; receives the other settings
/// @return the exit code of the sweep
int run_rounds(RunOptions& run, const TryOptions& options, const TryPlan& plan, Backend backend,
               double deadline, const Commands& commands, const Registry& registry) {
  TryRounds rounds(plan, backend, options.emulates(), now_seconds(), deadline);
  const auto parsed = [](const std::string& text) {
    return io::parse_plan(text, "try", enum_names<Problem>());
  };
  run.plan = (std::filesystem::path(run.output) / "plan.yaml").string();
  run.made_plan = parsed(rounds.first());
  run.lists_unexpected = false;
  run.next_plan = [&](const io::JournalContents& journal) -> std::optional<io::Plan> {
    const std::string text = rounds.next(journal.records, now_seconds());
    return text.empty() ? std::nullopt : std::optional(parsed(text));
  };
  run.backend = options.backend;
  run.time_limit = std::max(min_seconds, deadline - now_seconds());
  run.grace = 0;
  run.order = QueueOrder::shortest_first;
  run.command_line = command_line(commands);
  run.program = commands.argv[0];
  std::signal(SIGPIPE, SIG_IGN);
  return run_sweep(run, registry);
}

/// Inspects the matrix, runs the methods that suit it, and prints the fastest methods. @return the exit code
int try_matrix(TryOptions& options, const Commands& commands) {
  const double start = now_seconds();
  refuse_ranks();
  parse_request(options);
  const TryRequest& request = options.request;
  Registry registry = commands.registry;
  add_libraries(registry, options.libraries);
  const std::filesystem::path path = std::filesystem::absolute(options.file);
  const InspectedMatrix matrix = print_matrix(options, path);
  const auto [backend, capability] = expected_backend(options.backend);
  FileFacts facts = facts_of_file(path, request.dataset);
  const TryPlan plan = plan_try(request, matrix, facts, registry, backend, capability);
  if (options.lists_left_out || plan.text.empty()) print_left_out(plan.left_out);
  if (plan.text.empty())
    throw UsageError("try: no method is left to try; see --problem, --method, --backend");
  if (options.backend == "auto") refuse_unusable_gpus(plan, backend);
  std::fflush(stdout);

  RunOptions run;
  facts.inspected = matrix;
  run.files.add(path, request.dataset, facts);
  run.is_kept = !options.output.empty();
  run.output = options.output;
  std::optional<ScratchFolder> scratch;
  if (!run.is_kept) {
    scratch.emplace("gaussweep-try");
    run.output = (scratch->path() / "run").string();
  }
  // Reserves time for stopping the worker and printing the answer.
  const double reserved_seconds = std::min(2.0, 0.1 * request.seconds);
  const int code =
      run_rounds(run, options, plan, backend, start + request.seconds - reserved_seconds, commands, registry);

  const io::Results results = load_all({run.output});
  const std::vector<Group> groups = group_records(results.records);
  const std::vector<TriedTask> tasks = tried_tasks(groups);
  print_details(tasks, results.records);
  if (run.is_kept) {
    fmt::print("\nAll measurements: {}\n", one_line_printable(run.output));
  } else {
    fmt::print("\n-o DIR keeps the measurements, with a plan to go on from.\n");
  }
  Missing missing = missing_trials(plan, results.records);
  std::size_t not_emulated = 0;
  if (!options.emulates() && is_solved_without_emulation(plan, backend, results.records)) {
    not_emulated = std::exchange(missing.emulated, 0);
    missing.all -= not_emulated;
  }
  print_answer(options, matrix, plan, tasks, results, unreached_methods(plan, backend, results.records),
               missing, not_emulated, commands.argv[0]);
  // Emulated kernels compete with no other method. If the plan has other methods, the answer is complete
  // without emulated kernels.
  const bool only_emulated_are_missing =
      missing.all == missing.emulated && plan.emulated_trials < plan.trials;
  const bool is_first_round_complete =
      code == exit_stopped && (missing.all == 0 || only_emulated_are_missing) && stop_signals() == 0;
  if (code != exit_ok && code != exit_wrong && !is_first_round_complete) return code;
  const bool is_solved = std::all_of(tasks.begin(), tasks.end(),
                                     [](const TriedTask& task) { return !task.race.racers.empty(); });
  return is_solved ? exit_ok : exit_wrong;
}

}  // namespace

void add_try_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<TryOptions>();
  CLI::App* sub = app.add_subcommand(
      "try", "Report the properties of a matrix, run the methods that suit it, and report the fastest");
  TryRequest& request = options->request;
  const auto add_list = [sub](const char* name, std::vector<std::string>& list, const std::string& help) {
    refuse_empty(*sub->add_option(name, list, help)->delimiter(',')->allow_extra_args(false));
  };
  sub->add_option("file", options->file, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", request.dataset, "Path of the matrix in an HDF5 or MATLAB file");
  std::vector<std::string> problem_names;  // without those of two matrices
  for (const Problem problem : all_problems()) {
    if (problem->second != SecondOperand::matrix) problem_names.push_back(problem->name);
  }
  add_list("--problem", options->problems,
           fmt::format("Only these: {} [those that suit the matrix]", fmt::join(problem_names, ", ")));
  add_list("--method", request.methods,
           "Only these, even if they do not suit the matrix, e.g. lapack, gesv/gauss_* [those that suit it]");
  add_library_option(*sub, options->libraries);
  auto* nrhs =
      sub->add_option("--nrhs", request.nrhs, "Right-hand sides of gesv, posv and trsv, one or a list [1]")
          ->delimiter(',')
          ->allow_extra_args(false);
  allow_integers(*nrhs, 1, io::max_size);
  add_list("--precision", options->precisions, "float, double, or both [double]");
  sub->add_option("--uplo", options->uplo,
                  "Triangle of trsv, trtri, potrf and posv: lower, upper [the matrix's own, else lower]");
  allow_integers(*sub->add_option("--repeats", request.repeats, "Timed samples per round, at least")
                      ->capture_default_str(),
                 1, io::max_count);
  add_backend(*sub, options->backend, "As for run");
  refuse_empty(*sub->add_option("--time-limit", options->time_limit, "Time limit for everything, as for run")
                    ->capture_default_str());
  sub->add_flag("--left-out", options->lists_left_out, "List the methods that are not tried, and why");
  sub->add_flag(
      "--condition", options->condition,
      fmt::format("Estimate the condition of a matrix of any order (without: up to {})", max_factored));
  add_output(*sub, options->output,
             "Keep the run directory, with plan and results, under this name [a temporary one]");
  sub->callback([options, &commands] { commands.exit_code = try_matrix(*options, commands); });
}

}  // namespace gaussweep::driver
