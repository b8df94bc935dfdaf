// SPDX-License-Identifier: Apache-2.0
#include "trees/top_directory.hpp"

#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/accounts.hpp"
#include "files/attributes.hpp"
#include "files/stamp.hpp"
#include "lib/core/try.hpp"

namespace udtcat::trees {

Result<TopDirectory> TopDirectory::open(const files::FileTree& tree) {
  UDTCAT_TRY(auto directory, tree.enter("", Errc::local_write_failed));
  TopDirectory top(std::move(directory));
  const int number = top.directory_->number();
  struct stat status {};
  const bool is_read_only = ::faccessat(number, ".", W_OK | X_OK, AT_EACCESS) != 0 && ::fstat(number, &status) == 0 &&
                            status.st_uid == ::geteuid() && (status.st_mode & S_IRWXU) != S_IRWXU;
  if (!is_read_only) return top;
  const std::uint32_t mode = status.st_mode & files::kModeBits;
  UDTCAT_CHECK(files::set_mode(*top.directory_, mode | S_IRWXU, tree.shown(".")));
  top.mode_ = mode;
  return top;
}

TopDirectory::~TopDirectory() {
  if (directory_ && mode_) std::ignore = files::set_mode(*directory_, *mode_, "");  // nobody is left to hear of it
}

std::optional<std::uint32_t> TopDirectory::own_mode(const std::optional<std::string>& home) const {
  struct stat status {};
  if (::fstat(directory_->number(), &status) != 0) return std::nullopt;
  const auto is_at = [&](const char* path) {
    struct stat there {};
    return ::stat(path, &there) == 0 && files::is_same_file(status, there);
  };
  if (!is_at("/") && !files::is_home(status) && !(home && is_at(home->c_str()))) return std::nullopt;
  return mode_.value_or(status.st_mode & files::kModeBits);
}

}  // namespace udtcat::trees
