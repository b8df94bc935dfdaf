// SPDX-License-Identifier: Apache-2.0
#include "fault/stage.hpp"

#include <tuple>

#include <sys/mount.h>

namespace udtcat::fault {

namespace {

std::filesystem::path emptied(const std::filesystem::path& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  return directory;
}

}  // namespace

Stage::Stage(Subject subject) : subject_(std::move(subject)) {
  const auto small = emptied(home_.path() / "small");
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, kSmallDiskSize) != 0) test::die("mount a small disk");
}

Stage::~Stage() {
  // The mount goes with the program's namespace in any case; here it makes way for the removal.
  std::ignore = ::umount2((home_.path() / "small").c_str(), MNT_DETACH);
}

const test::SshHost& Stage::ssh() {
  if (!ssh_) ssh_ = std::make_unique<test::SshHost>(path_.host(Side::far), subject_.program.parent_path());
  return *ssh_;
}

std::filesystem::path Stage::directory(const std::string& name) { return emptied(home_.path() / "runs" / name); }

std::filesystem::path Stage::small_directory(const std::string& name) { return emptied(home_.path() / "small" / name); }

}  // namespace udtcat::fault
