// Tests SHA-256 against the examples of the standard, and the digests of files.
#include "io/matrix/matrix_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

class Sha256 : public MatrixFolder {};

TEST_F(Sha256, EqualsTheStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(Sha256, FileDigestIsThatOfItsBytes) {
  const std::string bytes = std::string("\0\n\r", 3) + std::string(3000000, 'x');
  EXPECT_EQ(sha256_file(put("f", bytes)), sha256(bytes));
  EXPECT_EQ(sha256_file(put("g", "")), sha256(""));
  EXPECT_THAT(failure_of([&] { sha256_file(folder() / "absent"); }), HasSubstr("No such file"));
  EXPECT_NE(failure_of([&] { sha256_file(folder()); }), "") << "a folder has no bytes";
}

}  // namespace
}  // namespace gaussweep::io
