/// `gaussweep plan`: checks a plan and estimates its cost.

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
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/plan_template.hpp"
#include "driver/plan/axes.hpp"
#include "driver/plan/cost_model.hpp"
#include "driver/plan/demand.hpp"
#include "driver/plan/plan_words.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/trial_columns.hpp"
#include "driver/system/terminal.hpp"
#include "driver/worker/admission.hpp"
#include "io/plan/plan_schema.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {
namespace {

/// A line of the table: the trials of a method on a backend, or all trials.
struct Line {
  std::size_t trials = 0, skipped = 0;
  std::size_t unknown = 0;  ///< trials without similar ones in the earlier run
  TimeRange seconds;
  Footprint most;
};

/// The source of the time estimates.
struct EstimatedBy {
  CostModel model;
  std::string like;  ///< path of the earlier run; empty: none
};

std::string about_words(const Line& line, const EstimatedBy& by) {
  if (by.like.empty()) return duration_words(line.seconds.likely);
  if (line.skipped + line.unknown == line.trials) return line.unknown > 0 ? "unknown" : "";
  return span_words(line.seconds) + (line.unknown > 0 ? fmt::format(", and {} unknown", line.unknown) : "");
}

void print_plan(const Expansion& expansion, const Registry& registry, Backend backend,
                const EstimatedBy& by) {
  std::map<std::string, Line> lines;
  Line all;
  std::map<std::string, double> disk;
  for (const Trial& trial : expansion.trials) {
    if (trial.skip_reason.empty()) {
      for_stored(trial,
                 [&](const MatrixRequest& matrix) { disk[matrix.digest] = stored_bytes(matrix, trial); });
    }
    const Method* method = registry.find(trial.problem, trial.method);
    const std::optional<TimeRange> seen = by.like.empty() ? std::nullopt : by.model.expected(trial);
    for (Line* line : {&lines[method->id() + " (" + std::string(to_string(trial.backend)) + ")"], &all}) {
      line->trials += 1;
      if (!trial.skip_reason.empty()) {
        line->skipped += 1;
        continue;
      }
      if (seen) {
        line->seconds += *seen;
      } else if (by.like.empty()) {
        line->seconds.likely += by.model.estimate(trial);
      } else {
        line->unknown += 1;
      }
      const Footprint need = footprint(*method, trial);
      if (trial.backend == Backend::cuda)
        line->most.device_bytes = std::max(line->most.device_bytes, need.device_bytes);
      line->most.host_bytes = std::max(line->most.host_bytes, need.host_bytes);
    }
  }
  double disk_bytes = 0;
  for (const auto& [digest, bytes] : disk) disk_bytes += bytes;
  Table table;
  table.columns = {{"method", "METHOD"},
                   {"trials", "TRIALS"},
                   {"skipped", "SKIPPED"},
                   {"device_bytes", "ON THE GPU", Style::bytes},
                   {"host_bytes", "ON THE HOST", Style::bytes},
                   {"about", "ABOUT"}};
  const auto add = [&](const std::string& name, const Line& line) {
    table.rows.push_back({name, static_cast<std::int64_t>(line.trials),
                          static_cast<std::int64_t>(line.skipped), line.most.device_bytes,
                          line.most.host_bytes, about_words(line, by)});
  };
  for (const auto& [name, line] : lines) add(name, line);
  fmt::print(
      "{}{}", render_text(table, output_width()),
      paragraph(
          fmt::format("All: {}, {} skipped, one after the other {}; backend {}; matrices on disk: {} in {}",
                      counted(all.trials, "trial"), all.skipped,
                      by.like.empty()
                          ? fmt::format("about {}, a rough guess before anything was measured "
                                        "(--like RUN: by an earlier run)",
                                        about_words(all, by))
                          : fmt::format("{}, by {}{}", about_words(all, by), by.like,
                                        all.unknown > 0 ? " (unknown: it has no trials like them)" : ""),
                      to_string(backend), disk.size(), bytes_text(disk_bytes)),
          prose_width()));
}

/// Returns the sampling rule in short. @pre the plan has a rule, not a fixed number of samples
std::string repeats_text(const Sampling& sampling) {
  std::string text =
      fmt::format("{} to {}, {:g} %", sampling.min_samples, sampling.max_samples, 100 * sampling.noise);
  if (sampling.seconds > 0) text += ", " + seconds_text(sampling.seconds);
  if (sampling.throttled_again) text += ", throttled again";
  return text;
}

io::PlanVocabulary vocabulary(const Registry& registry) {
  io::PlanVocabulary words{enum_names<Problem>(), enum_names<MatrixKind>(), {}};
  for (const Method& method : registry.all()) {
    for (const Parameter& parameter : method.parameters) words.axes.emplace(parameter.name, parameter.help);
  }
  for (const auto& [name, help] : axis_words()) words.axes[name] = help;
  return words;
}

/// Returns the estimated seconds; an empty cell if the earlier run has no similar trial.
Cell seconds_of(const Trial& trial, const EstimatedBy& by) {
  if (by.like.empty()) return by.model.estimate(trial);
  const std::optional<TimeRange> seen = by.model.expected(trial);
  return seen ? Cell(seen->likely) : Cell();
}

/// A column of the table of trials.
struct Explained {
  Column column;
  std::function<Cell(const Trial&)> cell;
};

/// Returns a column of the axis, empty for problems without it.
Explained axis_column(const char* axis, const char* heading, std::int64_t Shape::*size) {
  return {{axis, heading},
          [=](const Trial& t) { return t.problem->has_axis(axis) ? Cell(t.shape.*size) : Cell(); }};
}

/// Returns the columns that tell the settings of a trial.
std::vector<Explained> setting_columns() {
  std::vector<Explained> columns = {
      {{"repeats", "REPEATS"},
       [](const Trial& t) {
         return t.sampling.noise == 0 ? Cell(t.sampling.min_samples) : Cell(repeats_text(t.sampling));
       }},
      {{"warmup", "WARMUP"}, [](const Trial& t) {
         return t.sampling.warmup_seconds > 0 ? Cell(seconds_text(t.sampling.warmup_seconds))
                                              : Cell(t.sampling.warmup);
       }}};
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
                  {{"timeout", "TIMEOUT", Style::seconds}, [](const Trial& t) { return t.timeout_seconds; }},
                  {{"tolerance", "TOLERANCE"}, [](const Trial& t) { return t.tolerance; }}});
  return columns;
}

