/// Parses a record's line in the form that the journal writes, without building a JSON value.

#include "io/records/record_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::io {
namespace {

/// A member of Stage with its name in the journal.
struct StageMember {
  std::string_view name;
  std::variant<Text Stage::*, std::int64_t Stage::*, double Stage::*> member;
};

/// Returns the columns of a record sorted by name, which is their order in a line.
const std::vector<Field>& sorted_fields() {
  static const std::vector<Field> sorted = [] {
    std::vector<Field> fields = record_fields();
    std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
    return fields;
  }();
  return sorted;
}

constexpr StageMember stage_members[] = {{"kernel", &Stage::kernel},       {"calls", &Stage::calls},
                                         {"seconds", &Stage::seconds},     {"mean", &Stage::mean},
                                         {"occupancy", &Stage::occupancy}, {"share", &Stage::share}};

constexpr std::pair<std::string_view, double Sample::*> sample_members[] = {
    {"seconds", &Sample::seconds},
    {"clock_mhz", &Sample::clock_mhz},
    {"memory_clock_mhz", &Sample::memory_clock_mhz},
    {"power_w", &Sample::power_w},
    {"temperature_c", &Sample::temperature_c}};

/// A parser of a record's line. Every function reads from the front of `rest_` and returns true if the text
/// continues as expected.
class LineReader {
 public:
  LineReader(std::string_view text, LineTexts& earlier_texts, bool with_details)
      : rest_(text), earlier_texts_(earlier_texts), with_details_(with_details) {}

  /// Reads a whole record. Members in the order of sorted_fields are found without a search.
  bool record(Record& record) {
    const std::vector<Field>& fields = sorted_fields();
    auto next = fields.begin();
    const auto read_member = [&](std::string_view name) {
      // `members` passes the view expected_ itself if the line has the expected name. Equal addresses
      // therefore mean that `next` is the right field, and the search is needed only for other members.
      if (name.data() != expected_.data()) {
        next = std::lower_bound(fields.begin(), fields.end(), name,
                                [](const Field& f, std::string_view n) { return f.name < n; });
        if (next == fields.end() || next->name != name) return read_detail(name, record);
      }
      const Field& field = *next++;
      expected_ = next == fields.end() ? std::string_view() : next->name;
      if (const auto* text = std::get_if<Text Record::*>(&field.member))
        return value(record.**text, earlier_texts_.last[static_cast<std::size_t>(&field - fields.data())]);
      return std::visit([&](auto member) { return value(record.*member); }, field.member);
    };
    expected_ = next->name;
    // Rejects empty required fields; record_from_json then reports them.
    return take('{') && members(read_member) && rest_.empty() && !record.key.empty() &&
           !record.problem.empty() && !record.method.empty() && !record.status.empty();
  }

 private:
  /// Reads a member that is no column: samples, stages, history or for_now.
  bool read_detail(std::string_view name, Record& record) {
    if (name == "for_now") return value(record.is_temporary_failure);
    if (!with_details_ && (name == "sample_list" || name == "history" || name == "stages")) return skip();
    if (name == "sample_list") return samples(record.sample_list);
    if (name == "history") return array([&] { return value(record.history.emplace_back()); });
    if (name == "stages") return array([&] { return stage(record.stages.emplace_back()); });
    return false;
  }

  /// Skips an array or object with any contents.
  bool skip() {
    int depth = 0;
    do {
      const std::size_t next = rest_.find_first_of("[]{}\"");
      if (next == std::string_view::npos) return false;
      const char c = rest_[next];
      rest_.remove_prefix(next + 1);
      if (c == '"') {
        for (; !rest_.empty() && rest_[0] != '"'; rest_.remove_prefix(1))
          if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
        if (!take('"')) return false;
      } else {
        depth += c == '[' || c == '{' ? 1 : -1;
      }
    } while (depth > 0);
    return true;
  }

  bool stage(Stage& stage) {
    const auto read_member = [&](std::string_view name) {
      for (const auto& each : stage_members) {
        if (each.name == name)
          return std::visit([&](auto member) { return value(stage.*member); }, each.member);
      }
      return false;
    };
    return take('{') && members(read_member) && take('}');
  }

  /// Reads the samples: an object with one array per column. The arrays must have equal lengths, and
  /// `seconds`, `clock_mhz` and `throttled` must exist.
  bool samples(std::vector<Sample>& samples) {
    bool is_first = true, has_throttled = false;
    std::size_t arrays = 0;  // number of the arrays `seconds` and `clock_mhz` so far
    const auto column = [&](auto member) {
      std::size_t i = 0;
      const bool is_read = array([&] {
        if (is_first) samples.emplace_back();
        return i < samples.size() && value(samples[i++].*member);
      });
      is_first = false;
      return is_read && i == samples.size();
    };
    const auto read_member = [&](std::string_view name) {
      if (name == "throttled") return (has_throttled = true) && column(&Sample::throttled);
      for (const auto& [known, member] : sample_members) {
        if (known != name) continue;
        arrays += known == "seconds" || known == "clock_mhz" ? 1 : 0;
        return column(member);
      }
      return false;
    };
    return samples.empty() && take('{') && members(read_member) && take('}') && has_throttled && arrays == 2;
  }

