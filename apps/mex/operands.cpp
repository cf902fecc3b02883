/// Reads the arrays of a call through MATLAB's C interface. Only functions that cannot fail are used here,
/// because a failing function leaves by longjmp.

#include "apps/mex/operands.hpp"

#include "apps/mex/call_error.hpp"

namespace gaussweep::mex {

Operand checked_operand(const mxArray* array, const char* name) {
  const auto error = [name](const char* identifier, const std::string& what) -> CallError {
    return {identifier,
            std::string(name) + " " + what + ": full, real single or double matrices are allowed"};
  };
  if (mxIsSparse(array)) throw error("gaussweep:sparse", "is sparse");
  if (!mxIsDouble(array) && !mxIsSingle(array)) {
    throw error("gaussweep:type", std::string("is of class ") + mxGetClassName(array));
  }
  if (mxIsComplex(array)) throw error("gaussweep:complex", "is complex");
  if (mxGetNumberOfDimensions(array) != 2) {
    throw error("gaussweep:size", "has " + std::to_string(mxGetNumberOfDimensions(array)) + " dimensions");
  }
  const Operand operand{array, static_cast<std::int64_t>(mxGetM(array)),
                        static_cast<std::int64_t>(mxGetN(array))};
  if (mxIsEmpty(array)) throw error("gaussweep:empty", "is empty (" + size_text(operand) + ")");
  return operand;
}

std::string size_text(const Operand& operand) {
  return std::to_string(operand.rows) + " x " + std::to_string(operand.cols);
}

std::optional<std::string> text_of(const mxArray* array) {
  if (!mxIsChar(array) || (!mxIsEmpty(array) && mxGetM(array) != 1)) return std::nullopt;
  if (mxIsEmpty(array)) return std::string();
  std::vector<char> text(4 * mxGetNumberOfElements(array) + 1, '\0');  // up to 4 bytes per character in UTF-8
  if (mxGetString(array, text.data(), static_cast<mwSize>(text.size())) != 0) return std::nullopt;
  return std::string(text.data());
}

ParameterValue option_value(const mxArray* array, const std::string& name) {
  if (auto text = text_of(array)) return *std::move(text);
  if (mxIsNumeric(array) && !mxIsComplex(array) && !mxIsSparse(array) && mxGetNumberOfElements(array) == 1) {
    return mxGetScalar(array);
  }
  throw CallError("gaussweep:usage", "the value of " + name + " must be a number or a character array");
}

template <class T>
MatrixView<const T> view_of(const Operand& operand, Converted<T>& store) {
  const bool single = mxIsSingle(operand.array);
  MatrixView<const T> view{nullptr, operand.rows, operand.cols, operand.rows};
  const void* data = mxGetData(operand.array);
  if (single == (sizeof(T) == sizeof(float))) {
    view.data = static_cast<const T*>(data);
    return view;
  }
  const auto count = static_cast<std::size_t>(operand.rows * operand.cols);
  if (single) {
    store.assign(static_cast<const float*>(data), static_cast<const float*>(data) + count);
  } else {
    store.resize(count);
    for (std::size_t i = 0; i < count; ++i) store[i] = static_cast<T>(static_cast<const double*>(data)[i]);
  }
  view.data = store.data();
  return view;
}

template MatrixView<const float> view_of<float>(const Operand&, Converted<float>&);
template MatrixView<const double> view_of<double>(const Operand&, Converted<double>&);

}  // namespace gaussweep::mex