/// Returns a table of all trials with their complete settings.
Table explanation(const Expansion& expansion, const EstimatedBy& by, Reader reader) {
  std::vector<std::string> parameters;
  for (const Trial& t : expansion.trials) parameters.push_back(parameters_text(t.parameters));
  const ParameterNames names(parameters);
  std::vector<Explained> columns = {
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
         return reader == Reader::person ? names.of(settings) : settings_text(settings);
       }},
      {{"matrix", "MATRIX"},
       [](const Trial& t) { return t.matrix.kind == "file" ? t.matrix.file : t.matrix.kind; }},
      {{"seed", "SEED"}, [](const Trial& t) { return static_cast<std::int64_t>(t.matrix.spec.seed); }}};
  Table table;
  table.naming = columns.size() - 1;
  for (Explained& column : setting_columns()) columns.push_back(std::move(column));
  columns.insert(columns.end(),
                 {{{"expect", "EXPECTED"},
                   [](const Trial& t) {
                     return t.expect.empty() ? std::string("pass")
                                             : fmt::format("{}", fmt::join(t.expect, " "));
                   }},
                  {{"about", "ABOUT", Style::seconds}, [&](const Trial& t) { return seconds_of(t, by); }},
                  {{"skipped", "SKIPPED"}, [](const Trial& t) { return t.skip_reason; }},
                  {{"key", "KEY"}, [](const Trial& t) { return t.key; }}});
  if (reader == Reader::person) table.common = names.common();
  for (const Explained& column : columns) table.columns.push_back(column.column);
  for (const Trial& t : expansion.trials) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const Explained& column : columns) row.push_back(column.cell(t));
  }
  table.spare = {"key", "inner_repeats", "round", "stages", "energy"};
  for (auto setting = io::conditions().rbegin(); setting != io::conditions().rend(); ++setting)
    table.spare.emplace_back(setting->name);
  for (const char* name : {"warmup", "timeout", "tolerance", "repeats", "expect"})
    table.spare.emplace_back(name);
  return table;
}

