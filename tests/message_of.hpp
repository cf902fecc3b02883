#pragma once
/// What an action fails with.

#include <string>

namespace gaussweep::testing_help {

/// The message of the Error that `action` throws; empty where it throws none.
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
