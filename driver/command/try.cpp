/// `gaussweep try`: one matrix, the methods that suit it, and which of them wins.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>

#include "driver/base/printable.hpp"
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_facts.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/command/records_output.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/file_facts.hpp"
#include "driver/plan/time_limit.hpp"
#include "driver/plan/try_plan.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/sweep_status.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "driver/sweep/session.hpp"
#include "driver/system/process.hpp"
#include "driver/system/scratch_folder.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

constexpr double devices_timeout = 300;

struct TryWords {
  std::string file, output, backend = "auto", time_limit = "1min", uplo;
  std::vector<std::string> problems, precisions;
  bool condition = false;
  TryRequest request;
};

/// What the run will decide for this backend's word, and the GPU's capability (0: none). The GPU is looked at
/// by a process of its own: this one must not hold it while it is measured.
std::pair<Backend, int> foreseen_backend(const std::string& word) {
  if (word == "emulated") return {Backend::emulated, 0};
  if (word == "host") return {Backend::host, 0};
  const nlohmann::json devices = nlohmann::json::parse(
      capture_self({"devices", "--untouched", "--format", "json", "--parent", std::to_string(::getpid())},
                   child_environment({}), devices_timeout));
  for (const nlohmann::json& gpu : devices.at("gpus")) {
    if (gpu.value("error", "").empty()) return {Backend::cuda, gpu.value("capability", 0)};
  }
  return {word == "cuda" ? Backend::cuda : Backend::emulated, 0};  // without a GPU, the run says why
}

void refuse_ranks() {
  for (const char* mark : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* ranks = std::getenv(mark);
    if (ranks != nullptr && std::atoi(ranks) > 1)
      throw UsageError("try: is for one process; run takes the ranks of mpirun");
  }
}

/// Why one method is left out, said of several: "needs a matrix ..." becomes "need a matrix ...".
std::string of_several(const std::string& why) {
  for (const auto& [of_one, of_many] : {std::pair("needs ", "need "), {"has ", "have "}, {"does ", "do "}}) {
    if (why.rfind(of_one, 0) == 0) return of_many + why.substr(std::strlen(of_one));
  }
  return why;
}

void print_left_out(const std::vector<LeftOut>& all) {
  for (const LeftOut& left : all) {
    const std::string why = left.methods.size() > 1 ? of_several(left.why) : left.why;
    fmt::print("Not tried: {}: {}\n", fmt::join(left.methods, ", "), printable(why));
  }
}

/// Decimal digits that agree with the known solution; none where there is no such solution.
Cell correct_digits(const Group& group) {
  const double digits = std::floor(-std::log10(group.forward_error));
  return std::isfinite(digits) ? Cell(static_cast<std::int64_t>(std::max(0.0, digits))) : Cell();
}

/// What became of each method of one task: those that passed first, the fastest before others.
void print_task(const VerdictRow& row, const VerdictCell& cell, std::vector<const Group*> groups) {
  const auto place = [](const Group* g) {
    return std::make_tuple(status_severity(g->status), g->first().backend == "emulated", g->median);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const Group* a, const Group* b) { return place(a) < place(b); });
  Table table;
  table.columns = {
      {"method", "METHOD"},
      {"backend", "BACKEND"},
      {"status", "STATUS"},
      {"median", "MEDIAN", Style::seconds},
      {"speedup", "OVER " + (cell.baseline == nullptr ? "" : cell.baseline->first().method), Style::factor},
      {"digits", "DIGITS"},
      {"ratio", "RATIO", Style::scientific}};
  for (const Group* group : groups) {
    const bool races =
        cell.baseline != nullptr && group->status == io::Status::pass && group->first().backend != "emulated";
    table.rows.push_back({group->first().method, group->first().backend, group->status, group->median,
                          races ? cell.baseline->median / group->median : io::Record::unknown,
                          correct_digits(*group), group->ratio});
  }
  const io::Record& any = cell.first->first();
  fmt::print("\n{} {}{}{}: {}\n{}", row.problem, row.precision, row.details.empty() ? "" : ", ",
             printable(row.details), printable(any.problem_title), render_text(table, output_width()));
}

