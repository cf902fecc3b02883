#include "io/records/record.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <type_traits>

#include "io/files/errors.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

// JSON has no NaN and no infinities: null, "inf" and "-inf" stand for them.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

[[noreturn]] void mistyped(std::string_view name, const char* expected, const Json& found) {
  throw InputError("The field '" + std::string(name) + "' of a record must be " + expected + ", found " +
                   found.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60) + ".");
}

void read(const Json& json, std::string_view name, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json.is_null()) {
    value = Record::unknown;
  } else if (json == "inf" || json == "-inf") {
    value =
        json == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  } else {
    mistyped(name, "a number, null, \"inf\" or \"-inf\"", json);
  }
}

void read(const Json& json, std::string_view name, std::int64_t& value) {
  const bool fits =
      json.is_number_integer() &&
      (!json.is_number_unsigned() ||
       json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits) mistyped(name, "a 64-bit integer", json);
  value = json.get<std::int64_t>();
}

void read(const Json& json, std::string_view name, Text& value) {
  if (!json.is_string()) mistyped(name, "a string", json);
  value = json.get_ref<const std::string&>();
}

void read(const Json& json, std::string_view name, bool& value) {
  if (!json.is_boolean()) mistyped(name, "true or false", json);
  value = json.get<bool>();
}

template <class T>
void read_member(const Json& object, const char* name, std::string_view where, T& value) {
  const auto found = object.find(name);
  if (found != object.end()) read(*found, std::string(where) + "." + name, value);
}

const Json& array_of(const Json& object, const char* name, std::string_view where) {
  static const Json empty = Json::array();
  const auto found = object.find(name);
  if (found == object.end()) return empty;
  if (!found->is_array()) mistyped(std::string(where) + "." + name, "an array", *found);
  return *found;
}

/// What NVML told with a sample, and the name of its array. Absent where it told nothing of any sample.
struct Reading {
  const char* name;
  double Sample::*member;
};
constexpr Reading readings[] = {{"memory_clock_mhz", &Sample::memory_clock_mhz},
                                {"power_w", &Sample::power_w},
                                {"temperature_c", &Sample::temperature_c}};

// Samples lie column by column: a third of the bytes that an object a sample would take.
Json samples_to_json(const std::vector<Sample>& samples) {
  Json::array_t seconds, clocks, throttled;
  seconds.reserve(samples.size());
  clocks.reserve(samples.size());
  throttled.reserve(samples.size());
  for (const Sample& sample : samples) {
    seconds.push_back(number(sample.seconds));
    clocks.push_back(number(sample.clock_mhz));
    throttled.push_back(sample.throttled);
  }
  Json json = {
      {"seconds", std::move(seconds)}, {"clock_mhz", std::move(clocks)}, {"throttled", std::move(throttled)}};
  for (const Reading& reading : readings) {
    Json::array_t values;
    bool told = false;
    for (const Sample& sample : samples) {
      values.push_back(number(sample.*reading.member));
      told = told || !std::isnan(sample.*reading.member);
    }
    if (told) json[reading.name] = std::move(values);
  }
  return json;
}

std::vector<Sample> samples_from_json(const Json& json) {
  if (!json.is_object()) mistyped("sample_list", "an object of arrays", json);
  const Json& seconds = array_of(json, "seconds", "sample_list");
  std::vector<Sample> samples(seconds.size());
  const auto column = [&](const char* name, bool required, auto member) {
    const Json& values = array_of(json, name, "sample_list");
    if (!required && values.empty()) return;
    if (values.size() != samples.size()) {
      throw InputError("The field 'sample_list' of a record holds arrays of " +
                       std::to_string(samples.size()) + " (seconds) and " + std::to_string(values.size()) +
                       " elements (" + name + "); they must be equally long.");
    }
    for (std::size_t i = 0; i < samples.size(); ++i)
      read(values[i], std::string("sample_list.") + name, samples[i].*member);
  };
  column("seconds", true, &Sample::seconds);
  column("clock_mhz", true, &Sample::clock_mhz);
  column("throttled", true, &Sample::throttled);
  for (const Reading& reading : readings) column(reading.name, false, reading.member);
  return samples;
}

Json stage_to_json(const Stage& stage) {
  return {{"kernel", stage.kernel},
          {"calls", stage.calls},
          {"seconds", number(stage.seconds)},
          {"mean", number(stage.mean)},
          {"occupancy", number(stage.occupancy)},
          {"share", number(stage.share)}};
}

