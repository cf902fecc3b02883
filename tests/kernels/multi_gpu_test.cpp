// Tests methods that share a matrix among several GPUs, on emulated devices.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "kernels/check/check.hpp"
#include "kernels/device/device_group.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/short_of_memory.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

constexpr int max_devices = 8;

/// Emulated devices and the context of the first one.
struct Devices {
  explicit Devices(int count = max_devices) : context(*device), group(context, count) {
    context.group = &group;
  }
  std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context;
  DeviceGroup group;
};

/// Returns the rows that run on several emulated devices.
std::vector<Method> rows_for_several() {
  std::vector<Method> rows;
  const Registry registry = builtin_registry();
  for (const Method& method : registry.all()) {
    if (method.column_block != nullptr && method.runs_on(Backend::emulated)) rows.push_back(method);
  }
  return rows;
}

/// Returns parameters that distribute any order over `gpus` devices, in blocks of `block` columns.
Parameters parameters_of(const Method& method, std::int64_t gpus, std::int64_t block = 32) {
  Parameters parameters = defaults(method);
  parameters.set("gpus", gpus);
  parameters.set("block", block);
  parameters.set("gpus_from", std::int64_t{1});
  if (parameters.all().count("rest") > 0) parameters.set("rest", std::int64_t{1});
  return parameters;
}

/// Runs a method twice. Expects equal answers and no forbidden writes.
template <class T>
Answer<T> answer_of(Devices& devices, const Method& method, const Inputs<T>& inputs,
                    const Parameters& parameters, Pristine pristine = Pristine::on_device) {
  MethodRun<T> run(devices.context, method, Backend::emulated, parameters, inputs.shape, 1, pristine);
  run.upload(inputs);
  run.warm_up();
  const auto first = run.answer_digests();
  run.timed_run();
  EXPECT_EQ(run.answer_digests(), first);
  Answer<T> answer = run.download();
  if (pristine == Pristine::on_device) {
    EXPECT_EQ(run.forbidden_writes(), "");
  }
  return answer;
}

template <class T>
void expect_right(Devices& devices, const Method& method, std::int64_t gpus, const Shape& shape,
                  std::int64_t block = 32) {
  const MatrixKind kind = kind_for(method.problem);
  const Parameters parameters = parameters_of(method, gpus, block);
  const std::string what =
      describe(method, Backend::emulated, shape, parameters, to_string(kind), to_string(precision_of<T>));
  const Inputs<T> inputs = make_inputs<T>(method.problem, shape, kind);
  const Answer<T> answer = answer_of(devices, method, inputs, parameters);
  EXPECT_EQ(answer.info, 0) << what;
  EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem)) << what;
}

class SeveralGpus : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Counts, SeveralGpus, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(SeveralGpus, GiveTheRightAnswer) {
  Devices devices;
  EXPECT_EQ(rows_for_several().size(), 7u);
  for (const Method& method : rows_for_several()) {
    for (const std::int64_t n : {1, 31, 65, 200}) {
      const Shape shape{n, n, n};
      expect_right<double>(devices, method, GetParam(), shape);
      expect_right<float>(devices, method, GetParam(), shape);
    }
  }
}

TEST_P(SeveralGpus, FactorTheRestOnTheFirst) {
  Devices devices;
  for (const char* id : {"potrf/multi_gpu", "posv/multi_gpu"}) {
    const Method& method = row_of(id);
    for (const std::int64_t rest : {80, 1000}) {  // two blocks of 64 columns precede the rest, or only one
      Parameters parameters = parameters_of(method, GetParam(), 64);
      parameters.set("rest", rest);
      const Shape shape{201, 201, 201, method.problem == Problem::named("posv") ? 3 : 1};
      const Inputs<double> inputs = make_inputs<double>(method.problem, shape, MatrixKind::spd);
      const Answer<double> answer = answer_of(devices, method, inputs, parameters);
      EXPECT_EQ(answer.info, 0) << id;
      EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem)) << id << rest;
    }
  }
}

