/// Converts a rule to source code of C and Python. A rule has parts, a part has boxes (ranges of sizes), and
/// each box has one method (rule.hpp).

#include <fmt/format.h>
#include <set>

#include "driver/base/table.hpp"
#include "driver/rule/rule.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

/// Returns a string literal of C.
std::string quoted_in_c(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // '?' is escaped, because C compilers may replace trigraphs ("??/").
    if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\' || c == '?') {
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c;
    }
  }
  return literal + '"';
}

/// Returns a condition of C on a name; empty if every name fits.
std::string name_in_c(const char* variable, const std::string& name) {
  if (name == any_name) return {};
  return fmt::format("strcmp({}, {}) == 0", variable, quoted_in_c(name));
}

/// Joins the nonempty conditions with &&. Returns "1" if all are empty.
std::string all_in_c(const std::vector<std::string>& conditions) {
  std::vector<std::string> present;
  for (const std::string& each : conditions) {
    if (!each.empty()) present.push_back(each);
  }
  return present.empty() ? "1" : fmt::format("{}", fmt::join(present, " && "));
}

/// Returns a condition of C on a size; empty if every size fits.
std::string size_in_c(const char* variable, const SizeRange& span) {
  if (span == any_size) return {};
  if (span.from == span.to) return fmt::format("{} == {}", variable, span.from);
  return fmt::format("{} >= {} && {} <= {}", variable, span.from, variable, span.to);
}

/// Returns the C code that tests for a part and its boxes.
std::string part_in_c(const RulePart& part) {
  std::vector<std::string> names;
  for (const RuleNames& each : part.names) {
    names.push_back("(" +
                    all_in_c({name_in_c("precision", each.precision), name_in_c("uplo", each.uplo),
                              name_in_c("matrix", each.matrix)}) +
                    ")");
  }
  std::string text = fmt::format(
      "  if ({}) {{\n",
      all_in_c({name_in_c("device", part.device), fmt::format("({})", fmt::join(names, "\n    || "))}));
  for (const Box& box : part.boxes) {
    text += fmt::format(
        "    if ({}) return gaussweep_choose({}, {});\n",
        all_in_c({size_in_c("batch", box.batch), size_in_c("nrhs", box.nrhs), size_in_c("n", box.n)}),
        quoted_in_c(box.choice.method), quoted_in_c(box.choice.parameters));
  }
  return text + "  }\n";
}

/// Returns a Python string literal. It is the JSON string with non-ASCII characters unescaped. JSON would
/// escape some of them as surrogate pairs, which Python does not combine.
std::string quoted_in_python(const std::string& text) {
  return json_line(text);
}

std::string origin_text(const Rule& rule) {
  return fmt::format("Written by gaussweep {}; rule.json has the runs and the cost of other choices.",
                     rule.provenance.value("version", std::string(version_string)));
}

}  // namespace

std::string c_header(const Rule& rule) {
  std::string text = fmt::format("/* {} */\n", origin_text(rule));
  text += R"(#ifndef GAUSSWEEP_RULE_H
#define GAUSSWEEP_RULE_H

#include <string.h>

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define GAUSSWEEP_INLINE static inline
#elif defined(__GNUC__)
#define GAUSSWEEP_INLINE static __inline__
#else
#define GAUSSWEEP_INLINE static
#endif

/* A method and its parameters, a JSON object. Both are null if nothing was measured for the question. */
typedef struct {
  const char *method;
  const char *parameters;
} gaussweep_choice;

GAUSSWEEP_INLINE gaussweep_choice gaussweep_choose(const char *method, const char *parameters) {
  gaussweep_choice choice;
  choice.method = method;
  choice.parameters = parameters;
  return choice;
}

/* Arguments: the device's name, "float" or "double", "lower" or "upper", the kind of matrix, the order, the
   right-hand sides and the systems. A function ignores arguments that its problem does not have. */
)";
  std::set<std::string> problems;
  for (const RulePart& part : rule.parts) problems.insert(part.problem);
  for (const std::string& problem : problems) {
    text += fmt::format(
        "\nGAUSSWEEP_INLINE gaussweep_choice gaussweep_{}(const char *device, const char *precision,\n"
        "    const char *uplo, const char *matrix, long n, long nrhs, long batch) {{\n"
        "  (void)device; (void)precision; (void)uplo; (void)matrix; (void)n; (void)nrhs; (void)batch;\n",
        problem);
    for (const RulePart& part : rule.parts) {
      if (part.problem == problem) text += part_in_c(part);
    }
    text += "  return gaussweep_choose(0, 0);\n}\n";
  }
  return text + "\n#endif\n";
}

std::string python_module(const Rule& rule) {
  std::string text = fmt::format("\"\"\"{}\"\"\"\n", origin_text(rule));
  text += R"(
import json

# Per part: problem, device, its names (precision, uplo, matrix; "*" is any), and its boxes:
# (batch from, to, nrhs from, to, n from, to, method, parameters).
_PARTS = [
)";
  for (const RulePart& part : rule.parts) {
    text += fmt::format("    ({}, {}, [\n", quoted_in_python(part.problem), quoted_in_python(part.device));
    for (const RuleNames& each : part.names) {
      text += fmt::format("        ({}, {}, {}),\n", quoted_in_python(each.precision),
                          quoted_in_python(each.uplo), quoted_in_python(each.matrix));
    }
    text += "    ], [\n";
    for (const Box& box : part.boxes) {
      text += fmt::format("        ({}, {}, {}, {}, {}, {}, {}, {}),\n", box.batch.from, box.batch.to,
                          box.nrhs.from, box.nrhs.to, box.n.from, box.n.to,
                          quoted_in_python(box.choice.method), quoted_in_python(box.choice.parameters));
    }
    text += "    ]),\n";
  }
  text += R"(]


def choose(problem, device, precision, n, nrhs=1, batch=1, uplo="lower", matrix="uniform"):
    """Returns (method, parameters) for a case, or None if nothing was measured for it."""
    for of_problem, of_device, names, boxes in _PARTS:
        if of_problem != problem or of_device not in ("*", device):
            continue
        if not any(all(a in ("*", b) for a, b in zip(each, (precision, uplo, matrix))) for each in names):
            continue
        for b0, b1, r0, r1, n0, n1, method, parameters in boxes:
            if b0 <= batch <= b1 and r0 <= nrhs <= r1 and n0 <= n <= n1:
                return method, json.loads(parameters)
    return None
)";
  return text;
}

}  // namespace gaussweep::driver
