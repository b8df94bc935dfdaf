// SPDX-License-Identifier: Apache-2.0
#include "meet/binding_service.hpp"

#include "lib/net/address_bytes.hpp"

namespace udtcat::meet {

using namespace std::chrono_literals;

std::vector<std::byte> BindingService::answer(std::span<const std::byte> datagram, const Endpoint& from,
                                              TimePoint now) {
  const auto request = net::decode_stun(datagram);
  if (!request || request->type != net::StunMessage::Type::request) return {};
  net::StunMessage message{.type = net::StunMessage::Type::success, .transaction = request->transaction};
  if (request->unknown.empty()) {
    message.mapped_address = from;
  } else {
    message.type = net::StunMessage::Type::error;
    message.error = net::StunMessage::ErrorCode{net::StunMessage::kUnknownAttribute, "Unknown Attribute"};
    message.unknown = request->unknown;
  }
  auto encoded = net::encode(message);
  const auto address = net::address_bytes(from);
  ShortRequest key{{address.begin(), address.end()}, request->transaction};
  key.first.push_back(static_cast<std::byte>(from.port() >> 8U));
  key.first.push_back(static_cast<std::byte>(from.port() & 0xffU));
  begin_second(now);
  if (!is_paid(datagram.size(), encoded.size(), std::move(key))) return {};
  if (!is_within_rate(from)) {
    ++over_rate_;
    return {};
  }
  ++answered_;
  return encoded;
}

void BindingService::begin_second(TimePoint now) {
  if (now - second_began_ < 1s) return;
  answers_ = {};
  short_answers_ = 0;
  second_began_ = now;
}

/// Whether as much has come as the answer has, or so little is answered for nothing.
bool BindingService::is_paid(std::size_t request_bytes, std::size_t answer_bytes, ShortRequest request) {
  if (request_bytes >= answer_bytes) return true;
  const auto known = short_requests_.find(request);
  if (known == short_requests_.end()) {
    if (short_answers_ < kShortAnswersASecond) {
      ++short_answers_;
      return true;
    }
    if (short_requests_.size() == kMaxShortRequests) {
      short_requests_.erase(oldest_first_.front());
      oldest_first_.pop_front();
    }
    oldest_first_.push_back(request);
    short_requests_.emplace(std::move(request), request_bytes);
    return false;
  }
  known->second += request_bytes;
  if (known->second < answer_bytes) return false;
  known->second -= answer_bytes;
  return true;
}

bool BindingService::is_within_rate(const Endpoint& from) {
  const core::Prefix prefix = core::prefix_of(from);
  if (answers_.all() >= kAnswersASecond || answers_.of(prefix) >= kAnswersASecondOfPrefix) return false;
  answers_.add(prefix);
  return true;
}

}  // namespace udtcat::meet
