// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/descriptor.hpp"

#include <filesystem>
#include <tuple>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/ordinary_user.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::bridge {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

bool same_file(int number, const char* path) {
  struct stat a {};
  struct stat b {};
  return ::fstat(number, &a) == 0 && ::stat(path, &b) == 0 && a.st_rdev == b.st_rdev && a.st_ino == b.st_ino;
}

TEST(Descriptor, ClosesWhenDestroyed) {
  int number = -1;
  {
    const Ends pipe = make_pipe();
    number = pipe.read.number();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, ReportsTheErrorOfClose) { EXPECT_EQ(Descriptor(987'654).close(), std::errc::bad_file_descriptor); }

TEST(Descriptor, ReplacesAStandardDescriptor) {
  const Descriptor saved(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  ASSERT_TRUE(saved.is_open());
  Ends pipe = make_pipe();
  ASSERT_EQ(::dup2(pipe.read.number(), STDIN_FILENO), STDIN_FILENO);
  std::ignore = pipe.read.close();
  EXPECT_FALSE(Descriptor(STDIN_FILENO).close());
  EXPECT_TRUE(same_file(STDIN_FILENO, "/dev/null"));
  EXPECT_EQ(consumer_status(pipe.write.number(), DescriptorKind::fifo), std::error_code{});
  ::dup2(saved.number(), STDIN_FILENO);
}

TEST(DescriptorKind, IsToldApart) {
  const Ends pipe = make_pipe();
  const auto sockets = make_socket_pair();
  const Descriptor file(::open("/proc/self/exe", O_RDONLY));
  const Descriptor device(::open("/dev/null", O_RDWR));
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  EXPECT_EQ(kind_of(pipe.read.number()), DescriptorKind::fifo);
  EXPECT_EQ(kind_of(sockets.first.number()), DescriptorKind::socket);
  EXPECT_EQ(kind_of(file.number()), DescriptorKind::file);
  EXPECT_EQ(kind_of(device.number()), DescriptorKind::other);
  EXPECT_EQ(kind_of(master.number()), DescriptorKind::terminal);
  EXPECT_EQ(kind_of(-1), DescriptorKind::other);
}

TEST(ReopenNonBlocking, LeavesTheGivenDescriptionAsItIs) {
  const Ends pipe = make_pipe();
  const int before = ::fcntl(pipe.read.number(), F_GETFL);
  const Descriptor own = reopen_non_blocking(pipe.read.number(), DescriptorKind::fifo, Half::read);
  ASSERT_TRUE(own.is_open());
  EXPECT_NE(::fcntl(own.number(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(pipe.read.number(), F_GETFL), before);
}

TEST(ReopenNonBlocking, RefusesTheOtherHalfOfAPipe) {
  const Ends pipe = make_pipe();
  EXPECT_FALSE(reopen_non_blocking(pipe.write.number(), DescriptorKind::fifo, Half::read).is_open());
  EXPECT_FALSE(reopen_non_blocking(pipe.read.number(), DescriptorKind::fifo, Half::write).is_open());
}

TEST(ReopenNonBlocking, RefusesTheMasterOfATerminal) {
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  EXPECT_FALSE(reopen_non_blocking(master.number(), DescriptorKind::terminal, Half::read).is_open());
}

TEST(ConsumerStatus, FollowsTheReaderOfAPipe) {
  Ends pipe = make_pipe();
  const int number = pipe.write.number();
  EXPECT_EQ(consumer_status(number, DescriptorKind::fifo), std::error_code{});
  ASSERT_EQ(::write(number, "ab", 2), 2);
  EXPECT_EQ(consumer_status(number, DescriptorKind::fifo), std::nullopt);
  char byte = 0;
  ASSERT_EQ(::read(pipe.read.number(), &byte, 1), 1);
  EXPECT_EQ(consumer_status(number, DescriptorKind::fifo), std::nullopt);
  std::ignore = pipe.read.close();
  EXPECT_EQ(consumer_status(number, DescriptorKind::fifo), std::make_error_code(std::errc::broken_pipe));
}

TEST(ConsumerStatus, FollowsTheReaderOfAUnixSocket) {
  auto [ours, theirs] = make_socket_pair();
  ASSERT_EQ(::write(ours.number(), "a", 1), 1);
  EXPECT_EQ(consumer_status(ours.number(), DescriptorKind::socket), std::nullopt);
  char byte = 0;
  ASSERT_EQ(::read(theirs.number(), &byte, 1), 1);
  EXPECT_EQ(consumer_status(ours.number(), DescriptorKind::socket), std::error_code{});
  ASSERT_EQ(::write(ours.number(), "a", 1), 1);
  std::ignore = theirs.close();
  EXPECT_EQ(consumer_status(ours.number(), DescriptorKind::socket), std::make_error_code(std::errc::connection_reset));
}

TEST(SyncNames, SaysWhatTheSystemSaysButForADirectoryThatCannotBeSynced) {
  const test::TempDir folder;
  EXPECT_EQ(sync_names(AT_FDCWD, folder.path().c_str()), std::error_code{});
  const Descriptor directory(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(sync_names(directory.number(), "."), std::error_code{});
  EXPECT_EQ(sync_names(directory.number(), "none"), std::make_error_code(std::errc::no_such_file_or_directory));
  EXPECT_EQ(sync_names(AT_FDCWD, "/proc/self"), std::error_code{}) << "procfs has no fsync";
}

TEST(SyncNames, TakesADirectoryThatMayOnlyBeWrittenTo) {
  const test::TempDir folder;
  const std::filesystem::path inbox = folder / "inbox";
  std::filesystem::create_directory(inbox);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(inbox.c_str(), 0333), 0);
  const test::OrdinaryUser nobody;
  ASSERT_LT(::open(inbox.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
  EXPECT_EQ(sync_names(AT_FDCWD, inbox.c_str()), std::error_code{});
  EXPECT_EQ(sync_names(AT_FDCWD, (inbox / "none").c_str()), std::make_error_code(std::errc::no_such_file_or_directory));
}

TEST(ConsumerStatus, FollowsTheSystemOfATcpPeer) {
  boost::asio::io_context io;
  TcpPair pair(io);
  const int number = pair.ours.native_handle();
  pair.ours.non_blocking(true);
  const Bytes payload = random_bytes(65536);
  boost::system::error_code full;
  while (!full) pair.ours.write_some(boost::asio::buffer(payload), full);
  EXPECT_EQ(consumer_status(number, DescriptorKind::socket), std::nullopt) << "its buffers are full";
  auto consumed = read_all_in_background(pair.theirs.native_handle());
  ASSERT_EQ(::shutdown(number, SHUT_WR), 0);
  consumed.wait();
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  std::optional<std::error_code> verdict;
  while (!verdict && std::chrono::steady_clock::now() < deadline)
    verdict = consumer_status(number, DescriptorKind::socket);
  EXPECT_EQ(verdict, std::error_code{});
}

TEST(ConsumerStatus, FollowsATcpPeerThatResets) {
  boost::asio::io_context io;
  TcpPair pair(io);
  pair.ours.non_blocking(true);
  const Bytes payload = random_bytes(65536);
  boost::system::error_code full;
  while (!full) pair.ours.write_some(boost::asio::buffer(payload), full);
  pair.theirs.set_option(boost::asio::socket_base::linger(true, 0));
  pair.theirs.close();
  EXPECT_EQ(consumer_status(pair.ours.native_handle(), DescriptorKind::socket),
            std::make_error_code(std::errc::connection_reset));
}

}  // namespace
}  // namespace udtcat::bridge
