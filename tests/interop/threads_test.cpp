// SPDX-License-Identifier: Apache-2.0
/// Several clients of a listener that spreads its connections over threads: libudt's and our own.
#include "interop/interop_fixture.hpp"
#include "support/packet_threads.hpp"

namespace udtcat::test::interop {
namespace {

constexpr std::uint64_t kBytesEach = 16 << 20;
constexpr std::uint64_t kLeastNanoseconds = 1'000'000;  // of a thread that has carried some of it

class ManyClients : public testing::TestWithParam<std::size_t> {
 protected:
  ManyClients() { port = end.listen(); }

  template <typename Connect>
  std::unique_ptr<OurChannel> accept(const Connect& connect) {
    end.start_accept();
    connect();
    auto channel = end.accepted(5s);
    EXPECT_TRUE(channel);
    return channel;
  }
  /// Both ways at once over all of them; `theirs` are ends of either kind.
  template <typename Theirs>
  void carry_all(std::vector<std::unique_ptr<OurChannel>>& ours, std::vector<Theirs>& theirs) {
    const auto before = packet_thread_times();
    EXPECT_EQ(before.size(), 1U);
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const Pattern up(2 * i + 1);
      const Pattern down(2 * i + 2);
      jobs.push_back(theirs[i]->start_receiving(up, kBytesEach));
      jobs.push_back(ours[i]->start_receiving(down, kBytesEach));
      jobs.push_back(ours[i]->start_sending(up, kBytesEach));
      jobs.push_back(theirs[i]->start_sending(down, kBytesEach));
    }
    for (const Job& job : jobs) EXPECT_TRUE(complete(job.wait(60s), kBytesEach));
    for (const auto& [thread, nanoseconds] : packet_thread_times())
      EXPECT_GT(nanoseconds, before.at(thread) + kLeastNanoseconds) << "of thread " << thread;
  }

  static TransportOptions options_with(std::size_t threads) {
    TransportOptions options;
    options.packet_threads = threads;
    return options;
  }

  OurEnd end{options_with(2)};
  std::uint16_t port = 0;
};

INSTANTIATE_TEST_SUITE_P(OfOneListener, ManyClients, testing::Values(2, 5),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(ManyClients, OfLibudtGetAllBytes) {
  std::vector<std::unique_ptr<RawSocket>> theirs;
  std::vector<std::unique_ptr<OurChannel>> ours;
  while (ours.size() < GetParam()) {
    ours.push_back(accept([&] { theirs.push_back(RawSocket::connect(loopback(AddressFamily::ipv4, port))); }));
    ASSERT_TRUE(theirs.back()) << RawSocket::why();
    ASSERT_TRUE(ours.back());
  }
  carry_all(ours, theirs);
}

TEST_P(ManyClients, OfOurOwnGetAllBytes) {
  std::vector<std::unique_ptr<OurEnd>> ends;
  std::vector<std::unique_ptr<OurChannel>> theirs;
  std::vector<std::unique_ptr<OurChannel>> ours;
  while (ours.size() < GetParam()) {
    ours.push_back(accept([&] {
      ends.push_back(std::make_unique<OurEnd>(options_with(1)));
      theirs.push_back(std::move(ends.back()->connect(loopback(AddressFamily::ipv4, port)).value()));
    }));
    ASSERT_TRUE(ours.back());
  }
  carry_all(ours, theirs);
}

TEST_P(ManyClients, HearOfTheEnd) {
  std::vector<std::unique_ptr<RawSocket>> theirs;
  std::vector<std::unique_ptr<OurChannel>> ours;
  while (ours.size() < GetParam()) {
    ours.push_back(accept([&] { theirs.push_back(RawSocket::connect(loopback(AddressFamily::ipv4, port))); }));
    ASSERT_TRUE(theirs.back()) << RawSocket::why();
    ASSERT_TRUE(ours.back());
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ours[i]->close();
    EXPECT_TRUE(theirs[i]->wait_until_broken(5s)) << "of client " << i;
  }
}

}  // namespace
}  // namespace udtcat::test::interop
