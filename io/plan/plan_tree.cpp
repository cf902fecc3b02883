/// Parses YAML into a tree of nodes with locations, and enforces limits on its size.

#include "io/plan/plan_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "io/files/utf8.hpp"

namespace gaussweep::io {
namespace {

/// Builds the tree from the parser's events. Unlike the library's tree it keeps the location of every value,
/// rejects cycles, and checks the limits while it reads.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// @param text the text that is parsed; it must outlive the builder
  TreeBuilder(std::string file, const std::string& text) : file_(std::move(file)), text_(text) {
    line_starts_.push_back(text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0);
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
      line_starts_.push_back(end + 1);
    }
  }

  YamlPointer root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto node = make(YamlNode::Kind::null, mark, "", anchor);
    // The parser's location of a missing value is the next token; the location of the key is more useful.
    if (!open_.empty() && open_.back().key != nullptr) node->location = open_.back().key->location;
    add(node);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const YamlPointer target = anchor < anchors_.size() ? anchors_[anchor] : nullptr;
    const auto is_target = [&](const Frame& frame) { return frame.node == target; };
    if (target == nullptr || std::any_of(open_.begin(), open_.end(), is_target)) {
      fail_at(location(mark), "an alias inside its own anchor; an alias repeats a value that is complete");
    }
    count(mark);
    add(target);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = make(YamlNode::Kind::scalar, mark, tag, anchor);
    if (tag == "!") require_closed(mark);  // a quoted value
    node->text = value;
    add(node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(make(YamlNode::Kind::sequence, mark, tag, anchor));
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(make(YamlNode::Kind::map, mark, tag, anchor));
  }
  void OnMapEnd() override { end(); }

  /// Converts a mark of the parser, which counts from 0.
  Location location(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

 private:
  /// A list or mapping whose end was not read yet, and the keys of a mapping that were read so far.
  struct Frame {
    std::shared_ptr<YamlNode> node;
    std::set<std::string> keys;
    YamlPointer key;  // the key whose value comes next
  };

  /// Counts a value. Throws if there are too many.
  void count(const YAML::Mark& mark) {
    if (++node_count_ > max_plan_nodes) {
      fail_at(location(mark), "too many values; a plan holds at most " + std::to_string(max_plan_nodes));
    }
  }
  std::shared_ptr<YamlNode> make(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                                 YAML::anchor_t anchor) {
    // The parser's tag is "?" for a plain value and "!" for a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail_at(location(mark),
              "the tag '" + tag + "' is not understood; plain values, lists and mappings are allowed");
    }
    count(mark);
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->location = location(mark);
    if (anchor != YAML::NullAnchor) {
      if (anchor >= anchors_.size()) anchors_.resize(anchor + 1);
      anchors_[anchor] = node;
    }
    return node;
  }
  /// Checks that a quote is closed. The parser accepts the end of the file as the end of a quoted value.
  void require_closed(const YAML::Mark& mark) const {
    const std::size_t first =
        line_starts_.at(static_cast<std::size_t>(mark.line)) + static_cast<std::size_t>(mark.column);
    const char quote = first < text_.size() ? text_[first] : '\0';
    if (quote != '"' && quote != '\'') return;  // a tag or an anchor precedes the value
    std::size_t i = first + 1;
    // Skip escapes: a backslash in "…" and a doubled quote in '…'.
    for (; i < text_.size(); ++i) {
      const bool is_doubled = quote == '\'' && text_.compare(i, 2, "''") == 0;
      if (is_doubled || (quote == '"' && text_[i] == '\\')) {
        ++i;
      } else if (text_[i] == quote) {
        return;
      }
    }
    fail_at(location(mark), std::string("the quote ") + quote + " that begins here is never closed");
  }
  void begin(std::shared_ptr<YamlNode> node) {
    if (open_.size() >= max_plan_depth) {
      fail_at(node->location,
              "nested too deeply; a plan has at most " + std::to_string(max_plan_depth) + " levels");
    }
    check_key(*node);
    open_.push_back({std::move(node), {}, nullptr});
  }
  void end() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    if (frame.node->kind == YamlNode::Kind::map) merge(*frame.node, frame.keys);
    add(frame.node);
  }
  /// Implements "<<: *base" and "<<: [*base, *other]": adds their keys, except those of the mapping itself or
  /// of an earlier base. @param keys the keys of `map`; the merged ones are added
  static void merge(YamlNode& map, std::set<std::string>& keys) {
    const auto is_merge = [](const auto& entry) { return entry.first.text == "<<"; };
    const auto found = std::find_if(map.entries.begin(), map.entries.end(), is_merge);
    if (found == map.entries.end()) return;
    const YamlPointer value = found->second;
    map.entries.erase(found);
    const std::vector<YamlPointer> bases =
        value->kind == YamlNode::Kind::sequence ? value->items : std::vector<YamlPointer>{value};
    for (const YamlPointer& base : bases) {
      if (base->kind != YamlNode::Kind::map)
        fail_at(value->location, "<< is " + kind_text(*base) + "; allowed: a mapping, or a list of mappings");
      for (const auto& entry : base->entries) {
        if (keys.insert(entry.first.text).second) map.entries.push_back(entry);
      }
    }
  }
  /// Throws if a mapping expects a key next and `node` is no scalar.
  void check_key(const YamlNode& node) const {
    if (open_.empty() || open_.back().node->kind != YamlNode::Kind::map || open_.back().key != nullptr)
      return;
    if (node.kind != YamlNode::Kind::scalar) {
      fail_at(node.location, "this key is " + kind_text(node) + "; a key must be a word");
    }
  }
  /// Adds a complete node to the innermost open list or mapping: as an item, a key, or the value of the last
  /// key.
  void add(const YamlPointer& node) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    Frame& frame = open_.back();
    add_size(*frame.node, *node);
    if (frame.node->kind == YamlNode::Kind::sequence) {
      frame.node->items.push_back(node);
    } else if (frame.key == nullptr) {
      check_key(*node);
      if (!frame.keys.insert(node->text).second) {
        fail_at(node->location, "the key '" + node->text + "' occurs twice in this mapping");
      }
      frame.key = node;
    } else {
      frame.node->entries.emplace_back(Scalar{frame.key->text, frame.key->location}, node);
      frame.key = nullptr;
    }
  }

  /// Adds the size of a complete node to `parent`. Checks the limits with aliases expanded. This must happen
  /// before any code walks or frees the tree, which may take very long or exhaust the stack beyond the
  /// limits.
  static void add_size(YamlNode& parent, const YamlNode& node) {
    parent.weight += node.weight;
    parent.depth = std::max(parent.depth, node.depth + 1);
    if (parent.weight > max_plan_nodes) {
      fail_at(parent.location, "too many values once aliases are written out; a plan holds at most " +
                                   std::to_string(max_plan_nodes));
    }
    if (parent.depth > max_plan_depth) {
      fail_at(parent.location,
              "nested too deeply; a plan has at most " + std::to_string(max_plan_depth) + " levels");
    }
  }

  std::string file_;
  const std::string& text_;
  std::vector<std::size_t> line_starts_;  // the offset of each line, the first one after a byte order mark
  YamlPointer root_;
  std::vector<Frame> open_;  // the nested lists and mappings that are not complete, outermost first
  std::vector<std::shared_ptr<YamlNode>> anchors_;  // by the parser's number of the anchor
  std::size_t node_count_ = 0;                      // number of values so far; an alias counts as one
};

