/// Implements `gaussweep plan`: checks a plan (a YAML file of trials) and estimates its time, memory and disk
/// space. A trial is one method on one matrix.

#include "io/plan/plan.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/plan_template.hpp"
#include "driver/plan/axes.hpp"
#include "driver/plan/cost_model.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/plan/shard.hpp"
#include "driver/plan/trial.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/trial_columns.hpp"
#include "driver/system/terminal.hpp"
#include "driver/worker/admission.hpp"
#include "io/files/memory.hpp"
#include "io/plan/plan_schema.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {
namespace {

/// The source of the time estimates.
struct TimeSource {
  CostModel model;
  std::string like;  ///< path of the earlier run whose records the model has learned (--like); empty: none
};

/// Returns the seconds that samples above the minimum number may take if the times scatter.
double further_sample_seconds(const Trial& trial, const CostModel& model) {
  const Sampling& sampling = trial.sampling;
  const auto runs = static_cast<double>((sampling.max_samples - sampling.min_samples) * trial.inner_repeats);
  const double seconds = runs * model.run_seconds(trial);
  return sampling.seconds > 0 ? std::min(seconds, sampling.seconds) : seconds;
}

/// A row of the table: the trials of a method on a backend, or all trials.
struct PlanRow {
  std::size_t trials = 0, skipped = 0;
  std::size_t unknown = 0;  ///< trials for which the earlier run has no similar trial
  TimeRange seconds;        ///< sum over the trials
  Footprint largest;        ///< maximum over the trials, separately for device and host memory

  void add(const Method& method, const Trial& trial, const TimeSource& source) {
    ++trials;
    if (!trial.skip_reason.empty()) {
      ++skipped;
      return;
    }
    if (source.like.empty()) {
      const double estimate = source.model.estimate(trial);
      seconds.likely += estimate;
      seconds.high += std::min(estimate + further_sample_seconds(trial, source.model), trial.timeout_seconds);
    } else if (const std::optional<TimeRange> expected = source.model.expected(trial)) {
      seconds += *expected;
    } else {
      ++unknown;
    }
    const Footprint need = footprint(method, trial);
    if (trial.backend == Backend::cuda)
      largest.device_bytes = std::max(largest.device_bytes, need.device_bytes);
    largest.host_bytes = std::max(largest.host_bytes, need.host_bytes);
  }

