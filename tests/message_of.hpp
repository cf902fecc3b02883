#pragma once
/// The error message of an action.

#include <string>

namespace gaussweep::testing_help {

/// Returns the message of the Error that `action` throws, or "" if it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace gaussweep::testing_help
