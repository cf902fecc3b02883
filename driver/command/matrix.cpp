/// Implements `gaussweep matrix generate|import|export|info`: makes, converts and describes matrix files.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/command/blur_options.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/options.hpp"
#include "driver/plan/blur_request.hpp"
#include "driver/plan/file_facts.hpp"
#include "driver/plan/matrix_request.hpp"
#include "driver/system/console.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/matrix_limits.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

struct GenerateOptions {
  std::string kind = "uniform", precision = "double", uplo = "lower", seed = "1", output;
  MatrixSpec spec;
  std::int64_t n = 0, nrhs = 0;
  bool force = false;
  BlurOptions blur;
};

/// Throws if the user gave an option that only other kinds of matrices have. The options of a blur are
/// checked in `spec_of`.
void refuse_options_of_other_kinds(const CLI::App& generate, MatrixKind kind, const std::string& name) {
  std::vector<std::string> allowed = matrix_keys(kind);
  if (kind == MatrixKind::triangular) allowed.emplace_back("uplo");
  for (const char* key : {"low", "high", "condition", "mode", "s", "value", "uplo"}) {
    if (generate.count(fmt::format("--{}", key)) > 0 &&
        std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      throw UsageError(fmt::format("--{}: a matrix of kind {} does not depend on it", key, name));
  }
  if (kind == MatrixKind::spd && generate.count("--mode") > 0 && generate.count("--condition") == 0)
    throw UsageError("--mode: is for an spd matrix of a chosen condition; give --condition as well");
}

/// Returns the specification of the matrix that the options describe. @throws UsageError, io::InputError
MatrixSpec spec_of(GenerateOptions& options) {
  MatrixSpec spec = options.spec;
  spec.kind = parse_kind(options.kind);
  spec.seed = parse_seed(options.seed);
  spec.uplo = parse_option<Uplo>("--uplo", options.uplo);
  std::map<std::string, std::string>& blur_values = options.blur.values;
  if (spec.kind == MatrixKind::blur) {
    spec.blur = blur_of(options.blur);
    if (options.n == 0) {  // then the image's size determines the matrix's size
      if (spec.rows == 0) spec.rows = blur_order(spec.blur);
      if (spec.cols == 0) spec.cols = blur_columns(spec.blur);
    }
  } else if (const auto lambda = blur_values.find("lambda");
             spec.kind == MatrixKind::kernel && lambda != blur_values.end()) {
    spec.lambda = io::parse_real({lambda->second, {/*file=*/"--lambda", /*line=*/0, /*column=*/0}}, /*low=*/0,
                                 /*high=*/1e30, "lambda");
    blur_values.erase(lambda);  // --lambda is a blur option that kernel matrices have, too
  }
  if (spec.kind != MatrixKind::blur && !blur_values.empty())
    throw UsageError(fmt::format("{}: is for --kind blur only, not for {}",
                                 blur_option(blur_values.begin()->first), options.kind));
  if (spec.rows == 0) spec.rows = options.n;
  if (spec.cols == 0) spec.cols = options.n;
  if (spec.rows == 0 || spec.cols == 0) throw UsageError("matrix generate: give -n, or --rows and --cols");
  if (spec.kind == MatrixKind::blur)
    complete_image_sizes(spec.blur, spec.rows, spec.cols,
                         {/*file=*/"matrix generate", /*line=*/0, /*column=*/0});
  return spec;
}

/// Generates the matrix and writes it to the file.
void generate_matrix(const CLI::App& generate, GenerateOptions& options) {
  refuse_options_of_other_kinds(generate, parse_kind(options.kind), options.kind);
  MatrixSpec spec = spec_of(options);
  // An spd matrix without --condition gets a dominant diagonal.
  spec.dominant = generate.count("--condition") == 0;
  const Precision precision = parse_precision(options.precision);
  is_hdf5_ending(options.output);  // throws for other endings before any work is done
  std::vector<std::string> inputs;
  if (const std::string* weights = find_in(options.blur.values, "psf_file")) inputs.push_back(*weights);
  check_output(options.output, options.force, inputs);
  generate_to_file(spec, precision, options.nrhs, options.output);
  fmt::print("{}: {}, {} x {}, {}\n", options.output, options.kind, spec.rows, spec.cols, options.precision);
}

void add_generate(CLI::App& parent) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* sub = parent.add_subcommand("generate", "Make a matrix and write it to a file");
  MatrixSpec& spec = options->spec;
  sub->add_option("--kind", options->kind, allowed_names<MatrixKind>())->capture_default_str();
  allow_integers(*sub->add_option("-n,--n", options->n, "Rows and columns"), 1, io::max_size);
  allow_integers(*sub->add_option("--rows", spec.rows, "Rows, if not n"), 1, io::max_size);
  allow_integers(*sub->add_option("--cols", spec.cols, "Columns, if not n"), 1, io::max_size);
  sub->add_option("--seed", options->seed, "Seed, 0 to 2^63 - 1")->capture_default_str();
  sub->add_option("--precision", options->precision, "float or double")->capture_default_str();
  const auto add_real = [sub](const char* name, double& value, const char* help, double low, double high) {
    allow_real(*sub->add_option(name, value, help)->capture_default_str(), low, high);
  };
  add_real("--low", spec.low, "uniform, symmetric: lower bound of the elements", -1e30, 1e30);
  add_real("--high", spec.high, "uniform, symmetric: upper bound of the elements", -1e30, 1e30);
  add_real("--condition", spec.condition,
           "condition, spd: the 2-norm condition number; spd without it: by a dominant diagonal", 1, 1e300);
  allow_integers(
      *sub->add_option("--mode", spec.mode, "condition, spd: distribution of the singular values, 1 to 5")
           ->capture_default_str(),
      1, 5);
  add_real("--s", spec.s, "kernel: exp(-s d^2) + lambda I of equally spaced points on [0, 1]", 0, 1e30);
  add_real("--value", spec.value, "ones: every element", -1e30, 1e30);
  sub->add_option("--uplo", options->uplo, "triangular: lower or upper")->capture_default_str();
  add_blur_options(*sub, options->blur);
  add_blur_image_options(*sub, options->blur);
  allow_integers(
      *sub->add_option("--nrhs", options->nrhs, "Also write x_true and b = A x_true with this many columns")
           ->capture_default_str(),
      0, io::max_size);
  add_output(*sub, options->output, "FILE.h5, FILE.mtx or FILE.npy").required();
  sub->add_flag("--force", options->force, "Replace the file if it exists");
  sub->callback([options, sub] { generate_matrix(*sub, *options); });
}

