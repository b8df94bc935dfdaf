// SPDX-License-Identifier: Apache-2.0
#include "pipe/status_query.hpp"

#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include <gmock/gmock.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "support/run_until.hpp"
#include "support/temp_dir.hpp"
#include "tool/status/status_socket.hpp"

namespace udtcat::pipe {
namespace {

using namespace std::chrono_literals;
using boost::asio::local::stream_protocol;

TEST(StatusQuery, FindsTheLivingBehindMoreDeadThanAreAskedAtATime) {
  const test::TempDir folder;
  const tool::StatusRoots roots{folder / "run", folder / "users", folder / "tmp"};
  // Searched after the services.
  const std::string user = roots.users + "/1000/udtcat";
  std::filesystem::create_directories(user);
  std::filesystem::create_directory(roots.services);
  boost::asio::io_context io;
  for (std::size_t i = 0; i < 2 * tool::kMaxSocketsOfDirectory; ++i)
    const stream_protocol::acceptor killed(io, roots.services + "/" + std::to_string(i) + ".sock");
  tool::ProcessSnapshot snapshot;
  snapshot.what = "udtcat -l 9000";
  const auto living = tool::StatusSocket::open(io, user + "/living.sock", [&] { return snapshot; });
  ASSERT_TRUE(living) << living.error().message();
  auto asked = std::async(std::launch::async, [&] { return ask_host_for_status(roots); });
  EXPECT_TRUE(test::run_until(io, [&] { return asked.wait_for(0s) == std::future_status::ready; }));
  const auto answers = asked.get();
  EXPECT_THAT(answers, testing::Contains(testing::Field(&StatusAnswer::snapshot, testing::Truly([](const auto& each) {
                return each && each->what == "udtcat -l 9000";
              }))));
}

std::vector<StatusAnswer> asked_while(boost::asio::io_context& io, const std::string& place) {
  auto asked = std::async(std::launch::async, [&] { return ask_for_status({place}); });
  EXPECT_TRUE(test::run_until(io, [&] { return asked.wait_for(0s) == std::future_status::ready; }));
  return asked.get();
}

TEST(StatusQuery, OfAProcessThatEndsMeanwhileIsAsOfNone) {
  const test::TempDir folder;
  const std::string place = folder / "ends.sock";
  for (const bool leaves_its_socket : {false, true}) {
    boost::asio::io_context io;
    stream_protocol::acceptor ends(io, place);
    ends.async_accept([&](const boost::system::error_code&, const stream_protocol::socket&) {
      ends.close();
      if (!leaves_its_socket) std::filesystem::remove(place);
    });
    EXPECT_TRUE(asked_while(io, place).empty());
  }
  EXPECT_FALSE(std::filesystem::exists(place));
  EXPECT_TRUE(ask_for_status({place}).empty());
}

TEST(StatusQuery, OfAProcessThatHasEndedIsAsOfNoneEvenWhereItsSocketCannotBeRemoved) {
  const test::TempDir folder;
  boost::asio::io_context io;
  const std::string place = folder / "ended.sock";
  { const stream_protocol::acceptor ended(io, place); }
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);  // others may have put it there
  EXPECT_TRUE(ask_for_status({place}).empty());
  EXPECT_TRUE(std::filesystem::exists(place));
}

TEST(StatusQuery, IsNotAnsweredByAProcessThatClosesEachTime) {
  const test::TempDir folder;
  boost::asio::io_context io;
  const std::string place = folder / "closed.sock";
  stream_protocol::acceptor closes(io, place);
  std::function<void()> turn_away = [&] {
    closes.async_accept([&](const boost::system::error_code& error, const stream_protocol::socket&) {
      if (!error) turn_away();
    });
  };
  turn_away();
  const auto answers = asked_while(io, place);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_FALSE(answers[0].snapshot);
  EXPECT_EQ(answers[0].snapshot.error().code, Errc::peer_lost) << answers[0].snapshot.error().message();
}

TEST(StatusQuery, IsNotAnsweredInTimeByAProcessThatTakesNobody) {
  const test::TempDir folder;
  boost::asio::io_context io;
  const std::string place = folder / "stopped.sock";
  stream_protocol::acceptor stopped(io);
  stopped.open();
  stopped.bind(stream_protocol::endpoint(place));
  stopped.listen(0);
  stream_protocol::socket waiting(io);
  waiting.connect(stream_protocol::endpoint(place));  // and the backlog is full
  const auto answers = ask_for_status({place}, 50ms);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_FALSE(answers[0].snapshot);
  EXPECT_EQ(answers[0].snapshot.error().code, Errc::peer_lost) << answers[0].snapshot.error().message();
}

}  // namespace
}  // namespace udtcat::pipe
