#pragma once
/// `gaussweep matrix …`: matrices made, brought in, given away and looked at.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "io/matrix/matrix_file.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {

/// Whether a name's ending asks for HDF5 (.h5, .hdf5); else for one matrix (.mtx, .npy).
/// @throws UsageError where it asks for neither
bool is_hdf5_ending(const std::filesystem::path& path);

/// The words of --kind and --precision. @throws UsageError with the allowed names
MatrixKind parse_kind(const std::string& text);
Precision parse_precision(const std::string& text);
/// The value of --seed, 0 to 2^63 - 1 as in plans. @throws io::InputError
std::uint64_t parse_seed(const std::string& text);

/// Makes a matrix and writes it, whole or not at all. With nrhs > 0 also x_true and b = A x_true, into HDF5
/// only.
/// @throws UsageError: the numbers fit no matrix of that kind, or it would not fit into memory
void generate_to_file(const MatrixSpec& spec, Precision precision, std::int64_t nrhs,
                      const std::filesystem::path& output);

/// Reads any readable matrix and writes it in the store's format, rounded to `precision`.
/// @throws UsageError where a number is beyond the range of float
void import_to_file(const std::filesystem::path& input, const std::string& dataset, Precision precision,
                    const std::filesystem::path& output);

/// @throws UsageError where a name ends neither with .npy nor with .mtx
void require_dense_ending(const std::filesystem::path& path);
/// Writes .npy or Matrix Market, as the name ends.
void write_dense(const std::filesystem::path& path, const io::Dense<double>& matrix);

/// Reads any readable matrix and writes it so.
void export_to_file(const std::filesystem::path& input, const std::string& dataset,
                    const std::filesystem::path& output);

nlohmann::ordered_json info_json(const io::MatrixInfo& info);
std::string info_text(const io::MatrixInfo& info);

}  // namespace gaussweep::driver
