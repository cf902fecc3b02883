// Tests PNG and PGM images: round trips, conversion to 8-bit grey, and damaged or large files.
#include "io/image/image.hpp"
#include "io/matrix/matrix_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

class Image : public MatrixFolder {
 protected:
  std::string failure(const std::string& bytes, std::int64_t most_pixels = 1000) {
    return failure_at(put("image", bytes), most_pixels);
  }
  static std::string failure_at(const std::filesystem::path& path, std::int64_t most_pixels = 1000) {
    const std::string message = failure_of([&] { read_image(path, most_pixels); });
    return message.empty() ? "no failure" : message;
  }
  static std::filesystem::path corpus(const std::string& name) {
    return source_folder() / "tests/fuzz/corpus/image" / name;
  }
};

TEST_F(Image, PngSurvivesARoundTrip) {
  GreyImage image{7, 5, {}};
  for (int p = 0; p < 35; ++p) image.pixels.push_back(static_cast<std::uint8_t>(7 * p));
  write_png(folder() / "a.png", image);
  std::vector<std::string> notices;
  const GreyImage back = read_image(folder() / "a.png", 35, &notices);
  EXPECT_EQ(std::tuple(back.width, back.height, back.pixels), std::tuple(7, 5, image.pixels));
  EXPECT_THAT(notices, IsEmpty());
  std::string digest;
  read_image(folder() / "a.png", 35, nullptr, &digest);
  EXPECT_EQ(digest, sha256_file(folder() / "a.png"));
}

TEST_F(Image, ConvertsOtherFormatsToGreyWithANotice) {
  std::vector<std::string> notices;
  EXPECT_THAT(read_image(corpus("grey.png"), 10).pixels, ElementsAre(0, 127, 255, 1, 2, 3));
  // Red has a luminance of 0.2126, which is grey level 127; half of white's luminance is level 188. The
  // library's rounding may differ by one.
  EXPECT_THAT(read_image(corpus("rgba.png"), 10, &notices).pixels,
              ElementsAre(testing::AnyOf(126, 127), testing::AnyOf(187, 188)));
  EXPECT_THAT(notices, ElementsAre(HasSubstr("grey"), HasSubstr("black")));
  EXPECT_THAT(read_image(corpus("grey16.png"), 10, &notices).pixels, ElementsAre(128, 255));
  EXPECT_THAT(notices.back(), HasSubstr("16-bit"));
  EXPECT_THAT(read_image(corpus("palette.png"), 10).pixels, ElementsAre(0, 255));
  EXPECT_THAT(read_image(corpus("plain.pgm"), 10, &notices).pixels, ElementsAre(0, 0, 128, 255, 255, 1));
  EXPECT_EQ(notices.back(), "levels 0 to 1000 were scaled to 0 to 255");
  EXPECT_THAT(read_image(corpus("binary.pgm"), 10).pixels, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
}

TEST_F(Image, RefusesOtherFiles) {
  EXPECT_THAT(failure_at(folder() / "no_such.png"), HasSubstr("No such file"));
  EXPECT_THAT(failure_at(folder()), HasSubstr("not a regular file"));
  EXPECT_THAT(failure(""), HasSubstr("neither PNG nor PGM"));
  EXPECT_THAT(failure("P6\n1 1\n255\nabc"), HasSubstr("neither PNG nor PGM"));
  EXPECT_THAT(failure_at(corpus("torn.png")), HasSubstr("damaged PNG"));
  EXPECT_THAT(failure_at(corpus("short16.pgm")), HasSubstr("damaged PGM"));
  EXPECT_THAT(failure("P5\n2 2\n255\nabc"), HasSubstr("damaged PGM"));
  EXPECT_THAT(failure("P2\n2 1\n7\n3 8\n"), HasSubstr("damaged PGM"));
  EXPECT_THAT(failure("P2\n2 1\n7\n3 x\n"), HasSubstr("damaged PGM"));
  EXPECT_THAT(failure("P5\n-2 1\n7\nab"), HasSubstr("damaged PGM"));
  EXPECT_THAT(failure_at(corpus("black.pgm")), HasSubstr("damaged PGM"));
}

TEST_F(Image, RefusesLargeImagesBeforeAllocating) {
  EXPECT_THAT(failure_at(corpus("liar.png")), HasSubstr("it is 3000 x 2000; allowed: 1 to 1000 pixels"));
  EXPECT_THAT(failure("P5\n40 30\n255\n"), HasSubstr("it is 40 x 30; allowed: 1 to 1000 pixels"));
  EXPECT_THAT(failure_at(corpus("huge.pgm")), HasSubstr("Cannot read the image"));
}

// A file that is cut off anywhere, or has a changed byte, gives an image or an InputError.
TEST_F(Image, DamageIsReportedOrHarmless) {
  GreyImage image{9, 9, std::vector<std::uint8_t>(81)};
  for (int p = 0; p < 81; ++p) image.pixels[static_cast<std::size_t>(p)] = static_cast<std::uint8_t>(p * p);
  write_png(folder() / "a.png", image);
  const std::string png = file_text(folder() / "a.png");
  const std::string pgm = file_text(corpus("binary.pgm"));
  for (const std::string& whole : {png, pgm}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      if (whole == png && length >= whole.size() - 12) continue;  // only the end marker is missing
      EXPECT_NE(failure(whole.substr(0, length)), "no failure") << length << " of " << whole.size();
    }
    for (std::size_t index = 0; index < whole.size(); ++index) {
      for (const char change : {'\x01', '\x80', '\xff'}) {
        std::string damaged = whole;
        damaged[index] = static_cast<char>(damaged[index] ^ change);
        try {
          const GreyImage read = read_image(put("image", damaged), 1000);
          EXPECT_EQ(static_cast<std::int64_t>(read.pixels.size()), read.width * read.height);
        } catch (const InputError&) {
        }
      }
    }
  }
}

TEST_F(Image, WriteIntoAMissingFolderFails) {
  EXPECT_THROW(write_png(folder() / "none" / "a.png", {1, 1, {0}}), StorageError);
}

}  // namespace
}  // namespace gaussweep::io
