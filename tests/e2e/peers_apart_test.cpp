// SPDX-License-Identifier: Apache-2.0
/// A listener's peers by their lines: directories, limits and rates of their own, several keys, and dates.
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>

#include <gmock/gmock.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

/// A date of a key's line, so many seconds from now.
std::string date_in(std::chrono::seconds later) {
  const std::time_t at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + later);
  std::tm parts{};
  std::string text(std::size("2026-12-01T06:00:00Z"), '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&at, &parts)));
  return text;
}

class PeersApart : public TreesTest {
 protected:
  PeersApart() {
    key_ = "";
    fs::create_directory(here("dst"));
  }

  /// A key pair in the file `name` of the home.  returns   its public line
  [[nodiscard]] std::string make_pair(const std::string& name) const {
    const Ran ran = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", here(name).string()}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return ran.output.substr(0, ran.output.find('\n'));
  }
  void write_peers(const std::string& of_alice, const std::string& of_bob) const {
    home_.write("peers", "alice " + alice_ + ' ' + of_alice + "\nbob " + bob_ + ' ' + of_bob + '\n');
  }
  [[nodiscard]] Arguments of_server(Arguments more = {}) const {
    Arguments words{"-k", here("server").string(), "--peers", here("peers").string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] Arguments of_client(const std::string& own, Arguments more = {}) const {
    Arguments words{"-k", here(own).string(), "--peer", server_};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// The status of what `peer` sends.
  int send_as(const std::string& peer, const std::string& path) const {
    Process sender = send({path}, {.args = of_client(peer)});
    const auto ended = sender.wait(kTransferLimit);
    errors_ = sender.errors();
    return ended ? ended->status : -1;
  }
  /// A file in a directory of its own.  returns   its path
  [[nodiscard]] std::string make_file(const std::string& directory, const std::string& name, std::uint64_t bytes,
                                      std::uint64_t seed = 1) const {
    fs::create_directories(here(directory));
    write_random(here(directory) / name, seed, bytes);
    return (here(directory) / name).string();
  }

  const std::string server_ = make_pair("server");
  const std::string alice_ = make_pair("alice");
  const std::string bob_ = make_pair("bob");
  mutable std::string errors_;  // of the last sender
};

TEST_F(PeersApart, WriteBelowTheirOwnDirectories) {
  write_peers("trees into=alice", "trees into=teams/bob");
  const std::string of_alice = make_file("one", "same", 10'000, 1);
  const std::string of_bob = make_file("other", "same", 20'000, 2);
  Process listener = receive_into("dst", {.args = of_server()});
  EXPECT_EQ(send_as("alice", of_alice), kSuccess) << errors_ << listener.errors();
  EXPECT_EQ(send_as("bob", of_bob), kSuccess) << errors_ << listener.errors();
  EXPECT_EQ(read_file(here("dst/alice/same")), read_file(of_alice));
  EXPECT_EQ(read_file(here("dst/teams/bob/same")), read_file(of_bob));
  EXPECT_FALSE(fs::exists(here("dst/same")));
  expect_says(listener, "alice (127.0.0.1:");
}

TEST_F(PeersApart, ReachNoOthersDirectoryByALinkThatTheyMake) {
  write_peers("trees into=alice", "trees into=bob");
  const std::string secret = make_file("other", "secret", 10'000, 2);
  Process listener = receive_into("dst", {.args = of_server()});
  ASSERT_EQ(send_as("bob", secret), kSuccess) << errors_ << listener.errors();
  fs::create_directories(here("links"));
  fs::create_directory_symlink("../bob", here("links/door"));
  fs::create_symlink("../bob/secret", here("links/secret"));
  ASSERT_EQ(send_as("alice", here("links").string() + '/'), kSuccess) << errors_;
  ASSERT_TRUE(fs::is_symlink(here("dst/alice/links/door")));
  std::ignore = make_file("through/links/door", "secret", 10, 3);
  EXPECT_NE(send_as("alice", here("through/links")), kSuccess);
  EXPECT_THAT(errors_, HasSubstr("symbolic link, and nothing is written through it"));
  std::ignore = make_file("again/links", "secret", 10, 3);
  EXPECT_EQ(send_as("alice", here("again/links")), kSuccess) << "the link itself is replaced";
  EXPECT_EQ(read_file(here("dst/bob/secret")), read_file(secret));
  EXPECT_FALSE(fs::is_symlink(here("dst/alice/links/secret")));
}

TEST_F(PeersApart, ReadTheirOwnDirectoriesAlone) {
  write_peers("trees into=alice", "trees into=bob");
  std::ignore = make_file("dst/alice", "own", 1'000);
  std::ignore = make_file("dst/bob", "secret", 1'000);
  fs::create_directory_symlink("../bob", here("dst/alice/door"));
  fs::create_symlink("../bob/secret", here("dst/alice/link"));
  Process listener = serve("dst", {.args = of_server()});
  const auto take = [&](const std::string& path) {
    Process receiver = receive({path}, "got", {.args = of_client("alice")});
    const auto ended = receiver.wait(kTransferLimit);
    return ended ? ended->status : -1;
  };
  EXPECT_EQ(take("own"), kSuccess) << listener.errors();
  for (const char* path : {"../bob/secret", "bob/secret", "door/secret", "/dst/bob/secret"})
    EXPECT_NE(take(path), kSuccess) << path;
  EXPECT_EQ(take("link"), kSuccess) << "as a link";
  EXPECT_TRUE(fs::exists(here("got/own")) && fs::is_symlink(here("got/link")));
  EXPECT_FALSE(fs::exists(here("got/secret")));
}

TEST_F(PeersApart, DoNotFollowALinkInThePlaceOfTheirDirectory) {
  write_peers("trees into=alice", "trees into=bob");
  fs::create_directory(here("dst/bob"));
  fs::create_directory_symlink("bob", here("dst/alice"));
  Process listener = receive_into("dst", {.args = of_server()});
  EXPECT_NE(send_as("alice", make_file("one", "file", 10)), kSuccess);
  EXPECT_THAT(errors_, HasSubstr("alice is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(here("dst/bob")));
}

TEST_F(PeersApart, MayHaveAsMuchAsTheirLimitSays) {
  write_peers("trees into=alice limit=3MB", "trees into=bob");
  Process listener = receive_into("dst", {.args = of_server()});
  ASSERT_EQ(send_as("alice", make_file("one", "first", 2'000'000, 1)), kSuccess) << errors_ << listener.errors();
  EXPECT_EQ(send_as("alice", make_file("one", "second", 2'000'000, 2)), kReadOrWriteFailed) << errors_;
  EXPECT_THAT(errors_, HasSubstr("alice may have 3.00 MB here at most (limit=), and has "));
  expect_says(listener, "alice may have 3.00 MB here at most (limit=), and has ");
  EXPECT_FALSE(fs::exists(here("dst/alice/second")));
  EXPECT_FALSE(has_parts("dst/alice")) << "what is refused takes no space";
  EXPECT_EQ(send_as("alice", make_file("one", "third", 500'000, 3)), kSuccess) << errors_;
  EXPECT_EQ(send_as("bob", make_file("one", "second", 2'000'000, 2)), kSuccess) << "hers, not his: " << errors_;
}

TEST_F(PeersApart, MayReplaceFilesAsOftenAsTheyLike) {
  write_peers("trees into=alice limit=3MB", "trees");
  Process listener = receive_into("dst", {.args = of_server()});
  std::ignore = make_file("one", "small", 10'000);
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    ASSERT_EQ(send_as("alice", make_file("one", "file", 1'400'000, seed)), kSuccess) << errors_ << listener.errors();
  EXPECT_EQ(read_file(here("dst/alice/file")), read_file(here("one/file")));
}

TEST_F(PeersApart, CountWhatIsThereAtTheBeginningOfASession) {
  write_peers("trees into=alice limit=3MB", "trees");
  std::ignore = make_file("dst/alice/deep/er", "old", 2'500'000);
  fs::create_hard_link(here("dst/alice/deep/er/old"), here("dst/alice/another-name"));
  Process listener = receive_into("dst", {.args = of_server()});
  EXPECT_EQ(send_as("alice", make_file("one", "new", 600'000)), kReadOrWriteFailed);
  EXPECT_EQ(send_as("alice", make_file("one", "less", 400'000)), kSuccess) << "one file, two names: " << errors_;
  fs::remove_all(here("dst/alice/deep"));
  fs::remove(here("dst/alice/another-name"));
  EXPECT_EQ(send_as("alice", make_file("one", "new", 2'000'000)), kSuccess) << errors_;
}

TEST_F(PeersApart, AreToldHowMuchIsInParts) {
  write_peers("trees into=alice limit=3MB", "trees");
  std::ignore = make_file("dst/alice/.udtcat-parts/0123", "part", 2'500'000);
  Process listener = receive_into("dst", {.args = of_server()});
  EXPECT_EQ(send_as("alice", make_file("one", "new", 600'000)), kReadOrWriteFailed);
  EXPECT_THAT(errors_, HasSubstr("of which 2.52 MB in parts of files that have not come whole, the oldest of 2"));
}

TEST_F(PeersApart, HaveNoDirectoryInAnothers) {
  write_peers("trees into=backup", "trees into=backup/bob");
  Process listener = receive_into("dst", {.args = of_server()});
  expect_exit(listener, kUsage);
  EXPECT_THAT(listener.errors(), HasSubstr("peers:2: into=backup/bob and into=backup of alice in line 1"));
}

TEST_F(PeersApart, HaveTheirRateTogetherSerial) {
  write_peers("trees rate=16M", "trees rate=160M");
  constexpr std::uint64_t kBytes = kSanitized ? 6'000'000 : 2'000'000;  // a second of the rate, or as a sanitizer takes
  const std::string file = make_file("one", "file", kBytes);
  Process listener = receive_into("dst", {.args = of_server()});
  const auto took = [&](const Arguments& peers) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Process> senders;
    int number = 0;
    for (const std::string& peer : peers) {
      const std::string own = make_file("own" + std::to_string(number), "file" + std::to_string(number), kBytes,
                                        static_cast<std::uint64_t>(begin.time_since_epoch().count() + number));
      ++number;
      senders.push_back(send({own}, {.args = of_client(peer)}));
    }
    for (Process& each : senders) expect_exit(each, kSuccess);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double one = took({"alice"});
  EXPECT_GT(one, 0.8) << "at 16 Mbit/s";
  EXPECT_GT(took({"alice", "alice"}), 1.5 * one) << "two of hers share it";
  EXPECT_LT(took({"bob"}), one / 2) << "his is another";
}

/// A forward of alice's, with a client at its end.
class PeersOfAForward : public PeersApart {
 protected:
  [[nodiscard]] Process start_service() const {
    return listen({.args = of_server({"--to", "127.0.0.1:" + std::to_string(service_.port()), "-v"})});
  }
  [[nodiscard]] Process start_front(const std::string& own, std::uint16_t port) const {
    return connect({.args = of_client(own, {"--from", "127.0.0.1:" + std::to_string(port)})});
  }
  void write_lines(const std::string& lines) const { home_.write("peers", lines); }
  static void expect_flows(const TcpClient& one, const TcpClient& other, const std::string& text) {
    EXPECT_TRUE(one.send(text) && other.send(text));
    EXPECT_EQ(other.receive(text.size()), text);
    EXPECT_EQ(one.receive(text.size()), text);
  }

  const TcpListener service_;
  const std::string next_ = make_pair("next");
};

TEST_F(PeersOfAForward, ReplaceTheirKeyWithoutAnInterruption) {
  write_lines("alice " + alice_ + " forward rate=1G\n");
  Process service = start_service();
  const std::uint16_t old_port = free_port(), new_port = free_port();
  Process old_front = start_front("alice", old_port);
  ASSERT_TRUE(accepts_tcp(old_port, kAtOnce)) << old_front.errors();
  std::ignore = service_.accept(kAtOnce);
  const TcpClient client(old_port, kAtOnce);
  const auto served = service_.accept(kAtOnce);
  ASSERT_TRUE(served) << service.errors();
  expect_flows(client, *served, "before");

  const auto until = std::chrono::seconds(4);
  write_lines("alice " + alice_ + " forward rate=1G valid-before=" + date_in(until) + "\nalice " + next_ +
              " forward rate=1G\n");
  service.send_signal(SIGHUP);
  expect_says(service, "again: 1 peer");
  Process new_front = start_front("next", new_port);
  ASSERT_TRUE(accepts_tcp(new_port, kAtOnce)) << new_front.errors();
  expect_says(service, "alice comes by the key of " + here("peers").string() + ":2");
  expect_flows(client, *served, "while both are valid");
  std::ignore = service_.accept(kAtOnce);
  const TcpClient new_client(new_port, kAtOnce);
  const auto newly_served = service_.accept(kAtOnce);
  ASSERT_TRUE(newly_served) << service.errors();

  EXPECT_TRUE(eventually(patience(until + std::chrono::seconds(10)), [&] {
    return count_lines(service, "the key of alice is no longer valid") == 1;
  })) << service.errors();
  expect_says(service, "the key of alice: it was valid until ");
  EXPECT_TRUE(client.receive_end());
  expect_flows(new_client, *newly_served, "after it");
  EXPECT_EQ(count_lines(service, "read "), 1) << "nobody had to ask for it: " << service.errors();
}

TEST_F(PeersOfAForward, AreRefusedBeforeTheirKeyCounts) {
  write_lines("alice " + alice_ + " valid-after=2100-01-01\n");
  Process service = start_service();
  Process front = start_front("alice", free_port());
  expect_says(service, "the key of alice: it is valid from 2100-01-01");
  expect_says(front, "the listener knows our key");
  expect_says(front, "or not at this time");
  const Ran status =
      run({.argv = {UDTCAT_BINARY, "status", "--json"}, .environment = {"XDG_RUNTIME_DIR=" + home_.path().string()}});
  EXPECT_THAT(status.output, HasSubstr(R"("reason":"the peers file does not let this key in at this time")"));
}

TEST_F(PeersApart, KnowAListenerByEachOfItsTwoKeys) {
  write_peers("pipe", "pipe");
  const std::string next = make_pair("next");
  home_.write("listeners", "db " + server_ + "\ndb " + next + "\n");
  for (const char* key : {"server", "next"}) {
    Process listener = listen({.args = {"-k", here(key).string(), "--peers", here("peers").string()}});
    Process connector =
        connect({.args = {"-k", here("alice").string(), "--peers", here("listeners").string(), "--peer", "db"}});
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
  }
  Process impostor = listen({.args = {"-k", here("bob").string(), "--peers", here("peers").string()}});
  Process connector =
      connect({.args = {"-k", here("alice").string(), "--peers", here("listeners").string(), "--peer", "db"}});
  expect_exit(connector, kRefused, kAtOnce);
}

}  // namespace
}  // namespace udtcat::test::e2e