TEST_P(SeveralGpus, SolveForSeveralRightHandSides) {
  Devices devices;
  for (const char* id : {"gesv/multi_gpu", "posv/multi_gpu"})
    expect_right<double>(devices, row_of(id), GetParam(), {129, 129, 129, 5});
}

TEST_P(SeveralGpus, TakeOneBlockForAllColumns) {
  Devices devices;
  for (const Method& method : rows_for_several())
    expect_right<double>(devices, method, GetParam(), {40, 40, 40}, 512);
}

TEST(LuOnSeveralGpus, ExchangesTheRowsOfPanelsOfMoreThan512Columns) {
  Devices devices;
  expect_right<double>(devices, row_of("getrf/multi_gpu"), 2, {700, 700, 700}, 640);
}

TEST_P(SeveralGpus, ChooseThePivotsOfOneGpu) {
  Devices devices;
  const Method& method = row_of("getrf/multi_gpu");
  const Inputs<double> inputs = make_inputs<double>(method.problem, {150, 150, 150}, MatrixKind::uniform);
  const auto pivots = [&](std::int64_t gpus) {
    return answer_of(devices, method, inputs, parameters_of(method, gpus)).pivots;
  };
  EXPECT_EQ(pivots(GetParam()), pivots(1));
}

TEST_P(SeveralGpus, UploadTheInputsAgainForEveryRun) {
  Devices devices;
  const Method& method = row_of("getrf/multi_gpu");
  const Inputs<double> inputs = make_inputs<double>(method.problem, {70, 70, 70}, MatrixKind::uniform);
  const Parameters parameters = parameters_of(method, GetParam());
  const Answer<double> again = answer_of(devices, method, inputs, parameters, Pristine::on_host);
  EXPECT_EQ(again.x.data, answer_of(devices, method, inputs, parameters).x.data);
}

TEST_P(SeveralGpus, ReportTheFirstZeroPivot) {
  Devices devices;
  const Method& method = row_of("getrf/multi_gpu");
  Inputs<double> inputs = make_inputs<double>(method.problem, {130, 130, 130}, MatrixKind::uniform);
  for (const std::int64_t column : {70, 100}) {
    for (std::int64_t i = 0; i < 130; ++i) inputs.a(i, column) = 0;
  }
  const Answer<double> answer = answer_of(devices, method, inputs, parameters_of(method, GetParam()));
  EXPECT_EQ(answer.info, 71);
  EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem));
}

TEST_P(SeveralGpus, ReportTheFirstPivotThatIsNotPositive) {
  Devices devices;
  for (const char* id : {"potrf/multi_gpu", "posv/multi_gpu"}) {
    for (const std::int64_t rest : {1, 150}) {
      const Method& method = row_of(id);
      Inputs<double> inputs = make_inputs<double>(method.problem, {200, 200, 200}, MatrixKind::spd);
      inputs.a(150, 150) = -1;
      Parameters parameters = parameters_of(method, GetParam());
      parameters.set("rest", rest);
      MethodRun<double> run(devices.context, method, Backend::emulated, parameters, inputs.shape);
      run.upload(inputs);
      run.warm_up();
      EXPECT_EQ(run.download().info, 151) << id;
    }
  }
}

