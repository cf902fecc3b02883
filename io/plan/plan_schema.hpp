#pragma once
/// What a plan may look like, for editors.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::io {

/// What this room does not know of a plan.
struct PlanVocabulary {
  std::vector<std::string> problems, kinds;  ///< kinds of matrices
  std::map<std::string, std::string> axes;   ///< of an entry besides its fixed words, and what each is
};

/// A JSON schema (draft 7), made from the tables of the plan's reader: every key with its shape and what it
/// is for. It is no stricter than the reader.
nlohmann::ordered_json plan_schema(const PlanVocabulary& vocabulary);

}  // namespace gaussweep::io
