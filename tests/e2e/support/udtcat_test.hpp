// SPDX-License-Identifier: Apache-2.0
/// The words that the end-to-end tests are written in. Each test has a port, a key and a home of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/consumer.hpp"
#include "support/deadline.hpp"
#include "support/namespaces.hpp"
#include "support/ports.hpp"
#include "support/process.hpp"
#include "support/producer.hpp"
#include "support/random_file.hpp"
#include "support/scale.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

using Arguments = std::vector<std::string>;
using Afterwards = Producer::Afterwards;
using Begin = Consumer::Begin;

/// Exit statuses, from the user's side: docs/man/udtcat.1.
inline constexpr int kSuccess = 0;
inline constexpr int kUsage = 2;
inline constexpr int kUnreachable = 3;
inline constexpr int kRefused = 4;
inline constexpr int kPeerLost = 5;
inline constexpr int kTampered = 6;
inline constexpr int kReadOrWriteFailed = 7;
inline constexpr int kInterrupted = 130;
inline constexpr int kTerminated = 143;

/// One end of udtcat: its arguments and descriptors, beyond the address.
struct End {
  Arguments args = {};
  Descriptor in = open_null();
  Descriptor out = open_null();
  std::optional<std::string> key = std::nullopt;  ///< none: the test's own; empty: no key at all
  std::filesystem::path network_namespace = {};
  Arguments environment = {};
};

class UdtcatTest : public testing::Test {
 protected:
  /// `udtcat` with these arguments and no more; the key only if `end` names one.
  [[nodiscard]] Process udtcat(Arguments arguments, End end = {}) const;
  /// `udtcat -l 127.0.0.1:PORT …` and `udtcat 127.0.0.1 PORT …`.
  [[nodiscard]] Process listen(End end = {}) const;
  [[nodiscard]] Process connect(End end = {}) const;
  /// `connect` by way of another port: a relay's.
  [[nodiscard]] Process connect_to(std::uint16_t port, End end = {}) const;

  /// Sends what `source` gives from a connector to a listener; expects both to exit 0. What came out.
  [[nodiscard]] Digest pipe_through(Descriptor source, const Arguments& args_of_both = {}) const;

  [[nodiscard]] static std::string make_key();

  std::uint16_t port_ = free_port();
  std::string host_ = "127.0.0.1";
  std::string key_ = make_key();
  TempDir home_;  ///< the processes' HOME, TMPDIR and working directory
};

/// A test of two hosts. Skipped for a user who may not make network namespaces.
class TwoHostsTest : public UdtcatTest {
 protected:
  void SetUp() override;
  [[nodiscard]] Process listen_far(End end = {}) const;
  [[nodiscard]] Process connect_near(End end = {}) const;

  std::unique_ptr<Namespaces> hosts_;
};

/// Both directions of one connection, open until a test ends them: a producer and a consumer at each end.
class TwoWay {
 public:
  struct Side {
    Side(std::uint64_t seed, std::uint64_t bytes, Afterwards afterwards, Begin begin)
        : producer(seed, bytes, afterwards), consumer(begin) {}
    [[nodiscard]] End end(Arguments args = {}) {
      return {.args = std::move(args), .in = producer.take_stdin(), .out = consumer.take_stdout()};
    }
    Producer producer;
    Consumer consumer;
  };
  TwoWay(std::uint64_t bytes_each_way, Afterwards afterwards, Begin begin)
      : listener(1, bytes_each_way, afterwards, begin), connector(2, bytes_each_way, afterwards, begin) {}
  /// Whether at least so much has come out at both ends.
  [[nodiscard]] bool both_received(std::uint64_t bytes, std::chrono::milliseconds limit) const;

  Side listener;
  Side connector;
};

/// Fails the test, showing stderr, unless `process` exits with `status` within `limit`.
void expect_exit(Process& process, int status, std::chrono::milliseconds limit = kTransferLimit,
                 std::source_location where = std::source_location::current());
/// Fails the test unless stderr contains `text`, or will at once: what a process writes arrives a moment later.
void expect_says(const Process& process, const std::string& text,
                 std::source_location where = std::source_location::current());
/// How many lines of stderr contain `text`.
[[nodiscard]] int count_lines(const Process& process, const std::string& text);

}  // namespace udtcat::test::e2e