/// The answer in a sentence a task, then a table a task, systems before factors and inverses.
/// @return whether every task has a method that passed
bool print_answer(const io::Results& results) {
  std::vector<VerdictGrid> grids = verdict_grids(results.records, results.devices, results.hosts);
  const auto is_solve = [](const VerdictRow& row) {
    const auto problem = from_string<Problem>(row.problem);
    return problem && (*problem)->second == SecondOperand::right_hand_sides;
  };
  for (VerdictGrid& grid : grids) std::stable_partition(grid.rows.begin(), grid.rows.end(), is_solve);
  std::istringstream sentences(race_sentences(grids));
  fmt::print("\n");
  for (std::string line; std::getline(sentences, line);) fmt::print("{}", paragraph(line, prose_width()));
  bool is_solved = true;
  for (const VerdictGrid& grid : grids) {
    std::map<std::string, std::vector<const Group*>> tasks;
    for (const Group& group : grid.groups) tasks[task_identity(group.first())].push_back(&group);
    for (const VerdictRow& row : grid.rows) {
      for (const auto& [n, cell] : row.cells) {
        print_task(row, cell, tasks.at(task_identity(cell.first->first())));
        is_solved = is_solved && cell.winner != nullptr;
      }
    }
  }
  const auto any_is = [&](auto is_such) {
    return std::any_of(results.records.begin(), results.records.end(), is_such);
  };
  std::string words =
      "DIGITS: those that agree with the known solution. RATIO: the residual over what rounding may cause; "
      "up "
      "to the problem's tolerance it passes.";
  if (any_is([](const io::Record& r) { return r.backend == "emulated"; }))
    words += " emulated: a GPU's kernels on this CPU; their times say nothing of a GPU.";
  if (any_is(is_finding))
    words += " suspect, failed, diverged: it was unknown whether these methods suit the matrix.";
  fmt::print("\n{}", paragraph(words, prose_width()));
  const Table unexpected = failure_table(results.records, Failures::unexpected);
  if (!unexpected.rows.empty())
    fmt::print("\nNot as expected, for the method suits the matrix:\n{}",
               render_text(unexpected, output_width()));
  return is_solved;
}

/// After an early end: what nobody knows.
std::string not_reached_words(const std::filesystem::path& run, const std::string& time_limit) {
  const SweepStatus status = status_of(io::read_journal(run / "journal.jsonl"), false, timestamp_now(), 0);
  return fmt::format(
      "Not reached within --time-limit {}: {} of {}. A longer one, --problem or --method "
      "reach more.",
      time_limit, status.total - status.done, counted(static_cast<std::size_t>(status.total), "trial"));
}

