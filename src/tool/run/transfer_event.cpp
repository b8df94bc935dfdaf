// SPDX-License-Identifier: Apache-2.0
#include "tool/run/transfer_event.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::tool {

namespace {

/// None: nothing was moved.
std::optional<std::string_view> direction_of(std::uint64_t sent, std::uint64_t received) {
  if (sent > 0 && received > 0) return kBoth;
  if (sent > 0) return kSent;
  return received > 0 ? std::optional(kReceived) : std::nullopt;
}

/// "20 files, 80.0 MB received"
std::string amount_text(const LogEvent& event) {
  ConnectionStats moved;
  moved.bytes_sent = event.bytes_sent;
  moved.bytes_received = event.bytes_received;
  const bool is_empty_received = event.direction == kReceived && event.bytes_received == 0;
  const std::string bytes = is_empty_received ? core::format_size(0) + " received" : payload_text(moved);
  return event.files ? core::format_count(*event.files, "file") + ", " + bytes : bytes;
}

}  // namespace

Status status_of(const std::optional<Error>& error) {
  if (error) return tl::unexpected(*error);
  return {};
}

std::string peer_text(const std::optional<std::string>& peer, const std::string& address) {
  return peer ? fmt::format("{} ({})", *peer, address) : address;
}

LogEvent transfer_event(const TransferOutcome& transfer) {
  LogEvent event{
      .kind = EventKind::transfer,
      .severity = transfer.result ? Severity::notice : Severity::error,
      .peer = transfer.peer,
      .address = transfer.address,
      .direction = transfer.direction ? transfer.direction : direction_of(transfer.bytes_sent, transfer.bytes_received),
      .result = transfer.result ? kComplete : transfer.result.error().message(),
      .bytes_sent = transfer.bytes_sent,
      .bytes_received = transfer.bytes_received,
      .files = transfer.files,
      .duration = transfer.duration};
  if (!transfer.object.empty()) event.object = transfer.object;
  const std::string object = transfer.object.empty() ? "" : transfer.object + ": ";
  const std::string error = transfer.result ? "" : *event.result + "; ";
  event.message = fmt::format("{}: {}{}{} in {}", peer_text(transfer.peer, transfer.address), object, error,
                              amount_text(event), clock_text(transfer.duration));
  return event;
}

void describe_many(LogEvent& event) {
  event.object.reset();
  const std::string end = event.result == kComplete ? "" : fmt::format("; the last: {}", event.result.value_or(""));
  const std::string who =
      event.address ? peer_text(event.peer, *event.address) : event.peer.value_or("several clients");
  event.message = fmt::format("{}: {} more transfers, {}{}", who, event.count, amount_text(event), end);
}

void add_bytes(LogEvent& event, const ConnectionStats& moved) {
  event.direction = direction_of(moved.bytes_sent, moved.bytes_received);
  event.bytes_sent = moved.bytes_sent;
  event.bytes_received = moved.bytes_received;
}

LogEvent peer_event(EventKind kind, const Connection& connection) {
  LogEvent event{.kind = kind, .address = connection.peer().to_string()};
  if (const auto identity = connection.peer_identity()) event.peer = identity->name;
  return event;
}

TransferOutcome transfer_of(Connection& connection, std::string object, const Status& result) {
  const ConnectionStats stats = connection.stats();
  TransferOutcome transfer{.address = connection.peer().to_string(),
                           .object = std::move(object),
                           .bytes_sent = stats.bytes_sent,
                           .bytes_received = stats.bytes_received,
                           .duration = std::chrono::steady_clock::now() - stats.made_at,
                           .result = result};
  if (const auto identity = connection.peer_identity()) transfer.peer = identity->name;
  return transfer;
}

}  // namespace udtcat::tool
