/// Generates, converts and describes matrix files, for `gaussweep matrix` and other commands.

#include "driver/command/matrix_files.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "driver/base/dense.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/options.hpp"
#include "driver/system/machine.hpp"
#include "io/matrix/npy.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/system.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the matrix with its elements converted to double.
template <class T>
io::Dense<double> widened(const HostMatrix<T>& matrix) {
  return {matrix.rows, matrix.cols, std::vector<double>(matrix.data.begin(), matrix.data.end())};
}

/// Generates a matrix in precision T and writes it, with its linear system if nrhs > 0.
template <class T>
void generate_typed(const MatrixSpec& spec, std::int64_t nrhs, const std::filesystem::path& output) {
  HostMatrix<T> a;
  try {
    a = generate<T>(spec);
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  if (!is_hdf5_ending(output)) return write_dense(output, widened(a));
  System<T> system;
  if (nrhs > 0) system = make_system(a, nrhs, spec.seed);
  io::write_matrix<T>(output, {dense_view(a), dense_view(system.b), dense_view(system.x_true)},
                      {{"kind", std::string(to_string(spec.kind))},
                       {"precision", std::string(to_string(precision_of<T>))},
                       {"seed", std::to_string(spec.seed)},
                       {"generator", spec.canonical(precision_of<T>)}});
}

/// Reads a matrix, rounds it to precision T, and writes it as HDF5.
template <class T>
void import_typed(const std::filesystem::path& input, const std::string& dataset,
                  const std::filesystem::path& output) {
  io::StoredMatrix<T> stored;
  stored.attributes = {{"kind", "file"},
                       {"precision", std::string(to_string(precision_of<T>))},
                       {"source", input.filename().string()},
                       {"source_sha256", io::sha256_file(input)}};
  if (!dataset.empty()) stored.attributes["source_dataset"] = dataset;
  // Read in a child process, because libhdf5 crashes on some damaged files.
  stored.a = rounded<T>(io::import_matrix_in_child(input, dataset), input.string());
  io::write_matrix(output, stored);
}

}  // namespace

bool is_hdf5_ending(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".h5" || ending == ".hdf5") return true;
  if (ending == ".mtx" || ending == ".npy") return false;
  throw UsageError(
      fmt::format("-o {}: the ending decides the format; allowed are .h5 and .hdf5 (HDF5), .mtx (Matrix "
                  "Market), .npy (NumPy)",
                  path.string()));
}

MatrixKind parse_kind(const std::string& text) {
  return parse_option<MatrixKind>("--kind", text);
}
Precision parse_precision(const std::string& text) {
  return parse_option<Precision>("--precision", text);
}
std::uint64_t parse_seed(const std::string& text) {
  // Errors name the option in place of a plan's file.
  const io::Location location{/*file=*/"--seed", /*line=*/0, /*column=*/0};
  return static_cast<std::uint64_t>(io::parse_integer({text, location}, /*low=*/0, INT64_MAX, "seed"));
}

void generate_to_file(const MatrixSpec& spec, Precision precision, std::int64_t nrhs,
                      const std::filesystem::path& output) {
  if (spec.rows < 1 || spec.cols < 1) {
    throw UsageError(
        fmt::format("a matrix of {} x {}: rows and columns must be at least 1", spec.rows, spec.cols));
  }
  if (nrhs < 0) throw UsageError(fmt::format("--nrhs {}: must be 0 or more", nrhs));
  if (nrhs > 0 && spec.rows != spec.cols) {
    throw UsageError(fmt::format("--nrhs {}: a system needs a square matrix, this one is {} x {}", nrhs,
                                 spec.rows, spec.cols));
  }
  if (nrhs > 0 && !is_hdf5_ending(output)) {
    throw UsageError(fmt::format("--nrhs {}: {} holds one matrix; write to .h5 for b and x_true", nrhs,
                                 output.extension().string()));
  }
  // The factor 2 counts the matrix and the copy that is written.
  const double bytes =
      2.0 * static_cast<double>(spec.rows) * static_cast<double>(spec.cols + nrhs) * sizeof(double);
  if (bytes > available_memory_bytes()) {
    throw UsageError(fmt::format("a matrix of {} x {} needs {} of memory; {} are available", spec.rows,
                                 spec.cols, bytes_text(bytes), bytes_text(available_memory_bytes())));
  }
  if (precision == Precision::float32) {
    generate_typed<float>(spec, nrhs, output);
  } else {
    generate_typed<double>(spec, nrhs, output);
  }
}

