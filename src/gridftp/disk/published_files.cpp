// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/published_files.hpp"

#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>

#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kPlacedBytes = 256;  // guess: what a file costs beside its name, in two maps

std::size_t cost_of(const std::string& name) { return kPlacedBytes + 3 * name.size(); }

std::string in_small_letters(std::string name) {
  for (char& each : name)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return name;
}

/// The status of a file without other hard links: of one with several, only one name is replaced.
std::optional<struct stat> status_of(const files::FileLocation& location) {
  if (!location.is_only_name()) return std::nullopt;
  return location.look_at_name().value_or(std::nullopt);
}

std::int64_t time_of(const struct stat& status) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

}  // namespace

Status PublishedFiles::may_replace(const files::FileLocation& location, const std::string& name) const {
  const auto status = status_of(location);
  if (!status) return {};
  const auto found = published_.find({status->st_dev, status->st_ino});
  if (found == published_.end() || found->second.changed != time_of(*status) || found->second.name == name) return {};
  return would_be_lost(location, found->second.name);
}

Status PublishedFiles::may_stand_beside(const files::FileLocation& location, const std::string& name) const {
  const auto found = by_small_letters_.find(in_small_letters(name));
  if (found == by_small_letters_.end() || found->second == name || !location.exists()) return {};
  return would_be_lost(location, found->second);
}

tl::unexpected<Error> PublishedFiles::would_be_lost(const files::FileLocation& location, const std::string& earlier) {
  return fail(Errc::local_write_failed, "write " + location.shown(),
              fmt::format("the file that stands there has just come as {}, and would be lost",
                          core::printable(earlier, core::kShownBytes)));
}

void PublishedFiles::note(const files::FileLocation& location, const std::string& name) {
  forget(location);
  const std::size_t bytes = cost_of(name);
  const auto status = status_of(location);
  if (!status) return;
  if (left_->fetch_sub(static_cast<std::int64_t>(bytes)) < static_cast<std::int64_t>(bytes)) {
    *left_ += static_cast<std::int64_t>(bytes);
    return;
  }
  published_.emplace(File{status->st_dev, status->st_ino}, PublishedFile{time_of(*status), name});
  by_small_letters_.insert_or_assign(in_small_letters(name), name);
  taken_ += bytes;
}

void PublishedFiles::forget(const files::FileLocation& location) {
  const auto status = status_of(location);
  if (!status) return;
  const auto found = published_.find({status->st_dev, status->st_ino});
  if (found == published_.end()) return;
  const std::size_t bytes = cost_of(found->second.name);
  by_small_letters_.erase(in_small_letters(found->second.name));
  published_.erase(found);
  *left_ += static_cast<std::int64_t>(bytes);
  taken_ -= bytes;
}

}  // namespace udtcat::gridftp
