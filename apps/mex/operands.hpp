#pragma once
/// The arrays of a call, looked at through MATLAB's C interface. Only functions of it that cannot fail are
/// used here: they would leave by longjmp.

#include <mex.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/core/matrix.hpp"

namespace gaussweep::mex {

/// A full real matrix in single or double precision, not empty; the caller's own memory.
struct Operand {
  const mxArray* array = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// @throws Refusal gaussweep:sparse, complex, type, size, empty
Operand checked_operand(const mxArray* array, const char* name);

/// "3 x 2"
std::string size_text(const Operand& operand);

/// The text of a character array of one row, or of none; nothing where it is something else.
std::optional<std::string> text_of(const mxArray* array);

/// A parameter's value: a text or a real number. @throws Refusal gaussweep:usage
std::variant<double, std::string> option_value(const mxArray* array, const std::string& name);

/// Holds an operand whose precision is not that of the answer.
template <class T>
using Converted = std::vector<T>;

/// The operand in precision T: where it lies, or converted into `store`.
template <class T>
MatrixView<const T> view_of(const Operand& operand, Converted<T>& store);

/// Which triangle holds all that is not 0; lower for a diagonal matrix, nothing where it is neither.
template <class T>
std::optional<Uplo> triangle_of(const MatrixView<const T>& a);

template <class T>
bool is_symmetric(const MatrixView<const T>& a);

}  // namespace gaussweep::mex