void import_to_file(const std::filesystem::path& input, const std::string& dataset, Precision precision,
                    const std::filesystem::path& output) {
  if (!is_hdf5_ending(output)) {
    throw UsageError(fmt::format("-o {}: import writes .h5; to write {}, use matrix export", output.string(),
                                 output.extension().string()));
  }
  if (precision == Precision::float32) {
    import_typed<float>(input, dataset, output);
  } else {
    import_typed<double>(input, dataset, output);
  }
}

void require_dense_ending(const std::filesystem::path& path) {
  if (path.extension() != ".npy" && path.extension() != ".mtx")
    throw UsageError(
        fmt::format("-o {}: the ending decides the format; allowed are .npy and .mtx (to write "
                    ".h5, use matrix import)",
                    path.string()));
}

void write_dense(const std::filesystem::path& path, const io::Dense<double>& matrix) {
  require_dense_ending(path);
  if (path.extension() == ".npy") return io::export_npy(path, matrix);
  io::export_matrix_market(path, matrix);
}

void export_to_file(const std::filesystem::path& input, const std::string& dataset,
                    const std::filesystem::path& output) {
  require_dense_ending(output);
  write_dense(output, io::import_matrix_in_child(input, dataset));
}

nlohmann::ordered_json info_json(const io::MatrixInfo& info) {
  nlohmann::ordered_json json;
  json["format"] = info.format;
  json["dataset"] = info.dataset;
  json["rows"] = info.rows;
  json["cols"] = info.cols;
  json["stored_entries"] = info.stored_entries;
  json["field"] = info.field;
  json["symmetry"] = info.symmetry;
  json["attributes"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : info.attributes) json["attributes"][name] = value;
  return json;
}

std::string info_text(const io::MatrixInfo& info) {
  std::string text = fmt::format("Format:    {}\n", info.format);
  if (!info.dataset.empty()) text += fmt::format("Dataset:   {}\n", one_line_printable(info.dataset));
  text += fmt::format("Size:      {} x {}, {} stored entries\n", info.rows, info.cols, info.stored_entries);
  text += fmt::format("Entries:   {}{}{}\n", info.field, info.symmetry.empty() ? "" : ", ", info.symmetry);
  for (const auto& [name, value] : info.attributes)
    text += fmt::format("{}: {}\n", name, one_line_printable(value));
  return text;
}

namespace {

/// Describes the diagonal: zeros and dominance.
std::string diagonal_text(const MatrixFacts& facts) {
  std::string zeros = "no zeros";
  if (facts.zero_diagonals > 0) {
    zeros = fmt::format("{} zero{}, the first in row {}", facts.zero_diagonals,
                        facts.zero_diagonals == 1 ? "" : "s", facts.first_zero_diagonal);
  }
  if (facts.by_rows == facts.by_columns) {
    if (facts.by_rows == Dominance::none) return zeros + "; not dominant";
    return fmt::format("{}; {} dominant by rows and by columns", zeros, to_string(facts.by_rows));
  }
  std::vector<std::string> dominances;
  if (facts.by_rows != Dominance::none)
    dominances.push_back(fmt::format("{} dominant by rows", to_string(facts.by_rows)));
  if (facts.by_columns != Dominance::none)
    dominances.push_back(fmt::format("{} dominant by columns", to_string(facts.by_columns)));
  return fmt::format("{}; {}", zeros, fmt::join(dominances, ", "));
}

/// Estimates the number of correct decimal digits of a solution from the condition number alone.
int digits_left(double condition, Precision precision) {
  return std::max(0, static_cast<int>(std::floor(-std::log10(condition * roundoff_of(precision)))));
}

/// Describes the condition number, and the digits that a solution keeps.
/// @param largest the largest |element|
std::string condition_text(const Conditioning& found, double largest) {
  if (found.zero_pivot > 0) return fmt::format("singular: pivot {} is exactly 0", found.zero_pivot);
  if (!(found.condition <= max_condition(Precision::float64))) {
    return fmt::format("{:.2g} in the 1-norm, estimated: singular to double's precision", found.condition);
  }
  return fmt::format(
      "about {:.2g} in the 1-norm, estimated\nDigits:    about {} of a solution hold in double{}",
      found.condition, digits_left(found.condition, Precision::float64),
      std::isnormal(static_cast<float>(largest))
          ? fmt::format(", {} in float", digits_left(found.condition, Precision::float32))
          : "; float cannot hold the matrix");
}

/// Describes the pattern of nonzeros: diagonal, triangular or banded. Returns an empty text for other
/// matrices.
std::string shape_text(const MatrixFacts& facts) {
  if (!facts.is_square()) return {};
  if (facts.lower_bandwidth + facts.upper_bandwidth == 0) return "diagonal";
  if (facts.is_triangular()) return fmt::format("{} triangular", to_string(facts.triangle()));
  if (std::max(facts.lower_bandwidth, facts.upper_bandwidth) == facts.rows - 1) return {};
  return fmt::format("{} below the main diagonal and {} above it",
                     counted(static_cast<std::size_t>(facts.lower_bandwidth), "diagonal"),
                     facts.upper_bandwidth);
}

std::string symmetry_text(const InspectedMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  if (!facts.is_symmetric)
    return fmt::format("no, elements differ by up to {:.2g} of the largest", facts.asymmetry);
  if (!matrix.conditioning) return "yes";
  // Empty if the condition number is so large that rounding errors may decide (max_decided_condition).
  const std::optional<bool> is_definite = satisfies(matrix, Need::spd, Uplo::lower);
  if (is_definite) return *is_definite ? "yes, positive definite" : "yes, not positive definite";
  return fmt::format("yes, its Cholesky factorisation {} in double",
                     matrix.conditioning->is_definite ? "succeeds" : "fails");
}

/// Returns a norm for JSON. A norm beyond the range of double has been stored as the largest double
/// (WideNumber::value); it becomes infinity.
nlohmann::ordered_json norm_json(double norm) {
  return number_json(norm < std::numeric_limits<double>::max() ? norm : HUGE_VAL);
}

std::string norm_text(double norm) {
  return norm < std::numeric_limits<double>::max() ? fmt::format("{:.4g}", norm) : "above 1.797e+308";
}

}  // namespace

