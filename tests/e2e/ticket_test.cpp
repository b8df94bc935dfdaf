// SPDX-License-Identifier: Apache-2.0
/// Tickets (docs/spec/meet.md §9): a transfer by a meeting place between two ends of which none has a key.
#include <csignal>
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/trees_test.hpp"
#include "support/gateways.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class TicketTest : public UdtcatTest {
 protected:
  void SetUp() override { start_place({"--public"}); }

  void start_place(const Arguments& whom) {
    place_.reset();
    Arguments arguments{"meet", "-l", at()};
    arguments.insert(arguments.end(), whom.begin(), whom.end());
    place_.emplace(udtcat(std::move(arguments)));
    expect_says(*place_, "its ports are");
  }
  [[nodiscard]] std::string at() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] Process make(Arguments words, End end = {}) const {
    words.insert(words.end(), {"--via", at()});
    return udtcat(std::move(words), std::move(end));
  }
  /// The words of the command for the other host, without its first, that an end has printed.
  [[nodiscard]] static Arguments told_by(const Process& maker) {
    Arguments words;
    EXPECT_TRUE(eventually(kAtOnce, [&] {
      for (const std::string& line : maker.error_lines())
        if (line.starts_with("udtcat ")) {
          std::istringstream in(line);
          words.assign(std::istream_iterator<std::string>(in), {});
        }
      return words.size() > 1;
    })) << maker.errors();
    if (!words.empty()) words.erase(words.begin());
    return words;
  }
  [[nodiscard]] static std::string ticket_of(const Process& maker) {
    for (const std::string& word : told_by(maker))
      if (word.find("/udtcat1-") != std::string::npos) return word;
    ADD_FAILURE() << "no ticket: " << maker.errors();
    return "";
  }
  [[nodiscard]] std::filesystem::path photos() const {
    std::filesystem::create_directories(home_ / "photos/inner");
    write_random(home_ / "photos/one", 1, 3 * kMiB);
    write_random(home_ / "photos/inner/two", 2, 1000);
    return home_ / "photos";
  }

  std::optional<Process> place_;
};

