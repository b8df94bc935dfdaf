// SPDX-License-Identifier: Apache-2.0
/// The limits of transfers, as both ends say them: each is made true in a lab, and false in the one beside it.
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A pipe from the near end of an emulated path to the far one. Words of a shell, but for the link.
struct Lab {
  Arguments link = {"--rate", "50M", "--rtt", "20ms"};
  std::string sends = "";     ///< options of the sender
  std::string receives = "";  ///< and of the receiver
  std::string source = "head -c 12000000 /dev/zero";
  std::string sink = "cat > /dev/null";
  std::string as_sender = "";  ///< what the sender's process runs under
  std::string as_receiver = "";
  std::string beside_near = "true";  ///< runs meanwhile
  std::string beside_far = "true";
};

/// A pipe's reader that takes 2 MB/s, however they come.
const std::string kSlowSink =
    "while dd bs=20k count=10 iflag=fullblock 2> /dev/null | wc -c | grep -qv '^0'; do sleep 0.1; done";
const std::string kSlowSource = "for i in $(seq 25); do head -c 100000 /dev/zero; sleep 0.1; done";

/// Alone on the machine: where others have the cores the processor is the limit, and is said to be.
class WhySerial : public UdtcatTest {
 protected:
  void SetUp() override {
    if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/net/tun is not ours to use";
  }
  /// Runs a lab; the last lines of both ends.
  struct Said {
    json sender;
    json receiver;
  };
  [[nodiscard]] Said said_in(const Lab& lab) const {
    const std::string over = file("over");
    EXPECT_EQ(::mkfifo(over.c_str(), 0600), 0);
    const std::string far = "(" + lab.beside_far + ") & meanwhile=$!; " + lab.as_receiver + " " + UDTCAT_BINARY +
                            " -l 9000 --recv-only --stats json " + lab.receives + " 2> " + file("far") + " | (" +
                            lab.sink + "); kill $meanwhile; echo > " + over;
    const std::string near = "(" + lab.beside_near + ") & meanwhile=$!; (" + lab.source + ") | " + lab.as_sender + " " +
                             UDTCAT_BINARY + " $WANLAB_FAR4 9000 --send-only --stats json --connect-timeout 20s " +
                             lab.sends + " 2> " + file("near") + "; kill $meanwhile; cat " + over;
    Arguments words{UDTCAT_WANLAB_BINARY, "--quiet"};
    words.insert(words.end(), lab.link.begin(), lab.link.end());
    words.insert(words.end(), {"--far", far, "--", "sh", "-c", near});
    const Ran ran = run({.argv = words,
                         .environment = {"WANLAB_DIR=" + home_.path().string(), "HOME=" + home_.path().string(),
                                         "XDG_CACHE_HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_}});
    EXPECT_EQ(::unlink(over.c_str()), 0);
    return {last_line("near"), last_line("far")};
  }
  /// receiver   its word; empty: the sender's, with the ends exchanged
  void expect(const Lab& lab, const std::string& sender, std::string receiver = "") const {
    constexpr std::string_view kPeer = "peer_";
    const bool of_path = sender == "path" || sender == "loss" || sender == "policer";
    if (receiver.empty())
      receiver = of_path ? sender : sender.starts_with(kPeer) ? sender.substr(kPeer.size()) : "peer_" + sender;
    Said said = said_in(lab);
    for (int tries = 1; tries < kTries && is_of_this_host(said); ++tries) said = said_in(lab);
    EXPECT_EQ(said.sender.value("limited_by", json()), sender) << said.sender << said.receiver;
    EXPECT_EQ(said.receiver.value("limited_by", json()), receiver) << said.receiver;
  }

 private:
  static constexpr int kTries = 5;  // guess: of a host that is busy with something else for a while

  /// An end may say that its host had no time for it.
  static bool is_of_this_host(const Said& said) {
    return (said.sender.dump() + said.receiver.dump()).find("waited for a core") != std::string::npos;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (home_.path() / name).string(); }
  [[nodiscard]] json last_line(const std::string& name) const {
    std::ifstream text(file(name));
    std::string last;
    for (std::string line; std::getline(text, line);) last = line;
    const json parsed = json::parse(last, nullptr, false);
    return parsed.is_object() ? parsed : json{{"no_object", last}};
  }
};

TEST_F(WhySerial, IsTheSourceWhereThatGivesLessThanThePathCarries) {
  expect({.source = kSlowSource}, "source");
  expect({}, "path");
}

TEST_F(WhySerial, IsTheConsumerWhereThatTakesLess) {
  const std::string little = "--memory 4MiB";
  expect({.sends = little, .receives = little, .source = "head -c 8000000 /dev/zero", .sink = kSlowSink},
         "peer_consumer");
  expect({.sends = little, .receives = little}, "path");
}

TEST_F(WhySerial, IsTheCapWhereThatIsLessThanThePath) {
  expect({.sends = "--rate 20M", .source = "head -c 6000000 /dev/zero"}, "rate_cap");
  expect({.sends = "--rate 200M"}, "path");
}

TEST_F(WhySerial, IsMemoryWhereARoundTripHoldsMore) {
  const Arguments far_away{"--rate", "100M", "--rtt", "200ms"};
  expect({.link = far_away, .sends = "--memory 2MiB", .source = "head -c 24000000 /dev/zero"}, "memory");
  expect({.sends = "--memory 2MiB"}, "path");
}

TEST_F(WhySerial, IsThePeersMemoryLikewise) {
  const Arguments far_away{"--rate", "100M", "--rtt", "200ms"};
  expect({.link = far_away, .receives = "--memory 2MiB", .source = "head -c 24000000 /dev/zero"}, "peer_memory");
  expect({.receives = "--memory 2MiB"}, "path");
}

/// On an idle machine: ctest --preset soak -R WhySoak. Each end has a core of its own, and shares it with whom the test
/// says.
class WhySoak : public WhySerial {
 protected:
  void SetUp() override {
    WhySerial::SetUp();
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "two ends want two cores";
  }
  [[nodiscard]] static Lab pinned() {
    return {.link = {},
            .sends = "--threads 1",
            .receives = "--threads 1",
            .source = "head -c 300000000 /dev/zero",
            .as_sender = "taskset -c 0",
            .as_receiver = "taskset -c 1"};
  }
  static constexpr const char* kBusy = "trap exit TERM; while :; do :; done";
};

TEST_F(WhySoak, IsTheProcessorOfTheEndWhoseCoreOthersHave) {
  Lab lab = pinned();
  lab.beside_far = "exec taskset -c 1 sh -c '" + std::string(kBusy) + "'";
  expect(lab, "peer_processor");
  lab.beside_near = "exec taskset -c 0 sh -c '" + std::string(kBusy) + "'";
  lab.beside_far = "true";
  expect(lab, "processor");
}

TEST_F(WhySoak, IsLossWhereThatIsTheSameAtAnyRateAndNoQueueShows) {
  // Long enough for the beginning, which fills the queue, to count little.
  expect({.link = {"--rate", "1G", "--rtt", "60ms", "--loss", "10%/0"}, .source = "head -c 300000000 /dev/zero"},
         "loss");
  expect({.link = {"--rate", "50M", "--rtt", "60ms", "--loss", "0.2%/0", "--queue", "2MiB"}}, "path");
}

TEST_F(WhySoak, IsThePathWithItsQueueWhereAnotherFillsIt) {
  const auto queue_ms = [this](const Lab& lab) {
    const Said said = said_in(lab);
    EXPECT_EQ(said.sender.value("limited_by", json()), "path") << said.sender << said.receiver;
    const std::string text = said.sender.value("limited_by_text", "");
    const std::string before = "its queue adds ";
    const auto at = text.find(before);
    return at == std::string::npos ? 0.0 : std::stod(text.substr(at + before.size()));
  };
  Lab deep{.link = {"--rate", "20M", "--rtt", "20ms", "--queue", "1MiB"}, .source = "head -c 5000000 /dev/zero"};
  const double alone_ms = queue_ms(deep);
  const std::string probe = UDTCAT_WANPROBE_BINARY;
  deep.beside_far = "exec " + probe + " tcp-receive 5000 > /dev/null";
  // The far one may not listen yet.
  deep.beside_near = "until " + probe + " tcp-send $WANLAB_FAR4 5000 30000000 > /dev/null 2>&1; do sleep 0.1; done";
  deep.source = "sleep 2; " + deep.source;  // until it has
  EXPECT_GT(queue_ms(deep), 2 * alone_ms) << "TCP fills a queue of 420 ms";
}

TEST_F(WhySoak, IsAPolicerWhereWhatIsFasterIsDroppedWithoutAQueue) {
  expect({.link = {"--rate", "50M", "--rtt", "20ms", "--queue", "30KiB"}}, "policer");
  expect({.link = {"--rate", "50M", "--rtt", "20ms", "--queue", "2MiB"}}, "path");
}

TEST_F(WhySoak, IsTheSocketBufferWhereItsReaderComesTooLate) {
  Lab lab{.link = {"--rate", "1G", "--rtt", "60ms", "--queue", "30MiB"}, .source = "head -c 200000000 /dev/zero"};
  expect(lab, "path");
  // The socket of an ordinary user whose descriptors allow no second one: it holds less than 1 Gbit/s brings in 300 ms.
  const std::string pid = (home_.path() / "pid").string();
  lab.as_receiver = "sh -c 'echo $$ > " + pid + R"(; ulimit -n 18; exec setpriv --bounding-set -net_admin "$@"' -)";
  lab.beside_far = "while sleep 0.3; do kill -STOP $(cat " + pid + "); sleep 0.3; kill -CONT $(cat " + pid + "); done";
  expect(lab, "peer_socket_buffer");
}

TEST_F(WhySoak, IsNoProcessorThatHasLittleToDoThoughItsCoreIsBusy) {
  Lab lab = pinned();
  lab.beside_far = "exec taskset -c 1 sh -c '" + std::string(kBusy) + "'";
  lab.sends += " --rate 5M";
  lab.source = "head -c 1500000 /dev/zero";
  expect(lab, "rate_cap");
}

}  // namespace
}  // namespace udtcat::test::e2e