/// Distributes a matrix with the leading dimension `ld` by hand, and factors it.
TEST(SeveralGpusOfOddLeadingDimension, GiveTheRightAnswer) {
  Devices devices(3);
  const Method& method = row_of("getrf/multi_gpu");
  const std::int64_t n = 99, ld = 103;
  const Inputs<double> inputs = make_inputs<double>(method.problem, {n, n, n}, MatrixKind::uniform);
  const Parameters parameters = parameters_of(method, 3);
  const ColumnBlocks blocks{n, 32, 3};
  const std::size_t bytes = method.workspace_bytes(inputs.shape, parameters, sizeof(double));
  std::vector<Buffer> memory, workspaces;
  Operands<double> op;
  op.shape = inputs.shape;
  for (int gpu = 0; gpu < 3; ++gpu) {
    Device& device = devices.group.device(gpu);
    const std::int64_t columns = blocks.columns_of(gpu);
    memory.emplace_back(device, static_cast<std::size_t>(ld * columns) * sizeof(double));
    workspaces.emplace_back(device, bytes);
    op.parts.push_back({{static_cast<double*>(memory.back().data()), n, columns, ld},
                        Workspace(workspaces.back().data(), bytes)});
  }
  const auto column = [&](std::int64_t j) {
    const std::int64_t block = j / 32;
    const MatrixView<double>& a = op.parts[static_cast<std::size_t>(blocks.gpu_of(block))].a;
    return a.data + (blocks.local_begin(block) + j - blocks.begin(block)) * ld;
  };
  const std::size_t column_bytes = static_cast<std::size_t>(n) * sizeof(double);
  for (std::int64_t j = 0; j < n; ++j) std::memcpy(column(j), &inputs.a(0, j), column_bytes);
  const Buffer integers(*devices.device, static_cast<std::size_t>(n + 1) * sizeof(int));
  op.pivots = static_cast<int*>(integers.data());
  op.info = op.pivots + n;
  *op.info = 0;
  method.emulated.float64(devices.context, op, parameters);
  Answer<double> answer;
  answer.x = HostMatrix<double>(n, n);
  for (std::int64_t j = 0; j < n; ++j) std::memcpy(&answer.x(0, j), column(j), column_bytes);
  answer.pivots.assign(op.pivots, op.pivots + n);
  EXPECT_EQ(*op.info, 0);
  EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem));
}

TEST(SeveralGpusByOrder, SmallMatricesStayOnOne) {
  for (const Method& method : rows_for_several()) {
    Parameters parameters = defaults(method);
    parameters.set("gpus", std::int64_t{4});
    EXPECT_EQ(gpus_of(method, {4096, 4096, 4096}, parameters), 1) << method.id();
    EXPECT_EQ(gpus_of(method, {32768, 32768, 32768}, parameters), 4) << method.id();
    parameters.set("gpus_from", std::int64_t{4096});
    EXPECT_EQ(gpus_of(method, {4096, 4096, 4096}, parameters), 4) << method.id();
    EXPECT_EQ(gpus_of(method, {4095, 4095, 4095}, parameters), 1) << method.id();
  }
}

TEST(SeveralGpusByOrder, TheWorkspaceIsThatOfTheGpusThatWork) {
  for (const Method& method : rows_for_several()) {
    if (method.workspace_bytes == nullptr) continue;
    for (const std::int64_t n : {4096, 9000, 10240, 14000, 32768}) {
      const Shape shape{n, n, n};
      Parameters parameters = defaults(method);
      parameters.set("gpus", std::int64_t{4});
      const std::size_t bytes = method.workspace_bytes(shape, parameters, sizeof(double));
      parameters.set("gpus_from", gpus_of(method, shape, parameters) == 4 ? n : n + 1);
      EXPECT_EQ(bytes, method.workspace_bytes(shape, parameters, sizeof(double))) << method.id() << ' ' << n;
    }
  }
}

TEST(StagingOnSeveralGpus, DividesTheMemory) {
  const Method& method = row_of("getrf/multi_gpu");
  const auto bytes = [&](std::int64_t gpus) {
    return static_cast<double>(
        staging_bytes(method, {8192, 8192, 8192}, parameters_of(method, gpus, 256), sizeof(double), 1));
  };
  EXPECT_NEAR(bytes(4) / bytes(1), 0.25, 0.05);
}

TEST(StagingOnSeveralGpus, NeedsAGroup) {
  const auto device = cpu(Backend::emulated);
  const Method& method = row_of("getrf/multi_gpu");
  EXPECT_THROW(Staging<double>(*device, method, parameters_of(method, 2), {8, 8, 8}, 1), std::logic_error);
}

