#include "driver/plan/planned_trials.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "driver/plan/file_facts.hpp"

namespace gaussweep::driver {

Expansion expand_plan(const io::Plan& plan, const std::string& path, const Registry& registry,
                      Backend requested, int capability) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::map<std::pair<std::string, std::string>, FileFacts> known;  // many trials name the same file
  const FileLookup lookup = [&](const std::string& file, const std::string& dataset) {
    const auto [entry, fresh] = known.try_emplace({file, dataset});
    if (fresh) {
      entry->second = facts_of_file(folder / file, dataset);  // operator/ keeps an absolute `file` as it is
    }
    return entry->second;
  };
  return expand(plan, registry, requested, capability, lookup);
}

}  // namespace gaussweep::driver
