// Tests the matrix store: files named by digests, written once by any number of processes, and never trusted.
#include "io/files/atomic_file.hpp"
#include "io/matrix/matrix_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

const std::string digest(64, 'a');

template <class T>
StoredMatrix<T> sample() {
  StoredMatrix<T> matrix;
  matrix.a = {2, 3, {1, 4, 2, 5, 3, 6}};
  matrix.b = {2, 1, {7, 8}};
  matrix.attributes = {
      {"kind", "uniform"}, {"precision", sizeof(T) == 4 ? "float" : "double"}, {"seed", "1"}};
  return matrix;
}

template <class T>
void expect_equal(const StoredMatrix<T>& x, const StoredMatrix<T>& y) {
  for (const auto member : {&StoredMatrix<T>::a, &StoredMatrix<T>::b, &StoredMatrix<T>::x_true}) {
    EXPECT_EQ((x.*member).rows, (y.*member).rows);
    EXPECT_EQ((x.*member).cols, (y.*member).cols);
    EXPECT_EQ((x.*member).data, (y.*member).data);
  }
}

template <class T>
SystemView<T> view(const StoredMatrix<T>& matrix) {
  return {matrix.a, matrix.b, matrix.x_true};
}

using Make = std::function<StoredMatrix<double>()>;

class MatrixStoreFiles : public MatrixFolder {
 protected:
  MatrixStore store() const { return MatrixStore(folder()); }
  /// Reads the matrix, or makes and stores it, as a worker does.
  static StoredMatrix<double> get(MatrixStore store, const std::string& digest, const Make& make,
                                  bool* was_made = nullptr) {
    StoredMatrix<double> matrix;
    const bool found = store.find(digest, matrix);
    if (was_made != nullptr) *was_made = !found;
    if (found) return matrix;
    matrix = make();
    EXPECT_TRUE(store.put(digest, view(matrix), matrix.attributes));
    return matrix;
  }
};

template <class T>
class MatrixOfType : public MatrixFolder {};
TYPED_TEST_SUITE(MatrixOfType, Precisions);

TYPED_TEST(MatrixOfType, RoundTrip) {
  using T = TypeParam;
  const std::filesystem::path path = this->folder() / "m.h5";
  const StoredMatrix<T> whole = sample<T>();
  write_matrix(path, whole);
  const StoredMatrix<T> back = read_matrix<T>(path);
  expect_equal(back, whole);
  for (const auto& [name, value] : whole.attributes) EXPECT_EQ(back.attributes.at(name), value);
  EXPECT_EQ(this->entries(), 1u) << "no temporary is left";
  using Other = std::conditional_t<sizeof(T) == 4, double, float>;
  EXPECT_THROW(read_matrix<Other>(path), InputError) << "another precision is another matrix";
}

TYPED_TEST(MatrixOfType, LargerThanAChunk) {
  using T = TypeParam;
  StoredMatrix<T> whole;
  whole.a = {700, 501, std::vector<T>(700 * 501)};
  for (std::size_t i = 0; i < whole.a.data.size(); ++i) whole.a.data[i] = static_cast<T>(i) / 3;
  whole.x_true = {700, 2, std::vector<T>(1400, T(1) / 7)};
  write_matrix(this->folder() / "m.h5", whole);
  expect_equal(read_matrix<T>(this->folder() / "m.h5"), whole);
}

TEST_F(MatrixStoreFiles, H5pyReadsThemAsDocumented) {
  write_matrix(folder() / "m.h5", sample<double>());
  EXPECT_EQ(run_python("tests/io/matrix/matrix_files.py", {"check", (folder() / "m.h5").string()}), "");
  EXPECT_EQ(import_matrix(folder() / "m.h5").data, sample<double>().a.data);
  const MatrixInfo info = matrix_info(folder() / "m.h5");
  EXPECT_EQ(info.format, "gaussweep");
  EXPECT_EQ(info.rows, 2);
  EXPECT_EQ(info.attributes.at("kind"), "uniform");
}

