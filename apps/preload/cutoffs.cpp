/// Decides for which calls gaussweep is faster: by sizes that were measured, or by a rule in a file
/// (docs/rule.md).

#include "apps/preload/cutoffs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace gaussweep::preload {
namespace {

using Json = nlohmann::json;

/// The range of measured orders n at which a problem's method wins in both precisions (docs/performance.md,
/// docs/performance_inverses.md, docs/preload.md).
struct Cutoff {
  std::string_view problem;
  std::int64_t from, to;
};
constexpr Cutoff measured[] = {{"getrf", 1024, 32768},
                               {"potrf", 1024, 16384},
                               {"trtri", 1024, 16384},
                               {"trsv", 1024, 16384},
                               {"poinv", 1024, 8192}};
constexpr std::string_view measured_devices[] = {"H100", "H200"};

/// Returns true for sizes at which gaussweep was measured to be faster.
bool has_measured_size(const Task& task) {
  // Few right-hand sides win only with triangles that are not transposed; many win only from n / 2 on
  // (docs/preload.md).
  if (task.nrhs <= few_rhs ? task.is_transposed : task.nrhs < task.n / 2) return false;
  // In float, many right-hand sides and potri were slower than the vendor's at n = 5001 (PyTorch on an H200).
  if (!task.is_double && task.n > 4096 && (task.nrhs > few_rhs || std::string_view(task.problem) == "poinv"))
    return false;
  return std::any_of(std::begin(measured), std::end(measured), [&](const Cutoff& each) {
    return task.problem == each.problem && task.n >= each.from && task.n <= each.to;
  });
}

/// Returns true for the GPU models on which the cutoffs were measured.
bool is_measured_device(const std::string& device) {
  if (device.find("MIG") != std::string::npos) return false;  // a MIG partition of a GPU was not measured
  return std::any_of(std::begin(measured_devices), std::end(measured_devices),
                     [&](std::string_view name) { return device.find(name) != std::string::npos; });
}

struct Range {
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  bool has(std::int64_t size) const { return from <= size && size <= to; }
};

/// Sizes for which the rule chooses one method.
struct Box {
  Range batch, nrhs, n;
  bool is_ours;  ///< whether that method is gaussweep's own
};

struct Names {
  std::string precision, uplo;
};

/// The boxes for a problem, a device, and values of precision and uplo. "*" stands for every value.
struct Part {
  std::string problem, device;
  std::vector<Names> names;
  std::vector<Box> boxes;
};

/// Returns the range of a key; all sizes without the key.
Range range_from(const Json& box, const char* key) {
  if (!box.contains(key)) return {};
  return {box.at(key).at(0).get<std::int64_t>(), box.at(key).at(1).get<std::int64_t>()};
}

/// Reads the parts of a rule.json. @throws std::exception if it is no rule of version 1
std::vector<Part> parts_from(const Json& rule) {
  if (rule.at("format") != "gaussweep rule" || rule.at("version") != 1)
    throw std::runtime_error("no rule of version 1");
  std::vector<Part> parts;
  for (const Json& each : rule.at("parts")) {
    Part part{each.at("problem"), each.at("device"), {}, {}};
    for (const Json& names : each.at("names"))
      part.names.push_back({names.at("precision"), names.at("uplo")});
    for (const Json& box : each.at("boxes")) {
      // The names of the vendor's methods begin with cu.
      const bool is_ours = box.at("method").get<std::string>().rfind("cu", 0) != 0;
      part.boxes.push_back(
          {range_from(box, "batch"), range_from(box, "nrhs"), range_from(box, "n"), is_ours});
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

bool fits(const std::string& pattern, std::string_view name) {
  return pattern == "*" || pattern == name;
}

/// Returns true if the part is for the task's problem, precision and triangle, and for the device.
bool covers(const Part& part, const Task& task, const std::string& device) {
  if (!fits(part.problem, task.problem) || !fits(part.device, device)) return false;
  return std::any_of(part.names.begin(), part.names.end(), [&](const Names& names) {
    return fits(names.precision, task.is_double ? "double" : "float") &&
           fits(names.uplo, task.is_upper ? "upper" : "lower");
  });
}

/// Returns true if the rule chooses a method of gaussweep. A rule may have one part per kind of matrix. All
/// of them must choose gaussweep, because the kind of a caller's matrix is unknown.
bool is_chosen(const std::vector<Part>& parts, const Task& task, const std::string& device) {
  bool chosen = false;
  for (const Part& part : parts) {
    if (!covers(part, task, device)) continue;
    const bool is_ours = std::any_of(part.boxes.begin(), part.boxes.end(), [&](const Box& box) {
      return box.is_ours && box.batch.has(1) && box.nrhs.has(task.nrhs) && box.n.has(task.n);
    });
    if (!is_ours) return false;
    chosen = true;
  }
  return chosen;
}

/// Two functions: `anywhere` returns true if gaussweep may be faster on some device, `on_device` if it is
/// faster on the named device.
struct Decision {
  std::function<bool(const Task&)> anywhere;
  std::function<bool(const Task&, const std::string&)> on_device;
};

/// Returns the decision by GAUSSWEEP_CUSOLVER_RULE. An unreadable rule chooses nothing.
Decision load_decision() {
  const char* const path = std::getenv("GAUSSWEEP_CUSOLVER_RULE");
  if (path == nullptr || *path == '\0')
    return {has_measured_size,
            [](const Task&, const std::string& device) { return is_measured_device(device); }};
  try {
    std::filesystem::path file = path;
    if (std::filesystem::is_directory(file)) file /= "rule.json";
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot be read");
    return {[](const Task&) { return true; },
            [parts = parts_from(Json::parse(stream))](const Task& task, const std::string& device) {
              return is_chosen(parts, task, device);
            }};
  } catch (const std::exception& e) {
    std::fprintf(stderr,
                 "libgaussweep_cusolver: GAUSSWEEP_CUSOLVER_RULE=%s: %s; cuSOLVER answers all calls\n", path,
                 e.what());
    return {[](const Task&) { return false; }, {}};
  }
}

const Decision& decision() {
  static const auto& loaded = *new Decision(load_decision());  // never destroyed: calls may come at exit
  return loaded;
}

}  // namespace

bool may_be_faster(const Task& task) {
  return decision().anywhere(task);
}

bool is_faster(const Task& task, const std::string& device) {
  return may_be_faster(task) && decision().on_device(task, device);
}

}  // namespace gaussweep::preload
