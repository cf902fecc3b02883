/// Converts notes, the lines of the journal that are not records, to JSON and back.

#include "io/records/notes.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "io/files/errors.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

// Calls visit(name, member, required) for the members of each note; `required` is false by default. Writer
// and Reader below are such visitors, so that each member is listed only once.
template <class Visit>
void members(Visit& visit, note::Run& n) {
  visit("run_id", n.run_id);
  visit("plan", n.plan);
  visit("plan_name", n.plan_name);
  visit("backend", n.backend);
  visit("shard", n.shard);
  visit("began", n.began);
  visit("started", n.started);
  visit("total", n.total);
  visit("clock", n.clock);
}
template <class Visit>
void members(Visit& visit, note::Inputs& n) {
  visit("folder", n.folder, true);
  visit("libraries", n.libraries, true);
}
template <class Visit>
void members(Visit& visit, note::Device& n) {
  visit("row", n.row, true);
  visit("time", n.time);
}
template <class Visit>
void members(Visit& visit, note::Host& n) {
  visit("row", n.row, true);
}
template <class Visit>
void members(Visit& visit, note::Vanished& n) {
  visit("keys", n.keys, true);
}
template <class Visit>
void members(Visit& visit, note::Retired& n) {
  visit("rank", n.rank);
  visit("reason", n.reason);
}
template <class Visit>
void members(Visit& visit, note::TimeLeft& n) {
  visit("low", n.low);
  visit("likely", n.likely);
  visit("high", n.high);
  visit("time", n.time);
}
template <class Visit>
void members(Visit& visit, note::End& n) {
  visit("exit_code", n.exit_code);
  visit("reason", n.reason);
  visit("time", n.time);
}

/// Writes the members of a note to JSON.
struct Writer {
  Json& to;
  template <class T>
  void operator()(const char* name, const T& member, bool /*required*/ = false) {
    if constexpr (std::is_same_v<T, note::Clocks>) {
      to[name] = {{"boot", member.boot}, {"uptime", member.uptime}};
    } else {
      to[name] = member;
    }
  }
};

// Each `take` reads a value and returns "", or returns a description of the allowed values.
std::string take(const Json& from, std::string& to) {
  if (!from.is_string()) return "a text";
  from.get_to(to);
  return "";
}
std::string take(const Json& from, std::int64_t& to) {
  if (!from.is_number_integer()) return "a whole number";
  from.get_to(to);
  return "";
}
std::string take(const Json& from, double& to) {
  if (!from.is_number() && !from.is_null()) return "a number or null";
  to = from.is_null() ? Record::unknown : from.get<double>();
  return "";
}
std::string take(const Json& from, std::vector<std::string>& to) {
  const bool is_valid = from.is_array() && std::all_of(from.begin(), from.end(),
                                                       [](const Json& one) { return one.is_string(); });
  if (!is_valid) return "an array of texts";
  from.get_to(to);
  return "";
}
std::string take(const Json& from, Json& to) {
  if (!from.is_array()) return "an array";
  to = from;
  return "";
}
std::string take(const Json& from, note::Clocks& to) {
  const bool is_valid = from.is_object() && (!from.contains("boot") || from["boot"].is_string()) &&
                        (!from.contains("uptime") || from["uptime"].is_number() || from["uptime"].is_null());
  if (!is_valid) return "an object with the text boot and the number uptime";
  to.boot = from.value("boot", "");
  if (from.contains("uptime") && from["uptime"].is_number()) from["uptime"].get_to(to.uptime);
  return "";
}
template <class Row>
std::string take(const Json& from, Row& to) {
  return read_row(from, to);
}

/// Reads members of a note from JSON. @throws InputError if a member is invalid, or required and missing
struct Reader {
  std::string kind;
  Json& from;  // members are removed as they are read; those that are left become a Run's provenance
  template <class T>
  void operator()(const char* name, T& member, bool required = false) {
    constexpr std::size_t max_shown = 60;
    const auto found = from.find(name);
    if (found == from.end()) {
      if (required) throw InputError("the note '" + kind + "' lacks '" + name + "'");
      return;
    }
    const std::string allowed = take(*found, member);
    if (!allowed.empty()) {
      throw InputError("the note '" + kind + "' has '" + name + "': " +
                       found->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, max_shown) +
                       "; allowed: " + allowed);
    }
    from.erase(found);
  }
};

/// Tries the alternatives of Note one after the other.
template <std::size_t i = 0>
Note read_as(const std::string& kind, Json from) {
  using Each = std::variant_alternative_t<i, Note>;
  if constexpr (std::is_same_v<Each, note::Other>) {
    return note::Other{std::move(from)};
  } else {
    if (kind != Each::name) return read_as<i + 1>(kind, std::move(from));
    Each note;
    Reader reader{kind, from};
    members(reader, note);
    from.erase("note");
    if constexpr (std::is_same_v<Each, note::Run>) note.provenance = std::move(from);
    return note;
  }
}

}  // namespace

Json note_json(const Note& note) {
  return std::visit(
      [](auto each) {
        using Each = decltype(each);
        if constexpr (std::is_same_v<Each, note::Other>) {
          return each.all;
        } else {
          Json to = Json::object();
          if constexpr (std::is_same_v<Each, note::Run>) to = each.provenance;
          to["note"] = Each::name;
          Writer writer{to};
          members(writer, each);
          return to;
        }
      },
      note);
}

Note read_note(const Json& json) {
  const Json& kind = json.at("note");
  if (!kind.is_string()) {
    throw InputError("the note has 'note': " + kind.dump(-1, ' ', true, Json::error_handler_t::replace) +
                     "; allowed: a text");
  }
  return read_as(kind.get<std::string>(), json);
}

std::map<std::string, std::string> note::Run::attributes() const {
  std::map<std::string, std::string> all;
  const Json members = note_json(*this);
  for (const auto& [name, value] : members.items()) {
    if (name != "note") all[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return all;
}

}  // namespace gaussweep::io
