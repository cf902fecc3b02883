/// Computes a series of times per trial over several nights (the runs of a series), and describes its
/// changes.

#include "driver/compare/trend.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "driver/base/lookup.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/results/identity.hpp"
#include "driver/results/loading.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// The times of a trial in one night.
struct NightTimes {
  /// Per record: the median seconds of a run and of its CUDA graph replay (if measured), and the samples'
  /// standard deviation divided by their median.
  std::vector<double> runs, replays, sigmas;
  std::string gpu;
  const Record* record = nullptr;
};

using Times = std::map<std::size_t, NightTimes>;  // by night

/// Makes a night from one run: its start, commits, GPUs and driver.
Night night_of(const std::string& path, const io::Results& results) {
  Night night;
  night.path = path;
  std::set<std::string> commits, gpus;
  for (const Record& record : results.records) {
    if (!record.start_time.empty() && (night.began.empty() || record.start_time < night.began))
      night.began = record.start_time;
    if (!record.commit.empty()) commits.insert(record.commit);
    if (!record.gpu_uuid.empty()) gpus.insert(record.gpu_uuid);
  }
  night.commits.assign(commits.begin(), commits.end());
  night.gpus.assign(gpus.begin(), gpus.end());
  night.driver = attribute(results, "driver_version");
  return night;
}

/// Adds the commits, GPUs and driver of another run, such as a shard, to a night.
void join(Night& night, const Night& run) {
  const auto add = [](std::vector<std::string>& all, const std::vector<std::string>& more) {
    std::set<std::string> names(all.begin(), all.end());
    names.insert(more.begin(), more.end());
    all.assign(names.begin(), names.end());
  };
  add(night.commits, run.commits);
  add(night.gpus, run.gpus);
  if (night.driver.empty()) night.driver = run.driver;
}

/// If a night has several runs, sets its path to their common folder, unless this folder also has other runs.
/// @param paths the paths of each night's runs
void name_folders(std::vector<Night>& nights, const std::vector<std::vector<std::string>>& paths) {
  const auto folder_of = [](const std::string& path) {
    return (std::filesystem::path(path) / "").parent_path().parent_path().string();
  };
  std::map<std::string, std::size_t> runs_in;
  for (const std::vector<std::string>& of_night : paths) {
    for (const std::string& path : of_night) ++runs_in[folder_of(path)];
  }
  for (std::size_t i = 0; i < nights.size(); ++i) {
    const std::string folder = folder_of(nights[i].path);
    const auto is_inside = [&](const std::string& path) { return folder_of(path) == folder; };
    const bool are_all_inside = std::all_of(paths[i].begin(), paths[i].end(), is_inside);
    if (paths[i].size() > 1 && are_all_inside && !folder.empty() && runs_in[folder] == paths[i].size())
      nights[i].path = folder;
  }
}

/// Sets the names of the nights: "2026-11-17", or "2026-11-17 03:15" if several are of one date.
void name_nights(std::vector<Night>& nights) {
  // Lengths of an ISO time up to the day, the minute, the second and the microsecond.
  for (const std::size_t length : {10, 16, 19, 26}) {
    std::set<std::string> names;
    for (Night& night : nights) {
      night.name = night.began.substr(0, length);
      std::replace(night.name.begin(), night.name.end(), 'T', ' ');
      names.insert(night.name);
    }
    if (names.size() == nights.size()) return;
  }
}

/// Computes the series of a trial from its `times` by night. Sets `log_series` to the logarithms of the
/// series, with the variance that the noise model (Scatter in compare_rule.hpp) expects.
/// @return false if there are fewer than two nights
bool measure(TrendSeries& series, const Times& times, TimeSeries& log_series) {
  const bool has_replays = std::all_of(times.begin(), times.end(),
                                       [](const auto& night) { return !night.second.replays.empty(); });
  series.kind = has_replays ? TimeKind::gpu : TimeKind::run;
  std::map<std::string, int> gpu_numbers;
  std::vector<double> sigmas;
  // Fraction of the run's time that the host needs to queue the run: the maximum over the nights.
  double queue_share = 0;
  for (const auto& [night, each] : times) {
    const double seconds = median_of(has_replays ? each.replays : each.runs);
    series.nights.push_back(night);
    series.seconds.push_back(seconds);
    series.library_digests.push_back(each.record->library_digest);
    series.identity = *each.record;
    series.identity.round = 1;  // all rounds are pooled
    log_series.logs.push_back(std::log(seconds));
    log_series.gpus.push_back(
        gpu_numbers.emplace(each.gpu, static_cast<int>(gpu_numbers.size())).first->second);
    sigmas.push_back(median_of(each.sigmas));
    queue_share = std::max(queue_share, each.record->queue_seconds / each.record->seconds_median);
  }
  constexpr double min_queue_share = 0.5;  // as in Pair::is_host_paced
  Scatter scatter = gpu_scatter;
  if (series.identity.backend != "cuda") {
    scatter = cpu_scatter;
  } else if (!has_replays) {
    const Scatter with_launch{gpu_scatter.fraction, host_paced_scatter.seconds};
    scatter = queue_share >= min_queue_share ? host_paced_scatter : with_launch;
  }
  const double seconds = median_of(series.seconds);
  const auto samples = static_cast<double>(std::max<std::int64_t>(1, series.identity.samples));
  log_series.model_variance = squared(scatter.fraction) + squared(scatter.seconds / seconds) +
                              squared(median_to_mean_error * median_of(std::move(sigmas))) / samples;
  log_series.gpu_variance =
      squared(other_gpu_scatter.fraction) + squared(other_gpu_scatter.seconds / seconds);
  return series.nights.size() > 1;
}

