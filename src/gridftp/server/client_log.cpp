// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/client_log.hpp"

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "tool/run/transfer_event.hpp"

namespace udtcat::gridftp {

ClientLog::ClientLog(tool::EventLog& events, const ControlEnds& ends)
    : events_(events),
      is_anonymous_(!ends.has_key),
      name_(ends.peer.host_to_string()),
      address_(ends.peer.to_string()),
      key_name_(ends.peer_name) {}

std::string ClientLog::series(const char* what) const {
  return is_anonymous_ ? what : fmt::format("{} {}", what, key_name_.value_or(name_));
}

void ClientLog::report_change(const std::string& change, const std::string& path) const {
  events_.report(series("change"), {.kind = tool::EventKind::change,
                                    .severity = is_anonymous_ ? tool::Severity::warning : tool::Severity::notice,
                                    .message = fmt::format("{}: {}", tool::peer_text(key_name_, address_), change),
                                    .peer = key_name_,
                                    .address = address_,
                                    .object = path});
}

void ClientLog::report_refusal(const Error& why) const {
  events_.report(series("refused"),
                 {.kind = tool::EventKind::refused,
                  .severity = tool::Severity::warning,
                  .message = fmt::format("refused {}: {}", tool::peer_text(key_name_, address_), why.message()),
                  .address = address_,
                  .reason = make_error_code(why.code).message()});
}

void ClientLog::report_transfer(std::string_view direction, const std::string& path, std::uint64_t bytes,
                                std::chrono::steady_clock::time_point begun_at, const Status& result) const {
  const bool sends = direction == tool::kSent;
  tool::LogEvent event = tool::transfer_event({.peer = key_name_,
                                               .address = address_,
                                               .object = core::printable(path, core::kShownBytes),
                                               .direction = direction,
                                               .bytes_sent = sends ? bytes : 0,
                                               .bytes_received = sends ? 0 : bytes,
                                               .files = 1,
                                               .duration = std::chrono::steady_clock::now() - begun_at,
                                               .result = result});
  // A client's error is none of ours.
  if (!result) event.severity = tool::Severity::warning;
  const char* const whole = sends ? "sent" : "received";
  const char* const cut = sends ? "sending failed" : "receiving failed";
  events_.report(series(result ? whole : cut), event);
}

}  // namespace udtcat::gridftp
