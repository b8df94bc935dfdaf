// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/terminal_prompt.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <future>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace udtcat::tool {
namespace {

/// A terminal whose user the test is.
class TerminalPrompt : public testing::Test {
 protected:
  void SetUp() override {
    user_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(user_, 0);
    ASSERT_EQ(::grantpt(user_), 0);
    ASSERT_EQ(::unlockpt(user_), 0);
    std::array<char, 64> name{};
    ASSERT_EQ(::ptsname_r(user_, name.data(), name.size()), 0);
    terminal_ = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(terminal_, 0);
  }
  void TearDown() override {
    ::close(terminal_);
    ::close(user_);
  }

  /// The screen, as soon as `text` stands on it.
  void read_until(const std::string& text) {
    std::array<char, 256> piece{};
    while (screen_.find(text) == std::string::npos) {
      const ssize_t taken = ::read(user_, piece.data(), piece.size());
      ASSERT_GT(taken, 0);
      screen_.append(piece.data(), static_cast<std::size_t>(taken));
    }
  }
  void type(const std::string& text) const {
    ASSERT_EQ(::write(user_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] bool echoes() const {
    termios modes{};
    return ::tcgetattr(terminal_, &modes) == 0 && (modes.c_lflag & ECHO) != 0;
  }

  int user_ = -1;
  int terminal_ = -1;
  std::string screen_;
};

TEST_F(TerminalPrompt, TakesALineAndDoesNotShowIt) {
  auto answer = std::async(std::launch::async, [this] { return ask_without_echo(terminal_, "Key: "); });
  read_until("Key: ");
  EXPECT_FALSE(echoes());
  type("secret\n");
  const auto text = answer.get();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "secret");
  read_until("\n");
  EXPECT_EQ(screen_.find("secret"), std::string::npos);
  EXPECT_TRUE(echoes());
}

TEST_F(TerminalPrompt, EndsAtTheEndOfInput) {
  auto answer = std::async(std::launch::async, [this] { return ask_without_echo(terminal_, "Key: "); });
  read_until("Key: ");
  type("\x04");
  const auto text = answer.get();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "");
}

TEST_F(TerminalPrompt, RestoresTheTerminalBeforeASignalEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::ignore = ask_without_echo(terminal_, "Key: ");
    ::_exit(0);
  }
  read_until("Key: ");
  EXPECT_FALSE(echoes());
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_TRUE(echoes());
}

TEST_F(TerminalPrompt, RefusesWhatIsNoTerminal) {
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(ask_without_echo(file, "Key: "));
  ::close(file);
}

}  // namespace
}  // namespace udtcat::tool
