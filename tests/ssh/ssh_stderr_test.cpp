// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_stderr.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::ssh {
namespace {

using namespace bridge;  // the words of loop.hpp

class SshStderrTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(from.data()), 0);
    ASSERT_EQ(::pipe(to.data()), 0);
    auto started = SshStderr::start(io, from[0], to[1], [this] { is_over = true; });
    ASSERT_TRUE(started);
    errors = std::move(*started);
  }
  void TearDown() override {
    errors.reset();
    if (from[1] >= 0) ::close(from[1]);
    ::close(to[0]);
  }
  void say(const std::string& text) const {
    ASSERT_EQ(::write(from[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end_source() { ::close(std::exchange(from[1], -1)); }
  bool until(const std::function<bool()>& holds) { return run_until(io, holds, std::chrono::seconds(10)); }
  /// All that came out, once the source has ended and all is over.
  std::string rest() {
    end_source();
    EXPECT_TRUE(until([&] { return is_over; }));
    errors.reset();
    std::string text(4096, '\0');
    const ssize_t got = ::read(to[0], text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

  boost::asio::io_context io;
  std::array<int, 2> from{};
  std::array<int, 2> to{};
  bool is_over = false;
  std::unique_ptr<SshStderr> errors;
};

TEST_F(SshStderrTest, PassOnWhatIsSaidBeforeTheLogin) {
  say("Password?");
  std::array<char, 16> seen{};
  EXPECT_TRUE(until([&] {
    pollfd readable{to[0], POLLIN, 0};
    return ::poll(&readable, 1, 0) == 1;
  }));
  EXPECT_EQ(::read(to[0], seen.data(), seen.size()), 9);
}

TEST_F(SshStderrTest, KeepWhatIsSaidAfterTheLoginUntilItIsTheUsers) {
  errors->hold();
  say("fatal: unrecognized command\n");
  errors->pass();
  EXPECT_EQ(rest(), "fatal: unrecognized command\n");
}

TEST_F(SshStderrTest, DropWhatIsNotForTheUser) {
  errors->hold();
  say("fatal: unrecognized command\n");
  errors->drop();
  say("and more\n");
  EXPECT_EQ(rest(), "");
}

TEST_F(SshStderrTest, KeepNoMoreThanTheirLimit) {
  errors->hold();
  const std::string line(1023, 'x');
  std::size_t said = 0;
  // A pipe holds no more than the limit: the rest comes when some has been passed on.
  std::thread reader([this] {
    std::array<char, 4096> piece{};
    for (std::size_t got = 0; got < 2 * SshStderr::kMaxHeldBytes;) {
      const ssize_t more = ::read(to[0], piece.data(), piece.size());
      if (more <= 0) return;
      got += static_cast<std::size_t>(more);
    }
  });
  std::thread writer([&] {
    for (; said < 2 * SshStderr::kMaxHeldBytes; said += line.size() + 1) say(line + '\n');
    end_source();
  });
  EXPECT_TRUE(until([&] { return is_over; }));
  writer.join();
  reader.join();
}

TEST_F(SshStderrTest, AreOverWhereAnotherHoldsTheSourceOpen) {
  errors->pass();
  say("last words\n");
  EXPECT_FALSE(run_until(
      io, [&] { return is_over; }, std::chrono::milliseconds(100)));
  errors->expect_no_more();
  EXPECT_TRUE(until([&] { return is_over; }));
}

TEST_F(SshStderrTest, AreOverWhereAnotherWritesForEverWhatIsDropped) {
  errors->hold();
  errors->drop();
  ASSERT_EQ(::fcntl(from[1], F_SETFL, O_NONBLOCK), 0);
  std::atomic<bool> is_enough = false;
  std::thread writer([&] {
    while (!is_enough) std::ignore = ::write(from[1], "lots", 4);
  });
  errors->expect_no_more();
  EXPECT_TRUE(is_over);
  is_enough = true;
  writer.join();
}

}  // namespace
}  // namespace udtcat::ssh