Stage stage_from_json(const Json& json) {
  if (!json.is_object()) mistyped("stages", "an array of objects", json);
  Stage stage;
  read_member(json, "kernel", "stages", stage.kernel);
  read_member(json, "calls", "stages", stage.calls);
  read_member(json, "seconds", "stages", stage.seconds);
  read_member(json, "mean", "stages", stage.mean);
  read_member(json, "occupancy", "stages", stage.occupancy);
  read_member(json, "share", "stages", stage.share);
  return stage;
}

// Without these a record says nothing; everything else may be missing in what an older version wrote.
bool is_required(std::string_view name) {
  constexpr std::array<std::string_view, 4> required{"key", "problem", "method", "status"};
  for (const auto& one : required) {
    if (name == one) return true;
  }
  return false;
}

}  // namespace

const std::vector<Field>& record_fields() {
  using R = Record;
  static const std::vector<Field> fields{
      {"key", &R::key},
      {"run_id", &R::run_id},
      {"problem", &R::problem},
      {"method", &R::method},
      {"backend", &R::backend},
      {"precision", &R::precision},
      {"m", &R::m},
      {"n", &R::n},
      {"k", &R::k},
      {"nrhs", &R::nrhs},
      {"batch", &R::batch},
      {"uplo", &R::uplo},
      {"parameters", &R::parameters},
      {"matrix", &R::matrix},
      {"matrix_parameters", &R::matrix_parameters},
      {"matrix_kind", &R::matrix_kind},
      {"matrix_digest", &R::matrix_digest},
      {"matrix_seed", &R::matrix_seed},
      {"status", &R::status},
      {"expected", &R::expected},
      {"message", &R::message},
      {"info", &R::info},
      {"systems_pass", &R::systems_pass},
      {"systems_suspect", &R::systems_suspect},
      {"systems_failed", &R::systems_failed},
      {"first_failure", &R::first_failure},
      {"convergence", &R::convergence},
      {"iterations", &R::iterations},
      {"seconds_min", &R::seconds_min, "s"},
      {"seconds_q1", &R::seconds_q1, "s"},
      {"seconds_median", &R::seconds_median, "s"},
      {"seconds_mean", &R::seconds_mean, "s"},
      {"seconds_q3", &R::seconds_q3, "s"},
      {"seconds_max", &R::seconds_max, "s"},
      {"seconds_stdev", &R::seconds_stdev, "s"},
      {"samples", &R::samples},
      {"inner_repeats", &R::inner_repeats},
      {"warmup", &R::warmup},
      {"enough", &R::enough},
      {"round", &R::round},
      {"cache", &R::cache},
      {"host_memory", &R::host_memory},
      {"kernels", &R::kernels},
      {"waits", &R::waits},
      {"queue_seconds", &R::queue_seconds, "s"},
      {"launch_bound", &R::launch_bound},
      {"timing", &R::timing},
      {"repeats_bits", &R::repeats_bits},
      {"replay_q1", &R::replay_q1, "s"},
      {"replay_median", &R::replay_median, "s"},
      {"replay_q3", &R::replay_q3, "s"},
      {"load_seconds", &R::load_seconds, "s"},
      {"generate_seconds", &R::generate_seconds, "s"},
      {"allocate_seconds", &R::allocate_seconds, "s"},
      {"h2d_seconds", &R::h2d_seconds, "s"},
      {"d2h_seconds", &R::d2h_seconds, "s"},
      {"verify_seconds", &R::verify_seconds, "s"},
      {"flops", &R::flops},
      {"gflops", &R::gflops, "1e9/s"},
      {"bytes", &R::bytes, "B"},
      {"peak_share", &R::peak_share},
      {"problem_title", &R::problem_title},
      {"problem_flops", &R::problem_flops},
      {"problem_bytes", &R::problem_bytes, "B"},
      {"residual_ratio", &R::residual_ratio},
      {"tolerance", &R::tolerance},
      {"backward_error", &R::backward_error},
      {"forward_error", &R::forward_error},
      {"pivot_growth", &R::pivot_growth},
      {"first_row_percent", &R::first_row_percent, "%"},
      {"reference_method", &R::reference_method},
      {"reference_seconds", &R::reference_seconds, "s"},
      {"digits_lost", &R::digits_lost},
      {"reference_difference", &R::reference_difference},
      {"largest_relative_difference", &R::largest_relative_difference},
      {"mean_relative_difference", &R::mean_relative_difference},
      {"mean_absolute_difference", &R::mean_absolute_difference},
      {"gpu_uuid", &R::gpu_uuid},
      {"gpu_name", &R::gpu_name},
      {"capability", &R::capability},
      {"sm_clock_mhz", &R::sm_clock_mhz, "MHz"},
      {"memory_clock_mhz", &R::memory_clock_mhz, "MHz"},
      {"power_w", &R::power_w, "W"},
      {"temperature_c", &R::temperature_c, "°C"},
      {"throttled", &R::throttled},
      {"throttle_reason", &R::throttle_reason},
      {"energy_joules", &R::energy_joules, "J"},
      {"energy_uncertainty", &R::energy_uncertainty, "J"},
      {"energy_source", &R::energy_source},
      {"energy_power_w", &R::energy_power_w, "W"},
      {"idle_power_w", &R::idle_power_w, "W"},
      {"host", &R::host},
      {"rank", &R::rank},
      {"device_index", &R::device_index},
      {"start_time", &R::start_time},
      {"end_time", &R::end_time},
      {"judged_time", &R::judged_time},
      {"commit", &R::commit},
      {"job_id", &R::job_id},
      {"node", &R::node},
      {"partition", &R::partition},
      {"gres", &R::gres},
      {"wait_began", &R::wait_began, "s"},
      {"prepare_began", &R::prepare_began, "s"},
      {"store_began", &R::store_began, "s"},
      {"inputs_began", &R::inputs_began, "s"},
      {"allocate_began", &R::allocate_began, "s"},
      {"upload_began", &R::upload_began, "s"},
      {"warmup_began", &R::warmup_began, "s"},
      {"timed_began", &R::timed_began, "s"},
      {"download_began", &R::download_began, "s"},
      {"verify_began", &R::verify_began, "s"},
      {"stages_began", &R::stages_began, "s"},
      {"reference_began", &R::reference_began, "s"},
      {"compare_began", &R::compare_began, "s"},
  };
  return fields;
}

