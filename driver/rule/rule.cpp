/// Reads and writes rules as JSON, and writes the directory of a rule. A rule has parts, a part has boxes of
/// sizes for one problem and device, and each box has one method (rule.hpp).

#include "driver/rule/rule.hpp"

#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* format_name = "gaussweep rule";
constexpr int format_version = 1;
const std::set<std::string> rule_files{"rule.json", "rule.h", "rule.py"};

/// Returns true if the name in a rule matches the name in a question.
bool fits(const std::string& pattern, const std::string& name) {
  return pattern == any_name || pattern == name;
}

Json span_json(const SizeRange& span) {
  return Json::array({span.from, span.to});
}

/// Returns the size range of a key; `any_size` if the JSON lacks the key. @throws nlohmann::json::exception
SizeRange span_from(const Json& json, const char* key) {
  if (!json.contains(key)) return any_size;
  const Json& pair = json.at(key);
  return {pair.at(0).get<std::int64_t>(), pair.at(1).get<std::int64_t>()};
}

Json box_json(const Box& box) {
  Json json;
  if (!(box.batch == any_size)) json["batch"] = span_json(box.batch);
  if (!(box.nrhs == any_size)) json["nrhs"] = span_json(box.nrhs);
  json["n"] = span_json(box.n);
  json["method"] = box.choice.method;
  json["parameters"] = Json::parse(box.choice.parameters);
  json["sizes"] = box.measured_tasks;
  const bool is_measured = box.measured_tasks > 0;
  json["regret"] = {{"mean", is_measured ? Json(box.mean) : Json()},
                    {"worst", is_measured ? Json(box.worst) : Json()}};
  json["instead"] = Json::array();
  for (const Alternative& other : box.alternatives) {
    json["instead"].push_back({{"method", other.choice.method},
                               {"parameters", Json::parse(other.choice.parameters)},
                               {"times_as_long", Json::array({other.least, other.most})}});
  }
  return json;
}

MethodChoice choice_from(const Json& json) {
  return {json.at("method").get<std::string>(), json.value("parameters", Json::object()).dump()};
}

Box box_from(const Json& json) {
  Box box;
  box.batch = span_from(json, "batch");
  box.nrhs = span_from(json, "nrhs");
  box.n = span_from(json, "n");
  box.choice = choice_from(json);
  box.measured_tasks = json.value("sizes", std::int64_t{0});
  if (json.contains("regret") && box.measured_tasks > 0) {
    box.mean = json.at("regret").at("mean").get<double>();
    box.worst = json.at("regret").at("worst").get<double>();
  }
  for (const Json& other : json.value("instead", Json::array())) {
    const Json& factors = other.at("times_as_long");
    box.alternatives.push_back(
        {choice_from(other), factors.at(0).get<double>(), factors.at(1).get<double>()});
  }
  return box;
}

void write_file(const fs::path& path, const std::string& text) {
  io::write_atomically(path, text.data(), text.size());
}

[[noreturn]] void fail_rename(const fs::path& from, const fs::path& to, int error) {
  throw io::StorageError(fmt::format("cannot rename {} to {}: {}", from.string(), to.string(),
                                     std::generic_category().message(error)));
}

/// Renames the complete directory `temporary` to `target`, and removes the old directory of that name.
void replace_directory(const fs::path& temporary, const fs::path& target) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(temporary);
    return;
  }
  if (errno != EINVAL && errno != ENOSYS) fail_rename(temporary, target, errno);
  // This file system cannot exchange two names, so the old directory gets another name first.
  const fs::path old = temporary.string() + ".old";
  if (::rename(target.c_str(), old.c_str()) != 0) fail_rename(target, old, errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail_rename(temporary, target, errno);
  fs::remove_all(old);
}

}  // namespace

std::string MethodChoice::text() const {
  const std::string settings = parameters_for_people(parameters);
  return method + (settings.empty() ? "" : " " + settings);
}

bool RulePart::covers(const Question& q) const {
  if (!fits(problem, q.problem) || !fits(device, q.device)) return false;
  for (const RuleNames& each : names) {
    if (fits(each.precision, q.precision) && fits(each.uplo, q.uplo) && fits(each.matrix, q.matrix))
      return true;
  }
  return false;
}

