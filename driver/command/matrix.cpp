/// `gaussweep matrix generate|import|export|info`.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/command/blur_options.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_facts.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/plan/blur_request.hpp"
#include "driver/plan/file_facts.hpp"
#include "driver/system/console.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

namespace {

void add_generate(CLI::App& parent) {
  struct Options {
    std::string kind = "uniform", precision = "double", uplo = "lower", seed = "1", output;
    MatrixSpec spec;
    std::int64_t n = 0, nrhs = 0;
    bool force = false;
    BlurOptions blur;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = parent.add_subcommand("generate", "Make a matrix and write it to a file");
  MatrixSpec& spec = options->spec;
  sub->add_option("--kind", options->kind, allowed_names<MatrixKind>())->capture_default_str();
  allow_whole(*sub->add_option("-n,--n", options->n, "Rows and columns"), 1, io::max_size);
  allow_whole(*sub->add_option("--rows", spec.rows, "Rows, if not n"), 1, io::max_size);
  allow_whole(*sub->add_option("--cols", spec.cols, "Columns, if not n"), 1, io::max_size);
  sub->add_option("--seed", options->seed, "Seed, 0 to 2^63 - 1")->capture_default_str();
  sub->add_option("--precision", options->precision, "float or double")->capture_default_str();
  const auto add_real = [sub](const char* name, double& value, const char* help, double low, double high) {
    CLI::Option* const option = sub->add_option(name, value, help)->capture_default_str();
    allow_real(*option, low, high);
    return option;
  };
  add_real("--low", spec.low, "uniform, symmetric: lower bound of the elements", -1e30, 1e30);
  add_real("--high", spec.high, "uniform, symmetric: upper bound of the elements", -1e30, 1e30);
  const CLI::Option* const condition = add_real(
      "--condition", spec.condition,
      "condition, spd: the 2-norm condition number; spd without it: by a dominant diagonal", 1, 1e300);
  allow_whole(
      *sub->add_option("--mode", spec.mode, "condition, spd: distribution of the singular values, 1 to 5")
           ->capture_default_str(),
      1, 5);
  add_real("--s", spec.s, "kernel: exp(-s d^2) + lambda I of equally spaced points on [0, 1]", 0, 1e30);
  add_real("--value", spec.value, "ones: every element", -1e30, 1e30);
  sub->add_option("--uplo", options->uplo, "triangular: lower or upper")->capture_default_str();
  add_blur_options(*sub, options->blur);
  add_blur_image_options(*sub, options->blur);
  allow_whole(
      *sub->add_option("--nrhs", options->nrhs, "Also write x_true and b = A x_true with this many columns")
           ->capture_default_str(),
      0, io::max_size);
  refuse_empty(*sub->add_option("-o,--output", options->output, "FILE.h5, FILE.mtx or FILE.npy")->required());
  sub->add_flag("--force", options->force, "Replace the file if it exists");
  sub->callback([options, condition] {
    MatrixSpec wanted = options->spec;
    wanted.kind = parse_kind(options->kind);
    wanted.seed = parse_seed(options->seed);
    wanted.uplo = parse_option<Uplo>("--uplo", options->uplo);
    if (wanted.kind == MatrixKind::blur) {
      wanted.blur = blur_of(options->blur);
      if (options->n == 0) {
        if (wanted.rows == 0) wanted.rows = blur_order(wanted.blur);
        if (wanted.cols == 0) wanted.cols = blur_columns(wanted.blur);
      }
    } else {
      auto& words = options->blur.words;
      const auto lambda = words.find("lambda");
      if (wanted.kind == MatrixKind::kernel && lambda != words.end()) {
        wanted.lambda = io::parse_real({lambda->second, {"--lambda", 0, 0}}, 0, 1e30, "lambda");
        words.erase(lambda);
      }
      if (!words.empty())
        throw UsageError(
            fmt::format("--{}: is for --kind blur only, not for {}", words.begin()->first, options->kind));
    }
    wanted.dominant = condition->count() == 0;
    if (wanted.rows == 0) wanted.rows = options->n;
    if (wanted.cols == 0) wanted.cols = options->n;
    if (wanted.rows == 0 || wanted.cols == 0)
      throw UsageError("matrix generate: give -n, or --rows and --cols");
    if (wanted.kind == MatrixKind::blur) {
      settle_image(wanted.blur, wanted.rows, wanted.cols, {"matrix generate", 0, 0});
    }
    const Precision precision = parse_precision(options->precision);
    is_hdf5_ending(options->output);  // throws for other endings before any work is done
    std::vector<std::string> inputs;
    const auto weights = options->blur.words.find("psf-file");
    if (weights != options->blur.words.end()) inputs.push_back(weights->second);
    check_output(options->output, options->force, inputs);
    generate_to_file(wanted, precision, options->nrhs, options->output);
    fmt::print("{}: {}, {} x {}, {}\n", options->output, options->kind, wanted.rows, wanted.cols,
               options->precision);
  });
}

struct Transfer {
  std::string input, dataset, precision = "double", output;
  bool force = false;
};

CLI::App* add_transfer(CLI::App& parent, const char* name, const char* help, Transfer& transfer) {
  CLI::App* sub = parent.add_subcommand(name, help);
  sub->add_option("file", transfer.input, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", transfer.dataset, "Path of the matrix in an HDF5 or MATLAB file");
  refuse_empty(*sub->add_option("-o,--output", transfer.output, "The file to write")->required());
  sub->add_flag("--force", transfer.force, "Replace the file if it exists");
  return sub;
}

void add_import(CLI::App& parent) {
  auto transfer = std::make_shared<Transfer>();
  CLI::App* sub =
      add_transfer(parent, "import", "Read a matrix file and write it as gaussweep's HDF5", *transfer);
  sub->add_option("--precision", transfer->precision, "float or double")->capture_default_str();
  sub->callback([transfer] {
    const Precision precision = parse_precision(transfer->precision);
    check_output(transfer->output, transfer->force, {transfer->input});
    import_to_file(transfer->input, transfer->dataset, precision, transfer->output);
    const io::MatrixInfo info = io::matrix_info(transfer->output);
    fmt::print("{}: {} x {}, {}\n", transfer->output, info.rows, info.cols, transfer->precision);
  });
}

void add_export(CLI::App& parent) {
  auto transfer = std::make_shared<Transfer>();
  CLI::App* sub =
      add_transfer(parent, "export", "Read a matrix file and write it as Matrix Market or .npy", *transfer);
  sub->callback([transfer] {
    check_output(transfer->output, transfer->force, {transfer->input});
    export_to_file(transfer->input, transfer->dataset, transfer->output);
    const io::MatrixInfo info = io::matrix_info(transfer->output);
    fmt::print("{}: {} x {}\n", transfer->output, info.rows, info.cols);
  });
}

void add_info(CLI::App& parent, Commands& commands) {
  struct Options {
    std::string file, dataset, format = "table";
    bool facts = false, condition = false;
    pid_t parent = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub =
      parent.add_subcommand("info", "Report what a matrix file holds, and properties of the matrix");
  sub->add_option("file", options->file, "Matrix Market, NumPy (.npy), MATLAB or HDF5")->required();
  sub->add_option("--dataset", options->dataset, "Path of the matrix in an HDF5 or MATLAB file");
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "json"});
  sub->add_flag(
      "--condition", options->condition,
      fmt::format("Estimate the condition of a matrix of any order, which factors it (without: up to {})",
                  most_factored));
  sub->add_flag("--facts", options->facts, "(given by run and plan) What a plan must know of it")->group("");
  sub->add_option("--parent", options->parent, "(given by run and plan) The process with which to end")
      ->group("");
  sub->callback([options, &commands] {
    if (options->parent != 0 && !die_with(options->parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    if (options->facts) {
      fmt::print("{}\n", json_text(facts_json(options->file, options->dataset)));
      return;
    }
    const Format format = parse_format(options->format);
    const io::MatrixInfo info = io::matrix_info_in_child(options->file, options->dataset);
    std::optional<SeenMatrix> seen;
    std::string unseen;
    try {
      seen = see(io::import_matrix_in_child(options->file, options->dataset),
                 options->condition || std::max(info.rows, info.cols) <= most_factored);
    } catch (const io::InputError& e) {
      unseen = e.what();  // the file is valid, but its matrix does not fit in memory
    }
    if (format == Format::json) {
      nlohmann::ordered_json json = info_json(info);
      json["elements"] = seen ? seen_json(*seen) : nlohmann::ordered_json(nullptr);
      fmt::print("{}\n", json_text(json));
    } else {
      fmt::print("{}{}", info_text(info), seen ? seen_text(*seen) : "");
    }
    if (!seen) say(fmt::format("note: its elements were not read: {}\n", printable_lines(unseen)));
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
