/// Reads the rows of shared libraries in a child process, and loads libraries into a worker. A row describes
/// a method (kernels/registry/method.hpp).

#include "driver/plan/method_library.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/base/json_conversions.hpp"
#include "driver/base/printable.hpp"
#include "driver/system/process.hpp"
#include "io/files/digest.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"
#include "kernels/registry/library.hpp"

namespace nlohmann {

template <>
struct adl_serializer<gaussweep::ParameterValue> {
  static void to_json(json& to, const gaussweep::ParameterValue& value) {
    std::visit([&](const auto& v) { to = v; }, value);
  }
  static void from_json(const json& from, gaussweep::ParameterValue& value) {
    if (from.is_string()) {
      value = from.get<std::string>();
    } else if (from.is_number_integer()) {
      value = from.get<std::int64_t>();
    } else {
      value = from.get<double>();
    }
  }
};

}  // namespace nlohmann

namespace gaussweep {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, default_value, low, high, choices, help)

}  // namespace gaussweep

namespace gaussweep::driver {

using nlohmann::json;

namespace {

constexpr double load_timeout = 30;          // seconds
constexpr std::size_t max_rows_sent = 1000;  // as in kernels/registry/library.cpp
constexpr std::size_t max_refusal = 2000;    // characters of a library's error that are shown

/// Returns the function of a row whose library is not loaded; calling it throws.
template <class T>
Run<T> never_run() {
  return [](Context&, Operands<T>&, const Parameters&) {
    throw std::logic_error("a method of a library runs only where the library is loaded");
  };
}

/// Calls field(name, member) for every member of a row that is stored in JSON under its own name.
template <class Row, class Field>
void for_fields(Row& row, Field&& field) {
  field("problem", row.problem);
  field("variant", row.variant);
  field("summary", row.summary);
  field("needs", row.needs);
  field("capability", row.capability);
  field("parameters", row.parameters);
  field("overwrites", row.overwrites);
  field("mixed_precision", row.mixed_precision);
  field("max_nrhs", row.max_nrhs);
  field("max_batch", row.max_batch);
  field("library", row.library);
  field("library_digest", row.library_digest);
}

/// Converts a row to JSON, without its functions.
json row_json(const Method& method) {
  json functions = json::object();
  for (const Backend backend : method.backends) {
    std::vector<Precision> precisions;
    if (method.entry(backend).float32) precisions.push_back(Precision::float32);
    if (method.entry(backend).float64) precisions.push_back(Precision::float64);
    functions[std::string(to_string(backend))] = precisions;
  }
  json row = {{"answer", static_cast<int>(method.answer)},
              {"unit_diagonal", static_cast<int>(method.unit_diagonal)},
              {"functions", functions}};
  for_fields(method, [&](const char* name, const auto& member) { row[name] = member; });
  return row;
}

/// Reads a row that another process sent. Checks only the enums; `Registry::add` checks the other members.
Method row_of(const json& from) {
  Method method;
  for_fields(method, [&](const char* name, auto& member) { from.at(name).get_to(member); });
  const int answer = from.at("answer"), unit_diagonal = from.at("unit_diagonal");
  if (answer < 0 || answer > static_cast<int>(AnswerIn::x) || unit_diagonal < 0 || unit_diagonal > 1)
    throw std::runtime_error("a row has an unknown answer or unit diagonal");
  method.answer = static_cast<AnswerIn>(answer);
  method.unit_diagonal = static_cast<UnitDiagonal>(unit_diagonal);
  method.source = std::filesystem::path(method.library).filename().string();
  for (const auto& [name, precisions] : from.at("functions").items()) {
    const auto backend = json(name).get<Backend>();
    method.backends.push_back(backend);
    for (const Precision precision : precisions.get<std::vector<Precision>>()) {
      EntryPoints& entry = method.entry(backend);
      if (precision == Precision::float32) {
        entry.float32 = never_run<float>();
      } else {
        entry.float64 = never_run<double>();
      }
    }
  }
  return method;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("library {}: {}", one_line_printable(path),
                               one_line_printable(why.substr(0, max_refusal))));
}

/// Returns the rows that a child process reads from the library's table.
std::vector<Method> rows_by_child(const std::string& path) {
  const std::vector<std::string> words{"worker", "--library", path, "--parent", std::to_string(::getpid())};
  std::string output;
  try {
    output = captured_output(words, child_environment({"OPENBLAS_NUM_THREADS=1"}), load_timeout);
  } catch (const std::exception& e) {
    refuse(path, fmt::format("the process that loaded it failed: {}", e.what()));
  }
  std::vector<Method> rows;
  json table;
  try {
    table = json::parse(output);
  } catch (const std::exception&) {
    refuse(path, "the process that loaded it ended without printing its table");
  }
  if (table.is_object() && table.contains("refused"))
    refuse(path, table["refused"].is_string() ? table["refused"].get<std::string>() : "refused");
  try {
    if (!table.is_array() || table.size() > max_rows_sent) throw std::runtime_error("it is no list of rows");
    for (const json& row : table) rows.push_back(row_of(row));
  } catch (const std::exception& e) {
    refuse(path, fmt::format("its table cannot be read: {}", e.what()));
  }
  return rows;
}

/// Returns the driver's objection to adding a row of the library `path` to the registry; empty if there is
/// none.
std::string objection(const Registry& registry, const Method& row, const std::string& path) {
  const std::vector<std::string>& keys = io::reserved_entry_keys();
  for (const Parameter& parameter : row.parameters) {
    if (std::find(keys.begin(), keys.end(), parameter.name) != keys.end())
      return fmt::format("{}: parameter '{}' has the name of a key of plans, so that no plan could set it",
                         row.id(), parameter.name);
  }
  const Method* const known = registry.find(row.problem, row.variant);
  if (known == nullptr || known->library == path) return {};
  if (known->library.empty()) return fmt::format("gaussweep has a method {}; choose another name", row.id());
  return fmt::format(
      "{} has a method {} too; --methods adds to the plan's libraries and replaces none of them",
      known->library, row.id());
}

}  // namespace

