/// Writes and reads the journal: one line of JSON with a checksum per record or note.

#include "io/records/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "io/files/atomic_file.hpp"
#include "io/files/digest.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"
#include "io/files/parallel_for.hpp"
#include "io/records/record_line.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t block_bytes = std::size_t{1} << 20;     // bytes per write, and per read from the end
constexpr std::size_t max_read_bytes = std::size_t{8} << 20;  // per call of read
constexpr std::size_t max_line_bytes = std::size_t{256} << 20;
constexpr int max_depth = 32;  // the maximum nesting of brackets in a line

// A line is the object's text with its checksum as the last member: {…,"crc":"1c291ca3"}. The checksum covers
// everything before `,"crc"`, so any lost or changed byte is detected.
constexpr std::string_view crc_opening = ",\"crc\":\"";
constexpr std::string_view crc_closing = "\"}";
constexpr std::size_t crc_digits = 8;
constexpr std::size_t crc_bytes = crc_opening.size() + crc_digits + crc_closing.size();

// Returns the line without its checksum ("{…", no closing brace); empty if the checksum is absent or wrong.
std::string_view checked_body(std::string_view line) {
  if (line.size() <= crc_bytes) return {};
  const std::string_view body = line.substr(0, line.size() - crc_bytes);
  const std::string_view tail = line.substr(body.size());
  const char* const digits = tail.data() + crc_opening.size();
  std::uint32_t crc = 0;
  const bool is_framed = tail.substr(0, crc_opening.size()) == crc_opening &&
                         std::from_chars(digits, digits + crc_digits, crc, 16).ptr == digits + crc_digits &&
                         tail.substr(crc_opening.size() + crc_digits) == crc_closing;
  return is_framed && crc == crc32_of(body) ? body : std::string_view{};
}

// Returns the offset of the end of the last complete line. Bytes after it are an incomplete (torn) line of a
// killed writer.
std::int64_t end_of_last_line(int fd, std::int64_t size, const std::filesystem::path& path) {
  std::string block;
  for (std::int64_t end = size; end > 0;) {
    const auto bytes = std::min<std::int64_t>(end, block_bytes);
    block.resize(static_cast<std::size_t>(bytes));
    const ssize_t bytes_read = pread(fd, block.data(), block.size(), end - bytes);
    if (bytes_read < 0 && errno == EINTR) continue;
    if (bytes_read != bytes) {
      throw StorageError("Cannot read the end of the journal '" + path.string() + "': " +
                         (bytes_read < 0 ? std::strerror(errno) : "it shrinks while being read") + ".");
    }
    const auto newline = block.rfind('\n');
    if (newline != std::string::npos) return end - bytes + static_cast<std::int64_t>(newline) + 1;
    end -= bytes;
  }
  return 0;
}

// A parsed line: a record, a note, or the reason why the line is damaged.
struct Line {
  std::optional<Record> record;
  std::optional<Note> note;
  std::string why;  ///< the reason, if the line is neither a record nor a note
};

// Returns true if brackets are nested deeper than max_depth. Recursive functions, such as the JSON writer,
// could otherwise run out of stack.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Parses the text of a line into `line`, which must be empty. Records in the exact form that this program
// writes are read by read_record_line, which is faster. All other lines are read as JSON.
void parse_line(Line& line, std::string_view text, LineTexts& earlier_texts, bool with_details) {
  const auto damaged = [&](std::string why) { line.why = std::move(why); };
  const std::string_view body = checked_body(text);
  if (body.empty()) return damaged("its checksum is absent or wrong");
  if (read_record_line(body, earlier_texts, line.record.emplace(), with_details)) return;
  line.record.reset();
  if (is_too_deep(body)) return damaged("it is nested deeper than " + std::to_string(max_depth) + " levels");
  std::string object(body);
  object += '}';
  const Json json = Json::parse(object, nullptr, false);
  if (!json.is_object()) return damaged("it is no JSON object");
  try {
    if (json.contains("note")) {
      line.note = read_note(json);
    } else {
      line.record = record_from_json(json);
    }
  } catch (const InputError& error) {
    damaged(error.what());
  }
}

