// SPDX-License-Identifier: Apache-2.0
/// A key and a control connection in the clear, with somebody on it who rewrites what is said: our client, our server
/// and a stock one.
#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"
#include "e2e/support/line_relay.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kBytes = 5'000'000;

/// In the place of a verb another one, and its operands in front of the path.
LineRelay::Rewrite instead_of(const std::string& verb, const std::string& other) {
  return [=](const std::string& line) { return line.starts_with(verb) ? other + line.substr(verb.size()) : line; };
}
std::string as_it_is(const std::string& line) { return line; }

class GridftpClearControlTest : public GridftpTest {
 protected:
  void SetUp() override { serve({"--auth", "anonymous", "-k", key_file()}); }

  [[nodiscard]] static std::string at(const LineRelay& relay, const std::string& name) {
    return "ftp://127.0.0.1:" + std::to_string(relay.port()) + '/' + name;
  }
  [[nodiscard]] Ran protected_by_key(Arguments words) const {
    words.insert(words.begin() + 1, {"--clear-control", "-k", key_file()});
    return gridftp(std::move(words));
  }
  /// Fails, as against the rules, shows the statement, and leaves nothing.
  void expect_seen_through(const Ran& ran, const std::string& says) {
    EXPECT_EQ(ran.status, kTampered) << ran.errors;
    EXPECT_THAT(ran.errors, HasSubstr(says));
    for (const char* name : {"got", "got.part", "got.part.have"}) EXPECT_FALSE(std::filesystem::exists(here(name)));
  }

  const std::filesystem::path source_ = random_file("source", kBytes);
};

// ---- What is refused -----------------------------------------------------------------------------------------------

TEST_F(GridftpClearControlTest, IsRefusedUnlessSomebodyAskedForIt) {
  for (const Arguments& words : {Arguments{"get", "-k", key_file(), ours("source"), "got"},
                                 Arguments{"put", "-k", key_file(), source_, ours("x")},
                                 Arguments{"put", "--protect", "safe", source_, ours("x")},
                                 Arguments{"copy", "-k", key_file(), ours("source"), ours("x")},
                                 Arguments{"copy", "-k", key_file(), "udtcat://127.0.0.1/source", ours("x")}}) {
    const Ran ran = gridftp(words);
    EXPECT_EQ(ran.status, kRefused) << words[1] << ran.errors;
    EXPECT_THAT(ran.errors, AllOf(HasSubstr("udtcat://"), HasSubstr("--clear-control")));
  }
  const Ran by_environment = run({.argv = {UDTCAT_BINARY, "gridftp", "get", ours("source"), "got"},
                                  .environment = {"UDTCAT_KEY=" + key_},
                                  .working_directory = home_.path()});
  EXPECT_EQ(by_environment.status, kRefused) << by_environment.errors;
  EXPECT_FALSE(std::filesystem::exists(here("got")) || std::filesystem::exists(here("x")));
}

TEST_F(GridftpClearControlTest, IsAskedForOnlyWhereItMeansSomething) {
  EXPECT_EQ(gridftp({"get", "--clear-control", ours("source"), "got"}).status, kUsage) << "no key";
  EXPECT_EQ(gridftp({"get", "--clear-control", "-k", key_file(), "udtcat://host/x", "got"}).status, kUsage);
  EXPECT_EQ(gridftp({"serve", "--clear-control", "--root", "."}).status, kUsage);
}

// ---- What is proved ------------------------------------------------------------------------------------------------

TEST_F(GridftpClearControlTest, IsProvedInTheDataSessionWhereTheServerIsOurs) {
  for (const char* connections : {"1", "4"}) {
    const Ran down = protected_by_key({"get", "-p", connections, ours("source"), "got"});
    EXPECT_EQ(down.status, kSuccess) << down.errors;
    EXPECT_THAT(down.errors, HasSubstr("in the clear"));
    EXPECT_TRUE(read_file(here("got")) == read_file(source_));
    const Ran up = protected_by_key({"put", "-p", connections, source_, ours("put")});
    EXPECT_EQ(up.status, kSuccess) << up.errors;
    EXPECT_TRUE(read_file(here("put")) == read_file(source_));
  }
  const std::string content = read_file(source_);
  EXPECT_EQ(protected_by_key({"get", "--range", "1000-2000", ours("source"), "part"}).status, kSuccess);
  EXPECT_EQ(read_file(here("part")), content.substr(1000, 1000));
  const auto target = home_.write("target", std::string(kBytes, 'x'));
  EXPECT_EQ(protected_by_key({"put", "--range", "1000-2000", source_, ours("target")}).status, kSuccess);
  EXPECT_EQ(read_file(target).substr(1000, 1000), content.substr(1000, 1000));
  for (const char* verb : {"get", "put"}) {
    const Arguments files = *verb == 'g' ? Arguments{ours("source"), ours("part"), "many"}
                                         : Arguments{source_, here("part"), ours("many/")};
    std::filesystem::create_directory(here("many"));
    Arguments words{verb};
    words.insert(words.end(), files.begin(), files.end());
    const Ran ran = protected_by_key(words);
    EXPECT_EQ(ran.status, kSuccess) << ran.errors << "one statement after the other, on the same connections";
    EXPECT_TRUE(read_file(here("many/source")) == content);
    std::filesystem::remove_all(here("many"));
  }
}