/// Describes a change of ln(time) and its interval: "4.1 % slower (3.6 to 4.6)".
std::string percent_text(double log, double low, double high) {
  const double sign = log > 0 ? 1 : -1;
  const double ends[] = {100 * std::expm1(low) * sign, 100 * std::expm1(high) * sign};
  return fmt::format("{:.1f} % {} ({:.1f} to {:.1f})", 100 * std::expm1(log) * sign,
                     log > 0 ? "slower" : "faster", std::min(ends[0], ends[1]), std::max(ends[0], ends[1]));
}

/// Returns the commits between two nights, "commits abc1234..def5678".
std::string commit_text(const Night& before, const Night& after) {
  if (before.commits.empty() || after.commits.empty()) return "commits unknown";
  const std::string from = before.commits.back().substr(0, 8), to = after.commits.front().substr(0, 8);
  return from == to ? "the same commit " + from : fmt::format("commits {}..{}", from, to);
}

/// Returns ", another version of mine.so" if the method's shared library changed between two nights of a
/// series.
std::string library_text(const TrendSeries& series, std::size_t before, std::size_t after) {
  const io::Text &first = series.library_digests[before], &second = series.library_digests[after];
  if (first.empty() || second.empty() || first == second) return {};
  return fmt::format(", another version of {}", series.identity.library);
}

/// Describes the differences of GPU driver and GPU between two nights.
std::string other_changes(const Night& before, const Night& after, bool is_other_gpu) {
  std::string text;
  if (before.driver != after.driver && !before.driver.empty() && !after.driver.empty())
    text += fmt::format(", driver {} -> {}", before.driver, after.driver);
  if (is_other_gpu) text += ", another GPU";
  return text;
}

/// Finds the changes of all series. Their tests are decided together, like those of trials in `compare`.
void find_changes(Trend& trend, const std::vector<TimeSeries>& logs, double threshold) {
  std::vector<double> tails;
  for (const TimeSeries& series : logs)
    tails.push_back(changes_of(series, trend.false_alarm_rate, threshold).p_value);
  const std::vector<bool> significant = rejected(tails, trend.false_alarm_rate);
  const auto count = std::count(significant.begin(), significant.end(), true);
  // The P value up to which `rejected` (Benjamini and Hochberg) rejects: rate * rejections / tests.
  const double level = trend.false_alarm_rate * static_cast<double>(count) / static_cast<double>(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (significant[i]) trend.series[i].change = changes_of(logs[i], level, threshold);
  }
}

}  // namespace