TEST(ColumnBlocks, CountTheColumnsOfEveryGpu) {
  for (const std::int64_t n : {1, 32, 33, 95, 96, 97, 300}) {
    for (const int gpus : {1, 2, 3, 8}) {
      const ColumnBlocks blocks{n, 32, gpus};
      std::vector<std::int64_t> seen(static_cast<std::size_t>(gpus), 0);
      for (std::int64_t block = 0; block < blocks.count(); ++block) {
        std::int64_t& columns_so_far = seen[static_cast<std::size_t>(blocks.gpu_of(block))];
        EXPECT_EQ(blocks.local_begin(block), columns_so_far);
        for (int gpu = 0; gpu < gpus; ++gpu)
          EXPECT_EQ(blocks.columns_before(block, gpu), seen[static_cast<std::size_t>(gpu)]);
        columns_so_far += blocks.columns(block);
      }
      EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), std::int64_t{0}), n);
      for (int gpu = 0; gpu < gpus; ++gpu)
        EXPECT_EQ(blocks.columns_of(gpu), seen[static_cast<std::size_t>(gpu)]);
    }
  }
}

TEST(DistributedMatrix, GuardsRegionsOfTheWholeMatrix) {
  Devices devices(3);
  const std::int64_t n = 101;
  HostMatrix<double> a(n, n), seen(n, n);
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] = static_cast<double>(i + 1);
  DistributedMatrix<double> matrix(devices.group, {n, 32, 3});
  matrix.upload(a.data.data());
  const std::uint64_t digest = matrix.digest(Region::lower, Region::none);
  matrix.guard({Region::checkered, Region::above, false});
  matrix.download(seen.data.data());
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (i < j) {
        ASSERT_TRUE(std::isnan(seen(i, j))) << i << ", " << j;
      } else {
        ASSERT_EQ(seen(i, j), (i + j) % 2 != 0 ? -a(i, j) : a(i, j)) << i << ", " << j;
      }
    }
  }
  EXPECT_EQ(matrix.digest(Region::lower, Region::checkered), digest);
  EXPECT_NE(matrix.digest(Region::lower, Region::none), digest);
  EXPECT_EQ(matrix.count_overwritten(Region::above), 0);
  seen(3, 70) = 1;
  matrix.upload(seen.data.data());
  EXPECT_EQ(matrix.count_overwritten(Region::above), 1);
}

/// Returns a matrix on which inversion by products of inverses loses digits. In a triangle, 25 rows with
/// small elements alternate with 25 rows whose elements are as large as the diagonal.
Inputs<double> hard_inputs(Problem problem) {
  if (problem == Problem::named("poinv")) return hard_blur(12);
  const std::int64_t n = 135;
  const bool is_triangle = problem == Problem::named("trtri");
  Inputs<double> inputs =
      make_inputs<double>(problem, {n, n, n}, is_triangle ? MatrixKind::triangular : MatrixKind::cauchy);
  if (!is_triangle) return inputs;
  std::mt19937 engine(65);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) inputs.a(i, j) = uniform(engine) * (i % 50 < 25 ? 1e-3 : 1);
    inputs.a(j, j) += std::copysign(j % 37 == 0 ? 1e-5 : 0.1, inputs.a(j, j));
  }
  return inputs;
}

TEST_P(SeveralGpus, InvertHardMatricesLikeOneGpu) {
  Devices devices;
  for (const char* id : {"trtri/multi_gpu", "poinv/multi_gpu", "geinv/multi_gpu"}) {
    const Method& method = row_of(id);
    const Inputs<double> inputs = hard_inputs(method.problem);
    const auto ratio = [&](std::int64_t gpus) {
      return check(method, inputs, answer_of(devices, method, inputs, parameters_of(method, gpus, 64))).ratio;
    };
    EXPECT_LE(ratio(GetParam()), 3 * ratio(1)) << id;
  }
}

TEST_P(SeveralGpus, ReportWhyThereIsNoInverse) {
  Devices devices;
  const std::int64_t n = 140;
  for (const char* id : {"trtri/multi_gpu", "poinv/multi_gpu", "geinv/multi_gpu"}) {
    const Method& method = row_of(id);
    Inputs<double> inputs = make_inputs<double>(method.problem, {n, n, n}, kind_for(method.problem));
    for (const std::int64_t column : {70, 100}) {
      for (std::int64_t i = 0; i < n; ++i) inputs.a(i, column) = inputs.a(column, i) = 0;
    }
    const Answer<double> answer = answer_of(devices, method, inputs, parameters_of(method, GetParam(), 64));
    EXPECT_EQ(answer.info, 71) << id;
    EXPECT_FALSE(check(method, inputs, answer).ratio <= default_tolerance(method.problem)) << id;
  }
}