  std::string time_text(const TimeSource& source) const {
    if (source.like.empty()) return duration_text(seconds.likely);
    if (skipped + unknown == trials) return unknown > 0 ? "unknown" : "";
    return range_text(seconds) + (unknown > 0 ? fmt::format(", and {} unknown", unknown) : "");
  }
};

/// Prints the reasons for skipped trials, one line per reason, the most frequent reason first.
void print_skipped(const std::vector<Trial>& trials) {
  std::map<std::string, std::size_t> counts;
  for (const Trial& trial : trials) {
    if (!trial.skip_reason.empty()) ++counts[trial.skip_reason];
  }
  std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t max_named = 10;  // reasons
  for (std::size_t i = 0; i < std::min(reasons.size(), max_named); ++i) {
    fmt::print("{}", paragraph(fmt::format("Skipped, {}: {}", counted(reasons[i].second, "trial"),
                                           one_line_printable(reasons[i].first)),
                               prose_width()));
  }
  if (reasons.size() > max_named)
    fmt::print("and {}; --explain shows all\n", counted(reasons.size() - max_named, "more reason"));
}

/// Prints a note if trials on the CPU do not fit in this machine's memory, even if all of it is free.
void note_memory(const std::vector<Trial>& trials, const Registry& registry) {
  const double limit = io::usable_memory().limit;
  const FreeMemory all_free{/*device=*/"", /*device_free=*/limit, /*device_total=*/limit,
                            /*host=*/{/*limit=*/limit, /*free=*/limit}};
  const auto cannot_fit = [&](const Trial& trial) {
    return trial.skip_reason.empty() && trial.backend != Backend::cuda &&
           admit(*registry.find(trial.problem, trial.method), trial, all_free).fit != Fit::fits;
  };
  const auto count = static_cast<std::size_t>(std::count_if(trials.begin(), trials.end(), cannot_fit));
  if (count == 0) return;
  fmt::print("{}",
             paragraph(fmt::format("note: {} on the CPU {} more than this machine's {} of memory: a run "
                                   "here skips {}.",
                                   counted(count, "trial"), count == 1 ? "needs" : "need", bytes_text(limit),
                                   count == 1 ? "it" : "them"),
                       prose_width()));
}

/// Prints a row per method and backend, the sums over all trials, and the reasons for skipped trials.
void print_plan(const Expansion& expansion, const Registry& registry, Backend backend,
                const TimeSource& source) {
  std::map<std::string, PlanRow> rows;  // by method and backend
  PlanRow all;
  std::map<std::string, double> matrix_bytes;  // by digest
  for (const Trial& trial : expansion.trials) {
    if (trial.skip_reason.empty()) {
      for_each_stored_matrix(trial, [&](const MatrixRequest& matrix) {
        matrix_bytes[matrix.digest] = stored_bytes(matrix, trial);
      });
    }
    const Method& method = *registry.find(trial.problem, trial.method);
    rows[fmt::format("{} ({})", method.id(), to_string(trial.backend))].add(method, trial, source);
    all.add(method, trial, source);
  }
  double disk_bytes = 0;
  for (const auto& [digest, bytes] : matrix_bytes) disk_bytes += bytes;
  Table table;
  table.columns = {{"method", "METHOD"},
                   {"trials", "TRIALS"},
                   {"skipped", "SKIPPED"},
                   {"device_bytes", "ON THE GPU", Style::bytes},
                   {"host_bytes", "ON THE HOST", Style::bytes},
                   {"about", "TIME"}};
  for (const auto& [name, row] : rows) {
    table.rows.push_back({name, static_cast<std::int64_t>(row.trials), static_cast<std::int64_t>(row.skipped),
                          row.largest.device_bytes, row.largest.host_bytes, row.time_text(source)});
  }
  // "about 5 min, a rough guess …" or, with --like, "4 to 6 min, by runs/a" (estimated from that run).
  const std::string time =
      source.like.empty()
          ? fmt::format(
                "about {}, a rough guess without measurements (--like RUN estimates from an earlier run)",
                all.time_text(source))
          : fmt::format("{}, by {}{}", all.time_text(source), source.like,
                        all.unknown > 0 ? " (unknown: it has no similar trials)" : "");
  fmt::print(
      "{}{}", render_text(table, output_width()),
      paragraph(
          fmt::format("All: {}, {} skipped, one after the other {}; backend {}; matrices on disk: {} ({})",
                      counted(all.trials, "trial"), all.skipped, time, to_string(backend),
                      matrix_bytes.size(), bytes_text(disk_bytes)),
          prose_width()));
  const std::string most = duration_text(all.seconds.high);
  if (source.like.empty() && most != duration_text(all.seconds.likely))
    fmt::print("{}", paragraph(fmt::format("note: this time is for the minimum numbers of samples. If the "
                                           "times scatter, all samples may take up to about {}.",
                                           most),
                               prose_width()));
  print_skipped(expansion.trials);
  note_memory(expansion.trials, registry);
}

/// Returns the rule that ends sampling: "5 to 100, 1 %" (number of samples, relative noise to reach), and the
/// time limit if there is one. @pre the plan sets no fixed number of samples
std::string repeats_text(const Sampling& sampling) {
  std::string text =
      fmt::format("{} to {}, {:g} %", sampling.min_samples, sampling.max_samples, 100 * sampling.noise);
  if (sampling.seconds > 0) text += ", " + seconds_text(sampling.seconds);
  if (sampling.throttled_again) text += ", repeated if throttled";
  return text;
}

/// Returns the names for the JSON schema of plans: problems, matrix kinds, and the parameters of all methods.
io::PlanVocabulary vocabulary(const Registry& registry) {
  io::PlanVocabulary words{enum_names<Problem>(), enum_names<MatrixKind>(), {}};
  for (const Method& method : registry.all()) {
    for (const Parameter& parameter : method.parameters) words.axes.emplace(parameter.name, parameter.help);
  }
  for (const auto& [name, help] : axis_meanings()) words.axes[name] = help;
  return words;
}

/// Returns the trial's estimated seconds; an empty cell if the earlier run has no similar trial.
Cell seconds_of(const Trial& trial, const TimeSource& source) {
  if (source.like.empty()) return source.model.estimate(trial);
  const std::optional<TimeRange> expected = source.model.expected(trial);
  return expected ? Cell(expected->likely) : Cell();
}

/// A column of the table of trials (--explain), and the function that returns a trial's cell.
struct TrialColumn {
  Column column;
  std::function<Cell(const Trial&)> cell;
};

/// Returns the column of a size of the plan, such as "nrhs". Cells of problems without this size are empty.
TrialColumn axis_column(const char* axis, const char* heading, std::int64_t Shape::*size) {
  return {{axis, heading},
          [=](const Trial& t) { return t.problem->has_axis(axis) ? Cell(t.shape.*size) : Cell(); }};
}

/// Returns the columns of the trials' settings, such as sampling, timeout and tolerance.
std::vector<TrialColumn> setting_columns() {
  std::vector<TrialColumn> columns = {
      {{"repeats", "REPEATS"},
       [](const Trial& t) {
         return t.sampling.noise == 0 ? Cell(t.sampling.min_samples) : Cell(repeats_text(t.sampling));
       }},
      {{"warmup", "WARMUP"}, [](const Trial& t) {
         return t.sampling.warmup_seconds > 0 ? Cell(seconds_text(t.sampling.warmup_seconds))
                                              : Cell(t.sampling.warmup);
       }}};
  // Settings that are conditions of measurement, such as `cache`, with the trial's value as a word ("cold").
  for (const io::Setting& setting : io::conditions()) {
    columns.push_back({{setting.name, setting.condition->heading},
                       [&](const Trial& t) { return std::string(setting.condition->word(t)); }});
  }
  columns.insert(columns.end(),
                 {{{"energy", "ENERGY"},
                   [](const Trial& t) {
                     const bool measured = t.energy_seconds > 0 && t.backend == Backend::cuda;
                     return measured ? seconds_text(t.energy_seconds) : std::string("never");
                   }},
                  {{"round", "ROUND"}, [](const Trial& t) { return t.round; }},
                  {{"inner_repeats", "INNER"}, [](const Trial& t) { return t.inner_repeats; }},
                  {{"stages", "STAGES"}, [](const Trial& t) { return std::string(to_string(t.stages)); }},
                  {{"reference", "REFERENCE"},
                   [](const Trial& t) { return std::string(t.has_reference ? "always" : "never"); }},
                  {{"timeout", "TIMEOUT", Style::seconds}, [](const Trial& t) { return t.timeout_seconds; }},
                  {{"tolerance", "TOLERANCE"}, [](const Trial& t) { return t.tolerance; }}});
  return columns;
}

/// Returns a table of all trials with their complete settings. A person gets only the method parameters that
/// differ between trials; a program gets all of them.
Table explanation(const Expansion& expansion, const TimeSource& source, Reader reader) {
  std::vector<std::string> parameters;
  for (const Trial& t : expansion.trials) parameters.push_back(parameters_text(t.parameters));
  const ParameterNames names(parameters);
  std::vector<TrialColumn> columns = {
      {{"method", "METHOD"},
       [](const Trial& t) { return fmt::format("{}/{}", to_string(t.problem), t.method); }},
      {{"backend", "BACKEND"}, [](const Trial& t) { return std::string(to_string(t.backend)); }},
      {{"precision", "PRECISION"}, [](const Trial& t) { return std::string(to_string(t.precision)); }},
      axis_column("m", "M", &Shape::m),
      {{"n", "N"}, [](const Trial& t) { return t.shape.n; }},
      axis_column("k", "K", &Shape::k),
      axis_column("nrhs", "NRHS", &Shape::nrhs),
      {{"batch", "BATCH"}, [](const Trial& t) { return t.shape.batch > 1 ? Cell(t.shape.batch) : Cell(); }},
      {{"uplo", "UPLO"},
       [](const Trial& t) {
         return t.problem->has_axis("uplo") ? Cell(std::string(to_string(t.shape.uplo))) : Cell();
       }},
      {{"parameters", "PARAMETERS"},
       [&](const Trial& t) {
         const std::string settings = parameters_text(t.parameters);
         return reader == Reader::person ? names.of(settings) : parameters_for_people(settings);
       }},
      {{"matrix", "MATRIX"},
       [](const Trial& t) { return t.matrix.kind == "file" ? t.matrix.file : t.matrix.kind; }},
      {{"seed", "SEED"}, [](const Trial& t) { return static_cast<std::int64_t>(t.matrix.spec.seed); }}};
  Table table;
  table.key_columns = columns.size() - 1;  // all columns so far, except the seed
  for (TrialColumn& column : setting_columns()) columns.push_back(std::move(column));
  columns.insert(columns.end(),
                 {{{"expect", "EXPECTED"},
                   [](const Trial& t) {
                     return t.expect.empty() ? std::string("pass")
                                             : fmt::format("{}", fmt::join(t.expect, " "));
                   }},
                  {{"about", "TIME", Style::seconds}, [&](const Trial& t) { return seconds_of(t, source); }},
                  {{"skipped", "SKIPPED"}, [](const Trial& t) { return t.skip_reason; }},
                  {{"key", "KEY"}, [](const Trial& t) { return t.key; }}});
  if (reader == Reader::person) table.common = names.common();
  for (const TrialColumn& column : columns) table.columns.push_back(column.column);
  for (const Trial& t : expansion.trials) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const TrialColumn& column : columns) row.push_back(column.cell(t));
  }
  // Columns that are left out on a narrow terminal, in this order.
  table.droppable = {"key", "inner_repeats", "round", "stages", "energy"};
  for (auto setting = io::conditions().rbegin(); setting != io::conditions().rend(); ++setting)
    table.droppable.emplace_back(setting->name);
  for (const char* name : {"warmup", "timeout", "tolerance", "repeats", "expect"})
    table.droppable.emplace_back(name);
  return table;
}

