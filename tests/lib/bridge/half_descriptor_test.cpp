// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/half_descriptor.hpp"

#include <climits>
#include <cstdlib>

#include <fcntl.h>

#include <boost/asio/ip/tcp.hpp>

#include <udtcat/units.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using State = IoResult::State;

TEST(HalfDescriptor, NeverWaitsForAPipe) {
  Ends pipe = make_pipe();
  const HalfDescriptor reading(pipe.read.release(), Half::read);
  const HalfDescriptor writing(pipe.write.release(), Half::write);
  Bytes into(1);
  ASSERT_TRUE(reading.never_waits());
  ASSERT_TRUE(writing.never_waits());
  EXPECT_EQ(reading.read_some(into).state, State::would_block);
  const Bytes much = random_bytes(8 * kMiB);
  EXPECT_LT(writing.write_some(much).bytes, much.size());
  EXPECT_EQ(writing.write_some(much).state, State::would_block);
}

TEST(HalfDescriptor, NeverWaitsForASocket) {
  auto [ours, theirs] = make_socket_pair();
  const HalfDescriptor half(ours.release(), Half::write);
  Bytes into(1);
  ASSERT_TRUE(half.never_waits());
  EXPECT_EQ(half.read_some(into).state, State::would_block);
  const Bytes much = random_bytes(8 * kMiB);
  while (half.write_some(much).state == State::moved) continue;
  EXPECT_EQ(half.write_some(much).state, State::would_block);
}

TEST(HalfDescriptor, WritesWhereItCouldWaitNoMoreThanPollPromises) {
  const HalfDescriptor half(::posix_openpt(O_RDWR | O_NOCTTY), Half::write);  // a terminal that cannot be opened again
  ASSERT_FALSE(half.never_waits());
  EXPECT_LE(half.write_some(random_bytes(2 * PIPE_BUF)).bytes, static_cast<std::size_t>(PIPE_BUF));
}

TEST(HalfDescriptor, WritesToADeviceInOneGo) {
  const HalfDescriptor half(::open("/dev/null", O_WRONLY), Half::write);
  EXPECT_EQ(half.write_some(random_bytes(2 * PIPE_BUF)).bytes, static_cast<std::size_t>(2 * PIPE_BUF));
}

TEST(HalfDescriptor, LeavesFilesToTheThread) {
  const HalfDescriptor half(::open("/proc/self/exe", O_RDONLY), Half::read);
  Bytes into(1);
  EXPECT_FALSE(half.read_now(into));
}

#ifdef __linux__
TEST(HalfDescriptor, NeedsNoSecondDescriptionOfADevice) {
  const HalfDescriptor half(::open("/dev/zero", O_RDWR), Half::read);
  ASSERT_FALSE(half.never_waits());
  Bytes into(100);
  ASSERT_TRUE(half.read_now(into));
  EXPECT_EQ(half.read_now(into)->bytes, 100U);
}
#endif

TEST(HalfDescriptor, LetsGoOfBothDescriptionsAtOnce) {
  Ends pipe = make_pipe();
  HalfDescriptor half(pipe.write.release(), Half::write);
  EXPECT_FALSE(half.close());
  EXPECT_TRUE(read_all(pipe.read.number()).empty());
}

TEST(HalfDescriptor, ResetsATcpSocketWhereItsCloseIsAFailure) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  tcp::socket client(io);
  client.connect(acceptor.local_endpoint());
  HalfDescriptor half(acceptor.accept().release(), Half::write);
  half.close_as_a_failure(true);
  EXPECT_FALSE(half.close());
  std::byte byte{};
  boost::system::error_code error;
  client.read_some(boost::asio::buffer(&byte, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace udtcat::bridge
