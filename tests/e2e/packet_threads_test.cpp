// SPDX-License-Identifier: Apache-2.0
/// A listener with several peers at once: all bytes, carried by as many threads as its cores pay for.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <vector>

#include <sched.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class ManyPeers : public UdtcatTest, public testing::WithParamInterface<std::size_t> {
 protected:
  /// The listener's threads that carry packets, its first among them.
  [[nodiscard]] static std::size_t packet_threads(const Process& listener) {
    std::size_t threads = 1;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(listener.pid()) + "/task")) {
      std::string name;
      std::ifstream(task.path() / "comm") >> name;
      if (name == "packets") ++threads;
    }
    return threads;
  }
  /// As many as the listener may have, with a cipher.
  [[nodiscard]] static std::size_t most_threads() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
    const auto cores = static_cast<std::size_t>(CPU_COUNT(&mask));
    return cores > 2 ? 1 + cores / 2 : cores;
  }
  [[nodiscard]] static Digest large_of(std::uint16_t entrance, std::uint64_t bytes) {
    const TcpClient client(entrance, patience(60s));
    if (!client.connected() || !client.send(HttpServer::kLargeRequest)) return {};
    std::string header;
    for (std::string next = client.receive(1); !next.empty(); next = client.receive(1)) {
      header += next;
      if (header.ends_with("\r\n\r\n")) return client.digest_of_next(bytes);
    }
    return {};
  }
};

INSTANTIATE_TEST_SUITE_P(OfOneListener, ManyPeers, testing::Values(2, 5),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(ManyPeers, GetAllBytesFromSeveralThreads) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  Process listener = listen({.args = {"--to", "127.0.0.1:" + std::to_string(http.port())}});
  std::vector<Process> peers;
  std::vector<std::future<Digest>> answers;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    const std::uint16_t entrance = free_port();
    peers.push_back(connect({.args = {"--from", "127.0.0.1:" + std::to_string(entrance)}}));
    ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << peers.back().errors();
    answers.push_back(
        std::async(std::launch::async, [&http, entrance] { return large_of(entrance, http.large().bytes); }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get(), http.large()) << listener.errors();
  EXPECT_EQ(packet_threads(listener), std::min(GetParam(), most_threads()));
}

}  // namespace
}  // namespace udtcat::test::e2e
