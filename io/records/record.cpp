/// Lists the columns of a record, and converts records to JSON and back.

#include "io/records/record.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <type_traits>

#include "io/files/errors.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

/// Returns a number as JSON. JSON has no NaN and no infinities, so they become null, "inf" and "-inf".
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// Throws the error that a field has a value of the wrong type.
[[noreturn]] void mistyped(std::string_view name, const char* expected, const Json& found) {
  throw InputError("The field '" + std::string(name) + "' of a record must be " + expected + ", found " +
                   found.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60) + ".");
}

/// Read one value of a field `name`. @throws InputError if it has the wrong type
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

/// Reads a member of an object if it exists. @param where the name of the object, for errors
template <class T>
void read_member(const Json& object, const char* name, std::string_view where, T& value) {
  const auto found = object.find(name);
  if (found != object.end()) read(*found, std::string(where) + "." + name, value);
}

/// Returns the array in a member; an empty one if the member is absent.
const Json& array_of(const Json& object, const char* name, std::string_view where) {
  static const Json empty = Json::array();
  const auto found = object.find(name);
  if (found == object.end()) return empty;
  if (!found->is_array()) mistyped(std::string(where) + "." + name, "an array", *found);
  return *found;
}

/// A reading of NVML at a sample, and the name of its array. The array is absent if no sample has the
/// reading.
struct Reading {
  const char* name;
  double Sample::*member;
};
constexpr Reading readings[] = {{"memory_clock_mhz", &Sample::memory_clock_mhz},
                                {"power_w", &Sample::power_w},
                                {"temperature_c", &Sample::temperature_c}};

// Samples are stored as one array per column, which takes a third of the bytes of one object per sample.
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
    bool has_reading = false;
    for (const Sample& sample : samples) {
      values.push_back(number(sample.*reading.member));
      has_reading = has_reading || !std::isnan(sample.*reading.member);
    }
    if (has_reading) json[reading.name] = std::move(values);
  }
  return json;
}

std::vector<Sample> samples_from_json(const Json& json) {
  if (!json.is_object()) mistyped("sample_list", "an object of arrays", json);
  const Json& seconds = array_of(json, "seconds", "sample_list");
  std::vector<Sample> samples(seconds.size());
  // Reads the array `name` into a member of the samples.
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

// The fields that every version writes; other fields may be missing in records of older versions.
bool is_required(std::string_view name) {
  constexpr std::array<std::string_view, 4> required{"key", "problem", "method", "status"};
  for (const auto& required_name : required) {
    if (name == required_name) return true;
  }
  return false;
}

template <class Member>
Field column(std::string_view name, Member member, std::string_view unit) {
  return {name, member, unit};
}

template <class... Fields>
std::vector<Field> field_list(const Fields&... fields) {
  return {fields...};
}

}  // namespace

// The macro makes the name from the member, so that a column cannot have another column's name.
#define COLUMN(member, ...) column(#member, &Record::member, {__VA_ARGS__})

const std::vector<Field>& record_fields() {
  static const std::vector<Field> fields = field_list(
      COLUMN(key), COLUMN(run_id), COLUMN(problem), COLUMN(method), COLUMN(backend), COLUMN(precision),
      COLUMN(m), COLUMN(n), COLUMN(k), COLUMN(nrhs), COLUMN(batch), COLUMN(uplo), COLUMN(parameters),
      COLUMN(matrix), COLUMN(matrix_parameters), COLUMN(matrix_kind), COLUMN(matrix_digest),
      COLUMN(matrix_seed), COLUMN(status), COLUMN(expected), COLUMN(message), COLUMN(info),
      COLUMN(systems_pass), COLUMN(systems_suspect), COLUMN(systems_failed), COLUMN(first_failure),
      COLUMN(convergence), COLUMN(iterations), COLUMN(seconds_min, "s"), COLUMN(seconds_q1, "s"),
      COLUMN(seconds_median, "s"), COLUMN(seconds_mean, "s"), COLUMN(seconds_q3, "s"),
      COLUMN(seconds_max, "s"), COLUMN(seconds_stdev, "s"), COLUMN(samples), COLUMN(inner_repeats),
      COLUMN(warmup), COLUMN(enough), COLUMN(round), COLUMN(cache), COLUMN(host_memory), COLUMN(kernels),
      COLUMN(waits), COLUMN(queue_seconds, "s"), COLUMN(launch_bound), COLUMN(timing), COLUMN(repeats_bits),
      COLUMN(replay_q1, "s"), COLUMN(replay_median, "s"), COLUMN(replay_q3, "s"), COLUMN(load_seconds, "s"),
      COLUMN(generate_seconds, "s"), COLUMN(allocate_seconds, "s"), COLUMN(h2d_seconds, "s"),
      COLUMN(d2h_seconds, "s"), COLUMN(verify_seconds, "s"), COLUMN(flops), COLUMN(gflops, "1e9/s"),
      COLUMN(bytes, "B"), COLUMN(peak_share), COLUMN(problem_title), COLUMN(problem_flops),
      COLUMN(problem_bytes, "B"), COLUMN(residual_ratio), COLUMN(tolerance), COLUMN(backward_error),
      COLUMN(forward_error), COLUMN(pivot_growth), COLUMN(first_row_percent, "%"), COLUMN(reference_method),
      COLUMN(reference_seconds, "s"), COLUMN(digits_lost), COLUMN(reference_difference),
      COLUMN(largest_relative_difference), COLUMN(mean_relative_difference), COLUMN(mean_absolute_difference),
      COLUMN(gpu_uuid), COLUMN(gpu_name), COLUMN(capability), COLUMN(sm_clock_mhz, "MHz"),
      COLUMN(memory_clock_mhz, "MHz"), COLUMN(power_w, "W"), COLUMN(temperature_c, "°C"), COLUMN(throttled),
      COLUMN(throttle_reason), COLUMN(energy_joules, "J"), COLUMN(energy_uncertainty, "J"),
      COLUMN(energy_source), COLUMN(energy_power_w, "W"), COLUMN(idle_power_w, "W"), COLUMN(host),
      COLUMN(rank), COLUMN(device_index), COLUMN(start_time), COLUMN(end_time), COLUMN(judged_time),
      COLUMN(commit), COLUMN(job_id), COLUMN(node), COLUMN(partition), COLUMN(gres), COLUMN(wait_began, "s"),
      COLUMN(prepare_began, "s"), COLUMN(store_began, "s"), COLUMN(inputs_began, "s"),
      COLUMN(allocate_began, "s"), COLUMN(upload_began, "s"), COLUMN(warmup_began, "s"),
      COLUMN(timed_began, "s"), COLUMN(download_began, "s"), COLUMN(verify_began, "s"),
      COLUMN(stages_began, "s"), COLUMN(reference_began, "s"), COLUMN(compare_began, "s"),
      COLUMN(componentwise_error), COLUMN(library), COLUMN(library_digest), COLUMN(gpu_count),
      COLUMN(cpu_demand));
  return fields;
}

#undef COLUMN

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
  if (record.is_temporary_failure) json["for_now"] = true;
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
                       "'; key, problem, method and status are required.");
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
    record.is_temporary_failure = for_now->get<bool>();
  }
  return record;
}

}  // namespace gaussweep::io