struct PlanOptions {
  std::string path, backend = "auto", format = "table", gpu, like, shard, template_name;
  std::vector<std::string> libraries;
  bool schema = false, explain = false;
};

/// The GPUs that a plan is checked for.
struct PlannedGpus {
  int capability = 0;               ///< the lowest compute capability, 90 for 9.0; 0: unknown
  std::vector<std::string> models;  ///< a plan may have values (such as sizes) per GPU model
};

/// Returns the GPU of --gpu, else the GPUs of the earlier run, else this machine's GPU.
/// @param earlier the devices of the earlier run
PlannedGpus gpus_of(const PlanOptions& options, Backend backend, const std::vector<io::DeviceRow>& earlier) {
  if (!options.gpu.empty()) return {0, {options.gpu}};
  PlannedGpus gpus;
  if (backend != Backend::cuda) return gpus;
  for (const io::DeviceRow& device : earlier) {
    const int capability = static_cast<int>(device.capability);
    gpus.capability = gpus.models.empty() ? capability : std::min(gpus.capability, capability);
    gpus.models.push_back(device.gpu_name);
  }
  if (gpus.models.empty() && cuda_device_count() > 0) {
    const DeviceInfo info = make_cuda_device(0)->info();
    gpus = {info.capability, {info.name}};
  }
  return gpus;
}