/// Throws at the first byte that is not UTF-8 text.
void require_text(const std::string& text, const std::string& file) {
  Location location{file, 1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_bytes(text, i);
    if (length == 0) fail_at(location, "a byte that is no text; a plan is a YAML file in UTF-8");
    if (text[i] == '\n') {
      ++location.line;
      location.column = 1;
    } else {
      ++location.column;
    }
    i += length;
  }
}

/// Returns the usual cause of one of the parser's error messages, as an addition to the message.
std::string parser_hint(const std::string& text, const YAML::Mark& mark, const std::string& message) {
  if (message.find("anchor") != std::string::npos) return "; a value that begins with * must stand in quotes";
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= mark.line && std::getline(lines, line); ++i) {  // keeps the line of the error
  }
  const std::size_t first = line.find_first_not_of(' ');
  if (first != std::string::npos && line[first] == '\t') return "; indent with spaces, not with tabs";
  if (line.find(": >") != std::string::npos) return "; a value that begins with > must stand in quotes";
  return "; a plan is a mapping of keys to values (README.md has an example)";
}

/// Checks the numbers of brackets and commas before parsing, because the parser needs seconds and gigabytes
/// for too many of them. Brackets in quotes count too; the limits are far above those of real plans.
void require_few_brackets(const std::string& text, const std::string& file) {
  constexpr int max_open = 1000, max_separators = 1'000'000;
  int open = 0, separators = 0, line = 1, column = 0;
  for (const char c : text) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 0;
    }
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (c == '[' || c == '{' || c == ',') ++separators;
    if (separators > max_separators)
      fail_at({file, line, column},
              "too many values: over " + std::to_string(max_separators) + " brackets and commas");
    if (open <= max_open) continue;
    fail_at({file, line, column}, "over " + std::to_string(max_open) + " open brackets; a plan has at most " +
                                      std::to_string(max_plan_depth) + " levels");
  }
}

}  // namespace

std::string kind_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::scalar:
      return "a value";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      return "a mapping";
    case YamlNode::Kind::null:
      break;
  }
  return "nothing";
}

YamlPointer parse_yaml(const std::string& text, const std::string& file) {
  if (text.size() > max_plan_bytes) {
    throw InputError(file + ": is larger than 10 MiB; a plan is a short YAML file");
  }
  require_text(text, file);
  require_few_brackets(text, file);
  std::istringstream stream(text);
  TreeBuilder builder(file, text);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      throw InputError(file + ": holds no YAML document; a plan is a mapping with the key sweep");
    }
    YamlPointer root = builder.root();
    TreeBuilder second(file, text);
    if (parser.HandleNextDocument(second)) {
      const Location location = second.root() == nullptr ? Location{file, 0, 0} : second.root()->location;
      fail_at(location, "a second YAML document; a plan is one document");
    }
    return root;
  } catch (const YAML::Exception& error) {
    const Location location = error.mark.is_null() ? Location{file, 0, 0} : builder.location(error.mark);
    fail_at(location, "this is not YAML: " + error.msg + parser_hint(text, error.mark, error.msg));
  }
}

}  // namespace gaussweep::io
