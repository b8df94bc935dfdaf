// SPDX-License-Identifier: Apache-2.0
#include "files/whole_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "files/folder.hpp"

namespace udtcat::files {
namespace {

TEST(WholeIo, ReadsUpToTheEndOfTheFile) {
  const Folder folder;
  const bridge::Descriptor file(::open(folder.write("file", bytes_of("abcdef")).c_str(), O_RDONLY | O_CLOEXEC));
  Bytes into(4);
  EXPECT_EQ(read_whole(file, into, "file"), 4U);
  EXPECT_EQ(into, bytes_of("abcd"));
  EXPECT_EQ(read_whole(file, into, "file"), 2U);
  EXPECT_EQ(read_whole_at(file, 1, into, "file"), 4U);
  EXPECT_EQ(into, bytes_of("bcde"));
  EXPECT_EQ(read_whole_at(file, 6, into, "file"), 0U);
}

TEST(WholeIo, GoesOnWhereAPipeGivesLess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const bridge::Descriptor out(ends[0]);
  {
    const bridge::Descriptor in(ends[1]);
    EXPECT_TRUE(write_whole(in, bytes_of("ab"), "pipe"));
    EXPECT_TRUE(write_whole(in, bytes_of("c"), "pipe"));
  }
  Bytes into(4);
  EXPECT_EQ(read_whole(out, into, "pipe"), 3U);
}

TEST(WholeIo, NamesWhatItCouldNotDo) {
  const bridge::Descriptor directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Bytes into(4);
  EXPECT_EQ(read_whole(directory, into, "DIR").error().message(), "read DIR: is a directory");
  EXPECT_EQ(read_whole_at(directory, 0, into, "DIR").error().code, Errc::local_read_failed);
  const auto written = write_whole(directory, into, "DIR");
  EXPECT_EQ(written.error().code, Errc::local_write_failed);
  EXPECT_EQ(written.error().message(), "write DIR: bad file descriptor");
}

}  // namespace
}  // namespace udtcat::files