TEST_P(SeveralGpus, InvertWithPanelsOfSeveralBlocks) {
  Devices devices;
  for (const char* id : {"trtri/multi_gpu", "poinv/multi_gpu"}) {
    const Method& method = row_of(id);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      if (uplo == Uplo::upper && !method.problem->has_axis("uplo")) continue;
      const Shape shape{200, 200, 200, 1, uplo};
      const Inputs<double> inputs = make_inputs<double>(method.problem, shape, kind_for(method.problem));
      Parameters parameters = parameters_of(method, GetParam(), 64);
      parameters.set("panel", std::int64_t{128});
      const Answer<double> answer = answer_of(devices, method, inputs, parameters);
      EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem)) << id;
    }
  }
}

TEST_P(SeveralGpus, InvertUpperTriangles) {
  Devices devices;
  const Method& method = row_of("trtri/multi_gpu");
  const Shape shape{170, 170, 170, 1, Uplo::upper};
  expect_right<double>(devices, method, GetParam(), shape, 64);
  Inputs<double> inputs = make_inputs<double>(method.problem, shape, MatrixKind::triangular);
  for (const std::int64_t column : {90, 150}) inputs.a(column, column) = 0;
  EXPECT_EQ(answer_of(devices, method, inputs, parameters_of(method, GetParam(), 64)).info, 91);
}

/// A device that no other device can access.
class IsolatedDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::string enable_peer_access(Device&) override { return "no peer access"; }
};

TEST(DeviceGroup, ReportsMissingPeerAccess) {
  IsolatedDevice device(cpu(Backend::emulated));
  Context context(device);
  const DeviceGroup group(context, 3);
  EXPECT_EQ(group.peer_fault(1), "");
  EXPECT_EQ(group.peer_fault(2), "no peer access");
  const Devices connected(3);
  EXPECT_EQ(connected.group.peer_fault(3), "");
}

// The emulated devices delay each copy until a device waits for it, so that a missing wait changes the
// answer.
TEST(DeviceGroup, CopiesOnlyWhenADeviceWaits) {
  Devices devices(2);
  const Buffer from(devices.group.device(0), sizeof(int)), to(devices.group.device(1), sizeof(int));
  auto &source = *static_cast<int*>(from.data()), &target = *static_cast<int*>(to.data());
  source = 1;
  target = 0;
  devices.group.copy_stream(1).copy(&target, &source, sizeof(int));
  source = 2;  // a mistake, because the copy may not have read the source yet
  EXPECT_EQ(target, 0);
  devices.group.device(0).wait_for(devices.group.copy_stream(0));
  EXPECT_EQ(target, 0);
  devices.group.device(1).wait_for(devices.group.copy_stream(1));
  EXPECT_EQ(target, 2);
}

TEST(DeviceGroup, CallsForEveryDeviceAndPassesOnErrors) {
  Devices devices(3);
  std::vector<int> seen;
  const auto work = [&](int index) {
    seen.push_back(index);
    if (index == 1) throw std::runtime_error("device 1");
  };
  EXPECT_THROW(devices.group.for_each(3, work), std::runtime_error);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(DeviceGroup, MeasuresStagesOneAfterTheOther) {
  struct Names : StageSink {
    void mark(std::string_view name) override { seen.emplace_back(name); }
    void launched(double) override {}
    std::vector<std::string> seen;
  } names;
  Devices devices(2);
  const Method& method = row_of("getrf/multi_gpu");
  const Inputs<double> inputs = make_inputs<double>(method.problem, {64, 64, 64}, MatrixKind::uniform);
  MethodRun<double> run(devices.context, method, Backend::emulated, parameters_of(method, 2), inputs.shape);
  run.upload(inputs);
  run.observed_run(names);
  const std::vector<std::string> step{"update_ahead", "panel", "transfer"};
  EXPECT_EQ(std::vector<std::string>(names.seen.begin() + 3, names.seen.begin() + 6), step);
}

}  // namespace
}  // namespace gaussweep