// Parses all lines on several threads, because the journal of a long run has more than a hundred thousand
// lines. The results are in the order of the lines.
std::vector<Line> parse_lines(const std::vector<std::string_view>& texts, bool with_details) {
  constexpr std::size_t min_lines_per_thread = 256;
  const std::size_t parts =
      std::clamp<std::size_t>(texts.size() / min_lines_per_thread, 1, parallel_threads());
  std::vector<Line> lines(texts.size());
  const auto parse_part = [&](std::size_t part) {
    LineTexts earlier_texts;
    const std::size_t end = texts.size() * (part + 1) / parts;
    for (std::size_t i = texts.size() * part / parts; i < end; ++i) {
      parse_line(lines[i], texts[i], earlier_texts, with_details);
      if (with_details || !lines[i].record) continue;
      lines[i].record->sample_list = {};
      lines[i].record->stages = {};
      lines[i].record->history = {};
    }
  };
  parallel_for(parts, parse_part);
  return lines;
}

// Collects the lines of a journal as records and notes. Reserves memory for the number of records that the
// size of the file suggests.
class Collector {
 public:
  explicit Collector(std::size_t bytes) {
    constexpr std::size_t usual_line_bytes = 2500,
                          max_records = 2'000'000;  // limits the memory if the file is no journal
    const std::size_t records = std::min(bytes / usual_line_bytes, max_records);
    contents_.records.reserve(records);
    contents_.notes_before.reserve(records);
    record_index_.reserve(records);
  }
  void take(std::vector<Line> lines) {
    for (Line& line : lines) {
      ++line_;
      if (line.record) {
        take_record(std::move(*line.record));
      } else if (line.note) {
        contents_.notes.push_back(std::move(*line.note));
      } else {
        ++contents_.damaged;
        if (contents_.damaged_lines.size() < 100)
          contents_.damaged_lines.push_back({line_, std::move(line.why)});
      }
    }
  }
  JournalContents finish(bool torn) {
    contents_.torn = torn;
    return std::move(contents_);
  }

 private:
  void take_record(Record record) {
    const auto [found, is_new] = record_index_.try_emplace(record.key, contents_.records.size());
    if (is_new) {
      contents_.records.push_back(std::move(record));
      contents_.notes_before.push_back(contents_.notes.size());
    } else {
      contents_.records[found->second] = std::move(record);
      contents_.notes_before[found->second] = contents_.notes.size();
    }
  }

  JournalContents contents_;
  std::unordered_map<Text, std::size_t, std::hash<std::string_view>> record_index_;
  std::int64_t line_ = 0;
};

// Returns the complete lines of `text`; `rest` gets the bytes after the last newline.
std::vector<std::string_view> split(std::string_view text, std::string_view& rest) {
  std::vector<std::string_view> lines;
  for (auto newline = text.find('\n'); newline != std::string_view::npos; newline = text.find('\n')) {
    lines.push_back(text.substr(0, newline));
    text.remove_prefix(newline + 1);
  }
  rest = text;
  return lines;
}

