/// `gaussweep try`: one matrix, the methods that suit it, and which of them wins.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "driver/base/printable.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_facts.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/command/records_output.hpp"
#include "driver/command/time_limit.hpp"
#include "driver/plan/file_facts.hpp"
#include "driver/plan/try_plan.hpp"
#include "driver/records/summary.hpp"
#include "driver/sweep/session.hpp"
#include "driver/system/console.hpp"
#include "driver/system/process.hpp"
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
  TryWishes wishes;
};

/// A folder of its own that goes away with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "gaussweep-try-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw io::StorageError(fmt::format("{}: {} (TMPDIR, or -o DIR)", name,
                                         std::error_code(errno, std::generic_category()).message()));
    }
    path_ = name;
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
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

void print_left_out(const std::vector<LeftOut>& all) {
  for (const LeftOut& left : all) {
    std::string names;
    for (const std::string& name : left.methods) names += (names.empty() ? "" : ", ") + name;
    fmt::print("Not tried: {}: {}\n", names, printable(left.why));
  }
}

/// Whether every task has a method that passed.
bool all_solved(const std::vector<io::Record>& records) {
  const std::vector<Group> groups = group_records(records);
  const std::vector<Group> best = best_groups(groups);
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.status == io::Status::skipped || std::any_of(best.begin(), best.end(), [&](const Group& b) {
             return b.first.problem == group.first.problem && b.first.nrhs == group.first.nrhs &&
                    b.first.precision == group.first.precision;
           });
  });
}

int try_matrix(TryWords& words, const Commands& commands) {
  refuse_ranks();
  TryWishes& wishes = words.wishes;
  for (const std::string& word : words.problems) {
    wishes.problems.push_back(parse_option<Problem>("--problem", word));
    if (wishes.problems.back()->second == SecondOperand::matrix) {
      throw UsageError(
          fmt::format("--problem {}: takes two matrices; give them in a plan (gaussweep plan --help)", word));
    }
  }
  if (!words.precisions.empty()) wishes.precisions.clear();
  for (const std::string& word : words.precisions)
    wishes.precisions.push_back(parse_option<Precision>("--precision", word));
  if (!words.uplo.empty()) wishes.uplo = parse_option<Uplo>("--uplo", words.uplo);
  wishes.seconds = parse_time_limit(words.time_limit);

  const std::filesystem::path path = std::filesystem::absolute(words.file);
  const io::MatrixInfo info = io::matrix_info_apart(path, wishes.dataset);
  fmt::print("Matrix:    {}\n{}", printable(words.file), info_text(info));
  const SeenMatrix seen = see(io::import_matrix_apart(path, wishes.dataset),
                              words.condition || std::max(info.rows, info.cols) <= most_factored);
  fmt::print("{}", seen_text(seen));
  const auto [backend, capability] = foreseen_backend(words.backend);
  const TryPlan plan =
      plan_try(wishes, seen, facts_of_file(path, wishes.dataset), commands.registry, backend, capability);
  print_left_out(plan.left_out);
  if (plan.text.empty())
    throw UsageError("try: no method is left to try; see --problem, --method, --backend");
  std::fflush(stdout);

  std::unique_ptr<Scratch> scratch;
  RunOptions options;
  options.is_kept = !words.output.empty();
  options.output = words.output;
  if (!options.is_kept) {
    scratch = std::make_unique<Scratch>();
    options.output = (scratch->path() / "run").string();
  }
  options.plan = (std::filesystem::path(options.output) / "plan.yaml").string();
  options.made_plan = io::parse_plan(plan.text, "try", enum_names<Problem>());
  options.backend = words.backend;
  options.time_limit = wishes.seconds;
  options.command_line = command_line(commands);
  std::signal(SIGPIPE, SIG_IGN);
  const int code = run_sweep(options, commands.registry);

  const io::Results results = load_all({options.output});
  std::vector<Group> groups = group_records(results.records);
  sort_groups(groups, "median");
  fmt::print("\n");
  print_groups(groups, 0);
  fmt::print("\n");
  print_races(results.records, results, Format::table);
  if (options.is_kept) fmt::print("Everything that was measured: {}\n", printable(options.output));
  return code == exit_ok && !all_solved(results.records) ? int{exit_wrong} : code;
}

}  // namespace

void add_try_command(CLI::App& app, Commands& commands) {
  auto words = std::make_shared<TryWords>();
  CLI::App* sub = app.add_subcommand(
      "try", "Say what a matrix is, run the methods that suit it, and say which of them wins");
  TryWishes& wishes = words->wishes;
  const auto add_list = [sub](const char* name, std::vector<std::string>& list, const char* help) {
    refuse_empty(*sub->add_option(name, list, help)->delimiter(',')->allow_extra_args(false));
  };
  sub->add_option("file", words->file, "Matrix Market, HDF5 or MATLAB v7.3")->required();
  sub->add_option("--dataset", wishes.dataset, "Path of the matrix in an HDF5 or MATLAB file");
  add_list("--problem", words->problems,
           "Only these: trsv, gesv, getrf, potrf, trtri, geinv, poinv [those that suit the matrix]");
  add_list("--method", wishes.methods,
           "Only these, whatever they need and however long they take, e.g. lapack, gesv/gauss_* [those that "
           "suit it]");
  auto* nrhs = sub->add_option("--nrhs", wishes.nrhs, "Right-hand sides of gesv and trsv, one or a list [1]")
                   ->delimiter(',')
                   ->allow_extra_args(false);
  allow_whole(*nrhs, 1, io::largest_size);
  add_list("--precision", words->precisions, "float, double, or both [double]");
  sub->add_option("--uplo", words->uplo,
                  "Triangle of trsv, trtri and potrf: lower, upper [the matrix's own, else lower]");
  allow_whole(*sub->add_option("--repeats", wishes.repeats, "Timed samples a trial")->capture_default_str(),
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
