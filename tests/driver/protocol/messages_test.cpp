// Tests that messages between processes survive a round trip, and that malformed ones are refused.

#include "driver/protocol/messages.hpp"
#include "driver/system/channel.hpp"
#include "io/plan/plan_values.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns one message of each alternative of a variant.
template <class Message, std::size_t... i>
std::vector<Message> all_of(std::index_sequence<i...> /*indices*/) {
  return {Message{std::in_place_index<i>}...};
}

template <class Message>
class Messages : public ::testing::Test {
 protected:
  std::vector<Message> all_ = all_of<Message>(std::make_index_sequence<std::variant_size_v<Message>>());
};

using Directions = ::testing::Types<ToWorker, FromWorker, ToSupervisor, ToCoordinator>;
TYPED_TEST_SUITE(Messages, Directions);

/// Fills the message with a record or a trial that can be read back.
template <class Message>
void fill(Message& message) {
  std::visit(
      [](auto& each) {
        using Each = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, message::Done> || std::is_same_v<Each, message::Recorded>) {
          each.record.key = "k";
          each.record.problem = "gesv";
          each.record.method = "m";
          each.record.status = "pass";
        }
        if constexpr (std::is_same_v<Each, message::Work>) each.trial.problem = Problem::named("gesv");
        if constexpr (std::is_same_v<Each, message::Batch>) {
          each.trials.resize(2);
          for (Trial& trial : each.trials) trial.problem = Problem::named("gesv");
        }
      },
      message);
}

TYPED_TEST(Messages, SurviveARoundTrip) {
  for (TypeParam& message : this->all_) {
    fill(message);
    const nlohmann::json sent = message_json(message);
    const TypeParam back = read_message<TypeParam>(sent);
    EXPECT_EQ(back.index(), message.index()) << sent;
    EXPECT_EQ(message_json(back), sent);
  }
}

TYPED_TEST(Messages, NameAMissingOrMistypedMember) {
  for (TypeParam& message : this->all_) {
    fill(message);
    const nlohmann::json sent = message_json(message);
    for (const auto& [member, value] : sent.items()) {
      if (member == "type") continue;
      for (const bool erased : {true, false}) {
        nlohmann::json damaged = sent;
        if (erased) damaged.erase(member);
        // a value of another type
        if (!erased) damaged[member] = nlohmann::json::array({nlohmann::json::object()});
        EXPECT_THAT(message_of<BadMessage>([&] { read_message<TypeParam>(damaged); }),
                    HasSubstr("'" + sent.at("type").get<std::string>() + "' is malformed"));
      }
    }
  }
}

TYPED_TEST(Messages, OfAnotherKindAreRefused) {
  for (const char* text : {"{}", "[]", "null", "7", R"({"type": 7})", R"({"type": "nonsense"})"}) {
    EXPECT_THROW(read_message<TypeParam>(nlohmann::json::parse(text)), BadMessage) << text;
  }
}

TEST(DoneMessage, FitsTheLongestRecordOfAPlan) {
  const auto message_of = [](std::size_t count) {
    message::Done done;
    done.record.sample_list.assign(count, {0.1, 1.1, true, 2.1, 3.1, 4.1});
    done.record.history.assign(count, 0.1);
    return message_json(FromWorker{done});
  };
  constexpr std::size_t few = 1000, most = io::max_count;
  const nlohmann::json none = message_of(0), some = message_of(few);
  const auto bytes = [](const nlohmann::json& message) { return nlohmann::json::to_cbor(message).size(); };
  EXPECT_LT(bytes(none) + (bytes(some) - bytes(none)) / few * most, max_message_bytes);
  EXPECT_LT(2 * none.flatten().size() + (some.flatten().size() - none.flatten().size()) / few * most,
            max_message_values);
}

}  // namespace
}  // namespace gaussweep::driver
