#include "driver/records/messages.hpp"

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "driver/plan/enum_json.hpp"
#include "driver/records/origin_rows.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;
using namespace message;

constexpr std::pair<WorkerEnd, const char*> ends[] = {
    {WorkerEnd::none, "none"}, {WorkerEnd::fatal, "fatal"}, {WorkerEnd::spent, "spent"}};

json end_json(WorkerEnd end) {
  for (const auto& [value, name] : ends) {
    if (value == end) return name;
  }
  throw std::logic_error("a WorkerEnd without a name");
}

WorkerEnd end_from(const json& text) {
  for (const auto& [value, name] : ends) {
    if (text == name) return value;
  }
  throw std::runtime_error(fmt::format("'end' is {}", text.dump()));
}

// What each message carries beside its type.
void put(json& to, const Setup& m) {
  to["backend"] = to_string(m.backend);
  to["matrices"] = m.matrices;
  to["origin"] = to_json(m.origin);
  to["device"] = m.device ? to_json(*m.device) : json();
}
void put(json& to, const Work& m) {
  to["trial"] = to_json(m.trial);
}
void put(json& to, const Batch& m) {
  json& trials = to["trials"] = json::array();
  for (const Trial& trial : m.trials) trials.push_back(to_json(trial));
}
void put(json& to, const At& m) {
  to["step"] = m.step;
}
void put(json& to, const Hello& m) {
  to["device"] = to_json(m.device);
}
void put(json& to, const Done& m) {
  to["record"] = io::to_json(m.record);
  to["end"] = end_json(m.end);
  to["writing"] = m.writing;
}
void put(json& to, const Unfit& m) {
  to["message"] = m.message;
  to["busy"] = m.busy;
}
void put(json& to, const StorageFailed& m) {
  to["message"] = m.message;
}
void put(json& to, const Ready& m) {
  to["held"] = m.held;
}
void put(json& to, const Recorded& m) {
  to["record"] = io::to_json(m.record);
  to["writing"] = m.writing;
}
void put(json& to, const Returned& m) {
  to["keys"] = m.keys;
}
void put(json& to, const DeviceSeen& m) {
  to["row"] = to_json(m.row);
}
void put(json& to, const Retired& m) {
  to["reason"] = m.reason;
}
void put(json& to, const Finish& m) {
  to["at_once"] = m.at_once;
}
template <class Empty>
std::enable_if_t<std::is_empty_v<Empty>> put(json& /*to*/, const Empty& /*m*/) {}

void take(const json& from, Setup& m) {
  m.backend = value_of<Backend>(from.at("backend"));
  m.matrices = from.at("matrices");
  m.origin = origin_from_json(from.at("origin"));
  if (!from.at("device").is_null()) m.device = device_row_from_json(from.at("device"));
}
void take(const json& from, Work& m) {
  m.trial = trial_from_json(from.at("trial"));
}
void take(const json& from, Batch& m) {
  for (const json& trial : from.at("trials")) m.trials.push_back(trial_from_json(trial));
  if (m.trials.empty()) throw std::runtime_error("'trials' is empty");
}
void take(const json& from, At& m) {
  m.step = from.at("step");
}
void take(const json& from, Hello& m) {
  m.device = device_row_from_json(from.at("device"));
}
void take(const json& from, Done& m) {
  m.record = io::record_from_json(from.at("record"));
  m.end = end_from(from.at("end"));
  m.writing = from.at("writing").get<std::vector<std::string>>();
}
void take(const json& from, Unfit& m) {
  m.message = from.at("message");
  m.busy = from.at("busy");
}
void take(const json& from, StorageFailed& m) {
  m.message = from.at("message");
}
void take(const json& from, Ready& m) {
  m.held = from.at("held");
}
void take(const json& from, Recorded& m) {
  m.record = io::record_from_json(from.at("record"));
  m.writing = from.at("writing").get<std::vector<std::string>>();
}
void take(const json& from, Returned& m) {
  m.keys = from.at("keys").get<std::vector<std::string>>();
}
void take(const json& from, DeviceSeen& m) {
  m.row = device_row_from_json(from.at("row"));
}
void take(const json& from, Retired& m) {
  m.reason = from.at("reason");
}
void take(const json& from, Finish& m) {
  m.at_once = from.at("at_once");
}
template <class Empty>
std::enable_if_t<std::is_empty_v<Empty>> take(const json& /*from*/, Empty& /*m*/) {}

/// Tries the variant's alternatives one after the other.
template <class Message, std::size_t i = 0>
Message read_as(const json& from, const std::string& type, std::string allowed) {
  if constexpr (i == std::variant_size_v<Message>) {
    throw BadMessage(fmt::format("a message '{}' is unknown here; there are {}", type, allowed));
  } else {
    using Each = std::variant_alternative_t<i, Message>;
    if (type != Each::name)
      return read_as<Message, i + 1>(from, type, allowed + (i > 0 ? ", " : "") + Each::name);
    try {
      Each message;
      take(from, message);
      return message;
    } catch (const std::exception& e) {
      throw BadMessage(fmt::format("the message '{}' is malformed: {}", type, e.what()));
    }
  }
}

}  // namespace

template <class Message>
json message_json(const Message& message) {
  return std::visit(
      [](const auto& each) {
        json result = {{"type", std::decay_t<decltype(each)>::name}};
        put(result, each);
        return result;
      },
      message);
}

template <class Message>
Message read_message(const json& from) {
  const auto type = from.is_object() ? from.find("type") : from.end();
  if (!from.is_object() || type == from.end() || !type->is_string())
    throw BadMessage("a message is no object with a \"type\"");
  return read_as<Message>(from, type->template get<std::string>(), "");
}

template json message_json(const ToWorker&);
template json message_json(const FromWorker&);
template json message_json(const ToSupervisor&);
template json message_json(const ToCoordinator&);
template ToWorker read_message(const json&);
template FromWorker read_message(const json&);
template ToSupervisor read_message(const json&);
template ToCoordinator read_message(const json&);

}  // namespace gaussweep::driver
