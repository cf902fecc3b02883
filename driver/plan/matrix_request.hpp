#pragma once
/// Converts a plan's `matrix:` block to a MatrixRequest. Below, DIR is the run directory, x_true the exact
/// solution, and b the right-hand sides: A x_true = b.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/file_facts.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {

/// A matrix that a plan requests: generated from `spec`, or read from a file.
struct MatrixRequest {
  std::string kind;     ///< a MatrixKind's name, or "file"; the record's column matrix_kind
  MatrixSpec spec;      ///< arguments of the generator; for a file only the sizes and the seed
  std::string file;     ///< only for kind "file": the file's absolute path
  std::string dataset;  ///< only for kind "file": the dataset in the file; empty: the default one
  /// Only for kind "file": digest of the file's bytes, so that the trial's key changes with the content.
  std::string file_sha256;
  bool store = true;  ///< false: the matrix is never written to DIR/matrices
  /// SHA-256 (64 hex digits) of everything that determines A, b and x_true: the kind and its parameters (or
  /// the file's digest and dataset), precision, sizes, nrhs and seed. The file in DIR/matrices has this name.
  std::string digest;
};

/// Returns the keys that a kind of matrix allows in addition to kind, seed and store.
const std::vector<std::string>& matrix_keys(MatrixKind kind);

/// Reads a block. The sizes spec.rows and spec.cols are set for files only; spec.blur has the image sizes
/// that a block of kind blur gives.
/// @throws io::InputError with the location, for an unknown kind or key, a value out of range or a missing
/// file. For an unknown kind or key, the error suggests the nearest one.
MatrixRequest request_matrix(const io::MatrixBlock& block, const FileLookup& lookup);

/// Returns the default seed of gemm's matrix B: A's seed plus 1, or 0 after the largest seed.
std::uint64_t next_seed(std::uint64_t seed);

/// Returns true if matrices of the kind may be rectangular.
bool may_be_rectangular(MatrixKind kind);

/// Checks and completes the members that depend on the size, once the size is known. @throws io::InputError
/// at `location`
void complete_size(MatrixRequest& request, const io::Location& location);

/// Sets the digest, once the sizes are known. @param nrhs number of right-hand sides; 1 for gemm
void set_digest(MatrixRequest& request, Precision precision, std::int64_t nrhs);

/// Returns the name of the matrix file, or the kind of a generated matrix.
std::string matrix_label(const MatrixRequest& matrix);

/// Returns the record's `matrix_parameters`, a JSON object as text with sorted names: everything that
/// determines the matrices except their names, sizes, precision, seed and triangle. gemm's second operand B
/// is included only if it differs from the default B of a plan without `matrix_b`.
std::string matrix_parameters_text(const MatrixRequest& a, const std::optional<MatrixRequest>& b);

}  // namespace gaussweep::driver
