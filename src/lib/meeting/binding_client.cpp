// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/binding_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::meeting {

namespace {

using namespace std::chrono_literals;

/// Until the next is sent, or the last given up. guess: as RFC 8489 §6.2.1, but a user waits for the first answers
constexpr std::array<std::chrono::milliseconds, 4> kRetransmissions{250ms, 250ms, 500ms, 1000ms};
constexpr std::size_t kMaxNonces = 3;          // guess: one that is stale again was not meant for us
constexpr std::size_t kRequestBytes = 96;      // spec: meet.md §5
constexpr std::chrono::seconds kRefresh{10};   // spec: meet.md §5
constexpr std::chrono::seconds kRetry{1};      // guess
constexpr std::chrono::seconds kPairTime{60};  // spec: meet.md §5

/// See net::StunTransactionId. Should the system have no random bytes, nobody who reads the path guesses less.
net::StunTransactionId draw_transaction() {
  net::StunTransactionId id{};
  std::ignore = crypto::randomise(std::span(id).first<4>());
  std::ignore = crypto::randomise(std::span(id).last<4>());
  return id;
}

}  // namespace

void BindingClient::ask(const Endpoint& server, const std::optional<std::string>& username, Handler handler) {
  auto transaction = std::make_unique<Transaction>(io_, server, std::move(handler));
  transaction->request.username = username;
  begin(std::move(transaction));
}

void BindingClient::begin(std::unique_ptr<Transaction> transaction) {
  transaction->request.transaction = draw_transaction();
  transaction->sent = 0;
  Transaction& kept = *transaction;
  transactions_[kept.request.transaction] = std::move(transaction);
  send(kept);
}

void BindingClient::send(Transaction& transaction) {
  if (transaction.sent == kRetransmissions.size())
    return finish(transactions_.find(transaction.request.transaction), std::nullopt);
  send_(transaction.server, net::encode(transaction.request, kRequestBytes));
  transaction.timer.expires_after(kRetransmissions.at(transaction.sent++));
  transaction.timer.async_wait(
      lifetime_.guard([this, id = transaction.request.transaction](const boost::system::error_code& cancelled) {
        const auto at = transactions_.find(id);
        if (!cancelled && at != transactions_.end()) send(*at->second);
      }));
}

void BindingClient::handle(const Endpoint& from, std::span<const std::byte> message) {
  const auto answer = net::decode_stun(message);
  if (!answer) return;
  const auto at = transactions_.find(answer->transaction);
  if (at == transactions_.end() || at->second->server != from || !answer->unknown.empty()) return;
  if (answer->type == net::StunMessage::Type::success) return finish(at, answer->mapped_address);
  if (answer->type != net::StunMessage::Type::error || !answer->error) return;
  if (answer->error->code != net::StunMessage::kStaleNonce || !answer->nonce || at->second->nonces == kMaxNonces)
    return finish(at, std::nullopt);
  auto transaction = std::move(at->second);
  transactions_.erase(at);
  ++transaction->nonces;
  transaction->request.nonce = answer->nonce;
  begin(std::move(transaction));
}

void BindingClient::finish(Transactions::iterator at, const std::optional<Endpoint>& mapped) {
  const std::unique_ptr<Transaction> over = std::move(at->second);
  transactions_.erase(at);
  boost::asio::post(io_, lifetime_.guard([handler = std::move(over->handler), mapped] { handler(mapped); }));
}

KeptBinding::KeptBinding(boost::asio::io_context& io, BindingClient& client, const Endpoint& server,
                         std::string username, std::function<void()> on_bound)
    : client_(client), server_(server), username_(std::move(username)), on_bound_(std::move(on_bound)), timer_(io) {
  bind();
}

bool KeptBinding::is_over() const { return std::chrono::steady_clock::now() - bound_at_ >= kPairTime; }

void KeptBinding::bind() {
  asks_ = true;
  client_.ask(server_, username_, lifetime_.guard([this](const std::optional<Endpoint>& mapped) {
    asks_ = false;
    if (mapped) bound_at_ = std::chrono::steady_clock::now();
    timer_.expires_after(mapped ? kRefresh : kRetry);
    timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) bind();
    }));
    if (const auto on_bound = mapped ? std::exchange(on_bound_, nullptr) : nullptr) on_bound();
  }));
}

}  // namespace udtcat::meeting
