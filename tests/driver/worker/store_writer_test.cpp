// Tests the thread that stores matrices in the background.

#include "driver/worker/store_writer.hpp"

#include "driver/worker/inputs.hpp"
#include "io/files/errors.hpp"
#include "kernels/device/context.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

class Writer : public ::testing::Test {
 protected:
  /// Returns a matrix of 8 n^2 bytes.
  static std::shared_ptr<io::Dense<double>> matrix(std::int64_t n) {
    auto dense = std::make_shared<io::Dense<double>>();
    *dense = {n, n, std::vector<double>(static_cast<std::size_t>(n * n), 0.5)};
    return dense;
  }
  void put(StoreWriter& writer, const std::string& digest, const std::shared_ptr<io::Dense<double>>& a) {
    writer.put<double>(digest, {*a, {}, {}}, {{"kind", "uniform"}}, a);
  }
  void finish(StoreWriter& writer) {
    writer.finish([] {});
  }
  std::size_t files() const { return io::MatrixStore(folder_).inventory().size(); }
  TestFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.folder();
};

TEST_F(Writer, StoresAndReads) {
  StoreWriter writer{io::MatrixStore(folder_)};
  io::StoredMatrix<double> back;
  EXPECT_FALSE(writer.find("a1", back));
  put(writer, "a1", matrix(10));
  put(writer, "a2", matrix(300));
  put(writer, "a2", matrix(300));  // a queued matrix is not queued twice
  finish(writer);
  EXPECT_THAT(writer.writing(), IsEmpty());
  EXPECT_EQ(files(), 2u);
  ASSERT_TRUE(writer.find("a2", back));
  EXPECT_EQ(back.a.data, matrix(300)->data);
  EXPECT_EQ(back.attributes.at("kind"), "uniform");
}

TEST_F(Writer, WritesNothingWhilePaused) {
  StoreWriter writer{io::MatrixStore(folder_)};
  auto owner = matrix(200);
  {
    const StoreWriter::Pause pause(writer), another(writer);
    put(writer, "a1", owner);
    put(writer, "a2", owner);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(files(), 0u);
    EXPECT_THAT(writer.writing(), ElementsAre("a1", "a2"));
  }
  finish(writer);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(owner.use_count(), 1) << "stored matrices are released";
}

TEST_F(Writer, PausesInTheMiddleOfALongWrite) {
  StoreWriter writer{io::MatrixStore(folder_)};
  put(writer, "a1", matrix(4000));  // 128 MB: several blocks
  int pauses = 0;
  while (!writer.writing().empty()) {
    const StoreWriter::Pause pause(writer);
    ++pauses;
    // HDF5 may be used here, because the writer is paused.
    io::StoredMatrix<double> none;
    EXPECT_FALSE(io::MatrixStore(folder_).find("ff", none));
  }
  EXPECT_GE(pauses, 2);
  finish(writer);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, PauseMayBeAwaitedLater) {
  StoreWriter writer{io::MatrixStore(folder_)};
  put(writer, "a1", matrix(4000));
  {
    StoreWriter::Pause pause(writer, 0);
    put(writer, "a2", matrix(10));
    pause.wait_until_paused();
    const std::size_t files_before = files();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(files(), files_before);
    EXPECT_THAT(writer.writing(), Contains("a2"));
    pause.wait_until_paused(0);  // returns immediately: the writer is already paused
  }
  finish(writer);
  EXPECT_EQ(files(), 2u);
}

TEST_F(Writer, HasRoomForTwoOfTheLargestPlusOneGibibyte) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  StoreWriter writer{io::MatrixStore(folder_)};
  EXPECT_TRUE(writer.has_room(100 * gib, gib)) << "nothing is queued";
  const StoreWriter::Pause pause(writer);
  put(writer, "a1", matrix(100));  // 80,000 bytes
  EXPECT_TRUE(writer.has_room(2 * gib, gib));
  EXPECT_TRUE(writer.has_room(3 * gib - 80000, gib));
  EXPECT_FALSE(writer.has_room(3 * gib - 79999, gib));
  EXPECT_FALSE(writer.has_room(5 * gib, gib));
  EXPECT_TRUE(writer.has_room(5 * gib, 3 * gib)) << "a larger matrix";
  EXPECT_TRUE(writer.has_room(5 * gib, gib)) << "and it is remembered";
}

