// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/limited_place.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>

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

Task<void> LimitedPlace::pause() {
  constexpr std::chrono::milliseconds kLookEvery{20};  // guess: a small directory is counted by then
  boost::asio::steady_timer timer(io_);
  timer.expires_after(kLookEvery);
  boost::system::error_code ignored;
  co_await timer.async_wait(into(ignored));
}

Task<Status> LimitedPlace::count() {
  if (!limit_) co_return Status{};
  if (!limit_->count) limit_->count = limit_->use->count();
  while (!over_) {
    if (const auto ended = limit_->use->result_of(*limit_->count)) {
      if (!*ended) limit_->count.reset();  // the next time it may be better
      co_return *ended;
    }
    co_await pause();
  }
  co_return tl::unexpected(*over_);
}

Task<Result<files::DirectoryUse::Growth>> LimitedPlace::grow(std::uint64_t bytes, std::string what) {
  files::DirectoryUse::CountNumber asked;
  while (limit_ && !over_) {
    UDTCAT_CO_TRY(auto growth, limit_->try_grow(bytes, what, asked));
    if (growth) co_return std::move(*growth);
    co_await pause();
  }
  if (over_) co_return tl::unexpected(*over_);
  co_return files::DirectoryUse::Growth();
}

void LimitedPlace::count_in(BlockStore& file) const {
  if (limit_) file.count_in(limit_->use);
}

Task<Status> LimitedPlace::make_directory(std::string path) {
  UDTCAT_CO_CHECK(co_await count());
  UDTCAT_CO_TRY(const auto held, co_await grow(files::kNameBytes, "make the directory " + path));
  auto made = co_await on_disk(io_, [&] { return root_.make_directory(path); });
  if (!made && limit_) limit_->use->shrink(files::kNameBytes);
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
  return limit_ ? limit_->use->rename(source, target) : source.rename_to(target);
}

}  // namespace udtcat::gridftp
