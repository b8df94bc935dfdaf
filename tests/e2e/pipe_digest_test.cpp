// SPDX-License-Identifier: Apache-2.0
/// Acceptance 1: what comes out is what went in, whatever its size, protection, cipher and network.
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr std::uint64_t kSmallBlockBytes = 64 * kKiB;
constexpr std::uint64_t kDefaultBlockBytes = 256 * kKiB;  // spec: docs/man/udtcat.1, --block

class PipeDigest : public UdtcatTest {
 protected:
  void expect_same(std::uint64_t bytes, const Arguments& args_of_both = {}) const {
    const RandomFile file(bytes, bytes);
    EXPECT_EQ(pipe_through(open_for_reading(file.path()), args_of_both), file.digest());
  }
};

struct Shape {
  std::string name;
  std::uint64_t bytes;
  Arguments args;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class PipeDigestOf : public PipeDigest, public testing::WithParamInterface<Shape> {};

TEST_P(PipeDigestOf, IsThatOfTheSource) { expect_same(GetParam().bytes, GetParam().args); }

std::vector<Shape> sizes() {
  const Arguments small{"--block", "64KiB"};
  return {{"NoByte", 0, {}},
          {"OneByte", 1, {}},
          {"OneByteLessThanASmallBlock", kSmallBlockBytes - 1, small},
          {"OneSmallBlock", kSmallBlockBytes, small},
          {"OneByteMoreThanASmallBlock", kSmallBlockBytes + 1, small},
          {"OneByteLessThanABlock", kDefaultBlockBytes - 1, {}},
          {"OneBlock", kDefaultBlockBytes, {}},
          {"OneByteMoreThanABlock", kDefaultBlockBytes + 1, {}}};
}

std::vector<Shape> ways() {
  constexpr std::uint64_t kSome = scaled(64 * kMiB) + 12345;
  return {{"Private", kSome, {"--protect", "private"}},
          {"Safe", kSome, {"--protect", "safe"}},
          {"Auth", kSome, {"--protect", "auth"}},
          {"Clear", kSome, {"--protect", "clear"}},
          {"Aes256Gcm", kSome, {"--cipher", "aes-256-gcm"}},
          {"Aes128Gcm", kSome, {"--cipher", "aes-128-gcm"}},
          {"ChaCha20Poly1305", kSome, {"--cipher", "chacha20-poly1305"}},
          {"SafeChaCha20Poly1305", kSome, {"--protect", "safe", "--cipher", "chacha20-poly1305"}},
          {"OneLane", kSome, {"--lanes", "1"}},
          {"OneThread", kSome, {"--threads", "1"}},
          {"MoreThreadsThanLanes", kSome, {"--lanes", "2", "--threads", "5"}},
          {"SmallestBlock", scaled(16 * kMiB) + 1, {"--block", "4KiB"}},
          {"LargestBlock", kSome, {"--block", "1MiB"}}};
}

std::string name_of(const testing::TestParamInfo<Shape>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Size, PipeDigestOf, testing::ValuesIn(sizes()), name_of);
INSTANTIATE_TEST_SUITE_P(Way, PipeDigestOf, testing::ValuesIn(ways()), name_of);

TEST_F(PipeDigest, OfAGibibyteIsThatOfTheSource) { expect_same(scaled(kGiB)); }

TEST_F(PipeDigest, OfARealTreeIsThatOfTheSource) {
  const TempDir directory;
  const auto archive = directory.path() / "tree.tar";
  // Reproducible, since it is made twice: once to know the digest, once through the pipe.
  const Arguments tar{"tar", "--sort=name", "-C", "/usr/include", "-cf", "-", kSanitized ? "openssl" : "."};
  Process to_file({.argv = tar, .out = open_for_writing(archive)});
  expect_exit(to_file, kSuccess);
  Pipe pipe = make_pipe();
  Process to_pipe({.argv = tar, .out = std::move(pipe.writing)});
  EXPECT_EQ(pipe_through(std::move(pipe.reading)), digest_of_prefix(archive, UINT64_MAX));
}

TEST_F(PipeDigest, IsTheSameWhenTheListenerSends) {
  const RandomFile file(7, scaled(64 * kMiB));
  Consumer consumer;
  Process listener = listen({.in = open_for_reading(file.path())});
  Process connector = connect({.out = consumer.take_stdout()});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_F(PipeDigest, IsTheSameOverIPv6) {
  host_ = "::1";
  expect_same(scaled(16 * kMiB));
}

TEST_F(PipeDigest, IsTheSameByName) {
  host_ = "localhost";
  expect_same(scaled(16 * kMiB));
}

/// A listener on the wildcard of both families serves whichever the connector comes by.
class PipeDigestOfFamily : public UdtcatTest, public testing::WithParamInterface<std::string> {};

TEST_P(PipeDigestOfFamily, IsTheSameOverADualStackListener) {
  const RandomFile file(8, scaled(16 * kMiB));
  Consumer consumer;
  Process listener = udtcat({"-l", std::to_string(port_)}, {.out = consumer.take_stdout(), .key = key_});
  host_ = GetParam() == "-4" ? "127.0.0.1" : "::1";
  Process connector = connect({.args = {GetParam()}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());
}

INSTANTIATE_TEST_SUITE_P(Family, PipeDigestOfFamily, testing::Values("-4", "-6"),
                         [](const auto& chosen) { return chosen.param == "-4" ? "IPv4" : "IPv6"; });

class PipeDigestBetweenHosts : public TwoHostsTest {
 protected:
  void expect_same() const {
    const RandomFile file(9, scaled(64 * kMiB));
    Consumer consumer;
    Process listener = listen_far({.out = consumer.take_stdout()});
    Process connector = connect_near({.in = open_for_reading(file.path())});
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
    ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
    EXPECT_EQ(consumer.digest(), file.digest());
  }
};

TEST_F(PipeDigestBetweenHosts, IsTheSameOverIPv4) { expect_same(); }

TEST_F(PipeDigestBetweenHosts, IsTheSameOverIPv6) {
  host_ = hosts_->far_host().ipv6;
  expect_same();
}

}  // namespace
}  // namespace udtcat::test::e2e
