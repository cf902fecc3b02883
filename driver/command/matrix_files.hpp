#pragma once
/// Functions that generate, convert and describe matrix files, for `gaussweep matrix` and other commands.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "driver/plan/needs.hpp"
#include "io/matrix/matrix_file.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {

/// Returns true for the endings of HDF5 files (.h5, .hdf5), false for .mtx and .npy, which hold one matrix.
/// @throws UsageError for other endings
bool is_hdf5_ending(const std::filesystem::path& path);

/// Parses the value of --kind. @throws UsageError with the allowed names
MatrixKind parse_kind(const std::string& text);
/// Parses the value of --precision. @throws UsageError with the allowed names
Precision parse_precision(const std::string& text);
/// Parses the value of --seed, 0 to 2^63 - 1 as in plans. @throws io::InputError
std::uint64_t parse_seed(const std::string& text);

/// Generates a matrix and writes it atomically. If nrhs > 0, also writes nrhs known solutions x_true and the
/// right-hand sides b = A x_true (HDF5 only).
/// @throws UsageError if the sizes or numbers are not valid for the kind, or if memory does not suffice
void generate_to_file(const MatrixSpec& spec, Precision precision, std::int64_t nrhs,
                      const std::filesystem::path& output);

/// Reads a matrix file of any supported format and writes it as HDF5, rounded to `precision`.
/// @throws UsageError if the output's ending is not .h5 or .hdf5; io::InputError if a value is beyond the
/// range of float
void import_to_file(const std::filesystem::path& input, const std::string& dataset, Precision precision,
                    const std::filesystem::path& output);

/// Checks the ending of an output's name. @throws UsageError if it is neither .npy nor .mtx
void require_dense_ending(const std::filesystem::path& path);
/// Writes .npy or Matrix Market, depending on the name's ending.
void write_dense(const std::filesystem::path& path, const io::Dense<double>& matrix);

/// Reads a matrix file of any supported format and writes it with `write_dense`.
void export_to_file(const std::filesystem::path& input, const std::string& dataset,
                    const std::filesystem::path& output);

/// Return the facts of a matrix file's header (format, size, symmetry) as JSON and as text.
nlohmann::ordered_json info_json(const io::MatrixInfo& info);
std::string info_text(const io::MatrixInfo& info);

/// Return the properties of the matrix's elements (nonzeros, norms, condition) as text and as JSON. The text
/// continues that of info_text.
std::string properties_text(const InspectedMatrix& matrix);
nlohmann::ordered_json properties_json(const InspectedMatrix& matrix);

}  // namespace gaussweep::driver