TEST_F(Writer, ReportsAFailureOnceAndWritesNothingMore) {
  StoreWriter writer{io::MatrixStore(folder_ / "absent")};
  put(writer, "a1", matrix(10));
  EXPECT_THROW(finish(writer), io::StorageError);
  EXPECT_THAT(message_of<io::StorageError>([&] { writer.rethrow(); }), HasSubstr("absent"));
  EXPECT_THROW(put(writer, "a2", matrix(10)), io::StorageError);
  EXPECT_THAT(writer.writing(), ElementsAre("a1")) << "it must not count as stored";
  writer.make_room(std::size_t{1} << 40, 1);  // does not block, though the matrix will never be written
}

TEST_F(Writer, LeavesNoPartialFile) {
  testing::internal::CaptureStderr();
  {
    StoreWriter writer{io::MatrixStore(folder_)};
    const StoreWriter::Pause pause(writer);
    put(writer, "a1", matrix(100));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the matrix a1 was not stored"));
  EXPECT_EQ(files(), 0u);
  {
    StoreWriter writer{io::MatrixStore(folder_)};
    put(writer, "a1", matrix(4000));
  }  // ends the writer before or during the write
  io::MatrixStore(folder_).tidy();
  EXPECT_LE(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

class SharedMatrix : public Writer {
 protected:
  static Trial trial(Problem problem, MatrixKind kind = MatrixKind::uniform) {
    Trial trial;
    trial.problem = problem;
    trial.precision = Precision::float64;
    trial.shape = {n, n, n, 1, Uplo::lower};
    trial.matrix.kind = to_string(kind);
    trial.matrix.spec.kind = kind;
    trial.matrix.spec.rows = trial.matrix.spec.cols = n;
    trial.matrix.digest = "ab";
    trial.matrix.store = true;
    return trial;
  }
  std::shared_ptr<Prepared<double>> prepare(const Trial& trial, std::shared_ptr<Prepared<double>> held = {}) {
    return prepare_inputs<double>(context_, writer_, trial, std::move(held));
  }
  static constexpr std::int64_t n = 30;
  const std::unique_ptr<Device> device_ = make_host_device(Backend::host, nullptr);
  Context context_{*device_};
  StoreWriter writer_{io::MatrixStore(folder_)};
};

TEST_F(SharedMatrix, ServesTheNextProblemWithoutBeingReadAgain) {
  auto held = prepare(trial(Problem::named("geinv")));
  EXPECT_GE(held->generate_seconds, 0);
  EXPECT_TRUE(held->inputs.b.empty());
  const HostMatrix<double> a = held->inputs.a;
  const double* place = held->inputs.a.data.data();
  held = prepare(trial(Problem::named("gesv")), std::move(held));
  EXPECT_EQ(held->inputs.a.data.data(), place);
  EXPECT_TRUE(std::isnan(held->generate_seconds) && std::isnan(held->load_seconds));
  const auto fresh = prepare(trial(Problem::named("gesv")));
  EXPECT_EQ(held->inputs.b.data, fresh->inputs.b.data);
  EXPECT_EQ(held->inputs.x_true.data, fresh->inputs.x_true.data);
  EXPECT_EQ(held->identity, fresh->identity);
  held = prepare(trial(Problem::named("getrf")), std::move(held));
  EXPECT_EQ(held->inputs.a.data, a.data);
  EXPECT_TRUE(held->inputs.b.empty());
}

TEST_F(SharedMatrix, TriangleOfItIsAnotherMatrixAndNeverStored) {
  // delays the write; the writer reads the matrix only when it writes it
  const StoreWriter::Pause pause(writer_);
  auto held = prepare(trial(Problem::named("trtri")));
  EXPECT_EQ(held->inputs.a(0, n - 1), 0);
  held = prepare(trial(Problem::named("gesv")), std::move(held));
  EXPECT_NE(held->inputs.a(0, n - 1), 0);
  held = prepare(trial(Problem::named("trsv")), std::move(held));
  EXPECT_EQ(held->inputs.a(0, n - 1), 0);
  EXPECT_EQ(writer_.writing().size(), 1u);
}

TEST_F(SharedMatrix, IsStoredWhole) {
  auto held = prepare(trial(Problem::named("trtri")));
  finish(writer_);
  held = prepare(trial(Problem::named("trsv")), std::move(held));
  io::StoredMatrix<double> stored;
  ASSERT_TRUE(writer_.find("ab", stored));
  EXPECT_NE(stored.a.data.at(n), 0) << "the triangle that trtri ignores";
  EXPECT_EQ(stored.b.rows, n);
  const auto read = prepare(trial(Problem::named("gesv")));
  EXPECT_GE(read->load_seconds, 0);
  EXPECT_EQ(read->inputs.a.data, stored.a.data);
}

TEST_F(SharedMatrix, TriangularKindUsesTheStoredRightHandSide) {
  const auto made = prepare(trial(Problem::named("trsv"), MatrixKind::triangular));
  finish(writer_);
  const auto read = prepare(trial(Problem::named("trsv"), MatrixKind::triangular));
  EXPECT_GE(read->load_seconds, 0);
  EXPECT_EQ(read->inputs.b.data, made->inputs.b.data);
  EXPECT_EQ(read->inputs.a.data, made->inputs.a.data);
}

TEST_F(SharedMatrix, IsStoredWhenALaterTrialAllowsIt) {
  Trial first = trial(Problem::named("geinv"));
  first.matrix.store = false;
  auto held = prepare(first);
  finish(writer_);
  EXPECT_EQ(files(), 0u);
  held = prepare(trial(Problem::named("gesv")), std::move(held));
  finish(writer_);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SharedMatrix, IsReplacedIfTheStoredOneHasAnotherShape) {
  const auto made = prepare(trial(Problem::named("gesv")));
  finish(writer_);
  io::MatrixStore store(folder_);
  io::StoredMatrix<double> whole;
  ASSERT_TRUE(store.find("ab", whole));
  const io::Dense<double> small{2, 2, {1, 2, 3, 4}};
  for (const io::SystemView<double>& wrong :
       {io::SystemView<double>{small, {}, {}}, io::SystemView<double>{whole.a, small, whole.x_true},
        io::SystemView<double>{whole.a, {}, {}}}) {
    store.remove("ab");
    ASSERT_TRUE(store.put<double>("ab", wrong, {}));
    const auto again = prepare(trial(Problem::named("gesv")));
    EXPECT_EQ(again->inputs.a.data, made->inputs.a.data);
    EXPECT_EQ(again->inputs.b.data, made->inputs.b.data);
    finish(writer_);
    io::StoredMatrix<double> stored;
    ASSERT_TRUE(store.find("ab", stored));
    EXPECT_EQ(stored.a.data, whole.a.data);
    EXPECT_EQ(stored.b.data, whole.b.data);
  }
}

TEST_F(SharedMatrix, BothOperandsOfAProductAreStoredUnchanged) {
  Trial product = trial(Problem::named("gemm"));
  product.matrix_b = product.matrix;
  product.matrix_b->digest = "cd";
  product.matrix_b->spec.seed = 7;
  auto held = prepare(product);
  const HostMatrix<double> b = held->inputs.b;
  held = prepare(trial(Problem::named("gesv")), std::move(held));
  finish(writer_);
  io::StoredMatrix<double> stored;
  ASSERT_TRUE(writer_.find("cd", stored));
  EXPECT_EQ(stored.a.data, b.data);
  ASSERT_TRUE(writer_.find("ab", stored));
  EXPECT_EQ(stored.a.data, held->inputs.a.data);
}

}  // namespace
}  // namespace gaussweep::driver