TEST_F(GridftpClearControlTest, IsProvedForPipesToo) {
  const std::string words = " --clear-control -k " + key_file();
  const std::string get =
      std::string(UDTCAT_BINARY) + " gridftp get" + words + ' ' + ours("source") + " - | cmp - source";
  const std::string put = std::string("cat source | ") + UDTCAT_BINARY + " gridftp put" + words + " - " + ours("put");
  for (const std::string& line : {get, put}) {
    const Ran ran = run({.argv = {"bash", "-o", "pipefail", "-c", line}, .working_directory = home_.path()});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  }
  EXPECT_TRUE(read_file(here("put")) == read_file(source_));
}

TEST_F(GridftpClearControlTest, SeesThatAPartCameForTheWhole) {
  std::string asked;
  const LineRelay relay(
      serve_port_,
      [&](const std::string& line) {
        asked = line;
        return instead_of("RETR ", "ERET P 0 100000 ")(line);
      },
      [&](const std::string& line) { return asked.starts_with("SIZE") ? "213 100000\r\n" : line; });
  expect_seen_through(protected_by_key({"get", at(relay, "source"), "got"}), "sent 100000 bytes from 0 on of /source");
  expect_seen_through(protected_by_key({"get", "-p", "4", at(relay, "source"), "got"}), "which has 5000000");
}

TEST_F(GridftpClearControlTest, SeesThatAnotherPartCame) {
  const LineRelay relay(serve_port_, instead_of("ERET P 0 ", "ERET P 1000 "), as_it_is);
  expect_seen_through(protected_by_key({"get", "--range", "0-50000", at(relay, "source"), "got"}), "from 1000 on");
  const auto target = home_.write("target", std::string(kBytes, 'x'));
  const LineRelay moved(serve_port_, instead_of("ESTO A 0 ", "ESTO A 1000 "), as_it_is);
  expect_seen_through(protected_by_key({"put", "--range", "0-50000", source_, at(moved, "target")}), "from 1000 on");
}

TEST_F(GridftpClearControlTest, SeesThatAnotherFileCame) {
  home_.write("other", std::string(kBytes, 'x'));
  const LineRelay relay(serve_port_, instead_of("RETR /source", "RETR /other"), as_it_is);
  expect_seen_through(protected_by_key({"get", at(relay, "source"), "got"}), "on of /other");
}

TEST_F(GridftpClearControlTest, SeesThatAFileWentByAnotherNameEvenIfThatIsGone) {
  const LineRelay relay(serve_port_, instead_of("STOR /wanted", "STOR /other"), as_it_is);
  expect_seen_through(protected_by_key({"put", source_, at(relay, "wanted")}),
                      "published 5000000 bytes from 0 on of /other");
  // Gone before the client looks: and what the client looks at is what the man on the path says.
  std::string asked;
  const LineRelay thorough(
      serve_port_,
      [&](const std::string& line) {
        asked = line;
        if (line.starts_with("SIZE /wanted")) return std::string("DELE /other\r\n");
        return instead_of("STOR /wanted", "STOR /other")(line);
      },
      [&](const std::string& line) { return asked.starts_with("SIZE") ? "213 5000000\r\n" : line; });
  expect_seen_through(protected_by_key({"put", source_, at(thorough, "wanted")}), "of /other");
}

TEST_F(GridftpClearControlTest, SeesThatAFileWentIntoAnother) {
  home_.write("other", std::string(kBytes, 'x'));
  const LineRelay relay(serve_port_, instead_of("STOR /wanted", "ESTO A 10 /other"), as_it_is);
  expect_seen_through(protected_by_key({"put", source_, at(relay, "wanted")}), "stored in place");
}

TEST_F(GridftpClearControlTest, BelievesNoWordOfTheEndBeforeTheEnd) {
  // As if all had been sent; and nothing is.
  const LineRelay relay(
      serve_port_, [](const std::string& line) { return line.starts_with("RETR") ? "NOOP\r\n" : line; },
      [](const std::string& line) {
        return line.starts_with("200 Done") ? "226 Everything has been sent.\r\n" : line;
      });
  Process get =
      start_gridftp({"get", "--clear-control", "-k", key_file(), "--retries", "0", at(relay, "source"), "got"});
  EXPECT_FALSE(get.wait(patience(3s)) && std::filesystem::exists(here("got")));
  get.send_signal(SIGTERM);
  EXPECT_TRUE(get.wait(patience(30s)));
  EXPECT_FALSE(std::filesystem::exists(here("got")) || std::filesystem::exists(here("got.part")));
}

TEST_F(GridftpClearControlTest, GoesOnWithNothingThatIsUnproved) {
  const Arguments words{"get", "-v", "--clear-control", "-k", key_file(), ours("source"), "got"};
  // A rest as of an earlier transfer, of a file that somebody on the path chose.
  home_.write("got.part", std::string(kBytes, 'x'));
  const Ran first = gridftp(words);
  EXPECT_EQ(first.status, kSuccess) << first.errors;
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  const Ran time = run({.argv = {"date", "-u", "-r", source_, "+%Y%m%d%H%M%S"}});
  home_.write("got.part", std::string(kBytes, 'x'));
  home_.write("got.part.have", "udtcat restart 1\nboot " + boot + "of " + ours("source") + ' ' +
                                   std::to_string(kBytes) + ' ' + time.output + "have 0-4000000\n");
  const Ran again = gridftp(words);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_THAT(again.errors, AllOf(HasSubstr("going on with"), HasSubstr("once more, from the beginning")));
  EXPECT_TRUE(read_file(here("got")) == read_file(source_));
}

}  // namespace
}  // namespace udtcat::test::e2e
