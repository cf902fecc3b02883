// Tests that files and folders are opened without following links, waiting for FIFOs or reading devices.
#include "io/files/open_file.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "io/files/atomic_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

class OpenFile : public MatrixFolder {
 protected:
  void SetUp() override {
    put("file", "text");
    ASSERT_EQ(mkfifo((folder() / "fifo").c_str(), 0600), 0);
    std::filesystem::create_directory(folder() / "folder");
    std::filesystem::create_symlink("file", folder() / "link");
    std::filesystem::create_symlink("/dev/zero", folder() / "endless");
    std::filesystem::create_directory_symlink("folder", folder() / "link_to_folder");
    // The path is relative, because a socket's name has room for 107 bytes.
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder() / "socket").c_str());
    ASSERT_EQ(bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
};

// Opening a FIFO plainly would wait forever, and the test would time out.
TEST_F(OpenFile, OpensOnlyRegularFiles) {
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_APPEND}) {
    EXPECT_TRUE(open_regular(folder() / "file", flags));
    EXPECT_TRUE(open_regular(folder() / "link", flags));
    const auto why = [&](const char* name) { return open_regular(folder() / name, flags).why; };
    EXPECT_THAT(why("fifo"), HasSubstr("it is a FIFO, not a regular file"));
    EXPECT_THAT(why("folder"), HasSubstr("a directory"));
    EXPECT_THAT(why("socket"), HasSubstr("a socket"));
    EXPECT_THAT(why("endless"), HasSubstr("a device"));
    EXPECT_THAT(open_regular(folder() / "link", flags | O_NOFOLLOW).why, HasSubstr("it is a link"));
  }
  const Opened absent = open_regular(folder() / "absent");
  EXPECT_EQ(absent.error, ENOENT);
  EXPECT_FALSE(absent);
  EXPECT_THAT(absent.why, HasSubstr("No such file"));
}

TEST_F(OpenFile, DescriptorReadsTheFileThatWasOpened) {
  const Opened opened = open_regular(folder() / "file");
  std::filesystem::rename(folder() / "file", folder() / "moved");
  put("file", "another");
  EXPECT_EQ(file_text(opened.file.path()), "text");
}

TEST_F(OpenFile, HeldFolderIsNoLinkAndStaysTheSame) {
  for (const char* name : {"link_to_folder", "link_to_folder/"})
    EXPECT_THAT(open_folder(folder() / name).why, HasSubstr("it is a link; allowed: a folder"));
  EXPECT_FALSE(open_folder(folder() / "file"));
  EXPECT_EQ(open_folder(folder() / "absent").error, ENOENT);
  const Opened held = open_folder(folder() / "folder");
  ASSERT_TRUE(held);
  std::filesystem::rename(folder() / "folder", folder() / "moved");
  std::filesystem::create_directory(folder() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder() / "folder");
  AtomicFile file(held.file.fd(), folder() / "folder" / "new");
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(file_text(folder() / "moved" / "new"), "new");
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "elsewhere"));
}

TEST_F(OpenFile, ReplacesOnlyRegularFilesAndLinks) {
  for (const char* name : {"fifo", "socket", "folder"}) {
    struct stat before {
    }, after{};
    ASSERT_EQ(lstat((folder() / name).c_str(), &before), 0);
    EXPECT_THAT(message_of<StorageError>([&] { write_atomically(folder() / name, "new", 3); }),
                HasSubstr("only a regular file or a link is replaced"))
        << name;
    ASSERT_EQ(lstat((folder() / name).c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << name;
  }
  const std::size_t before = entries();
  for (const char* name : {"file", "endless"}) {
    write_atomically(folder() / name, "new", 3);
    EXPECT_EQ(file_text(folder() / name), "new");
  }
  EXPECT_EQ(entries(), before);
}

}  // namespace
}  // namespace gaussweep::io
