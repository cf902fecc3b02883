/// Expands a plan file to its trials.

#include "driver/plan/planned_trials.hpp"

#include <fmt/format.h>

#include "driver/base/text_format.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {

void MatrixFileCache::add(const std::filesystem::path& path, const std::string& dataset, FileFacts facts) {
  files_[{path.lexically_normal().string(), dataset}] = std::move(facts);
}

const FileFacts& MatrixFileCache::facts(const std::filesystem::path& path, const std::string& dataset) {
  const std::pair name(path.lexically_normal().string(), dataset);
  if (const auto known = files_.find(name); known != files_.end()) return known->second;
  const double start = now_seconds();
  FileFacts facts = facts_of_file(path, dataset);
  seconds_ += now_seconds() - start;
  ++read_;
  return files_[name] = std::move(facts);
}

std::string MatrixFileCache::note() const {
  constexpr double long_seconds = 10;
  if (seconds_ < long_seconds) return {};
  return fmt::format("reading and checking {} took {:.0f} s", counted(read_, "matrix file"), seconds_);
}

std::vector<std::string> libraries_of(const io::Plan& plan, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::vector<std::string> paths;
  for (const io::Scalar& library : plan.libraries) paths.push_back((folder / library.text).string());
  return paths;
}

void add_libraries_of(Registry& registry, const io::Plan& plan, const std::string& path,
                      const std::vector<std::string>& more) {
  add_libraries(registry, more);
  add_libraries(registry, libraries_of(plan, path));
}

Expansion expand_plan(const io::Plan& plan, const std::string& path, const Registry& registry,
                      Backend requested, int capability, MatrixFileCache& files) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const FileLookup lookup = [&](const std::string& file, const std::string& dataset) {
    return files.facts(folder / file, dataset);  // operator/ keeps an absolute `file` as it is
  };
  Expansion expansion = expand(plan, registry, requested, capability, lookup);
  if (const std::string note = files.note(); !note.empty()) expansion.notes.push_back(note);
  return expansion;
}

}  // namespace gaussweep::driver