void share_texts(Record& record, TextPool& pool) {
  for (const Field& field : record_fields()) {
    if (const auto* text = std::get_if<Text Record::*>(&field.member))
      record.** text = pool.of(record.**text);
  }
  for (Stage& stage : record.stages) stage.kernel = pool.of(stage.kernel);
}

nlohmann::json to_json(const Record& record) {
  Json json = Json::object();
  for (const Field& field : record_fields()) {
    Json& slot = json[std::string(field.name)];
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), double Record::*>) {
            slot = number(record.*member);
          } else {
            slot = record.*member;
          }
        },
        field.member);
  }
  json["sample_list"] = samples_to_json(record.sample_list);
  Json::array_t stages, history;
  for (const Stage& stage : record.stages) stages.push_back(stage_to_json(stage));
  for (const double residual : record.history) history.push_back(number(residual));
  json["stages"] = std::move(stages);
  json["history"] = std::move(history);
  if (record.for_now) json["for_now"] = true;
  return json;
}

Record record_from_json(const nlohmann::json& json) {
  if (!json.is_object()) mistyped("(the whole)", "a JSON object", json);
  Record record;
  for (const Field& field : record_fields()) {
    const auto found = json.find(field.name);
    if (found == json.end()) {
      if (!is_required(field.name)) continue;
      throw InputError("A record lacks the field '" + std::string(field.name) +
                       "'; key, problem, method and status must be there.");
    }
    std::visit([&](auto member) { read(*found, field.name, record.*member); }, field.member);
  }
  const auto samples = json.find("sample_list");
  if (samples != json.end()) record.sample_list = samples_from_json(*samples);
  for (const Json& stage : array_of(json, "stages", "record"))
    record.stages.push_back(stage_from_json(stage));
  for (const Json& residual : array_of(json, "history", "record")) {
    read(residual, "history", record.history.emplace_back());
  }
  const auto for_now = json.find("for_now");
  if (for_now != json.end()) {
    if (!for_now->is_boolean()) mistyped("for_now", "true or false", *for_now);
    record.for_now = for_now->get<bool>();
  }
  return record;
}

}  // namespace gaussweep::io
