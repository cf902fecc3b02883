/// Implements `gaussweep solve`: solves one problem with one method, verifies the answer and writes it to a
/// file.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <spdlog/spdlog.h>
#include <utility>

#include "driver/base/dense.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/options.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/method_choice.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/plan/needs.hpp"
#include "driver/plan/trial.hpp"
#include "driver/worker/probe.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

struct SolveOptions {
  std::string file, dataset, rhs, rhs_dataset, problem, method, uplo, precision = "double", backend = "auto",
                                                                      output;
  std::vector<std::string> libraries;
  bool force = false, condition = false;
};

/// Reads a matrix.
/// @param require a function of rows and columns that throws if they do not fit. It is called with the size
/// in the file's header, before gigabytes are read. It is called again with the size of the matrix that was
/// read, because the file may have changed.
template <class T, class Require>
HostMatrix<T> imported(const std::string& file, const io::DatasetChoice& dataset, const Require& require) {
  const io::MatrixSize size = io::matrix_size_in_child(file, dataset);
  require(size.rows, size.cols);
  io::Dense<T> dense = rounded<T>(io::import_matrix_in_child(file, dataset), file);
  require(dense.rows, dense.cols);
  HostMatrix<T> matrix;
  matrix.rows = dense.rows;
  matrix.cols = dense.cols;
  matrix.data = std::move(dense.data);
  return matrix;
}

/// Fills the triangle of the answer that the method does not set. A triangular answer gets zeros there, a
/// symmetric one the mirrored elements.
/// @param used the elements of the answer that the method sets @param uplo the triangle that the method sets
template <class T>
void fill_other_triangle(HostMatrix<T>& matrix, UsedElements used, Uplo uplo) {
  if (used == UsedElements::all) return;
  for (std::int64_t j = 0; j < matrix.cols; ++j) {
    for (std::int64_t i = j + 1; i < matrix.rows; ++i) {
      T &below = matrix(i, j), &above = matrix(j, i);
      const bool is_lower = uplo == Uplo::lower;
      T& unset = is_lower ? above : below;
      const T mirrored = is_lower ? below : above;
      unset = used == UsedElements::triangle ? T(0) : mirrored;
    }
  }
}

/// Reads the operands. @throws UsageError if A and B do not fit the problem or exceed the memory
template <class T>
Inputs<T> inputs_of(const SolveOptions& options, Problem problem) {
  Inputs<T> inputs;
  inputs.a = imported<T>(options.file, options.dataset, [&](std::int64_t rows, std::int64_t cols) {
    if (rows == cols) return;
    throw UsageError(
        fmt::format("{}: {} x {}; {} takes square matrices", options.file, rows, cols, to_string(problem)));
  });
  // The members are m, n, k, nrhs and the triangle.
  inputs.shape = {inputs.a.rows, inputs.a.rows, inputs.a.rows, 1,
                  options.uplo.empty() ? Uplo::lower : parse_option<Uplo>("--uplo", options.uplo)};
  if (!options.rhs.empty()) {
    std::error_code unknown;
    const io::Operand operand = fs::equivalent(options.rhs, options.file, unknown)
                                    ? io::Operand::right_hand_sides_in_same_file
                                    : io::Operand::right_hand_sides;
    const auto require_rows = [&](std::int64_t rows, std::int64_t) {
      if (rows != inputs.a.rows)
        throw UsageError(fmt::format("--rhs {}: {} rows; A has {}", options.rhs, rows, inputs.a.rows));
    };
    inputs.b = imported<T>(options.rhs, {options.rhs_dataset, operand}, require_rows);
    inputs.shape.nrhs = inputs.b.cols;
  }
  return inputs;
}

/// Inspects A, and chooses the triangle if the user named none. Warns of each need (property that the method
/// requires of the matrix) that A does not satisfy.
/// @throws UsageError if the method would ignore elements of A
template <class T>
void check_needs(const SolveOptions& options, const Method& method, Inputs<T>& inputs) {
  const HostMatrix<T>& a = inputs.a;
  HostMatrix<double> copy = HostMatrix<double>::uninitialized(a.rows, a.cols);
  std::copy(a.data.begin(), a.data.end(), copy.data.begin());
  const InspectedMatrix inspected =
      inspect(std::move(copy), options.condition || a.rows <= max_factored, precision_of<T>);
  Uplo& uplo = inputs.shape.uplo;
  if (options.uplo.empty() && inspected.facts.is_triangular()) uplo = inspected.facts.triangle();
  const std::vector<std::string> unmet = unmet_needs(inspected, method, uplo, precision_of<T>, options.file);
  // The first sentence is then about the ignored elements: the need for a triangular or symmetric A is the
  // first one of such problems.
  if (ignores_elements(inspected.facts, method.problem, uplo)) throw UsageError(unmet.at(0));
  for (const std::string& need : unmet) spdlog::warn("{}", one_line_printable(need));
}

