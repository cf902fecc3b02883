/// `gaussweep solve`: solves one problem with one method, verifies the answer and writes it to a file.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/restore/restoration.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/rounded.hpp"
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/device_choice.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/needs.hpp"
#include "driver/plan/trial.hpp"
#include "driver/worker/probe.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

struct SolveWords {
  std::string file, dataset, right, right_dataset, problem, method, uplo, precision = "double",
                                                                          backend = "auto", output;
  bool force = false, condition = false;
};

/// Reads a matrix. @param require throws if rows and columns do not fit. It is called with the header's size
/// before gigabytes are read, and again with the matrix's size, because the file may have changed.
template <class T, class Require>
HostMatrix<T> imported(const std::string& file, const io::DatasetChoice& dataset, const Require& require) {
  const io::MatrixSize size = io::matrix_size_apart(file, dataset);
  require(size.rows, size.cols);
  io::Dense<T> dense = rounded<T>(io::import_matrix_apart(file, dataset), file);
  require(dense.rows, dense.cols);
  HostMatrix<T> matrix;
  matrix.rows = dense.rows;
  matrix.cols = dense.cols;
  matrix.data = std::move(dense.data);
  return matrix;
}

/// Sets the answer's other triangle to zeros or to the mirrored elements, as the problem defines it.
template <class T>
void settle_triangle(HostMatrix<T>& matrix, Counts counts, Uplo uplo) {
  if (counts == Counts::all) return;
  for (std::int64_t j = 0; j < matrix.cols; ++j) {
    for (std::int64_t i = j + 1; i < matrix.rows; ++i) {
      T &below = matrix(i, j), &above = matrix(j, i);
      T& other = uplo == Uplo::lower ? above : below;
      other = counts == Counts::triangle ? T(0) : uplo == Uplo::lower ? below : above;
    }
  }
}

/// Reads the operands. @throws UsageError if A and B do not fit the problem or exceed the memory
template <class T>
Inputs<T> inputs_of(const SolveWords& words, Problem problem) {
  Inputs<T> inputs;
  inputs.a = imported<T>(words.file, words.dataset, [&](std::int64_t rows, std::int64_t cols) {
    if (rows == cols) return;
    throw UsageError(
        fmt::format("{}: {} x {}; {} takes square matrices", words.file, rows, cols, to_string(problem)));
  });
  inputs.shape = {inputs.a.rows, inputs.a.rows, inputs.a.rows, 1,
                  words.uplo.empty() ? Uplo::lower : parse_option<Uplo>("--uplo", words.uplo)};
  if (!words.right.empty()) {
    std::error_code unknown;
    const io::Operand operand = fs::equivalent(words.right, words.file, unknown)
                                    ? io::Operand::right_hand_sides_beside_matrix
                                    : io::Operand::right_hand_sides;
    const auto require_rows = [&](std::int64_t rows, std::int64_t) {
      if (rows != inputs.a.rows)
        throw UsageError(fmt::format("--rhs {}: {} rows; A has {}", words.right, rows, inputs.a.rows));
    };
    inputs.b = imported<T>(words.right, {words.right_dataset, operand}, require_rows);
    inputs.shape.nrhs = inputs.b.cols;
  }
  return inputs;
}

/// Inspects A, chooses the triangle if the user named none, and warns of needs that A does not satisfy.
/// @throws UsageError if the method would ignore elements of A
template <class T>
void check_needs(const SolveWords& words, const Method& method, Inputs<T>& inputs) {
  const HostMatrix<T>& a = inputs.a;
  HostMatrix<double> copy = HostMatrix<double>::unset(a.rows, a.cols);
  std::copy(a.data.begin(), a.data.end(), copy.data.begin());
  const SeenMatrix seen = see(std::move(copy), words.condition || a.rows <= most_factored, precision_of<T>);
  Uplo& uplo = inputs.shape.uplo;
  if (words.uplo.empty() && seen.facts.is_triangular()) uplo = seen.facts.triangle();
  const std::vector<std::string> lacks = lacks_of(seen, method, uplo, precision_of<T>, words.file);
  if (ignores_elements(seen.facts, method.problem, uplo)) throw UsageError(lacks.at(0));
  for (const std::string& lack : lacks) spdlog::warn("{}", printable(lack));
}

