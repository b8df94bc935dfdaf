// SPDX-License-Identifier: Apache-2.0
#include "lib/net/resolver.hpp"

#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::net {
namespace {

constexpr std::size_t kMaxLookUps = 8;  // guess: a resolver that is silent for one name may know the others

}  // namespace

/// Posts answers of the threads, until closed. getaddrinfo() cannot be interrupted, so the threads are not joined.
/// Threads: internally synchronised.
class Resolver::Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(&io) {}

  template <typename Function>
  void post(Function function) {
    const core::MutexLock lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::move(function));
  }
  void close() {
    const core::MutexLock lock(mutex_);
    io_ = nullptr;
  }

 private:
  core::Mutex mutex_;
  boost::asio::io_context* io_ UDTCAT_GUARDED_BY(mutex_);
};

Resolver::Resolver(boost::asio::io_context& io, AddressFamily family, ResolverTimeouts times, LookupFunction ask)
    : io_(io), family_(family), times_(times), ask_(std::move(ask)), mailbox_(std::make_shared<Mailbox>(io)) {}

Resolver::~Resolver() { mailbox_->close(); }

void Resolver::look_up(const HostPort& target, Handler handler) {
  CachedName& name = names_.try_emplace(target.host, io_).first->second;
  name.waiting.push_back({target.port, std::move(handler)});
  const bool is_known = name.lasts_until > Clock::now() || (name.is_slow && !name.good.empty());
  if (is_known) return answer_all(name);
  if (name.waiting.size() == 1) {
    name.timer.expires_after(name.good.empty() ? times_.timeout : times_.stale_after);
    name.timer.async_wait(
        lifetime_.guard([this, host = target.host, &name](const boost::system::error_code& cancelled) {
          if (!cancelled) on_slow(host, name);
        }));
  }
  if (std::exchange(name.asking, true)) return;
  queue_.push_back(target.host);
  ask_next();
}

void Resolver::ask_next() {
  while (!queue_.empty() && threads_ < kMaxLookUps) {
    const std::string host = std::move(queue_.front());
    queue_.pop_front();
    ++threads_;
    auto answered = lifetime_.guard([this, host](const LookupResult& answer) { on_answer(host, answer); });
    try {
      std::thread([ask = ask_, host, family = family_, mailbox = mailbox_, answered]() mutable {
        mailbox->post([answered, answer = ask({host, 0}, family)]() mutable { answered(answer); });
      }).detach();
    } catch (const std::system_error& error) {
      const auto failed = fail(Errc::cannot_resolve, fmt::format("resolve '{}'", host), error.what());
      boost::asio::post(io_, [answered, failed]() mutable { answered(LookupResult{failed, true}); });
    }
  }
}

void Resolver::on_answer(const std::string& host, const LookupResult& answer) {
  --threads_;
  ask_next();
  CachedName& name = names_.at(host);
  name.asking = name.is_slow = false;
  name.error.reset();
  if (answer.found)
    name.good = *answer.found;
  else if (!answer.resolver_failed)
    name.good.clear();
  if (name.good.empty()) name.error = answer.found.error();
  name.lasts_until = Clock::now() + (answer.found ? times_.answer_lasts : times_.failure_lasts);
  answer_all(name);
}

void Resolver::on_slow(const std::string& host, CachedName& name) {
  if (!name.asking) return;  // answered while this was on its way
  name.is_slow = true;
  if (name.good.empty())
    name.error = Error{Errc::cannot_resolve, fmt::format("resolve '{}'", host), "the resolver does not answer"};
  answer_all(name);
}

void Resolver::answer_all(CachedName& name) {
  name.timer.cancel();
  for (PendingLookup& each : std::exchange(name.waiting, {})) {
    Result<std::vector<Endpoint>> result = name.good;
    for (Endpoint& endpoint : *result) endpoint = endpoint.with_port(each.port);
    if (name.error) result = tl::unexpected(*name.error);
    boost::asio::post(io_, lifetime_.guard([handler = std::move(each.handler), result] { handler(result); }));
  }
}

}  // namespace udtcat::net
