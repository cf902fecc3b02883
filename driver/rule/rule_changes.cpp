/// Finds the changes from each rule to the next, for example between the rules of consecutive nightly runs. A
/// rule chooses a method per box, a range of sizes.

#include "driver/rule/rule_changes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the range of sizes that are in both ranges, if there are any.
std::optional<SizeRange> common(const SizeRange& a, const SizeRange& b) {
  const SizeRange span{std::max(a.from, b.from), std::min(a.to, b.to)};
  return span.from <= span.to ? std::optional(span) : std::nullopt;
}

/// Returns the name of a rule. If its commits or drivers differ from those of the rule before it, adds them.
std::string since_text(const NamedRule& before, const NamedRule& now) {
  std::string text = now.name;
  for (const char* key : {"commits", "drivers"}) {
    const nlohmann::ordered_json old = before.rule.provenance.value(key, nlohmann::ordered_json::array()),
                                 fresh = now.rule.provenance.value(key, nlohmann::ordered_json::array());
    if (old == fresh) continue;
    std::vector<std::string> values;
    for (const auto& each : fresh) values.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    text += fmt::format(", {} {}", key, fmt::join(values, " "));
  }
  return text;
}

/// The sizes of a box.
struct Sizes {
  SizeRange batch, nrhs, n;
};

std::optional<Sizes> common(const Sizes& a, const Sizes& b) {
  const auto batch = common(a.batch, b.batch), nrhs = common(a.nrhs, b.nrhs), n = common(a.n, b.n);
  if (!batch || !nrhs || !n) return std::nullopt;
  return Sizes{*batch, *nrhs, *n};
}

/// Removes the sizes of `hole` from `sizes`. On each axis in turn, splits off the part of a piece below the
/// hole and the part above it; the rest of the piece is inside the hole and is dropped.
void subtract(std::vector<Sizes>& sizes, const Sizes& hole) {
  std::vector<Sizes> rest;
  for (Sizes piece : sizes) {
    if (!common(piece, hole)) {
      rest.push_back(piece);
      continue;
    }
    for (SizeRange Sizes::*axis : {&Sizes::batch, &Sizes::nrhs, &Sizes::n}) {
      SizeRange& span = piece.*axis;
      const SizeRange& cut = hole.*axis;
      for (const SizeRange& side : {SizeRange{span.from, cut.from - 1}, SizeRange{cut.to + 1, span.to}}) {
        if (side.from > side.to) continue;
        rest.push_back(piece);
        rest.back().*axis = side;
      }
      span = *common(span, cut);
    }
  }
  sizes = std::move(rest);
}

/// Adds the changes from the boxes of `before` to the boxes `now`, for the precision, triangle and matrix in
/// `names`.
/// @return the number of pairs of boxes that have sizes in common
std::size_t compare_boxes(const RulePart& before, const std::vector<Box>& now, const RuleNames& names,
                          const std::string& since, std::vector<RuleChange>& changes) {
  std::size_t shared = 0;
  const auto add = [&](const Sizes& at, const MethodChoice& old, std::optional<MethodChoice> fresh) {
    changes.push_back({before.device, before.problem, names, at.batch, at.nrhs, at.n, old, std::move(fresh),
                       io::Record::unknown, io::Record::unknown, since});
  };
  for (const Box& old : before.boxes) {
    std::vector<Sizes> uncovered{{old.batch, old.nrhs, old.n}};
    for (const Box& fresh : now) {
      const Sizes sizes{fresh.batch, fresh.nrhs, fresh.n};
      const std::optional<Sizes> at = common(Sizes{old.batch, old.nrhs, old.n}, sizes);
      if (!at) continue;
      ++shared;
      subtract(uncovered, sizes);
      if (old.choice == fresh.choice) continue;
      add(*at, old.choice, fresh.choice);
      for (const Alternative& other : fresh.alternatives) {
        if (other.choice != old.choice) continue;
        changes.back().least = other.least;
        changes.back().most = other.most;
      }
    }
    for (const Sizes& sizes : uncovered) add(sizes, old.choice, std::nullopt);
  }
  return shared;
}

/// Returns the boxes of the rule for a device, a problem and names; none if the rule lacks them.
std::vector<Box> boxes_of(const Rule& rule, const RulePart& like, const RuleNames& names) {
  for (const RulePart& part : rule.parts) {
    if (part.problem == like.problem && part.device == like.device &&
        std::find(part.names.begin(), part.names.end(), names) != part.names.end())
      return part.boxes;
  }
  return {};
}

}  // namespace

std::vector<RuleChange> changes_of(const std::vector<NamedRule>& rules) {
  std::vector<RuleChange> changes;
  for (std::size_t i = 1; i < rules.size(); ++i) {
    const std::string since = since_text(rules[i - 1], rules[i]);
    std::size_t shared = 0;
    const std::vector<RulePart>& parts = rules[i].rule.parts;
    for (const RulePart& before : rules[i - 1].rule.parts) {
      const auto is_of_device = [&](const RulePart& part) { return part.device == before.device; };
      if (std::none_of(parts.begin(), parts.end(), is_of_device)) continue;
      for (const RuleNames& names : before.names) {
        shared += compare_boxes(before, boxes_of(rules[i].rule, before, names), names, since, changes);
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
                          span_text(c.batch), span_text(c.nrhs), span_text(c.n), c.before.text(),
                          c.now ? c.now->text() : "not measured", c.least, c.most, c.since});
  }
  table.key_columns = 8;
  return table;
}

}  // namespace gaussweep::driver
