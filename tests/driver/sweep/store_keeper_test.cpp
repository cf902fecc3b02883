// Tests which stored matrices are removed to stay below the limit of the store.

#include "driver/sweep/store_keeper.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// A store whose files have only the right names and sizes.
class StoreKeeperTest : public ::testing::Test {
 protected:
  static std::string digest(int number) { return "d" + std::to_string(number); }
  static Trial trial(int number, std::int64_t n = 100) {
    Trial trial;
    trial.problem = Problem::named("gesv");
    trial.matrix.digest = digest(number);
    trial.shape.n = n;
    trial.shape.nrhs = 1;
    trial.matrix.spec.rows = trial.matrix.spec.cols = n;
    return trial;
  }
  static double size_of(const Trial& trial) {
    const std::int64_t n = trial.shape.n;
    return static_cast<double>(io::MatrixStore::estimated_bytes(n, n, 1, 8));
  }
  /// Stores the matrix as a worker does.
  void store(const Trial& trial) {
    if (trial.matrix.store) put(trial.matrix.digest, size_of(trial));
  }
  void put(const std::string& digest, double bytes) {
    std::ofstream(folder_ / (digest + ".h5")) << std::string(static_cast<std::size_t>(bytes), 'x');
  }
  std::vector<std::string> stored() const {
    std::vector<std::string> names;
    for (const auto& [digest, bytes] : io::MatrixStore(folder_).inventory()) names.push_back(digest);
    return names;
  }
  /// Admits a trial, stores its matrix if allowed, and releases it. @return true if the matrix was stored
  bool run(StoreKeeper& keeper, const Trial& trial) {
    Trial trial_for_worker = trial;
    keeper.admit(trial_for_worker);
    store(trial_for_worker);
    keeper.release(trial, true);
    return trial_for_worker.matrix.store;
  }
  io::MatrixStore files() const { return io::MatrixStore(folder_); }
  TestFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.folder();
};

TEST_F(StoreKeeperTest, KeepsEverythingWithoutALimit) {
  const std::vector<Trial> open = {trial(1), trial(2)};
  StoreKeeper keeper(files(), HUGE_VAL, open);
  for (const Trial& t : open) EXPECT_TRUE(run(keeper, t));
  EXPECT_THAT(stored(), ElementsAre("d1", "d2"));
  EXPECT_EQ(keeper.removed(), 0);
}

TEST_F(StoreKeeperTest, RemovesMatricesThatNoOpenTrialNeeds) {
  const std::vector<Trial> open = {trial(1), trial(2), trial(3), trial(1)};
  StoreKeeper keeper(files(), 2 * size_of(open[0]), open);
  EXPECT_TRUE(run(keeper, open[0]));
  EXPECT_TRUE(run(keeper, open[1]));
  EXPECT_TRUE(run(keeper, open[2]));
  EXPECT_THAT(stored(), ElementsAre("d1", "d3")) << "matrix 1 is needed once more, matrix 2 is not";
  EXPECT_LE(keeper.used(), 2 * size_of(open[0]));
  EXPECT_EQ(keeper.removed(), 1);
  EXPECT_EQ(keeper.refused(), 0);
}

TEST_F(StoreKeeperTest, NeverRemovesANeededMatrix) {
  const std::vector<Trial> open = {trial(1), trial(2), trial(1), trial(2)};
  StoreKeeper keeper(files(), size_of(open[0]), open);
  EXPECT_TRUE(run(keeper, open[0]));
  EXPECT_FALSE(run(keeper, open[1])) << "its matrix is not stored";
  EXPECT_THAT(stored(), ElementsAre("d1"));
  EXPECT_TRUE(run(keeper, open[2]));
  EXPECT_TRUE(run(keeper, open[3])) << "there is room now";
  EXPECT_THAT(stored(), ElementsAre("d2"));
  EXPECT_EQ(keeper.refused(), 1);
}

TEST_F(StoreKeeperTest, CountsRunningTrialsBeforeTheirMatrixIsWritten) {
  const std::vector<Trial> open = {trial(1), trial(2), trial(2)};
  StoreKeeper keeper(files(), size_of(open[0]), open);
  Trial first = open[0], second = open[1];
  keeper.admit(first);
  keeper.admit(second);
  EXPECT_TRUE(first.matrix.store);
  EXPECT_FALSE(second.matrix.store) << "the first will need the room";
  keeper.release(open[0], true);  // skipped or killed before it wrote its matrix
  keeper.release(open[1], false);
  EXPECT_EQ(keeper.used(), 0);
  EXPECT_TRUE(run(keeper, open[1]));
}

TEST_F(StoreKeeperTest, CountsAMatrixOfTwoRunningTrialsOnce) {
  const std::vector<Trial> open = {trial(1), trial(1), trial(2)};
  StoreKeeper keeper(files(), size_of(open[0]), open);
  Trial first = open[0], second = open[1];
  keeper.admit(first);
  keeper.admit(second);
  EXPECT_TRUE(first.matrix.store && second.matrix.store);
  keeper.release(open[0], true);  // the other trial is still writing
  EXPECT_EQ(keeper.used(), size_of(open[0]));
  Trial third = open[2];
  keeper.admit(third);
  EXPECT_FALSE(third.matrix.store);
  store(second);
  keeper.release(open[1], true);
  keeper.release(open[2], false);
  EXPECT_TRUE(run(keeper, open[2]));
  EXPECT_THAT(stored(), ElementsAre("d2"));
}

