#include "io/records/journal_notes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/records/results_columns.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

std::string no_text(const Json& value) {
  return value.is_string() ? "" : "a text";
}
std::string no_whole(const Json& value) {
  return value.is_number_integer() ? "" : "a whole number";
}
std::string no_texts(const Json& value) {
  const bool fits = value.is_array() &&
                    std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
  return fits ? "" : "an array of texts";
}

std::string no_clock(const Json& value) {
  const bool fits = value.is_object() && (!value.contains("boot") || value["boot"].is_string()) &&
                    (!value.contains("uptime") || value["uptime"].is_number());
  return fits ? "" : "an object with the text boot and the number uptime";
}

/// A row of a table, whole: every column by name, of its type, null for NaN.
template <class Row>
std::string no_row(const Json& value, const std::vector<h5::Column<Row>>& columns) {
  if (!value.is_object()) return "an object";
  for (const auto& column : columns) {
    const std::string name(column.name);
    const auto found = value.find(name);
    const bool there = found != value.end();
    const auto kind = static_cast<h5::Kind>(column.member.index());
    if (kind == h5::Kind::text && !(there && found->is_string())) return "a row with the text " + name;
    if (kind == h5::Kind::integer && !(there && found->is_number_integer()))
      return "a row with the whole number " + name;
    if (kind == h5::Kind::real && !(there && (found->is_number() || found->is_null())))
      return "a row with the number " + name;
  }
  return "";
}
std::string no_device(const Json& value) {
  return no_row(value, device_columns());
}
std::string no_host(const Json& value) {
  return no_row(value, host_columns());
}

struct Member {
  std::string_view kind, name;
  std::string (*problem)(const Json&);  ///< what is allowed, where the value is not that
  bool required;
};

constexpr Member members[] = {
    {"run", "run_id", no_text, false},     {"run", "plan", no_text, false},
    {"run", "plan_name", no_text, false},  {"run", "started", no_text, false},
    {"run", "backend", no_text, false},    {"run", "total", no_whole, false},
    {"run", "shard", no_text, false},      {"run", "clock", no_clock, false},
    {"run", "began", no_text, false},      {"device", "time", no_text, false},
    {"device", "row", no_device, true},    {"host", "row", no_host, true},
    {"vanished", "keys", no_texts, true},  {"retired", "rank", no_whole, false},
    {"retired", "reason", no_text, false}, {"end", "exit_code", no_whole, false},
    {"end", "reason", no_text, false},     {"end", "time", no_text, false},
};

}  // namespace

std::string note_problem(const Json& note) {
  constexpr std::size_t most_shown = 60;
  const Json& kind = note.at("note");
  const auto words = [&](std::string_view member, const std::string& allowed, const Json& found) {
    return "the note" + (kind.is_string() ? " '" + kind.get<std::string>() + "'" : std::string()) + " has '" +
           std::string(member) +
           "': " + found.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, most_shown) +
           "; allowed: " + allowed;
  };
  if (!kind.is_string()) return words("note", "a text", kind);
  for (const Member& member : members) {
    if (kind != member.kind) continue;
    const auto found = note.find(member.name);
    if (found == note.end()) {
      if (!member.required) continue;
      return "the note '" + kind.get<std::string>() + "' lacks '" + std::string(member.name) + "'";
    }
    const std::string allowed = member.problem(*found);
    if (!allowed.empty()) return words(member.name, allowed, *found);
  }
  return "";
}

}  // namespace gaussweep::io