TEST_F(MatrixStoreFiles, EveryDamagedByteIsDetected) {
  const std::filesystem::path path = folder() / "m.h5";
  write_matrix(path, sample<double>());
  const std::string whole = file_text(path);
  for (std::size_t index = 0; index < whole.size(); index += 1 + whole.size() / 300) {
    std::string damaged = whole;
    damaged[index] = static_cast<char>(damaged[index] ^ 0x10);
    put("m.h5", damaged);
    EXPECT_THAT(failure_of([&] { read_matrix<double>(path); }), StartsWith(path.string()))
        << "byte " << index;
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    put("m.h5", whole.substr(0, length));
    EXPECT_NE(failure_of([&] { read_matrix<double>(path); }), "") << length;
  }
  put("m.h5", whole + "x");
  EXPECT_NE(failure_of([&] { read_matrix<double>(path); }), "");
  put("m.h5", whole);
  expect_equal(read_matrix<double>(path), sample<double>());
}

TEST_F(MatrixStoreFiles, MatrixIsGeneratedOnce) {
  int calls = 0;
  bool was_made = false;
  const Make make = [&] {
    ++calls;
    return sample<double>();
  };
  expect_equal(get(store(), digest, make, &was_made), sample<double>());
  EXPECT_TRUE(was_made);
  expect_equal(get(store(), digest, make, &was_made), sample<double>());
  EXPECT_FALSE(was_made);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(store().path_of(digest), folder() / (digest + ".h5"));
}

TEST_F(MatrixStoreFiles, ADamagedFileIsReplaced) {
  const Make make = [] { return sample<double>(); };
  get(store(), digest, make);
  const std::filesystem::path path = store().path_of(digest);
  const std::string whole = file_text(path);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& damaged :
       {flipped, whole.substr(0, whole.size() / 2), std::string(), std::string("junk")}) {
    put(digest + ".h5", damaged);
    bool was_made = false;
    expect_equal(get(store(), digest, make, &was_made), sample<double>());
    EXPECT_TRUE(was_made);
    expect_equal(read_matrix<double>(path), sample<double>());
  }
}

TEST_F(MatrixStoreFiles, AFileUnderAnotherNameIsReplaced) {
  const std::string other(64, 'b');
  const Make make = [] { return sample<double>(); };
  const Make make_other = [] {
    StoredMatrix<double> matrix = sample<double>();
    matrix.a.data.back() = 7;
    return matrix;
  };
  get(store(), digest, make);
  std::filesystem::copy_file(store().path_of(digest), store().path_of(other));
  bool was_made = false;
  EXPECT_EQ(get(store(), other, make_other, &was_made).a.data.back(), 7);
  EXPECT_TRUE(was_made);
  EXPECT_EQ(get(store(), other, make_other, &was_made).attributes.at("digest"), other);
  EXPECT_FALSE(was_made);
  write_matrix(store().path_of(other), sample<double>());  // intact, but without its digest
  EXPECT_EQ(get(store(), other, make_other, &was_made).a.data.back(), 7);
  EXPECT_TRUE(was_made);
}

TEST_F(MatrixStoreFiles, FollowsNoLinkAndWaitsForNoFifo) {
  const Make make = [] { return sample<double>(); };
  std::filesystem::create_directory(folder() / "elsewhere");
  const std::string target = MatrixStore(folder() / "elsewhere").path_of(digest);
  get(MatrixStore(folder() / "elsewhere"), digest, make);
  std::filesystem::create_directory_symlink("elsewhere", folder() / "matrices");
  MatrixStore linked(folder() / "matrices");
  for (const std::string& requested : {digest, std::string(64, 'b')}) {
    EXPECT_THAT(message_of<StorageError>([&] { get(linked, requested, make); }),
                HasSubstr("matrices/: cannot be opened: it is a link"));
  }
  EXPECT_THROW(linked.inventory(), StorageError);
  EXPECT_THROW(linked.remove(digest), StorageError);
  EXPECT_EQ(linked.bytes_of(digest), 0);
  put("elsewhere/x.lock", "");
  put("elsewhere/" + temporary_name("x", 123, 0), "");
  linked.tidy();
  remove_temporaries_of(123, folder() / "matrices");
  EXPECT_TRUE(std::filesystem::exists(folder() / "elsewhere/x.lock"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "elsewhere" / temporary_name("x", 123, 0)));
  EXPECT_TRUE(std::filesystem::exists(target));

  ASSERT_EQ(mkfifo((folder() / (digest + ".h5")).c_str(), 0600), 0);
  EXPECT_THROW(get(store(), digest, make), StorageError) << "the FIFO stays";
  std::filesystem::remove(folder() / (digest + ".h5"));
  std::filesystem::remove(folder() / ".store.lock");
  ASSERT_EQ(mkfifo((folder() / ".store.lock").c_str(), 0600), 0);
  EXPECT_THAT(message_of<StorageError>([&] { get(store(), digest, make); }),
              HasSubstr(".lock: it is a FIFO"));
}