Trend trend_of(std::vector<std::pair<std::string, io::Results>> sets, const TrendRules& rules) {
  // First step: assigns each run to a night, and collects the times per trial, place and night.
  std::vector<std::pair<Night, io::Results>> runs;
  for (auto& [path, results] : sets) {
    for (io::Results& run : split_runs(std::move(results))) {
      Night summary = night_of(path, run);
      runs.emplace_back(std::move(summary), std::move(run));
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.first.began < b.first.began; });
  // Per plan: the index of its last night, and the trials of that night. A run of the plan that has none of
  // these trials, such as another shard, joins the night.
  std::map<std::string, std::pair<std::size_t, std::unordered_set<std::size_t>>> last_nights;
  std::vector<std::vector<std::string>> paths;                                       // of each night's runs
  std::map<std::pair<std::string, std::string>, Times> trials;                       // by trial and place
  std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> threads_of;  // by trial and models
  // By trial, place (empty: unknown) and night.
  std::map<std::tuple<std::string, std::string, std::size_t>, std::string> bad_statuses;
  Trend trend;
  for (const auto& [run, results] : runs) {
    std::unordered_set<std::size_t> run_trials = executed_trials(results);
    const auto [last, is_first] = last_nights.try_emplace(attribute(results, "plan_name"));
    auto& [night, night_trials] = last->second;
    if (is_first || have_common(run_trials, night_trials)) {
      night = trend.nights.size();
      night_trials.clear();
      trend.nights.push_back(run);
      paths.emplace_back();
    } else {
      join(trend.nights[night], run);
    }
    night_trials.merge(run_trials);
    paths[night].push_back(run.path);
    const MachineModels machines(results);
    std::map<std::string, std::int64_t> threads_on;  // by host
    for (const io::HostRow& host : results.hosts) threads_on[host.host] = host.blas_threads;
    for (const Record& record : results.records) {
      const bool is_good = record.status == io::Status::pass || record.status == io::Status::suspect;
      const std::string trial = trial_identity(record);
      if (is_good && !(record.seconds_median > 0)) continue;
      std::string place = machines.of(record).text();
      if (const auto* threads = find_in(threads_on, record.host);
          threads != nullptr && *threads > 0 && record.backend != "cuda") {
        if (is_good) threads_of[{trial, place}].insert(*threads);
        place += ", " + counted(static_cast<std::size_t>(*threads), "thread");
      }
      if (!is_good) {
        // A trial that crashed at its start may have no device.
        const bool has_place = !(record.backend == "cuda" ? record.gpu_name : record.host).empty();
        bad_statuses.emplace(std::tuple(trial, has_place ? place : std::string(), night), record.status);
        continue;
      }
      NightTimes& times = trials[{trial, place}][night];
      times.runs.push_back(record.seconds_median);
      const bool has_replays = record.replay_median > 0;
      if (has_replays) times.replays.push_back(record.replay_median);
      const Statistics s = has_replays ? replay_quartiles_of(record) : quartiles_of(record);
      times.sigmas.push_back(relative_sigma(s.q1, s.median, s.q3, std::max<std::size_t>(1, s.count)));
      times.gpu = record.gpu_uuid;
      times.record = &record;
    }
  }
  name_folders(trend.nights, paths);
  name_nights(trend.nights);
  // Second step: makes a series per trial and place, and finds its changes.
  std::vector<TimeSeries> logs;
  for (const auto& [key, times] : trials) {
    TrendSeries series;
    series.place = key.second;
    TimeSeries trial_logs;
    if (!measure(series, times, trial_logs)) continue;
    series.identity.sample_list.clear();
    for (const std::string& place : {key.second, std::string()}) {
      const std::string* const status = find_in(bad_statuses, {key.first, place, series.nights.back() + 1});
      if (status != nullptr && series.ended_as.empty()) series.ended_as = *status;
    }
    trend.series.push_back(std::move(series));
    logs.push_back(std::move(trial_logs));
  }
  trend.has_other_threads = std::any_of(threads_of.begin(), threads_of.end(),
                                        [](const auto& trial) { return trial.second.size() > 1; });
  trend.false_alarm_rate = rules.false_alarm_rate;
  find_changes(trend, logs, std::log1p(rules.threshold));
  return trend;
}

std::vector<std::string> trend_sentences(const Trend& trend) {
  std::vector<std::tuple<std::size_t, double, std::string>> found;  // by night and size of the change
  std::set<std::string> places;
  for (const TrendSeries& series : trend.series) places.insert(series.place);
  std::vector<const Record*> records;
  for (const TrendSeries& series : trend.series) records.push_back(&series.identity);
  const TrialNames names(records);
  const auto name = [&](const TrendSeries& series) {
    return names.of(series.identity) + (places.size() > 1 ? " on " + series.place : "");
  };
  for (const TrendSeries& series : trend.series) {
    const SeriesChange& change = series.change;
    for (const ChangePoint& step : change.steps) {
      const Night &before = trend.nights[series.nights[step.at - 1]],
                  &after = trend.nights[series.nights[step.at]];
      found.emplace_back(
          series.nights[step.at], std::fabs(step.log),
          fmt::format(
              "{}: {} since {}, {}{}", name(series), percent_text(step.log, step.low, step.high), after.name,
              commit_text(before, after),
              library_text(series, step.at - 1, step.at) + other_changes(before, after, step.is_other_gpu)));
    }
    if (!change.is_drift) continue;
    const Night &first = trend.nights[series.nights.front()], &last = trend.nights[series.nights.back()];
    found.emplace_back(
        series.nights.back(), std::fabs(change.drift),
        fmt::format("{}: slowly {} from {} to {}, {}{}", name(series),
                    percent_text(change.drift, change.drift_low, change.drift_high), first.name, last.name,
                    commit_text(first, last), library_text(series, 0, series.nights.size() - 1)));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(b), std::get<1>(b)) < std::tie(std::get<0>(a), std::get<1>(a));
  });
  std::vector<std::string> sentences;
  for (auto& each : found) sentences.push_back(std::move(std::get<2>(each)));
  return sentences;
}

}  // namespace gaussweep::driver
