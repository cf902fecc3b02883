/// Fuzzes the journal reader: it must never throw for the contents of a journal, and its counts must be
/// consistent. A second run repairs the checksums, so that the parser behind them is reached.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "io/records/journal.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace gaussweep;

void read(const std::string& text) {
  const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const io::JournalContents contents = io::read_journal(file.path());
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t found =
      contents.records.size() + contents.notes.size() + static_cast<std::size_t>(contents.damaged);
  if (found > lines) std::abort();
  const bool torn = !text.empty() && text.back() != '\n';
  if (contents.torn != torn) std::abort();
  if (contents.damaged_lines.size() > 100) std::abort();
}

/// Sets the right checksum on every line that ends like a journal line.
std::string with_checksums(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::size_t crc = line.rfind(",\"crc\"");
    if (crc != std::string::npos) {
      line.resize(crc);
      char member[32];
      std::snprintf(
          member, sizeof member, ",\"crc\":\"%08lx\"}",
          crc32(0, reinterpret_cast<const unsigned char*>(line.data()), static_cast<unsigned>(line.size())));
      line += member;
    }
    result += line;
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read(with_checksums(text));
  return 0;
}
