#pragma once
/// The notes of a journal (io/SCHEMA.md): what their members must be. For the .cpp files of `io/` only.

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace gaussweep::io {

/// Why an object with the member "note" is none of our notes, in words: a member of another type than that
/// of its kind, or one that lacks. Empty where nothing is wrong; kinds that are not known may hold anything.
std::string note_problem(const nlohmann::json& note);

}  // namespace gaussweep::io
