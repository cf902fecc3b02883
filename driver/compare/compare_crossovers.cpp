/// Finds the sizes at which one place (a GPU or CPU model) becomes faster than another. A pair is a trial
/// that was measured on both places.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "driver/base/text_format.hpp"
#include "driver/compare/compare.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/trial_columns.hpp"

namespace gaussweep::driver {
namespace {

/// Finds the crossovers along a series of trials that differ only in their size n. Only SLOWER and FASTER
/// trials count. A crossover is between two neighbours with opposite verdicts: the zero of ln(ratio),
/// interpolated linearly in ln(n). Without a crossover, returns one element whose finding says which place is
/// faster.
std::vector<Crossover> crossovers_along(const std::string& series, std::vector<const Pair*> pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair* a, const Pair* b) { return a->identity.n < b->identity.n; });
  std::vector<Crossover> found;
  Crossover crossover;
  crossover.series = series;
  crossover.base_place = pairs.front()->base_place;
  crossover.new_place = pairs.front()->new_place;
  const Pair* last = nullptr;
  for (const Pair* pair : pairs) {
    const Verdict verdict = pair->change.verdict;
    if (verdict != Verdict::faster && verdict != Verdict::slower) continue;
    if (last != nullptr && last->change.verdict != verdict && pair->identity.n > last->identity.n) {
      const double n1 = std::log(static_cast<double>(last->identity.n));
      const double n2 = std::log(static_cast<double>(pair->identity.n));
      const double r1 = std::log(last->change.ratio), r2 = std::log(pair->change.ratio);
      crossover.n = std::exp(n1 + (n2 - n1) * r1 / (r1 - r2));
      crossover.finding = fmt::format("{} overtakes between n = {} and {}, near {:.0f}",
                                      verdict == Verdict::faster ? crossover.new_place : crossover.base_place,
                                      last->identity.n, pair->identity.n, crossover.n);
      found.push_back(crossover);
    }
    last = pair;
  }
  if (!found.empty()) return found;
  crossover.finding =
      last == nullptr
          ? "no clear difference at any size"
          : fmt::format("{} is faster wherever the difference is clear",
                        last->change.verdict == Verdict::faster ? crossover.new_place : crossover.base_place);
  return {crossover};
}

}  // namespace

std::vector<Crossover> crossovers_of(const std::vector<Pair>& pairs) {
  std::map<std::string, std::vector<const Pair*>> series;
  std::vector<const io::Record*> all;
  for (const Pair& pair : pairs) all.push_back(&pair.identity);
  const MatrixNames matrices(all);
  const NeededColumns needed(all);
  for (const Pair& pair : pairs) {
    if (pair.has_same_place() || pair.change.verdict == Verdict::untimed) continue;
    const io::Record& r = pair.identity;
    std::string name = fmt::format("{}/{} {} {} {}", r.problem, r.method, r.precision, matrices.of(r),
                                   parameters_for_people(r.parameters));
    if (r.backend != "cuda") name += " " + r.backend;
    if (r.m != r.n || r.k != r.n) name += fmt::format(" m={} k={}", r.m, r.k);
    if (r.nrhs > 1) name += fmt::format(" nrhs={}", r.nrhs);
    if (r.batch > 1) name += fmt::format(" batch={}", r.batch);
    if (needed.uplo.count(r.problem) > 0) name += " uplo=" + r.uplo;
    if (needed.seed) name += fmt::format(" seed={}", r.matrix_seed);
    series[name + '\n' + pair.base_place + '\n' + pair.new_place].push_back(&pair);
  }
  std::vector<Crossover> result;
  for (auto& [key, series_pairs] : series) {
    for (Crossover& crossover : crossovers_along(key.substr(0, key.find('\n')), std::move(series_pairs))) {
      result.push_back(std::move(crossover));
    }
  }
  return result;
}

}  // namespace gaussweep::driver
