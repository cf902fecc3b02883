/// Converts the messages between coordinator, supervisors and workers to JSON objects and back.

#include "driver/protocol/messages.hpp"

#include <fmt/format.h>
#include <type_traits>
#include <utility>

#include "driver/base/json_conversions.hpp"

namespace gaussweep {

using nlohmann::json;

template <>
struct EnumNames<driver::message::WorkerEnd> {
  using WorkerEnd = driver::message::WorkerEnd;
  static constexpr std::string_view noun = "end of a worker";
  static constexpr std::array<std::pair<WorkerEnd, std::string_view>, 3> table{
      {{WorkerEnd::none, "none"}, {WorkerEnd::fatal, "fatal"}, {WorkerEnd::replace, "spent"}}};
};

namespace driver {

// Each line lists a message's members in JSON, in addition to "type".
namespace message {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Setup, backend, matrices, origin, device, libraries, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Work, trial)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Batch, trials)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepBegun, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, record, end, writing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerFailed, message, busy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StorageFailed, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Recorded, record, writing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Returned, keys)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceSeen, row)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Retired, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finish, at_once)

void to_json(json& to, const Ready& m) {
  to = {{"held", m.held_digest}};
}
void from_json(const json& from, Ready& m) {
  from.at("held").get_to(m.held_digest);
}

template <class Empty>
std::enable_if_t<std::is_empty_v<Empty>> to_json(json& to, const Empty& /*m*/) {
  to = json::object();
}
template <class Empty>
std::enable_if_t<std::is_empty_v<Empty>> from_json(const json& /*from*/, Empty& /*m*/) {}

}  // namespace message
namespace {

/// Reads the alternative of the variant whose name is `type`, starting the search at alternative `i`.
/// @param allowed names of the alternatives before `i`, for the error
template <class Message, std::size_t i = 0>
Message read_as(const json& object, const std::string& type, std::string allowed) {
  if constexpr (i == std::variant_size_v<Message>) {
    throw BadMessage(fmt::format("a message '{}' is unknown here; there are {}", type, allowed));
  } else {
    using Each = std::variant_alternative_t<i, Message>;
    if (type != Each::name)
      return read_as<Message, i + 1>(object, type, allowed + (i > 0 ? ", " : "") + Each::name);
    try {
      return object.get<Each>();
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
        json result = each;
        result["type"] = std::decay_t<decltype(each)>::name;
        return result;
      },
      message);
}

template <class Message>
Message read_message(const json& object) {
  const auto type = object.is_object() ? object.find("type") : object.end();
  if (!object.is_object() || type == object.end() || !type->is_string())
    throw BadMessage("a message is not an object with a \"type\"");
  return read_as<Message>(object, type->template get<std::string>(), "");
}

template json message_json(const ToWorker&);
template json message_json(const FromWorker&);
template json message_json(const ToSupervisor&);
template json message_json(const ToCoordinator&);
template ToWorker read_message(const json&);
template FromWorker read_message(const json&);
template ToSupervisor read_message(const json&);
template ToCoordinator read_message(const json&);

}  // namespace driver

}  // namespace gaussweep
