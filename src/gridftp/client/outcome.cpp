// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/outcome.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>

#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

/// Errors of our side, which count more than the server's reply.
bool is_our_own(const Error& error) {
  switch (error.code) {
    case Errc::local_read_failed:
    case Errc::local_write_failed:
    case Errc::authentication_failed:
    case Errc::parameters_refused:
    case Errc::protocol_violated:
      return true;
    default:
      return false;
  }
}

/// Globus' servers reply 500 to any failure, with the system's error text: these texts are about the file.
bool is_about_the_file(const std::string& said) {
  constexpr std::array kWords{"Permission denied",     "Operation not permitted", "No such file or directory",
                              "Not a directory",       "Is a directory",          "File exists",
                              "Read-only file system", "File name too long",      "Too many levels of symbolic links"};
  return said.starts_with("500") &&
         std::ranges::any_of(kWords, [&](const char* words) { return said.find(words) != std::string::npos; });
}

}  // namespace

Task<Status> outcome_of(RemoteServer& server, Status data, std::shared_ptr<Promise<Status>> final_reply) {
  const bool ours = !data && is_our_own(data.error());
  if (!data && !final_reply->is_set()) {
    // A server that breaks the data connection mostly replies why. Where we broke it, no reply is awaited.
    if (ours) server.control().close();
    server.await_last_reply();
  }
  auto replied = co_await final_reply->get();
  const bool refused = !replied && replied.error().code == Errc::stream_refused;
  if (data || (refused && !ours)) co_return replied;
  co_return data;
}

ControlConnection::Moved counter_of(SharedProgress progress) {
  return [progress = std::move(progress)] { return progress->bytes; };
}

MarkerHandler ignore_markers() {
  return [](const files::ByteRanges&) {};
}

bool is_final(const Error& error) {
  return error.code == Errc::stream_refused && (error.cause.starts_with("55") || is_about_the_file(error.cause));
}

bool is_of_one(const Error& error, bool was_last) {
  if (error.code == Errc::local_read_failed) return true;
  // spec: RFC 959 §4.2.2: 450 "file busy"; 552 "exceeded storage allocation", which other files would exceed, too
  if (is_final(error)) return !error.cause.starts_with("552");
  return was_last && error.code == Errc::stream_refused && error.cause.starts_with("450");
}

void FailedFiles::add(const Error& why) {
  if (count_++ == 0) first_ = why.code;
  if (++added_ <= kMostNamed) core::log().error("{}", core::printable(why.message(), kMaxMessageBytes));
}

Status FailedFiles::check(std::size_t all, std::string_view nouns) const {
  if (count_ == 0) return {};
  return fail(first_, fmt::format("missing: {} of {} {}", count_, all, nouns),
              added_ > kMostNamed ? fmt::format("of which the first {} are named above", kMostNamed) : "as said above");
}

bool may_not_reach_us(const Error& error) {
  if (error.code != Errc::stream_refused) return error.code == Errc::peer_lost;
  if (is_final(error)) return false;
  // A refused PORT, and what stock servers say to a RETR whose connection fails.  spec: RFC 959 §4.2.1
  constexpr std::array kCodes{"425", "500", "501", "502", "504", "522"};
  return std::ranges::any_of(kCodes, [&](const char* code) { return error.cause.starts_with(code); });
}

bool may_reach_us_next_time(const Error& error) {
  // Stock servers say 500 for any data connection that fails.  spec: RFC 959 §4.2.1
  return error.code == Errc::stream_refused && (error.cause.starts_with('4') || error.cause.starts_with("500"));
}

bool is_cut(const Error& error, bool moved) {
  switch (error.code) {
    case Errc::connection_broken:
    case Errc::peer_lost:
    case Errc::cannot_reach:
    case Errc::peer_interrupted:
      return true;
    case Errc::stream_refused:
      // 4yz may succeed the next time, 5yz will not. Stock servers say 500 for a broken data connection, too.
      // spec: RFC 959 §4.2.1
      if (!error.cause.starts_with('5')) return moved || error.cause.starts_with('4');
      return moved && error.cause.starts_with("500") && !is_final(error);
    default:
      return false;
  }
}

Task<Status> with_retries(boost::asio::io_context& io, TransferOptions options, SharedProgress progress,
                          std::function<Task<Status>()> attempt) {
  std::size_t in_vain = 0;
  bool was_reached = false;
  progress->kept_bytes = 0;  // the last file's
  for (std::size_t number = 2;; ++number) {
    const std::uint64_t before = progress->bytes;
    const std::uint64_t kept_before = progress->kept_bytes;
    auto status = co_await attempt();
    const bool moved = progress->bytes != before;
    was_reached = was_reached || moved || before != 0;
    // Bytes that were not kept come again: they are no progress.
    in_vain = progress->kept_bytes > kept_before ? 0 : in_vain + 1;
    if (status || !is_cut(status.error(), moved) || in_vain > options.retries) co_return status;
    // A server that was never reached may not exist; one that is gone in the middle may come back.
    if (!was_reached && status.error().code == Errc::cannot_reach) co_return status;
    // Bytes that were not kept are counted when they come again.
    const std::uint64_t kept = progress->kept_bytes - std::min(progress->kept_bytes, kept_before);
    progress->bytes = std::min(progress->bytes, before + kept);
    core::log().warn("{}; going on from what is there: attempt {}, after {} of {} in a row that moved nothing",
                     core::printable(status.error().message(), kMaxMessageBytes), number, in_vain, options.retries + 1);
    co_await pause(io, options.retry_pause);
  }
}

Result<files::FileLocation> location_of_request(const TransferRequest& request, Errc code) {
  if (request.tree) return request.tree->locate(request.path, code);
  return files::FileLocation(request.path);
}

}  // namespace udtcat::gridftp
