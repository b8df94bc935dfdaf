// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/check_sender.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace udtcat::meeting {

namespace {

using namespace std::chrono_literals;

/// When a round is sent. spec: meet.md §7
constexpr std::array<std::chrono::milliseconds, 5> kRoundTimes{0ms, 300ms, 700ms, 1500ms, 2700ms};
constexpr std::chrono::minutes kQuotaTime{1};  // spec: meet.md §7

}  // namespace

template <typename Key>
bool CheckQuota::is_left(const std::map<Key, Count>& counts, const Key& key, std::size_t limit, TimePoint now) {
  const auto found = counts.find(key);
  return found == counts.end() || now - found->second.since >= kQuotaTime || found->second.sent < limit;
}

template <typename Key>
void CheckQuota::add(std::map<Key, Count>& counts, const Key& key, TimePoint now) {
  Count& count = counts[key];
  if (now - count.since >= kQuotaTime) count = {now, 0};
  ++count.sent;
}

bool CheckQuota::take(const Endpoint& address, TimePoint now) {
  const auto is_old = [&](const auto& each) { return now - each.second.since >= kQuotaTime; };
  if (counts_.size() >= kMaxAddresses) {
    std::erase_if(counts_, is_old);
    std::erase_if(host_counts_, is_old);
  }
  const std::string key = address.to_string();
  if (counts_.size() >= kMaxAddresses && !counts_.contains(key)) return false;
  const core::Prefix host = core::host_of(address);
  if (!is_left(counts_, key, kChecksAMinute, now) || !is_left(host_counts_, host, kChecksAMinuteOfHost, now))
    return false;
  add(counts_, key, now);
  add(host_counts_, host, now);
  return true;
}

CheckSender::CheckSender(boost::asio::io_context& io, CheckQuota& quota, std::vector<Candidate> candidates,
                         std::chrono::milliseconds answer_takes, Send send)
    : quota_(quota),
      candidates_(std::move(candidates)),
      send_(std::move(send)),
      began_(std::chrono::steady_clock::now()),
      timer_(io),
      first_translated_(io) {
  first_translated_.expires_after(std::min(answer_takes, kRoundTimes[1]));
  first_translated_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) send_to(false, true);
  }));
  send_round();
}

void CheckSender::send_again() {
  if (sent_ == kRoundTimes.size()) send_to(true, true);  // else they are under way
}

void CheckSender::send_to(bool hosts, bool translated) {
  const auto now = std::chrono::steady_clock::now();
  for (const Candidate& each : candidates_) {
    const bool meant = each.kind == Candidate::Kind::host ? hosts : translated;
    if (meant && quota_.take(each.address, now)) send_(each.address);
  }
}

/// A translator could take a packet that comes before its own host's for a flow, which has that host's port then: where
/// both ends send at the same time, the packets of each pass those of the other on the way.
void CheckSender::send_round() {
  send_to(true, sent_ > 0);
  if (++sent_ == kRoundTimes.size()) return;
  timer_.expires_at(began_ + kRoundTimes.at(sent_));
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) send_round();
  }));
}

}  // namespace udtcat::meeting
