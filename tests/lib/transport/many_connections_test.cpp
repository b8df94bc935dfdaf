// SPDX-License-Identifier: Apache-2.0
/// Many connections at once on one port, come and gone many times over.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include <malloc.h>
#include <unistd.h>

#include "lib/transport/transport_fixture.hpp"
#include "support/scale.hpp"

namespace udtcat::transport {
namespace {

constexpr std::size_t kConnections = 1000;
constexpr int kTurns = 10;

/// Without what was freed.
std::size_t resident_bytes_trimmed() {
  ::malloc_trim(0);
  std::size_t size_pages = 0;
  std::size_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> size_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class ManyConnections : public TransportTest {
 protected:
  ManyConnections() : TransportTest(options_for(TransportKind::native)) {}

  /// One end of a connection that has said a word and waits for the other's.
  struct Speaker {
    std::unique_ptr<Channel> channel;
    std::vector<std::byte> heard = std::vector<std::byte>(64);
  };

  void speak(std::vector<Speaker>& all, std::unique_ptr<Channel> channel) {
    Speaker& one = all.emplace_back(Speaker{std::move(channel)});
    one.channel->async_write(core::SharedBytes::adopt(word), [](const Status&) {});
    one.channel->async_read(one.heard, [this, &one](const Status& status) {
      EXPECT_TRUE(status);
      if (one.heard == word) ++heard;
    });
  }

  void accept_next(Acceptor& acceptor) {
    acceptor.async_accept([&](auto result) {
      speak(there, std::move(*result));
      accept_next(acceptor);
    });
  }

  void come_and_go(Acceptor& acceptor) {
    heard = 0;
    here.reserve(kConnections);
    there.reserve(kConnections);
    std::size_t failed = 0;
    for (std::size_t i = 0; i < kConnections; ++i)
      engine->async_connect(acceptor.local_endpoints().front(), {}, 20s, [&](auto result) {
        if (result)
          speak(here, std::move(*result));
        else
          ADD_FAILURE() << result.error().message() << ", " << ++failed;
      });
    ASSERT_TRUE(run_until([&] { return heard == 2 * kConnections || failed > 0; }, 60s))
        << here.size() << " connected, " << there.size() << " accepted, " << heard << " words heard";
    for (auto* const ends : {&here, &there}) {
      for (Speaker& one : *ends) one.channel->close(5s);
      ends->clear();
    }
    // They drain by themselves.
    const auto until = Clock::now() + 200ms;
    run_until([&] { return Clock::now() >= until; });
  }

  const std::vector<std::byte> word = random_bytes(64, 7);
  std::vector<Speaker> here;
  std::vector<Speaker> there;
  std::size_t heard = 0;
};

TEST_F(ManyConnections, ComeAndGoTenTimesAndLeaveNothingBehind) {
  auto acceptor = listen({loopback(AddressFamily::ipv4)});
  accept_next(*acceptor);
  std::size_t first = 0;
  for (int turn = 0; turn < kTurns && !HasFailure(); ++turn) {
    come_and_go(*acceptor);
    if (turn < kTurns / 3) first = std::max(first, resident_bytes_trimmed());
  }
  std::size_t last = 0;
  const auto is_flat = [&] {
    last = resident_bytes_trimmed();
    return static_cast<double>(last) < 1.1 * static_cast<double>(first);
  };
  // On a busy machine those of the last turns still drain.
  EXPECT_TRUE(test::kSanitized || run_until(is_flat, 20s));
  RecordProperty("most_resident_after_first_turns", std::to_string(first));
  RecordProperty("resident_after_last_turn", std::to_string(last));
  std::cout << first / 1024 << " KiB at most after the first turns, " << last / 1024 << " after the last\n";
}

}  // namespace
}  // namespace udtcat::transport