TEST_F(TicketTest, CarriesAPipe) {
  const RandomFile file(1, 3 * kMiB);
  Consumer consumer;
  Process maker = make({}, {.in = open_for_reading(file.path())});
  const Arguments told = told_by(maker);
  ASSERT_EQ(told.size(), 2U) << maker.errors();
  EXPECT_TRUE(told.front().starts_with(at() + "/udtcat1-"));
  EXPECT_EQ(told.back(), "--recv-only") << "a file goes, and nothing has a place to come to";
  Process other = udtcat(told, {.out = consumer.take_stdout()});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_F(TicketTest, CarriesAPipeToTheEndThatMadeIt) {
  const RandomFile file(1, 3 * kMiB);
  Consumer consumer;
  Process maker = make({"--recv-only"}, {.out = consumer.take_stdout()});
  Arguments told = told_by(maker);
  EXPECT_EQ(told.back(), "--send-only");
  Process other = udtcat(told, {.in = open_for_reading(file.path())});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_F(TicketTest, CarriesFiles) {
  const auto source = photos();
  Process maker = make({"send", "photos"});
  Arguments told = told_by(maker);
  ASSERT_EQ(told.size(), 2U) << maker.errors();
  EXPECT_EQ(told.front(), "receive");
  told.emplace_back("in");
  Process other = udtcat(told);
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  expect_same(source, home_ / "in/photos");
}

TEST_F(TicketTest, CarriesFilesToTheEndThatMadeIt) {
  const auto source = photos();
  Process maker = make({"receive", "--into", "in"});
  Arguments told = told_by(maker);
  ASSERT_EQ(told.size(), 3U) << maker.errors();
  EXPECT_EQ(told[0], "send");
  Process other = udtcat({"send", "photos", told[2]});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  expect_same(source, home_ / "in/photos");
}

TEST_F(TicketTest, IsGoodForOneTransfer) {
  const auto source = photos();
  Process maker = make({"send", "photos"});
  const std::string ticket = ticket_of(maker);
  Process other = udtcat({"receive", ticket, "in"});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  Process late = udtcat({"receive", ticket, "again"});
  expect_exit(late, kUnreachable);
  EXPECT_THAT(late.errors(), HasSubstr("nobody waits there by this ticket (any more)"));
}

TEST_F(TicketTest, IsGoodForOneEnd) {
  Producer producer(1, 1000, Afterwards::keep_open);
  Consumer consumer;
  Process maker = make({}, {.in = producer.take_stdin()});
  const std::string ticket = ticket_of(maker);
  Process first = udtcat({ticket}, {.out = consumer.take_stdout()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return consumer.digest().bytes == 1000; })) << first.errors();
  Process second = udtcat({ticket});
  expect_exit(second, kUnreachable);
  EXPECT_THAT(second.errors(), HasSubstr("nobody waits there by this ticket (any more)"));
  Process status = udtcat({"status"}, {.out = open_for_writing(home_.write("status", ""))});
  expect_exit(status, kSuccess);
  EXPECT_THAT(read_file(home_ / "status"), HasSubstr("    selected pair: UDP, host "));
  EXPECT_THAT(read_file(home_ / "status"), Not(HasSubstr(ticket.substr(ticket.find("udtcat1-") + 8))));
  producer.end();
  expect_exit(first, kSuccess);
  expect_exit(maker, kSuccess);
}

TEST_F(TicketTest, OfFilesIsNotTakenForAPipesAndIsStillGoodThen) {
  const auto source = photos();
  Process maker = make({"send", "photos"});
  const std::string ticket = ticket_of(maker);
  Process pipe = udtcat({ticket});
  expect_exit(pipe, kRefused);
  Process other = udtcat({"receive", ticket, "in"});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
  expect_same(source, home_ / "in/photos");
}

TEST_F(TicketTest, DoesNotHaveTheKeyOfThePlace) {
  const auto file = home_.write("place.key", key_ + "\n");
  start_place({"-k", file.string()});
  const auto source = photos();
  Process maker = make({"send", "photos", "--via-key", file.string()});
  const Arguments told = told_by(maker);
  ASSERT_EQ(told.size(), 4U) << maker.errors();
  EXPECT_EQ(told[2], "--via-key");
  EXPECT_EQ(told[3], "FILE");
  EXPECT_THAT(maker.errors(), HasSubstr("FILE there has the key of " + at()));
  EXPECT_THAT(maker.errors(), Not(HasSubstr(key_)));
  Process without = udtcat({"receive", told[1], "in"});
  expect_exit(without, kRefused);
  Process other = udtcat({"receive", told[1], "in", "--via-key", file.string()});
  expect_exit(other, kSuccess);
  expect_exit(maker, kSuccess);
}

TEST_F(TicketTest, IsReadFromAPipeAndIsInNoCommandLine) {
  const RandomFile file(1, kMiB);
  Consumer consumer;
  Producer open(2, 0, Afterwards::keep_open);
  Process maker = make({}, {.in = open_for_reading(file.path())});
  const std::string ticket = ticket_of(maker);
  const auto where = home_.write("ticket", ticket + "\n");
  Process by_file =
      udtcat({"--ticket", "/dev/stdin", "--recv-only"}, {.in = open_for_reading(where), .out = consumer.take_stdout()});
  expect_exit(by_file, kSuccess);
  expect_exit(maker, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());

  Process as_argument = udtcat({ticket, "--connect-timeout", "30s"}, {.in = open.take_stdin()});
  const std::string secret = ticket.substr(ticket.find("udtcat1-") + 8);
  EXPECT_TRUE(eventually(kAtOnce, [&] { return as_argument.proc_file("cmdline").find("xxxx") != std::string::npos; }));
  EXPECT_EQ(as_argument.proc_file("cmdline").find(secret), std::string::npos);
  as_argument.send_signal(SIGTERM);
  expect_exit(as_argument, kTerminated);
}

TEST_F(TicketTest, IsMadeWhereThereIsNoKeyOrWhereItIsAskedFor) {
  Process with_key = make({"--connect-timeout", "3s"}, {.key = key_});
  expect_exit(with_key, kUnreachable);
  EXPECT_THAT(with_key.errors(), HasSubstr("nobody is registered"));
  Process asked_for = make({"--new-ticket", "--recv-only"}, {.key = key_});
  EXPECT_FALSE(ticket_of(asked_for).empty());
  EXPECT_THAT(asked_for.errors(), Not(HasSubstr(key_)));
  asked_for.send_signal(SIGINT);
  expect_exit(asked_for, kInterrupted);
}

TEST_F(TicketTest, LeadsNowhereInTime) {
  Process maker = make({"--accept-timeout", "1s", "--recv-only"});
  EXPECT_FALSE(ticket_of(maker).empty());
  expect_exit(maker, kUnreachable);
}

TEST_F(TicketTest, CutOrGarbledIsAUsageErrorThatQuotesNoKey) {
  const std::string ticket = at() + "/" + key_;
  for (const std::string& wrong :
       {ticket.substr(0, ticket.size() - 1), ticket.substr(0, at().size() + 2), ticket + "x", key_}) {
    for (const Arguments& words :
         {Arguments{wrong}, {"receive", wrong}, {"receive", wrong, "in"}, {"send", "f", wrong}}) {
      Process process = udtcat(words);
      expect_exit(process, kUsage, kAtOnce);
      EXPECT_THAT(process.errors(), HasSubstr("read a ticket: allowed: HOST:PORT/KEY"));
      EXPECT_THAT(process.errors(), Not(HasSubstr(key_.substr(8, 40))));
    }
  }
}

struct TicketGateways {
  Gateway maker;
  Gateway other;
  std::string remote_of_maker;  // kinds of candidates
  std::string remote_of_other;
};

class TicketBehindGateways : public testing::TestWithParam<TicketGateways> {};

TEST_P(TicketBehindGateways, CarriesFiles) {
  if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
  const TempDir home;
  const Gateways hosts(GetParam().maker, GetParam().other);
  const std::string script = R"(
    mkdir photos in; head -c 3000000 /dev/urandom > photos/one
    nsenter --net=$MIDDLE $UDTCAT meet -l 9000 --public 2> place.log & place=$!
    $UDTCAT send photos --via $PLACE --why 2> maker.log & maker=$!
    until ticket=$(grep -o '[^ ]*/udtcat1-[^ ]*' maker.log); do kill -0 $maker || exit 98; done
    nsenter --net=$OTHER $UDTCAT receive "$ticket" in --why --stats json; status=$?
    [ $status = 0 ] || { kill $maker; cat maker.log place.log >&2; }
    wait $maker || status=97
    kill -9 $place; wait $place 2> wait.log
    cmp photos/one in/photos/one >&2 || status=99
    sed 's/^/maker: /' maker.log >&2
    exit $status)";
  const Ran ran =
      run({.argv = {"bash", "-c", script},
           .environment = {"HOME=" + home.path().string(), "UDTCAT=" UDTCAT_BINARY, "PLACE=" + hosts.middle_host().ipv4,
                           "OTHER=" + hosts.far_host().file.string(), "MIDDLE=" + hosts.middle_host().file.string()},
           .working_directory = home.path(),
           .network_namespace = hosts.near_host().file},
          patience(std::chrono::seconds(60)));
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.errors, ContainsRegex("; selected pair: UDP, host [^ ]* to " + GetParam().remote_of_other + " "));
  EXPECT_THAT(ran.errors, HasSubstr("\"remote\":\"" + GetParam().remote_of_other + "\""));
  EXPECT_THAT(ran.errors,
              ContainsRegex("maker: .*; selected pair: UDP, host [^ ]* to " + GetParam().remote_of_maker + " "));
}

INSTANTIATE_TEST_SUITE_P(
    Of, TicketBehindGateways,
    testing::Values(TicketGateways{Gateway::stateful, Gateway::masquerading, "server-reflexive", "host"},
                    TicketGateways{Gateway::masquerading, Gateway::stateful, "host", "server-reflexive"},
                    TicketGateways{Gateway::random, Gateway::random, "relayed", "relayed"}),
    [](const auto& its) { return name_of(its.param.maker) + "To" + name_of(its.param.other); });

}  // namespace
}  // namespace udtcat::test::e2e
