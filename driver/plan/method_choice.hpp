#pragma once
/// Selects the method that a command-line option such as `--method` names.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A method and the backend that it runs on.
struct ChosenMethod {
  const Method* method = nullptr;
  Backend backend = Backend::host;
};

/// A method that an option of the command line requests, and texts for error messages.
struct MethodQuery {
  std::vector<Problem> problems;  ///< the allowed problems, the default one first
  /// An id ("poinv/lapack"), a variant of the default problem ("lapack"), or empty. Empty selects the
  /// vendor's method for that problem, with which others are compared.
  std::string name;
  Backend requested = Backend::host;
  Precision precision = Precision::float64;
  int capability = 0;  ///< the GPU's compute capability, 0 if there is no GPU
  std::string option = "--method";
  std::string allowed = "allowed";  ///< text before the list of allowed methods
  /// The reason that the error gives for refusing a method of another problem; empty: "is a method of another
  /// problem".
  std::string wrong_problem_reason{};
};

/// Selects the method. @throws UsageError if there is no such method, it solves another problem, or it cannot
/// run here
ChosenMethod choose_method(const Registry& registry, const MethodQuery& query);

}  // namespace gaussweep::driver
