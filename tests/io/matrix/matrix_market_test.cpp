// Tests the reader and writer of Matrix Market files: every header, and the line of every mistake.
#include "io/matrix/matrix_market.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/matrix/matrix_limits.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
const std::string array = "%%MatrixMarket matrix array real general\n";

class MatrixMarket : public MatrixFolder {
 protected:
  Dense<double> read(const std::string& text) { return import_matrix(put("a.mtx", text)); }
  /// Returns the error of reading `text`, without the name of the file; "" if it succeeds.
  std::string failure(const std::string& text) {
    const std::filesystem::path path = put("a.mtx", text);
    const std::string message = failure_of([&] { import_matrix(path); });
    if (message.empty()) return {};
    EXPECT_THAT(message, StartsWith(path.string() + ":"));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message.substr(std::min(message.size(), path.string().size() + 1));
  }
};

TEST_F(MatrixMarket, CoordinateGeneral) {
  const Dense<double> a = read(coordinate + "2 3 3\n1 1 1.5\n2 3 -2e1\n1 2 +4\n");
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.cols, 3);
  EXPECT_THAT(a.data, ElementsAre(1.5, 0, 4, 0, 0, -20));
}

TEST_F(MatrixMarket, ArrayIsColumnMajor) {
  EXPECT_THAT(read(array + "2 3\n1\n2\n3\n4\n5\n6\n").data, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(MatrixMarket, SymmetricFilesStoreOneTriangle) {
  const std::string head = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_THAT(read(head + "2 2 2\n1 1 3\n2 1 5\n").data, ElementsAre(3, 5, 5, 0));
  EXPECT_THAT(read("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n").data,
              ElementsAre(1, 2, 3, 2, 4, 5, 3, 5, 6));
  EXPECT_THAT(read(head + "2 2 2\n1 1 3\n1 2 5\n").data, ElementsAre(3, 5, 5, 0));
  EXPECT_THAT(read("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n1 2 5\n").data,
              ElementsAre(0, 5, 5, 0));
  EXPECT_THAT(failure(head + "2 2 2\n2 1 5\n1 2 5\n"),
              StartsWith("4: a symmetric file stores one triangle; this entry is above the diagonal"));
  EXPECT_THAT(failure(head + "2 3 1\n1 1 5\n"), StartsWith("2: a symmetric matrix must be square"));
}

TEST_F(MatrixMarket, SkewSymmetricFilesHaveNoDiagonalOrZeros) {
  const std::string head = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
  EXPECT_THAT(read(head + "2 2 1\n2 1 5\n").data, ElementsAre(0, 5, -5, 0));
  EXPECT_THAT(read("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n").data,
              ElementsAre(0, 1, 2, -1, 0, 3, -2, -3, 0));
  EXPECT_THAT(read("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").data, ElementsAre(0));
  const std::string skew_array = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n";
  EXPECT_THAT(read(skew_array + "0\n1\n2\n0\n3\n0\n").data, ElementsAre(0, 1, 2, -1, 0, 3, -2, -3, 0));
  EXPECT_THAT(read("%%MatrixMarket matrix array real skew-symmetric\n1 1\n0\n").data, ElementsAre(0));
  EXPECT_THAT(failure(skew_array + "0\n1\n2\n4\n3\n0\n"),
              HasSubstr("the diagonal of a skew-symmetric matrix is zero"));
  EXPECT_THAT(failure(skew_array + "0\n1\n2\n4\n"), HasSubstr("the file ends after"));
  EXPECT_THAT(failure(skew_array + "0\n1\n2\n0\n3\n0\n0\n"), StartsWith("9: more entries"));
  EXPECT_THAT(read(head + "2 2 2\n1 1 0\n2 1 5\n").data, ElementsAre(0, 5, -5, 0));
  EXPECT_THAT(read(head + "2 2 1\n1 2 5\n").data, ElementsAre(0, -5, 5, 0));
  EXPECT_THAT(failure(head + "2 2 1\n2 2 5\n"),
              StartsWith("3: the diagonal of a skew-symmetric matrix is zero"));
  EXPECT_THAT(failure(head + "2 3 1\n2 1 5\n"), StartsWith("2: a skew-symmetric matrix must be square"));
}

TEST_F(MatrixMarket, SumsRepeatedEntries) {
  EXPECT_THAT(read(coordinate + "1 1 3\n1 1 1\n1 1 2\n1 1 4\n").data, ElementsAre(7));
  EXPECT_THAT(read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n2 1 2\n").data,
              ElementsAre(0, 3, 3, 0));
  EXPECT_THAT(failure(coordinate + "1 1 2\n1 1 1.7e308\n1 1 1.7e308\n"), StartsWith("4: "));
}

TEST_F(MatrixMarket, IntegersAreWholeAndExact) {
  const std::string head = "%%MatrixMarket matrix array integer general\n";
  EXPECT_THAT(read(head + "1 2\n-7\n9007199254740992\n").data, ElementsAre(-7, 9007199254740992.0));
  EXPECT_THAT(failure(head + "1 1\n1.5\n"), StartsWith("3: value: '1.5' is no integer"));
  EXPECT_THAT(read(head + "1 1\n9007199254740994\n").data, ElementsAre(9007199254740994.0));
  EXPECT_THAT(read("%%MatrixMarket matrix array unsigned-integer general\n1 1\n18446744073709549568\n").data,
              ElementsAre(18446744073709549568.0));
  for (const char* odd : {"9007199254740993", "-9007199254740993", "9007199254740993.0",
                          "9.007199254740993e15", "18446744073709551615"}) {
    EXPECT_THAT(failure(head + "1 1\n" + odd + "\n"), HasSubstr("is not exact as a double")) << odd;
  }
  EXPECT_THAT(read(head + "1 1\n-9007199254740992\n").data, ElementsAre(-9007199254740992.0));
  EXPECT_THAT(read("%%MatrixMarket matrix array integer hermitian\n2 2\n1\n2\n3\n").data,
              ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(
      failure("%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 9007199254740992\n1 1 1\n"),
      HasSubstr("is not exact as a double"));
}

TEST_F(MatrixMarket, AcceptsCommentsBlankLinesCarriageReturnsAndAnyCase) {
  EXPECT_THAT(read("%%MatrixMarket MATRIX Coordinate REAL General\r\n% a comment\r\n\r\n  % another\r\n"
                   " 2\t2  1 \r\n\r\n% between\r\n 2 1\t8 \r\n\r\n%")
                  .data,
              ElementsAre(0, 8, 0, 0));
  EXPECT_THAT(read(array + "1 1\n8").data, ElementsAre(8)) << "no line end at the end of the file";
  EXPECT_THAT(read(coordinate + "2 1 0\n").data, ElementsAre(0, 0)) << "no entries";
}

TEST_F(MatrixMarket, IsDetectedByContent) {
  EXPECT_THAT(import_matrix(put("a.h5", array + "1 1\n8\n")).data, ElementsAre(8));
  const MatrixInfo info =
      matrix_info(put("b.txt", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 4\n"));
  EXPECT_EQ(std::tuple(info.format, info.rows, info.stored_entries), std::tuple("matrix market", 3, 1));
  EXPECT_EQ(info.field, "integer");
  EXPECT_EQ(info.symmetry, "skew-symmetric");
}

TEST_F(MatrixMarket, PatternEntriesAreOnes) {
  const auto path =
      put("p.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n");
  EXPECT_THAT(import_matrix(path).data, testing::ElementsAre(1, 0, 1, 0, 0, 1, 1, 1, 0));
  EXPECT_EQ(matrix_info(path).field, "pattern");
}

TEST_F(MatrixMarket, RefusesUnsupportedHeaders) {
  const auto with = [&](const std::string& words) {
    return failure("%%MatrixMarket " + words + "\n2 2 1\n1 1 1\n");
  };
  EXPECT_THAT(with("matrix coordinate complex general"),
              StartsWith("1: field 'complex' is not supported; allowed: real"));
  EXPECT_THAT(with("matrix array pattern general"), StartsWith("1: a pattern needs the coordinate format"));
  EXPECT_THAT(with("matrix coordinate pattern general"),
              StartsWith("3: '1' follows the last value of the line"));
  EXPECT_THAT(with("matrix coordinate real lower"), StartsWith("1: symmetry 'lower' is not read"));
  EXPECT_THAT(with("matrix dense real general"), StartsWith("1: format 'dense'; allowed: coordinate, array"));
  EXPECT_THAT(with("vector coordinate real general"),
              HasSubstr("is no header; allowed: %%MatrixMarket matrix"));
  EXPECT_THAT(with("matrix coordinate real"), HasSubstr("is no header"));
  EXPECT_THAT(with("matrix coordinate real general twice"), HasSubstr("is no header"));
  EXPECT_THAT(failure("%%MatrixMarketmatrix coordinate real general\n"), HasSubstr("is no header"));
}

TEST_F(MatrixMarket, RefusesInvalidSizes) {
  EXPECT_THAT(failure(coordinate), HasSubstr("the line with the sizes is missing"));
  EXPECT_THAT(failure(coordinate + "% c\n0 2 0\n"), StartsWith("3: a matrix needs at least one row"));
  EXPECT_THAT(failure(coordinate + "2 -2 1\n"), StartsWith("2: a matrix needs"));
  EXPECT_THAT(failure(coordinate + "2 2\n"), StartsWith("2: entries: ''; allowed: a whole number"));
  EXPECT_THAT(failure(coordinate + "2 2 -1\n"), StartsWith("2: the number of entries is negative"));
  EXPECT_THAT(failure(coordinate + "2 2 1 1\n1 1 1\n"),
              StartsWith("2: '1' follows the last value of the line"));
  EXPECT_THAT(failure(array + "2 2 4\n"), StartsWith("2: '4' follows the last value"));
  EXPECT_THAT(failure(coordinate + "2.0 2 1\n"), StartsWith("2: rows: '2.0"));
  EXPECT_THAT(failure(coordinate + "99999999999999999999 2 1\n"), StartsWith("2: rows: '999"));
}

TEST_F(MatrixMarket, ReadErrorIsNotAShortFile) {
  // Linux lets a process open its own memory; reading at address 0 is an input/output error.
  EXPECT_THAT(failure_of([] {
                MatrixInfo info;
                read_matrix_market("/proc/self/mem", false, info);
              }),
              StartsWith("/proc/self/mem:0: the file cannot be read on: "));
}

TEST_F(MatrixMarket, RefusesLargeMatricesBeforeAllocating) {
  EXPECT_THAT(failure(coordinate + "46342 46342 1\n1 1 1\n"), HasSubstr("too large; allowed: "));
  EXPECT_THAT(failure(coordinate + "9000000000000000000 9000000000000000000 1\n1 1 1\n"),
              HasSubstr("too large"));
  EXPECT_THAT(failure(coordinate + "1 9000000000000000000 1\n1 1 1\n"), HasSubstr("too large"));
  EXPECT_THAT(failure(array + "40000 40000\n1\n"), HasSubstr("too short for the 1600000000 entries"));
  EXPECT_THAT(failure(coordinate + "40000 40000 1000000\n1 1 1\n"), HasSubstr("too short"));
  EXPECT_EQ(too_large(46341, 46341, std::numeric_limits<std::int64_t>::max()), "");
  EXPECT_THAT(too_large(1000, 1000, 7999999),
              HasSubstr("needs 8000000 bytes of memory; 7999999 are available"));
  EXPECT_EQ(too_large(1000, 1000, 8000000), "");
  EXPECT_GT(available_bytes(), 0);
}

TEST_F(MatrixMarket, NamesTheLineOfAWrongEntry) {
  const std::string head = coordinate + "2 2 2\n1 1 1\n";  // the second entry is in line 4
  EXPECT_THAT(failure(head), StartsWith("3: the file ends after 1 of 2 entries"));
  EXPECT_THAT(failure(head + "1 2 1\n2 2 1\n"), StartsWith("5: more entries than the 2 announced"));
  EXPECT_THAT(failure(head + "3 1 1\n"), StartsWith("4: entry (3, 1) is outside the 2 x 2 matrix"));
  EXPECT_THAT(failure(head + "0 1 1\n"),
              AllOf(StartsWith("4: entry (0, 1) is outside"), HasSubstr("begin at 1")));
  EXPECT_THAT(failure(head + "1 3 1\n"), StartsWith("4: entry (1, 3) is outside"));
  EXPECT_THAT(failure(head + "-1 1 1\n"), StartsWith("4: entry (-1, 1) is outside"));
  EXPECT_THAT(failure(head + "1 2\n"), StartsWith("4: value: ''"));
  EXPECT_THAT(failure(head + "1 2 1 1\n"), StartsWith("4: '1' follows the last value of the line"));
  EXPECT_THAT(failure(head + "1 x 1\n"), StartsWith("4: column: 'x 1'; allowed: a whole number"));
  EXPECT_THAT(failure(head + "1.0 1 1\n"), StartsWith("4: row: '1.0"));
  for (const char* value : {"nan", "inf", "-inf", "1e999", "-1e999", "x", "1x", "0x10", "1,5", "--1", "+-1",
                            "1d", "1d+", "1+", "d1"}) {
    EXPECT_THAT(failure(head + "1 2 " + value + "\n"), StartsWith("4: value: ")) << value;
  }
  EXPECT_THAT(failure(head + std::string("1 2 1\0 7\n", 9)), StartsWith("4: a NUL byte"));
  EXPECT_THAT(failure(head + "%" + std::string(100000, 'x') + "\n1 2 1\n"),
              StartsWith("4: the line is longer than"));
  EXPECT_THAT(failure(head + "1 2 \x1b[31m\n"), HasSubstr("'?[31m'"))
      << "no control characters reach the terminal";
}

TEST_F(MatrixMarket, ExponentsOfFortran) {
  EXPECT_THAT(read("%%MatrixMarket matrix array double general\n1 8\n"
                   "1.5D+02\n-2d1\n1.25-300\n+1.D0\n2Q2\n-2.5+102\n.5\n5.\n")
                  .data,
              ElementsAre(150, -20, 1.25e-300, 1, 200, -2.5e102, 0.5, 5));
  EXPECT_THAT(failure(array + "1 1\n1D999\n"), StartsWith("3: value: '1D999'"));
}

TEST_F(MatrixMarket, SignsBeforeIndicesAndBlanksBeforeTheBanner) {
  EXPECT_THAT(read(coordinate + "+1 +2 +1\n+1 +2 3\n").data, ElementsAre(0, 3));
  EXPECT_THAT(failure(coordinate + "1 1 1\n+-1 1 3\n"), StartsWith("3: row"));
  EXPECT_THAT(read("\n  " + array + "1 1\n3\n").data, ElementsAre(3));
  EXPECT_THAT(read("\xef\xbb\xbf" + array + "1 1\n3\n").data, ElementsAre(3));
}

TEST_F(MatrixMarket, InfoReadsTheWholeFile) {
  const auto info_failure = [&](const std::string& text) {
    return failure_of([&] { matrix_info(put("a.mtx", text)); });
  };
  EXPECT_EQ(info_failure(coordinate + "2 2 1\n1 1 1\n"), "");
  EXPECT_THAT(info_failure(coordinate + "2 2 2\n1 1 1\n3 1 1\n"),
              HasSubstr("a.mtx:4: entry (3, 1) is outside"));
  EXPECT_THAT(info_failure(array + "2 2\n1\n1\n1\n"), HasSubstr("a.mtx:5: the file ends after 3 of 4"));
}

TEST_F(MatrixMarket, UnderflowIsZero) {
  EXPECT_THAT(read(array + "1 2\n1e-999\n4.9e-324\n").data, ElementsAre(0, 4.9e-324));
}

TEST_F(MatrixMarket, ExportSurvivesARoundTripBitByBit) {
  const Dense<double> a{2, 3, {0.1, -1e308, 4.9e-324, 1.0 / 3, -0.0, 123456789.123456789}};
  const std::filesystem::path path = folder() / "out.mtx";
  export_matrix_market(path, a);
  const Dense<double> back = import_matrix(path);
  EXPECT_EQ(std::tuple(back.rows, back.cols, back.data), std::tuple(2, 3, a.data));
  EXPECT_TRUE(std::signbit(back.data[4]));
  EXPECT_THAT(file_text(path),
              StartsWith("%%MatrixMarket matrix array real general\n2 3\n0.10000000000000001\n"));
  EXPECT_EQ(entries(), 1u) << "no temporary is left";
}

TEST_F(MatrixMarket, FailedExportLeavesNothing) {
  const std::filesystem::path path = folder() / "out.mtx";
  EXPECT_THAT(failure_of([&] {
                export_matrix_market(path, {1, 1, {std::numeric_limits<double>::quiet_NaN()}});
              }),
              HasSubstr("NaN or Inf"));
  EXPECT_EQ(entries(), 0u);
  EXPECT_THROW(export_matrix_market(folder() / "absent" / "out.mtx", {1, 1, {1}}), StorageError);
}

TEST_F(MatrixMarket, ReadsARealMatrix) {
  const char* variable = std::getenv("GAUSSWEEP_SHARED_DATA");
  const std::filesystem::path data =
      variable != nullptr ? std::filesystem::path(variable) : source_folder() / "../shared/data";
  if (!std::filesystem::exists(data / "1138_bus.mtx")) {
    GTEST_SKIP() << "!!! NOT TESTED: no 1138_bus.mtx in " << data
                 << "; set GAUSSWEEP_SHARED_DATA to its folder !!!";
  }
  const Dense<double> a = import_matrix(data / "1138_bus.mtx");
  ASSERT_EQ(a.rows, 1138);
  ASSERT_EQ(a.cols, 1138);
  std::int64_t nonzero = 0, unequal = 0, diagonal = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double element = a.data[static_cast<std::size_t>(i + j * a.rows)];
      nonzero += element != 0;
      unequal += element != a.data[static_cast<std::size_t>(j + i * a.rows)];
      diagonal += i == j && element > 0;
    }
  }
  EXPECT_EQ(nonzero, 2 * 2596 - 1138);
  EXPECT_EQ(unequal, 0);
  EXPECT_EQ(diagonal, 1138);
  EXPECT_EQ(a.data[0], 1474.7790) << "the first entry of the file";
  EXPECT_EQ(matrix_info(data / "1138_bus.mtx").stored_entries, 2596);
}

}  // namespace
}  // namespace gaussweep::io
