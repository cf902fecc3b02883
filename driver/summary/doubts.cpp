#include "driver/summary/doubts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

struct DoubtEntry {
  std::int64_t trials = 0, smallest_n = std::numeric_limits<std::int64_t>::max(), largest_n = 0;
  double worst = 0;
  std::string reference;
};

}  // namespace

Table doubt_table(const std::vector<io::Record>& records) {
  std::map<std::pair<std::string, std::string>, DoubtEntry> entries;
  const auto doubt = [&](const io::Record& r, const char* kind, double figure) {
    DoubtEntry& entry = entries[{r.problem + "/" + r.method, kind}];
    ++entry.trials;
    entry.smallest_n = std::min(entry.smallest_n, r.n);
    entry.largest_n = std::max(entry.largest_n, r.n);
    if (figure >= entry.worst) {
      entry.worst = figure;
      entry.reference = r.reference_method;
    }
  };
  const auto is_wrong_in_parts = [](const io::Record& r) {
    const double unit = r.precision == "float" ? 0x1p-24 : 0x1p-53;
    return r.componentwise_error >= doubted_componentwise * std::max(r.backward_error, unit);
  };
  for (const io::Record& r : records) {
    if (r.status != io::Status::pass && r.status != io::Status::suspect) continue;
    if (r.timing == "suspect") doubt(r, "timing", r.peak_share);
    if (r.digits_lost >= doubted_digits) doubt(r, "accuracy", r.digits_lost);
    if (is_wrong_in_parts(r)) doubt(r, "components", r.componentwise_error);
  }
  Table table;
  table.columns = {
      {"method", "METHOD"}, {"doubt", "DOUBT"}, {"trials", "TRIALS"}, {"n", "N"}, {"cause", "CAUSE"}};
  for (const auto& [key, entry] : entries) {
    const std::string sizes = entry.smallest_n == entry.largest_n
                                  ? fmt::to_string(entry.largest_n)
                                  : fmt::format("{} to {}", entry.smallest_n, entry.largest_n);
    const std::string cause =
        key.second == "timing"
            ? fmt::format("{:.3g} times as fast as the device's measured peaks allow", entry.worst)
        : key.second == "components"
            ? fmt::format("small rows or components are off: componentwise error {:.2g}", entry.worst)
            : fmt::format("up to {:.1f} decimal digits less accurate than {}", entry.worst, entry.reference);
    table.rows.push_back({key.first, key.second, entry.trials, sizes, cause});
  }
  table.naming = 2;
  return table;
}

}  // namespace gaussweep::driver
