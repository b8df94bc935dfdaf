// SPDX-License-Identifier: Apache-2.0
#include "forward/outage.hpp"

#include <fmt/format.h>

namespace udtcat::forward {

bool is_refusal(const Error& error) {
  return error.code == Errc::authentication_failed || error.code == Errc::parameters_refused;
}

void Outage::begin(const Error& why, TimePoint now) {
  if (!since_) since_ = now;
  why_ = why.message();
}

std::optional<std::string> Outage::on_failure(const Error& error, TimePoint now) {
  if (!since_ && !is_refusal(error)) return std::nullopt;
  begin(error, now);
  if (std::exchange(told_, error.code) == error.code) return std::nullopt;
  return why_ + "; still dialling";
}

std::optional<std::string> Outage::end(TimePoint now, const Endpoint& at) {
  const auto since = std::exchange(since_, std::nullopt);
  const bool was_told = std::exchange(told_, std::nullopt).has_value();
  const bool returns = std::exchange(was_here_, true);
  why_.clear();
  if (!since) return std::nullopt;
  const std::string peer = peer_ == at.to_string() ? peer_ : fmt::format("{} at {}", peer_, at.to_string());
  if (!returns && !was_told) return "the session with " + peer + " stands";
  return fmt::format("{} is {} after {:.0f} s", peer, returns ? "back" : "there",
                     std::chrono::duration<double>(now - *since).count());
}

std::optional<tool::DialingSnapshot> Outage::snapshot(TimePoint now) const {
  if (!since_) return std::nullopt;
  return tool::DialingSnapshot{.peer = peer_, .age = now - *since_, .reason = why_};
}

}  // namespace udtcat::forward
