// SPDX-License-Identifier: Apache-2.0
/// Files and directories from one end to the other, and whether they are the same there, as rsync sees it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <source_location>
#include <string>

#include <nlohmann/json.hpp>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {

/// Makes a directory with everything that a tree can have and this user may make: names of all bytes, modes, times,
/// links, holes, FIFOs, attributes, depths. `root` is there then, and was not before.
void make_tree_of_everything(const std::filesystem::path& root);

/// Writes random data; the same for the same seed.
void write_random(const std::filesystem::path& file, std::uint64_t seed, std::uint64_t bytes);
/// `count` files of 1 to `most_bytes` bytes, 100 to a directory; how many bytes they have together.
std::uint64_t write_many(const std::filesystem::path& root, int count, std::uint64_t most_bytes);
/// Writes a byte of a file's, another than is there.
void change_byte(const std::filesystem::path& file, std::uint64_t at);
[[nodiscard]] std::uint64_t allocated_bytes(const std::filesystem::path& file);

/// Fails the test where rsync would change anything to make `copy` like `source`, to the nanosecond and to each link.
void expect_same(const std::filesystem::path& source, const std::filesystem::path& copy,
                 std::source_location where = std::source_location::current());

class TreesTest : public UdtcatTest {
 protected:
  void SetUp() override;

  [[nodiscard]] std::filesystem::path here(const std::string& name) const { return home_ / name; }
  /// `udtcat send PATH... 127.0.0.1 PORT …` and its three relatives.
  [[nodiscard]] Process send(const Arguments& paths, End end = {}) const;
  [[nodiscard]] Process receive_into(const std::string& directory, End end = {.args = {"--once"}}) const;
  [[nodiscard]] Process serve(const std::string& directory, End end = {.args = {"--once"}}) const;
  [[nodiscard]] Process receive(const Arguments& paths, const std::string& into, End end = {}) const;
  /// Sends into "dst" to a listener of its own; expects both to exit 0. The sender's figures.
  nlohmann::json transfer(const Arguments& paths, const Arguments& args_of_sender = {},
                          const Arguments& args_of_receiver = {},
                          std::source_location where = std::source_location::current()) const;
  /// As transfer(), with these statuses.
  void expect_statuses(const Arguments& paths, int sender_status, int receiver_status,
                       std::source_location where = std::source_location::current()) const;
  /// The object that the last line of stderr is; an empty one where it is none.
  [[nodiscard]] static nlohmann::json figures_of(const Process& process);
  /// Lets so much time pass that what was made before is known to be unchanged.  spec: docs/spec/trees.md §3
  static void let_stamps_come();
  /// Whether a cut transfer has left something in the directory.
  [[nodiscard]] bool has_parts(const std::string& directory = "dst") const {
    return std::filesystem::exists(here(directory) / ".udtcat-parts");
  }

 private:
  [[nodiscard]] Process tree_command(Arguments words, End end) const;
};

}  // namespace udtcat::test::e2e
