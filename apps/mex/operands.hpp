#pragma once
/// Reads the arrays of a call through MATLAB's C interface. Only functions that cannot fail are used here,
/// because a failing function leaves by longjmp.

#include <mex.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::mex {

/// A full, real, non-empty matrix in single or double precision, in the caller's memory.
struct Operand {
  const mxArray* array = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// Checks an operand.
/// @throws CallError gaussweep:sparse, complex, type, size, empty
Operand checked_operand(const mxArray* array, const char* name);

/// Returns "3 x 2".
std::string size_text(const Operand& operand);

/// Returns the text of a character array with one row or none; nothing for other arrays.
std::optional<std::string> text_of(const mxArray* array);

/// Returns a parameter's value: a text or a real number. @throws CallError gaussweep:usage
ParameterValue option_value(const mxArray* array, const std::string& name);

/// Storage for an operand whose precision differs from the answer's.
template <class T>
using Converted = std::vector<T>;

/// Returns the operand in precision T: the caller's memory, or a copy converted into `store`.
template <class T>
MatrixView<const T> view_of(const Operand& operand, Converted<T>& store);

}  // namespace gaussweep::mex