/// The options of `import` and `export`.
struct TransferOptions {
  std::string input, dataset, precision = "double", output;
  bool force = false;
};

CLI::App* add_transfer(CLI::App& parent, const char* name, const char* help, TransferOptions& options) {
  CLI::App* sub = parent.add_subcommand(name, help);
  sub->add_option("file", options.input, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", options.dataset, "Path of the matrix in an HDF5 or MATLAB file");
  add_output(*sub, options.output, "The file to write").required();
  sub->add_flag("--force", options.force, "Replace the file if it exists");
  return sub;
}

void add_import(CLI::App& parent) {
  auto options = std::make_shared<TransferOptions>();
  CLI::App* sub =
      add_transfer(parent, "import", "Read a matrix file and write it as gaussweep's HDF5", *options);
  sub->add_option("--precision", options->precision, "float or double")->capture_default_str();
  sub->callback([options] {
    const Precision precision = parse_precision(options->precision);
    check_output(options->output, options->force, {options->input});
    import_to_file(options->input, options->dataset, precision, options->output);
    const io::MatrixInfo info = io::matrix_info(options->output);
    fmt::print("{}: {} x {}, {}\n", options->output, info.rows, info.cols, options->precision);
  });
}

void add_export(CLI::App& parent) {
  auto options = std::make_shared<TransferOptions>();
  CLI::App* sub =
      add_transfer(parent, "export", "Read a matrix file and write it as Matrix Market or .npy", *options);
  sub->callback([options] {
    check_output(options->output, options->force, {options->input});
    export_to_file(options->input, options->dataset, options->output);
    const io::MatrixInfo info = io::matrix_info(options->output);
    fmt::print("{}: {} x {}\n", options->output, info.rows, info.cols);
  });
}

void add_info(CLI::App& parent, Commands& commands) {
  struct InfoOptions {
    std::string file, dataset, format = "table";
    bool facts = false, condition = false;
    pid_t parent = 0;
  };
  auto options = std::make_shared<InfoOptions>();
  CLI::App* sub =
      parent.add_subcommand("info", "Report what a matrix file holds, and properties of the matrix");
  sub->add_option("file", options->file, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", options->dataset, "Path of the matrix in an HDF5 or MATLAB file");
  add_format(*sub, options->format, {"table", "json"});
  sub->add_flag(
      "--condition", options->condition,
      fmt::format("Estimate the condition of a matrix of any order, which factors it (without: up to {})",
                  max_factored));
  sub->add_flag("--facts", options->facts,
                "(given by run and plan) Print the facts about the file that the plan reader needs")
      ->group("");
  sub->add_option("--parent", options->parent,
                  "(given by run and plan) The id of the parent process; this process ends with it")
      ->group("");
  sub->callback([options, &commands] {
    if (options->parent != 0 && !die_with_parent(options->parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    if (options->facts) {
      fmt::print("{}\n", json_text(facts_json(options->file, options->dataset)));
      return;
    }
    const Format format = parse_format(options->format);
    const io::MatrixInfo info = io::matrix_info_in_child(options->file, options->dataset);
    std::optional<InspectedMatrix> inspected;
    const std::string unread_reason = io::too_large(info.rows, info.cols);
    if (unread_reason.empty()) {
      inspected = inspect(io::import_matrix_in_child(options->file, options->dataset),
                          options->condition || std::max(info.rows, info.cols) <= max_factored);
    }
    if (format == Format::json) {
      nlohmann::ordered_json json = info_json(info);
      json["elements"] = inspected ? properties_json(*inspected) : nlohmann::ordered_json(nullptr);
      fmt::print("{}\n", json_text(json));
    } else {
      fmt::print("{}{}", info_text(info), inspected ? properties_text(*inspected) : "");
    }
    if (!inspected) print_stderr(fmt::format("note: its elements were not read: {}\n", unread_reason));
  });
}

}  // namespace

void add_matrix_command(CLI::App& app, Commands& commands) {
  CLI::App* matrix = app.add_subcommand("matrix", "Make, import, export and describe matrix files");
  matrix->require_subcommand(1);
  add_generate(*matrix);
  add_import(*matrix);
  add_export(*matrix);
  add_info(*matrix, commands);
}

}  // namespace gaussweep::driver