// Calls `take` with blocks of complete lines of a file, in order, without newlines, until it returns false.
// Returns true if bytes without a newline follow the last line.
bool for_lines(const std::filesystem::path& path,
               const std::function<bool(const std::vector<std::string_view>&)>& take) {
  const Opened opened = open_regular(path);
  if (!opened) throw InputError("Cannot open the journal '" + path.string() + "': " + opened.why + ".");
  const int fd = opened.file.fd();
  struct stat file_status {};
  const std::size_t size = fstat(fd, &file_status) == 0 ? static_cast<std::size_t>(file_status.st_size) : 0;
  const std::size_t max_bytes = std::clamp<std::size_t>(size + 1, 4096, max_read_bytes);
  std::string buffer;
  std::size_t pending = 0;  // bytes at the start of the buffer whose line is not complete yet
  for (;;) {
    if (buffer.size() < pending + max_bytes) buffer.resize(pending + max_bytes);
    const ssize_t bytes_read = read(fd, buffer.data() + pending, max_bytes);
    if (bytes_read < 0 && errno != EINTR)
      throw StorageError("Cannot read the journal '" + path.string() + "': " + std::strerror(errno) + ".");
    if (bytes_read == 0) break;
    const std::string_view text(buffer.data(),
                                pending + static_cast<std::size_t>(std::max<ssize_t>(bytes_read, 0)));
    std::string_view rest = text;
    // Earlier reads found no newline in the pending bytes, so only the new bytes are searched.
    if (text.find('\n', pending) != std::string_view::npos) {
      if (!take(split(text, rest))) return false;
    } else if (text.size() > max_line_bytes) {
      throw InputError("Cannot read the journal '" + path.string() + "': a line does not end within " +
                       std::to_string(max_line_bytes >> 20) + " MiB; it is no journal of gaussweep.");
    }
    pending = rest.size();
    std::memmove(buffer.data(), rest.data(), pending);
  }
  return pending > 0;
}

}  // namespace

JournalWriter::JournalWriter(const std::filesystem::path& path) : path_(path) {
  Opened opened = open_regular(path, open_flags);
  if (!opened) {
    throw StorageError("The journal '" + path.string() + "' cannot be opened: " + opened.why +
                       ". Nothing was written.");
  }
  begin(std::move(opened.file));
}

JournalWriter::JournalWriter(const std::filesystem::path& path, Descriptor opened) : path_(path) {
  begin(std::move(opened));
}

void JournalWriter::begin(Descriptor opened) {
  fd_ = opened.release();
  try {
    struct stat file_status {};
    if (fstat(fd_, &file_status) != 0) fail("read its size", errno, "Nothing was written.");
    const std::int64_t end = end_of_last_line(fd_, file_status.st_size, path_);
    if (end < file_status.st_size && ftruncate(fd_, end) != 0) {
      fail("cut off its torn last line", errno, "All complete lines are safe.");
    }
    // Syncs the folder, because otherwise a power failure could remove the name of a new journal.
    sync_folder(path_.parent_path().empty() ? "." : path_.parent_path());
  } catch (...) {
    close(fd_);
    throw;
  }
}

JournalWriter::~JournalWriter() {
  if (pending_sync_.valid()) pending_sync_.wait();
  try {
    flush();
  } catch (const std::exception&) {
    // A destructor cannot report errors. A caller that needs to know of losses calls `sync` before.
  }
  close(fd_);
}

void JournalWriter::fail(const std::string& action, int error, const std::string& remark) const {
  throw StorageError("The journal '" + path_.string() + "': could not " + action + ": " +
                     std::strerror(error) + ". " + remark);
}

