// SPDX-License-Identifier: Apache-2.0
/// A receiver of a directory, whose sender is played by a test.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "trees/ends.hpp"

namespace udtcat::trees {

class Receivers : public testing::Test {
 protected:
  void begin(const ReceivingEnd::Change& change = {}) { end.emplace(in, change); }
  Peer& peer() { return end->peer; }
  EntryId announce(const Entry& entry) {
    peer().say(entry);
    return next_id++;
  }
  /// A file that the receiver asks for.
  EntryId begin_file(const std::string& path = "f", std::uint64_t bytes = kContent.size()) {
    const EntryId id = announce(file_at(path, bytes));
    EXPECT_EQ(peer().hear<Want>().entry, id);
    return id;
  }
  void send_contents(EntryId id, std::span<const std::byte> content = kContent) {
    for (std::uint64_t chunk = 0; chunk < chunks_of(content.size()); ++chunk)
      peer().gather(chunk_of(id, content, chunk));
    peer().say(FileDone{id, root_of(content), {}});
  }
  void give_file(const std::string& path, std::span<const std::byte> content = kContent) {
    send_contents(begin_file(path, content.size()), content);
  }
  void expect_done() {
    peer().say(End{next_id});
    EXPECT_EQ(peer().hear<Done>().entries, next_id);
    const Status over = end->over();
    EXPECT_TRUE(over) << over.error().message();
  }
  /// The receiver says that it is over, and why; no name is there but those.
  void expect_violation(const std::string& cause, const std::vector<std::string>& names = {}) {
    const Status over = end->over();
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::protocol_violated);
    EXPECT_THAT(over.error().message(), testing::HasSubstr(cause));
    ASSERT_TRUE(end->failed) << "the sender hears of it";
    EXPECT_EQ(end->failed->cause, Errc::stream_refused);
    EXPECT_EQ(names_in(in), names);
  }
  static std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.path().filename() != kPartsName) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string made_in(const std::string& name) const {
    std::filesystem::create_directory(folder / name);
    return folder / name;
  }
  [[nodiscard]] struct stat status_of(const std::string& path) const {
    struct stat status {};
    EXPECT_EQ(::lstat((in + '/' + path).c_str(), &status), 0) << path;
    return status;
  }

  Folder folder;
  const std::string in = made_in("in");
  const std::string outside = made_in("outside");
  std::optional<ReceivingEnd> end;
  EntryId next_id = 0;
};

}  // namespace udtcat::trees
