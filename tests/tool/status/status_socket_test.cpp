// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_socket.hpp"

#include <cstring>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/bridge/descriptor.hpp"
#include "pipe/status_query.hpp"
#include "support/ordinary_user.hpp"
#include "support/run_until.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

class StatusSocketTest : public testing::Test {
 protected:
  void open(std::optional<gid_t> group = {}) {
    auto made = StatusSocket::open(
        io_, path_, [this] { return snapshot(); }, group);
    ASSERT_TRUE(made) << made.error().message();
    socket_ = std::move(*made);
  }
  [[nodiscard]] ProcessSnapshot snapshot() {
    ++snapshots_;
    ProcessSnapshot made;
    made.what = what_;
    made.all.bytes_sent = snapshots_ * 1'000'000;
    for (std::uint64_t i = 0; i < peers_; ++i)
      made.peers.emplace_back(snapshot_of(i, Endpoint{}, {})).name = std::string(64, 'n');
    return made;
  }
  /// The asking end blocks, as the other end's process runs beside it.
  [[nodiscard]] pipe::StatusAnswer ask() {
    auto answer = std::async(std::launch::async, [this] { return pipe::ask_for_status({path_}); });
    EXPECT_TRUE(test::run_until(io_, [&] { return answer.wait_for(0s) == std::future_status::ready; }));
    auto answers = answer.get();
    return answers.empty() ? pipe::StatusAnswer{"", fail(Errc::peer_lost, "left over", "")}
                           : std::move(answers.front());
  }
  /// A client that connects and never reads.
  [[nodiscard]] bridge::Descriptor connect_mutely() const {
    bridge::Descriptor client(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    const int least = 1;
    EXPECT_EQ(::setsockopt(client.number(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least), 0);
    // SAFETY: sockaddr_un is a sockaddr of AF_UNIX.
    EXPECT_EQ(::connect(client.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return client;
  }

  /// Carries out `action` on a thread that is a member of the group, and neither root nor this user.
  template <typename Action>
  [[nodiscard]] static auto as_member(Action action) {
    return std::async(std::launch::async, [action = std::move(action)] {
      // Of this thread alone, as the system has it; the C library would change all.
      EXPECT_EQ(::syscall(SYS_setgroups, 1, &kGroup), 0);
      EXPECT_EQ(::syscall(SYS_setresuid, -1, 65'534, -1), 0);
      return action();
    });
  }
  [[nodiscard]] std::future<pipe::StatusAnswer> member_asks() const {
    return as_member([path = path_] { return std::move(pipe::ask_for_status({path}, 20s).at(0)); });
  }
  [[nodiscard]] pipe::StatusAnswer ask_as_member() {
    auto answer = member_asks();
    EXPECT_TRUE(test::run_until(io_, [&] { return answer.wait_for(0s) == std::future_status::ready; }));
    return answer.get();
  }
  [[nodiscard]] std::vector<bridge::Descriptor> connect_mutely_as_members(std::size_t count) const {
    return as_member([this, count] {
             std::vector<bridge::Descriptor> mute;
             while (mute.size() < count) mute.push_back(connect_mutely());
             return mute;
           })
        .get();
  }

  static constexpr gid_t kGroup = 61'234;
  test::TempDir folder_;
  std::string path_ = folder_ / "1.sock";
  std::string what_ = "udtcat -l 9000";
  std::uint64_t peers_ = 0;
  std::uint64_t snapshots_ = 0;
  boost::asio::io_context io_;
  std::unique_ptr<StatusSocket> socket_;
};

TEST_F(StatusSocketTest, AnswersWithASnapshotAndItsRate) {
  open();
  const pipe::StatusAnswer answer = ask();
  ASSERT_TRUE(answer.snapshot) << answer.snapshot.error().message();
  EXPECT_EQ(answer.snapshot->what, what_);
  EXPECT_EQ(snapshots_, 2U);
  // A megabyte from one snapshot to the next, in a quarter of a second or, on a busy machine, more.
  EXPECT_GT(answer.snapshot->rate.bits_per_second(), 0U);
  EXPECT_LE(answer.snapshot->rate.bits_per_second(), 32'100'000U);
}

TEST_F(StatusSocketTest, IsForItsUserAloneAndGoesWithItsObject) {
  open();
  struct stat about {};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0600U);
  socket_.reset();
  EXPECT_FALSE(folder_.has("1.sock"));
}

TEST_F(StatusSocketTest, DoesNotAnswerAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const auto nobody_asks = [&] {
    const test::OrdinaryUser nobody;
    return pipe::ask_for_status({path_}, 100ms);
  };
  open();
  EXPECT_EQ(nobody_asks().at(0).snapshot.error().code, Errc::local_connect_failed);
}

TEST_F(StatusSocketTest, AnswersAMemberOfItsGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  open(kGroup);
  struct stat about {};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0660U);
  EXPECT_EQ(about.st_gid, kGroup);
  const auto nobody_asks = [&](std::vector<gid_t> groups) {
    // Of this thread alone, as the system has it; the C library would change all.
    auto answer = std::async(std::launch::async, [&, groups = std::move(groups)] {
      EXPECT_EQ(::syscall(SYS_setgroups, groups.size(), groups.data()), 0);
      EXPECT_EQ(::syscall(SYS_setresuid, -1, 65'534, -1), 0);
      return pipe::ask_for_status({path_});
    });
    EXPECT_TRUE(test::run_until(io_, [&] { return answer.wait_for(0s) == std::future_status::ready; }));
    return answer.get();
  };
  const auto as_member = nobody_asks({5, kGroup});
  EXPECT_TRUE(as_member.at(0).snapshot) << as_member.at(0).snapshot.error().message();
  EXPECT_EQ(nobody_asks({5}).at(0).snapshot.error().code, Errc::local_connect_failed);
}

TEST_F(StatusSocketTest, DropsClientsThatDoNotReadAndThenAnswersOthers) {
  peers_ = kMaxShownPeers;  // more than the system keeps for a client
  open();
  std::vector<bridge::Descriptor> mute;
  for (std::size_t i = 0; i < kMaxStatusClients; ++i) mute.push_back(connect_mutely());
  EXPECT_TRUE(test::run_until(io_, [&] { return snapshots_ == 2 * kMaxStatusClients; }));
  const pipe::StatusAnswer answer = ask();
  EXPECT_TRUE(answer.snapshot) << answer.snapshot.error().message();
}

TEST_F(StatusSocketTest, AnswersItsUserWhateverItsGroupHolds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  peers_ = kMaxShownPeers;  // more than the system keeps for a client
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  open(kGroup);
  std::vector<bridge::Descriptor> mute = connect_mutely_as_members(kMaxGroupClients + kMaxWaitingMembers + 8);
  EXPECT_TRUE(test::run_until(io_, [&] { return snapshots_ >= kMaxGroupClients; }));
  const pipe::StatusAnswer answer = ask();  // which would wait for none of them to the end of its patience
  EXPECT_TRUE(answer.snapshot) << answer.snapshot.error().message();
  mute.clear();
  EXPECT_TRUE(ask_as_member().snapshot) << "those that have gone are waited for no longer";
}

TEST_F(StatusSocketTest, LetsMembersOfItsGroupWaitForEachOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  open(kGroup);
  std::vector<std::future<pipe::StatusAnswer>> answers;
  for (std::size_t i = 0; i < 3 * kMaxGroupClients; ++i) answers.push_back(member_asks());
  for (auto& each : answers) {
    EXPECT_TRUE(test::run_until(io_, [&] { return each.wait_for(0s) == std::future_status::ready; }));
    EXPECT_TRUE(each.get().snapshot);
  }
}

TEST_F(StatusSocketTest, TakesThePlaceOfADeadOneAndOfNoLivingOne) {
  open();
  EXPECT_EQ(StatusSocket::open(io_, path_, nullptr).error().code, Errc::cannot_bind);
  ASSERT_EQ(::rename(path_.c_str(), (folder_ / "2.sock").c_str()), 0);
  socket_.reset();  // as if it had been killed: its socket stays
  path_ = folder_ / "2.sock";
  open();
  EXPECT_TRUE(ask().snapshot);
}

TEST_F(StatusSocketTest, ThatIsDeadIsRemovedByTheAskingEnd) {
  open();
  ASSERT_EQ(::rename(path_.c_str(), (folder_ / "2.sock").c_str()), 0);
  socket_.reset();
  EXPECT_TRUE(pipe::ask_for_status({folder_ / "2.sock"}).empty());
  EXPECT_FALSE(folder_.has("2.sock"));
}

TEST_F(StatusSocketTest, ThatIsSilentOrTalksTooMuchIsNotWaitedFor) {
  boost::asio::local::stream_protocol::acceptor silent(io_, path_);
  const auto answers = pipe::ask_for_status({path_}, 50ms);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].snapshot.error().code, Errc::peer_lost);
}

}  // namespace
}  // namespace udtcat::tool
