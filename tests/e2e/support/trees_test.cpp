// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/trees_test.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bytes.hpp"

namespace udtcat::test::e2e {

namespace fs = std::filesystem;

void write_random(const fs::path& file, std::uint64_t seed, std::uint64_t bytes) {
  RandomSequence sequence(seed);
  std::vector<std::byte> chunk(256 * kKiB);
  std::ofstream out(file, std::ios::binary);
  for (std::uint64_t left = bytes; left > 0;) {
    const auto part = std::span(chunk).first(std::min<std::uint64_t>(left, chunk.size()));
    sequence.fill(part);
    out.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
    left -= part.size();
  }
  if (!out.flush()) die("write " + file.string());
}

std::uint64_t write_many(const fs::path& root, int count, std::uint64_t most_bytes) {
  constexpr int kEach = 100;
  constexpr std::uint64_t kStep = 7919;  // a prime: sizes of all kinds, the same each time
  std::uint64_t total = 0;
  for (int number = 0; number < count; ++number) {
    const fs::path directory = root / ("d" + std::to_string(number / kEach));
    if (number % kEach == 0) fs::create_directories(directory);
    const std::uint64_t bytes = 1 + static_cast<std::uint64_t>(number) * kStep % most_bytes;
    write_random(directory / ("f" + std::to_string(number)), static_cast<std::uint64_t>(number), bytes);
    total += bytes;
  }
  return total;
}

void change_byte(const fs::path& file, std::uint64_t at) {
  std::fstream both(file, std::ios::binary | std::ios::in | std::ios::out);
  both.seekg(static_cast<std::streamoff>(at));
  const int byte = both.get();
  both.seekp(static_cast<std::streamoff>(at));
  both.put(static_cast<char>(byte ^ 1));
  if (!both.flush()) die("change " + file.string());
}

std::uint64_t allocated_bytes(const fs::path& file) {
  constexpr std::uint64_t kBlockBytes = 512;  // spec: stat(3type), st_blocks
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
}

void expect_same(const fs::path& source, const fs::path& copy, std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected to be the same");
  const Ran ran = run({.argv = {"rsync", "-aHXn", "--checksum", "--delete", "--modify-window=-1", "--itemize-changes",
                                source.string() + '/', copy.string() + '/'}},
                      kTransferLimit);
  EXPECT_EQ(ran.status, 0) << ran.errors;
  constexpr std::size_t kShownBytes = 2000;
  EXPECT_EQ(ran.output.substr(0, kShownBytes), "") << "rsync would change this in " << copy;
}

void TreesTest::SetUp() {
  ASSERT_EQ(run({.argv = {"rsync", "--version"}}).status, 0) << "rsync, by which trees are compared, is not here";
}

Process TreesTest::tree_command(Arguments words, End end) const {
  if (!end.key) end.key = key_;
  end.environment.push_back("XDG_CACHE_HOME=" + here("cache").string());
  return udtcat(std::move(words), std::move(end));
}

Process TreesTest::send(const Arguments& paths, End end) const {
  Arguments words{"send"};
  words.insert(words.end(), paths.begin(), paths.end());
  words.insert(words.end(), {host_, std::to_string(port_)});
  return tree_command(std::move(words), std::move(end));
}

Process TreesTest::receive_into(const std::string& directory, End end) const {
  return tree_command({"receive", "-l", host_ + ':' + std::to_string(port_), directory}, std::move(end));
}

Process TreesTest::serve(const std::string& directory, End end) const {
  return tree_command({"send", "--serve", directory, "-l", host_ + ':' + std::to_string(port_)}, std::move(end));
}

Process TreesTest::receive(const Arguments& paths, const std::string& into, End end) const {
  Arguments words{"receive", "--into", into};
  words.insert(words.end(), paths.begin(), paths.end());
  words.insert(words.end(), {host_, std::to_string(port_)});
  return tree_command(std::move(words), std::move(end));
}

nlohmann::json TreesTest::transfer(const Arguments& paths, const Arguments& args_of_sender,
                                   const Arguments& args_of_receiver, std::source_location where) const {
  End receiving{.args = {"--once"}};
  receiving.args.insert(receiving.args.end(), args_of_receiver.begin(), args_of_receiver.end());
  End sending{.args = {"--stats=json"}};
  sending.args.insert(sending.args.end(), args_of_sender.begin(), args_of_sender.end());
  Process receiver = receive_into("dst", std::move(receiving));
  Process sender = send(paths, std::move(sending));
  expect_exit(sender, kSuccess, kTransferLimit, where);
  expect_exit(receiver, kSuccess, kAtOnce, where);
  return figures_of(sender);
}

void TreesTest::expect_statuses(const Arguments& paths, int sender_status, int receiver_status,
                                std::source_location where) const {
  Process receiver = receive_into("dst");
  Process sender = send(paths);
  expect_exit(sender, sender_status, kTransferLimit, where);
  expect_exit(receiver, receiver_status, kAtOnce, where);
}

nlohmann::json TreesTest::figures_of(const Process& process) {
  const auto lines = process.error_lines();
  const auto figures = nlohmann::json::parse(lines.empty() ? "" : lines.back(), nullptr, false);
  return figures.is_object() ? figures : nlohmann::json::object();
}

void TreesTest::let_fingerprints_come() { let_pass(std::chrono::milliseconds(100)); }

}  // namespace udtcat::test::e2e
