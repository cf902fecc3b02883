#pragma once
/// What a call from MATLAB or Octave can be refused for.

#include <stdexcept>
#include <string>

namespace gaussweep::mex {

/// Becomes an error of MATLAB with this identifier, e.g. "gaussweep:nonSquare".
struct Refusal : std::runtime_error {
  Refusal(std::string id, const std::string& text) : std::runtime_error(text), identifier(std::move(id)) {}
  std::string identifier;
};

}  // namespace gaussweep::mex