TEST_F(MatrixStoreFiles, ExceptionBetweenBlocksLeavesNoFile) {
  const StoredMatrix<double> matrix = sample<double>();
  int blocks = 0;
  const auto broken = [&](WriteStep step) {
    if (step == WriteStep::block && ++blocks == 2) throw std::runtime_error("no");
  };
  EXPECT_THROW(store().put(digest, view(matrix), matrix.attributes, broken), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(store().path_of(digest)));
  EXPECT_EQ(entries(), 1u) << "only the lock file";
  EXPECT_TRUE(store().put(digest, view(matrix), matrix.attributes)) << "the exception released the lock";
}

TEST_F(MatrixStoreFiles, LongWriteCallsBackBetweenBlocks) {
  StoredMatrix<double> matrix;
  matrix.a = {2000, 2000, std::vector<double>(4000000, 0.25)};  // 32 MB
  int blocks = 0, waits = 0;
  const auto count = [&](WriteStep step) { ++(step == WriteStep::block ? blocks : waits); };
  EXPECT_TRUE(store().put(digest, view(matrix), {}, count));
  EXPECT_GE(blocks, 3) << "one for the lock, at least two for data";
  EXPECT_EQ(waits, 2) << "for the lock, and before the file gets its name";
  blocks = 0;
  EXPECT_FALSE(store().put(digest, view(matrix), {}, count)) << "it is stored";
  EXPECT_EQ(blocks, 1);
}

TEST_F(MatrixStoreFiles, ReadingReusesMemory) {
  get(store(), digest, [] { return sample<double>(); });
  StoredMatrix<double> matrix;
  matrix.a.data.resize(100);
  matrix.x_true = {1, 1, {5}};
  const double* memory = matrix.a.data.data();
  ASSERT_TRUE(store().find(digest, matrix));
  EXPECT_EQ(matrix.a.data.data(), memory);
  expect_equal(matrix, sample<double>());
}

TEST_F(MatrixStoreFiles, MalformedDigestsCannotNameAFileElsewhere) {
  const Make make = [] { return sample<double>(); };
  for (const std::string& name : {std::string("../x"), std::string("a/b"), std::string(), std::string("ABC"),
                                  std::string("/tmp/x"), std::string("a."), std::string(129, 'a')}) {
    EXPECT_THAT(failure_of([&] { get(store(), name, make); }), HasSubstr("hexadecimal digits")) << name;
  }
  EXPECT_NE(failure_of([&] { get(store(), std::string("a\0b", 3), make); }), "");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(MatrixStoreFiles, ManyProcessesStoreItOnce) {
  constexpr int processes = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(start([&] {
      const auto slowly = [](WriteStep) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
      const StoredMatrix<double> matrix = sample<double>();
      const bool wrote = store().put(digest, view(matrix), matrix.attributes, slowly);
      StoredMatrix<double> back;
      return store().find(digest, back) && back.a.data == matrix.a.data ? (wrote ? 1 : 0) : 2;
    }));
  }
  int writers = 0;
  for (const pid_t child : children) {
    const int status = status_of(child);
    EXPECT_LE(status, 1);
    writers += status;
  }
  EXPECT_EQ(writers, 1);
}

