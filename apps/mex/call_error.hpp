#pragma once
/// Errors of calls from MATLAB or Octave.

#include <stdexcept>
#include <string>

namespace gaussweep::mex {

/// An error that MATLAB reports with this identifier, e.g. "gaussweep:nonSquare".
struct CallError : std::runtime_error {
  CallError(std::string id, const std::string& text) : std::runtime_error(text), identifier(std::move(id)) {}
  std::string identifier;
};

}  // namespace gaussweep::mex
