// Tests that different machines with the same name get different names.

#include "driver/results/host_names.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::Results file_of(const std::string& host, const std::string& cpu, std::int64_t cores = 8) {
  io::Results results;
  results.records = {example_record("m", 1, {1}), example_record("m", 2, {1})};
  results.records[0].host = host;
  results.records[1].host = "elsewhere";
  results.devices.resize(1);
  results.devices[0].host = host;
  results.hosts.resize(1);
  results.hosts[0].host = host;
  results.hosts[0].cpu = cpu;
  results.hosts[0].cores = cores;
  return results;
}

TEST(HostNames, OneMachineKeepsItsName) {
  HostNames names;
  for (int file = 0; file < 2; ++file) {
    io::Results results = file_of("vm", "EPYC");
    names.make_names_unique(results);
    EXPECT_EQ(results.hosts[0].host, "vm");
    EXPECT_EQ(results.records[0].host, "vm");
  }
}

TEST(HostNames, AnotherCpuIsAnotherMachine) {
  HostNames names;
  io::Results first = file_of("vm", "EPYC"), unknown = file_of("vm", "");
  names.make_names_unique(first);
  names.make_names_unique(unknown);
  EXPECT_EQ(unknown.records[0].host, "vm");
  for (int file = 0; file < 2; ++file) {
    io::Results other = file_of("vm", "Xeon");
    names.make_names_unique(other);
    EXPECT_EQ(other.records[0].host, "vm (Xeon)");
    EXPECT_EQ(other.records[1].host, "elsewhere");
    EXPECT_EQ(other.devices[0].host, "vm (Xeon)");
    EXPECT_EQ(other.hosts[0].host, "vm (Xeon)");
  }
}

TEST(HostNames, OtherThreadsAreAnotherMachine) {
  HostNames names;
  const auto host_with = [&names](std::int64_t threads) {
    io::Results results = file_of("node1", "Xeon");
    results.hosts[0].blas_threads = threads;
    names.make_names_unique(results);
    EXPECT_EQ(results.records[0].host, results.hosts[0].host);
    EXPECT_EQ(results.devices[0].host, results.hosts[0].host);
    return std::string(results.hosts[0].host);
  };
  EXPECT_EQ(host_with(1), "node1");
  EXPECT_EQ(host_with(2), "node1 (2 threads)");
  EXPECT_EQ(host_with(0), "node1") << "older files have no thread count";
  EXPECT_EQ(host_with(1), "node1");
  EXPECT_EQ(host_with(2), "node1 (2 threads)");
}

TEST(HostNames, AnotherCoreCountIsTheSameMachine) {
  HostNames names;
  io::Results first = file_of("node1", "Xeon", 64), other = file_of("node1", "Xeon", 2);
  names.make_names_unique(first);
  names.make_names_unique(other);
  EXPECT_EQ(other.records[0].host, "node1");
}

}  // namespace
}  // namespace gaussweep::driver