template <class T>
int solve_typed(const SolveWords& words, const Inverter& by, Device& device) {
  const Method& method = *by.method;
  const Problem problem = method.problem;
  Inputs<T> inputs = inputs_of<T>(words, problem);
  check_needs(words, method, inputs);
  Context context(device);
  MethodRun<T> run(context, method, by.backend, defaults_of(method), inputs.shape);
  run.upload(inputs);
  if (by.backend == Backend::cuda) run.warm_up();  // the first run loads libraries and kernels
  const double seconds = run.timed_run();
  Answer<T> answer = run.download();
  const double tolerance = default_tolerance(problem);
  const Findings found = check(method, inputs, answer, tolerance);
  const Evidence evidence{problem, found.ratio, tolerance, answer.info, run.report().convergence, found.flaw};
  const io::Status status = judge(evidence);
  const bool is_answer = status == io::Status::pass || status == io::Status::suspect;
  fmt::print("{} ({}, {}): {}, {}, ratio {:.2g} (tolerance {:g})\n", method.id(), to_string(by.backend),
             words.precision, word(status), seconds_text(seconds), found.ratio, tolerance);
  if (status != io::Status::pass) spdlog::warn("{}", finding_words(evidence));
  if (!is_answer) {
    spdlog::warn("{}: not written", words.output);
    return status == io::Status::error ? exit_broken : exit_wrong;
  }
  settle_triangle(answer.x, problem->counts_of_x, inputs.shape.uplo);
  write_dense(words.output, {answer.x.rows, answer.x.cols, {answer.x.data.begin(), answer.x.data.end()}});
  fmt::print("{}: {} x {}\n", words.output, answer.x.rows, answer.x.cols);
  return status == io::Status::pass ? exit_ok : exit_wrong;
}

/// Returns true if the problem has one square matrix and at most right-hand sides as operands, and one matrix
/// as answer.
bool is_solvable(Problem problem) {
  return problem->second != SecondOperand::matrix && !problem->has_pivots;
}

int run_solve(SolveWords& words, const Commands& commands) {
  if (words.problem.empty()) words.problem = words.right.empty() ? "geinv" : "gesv";
  const Problem problem = parse_option<Problem>("--problem", words.problem);
  if (!is_solvable(problem)) {
    std::string allowed;
    for (const Problem other : all_problems()) {
      if (is_solvable(other)) allowed += (allowed.empty() ? "" : ", ") + std::string(to_string(other));
    }
    throw UsageError(
        fmt::format("--problem {}: its answer is not one matrix of A and right-hand sides; allowed: {}",
                    words.problem, allowed));
  }
  const bool wants_right = problem->second == SecondOperand::right_hand_sides;
  if (wants_right && words.right.empty())
    throw UsageError(fmt::format("--problem {}: needs --rhs FILE", words.problem));
  if (!wants_right && !words.right.empty())
    throw UsageError(fmt::format("--rhs {}: {} has no right-hand sides", words.right, words.problem));
  require_dense_ending(words.output);
  check_output(words.output, words.force, {words.file, words.right});
  const Precision precision = parse_precision(words.precision);
  std::unique_ptr<Device> device;
  const Backend requested = choose_backend(words.backend, device);
  const Inverter by = choose_method(commands.registry, problem, words.method, requested, precision,
                                    device ? device->info().capability : 0);
  if (by.backend != Backend::cuda) device = make_worker_device(by.backend);
  return precision == Precision::float32 ? solve_typed<float>(words, by, *device)
                                         : solve_typed<double>(words, by, *device);
}

}  // namespace

void add_solve_command(CLI::App& app, Commands& commands) {
  auto words = std::make_shared<SolveWords>();
  CLI::App* sub = app.add_subcommand("solve", "Solve a system, or invert a matrix, and write the answer");
  sub->add_option("file", words->file, "A: Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", words->dataset, "Path of the matrix in an HDF5 or MATLAB file");
  sub->add_option("--rhs", words->right, "The right-hand sides, a file of the same kinds");
  sub->add_option("--rhs-dataset", words->right_dataset,
                  "Path of the right-hand sides in their file [b, else the only matrix]");
  sub->add_option("--problem", words->problem, "What to compute [gesv with --rhs, else geinv]");
  sub->add_option("--method", words->method,
                  "An id of gaussweep methods, or a variant [the vendor's library]");
  refuse_empty(*sub->add_option("--uplo", words->uplo,
                                "The triangle that a problem reads: lower, upper [A's own, else lower]"));
  sub->add_flag("--condition", words->condition,
                fmt::format("Estimate the condition of A of any order (without: up to {})", most_factored));
  sub->add_option("--precision", words->precision, "float or double")->capture_default_str();
  allow_backends(
      *sub->add_option("--backend", words->backend, "auto: cuda where there is a GPU, else the CPU")
           ->capture_default_str());
  refuse_empty(*sub->add_option("-o,--output", words->output, "FILE.npy or FILE.mtx")->required());
  sub->add_flag("--force", words->force, "Replace the file where it exists");
  sub->callback([words, &commands] { commands.exit_code = run_solve(*words, commands); });
}

}  // namespace gaussweep::driver