struct PlanOptions {
  std::string path, backend = "auto", format = "table", gpu, like, wanted_template;
  bool wants_schema = false, explains = false;
};

/// The GPUs that a plan is checked for.
struct PlannedGpus {
  int capability = 0;               ///< the lowest one; 0: unknown
  std::vector<std::string> models;  ///< sizes may depend on them
};

/// Returns the GPU that an option names, else those of the earlier run, else the one here.
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

void show_plan(const PlanOptions& options, const Registry& registry) {
  if (options.path.empty()) throw UsageError("plan: a plan's file is missing; plan --template prints one");
  const Backend here = cuda_device_count() > 0 ? Backend::cuda : Backend::emulated;
  const Backend backend =
      options.backend == "auto" ? here : from_string<Backend>(options.backend).value_or(Backend::emulated);
  EstimatedBy by{CostModel(registry), options.like};
  std::vector<io::DeviceRow> seen;
  if (!by.like.empty()) {
    const Loaded earlier = load(by.like, false);
    for (const io::Record& record : earlier.results.records) by.model.learn(record);
    seen = earlier.results.devices;
  }
  const PlannedGpus gpus = gpus_of(options, backend, seen);
  KnownFiles files;
  const Expansion expansion =
      expand_plan(for_gpus(io::read_plan(options.path, enum_names<Problem>()), gpus.models), options.path,
                  registry, backend, gpus.capability, files);
  const Format format = parse_format(options.format);
  if (options.explains && format != Format::table) {
    const Table table = explanation(expansion, by, Reader::program);
    fmt::print("{}", format == Format::csv ? render_csv(table) : json_text(render_json(table)) + "\n");
    return;
  }
  for (const std::string& note : expansion.notes) fmt::print("note: {}\n", printable(note));
  if (options.explains) {
    fmt::print("{}", render_text(explanation(expansion, by, Reader::person), output_width()));
  } else {
    print_plan(expansion, registry, backend, by);
  }
}

}  // namespace

void add_plan_command(CLI::App& app, Commands& commands) {
  CLI::App* plan = app.add_subcommand("plan", "Check a plan: its trials, memory, disk and time");
  auto options = std::make_shared<PlanOptions>();
  plan->add_option("plan", options->path, "The plan (YAML)");
  allow_backends(*plan->add_option("--backend", options->backend, "As for run")->capture_default_str());
  refuse_empty(
      *plan->add_option("--gpu", options->gpu, "The GPU model that sizes are for [the one here], e.g. H200"));
  refuse_empty(*plan->add_option(
      "--like", options->like,
      "An earlier run: times are estimated by its records, sizes are for its GPU (no GPU is needed here)"));
  // Without a value CLI11 gives this text.
  constexpr const char* first_plan = "first";
  allow_words(
      *plan->add_option("--template", options->wanted_template,
                        "Print a plan to begin with, with comments; rule: what gaussweep rule learns from")
           ->expected(0, 1)
           ->default_str(first_plan),
      {first_plan, "rule"});
  plan->add_flag("--schema", options->wants_schema, "Print a JSON schema of plans, for editors");
  plan->add_flag("--explain", options->explains, "Show every trial, with all defaults filled in");
  allow_words(*plan->add_option("--format", options->format, "How to show --explain")->capture_default_str(),
              {"table", "csv", "json"});
  plan->callback([options, &commands] {
    if (!options->wanted_template.empty()) {
      fmt::print("{}", options->wanted_template == "rule" ? rule_plan_template : plan_template);
      return;
    }
    if (options->wants_schema) {
      fmt::print("{}\n", json_text(io::plan_schema(vocabulary(commands.registry))));
      return;
    }
    show_plan(*options, commands.registry);
  });
}

}  // namespace gaussweep::driver
