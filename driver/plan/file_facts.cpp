/// Reads the properties of matrix files that a plan needs. A damaged file causes an error, never a crash.

#include "driver/plan/file_facts.hpp"

#include <algorithm>
#include <unistd.h>

#include "driver/base/json_conversions.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/matrix_file.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MatrixFacts, rows, cols, nonzeros, is_symmetric, asymmetry, by_rows,
                                   by_columns, zero_diagonals, first_zero_diagonal, lower_bandwidth,
                                   upper_bandwidth)

/// Stores the reciprocal of the condition number, because JSON has no infinity.
inline void to_json(nlohmann::json& to, const Conditioning& from) {
  to = {{"is_definite", from.is_definite}, {"rcond", 1 / from.condition}, {"zero_pivot", from.zero_pivot}};
}
inline void from_json(const nlohmann::json& from, Conditioning& to) {
  to = {from.at("is_definite"), 1 / from.at("rcond").get<double>(), from.at("zero_pivot")};
}

}  // namespace gaussweep

namespace gaussweep::driver {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InspectedMatrix, facts, conditioning)

namespace {

/// The largest orders that are factored and inspected. The limits are low because a plan may name many files.
/// Factoring a file's matrix then takes less than a second, and reading the file some seconds.
constexpr std::int64_t max_factored_order = 2048, max_inspected_order = 16384;

// Timeout of the child process in seconds. The child limits its reading time by the file's size and ends with
// its parent. This timeout covers all other delays.
constexpr double helper_timeout = 24 * 3600;

/// Reads the facts in this process. A file that needs libhdf5 is read in a child process of
/// io::matrix_info_in_child.
FileFacts read_facts(const std::filesystem::path& path, const std::string& dataset) {
  constexpr std::int64_t max_psf_size = 2 * largest_blur_radius + 1;
  std::string sha256;
  const io::MatrixInfo info =
      io::matrix_info_in_child(path, dataset, &sha256);  // reads a text file to its end
  FileFacts facts{path.lexically_normal().string(), info.rows, info.cols, sha256};
  const std::int64_t largest = std::max(info.rows, info.cols);
  if (largest > max_inspected_order) return facts;
  try {
    io::Dense<double> matrix = io::import_matrix_in_child(path, dataset);
    if (largest <= max_psf_size) facts.values = matrix.data;
    facts.inspected = inspect(std::move(matrix), largest <= max_factored_order);
  } catch (const io::InputError&) {
    if (largest <= max_psf_size) throw;  // a larger matrix may just not fit into memory
  }
  return facts;
}

}  // namespace

FileFacts facts_of_file(const std::filesystem::path& path, const std::string& dataset) {
  if (!io::needs_hdf5(path)) return read_facts(path, dataset);
  // A command-line argument would end at the NUL byte.
  if (dataset.find('\0') != std::string::npos)
    throw io::InputError(path.string() + ": a NUL byte in the name of the dataset");
  // An absolute path cannot look like an option.
  const std::filesystem::path whole = std::filesystem::absolute(path);
  std::vector<std::string> arguments{"matrix",  "info",     whole,
                                     "--facts", "--parent", std::to_string(::getpid())};
  if (!dataset.empty()) arguments.push_back("--dataset=" + dataset);
  nlohmann::json answer;
  try {
    answer = nlohmann::json::parse(
        captured_output(arguments, child_environment({"OPENBLAS_NUM_THREADS=1"}), helper_timeout));
  } catch (const std::exception& e) {
    throw io::InputError(path.string() + ": cannot be inspected: " + e.what());
  }
  if (answer.contains("refused")) throw io::InputError(answer.at("refused").get<std::string>());
  return {path.lexically_normal().string(),
          answer.at("rows"),
          answer.at("cols"),
          answer.at("sha256"),
          answer.at("values"),
          answer.at("seen").get<std::optional<InspectedMatrix>>()};
}

nlohmann::ordered_json facts_json(const std::filesystem::path& path, const std::string& dataset) {
  try {
    const FileFacts facts = read_facts(path, dataset);
    return {{"rows", facts.rows},
            {"cols", facts.cols},
            {"sha256", facts.sha256},
            {"values", facts.values},
            {"seen", nlohmann::json(facts.inspected)}};
  } catch (const io::InputError& e) {
    return {{"refused", e.what()}};
  }
}

}  // namespace gaussweep::driver
