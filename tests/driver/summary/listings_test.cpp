// Tests the lists of methods and of devices.

#include "driver/base/table.hpp"
#include "driver/summary/methods_listing.hpp"
#include "driver/system/devices_listing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::vector<Method> example_methods() {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = "example";
  method.summary = "an example";
  method.source = "a paper";
  method.needs = {Need::spd};
  method.capability = 75;
  method.backends = {Backend::cuda, Backend::emulated};
  method.emulated.float64 = [](Context&, Operands<double>&, const Parameters&) {};
  method.parameters = {integer_parameter("blocks", 8, 1, 64, "blocks"),
                       real_parameter("omega", 1.5, 0, 2, "relaxation"),
                       choice_parameter("order", {"rows", "columns"}, "order")};
  return {method};
}

TEST(Methods, JsonDescribesTheWholeRow) {
  const auto json = methods_json(example_methods());
  ASSERT_EQ(json.size(), 1U);
  const auto& row = json[0];
  EXPECT_EQ(row["id"], "gesv/example");
  EXPECT_EQ(row["problem"], "gesv");
  EXPECT_EQ(row["method"], "example");
  EXPECT_EQ(row["backends"].dump(), R"(["cuda","emulated"])");
  EXPECT_EQ(row["available"].dump(), R"(["emulated"])");
  EXPECT_EQ(row["precisions"].dump(), R"(["double"])");
  EXPECT_EQ(row["needs"].dump(), R"(["spd"])");
  EXPECT_EQ(row["capability"], 75);
  EXPECT_EQ(row["source"], "a paper");
  EXPECT_EQ(
      row["parameters"].dump(),
      R"([{"name":"blocks","type":"integer","default":8,"range":[1,64],"help":"blocks"},)"
      R"({"name":"omega","type":"real","default":1.5,"range":[0.0,2.0],"help":"relaxation"},)"
      R"({"name":"order","type":"choice","default":"rows","choices":["rows","columns"],"help":"order"}])");
}

TEST(Methods, TextShowsMethodsAndParameters) {
  const std::string text = methods_text(example_methods(), any_width);
  for (const char* word : {"gesv/example", "cuda,emulated", "7.5", "omega", "rows, columns", "1 to 64"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

/// Only getrf's answer has both factors, and a program must know which one has the diagonal of ones.
TEST(Methods, NamesTheFactorWithTheUnitDiagonal) {
  const Registry registry = builtin_registry();
  std::vector<Method> methods;
  for (const char* variant : {"crout_serial", "fixed_point", "lapack"})
    methods.push_back(*registry.find(Problem::named("getrf"), variant));
  methods.push_back(*registry.find(Problem::named("gesv"), "lapack"));
  const auto json = methods_json(methods);
  EXPECT_EQ(json.at(0).at("unit_diagonal"), "U");
  EXPECT_EQ(json.at(1).at("unit_diagonal"), "U");
  EXPECT_EQ(json.at(2).at("unit_diagonal"), "L");
  EXPECT_FALSE(json[3].contains("unit_diagonal"));
  EXPECT_THAT(methods_text(methods, any_width), testing::HasSubstr("UNIT DIAGONAL"));
  EXPECT_THAT(methods_text({methods[3]}, any_width), testing::Not(testing::HasSubstr("UNIT DIAGONAL")));
}

TEST(Methods, ListsEveryRowOfThisBuild) {
  const Registry registry = builtin_registry();
  const auto json = methods_json(registry.all());
  ASSERT_FALSE(json.empty());
  for (const auto& row : json) {
    EXPECT_FALSE(row["backends"].empty()) << row["id"];
    EXPECT_FALSE(row["source"].get<std::string>().empty()) << row["id"];
    EXPECT_FALSE(row["summary"].get<std::string>().empty()) << row["id"];
  }
}

TEST(Devices, HostIsKnown) {
  const io::HostRow host = host_facts();
  EXPECT_FALSE(host.host.empty());
  EXPECT_GE(host.cores, 1);
  EXPECT_GT(host.memory_bytes, 1 << 20);
}

TEST(Devices, WithoutAGpuTheListIsEmptyWithAReason) {
  MachineFacts machine;
  machine.why = "no driver";
  const auto json = devices_json(machine);
  EXPECT_TRUE(json["gpus"].is_array());
  EXPECT_TRUE(json["gpus"].empty());
  EXPECT_EQ(json["why"], "no driver");
  EXPECT_TRUE(json["host"].is_object());
  EXPECT_NE(devices_text(machine, any_width).find("No GPU: no driver"), std::string::npos);
}

TEST(Devices, ShowsWarningsOfAGpuAndTheErrorOfABrokenOne) {
  MachineFacts machine;
  machine.gpus.resize(2);
  machine.gpus[0].info.name = "NVIDIA H200";
  machine.gpus[0].info.uuid = "GPU-1";
  machine.gpus[0].info.capability = 90;
  machine.gpus[0].info.total_bytes = std::size_t{141} << 30;
  machine.gpus[0].warnings = {"MIG is on"};
  machine.gpus[1].index = 1;
  machine.gpus[1].error = "cudaErrorECCUncorrectable";
  const auto json = devices_json(machine);
  ASSERT_EQ(json["gpus"].size(), 2U);
  for (const char* name :
       {"index", "name", "uuid", "capability", "multiprocessors", "total_bytes", "free_bytes", "warnings"}) {
    EXPECT_TRUE(json["gpus"][0].contains(name)) << name;
  }
  EXPECT_EQ(json["gpus"][0]["warnings"][0], "MIG is on");
  EXPECT_EQ(json["gpus"][1]["error"], "cudaErrorECCUncorrectable");
  const std::string text = devices_text(machine, any_width);
  for (const char* word :
       {"NVIDIA H200", "9.0", "  141.0  GPU-1", "warning: GPU 0: MIG is on", "GPU 1 cannot be used"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in:\n" << text;
  }
}

TEST(Devices, QueryNeverThrows) {
  const MachineFacts machine = machine_facts();
  EXPECT_EQ(machine.gpus.empty(), !machine.why.empty());
}

}  // namespace
}  // namespace gaussweep::driver
