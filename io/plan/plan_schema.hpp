#pragma once
/// A JSON schema of plans, for editors.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::io {

/// Names from the registry and the driver, which this module does not depend on.
struct PlanVocabulary {
  std::vector<std::string> problems, kinds;  ///< kinds of matrices
  std::map<std::string, std::string> axes;   ///< the axes of an entry, each with its help text
};

/// Returns a JSON schema (draft 7), made from the tables of the plan's reader: every key with its shape and
/// help text. It is meant to accept every plan that the reader accepts.
nlohmann::ordered_json plan_schema(const PlanVocabulary& vocabulary);

}  // namespace gaussweep::io
