// SPDX-License-Identifier: Apache-2.0
/// Each peer of a server of ours in its own part of the root.
#include <filesystem>

#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

class GridftpPeers : public GridftpTest {
 protected:
  GridftpPeers() {
    key_ = "";
    fs::create_directory(here("root"));
    home_.write("peers", "alice " + alice_ + " gridftp into=alice limit=3MB\nbob " + bob_ + " gridftp into=bob\n");
  }
  [[nodiscard]] std::string make_pair(const std::string& name) const {
    const Ran made = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", here(name).string()}});
    EXPECT_EQ(made.status, kSuccess) << made.errors;
    return made.output.substr(0, made.output.find('\n'));
  }
  [[nodiscard]] Process start_server() const {
    return start_gridftp({"serve", "--root", here("root"), "-l", "127.0.0.1:" + std::to_string(serve_port_), "-k",
                          here("server"), "--peers", here("peers"), "-v"});
  }
  [[nodiscard]] Ran as(const std::string& peer, const char* verb, const Arguments& files) const {
    Arguments words{verb, "-k", here(peer), "--peer", server_key_, "--retries", "0"};
    words.insert(words.end(), files.begin(), files.end());
    return gridftp(words);
  }
  [[nodiscard]] std::string url(const std::string& path) const {
    return "udtcat://127.0.0.1:" + std::to_string(serve_port_) + '/' + path;
  }

  const std::string server_key_ = make_pair("server");
  const std::string alice_ = make_pair("alice");
  const std::string bob_ = make_pair("bob");
};

TEST_F(GridftpPeers, SeeTheirOwnDirectoriesForTheRoot) {
  Process server = start_server();
  const auto of_alice = random_file("of-alice", 100'000), of_bob = random_file("of-bob", 200'000);
  EXPECT_EQ(as("alice", "put", {of_alice, url("same")}).status, kSuccess) << server.errors();
  EXPECT_EQ(as("bob", "put", {of_bob, url("same")}).status, kSuccess) << server.errors();
  EXPECT_EQ(read_file(here("root/alice/same")), read_file(of_alice));
  EXPECT_EQ(read_file(here("root/bob/same")), read_file(of_bob));
  EXPECT_EQ(as("alice", "get", {url("same"), "got"}).status, kSuccess);
  EXPECT_EQ(read_file(here("got")), read_file(of_alice));
  EXPECT_EQ(as("alice", "get", {url("../same"), "above"}).status, kSuccess) << "the root is above itself";
  EXPECT_EQ(read_file(here("above")), read_file(of_alice));
}

TEST_F(GridftpPeers, ReachNoOthersByPathsAndLinks) {
  Process server = start_server();
  const auto of_bob = random_file("of-bob", 200'000);
  ASSERT_EQ(as("bob", "put", {of_bob, url("secret")}).status, kSuccess) << server.errors();
  fs::create_directory(here("root/alice"));
  fs::create_directory_symlink("../bob", here("root/alice/door"));
  fs::create_directory_symlink(here("root/bob"), here("root/alice/absolute"));
  fs::create_symlink("../bob/secret", here("root/alice/link"));
  for (const char* path : {"../bob/secret", "bob/secret", "door/secret", "absolute/secret", "link"})
    EXPECT_NE(as("alice", "get", {url(path), "stolen"}).status, kSuccess) << path;
  for (const char* path : {"../bob/secret", "door/secret", "absolute/secret"})
    EXPECT_NE(as("alice", "put", {here("of-bob"), url(path)}).status, kSuccess) << path;
  EXPECT_EQ(read_file(here("root/bob/secret")), read_file(of_bob));
  EXPECT_FALSE(fs::exists(here("stolen")));
}

TEST_F(GridftpPeers, MayHaveAsMuchAsTheirLimitSays) {
  Process server = start_server();
  const auto two = random_file("two", 2'000'000), less = random_file("less", 500'000);
  ASSERT_EQ(as("alice", "put", {two, url("first")}).status, kSuccess) << server.errors();
  const Ran refused = as("alice", "put", {two, url("second")});
  EXPECT_EQ(refused.status, kReadOrWriteFailed) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("alice may have 3.00 MB here at most (limit=)"));
  expect_says(server, "alice may have 3.00 MB here at most (limit=)");
  EXPECT_FALSE(fs::exists(here("root/alice/second")) || fs::exists(here("root/alice/second.part")));
  EXPECT_EQ(as("alice", "put", {less, url("third")}).status, kSuccess) << server.errors();
  EXPECT_EQ(as("alice", "put", {two, url("first")}).status, kReadOrWriteFailed)
      << "the old one stands beside the new one";
  EXPECT_EQ(as("bob", "put", {two, url("second")}).status, kSuccess) << server.errors();
}

TEST_F(GridftpPeers, LeaveNoNameWhereNoneFits) {
  fs::create_directory(here("root/alice"));
  std::ignore = random_file("root/alice/f", 2'998'000);
  Process server = start_server();
  const auto small = random_file("small", 1'000);
  for (const char* name : {"one", "other"}) {
    const Ran refused = as("alice", "put", {"--range", "0-1000", small, url(name)});
    EXPECT_EQ(refused.status, kReadOrWriteFailed) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("552"));
    EXPECT_FALSE(fs::exists(here("root/alice") / fs::path(name)));
  }
  expect_says(server, "/one: write /one: alice may have 3.00 MB here at most (limit=)");
  EXPECT_EQ(as("alice", "put", {small, url("small")}).status, kReadOrWriteFailed);
  fs::remove(here("root/alice/f"));
  EXPECT_EQ(as("alice", "put", {small, url("small")}).status, kSuccess) << "at once: " << server.errors();
}

}  // namespace
}  // namespace udtcat::test::e2e