TEST_F(StoreKeeperTest, CountsMatricesThatAreWrittenAfterTheirTrial) {
  const std::vector<Trial> open = {trial(1), trial(2), trial(2), trial(3)};
  StoreKeeper keeper(files(), size_of(open[0]), open);
  Trial first = open[0], second = open[1];
  keeper.admit(first);
  keeper.note_writing(4, {digest(1)});
  keeper.release(open[0], true);
  EXPECT_EQ(keeper.used(), size_of(open[0]));
  keeper.admit(second);
  EXPECT_FALSE(second.matrix.store) << "a file that is being written cannot make room";
  store(first);
  keeper.note_writing(4, {});
  keeper.release(open[1], true);
  EXPECT_TRUE(run(keeper, open[2])) << "it is written now, and not needed";
  EXPECT_THAT(stored(), ElementsAre("d2"));
  Trial last = open[3];
  keeper.admit(last);
  keeper.note_writing(4, {digest(3), "of another run"});
  keeper.note_writing(5, {digest(3)});
  keeper.release(open[3], true);
  keeper.note_writing(4, {});  // the worker was killed before it wrote anything
  EXPECT_EQ(keeper.used(), size_of(open[0]));
  keeper.note_writing(5, {});
  EXPECT_EQ(keeper.used(), 0);
}

TEST_F(StoreKeeperTest, AMatrixLargerThanTheLimitRemovesNothing) {
  const std::vector<Trial> open = {trial(1), trial(2, 400)};
  StoreKeeper keeper(files(), 2 * size_of(open[0]), open);
  EXPECT_TRUE(run(keeper, open[0]));
  EXPECT_FALSE(run(keeper, open[1]));
  EXPECT_THAT(stored(), ElementsAre("d1"));
}

TEST_F(StoreKeeperTest, ResumeCountsTheExistingFiles) {
  const std::vector<Trial> open = {trial(1), trial(4)};
  const double size = size_of(open[0]);
  for (int number : {1, 2, 3}) put(digest(number), size);
  std::ofstream(folder_ / ".d1.h5.77-0.tmp") << "left by a killed worker";
  std::ofstream(folder_ / ".store.lock") << "";
  StoreKeeper keeper(files(), 2 * size, open);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2) << "within the limit at once";
  EXPECT_TRUE(run(keeper, open[1]));
  EXPECT_THAT(stored(), ElementsAre("d1", "d4"));
}

TEST_F(StoreKeeperTest, ALowerLimitKeepsNeededMatrices) {
  const std::vector<Trial> open = {trial(1), trial(2), trial(3)};
  for (int number : {1, 2}) put(digest(number), size_of(open[0]));
  StoreKeeper keeper(files(), size_of(open[0]), open);
  EXPECT_THAT(stored(), ElementsAre("d1", "d2"));
  EXPECT_FALSE(run(keeper, open[2]));
  EXPECT_TRUE(run(keeper, open[0])) << "a stored matrix is read";
  EXPECT_EQ(keeper.refused(), 1);
}

TEST_F(StoreKeeperTest, StoresNothingWithALimitOfZero) {
  const std::vector<Trial> open = {trial(1)};
  put(digest(2), 10);
  StoreKeeper keeper(files(), 0, open);
  EXPECT_FALSE(run(keeper, open[0]));
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(StoreKeeperTest, ShardsShareTheDefaultLimitOfTheDisk) {
  io::Plan plan;
  const double alone = store_limit_of("", plan, folder_, 1), shard = store_limit_of("", plan, folder_, 4);
  EXPECT_NEAR(shard / alone, 0.25, 0.05) << "other programs may use the disk in between";
  EXPECT_EQ(store_limit_of("1MiB", plan, folder_, 4), 1 << 20) << "a given limit is that of each shard";
  plan.store_limit = 4096;
  EXPECT_EQ(store_limit_of("", plan, folder_, 4), 4096);
}

TEST_F(StoreKeeperTest, CountsBothOperandsOfAProduct) {
  Trial product = trial(1);
  product.matrix_b = trial(2).matrix;
  Trial square = trial(3);
  square.matrix_b = square.matrix;
  StoreKeeper keeper(files(), size_of(product), {product, square});
  Trial trial_for_worker = product;
  keeper.admit(trial_for_worker);
  EXPECT_TRUE(trial_for_worker.matrix.store);
  EXPECT_FALSE(trial_for_worker.matrix_b->store);
  Trial other = square;
  keeper.admit(other);
  EXPECT_FALSE(other.matrix.store);
  EXPECT_FALSE(other.matrix_b->store) << "the same file";
  EXPECT_EQ(keeper.refused(), 2);
}

TEST_F(StoreKeeperTest, IgnoresMatricesThatAreNeverStored) {
  Trial never = trial(1);
  never.matrix.store = false;
  StoreKeeper keeper(files(), 0, {never});
  EXPECT_FALSE(run(keeper, never));
  EXPECT_EQ(keeper.refused(), 0);
}

}  // namespace
}  // namespace gaussweep::driver
