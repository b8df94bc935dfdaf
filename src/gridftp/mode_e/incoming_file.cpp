// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/incoming_file.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace udtcat::gridftp {

namespace {

tl::unexpected<Error> violation(std::string why) {
  return fail(Errc::protocol_violated, "receive a file in MODE E", std::move(why));
}

}  // namespace

Status IncomingFile::on_header(const BlockHeader& header, std::size_t address) {
  if (header.ends_file()) {
    auto& [seen, said] = ends_[address];
    if (header.offset == 0 || header.offset > kMaxConnections)
      return violation(fmt::format("{} connections are said to bring it", header.offset));
    if (said && *said != header.offset)
      return violation(fmt::format("first {} connections are said to bring it, then {}", *said, header.offset));
    if (header.offset < seen)
      return violation(fmt::format("{} connections are said to bring it, and {} have ended", header.offset, seen));
    said = header.offset;
    return {};
  }
  const std::uint64_t end = expected_ ? expected_->end : kMaxBytes;
  const std::uint64_t begin = expected_ ? expected_->begin : 0;
  if (header.count == 0) return {};
  if (header.offset < begin || header.offset > end || header.count > end - header.offset)
    return violation(
        fmt::format("{} bytes at {} are not part of it ({} to {})", header.count, header.offset, begin, end));
  return {};
}

Status IncomingFile::on_end_of_data(std::size_t address) {
  auto& [seen, said] = ends_[address];
  if (++seen > said.value_or(kMaxConnections)) return violation("it ends on more connections than were said");
  return {};
}

bool IncomingFile::ended() const {
  return std::ranges::all_of(ends_, [](const Ends& ends) { return ends.said == ends.seen; });
}

Status IncomingFile::whole() const {
  const files::ByteRange all = expected_.value_or(files::ByteRange{0, arrived_.end()});
  const auto missing = arrived_.missing_from(all);
  if (missing.empty()) return {};
  return fail(Errc::connection_broken, "receive a file in MODE E",
              fmt::format("the sender ended it without bytes {} to {}", missing.front().begin, missing.front().end));
}

}  // namespace udtcat::gridftp