/// Reads and expands a plan and prints its cost or all of its trials.
void show_plan(const PlanOptions& options, Registry registry) {
  if (options.path.empty()) throw UsageError("plan: a plan's file is missing; plan --template prints one");
  const Format format = parse_format(options.format);
  if (format != Format::table && !options.explain)
    throw UsageError(fmt::format("--format {}: is for --explain only", options.format));
  if (!options.gpu.empty() && options.gpu.find_first_of("0123456789") == std::string::npos) {
    throw UsageError(fmt::format(
        "--gpu {}: a GPU model is named by a part of its name that has a digit, e.g. H200", options.gpu));
  }
  const bool is_for_gpu = !options.gpu.empty() || cuda_device_count() > 0;
  const Backend default_backend = is_for_gpu ? Backend::cuda : Backend::emulated;
  const Backend backend = options.backend == "auto"
                              ? default_backend
                              : from_string<Backend>(options.backend).value_or(Backend::emulated);
  TimeSource source{CostModel(registry), options.like};
  std::vector<io::DeviceRow> devices;  // of the earlier run
  if (!source.like.empty()) {
    const Loaded earlier = load(source.like, /*with_details=*/false);
    for (const io::Record& record : earlier.results.records) source.model.learn(record);
    devices = earlier.results.devices;
  }
  const PlannedGpus gpus = gpus_of(options, backend, devices);
  MatrixFileCache files;
  const io::Plan plan = for_gpus(io::read_plan(options.path, enum_names<Problem>()), gpus.models);
  add_libraries_of(registry, plan, options.path, options.libraries);
  Expansion expansion = expand_plan(plan, options.path, registry, backend, gpus.capability, files);
  if (!options.shard.empty())
    expansion.trials = shard_of(std::move(expansion.trials), parse_shard(options.shard));
  if (format != Format::table) {
    const Table table = explanation(expansion, source, Reader::program);
    fmt::print("{}", format == Format::csv ? render_csv(table) : json_text(render_json(table)) + "\n");
    return;
  }
  for (const std::string& note : expansion.notes) fmt::print("note: {}\n", one_line_printable(note));
  const auto has_cuda = [](const Method& method) { return method.runs_on(Backend::cuda); };
  if (backend == Backend::cuda && std::none_of(registry.all().begin(), registry.all().end(), has_cuda)) {
    fmt::print("{}", paragraph("note: this program was built without CUDA and has no methods for GPUs: their "
                               "trials are skipped. A build with CUDA shows them, on any machine.",
                               prose_width()));
  }
  if (options.explain) {
    fmt::print("{}", render_text(explanation(expansion, source, Reader::person), output_width()));
  } else {
    print_plan(expansion, registry, backend, source);
  }
}

}  // namespace