void JournalWriter::append(const Record& record) {
  // A message may contain bytes of a crashed program: bytes that are not UTF-8 become U+FFFD.
  append_line(to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void JournalWriter::append_note(const Note& note) {
  append_line(note_json(note).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void JournalWriter::append_line(std::string line) {
  line.pop_back();  // the closing brace comes after the checksum
  const std::string crc = crc32_text(crc32_of(line));
  buffered_ += line;
  buffered_ += crc_opening;
  buffered_ += crc;
  buffered_ += crc_closing;
  buffered_ += '\n';
  ++lines_;
  if (buffered_.size() >= block_bytes) flush();
}

void JournalWriter::flush() {
  if (buffered_.empty()) return;
  check_name();
  struct stat file_status {};
  if (fstat(fd_, &file_status) != 0) fail("read its size", errno, "All lines synced before are safe.");
  std::size_t done = 0;
  while (done < buffered_.size()) {
    const ssize_t written = write(fd_, buffered_.data() + done, buffered_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      const bool is_cut = done == 0 || ftruncate(fd_, file_status.st_size) == 0;
      fail("append " + std::to_string(lines_) + " line(s)", error,
           std::string("All lines before them are safe; ") +
               (is_cut ? "nothing of these was kept."
                       : "the torn end is cut off when the journal is next opened.") +
               " Make room, then resume.");
    }
    done += static_cast<std::size_t>(written);
  }
  unsynced_ += lines_;
  buffered_.clear();
  lines_ = 0;
}

// Checks that the name still refers to the open file. Lines written to a removed or replaced file would be
// lost.
void JournalWriter::check_name() {
  const int error = io::check_still_named(path_, fd_);
  if (error == 0) return;
  broken_ = true;
  fail("find it under its name any more", error,
       "Its folder was removed, replaced or unmounted. Lines synced before are in the earlier folder.");
}

bool JournalWriter::start_syncing_lines() {
  if (unsynced_ == 0) return false;
  check_name();
  syncing_ = std::exchange(unsynced_, 0);
  return true;
}

void JournalWriter::require_unbroken() const {
  if (broken_)
    fail("go on after a failed sync", EIO, "All lines synced before it are safe. Resume to go on.");
}

void JournalWriter::finish_sync(int error) {
  const std::int64_t lines = std::exchange(syncing_, 0);
  if (error == 0) return;
  broken_ = true;
  fail("sync " + std::to_string(lines) + " line(s)", error,
       "All lines synced before are safe; it is unknown whether these are on disk. Resuming finds "
       "out.");
}

void JournalWriter::sync_written() {
  require_unbroken();
  if (pending_sync_.valid()) finish_sync(pending_sync_.get());
  if (start_syncing_lines()) finish_sync(sync_descriptor(fd_, Sync::data));
}

void JournalWriter::sync() {
  require_unbroken();
  if (pending_sync_.valid()) finish_sync(pending_sync_.get());
  flush();
  sync_written();
}

void JournalWriter::begin_sync() {
  require_unbroken();
  flush();
  if (!start_syncing_lines()) return;
  try {
    pending_sync_ = std::async(std::launch::async, [fd = fd_] { return sync_descriptor(fd, Sync::data); });
  } catch (const std::system_error&) {  // no thread could be created
    finish_sync(sync_descriptor(fd_, Sync::data));
  }
}

bool JournalWriter::sync_finished() {
  if (!pending_sync_.valid()) return true;
  if (pending_sync_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
  finish_sync(pending_sync_.get());
  return true;
}

std::string first_damage(const JournalContents& contents) {
  if (contents.damaged_lines.empty()) return "";
  const DamagedLine& first = contents.damaged_lines.front();
  return "line " + std::to_string(first.number) + ": " + first.why;
}

JournalContents read_journal(const std::filesystem::path& path, bool with_details) {
  struct stat file_status {};
  if (stat(path.c_str(), &file_status) != 0 && errno == ENOENT) return {};
  Collector collector(static_cast<std::size_t>(file_status.st_size));
  std::future<void> collecting;  // runs while the next lines are read
  const bool torn = for_lines(path, [&](const std::vector<std::string_view>& texts) {
    std::vector<Line> lines = parse_lines(texts, with_details);
    if (collecting.valid()) collecting.get();
    collecting = std::async(std::launch::async, [&collector, lines = std::move(lines)]() mutable {
      collector.take(std::move(lines));
    });
    return true;
  });
  if (collecting.valid()) collecting.get();
  return collector.finish(torn);
}

std::optional<note::Run> read_first_start(const std::filesystem::path& path) {
  std::optional<note::Run> start;
  std::error_code error;  // ignored: opening a file that cannot be examined gives its error
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) return start;
  for_lines(path, [&](const std::vector<std::string_view>& texts) {
    LineTexts earlier_texts;
    for (std::size_t i = 0; i < texts.size() && !start; ++i) {
      Line line;
      parse_line(line, texts[i], earlier_texts, /*with_details=*/false);
      if (!line.note) continue;
      if (auto* run = std::get_if<note::Run>(&*line.note)) start = std::move(*run);
    }
    return !start;
  });
  return start;
}

}  // namespace gaussweep::io
