// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/unix_socket.hpp"

#include <filesystem>
#include <optional>
#include <thread>

#include "lib/bridge/loop.hpp"
#include "support/failing_calls.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::local::stream_protocol;

struct UnixSocketTest : ::testing::Test {
  std::error_code connect() {
    std::optional<std::error_code> outcome;
    const UnixConnect attempt(io, path, std::chrono::milliseconds(100),
                              [&](std::error_code error, stream_protocol::socket socket) {
                                outcome = error;
                                clients.push_back(std::move(socket));
                              });
    EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
    return outcome.value_or(std::error_code());
  }
  const test::TempDir dir;
  const std::string path = dir.path() / "s";
  boost::asio::io_context io;
  std::vector<stream_protocol::socket> clients;
};

TEST_F(UnixSocketTest, ReplacesASocketWithoutAListener) {
  std::ignore = bind_unix(io, path).value();  // closed, and left there
  EXPECT_EQ(connect(), std::errc::connection_refused);
  const auto again = bind_unix(io, path).value();
  EXPECT_FALSE(connect());
}

TEST_F(UnixSocketTest, FailsWhereSomebodyListens) {
  const auto first = bind_unix(io, path).value();
  EXPECT_EQ(bind_unix(io, path).error().message(), "listen at unix " + path + ": address already in use");
  EXPECT_FALSE(connect()) << "the first is still there";
}

TEST_F(UnixSocketTest, RemovesNoFile) {
  dir.write("s", "precious");
  EXPECT_EQ(bind_unix(io, path).error().code, Errc::cannot_bind);
  EXPECT_EQ(test::read_file(path), "precious");
}

TEST_F(UnixSocketTest, HasTheModeThatSaysWhoMayConnect) {
  const auto mine = bind_unix(io, path, 0600).value();
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
}

TEST_F(UnixSocketTest, IsLeftOverOnceNobodyListens) {
  {
    const auto listening = bind_unix(io, path).value();
    EXPECT_FALSE(is_left_over(path));
  }
  EXPECT_TRUE(is_left_over(path));
  EXPECT_FALSE(is_left_over(path + "-that-never-was"));
}

TEST_F(UnixSocketTest, SaysThatAPathIsTooLong) {
  EXPECT_EQ(bind_unix(io, std::string(108, 'x')).error().code, Errc::cannot_bind);
}

TEST_F(UnixSocketTest, FailsWhereTheBacklogStaysFull) {
  UnixAcceptor::Acceptor listening(io, stream_protocol::endpoint(path), false);
  listening.listen(0);
  EXPECT_FALSE(connect());
  EXPECT_EQ(connect(), std::errc::resource_unavailable_try_again);
}

TEST_F(UnixSocketTest, WaitsForRoomInTheBacklog) {
  UnixAcceptor::Acceptor listening(io, stream_protocol::endpoint(path), false);
  listening.listen(0);
  EXPECT_FALSE(connect());
  std::optional<std::error_code> outcome;
  const UnixConnect second(io, path, std::chrono::seconds(10),
                           [&](std::error_code error, const stream_protocol::socket&) { outcome = error; });
  run_ready(io);
  EXPECT_FALSE(outcome);
  const auto taken = listening.accept();
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_FALSE(*outcome);
}

TEST_F(UnixSocketTest, LeavesNoNameWhereItCannotListen) {
  std::thread([this] {
    test::fail_calls({SYS_listen}, EADDRINUSE);
    EXPECT_EQ(bind_unix(io, path).error().code, Errc::cannot_bind);
  }).join();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace udtcat::bridge