const Box* Rule::find(const Question& question) const {
  for (const RulePart& part : parts) {
    if (!part.covers(question)) continue;
    for (const Box& box : part.boxes) {
      if (box.has(question)) return &box;
    }
  }
  return nullptr;
}

Json to_json(const Rule& rule) {
  Json json{{"format", format_name},
            {"version", format_version},
            {"provenance", rule.provenance},
            {"parts", Json::array()}};
  for (const RulePart& part : rule.parts) {
    Json each{{"problem", part.problem},
              {"device", part.device},
              {"names", Json::array()},
              {"boxes", Json::array()}};
    for (const RuleNames& names : part.names) {
      each["names"].push_back(
          {{"precision", names.precision}, {"uplo", names.uplo}, {"matrix", names.matrix}});
    }
    for (const Box& box : part.boxes) each["boxes"].push_back(box_json(box));
    json["parts"].push_back(std::move(each));
  }
  return json;
}

Rule rule_from_json(const Json& json, const std::string& source) {
  try {
    if (json.value("format", "") != format_name)
      throw io::InputError(
          fmt::format("{}: is not a rule; allowed: a rule.json of `gaussweep rule`", source));
    if (const int version = json.at("version").get<int>(); version != format_version)
      throw io::InputError(fmt::format("{}: has version {} of the format; this program reads version {}",
                                       source, version, format_version));
    Rule rule;
    rule.provenance = json.value("provenance", Json::object());
    for (const Json& each : json.at("parts")) {
      RulePart part;
      part.problem = each.at("problem").get<std::string>();
      part.device = each.at("device").get<std::string>();
      for (const Json& names : each.at("names")) {
        part.names.push_back({names.at("precision").get<std::string>(), names.at("uplo").get<std::string>(),
                              names.at("matrix").get<std::string>()});
      }
      for (const Json& box : each.at("boxes")) part.boxes.push_back(box_from(box));
      rule.parts.push_back(std::move(part));
    }
    return rule;
  } catch (const nlohmann::json::exception& e) {
    throw io::InputError(fmt::format("{}: is damaged: {}", source, e.what()));
  }
}

Rule read_rule(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? path / "rule.json" : path;
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    throw io::InputError(fmt::format(
        "{}: cannot be read; allowed: a directory of `gaussweep rule`, or its rule.json", file.string()));
  const Json json = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    throw io::InputError(fmt::format("{}: is no JSON object", file.string()));
  return rule_from_json(json, file.string());
}

void check_rule_directory(const fs::path& directory, bool force) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory, error))) return;
  if (!fs::is_directory(directory, error))
    throw UsageError(fmt::format("-o {}: is a file; allowed: a new name, or a directory that holds a rule",
                                 directory.string()));
  bool is_empty = true;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    is_empty = false;
    if (rule_files.count(entry.path().filename().string()) == 0)
      throw UsageError(
          fmt::format("-o {}: holds {}, which is no file of a rule; allowed: a new name, or a directory that "
                      "holds only a rule",
                      directory.string(), entry.path().filename().string()));
  }
  if (error) throw UsageError(fmt::format("-o {}: cannot be read: {}", directory.string(), error.message()));
  if (!is_empty && !force)
    throw UsageError(fmt::format("-o {}: the rule exists; give another name, or --force to replace it",
                                 directory.string()));
}

void write_rule(const fs::path& directory, const Rule& rule) {
  const fs::path target = fs::absolute(directory).lexically_normal();
  // `name` is the target without a slash at its end.
  const fs::path name = target.has_filename() ? target : target.parent_path();
  check_rule_directory(name, /*force=*/true);
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(name, error));
  fs::create_directories(name.parent_path(), error);
  const fs::path temporary = fmt::format("{}.{}.tmp", name.string(), ::getpid());
  if (error || !fs::create_directory(temporary, error))
    throw io::StorageError(
        fmt::format("cannot create the folder {}: {}", temporary.string(), error.message()));
  try {
    write_file(temporary / "rule.json", json_text(to_json(rule)) + "\n");
    write_file(temporary / "rule.h", c_header(rule));
    write_file(temporary / "rule.py", python_module(rule));
    if (exists) {
      replace_directory(temporary, name);
    } else if (::rename(temporary.c_str(), name.c_str()) != 0) {
      fail_rename(temporary, name, errno);
    }
  } catch (...) {
    fs::remove_all(temporary, error);
    throw;
  }
}

}  // namespace gaussweep::driver
