// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/mounted_trees_test.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::test::e2e {

namespace {

dev_t device_of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

/// The object that a line of `said` is.
nlohmann::json object_in(const std::string& said) {
  const std::size_t begin = said.find("{\"");
  if (begin == std::string::npos) return nlohmann::json::object();
  const auto object = nlohmann::json::parse(said.substr(begin, said.find('\n', begin) - begin), nullptr, false);
  return object.is_object() ? object : nlohmann::json::object();
}

}  // namespace

void MountedTreesTest::SetUp() {
  TreesTest::SetUp();
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    die("make a mount namespace");
  for (const char* directory : {"src", "dst"}) std::filesystem::create_directory(here(directory));
}

void MountedTreesTest::TearDown() {
  std::ignore = ::umount2(here("dst").c_str(), MNT_DETACH);  // not mounted: it was said
  server_.reset();
}

void MountedTreesTest::script(const std::string& text) const {
  const Ran ran = run({.argv = {"bash", "-ec", text}, .working_directory = home_.path()});
  ASSERT_EQ(ran.status, 0) << text << '\n' << ran.output << ran.errors;
}

void MountedTreesTest::mount(const FileSystem& file_system) {
  const dev_t before = device_of(here("dst"));
  script(file_system.make);
  if (file_system.server.empty()) return;
  server_.emplace(Command{.argv = file_system.server, .working_directory = home_.path()});
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    const dev_t now = device_of(here("dst"));
    return now != before && now != 0;
  })) << server_->errors();
}

MountedTreesTest::Outcome MountedTreesTest::transfer_src() const {
  Process receiver = receive_into("dst");
  Process sender = send({"src"}, {.args = {"--stats=json"}});
  Outcome outcome;
  outcome.sender = sender.wait(kTransferLimit).value_or(Ending{-1}).status;
  outcome.receiver = receiver.wait(kAtOnce).value_or(Ending{-1}).status;
  outcome.said_by_sender = sender.errors();
  outcome.said_by_receiver = receiver.errors();
  outcome.bytes_sent = object_in(outcome.said_by_sender).value("bytes_sent", std::uint64_t{0});
  return outcome;
}

void MountedTreesTest::expect_refused(const Outcome& outcome, const std::string& text,
                                      std::source_location where) const {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected to be refused");
  EXPECT_EQ(outcome.sender, kReadOrWriteFailed) << outcome.said_by_sender;
  EXPECT_EQ(outcome.receiver, kReadOrWriteFailed) << outcome.said_by_receiver;
  EXPECT_NE(outcome.said_by_sender.find(text), std::string::npos) << outcome.said_by_sender;
  EXPECT_NE(outcome.said_by_receiver.find(text), std::string::npos) << outcome.said_by_receiver;
}

}  // namespace udtcat::test::e2e
