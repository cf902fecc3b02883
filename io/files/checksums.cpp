#include "io/files/checksums.hpp"

#include <nlohmann/json.hpp>

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

[[noreturn]] void malformed() {
  throw h5::Error("its checksums are no JSON object of the form that io/SCHEMA.md gives");
}

std::map<std::string, std::string> texts_of(const Json& json) {
  if (!json.is_object()) malformed();
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) malformed();
    texts[name] = value.get<std::string>();
  }
  return texts;
}

}  // namespace

std::string FileChecksums::text() const {
  Json json = {{"attributes", attributes}, {"tables", Json::object()}};
  for (const auto& [name, table] : tables)
    json["tables"][name] = {{"rows", table.rows}, {"columns", table.columns}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

FileChecksums FileChecksums::parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("attributes") || !json.contains("tables")) malformed();
  FileChecksums result;
  result.attributes = texts_of(json["attributes"]);
  if (!json["tables"].is_object()) malformed();
  for (const auto& [name, table] : json["tables"].items()) {
    if (!table.is_object() || !table.contains("rows") || !table.contains("columns")) malformed();
    if (!table["rows"].is_number_unsigned()) malformed();
    result.tables[name] = {table["rows"].get<std::size_t>(), texts_of(table["columns"])};
  }
  return result;
}

std::string FileChecksums::difference(const FileChecksums& found) const {
  for (const auto& [name, crc] : attributes) {
    const auto other = found.attributes.find(name);
    if (other == found.attributes.end() || other->second != crc) return "the attribute '" + name + "'";
  }
  for (const auto& [name, table] : found.tables) {
    const auto said = tables.find(name);
    if (said == tables.end()) continue;
    if (said->second.rows != table.rows) return "the number of rows of " + name;
    for (const auto& [column, crc] : table.columns) {
      const auto expected = said->second.columns.find(column);
      if (expected != said->second.columns.end() && expected->second != crc)
        return "the column '" + column + "' of " + name;
    }
  }
  return "";
}

}  // namespace gaussweep::io