void add_plan_command(CLI::App& app, Commands& commands) {
  CLI::App* plan = app.add_subcommand("plan", "Check a plan: its trials, memory, disk and time");
  auto options = std::make_shared<PlanOptions>();
  plan->add_option("plan", options->path, "The plan (YAML)");
  add_library_option(*plan, options->libraries);
  add_backend(*plan, options->backend, "As for run");
  refuse_empty(
      *plan->add_option("--gpu", options->gpu, "The GPU model that sizes are for [the one here], e.g. H200"));
  refuse_empty(*plan->add_option(
      "--like", options->like,
      "An earlier run: times are estimated by its records, sizes are for its GPU (no GPU is needed here)"));
  refuse_empty(*plan->add_option("--shard", options->shard,
                                 "I/N: only the trials of the I-th of N parts, as for run"));
  // The value of --template if the user gives none.
  constexpr const char* first_plan = "first";
  allow_values(
      *plan->add_option("--template", options->template_name,
                        "Print a plan to begin with, with comments; rule: what gaussweep rule learns from")
           ->expected(0, 1)
           ->default_str(first_plan),
      {first_plan, "rule"});
  plan->add_flag("--schema", options->schema, "Print a JSON schema of plans, for editors");
  plan->add_flag("--explain", options->explain, "Show every trial, with all defaults filled in");
  allow_values(*plan->add_option("--format", options->format, "How to show --explain")->capture_default_str(),
               {"table", "csv", "json"});
  plan->callback([options, &commands] {
    if (!options->template_name.empty()) {
      fmt::print("{}", options->template_name == "rule" ? rule_plan_template : plan_template);
      return;
    }
    if (options->schema) {
      fmt::print("{}\n", json_text(io::plan_schema(vocabulary(commands.registry))));
      return;
    }
    show_plan(*options, commands.registry);
  });
}

}  // namespace gaussweep::driver
