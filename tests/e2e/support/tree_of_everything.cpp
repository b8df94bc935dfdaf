// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 255;  // spec: limits.h, NAME_MAX

struct Time {
  std::int64_t seconds;
  std::int64_t nanoseconds;
};
/// Before 1970, around it, past 32 bits, and with every digit.
constexpr std::array<Time, 6> kTimes{{{-1'000'000'000, 999'999'999},
                                      {-1, 1},
                                      {0, 0},
                                      {0, 500'000'000},
                                      {1'700'000'000, 123'456'789},
                                      {5'000'000'000, 1}}};

void set_time(const fs::path& path, Time time) {
  const std::array<timespec, 2> times{timespec{.tv_sec = 1, .tv_nsec = 0},
                                      timespec{.tv_sec = time.seconds, .tv_nsec = time.nanoseconds}};
  if (::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) die("utimensat " + path.string());
}

void set_mode(const fs::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0) die("chmod " + path.string());
}

void write(const fs::path& file, const std::string& content) { std::ofstream(file, std::ios::binary) << content; }

void make_names(const fs::path& at) {
  fs::create_directory(at);
  std::string all;
  for (int byte = 1; byte <= 255; ++byte) {
    if (byte == '/') continue;
    all += static_cast<char>(byte);
    if (byte != '.') write(at / std::string(1, static_cast<char>(byte)), "of one byte");
  }
  write(at / all, "of all bytes");
  write(at / std::string(kMaxName, 'n'), "of the longest");
  fs::create_directory(at / (std::string(kMaxName - 1, '\n') + '\\'));
  for (const char* name : {"...", "-rf", "--", "~", "*", "a b ", "%s%n", "..x", "\xff\xfe"}) write(at / name, name);
}

void make_modes(const fs::path& at) {
  fs::create_directory(at);
  for (const mode_t mode : {0000U, 0001U, 0200U, 0444U, 0644U, 0777U, 01644U, 02755U, 04755U, 06711U, 07777U}) {
    const fs::path file = at / ("file" + std::to_string(mode));
    write(file, "of a mode");
    set_mode(file, mode);
    const fs::path directory = at / ("directory" + std::to_string(mode));
    fs::create_directory(directory);
    if (::geteuid() == 0) write(directory / "within", "a directory of a mode");
    set_mode(directory, ::geteuid() == 0 ? mode : mode | S_IRWXU);
  }
}

void make_times(const fs::path& at) {
  fs::create_directory(at);
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    const std::string number = std::to_string(i);
    write(at / ("file" + number), "of a time");
    fs::create_directory(at / ("directory" + number));
    fs::create_symlink("nowhere", at / ("link" + number));
    if (::mkfifo((at / ("fifo" + number)).c_str(), 0640) != 0) die("mkfifo");
    for (const char* kind : {"file", "directory", "link", "fifo"}) set_time(at / (kind + number), kTimes[i]);
  }
}

void make_links(const fs::path& at) {
  fs::create_directories(at / "below");
  write(at / "original", "with four names");
  fs::create_hard_link(at / "original", at / "second");
  fs::create_hard_link(at / "original", at / "below" / "third");
  fs::create_hard_link(at / "original", at / "another name before");
  write(at / "empty", "");
  fs::create_hard_link(at / "empty", at / "empty too");
  fs::create_symlink("original", at / "relative");
  fs::create_symlink("below", at / "to a directory");
  fs::create_symlink("..", at / "upwards");
  fs::create_symlink("/etc/passwd", at / "absolute");
  fs::create_symlink("nobody/is here", at / "dangling");
  fs::create_symlink("itself", at / "itself");
  fs::create_symlink(std::string(4000, 'x'), at / "long");
}

void make_sizes(const fs::path& at) {
  fs::create_directory(at);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kMiB - 1, kMiB, kMiB + 1, 3 * kMiB + 17})
    write_random(at / std::to_string(bytes), bytes, bytes);
  write(at / "zeros", std::string(2 * kMiB + 5, '\0'));
}

/// Data in the middle of holes, in an odd place, and a hole at the end.
void make_holes(const fs::path& at) {
  fs::create_directory(at);
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{5 * kMiB + 4096}, 11 * kMiB}) {
    const fs::path file = at / ("data at " + std::to_string(begin));
    write_random(file, begin + 1, 12'345);
    fs::resize_file(file, 12'345 + begin);
    if (begin > 0) {
      std::fstream both(file, std::ios::binary | std::ios::in | std::ios::out);
      both.seekp(static_cast<std::streamoff>(begin));
      both << std::string(12'345, 'd');
    }
    fs::resize_file(file, 30 * kMiB + 3);
  }
  write(at / "nothing but a hole", "");
  fs::resize_file(at / "nothing but a hole", 100 * kMiB);
}

void make_attributes(const fs::path& at) {
  fs::create_directory(at);
  write(at / "file", "with attributes");
  fs::create_directory(at / "directory");
  const std::string binary("\0\xff\n", 3);
  for (const char* name : {"file", "directory"}) {
    if (::setxattr((at / name).c_str(), "user.text", "value", 5, 0) != 0 && errno != ENOTSUP) die("setxattr");
    std::ignore = ::setxattr((at / name).c_str(), "user.binary", binary.data(), binary.size(), 0);
    std::ignore = ::setxattr((at / name).c_str(), "user.empty", "", 0, 0);
  }
}

void make_depths(fs::path at) {
  constexpr int kLevels = 12;
  for (int level = 0; level < kLevels; ++level) at /= std::string(kMaxName, static_cast<char>('a' + level));
  fs::create_directories(at);
  write(at / "deep", "below long names");
}

}  // namespace

void make_tree_of_everything(const fs::path& root) {
  fs::create_directory(root);
  make_names(root / "names");
  make_modes(root / "modes");
  make_links(root / "links");
  make_sizes(root / "sizes");
  make_holes(root / "holes");
  make_attributes(root / "attributes");
  make_depths(root / "depths");
  fs::create_directories(root / "empty" / "too");
  if (::mkfifo((root / "fifo").c_str(), 0600) != 0) die("mkfifo");
  make_times(root / "times");
  set_time(root / "times", kTimes[0]);
  set_mode(root, 0751);
  set_time(root, kTimes[1]);
}

}  // namespace udtcat::test::e2e
