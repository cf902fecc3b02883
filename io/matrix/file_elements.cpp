/// Converts the elements of matrix files to double, and rejects those that double cannot represent.

#include "io/matrix/file_elements.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "io/files/errors.hpp"

namespace gaussweep::io {
namespace {

/// A float16 number.
struct Half {
  std::uint16_t bits;
};

/// Return the number as a double; exact except for 64-bit integers and long doubles (see is_represented).
double value_of(Half half) {
  const int exponent = half.bits >> 10 & 0x1f, fraction = half.bits & 0x3ff;
  const double magnitude = exponent == 0x1f ? (fraction == 0 ? INFINITY : NAN)
                           : exponent == 0  ? std::ldexp(fraction, -24)
                                            : std::ldexp(fraction + 0x400, exponent - 25);
  return half.bits >> 15 != 0 ? -magnitude : magnitude;
}
double value_of(bool number) {
  return number ? 1 : 0;
}
template <class T>
double value_of(T number) {
  return static_cast<double>(number);
}

/// Returns true if `value`, which is `number` converted to double, is finite and represents `number`. 64-bit
/// integers and long doubles must be represented exactly.
template <class T>
bool is_represented(T number, double value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    // A value of 2^63 (2^64 if T is unsigned) does not fit in T, so converting it back would be undefined
    // behaviour.
    const double end = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
    return value < end && static_cast<T>(value) == number;
  }
  if constexpr (std::is_same_v<T, long double>) return std::isfinite(value) && value == number;
  return std::isfinite(value);
}

/// Reads a number from memory of any alignment.
template <class T>
T load(const char* from, bool swapped) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return bytes[0] != 0;
  T number;
  std::memcpy(&number, bytes, sizeof(T));
  return number;
}

/// Converts numbers of type T to double until one is not represented. @return the number of converted ones
template <class T>
std::size_t convert(const char* from, bool swapped, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const T number = load<T>(from + i * sizeof(T), swapped);
    to[i] = value_of(number);
    if (!is_represented(number, to[i])) return i;
  }
  return count;
}

/// Returns a number as text for messages: integers and long doubles with all digits, others with six.
template <class T>
std::string text(const char* from, bool swapped) {
  const T number = load<T>(from, swapped);
  if constexpr (std::is_integral_v<T>) return std::to_string(number);
  char text_of_number[64];
  if constexpr (std::is_same_v<T, long double>) {
    std::snprintf(text_of_number, sizeof text_of_number, "%.*Lg", std::numeric_limits<T>::max_digits10,
                  number);
  } else {
    std::snprintf(text_of_number, sizeof text_of_number, "%g", value_of(number));
  }
  return text_of_number;
}

/// A readable number type, with the functions that convert its numbers to double and to text.
struct TypeRow {
  char kind;
  std::size_t bytes;
  std::size_t (*convert)(const char* from, bool swapped, std::size_t count, double* to);
  std::string (*text)(const char* from, bool swapped);
};

template <class T>
constexpr TypeRow row_of(char kind) {
  return {kind, sizeof(T), convert<T>, text<T>};
}

constexpr TypeRow type_table[] = {
    row_of<bool>('b'),          row_of<std::int8_t>('i'),   row_of<std::int16_t>('i'),
    row_of<std::int32_t>('i'),  row_of<std::int64_t>('i'),  row_of<std::uint8_t>('u'),
    row_of<std::uint16_t>('u'), row_of<std::uint32_t>('u'), row_of<std::uint64_t>('u'),
    row_of<Half>('f'),          row_of<float>('f'),         row_of<double>('f'),
    row_of<long double>('f')};

/// Returns the row of a type; null if the type is not readable.
const TypeRow* find_type(const ElementType& type) {
  const auto* const found =
      std::find_if(std::begin(type_table), std::end(type_table),
                   [&](const TypeRow& row) { return row.kind == type.kind && row.bytes == type.bytes; });
  return found == std::end(type_table) ? nullptr : found;
}

}  // namespace

bool is_readable(const ElementType& type) {
  return find_type(type) != nullptr;
}

std::size_t convert_elements(const ElementType& type, const void* from, std::size_t count, double* to) {
  return find_type(type)->convert(static_cast<const char*>(from), type.swapped, count, to);
}

std::string refused_element(const ElementType& type, const void* at, std::int64_t row, std::int64_t col) {
  double rounded = 0;
  convert_elements(type, at, 1, &rounded);
  return "element (" + std::to_string(row + 1) + ", " + std::to_string(col + 1) + ") is " +
         find_type(type)->text(static_cast<const char*>(at), type.swapped) +
         (!std::isfinite(rounded) ? "; allowed: finite numbers that a double holds"
                                  : std::string(", which is not exact as a double; allowed: ") +
                                        (type.kind == 'f' ? "long doubles that are exact" : exact_integers));
}

bool add_entry(double& element, double value, bool is_integer) {
  const double before = element;
  element = before == 0 ? value : before + value;  // the sum 0 + -0 would lose the sign
  if (!std::isfinite(element)) return false;
  const double added = element - before;  // the next line computes the sum's rounding error (Knuth's TwoSum)
  return !is_integer || (before - (element - added)) + (value - added) == 0;
}

MatrixShape shape_of(const std::vector<std::uint64_t>& dims) {
  MatrixShape shape;
  if (dims.size() > 2)
    shape.why = "has " + std::to_string(dims.size()) + " dimensions; allowed: 2, or 1 (a column)";
  if (std::count(dims.begin(), dims.end(), 0) > 0) shape.why = "is empty";
  const auto size = [&](std::size_t i) {
    return i < dims.size() ? static_cast<std::int64_t>(std::min<std::uint64_t>(dims[i], INT64_MAX)) : 1;
  };
  shape.rows = size(0);
  shape.cols = size(1);
  return shape;
}

void ElementSink::put(const void* block, std::int64_t line, std::int64_t lines, std::int64_t first,
                      std::int64_t width) {
  const auto count = static_cast<std::size_t>(lines * width);
  values_.resize(std::max(values_.size(), count));
  const std::size_t converted = convert_elements(type_, block, count, values_.data());
  if (converted < count) {
    const std::int64_t line_index = line + static_cast<std::int64_t>(converted) / width;
    const std::int64_t index_in_line = first + static_cast<std::int64_t>(converted) % width;
    const std::int64_t row = by_rows_ ? line_index : index_in_line,
                       col = by_rows_ ? index_in_line : line_index;
    throw InputError(
        where_ + refused_element(type_, static_cast<const char*>(block) + converted * type_.bytes, row, col));
  }
  if (matrix_.data.empty()) return;  // the caller only checks the elements
  // The matrix is column-major. Lines that are columns are contiguous in it; lines that are rows are strided.
  if (!by_rows_) {
    for (std::int64_t i = 0; i < lines; ++i)
      std::copy_n(values_.data() + i * width, width, matrix_.data.data() + (line + i) * matrix_.rows + first);
    return;
  }
  for (std::int64_t j = 0; j < width; ++j) {
    double* column = matrix_.data.data() + (first + j) * matrix_.rows + line;
    for (std::int64_t i = 0; i < lines; ++i) column[i] = values_[static_cast<std::size_t>(i * width + j)];
  }
}

}  // namespace gaussweep::io
