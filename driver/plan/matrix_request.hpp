#pragma once
/// From a plan's `matrix:` block to a MatrixRequest.

#include <cstdint>
#include <string>

#include "driver/plan/file_facts.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {

/// A matrix as a plan asks for it: generated (`spec`), or read from a file.
struct MatrixRequest {
  std::string kind;         ///< a MatrixKind's name, or "file": the record's matrix_kind
  MatrixSpec spec;          ///< kind != "file"
  std::string file;         ///< kind == "file": its absolute path
  std::string dataset;      ///< kind == "file": the dataset in it; empty: the default one
  std::string file_sha256;  ///< kind == "file": of the file's bytes, so that the key changes with its content
  bool store = true;        ///< false: never written to DIR/matrices
  /// SHA-256 (64 hex digits) of everything that decides A, b and x_true. That is kind and its numbers (or the
  /// file's digest and dataset), precision, sizes, nrhs, seed. The name of the file in DIR/matrices.
  std::string digest;
};

/// Reads a block. Sizes are set for files only (spec.rows,
/// spec.cols) and, in spec.blur, as far as a block of kind blur says its image's.
/// @throws io::InputError with the location: unknown kind or key (with the nearest), a value out of range, no
/// such file
MatrixRequest request_matrix(const io::MatrixBlock& block, const FileLookup& lookup);

/// The seed of a gemm's B where the plan gives it none: after the last seed comes the first.
std::uint64_t next_seed(std::uint64_t seed);

/// Kinds whose matrices need not be square.
bool may_be_rectangular(MatrixKind kind);

/// Checks and completes what depends on the size, once it is known. @throws io::InputError at `location`
void settle_size(MatrixRequest& request, const io::Location& location);

/// Completes the digest, once sizes are known.
void finish_request(MatrixRequest& request, Precision precision, std::int64_t nrhs);

}  // namespace gaussweep::driver
