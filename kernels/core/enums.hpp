#pragma once
/// The enums of gaussweep and their names. The strings of `to_string` are the values on the command line, in
/// plans (the user's lists of trials), in JSON and in HDF5; `from_string` is their inverse.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gaussweep {

enum class Precision { float32, float64 };
/// The backend of a trial (one method on one input): `cuda`, `emulated` (the same kernels on the CPU), `host`
/// (code written for the CPU).
enum class Backend { cuda, emulated, host };
enum class Uplo { lower, upper };
/// A property that a method requires of its matrix. A user may give the method another matrix on purpose; the
/// result is recorded all the same. `spd` is symmetric positive definite. `strongly_regular` means that all
/// leading principal submatrices are nonsingular.
enum class Need {
  spd,
  strongly_regular,
  diagonally_dominant,
  triangular,
  nonzero_elements,
  nonzero_diagonal
};
/// The outcome of an iterative method; `none` for direct methods.
enum class Convergence { none, converged, stagnated, diverged, max_iterations };

/// The names of an enum: `table` has the names of its values, in declaration order; `noun` names the enum
/// itself in messages.
template <class Enum>
struct EnumNames;

template <>
struct EnumNames<Precision> {
  static constexpr std::string_view noun = "precision";
  static constexpr std::array<std::pair<Precision, std::string_view>, 2> table{
      {{Precision::float32, "float"}, {Precision::float64, "double"}}};
};
template <>
struct EnumNames<Backend> {
  static constexpr std::string_view noun = "backend";
  static constexpr std::array<std::pair<Backend, std::string_view>, 3> table{
      {{Backend::cuda, "cuda"}, {Backend::emulated, "emulated"}, {Backend::host, "host"}}};
};
template <>
struct EnumNames<Uplo> {
  static constexpr std::string_view noun = "uplo";
  static constexpr std::array<std::pair<Uplo, std::string_view>, 2> table{
      {{Uplo::lower, "lower"}, {Uplo::upper, "upper"}}};
};
template <>
struct EnumNames<Need> {
  static constexpr std::string_view noun = "need";
  static constexpr std::array<std::pair<Need, std::string_view>, 6> table{
      {{Need::spd, "spd"},
       {Need::strongly_regular, "strongly_regular"},
       {Need::diagonally_dominant, "diagonally_dominant"},
       {Need::triangular, "triangular"},
       {Need::nonzero_elements, "nonzero_elements"},
       {Need::nonzero_diagonal, "nonzero_diagonal"}}};
};
template <>
struct EnumNames<Convergence> {
  static constexpr std::string_view noun = "convergence";
  static constexpr std::array<std::pair<Convergence, std::string_view>, 5> table{
      {{Convergence::none, ""},
       {Convergence::converged, "converged"},
       {Convergence::stagnated, "stagnated"},
       {Convergence::diverged, "diverged"},
       {Convergence::max_iterations, "max_iterations"}}};
};

/// Returns the name of an enum value.
template <class Enum, class = decltype(EnumNames<Enum>::table)>
constexpr std::string_view to_string(Enum value) {
  for (const auto& [key, name] : EnumNames<Enum>::table) {
    if (key == value) return name;
  }
  return "?";
}

/// Returns the enum value with this name, or nullopt.
template <class Enum>
constexpr std::optional<Enum> from_string(std::string_view text) {
  for (const auto& [key, name] : EnumNames<Enum>::table) {
    if (name == text) return key;
  }
  return std::nullopt;
}

/// Returns all names of an enum, separated by ", ", for error messages.
template <class Enum>
std::string allowed_names() {
  std::string all;
  for (const auto& [key, name] : EnumNames<Enum>::table) {
    if (!all.empty()) all += ", ";
    all += name;
  }
  return all;
}

/// Returns the bytes per element.
constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::float32 ? 4 : 8;
}
/// The precision of a C++ type.
template <class T>
constexpr Precision precision_of = sizeof(T) == 4 ? Precision::float32 : Precision::float64;

}  // namespace gaussweep
