// SPDX-License-Identifier: Apache-2.0
#include "pipe/status_query.hpp"

#include <filesystem>
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
  for (std::size_t i = 0; i < 2 * tool::kMaxStatusSockets; ++i)
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

TEST(StatusQuery, OfAProcessThatEndsMeanwhileIsAsOfNone) {
  const test::TempDir folder;
  boost::asio::io_context io;
  const std::string place = folder / "ends.sock";
  stream_protocol::acceptor ends(io, place);
  ends.async_accept([](const boost::system::error_code&, const stream_protocol::socket&) {});
  auto asked = std::async(std::launch::async, [&] { return ask_for_status({place}); });
  EXPECT_TRUE(test::run_until(io, [&] { return asked.wait_for(0s) == std::future_status::ready; }));
  const auto answers = asked.get();
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_FALSE(answers[0].snapshot);
  EXPECT_EQ(answers[0].snapshot.error().code, Errc::local_connect_failed) << answers[0].snapshot.error().message();
}

}  // namespace
}  // namespace udtcat::pipe
