// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/limited_place.hpp"

#include <utility>

#include "gridftp/disk/disk_threads.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

Status LimitedPlace::enter(const tool::PeerPlace& place, bool is_read_only, files::DirectoryUses& uses) {
  if (place.directory.empty()) return {};
  UDTCAT_TRY(root_, root_.below(place.directory, !is_read_only));
  if (!place.limit_bytes) return {};
  UDTCAT_TRY(auto use, uses.of(root_.tree()));
  limit_ = files::DirectoryLimit{.use = std::move(use), .bytes = *place.limit_bytes, .peer = place.name};
  return {};
}

Task<Status> LimitedPlace::await_count() {
  if (!limit_) co_return Status{};
  if (!limit_->count) limit_->count = limit_->use->begin_count();
  while (!over_) {
    if (const auto ended = limit_->use->result_of(*limit_->count)) {
      if (!*ended) limit_->count.reset();  // the next time it may be better
      co_return *ended;
    }
    co_await pause(io_, files::DirectoryUse::kAskAgain);
  }
  co_return tl::unexpected(*over_);
}

Task<Result<files::DirectoryUse::Reservation>> LimitedPlace::reserve(std::uint64_t bytes, std::string what) {
  files::DirectoryUse::CountNumber asked;
  while (limit_ && !over_) {
    UDTCAT_CO_TRY(auto reservation, limit_->try_reserve(bytes, what, asked));
    if (reservation) co_return std::move(*reservation);
    co_await pause(io_, files::DirectoryUse::kAskAgain);
  }
  if (over_) co_return tl::unexpected(*over_);
  co_return files::DirectoryUse::Reservation();
}

void LimitedPlace::charge(BlockStore& file) const {
  if (limit_) file.charge_to(limit_->use);
}

Task<Status> LimitedPlace::make_directory(std::string path) {
  UDTCAT_CO_CHECK(co_await await_count());
  UDTCAT_CO_TRY(const auto held, co_await reserve(files::kNameBytes, "make the directory " + path));
  auto made = co_await on_disk(io_, [&] { return root_.make_directory(path); });
  if (!made && limit_) limit_->use->release(files::kNameBytes);
  co_return made;
}

Status LimitedPlace::remove(const std::string& path, bool directory) const {
  if (!limit_) return root_.remove(path, directory);
  UDTCAT_TRY(const auto location, root_.location_of(path));
  return limit_->use->remove(location, [&] { return root_.remove(path, directory); });
}

Status LimitedPlace::rename(const std::string& from, const std::string& to) const {
  UDTCAT_TRY(const auto source, root_.location_of(from));
  UDTCAT_TRY(const auto target, root_.location_of(to));
  UDTCAT_CHECK(limit_ ? limit_->use->rename(source, target) : source.rename_to(target));
  UDTCAT_CHECK(target.sync_name());
  return source.sync_name();
}

}  // namespace udtcat::gridftp
