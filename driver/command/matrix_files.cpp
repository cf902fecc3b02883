#include "driver/command/matrix_files.hpp"

#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "driver/base/dense_view.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/rounded.hpp"
#include "driver/base/table.hpp"
#include "driver/base/words.hpp"
#include "driver/command/option_words.hpp"
#include "driver/system/machine.hpp"
#include "io/matrix/npy.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/system.hpp"

namespace gaussweep::driver {

namespace {

template <class T>
io::Dense<double> widened(const HostMatrix<T>& matrix) {
  return {matrix.rows, matrix.cols, std::vector<double>(matrix.data.begin(), matrix.data.end())};
}

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

template <class T>
void import_typed(const std::filesystem::path& input, const std::string& dataset,
                  const std::filesystem::path& output) {
  io::StoredMatrix<T> stored;
  stored.attributes = {{"kind", "file"},
                       {"precision", std::string(to_string(precision_of<T>))},
                       {"source", input.filename().string()},
                       {"source_sha256", io::sha256_file(input)}};
  if (!dataset.empty()) stored.attributes["source_dataset"] = dataset;
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
  return static_cast<std::uint64_t>(io::parse_integer({text, {"--seed", 0, 0}}, 0, INT64_MAX, "seed"));
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
  // The matrix and the copy that is written.
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
  if (!info.dataset.empty()) text += fmt::format("Dataset:   {}\n", printable(info.dataset));
  text += fmt::format("Size:      {} x {}, {} stored entries\n", info.rows, info.cols, info.stored_entries);
  text += fmt::format("Entries:   {}{}{}\n", info.field, info.symmetry.empty() ? "" : ", ", info.symmetry);
  for (const auto& [name, value] : info.attributes) text += fmt::format("{}: {}\n", name, printable(value));
  return text;
}

}  // namespace gaussweep::driver