  /// Reads `"name":value` pairs, separated by commas.
  template <class Read>
  bool members(Read read) {
    do {
      if (!take('"')) return false;
      std::string_view name = expected_;
      if (name.empty() || rest_.substr(0, name.size()) != name || rest_.substr(name.size(), 1) != "\"")
        name = rest_.substr(0, rest_.find('"'));
      if (name.size() == rest_.size()) return false;
      rest_.remove_prefix(name.size() + 1);
      if (!take(':') || !read(name)) return false;
    } while (take(','));
    return true;
  }

  /// Reads a list in brackets; `read` reads one element.
  template <class Read>
  bool array(Read read) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!read()) return false;
    } while (take(','));
    return take(']');
  }

  /// Reads a text. If the column's last text comes again, reuses it.
  bool value(Text& text, LineTexts::Last& last) {
    if (last.quoted.empty() || !take(last.quoted)) {
      const std::string_view before = rest_;
      if (!value(last.text)) return false;
      last.quoted = before.substr(0, before.size() - rest_.size());
    }
    text = last.text;
    return true;
  }

  /// Reads a quoted text. ASCII texts without escapes, or with only \" and \\, are decoded here; the JSON
  /// library decodes all others.
  bool value(Text& text) {
    if (!take('"')) return false;
    bool is_simple = true;
    std::size_t end = 0, escapes = 0;
    for (; end < rest_.size() && rest_[end] != '"'; ++end) {
      const auto c = static_cast<unsigned char>(rest_[end]);
      is_simple = is_simple && c >= 0x20 && c < 0x80;
      if (c != '\\') continue;
      ++escapes;
      const char escaped = ++end < rest_.size() ? rest_[end] : 'u';
      is_simple = is_simple && (escaped == '"' || escaped == '\\');
    }
    if (end >= rest_.size()) return false;
    const std::string_view inside = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (is_simple && escapes == 0) return text = earlier_texts_.pool.of(inside), true;
    if (is_simple) {  // only \" and \\ are escaped, as in "{\"threads\":32}"
      std::string unescaped;
      for (std::size_t i = 0; i < inside.size(); ++i)
        unescaped += inside[i] == '\\' ? inside[++i] : inside[i];
      return text = earlier_texts_.pool.of(unescaped), true;
    }
    const auto quoted = nlohmann::json::parse('"' + std::string(inside) + '"', nullptr, false);
    return quoted.is_string() && (text = earlier_texts_.pool.of(quoted.get_ref<const std::string&>()), true);
  }

  bool value(double& number) {
    number = Record::unknown;
    if (take("null")) return true;
    if (take("\"inf\"")) return number = std::numeric_limits<double>::infinity(), true;
    if (take("\"-inf\"")) return number = -std::numeric_limits<double>::infinity(), true;
    return parse(number);
  }

  bool value(std::int64_t& number) { return parse(number); }

  bool value(bool& truth) {
    truth = take("true");
    return truth || take("false");
  }

  /// Reads the longest prefix that is a number. Malformed numbers such as "1e", and "1.5" as an integer,
  /// leave characters before the next comma or bracket; the caller rejects them.
  template <class Number>
  bool parse(Number& number) {
    const std::string_view digits = rest_.substr(rest_.substr(0, 1) == "-" ? 1 : 0);
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;  // no "nan", no "inf"
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return error == std::errc();
  }

  /// Skips a character or a word if it comes next.
  bool take(char c) {
    const bool is_next = !rest_.empty() && rest_.front() == c;
    if (is_next) rest_.remove_prefix(1);
    return is_next;
  }
  bool take(std::string_view word) {
    const bool is_next = rest_.substr(0, word.size()) == word;
    if (is_next) rest_.remove_prefix(word.size());
    return is_next;
  }

  std::string_view rest_;  ///< the unread text
  /// The name of the column that usually comes next. If it does, `members` passes this view to its callback,
  /// which recognises the name by its address.
  std::string_view expected_;
  LineTexts& earlier_texts_;
  bool with_details_;
};

}  // namespace

bool read_record_line(std::string_view body, LineTexts& earlier_texts, Record& record, bool with_details) {
  return LineReader(body, earlier_texts, with_details).record(record);
}

}  // namespace gaussweep::io
