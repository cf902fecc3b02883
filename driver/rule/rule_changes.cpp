/// Finds the changes from each rule to the next, for example between the rules of consecutive nightly runs. A
/// rule chooses a method per box, a range of sizes.

#include "driver/rule/rule_changes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the range of sizes that are in both ranges, if there are any.
std::optional<SizeRange> common(const SizeRange& a, const SizeRange& b) {
  const SizeRange span{std::max(a.from, b.from), std::min(a.to, b.to)};
  return span.from <= span.to ? std::optional(span) : std::nullopt;
}

/// Returns the name of a rule, and the commits and drivers that it was learned from if they differ from those
/// of the rule before it.
std::string since_text(const NamedRule& before, const NamedRule& now) {
  std::string text = now.name;
  for (const char* key : {"commits", "drivers"}) {
    const nlohmann::ordered_json old = before.rule.provenance.value(key, nlohmann::ordered_json::array()),
                                 fresh = now.rule.provenance.value(key, nlohmann::ordered_json::array());
    if (old == fresh) continue;
    std::vector<std::string> words;
    for (const auto& each : fresh) words.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    text += fmt::format(", {} {}", key, fmt::join(words, " "));
  }
  return text;
}

/// Adds the changes between two parts for the same combination of precision, triangle and matrix.
/// @return the number of pairs of boxes that have sizes in common
std::size_t compare_parts(const RulePart& before, const RulePart& now, const RuleNames& names,
                          const std::string& since, std::vector<RuleChange>& changes) {
  std::size_t shared = 0;
  for (const Box& old : before.boxes) {
    for (const Box& fresh : now.boxes) {
      const auto batch = common(old.batch, fresh.batch), nrhs = common(old.nrhs, fresh.nrhs),
                 n = common(old.n, fresh.n);
      if (!batch || !nrhs || !n) continue;
      ++shared;
      if (old.choice == fresh.choice) continue;
      RuleChange change{
          now.device,          now.problem,         names, *batch, *nrhs, *n, old.choice, fresh.choice,
          io::Record::unknown, io::Record::unknown, since};
      for (const Alternative& other : fresh.alternatives) {
        if (other.choice != old.choice) continue;
        change.least = other.least;
        change.most = other.most;
      }
      changes.push_back(std::move(change));
    }
  }
  return shared;
}

}  // namespace

std::vector<RuleChange> changes_of(const std::vector<NamedRule>& rules) {
  std::vector<RuleChange> changes;
  for (std::size_t i = 1; i < rules.size(); ++i) {
    const std::string since = since_text(rules[i - 1], rules[i]);
    std::size_t shared = 0;
    for (const RulePart& before : rules[i - 1].rule.parts) {
      for (const RulePart& now : rules[i].rule.parts) {
        if (before.problem != now.problem || before.device != now.device) continue;
        for (const RuleNames& names : now.names) {
          if (std::find(before.names.begin(), before.names.end(), names) != before.names.end())
            shared += compare_parts(before, now, names, since, changes);
        }
      }
    }
    if (shared == 0)
      throw UsageError(fmt::format("{} and {} have no sizes in common: other devices, problems or matrices",
                                   rules[i - 1].name, rules[i].name));
  }
  return changes;
}

std::string span_text(const SizeRange& span) {
  if (span == any_size) return {};
  return range_text(span.from, span.to);
}

Table rule_change_table(const std::vector<RuleChange>& changes) {
  Table table;
  table.columns = {{"device", "DEVICE"},
                   {"problem", "PROBLEM"},
                   {"precision", "PRECISION"},
                   {"uplo", "UPLO"},
                   {"matrix", "MATRIX"},
                   {"batch", "BATCH"},
                   {"nrhs", "NRHS"},
                   {"n", "N"},
                   {"before", "BEFORE"},
                   {"now", "NOW"},
                   // WORTH: the old choice's time divided by the new choice's, as the range LEAST to MOST.
                   {"least", "WORTH, LEAST", Style::factor},
                   {"most", "MOST", Style::factor},
                   {"since", "SINCE"}};
  for (const RuleChange& c : changes) {
    table.rows.push_back({c.device, c.problem, c.names.precision,
                          c.names.uplo == any_name ? Cell() : Cell(c.names.uplo), c.names.matrix,
                          span_text(c.batch), span_text(c.nrhs), span_text(c.n), c.before.words(),
                          c.now.words(), c.least, c.most, c.since});
  }
  table.key_columns = 8;
  return table;
}

}  // namespace gaussweep::driver