void add_libraries(Registry& registry, const std::vector<std::string>& paths) {
  for (const std::string& given : paths) {
    std::error_code error;
    const std::string path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(given), error).string();
    const auto& known = registry.all();
    if (std::any_of(known.begin(), known.end(), [&](const Method& m) { return m.library == path; })) continue;
    if (error || !std::filesystem::is_regular_file(path, error))
      refuse(given, "is no file; give the path of a shared library, e.g. ./mine.so");
    const std::string digest = io::sha256_file(path);
    for (Method& row : rows_by_child(path)) {
      row.library = path;
      row.library_digest = digest;
      if (const std::string why = objection(registry, row, path); !why.empty()) refuse(given, why);
      try {
        registry.add(std::move(row));
      } catch (const std::logic_error& e) {
        refuse(given, e.what());
      }
    }
  }
}

std::vector<LibraryFile> libraries_of(const Registry& registry) {
  std::map<std::string, std::string> digests;
  for (const Method& method : registry.all()) {
    if (!method.library.empty()) digests[method.library] = method.library_digest;
  }
  std::vector<LibraryFile> all;
  for (const auto& [path, digest] : digests) all.push_back({path, digest});
  return all;
}

json library_rows(const Registry& registry) {
  json rows = json::array();
  for (const Method& method : registry.all()) {
    if (!method.library.empty()) rows.push_back(row_json(method));
  }
  return rows;
}

void add_library_rows(Registry& registry, const json& rows) {
  try {
    for (const json& row : rows) registry.add(row_of(row));
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("the rows of a library cannot be added: {}", e.what()));
  }
}

void load_libraries(Registry& registry, const std::vector<LibraryFile>& libraries) {
  for (const LibraryFile& library : libraries) {
    std::vector<Method> rows = load_library(library.path);
    // The digest is checked after the file was mapped, so that no other file can take its place in between.
    if (const std::string fault = library_fault({library}); !fault.empty()) throw std::runtime_error(fault);
    for (Method& row : rows) {
      row.library = library.path;
      row.library_digest = library.digest;
      registry.add(std::move(row));
    }
  }
}

std::string library_fault(const std::vector<LibraryFile>& libraries) {
  for (const LibraryFile& library : libraries) {
    std::string digest;
    try {
      digest = io::sha256_file(library.path);
    } catch (const io::InputError& e) {
      return fmt::format("library {}: {}", library.path, e.what());
    }
    if (digest != library.digest)
      return fmt::format("library {}: its digest here is {:.12}, but the run began with {:.12}", library.path,
                         digest, library.digest);
  }
  return {};
}

json library_table(const std::string& path) {
  try {
    json rows = json::array();
    for (const Method& method : load_library(path)) rows.push_back(row_json(method));
    return rows;
  } catch (const std::exception& e) {
    return {{"refused", e.what()}};
  }
}

}  // namespace gaussweep::driver