/// Solves the problem in precision T, verifies the answer, and writes it if its status is pass or suspect.
/// @return the exit code
template <class T>
int solve_typed(const SolveOptions& options, const ChosenMethod& chosen, Device& device) {
  const Method& method = *chosen.method;
  const Problem problem = method.problem;
  Inputs<T> inputs = inputs_of<T>(options, problem);
  check_needs(options, method, inputs);
  Context context(device);
  MethodRun<T> run(context, method, chosen.backend, defaults_of(method), inputs.shape);
  run.upload(inputs);
  if (chosen.backend == Backend::cuda) run.warm_up();  // the first run loads libraries and kernels
  const double seconds = run.timed_run();
  Answer<T> answer = run.download();
  const double tolerance = default_tolerance(problem);
  const Findings found = check(method, inputs, answer, tolerance);
  const Evidence evidence{problem, found.ratio, tolerance, answer.info, run.report().convergence, found.flaw};
  const io::Status status = judge(evidence);
  const bool is_answer = status == io::Status::pass || status == io::Status::suspect;
  fmt::print("{} ({}, {}): {}, {}, ratio {:.2g} (tolerance {:g})\n", method.id(), to_string(chosen.backend),
             options.precision, name_of(status), seconds_text(seconds), infinite_if_overflowed(found.ratio),
             tolerance);
  if (status != io::Status::pass) spdlog::warn("{}", finding_text(evidence));
  if (!is_answer) {
    spdlog::warn("{}: not written", options.output);
    return status == io::Status::error ? exit_broken : exit_wrong;
  }
  fill_other_triangle(answer.x, problem->used_of_x, inputs.shape.uplo);
  write_dense(options.output, {answer.x.rows, answer.x.cols, {answer.x.data.begin(), answer.x.data.end()}});
  fmt::print("{}: {} x {}\n", options.output, answer.x.rows, answer.x.cols);
  return status == io::Status::pass ? exit_ok : exit_wrong;
}

/// Returns true if `solve` can read the problem's operands and write its answer. The operands must be one
/// square matrix, with or without right-hand sides. The answer must be one matrix without pivots.
bool is_solvable(Problem problem) {
  return problem->second != SecondOperand::matrix && !problem->has_pivots;
}

/// Checks the options, chooses the method and solves the problem. @return the exit code
int run_solve(SolveOptions& options, const Commands& commands) {
  if (options.rhs.empty() && !options.rhs_dataset.empty()) options.rhs = options.file;
  const bool is_inverse_by_default = options.problem.empty() && options.rhs.empty();
  if (options.problem.empty()) options.problem = options.rhs.empty() ? "geinv" : "gesv";
  const Problem problem = parse_option<Problem>("--problem", options.problem);
  if (!is_solvable(problem)) {
    std::string allowed;
    for (const Problem other : all_problems()) {
      if (is_solvable(other)) allowed += (allowed.empty() ? "" : ", ") + std::string(to_string(other));
    }
    throw UsageError(
        fmt::format("--problem {}: has two matrices as operands, or pivots in its answer; allowed: {}",
                    options.problem, allowed));
  }
  const bool wants_right = problem->second == SecondOperand::right_hand_sides;
  if (wants_right && options.rhs.empty())
    throw UsageError(fmt::format("--problem {}: needs --rhs FILE or --rhs-dataset PATH", options.problem));
  if (!wants_right && !options.rhs.empty())
    throw UsageError(fmt::format("--rhs, --rhs-dataset: {} has no right-hand sides", options.problem));
  require_dense_ending(options.output);
  check_output(options.output, options.force, {options.file, options.rhs});
  const Precision precision = parse_precision(options.precision);
  std::unique_ptr<Device> device;
  const Backend requested = choose_backend(options.backend, device);
  Registry registry = commands.registry;
  if (!options.libraries.empty()) {
    // add_libraries loads each library in a child process first, because a bad library may crash it.
    // load_libraries then loads the libraries into this process.
    Registry checked = registry;
    add_libraries(checked, options.libraries);
    load_libraries(registry, libraries_of(checked));
  }
  MethodQuery query{{problem}, options.method, requested, precision, device ? device->info().capability : 0};
  if (is_inverse_by_default)
    query.wrong_problem_reason =
        "without --rhs, --rhs-dataset and --problem, solve computes the inverse (geinv)";
  const ChosenMethod chosen = choose_method(registry, query);
  if (chosen.backend != Backend::cuda) device = make_worker_device(chosen.backend);
  return precision == Precision::float32 ? solve_typed<float>(options, chosen, *device)
                                         : solve_typed<double>(options, chosen, *device);
}

}  // namespace

void add_solve_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<SolveOptions>();
  CLI::App* sub = app.add_subcommand("solve", "Solve a system, or invert a matrix, and write the answer");
  sub->add_option("file", options->file, "A: Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", options->dataset, "Path of the matrix in an HDF5 or MATLAB file");
  sub->add_option("--rhs", options->rhs, "The right-hand sides, a file of the same kinds");
  sub->add_option(
      "--rhs-dataset", options->rhs_dataset,
      "Path of the right-hand sides in --rhs, else in A's file [b, else the only matrix or vector]");
  sub->add_option("--problem", options->problem, "What to compute [gesv with right-hand sides, else geinv]");
  sub->add_option("--method", options->method,
                  "A method as `gaussweep methods` lists it, or its part after the slash "
                  "[the vendor's library]");
  add_library_option(*sub, options->libraries);
  refuse_empty(*sub->add_option("--uplo", options->uplo,
                                "The triangle of A that is read: lower, upper [the nonzero one if A is "
                                "triangular, else lower]"));
  sub->add_flag("--condition", options->condition,
                fmt::format("Estimate the condition of A of any order (without: up to {})", max_factored));
  sub->add_option("--precision", options->precision, "float or double")->capture_default_str();
  add_backend(*sub, options->backend, "auto: cuda where there is a GPU, else the CPU");
  add_output(*sub, options->output, "FILE.npy or FILE.mtx").required();
  sub->add_flag("--force", options->force, "Replace the file if it exists");
  sub->callback([options, &commands] { commands.exit_code = run_solve(*options, commands); });
}

}  // namespace gaussweep::driver