int try_matrix(TryWords& words, const Commands& commands) {
  refuse_ranks();
  TryRequest& request = words.request;
  for (const std::string& word : words.problems) {
    request.problems.push_back(parse_option<Problem>("--problem", word));
    if (request.problems.back()->second == SecondOperand::matrix) {
      throw UsageError(
          fmt::format("--problem {}: takes two matrices; give them in a plan (gaussweep plan --help)", word));
    }
  }
  if (!words.precisions.empty()) request.precisions.clear();
  for (const std::string& word : words.precisions)
    request.precisions.push_back(parse_option<Precision>("--precision", word));
  if (!words.uplo.empty()) request.uplo = parse_option<Uplo>("--uplo", words.uplo);
  request.seconds = parse_time_limit(words.time_limit);

  const std::filesystem::path path = std::filesystem::absolute(words.file);
  const io::MatrixInfo info = io::matrix_info_apart(path, request.dataset);
  fmt::print("Matrix:    {}\n{}", printable(words.file), info_text(info));
  const SeenMatrix seen = see(io::import_matrix_apart(path, request.dataset),
                              words.condition || std::max(info.rows, info.cols) <= most_factored);
  fmt::print("{}", seen_text(seen));
  const auto [backend, capability] = foreseen_backend(words.backend);
  const TryPlan plan =
      plan_try(request, seen, facts_of_file(path, request.dataset), commands.registry, backend, capability);
  print_left_out(plan.left_out);
  if (plan.text.empty())
    throw UsageError("try: no method is left to try; see --problem, --method, --backend");
  std::fflush(stdout);

  std::optional<ScratchFolder> scratch;
  RunOptions options;
  options.is_kept = !words.output.empty();
  options.output = words.output;
  if (!options.is_kept) {
    scratch.emplace("gaussweep-try");
    options.output = (scratch->path() / "run").string();
  }
  options.plan = (std::filesystem::path(options.output) / "plan.yaml").string();
  options.made_plan = io::parse_plan(plan.text, "try", enum_names<Problem>());
  options.backend = words.backend;
  options.time_limit = request.seconds;
  options.order = QueueOrder::shortest_first;
  options.command_line = command_line(commands);
  std::signal(SIGPIPE, SIG_IGN);
  const int code = run_sweep(options, commands.registry);

  const bool is_solved = print_answer(load_all({options.output}));
  if (code == exit_stopped)
    fmt::print("\n{}", paragraph(not_reached_words(options.output, words.time_limit), prose_width()));
  fmt::print("\n{}", options.is_kept
                         ? fmt::format("Everything that was measured: {}\n", printable(options.output))
                         : "-o DIR keeps the measurements, with a plan to go on from.\n");
  if (code == exit_ok || code == exit_wrong) return is_solved ? exit_ok : exit_wrong;
  return code;
}

}  // namespace

void add_try_command(CLI::App& app, Commands& commands) {
  auto words = std::make_shared<TryWords>();
  CLI::App* sub = app.add_subcommand(
      "try", "Report what a matrix is, run the methods that suit it, and report the fastest");
  TryRequest& request = words->request;
  const auto add_list = [sub](const char* name, std::vector<std::string>& list, const std::string& help) {
    refuse_empty(*sub->add_option(name, list, help)->delimiter(',')->allow_extra_args(false));
  };
  sub->add_option("file", words->file, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", request.dataset, "Path of the matrix in an HDF5 or MATLAB file");
  std::vector<std::string> of_one_matrix;
  for (const Problem problem : all_problems()) {
    if (problem->second != SecondOperand::matrix) of_one_matrix.push_back(problem->name);
  }
  add_list("--problem", words->problems,
           fmt::format("Only these: {} [those that suit the matrix]", fmt::join(of_one_matrix, ", ")));
  add_list("--method", request.methods,
           "Only these, whatever they need and however long they take, e.g. lapack, gesv/gauss_* [those that "
           "suit it]");
  auto* nrhs =
      sub->add_option("--nrhs", request.nrhs, "Right-hand sides of gesv, posv and trsv, one or a list [1]")
          ->delimiter(',')
          ->allow_extra_args(false);
  allow_whole(*nrhs, 1, io::largest_size);
  add_list("--precision", words->precisions, "float, double, or both [double]");
  sub->add_option("--uplo", words->uplo,
                  "Triangle of trsv, trtri, potrf and posv: lower, upper [the matrix's own, else lower]");
  allow_whole(*sub->add_option("--repeats", request.repeats, "Timed samples a trial")->capture_default_str(),
              1, io::largest_count);
  allow_backends(*sub->add_option("--backend", words->backend, "As for run")->capture_default_str());
  refuse_empty(*sub->add_option("--time-limit", words->time_limit, "That all of it may take, as for run")
                    ->capture_default_str());
  sub->add_flag(
      "--condition", words->condition,
      fmt::format("Estimate the condition of a matrix of any order (without: up to {})", most_factored));
  refuse_empty(*sub->add_option("-o,--output", words->output,
                                "A run directory to keep, with plan and results [a temporary one]"));
  sub->callback([words, &commands] { commands.exit_code = try_matrix(*words, commands); });
}

}  // namespace gaussweep::driver