TEST_F(MatrixStoreFiles, TheLockEndsWithItsHolder) {
  const std::filesystem::path mark = folder() / "holding";
  const StoredMatrix<double> matrix = sample<double>();
  const pid_t holder = start([&] {
    store().put(digest, view(matrix), {}, [&](WriteStep) {
      std::ofstream(mark) << "x";
      for (;;) pause();
    });
    return 0;
  });
  for (int i = 0; i < 1000 && !std::filesystem::exists(mark); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(std::filesystem::exists(mark));
  kill(holder, SIGKILL);
  EXPECT_EQ(status_of(holder), 1000 + SIGKILL);
  StoredMatrix<double> back;
  EXPECT_FALSE(store().find(digest, back)) << "no partial file under the name";
  EXPECT_TRUE(store().put(digest, view(matrix), {}));
}

TEST_F(MatrixStoreFiles, TheInventoryHasMatricesOnly) {
  EXPECT_TRUE(MatrixStore(folder() / "absent").inventory().empty());
  const std::string other(64, 'b');
  write_matrix(store().path_of(digest), sample<double>());
  write_matrix(store().path_of(other), sample<float>());
  put("notes.txt", "x");
  put("notes.h5", "x");
  put("." + other + ".h5.123-0.tmp", "x");
  std::filesystem::create_symlink("/etc/hostname", folder() / (std::string(64, 'c') + ".h5"));
  const std::map<std::string, std::int64_t> found = store().inventory();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at(digest), static_cast<std::int64_t>(std::filesystem::file_size(store().path_of(digest))));
  EXPECT_EQ(store().bytes_of(digest), found.at(digest));
  store().remove(digest);
  EXPECT_EQ(store().bytes_of(digest), 0);
  store().remove(digest);  // removing it again is no error
  EXPECT_EQ(store().inventory().size(), 1u);
  EXPECT_THROW(store().remove("../etc"), InputError);
}

TEST_F(MatrixStoreFiles, RemovesFilesOfKilledWriters) {
  write_matrix(store().path_of(digest), sample<double>());
  const std::string leftover = temporary_name(store().path_of(digest), 123, 0);
  put(leftover, "x");
  put(temporary_name(store().path_of(digest), 124, 0), "x");
  put("." + digest + ".h5.a-host-elsewhere-123-0.tmp", "x");
  put(".store.lock", "");
  remove_temporaries_of(123, folder());
  EXPECT_FALSE(std::filesystem::exists(folder() / leftover));
  EXPECT_EQ(entries(), 4u) << "files of other processes stay, on this and other hosts";
  store().tidy();
  EXPECT_EQ(entries(), 1u);
  EXPECT_GT(store().bytes_of(digest), 0);
}

TEST_F(MatrixStoreFiles, PredictsTheFileSize) {
  for (const auto& [rows, cols, nrhs] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {6, 6, 1}, {500, 500, 3}, {1000, 700, 0}, {200, 1500, 0}}) {
    StoredMatrix<double> matrix;
    matrix.a = {rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols), 0.5)};
    if (nrhs > 0) {
      matrix.b = {rows, nrhs, std::vector<double>(static_cast<std::size_t>(rows * nrhs), 0.5)};
      matrix.x_true = matrix.b;
    }
    write_matrix(store().path_of(digest), matrix);
    const std::int64_t expected = MatrixStore::estimated_bytes(rows, cols, nrhs, sizeof(double));
    const std::int64_t found = store().bytes_of(digest);
    EXPECT_LE(found, expected) << rows << " x " << cols;
    EXPECT_LE(expected, found + 2 * found / 100 + (20 << 10)) << rows << " x " << cols;
  }
}

TEST_F(MatrixStoreFiles, FullDiskIsReportedAndLeavesNothing) {
  const pid_t child = start([&] {
    // A file size limit makes writing fail, as a full disk would.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    StoredMatrix<double> large;
    large.a = {400, 400, std::vector<double>(400 * 400, 1.5)};
    try {
      write_matrix(folder() / "m.h5", large);
    } catch (const StorageError& e) {
      return std::string(e.what()).find("m.h5") == std::string::npos ? 2 : 0;
    }
    return 1;
  });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_FALSE(std::filesystem::exists(folder() / "m.h5"));
  EXPECT_EQ(entries(), 0u);
  EXPECT_THROW(write_matrix(folder() / "absent" / "m.h5", sample<double>()), StorageError);
  const Make make = [] { return sample<double>(); };
  EXPECT_THROW(get(MatrixStore(folder() / "absent"), digest, make), StorageError);
}

}  // namespace
}  // namespace gaussweep::io