std::string properties_text(const InspectedMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  const double share = static_cast<double>(facts.nonzeros) /
                       (static_cast<double>(facts.rows) * static_cast<double>(facts.cols));
  const std::string count =
      facts.nonzeros == facts.rows * facts.cols
          ? fmt::format("all {}", facts.nonzeros)
          : fmt::format("{} ({})", facts.nonzeros, to_text(Cell(share), Style::percent));
  std::string text = fmt::format("Nonzeros:  {}, the largest {:.4g}\n", count, facts.largest);
  if (const std::string shape = shape_text(facts); !shape.empty()) text += "Shape:     " + shape + "\n";
  text += fmt::format("Norms:     1-norm {}, infinity {}, Frobenius {}\n", norm_text(facts.norm_1),
                      norm_text(facts.norm_inf), norm_text(facts.norm_frobenius));
  if (!facts.is_square()) return text;
  text += fmt::format("Symmetric: {}\n", symmetry_text(matrix));
  text += fmt::format("Diagonal:  {}\n", diagonal_text(facts));
  text += fmt::format("Condition: {}\n",
                      matrix.conditioning
                          ? condition_text(*matrix.conditioning, facts.largest)
                          : fmt::format("not estimated beyond n = {} (--condition)", max_factored));
  return text;
}

nlohmann::ordered_json properties_json(const InspectedMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  nlohmann::ordered_json json;
  json["nonzeros"] = facts.nonzeros;
  json["largest"] = number_json(facts.largest);
  json["norm_1"] = norm_json(facts.norm_1);
  json["norm_inf"] = norm_json(facts.norm_inf);
  json["norm_frobenius"] = norm_json(facts.norm_frobenius);
  if (!facts.is_square()) return json;
  json["is_symmetric"] = facts.is_symmetric;
  json["asymmetry"] = number_json(facts.asymmetry);
  json["dominant_by_rows"] = to_string(facts.by_rows);
  json["dominant_by_columns"] = to_string(facts.by_columns);
  json["zero_diagonals"] = facts.zero_diagonals;
  json["first_zero_diagonal"] = facts.first_zero_diagonal;
  json["lower_bandwidth"] = facts.lower_bandwidth;
  json["upper_bandwidth"] = facts.upper_bandwidth;
  if (!matrix.conditioning) return json;
  const std::optional<bool> is_definite = satisfies(matrix, Need::spd, Uplo::lower);
  json["is_positive_definite"] =
      is_definite ? nlohmann::json(*is_definite) : nlohmann::json();  // null: unknown
  json["condition"] = number_json(matrix.conditioning->condition);
  json["zero_pivot"] = matrix.conditioning->zero_pivot;
  return json;
}

}  // namespace gaussweep::driver
