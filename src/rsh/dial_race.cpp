#include "rsh/dial_race.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"

namespace udtcat::rsh {

DialRace::DialRace(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler)
    : handler_(std::move(handler)), running_(request.addresses.size()) {
  for (const Endpoint& address : request.addresses) {
    DialRequest one{.addresses = {address},
                    .peer_name = request.peer_name,
                    .timeout = request.timeout,
                    .closed_port_patience = request.closed_port_patience,
                    .key = request.key ? std::optional(request.key->duplicate()) : std::nullopt,
                    .session = request.session,
                    .transport = request.transport};
    // Posted: a dialer is not destroyed from inside its own call, as the winner's handler may do.
    dialers_.push_back(dial(io, std::move(one), [this, &io, address](Result<std::unique_ptr<Connection>> result) {
      if (!result) core::log().info("{}: {}", address.to_string(), result.error().message());
      auto kept = std::make_shared<Result<std::unique_ptr<Connection>>>(std::move(result));
      boost::asio::post(io, lifetime_.guard([this, kept] { on_result(std::move(*kept)); }));
    }));
  }
}

void DialRace::on_result(Result<std::unique_ptr<Connection>> result) {
  --running_;
  if (result) {
    dialers_.clear();
    if (handler_) std::exchange(handler_, nullptr)(std::move(result));
    return;
  }
  const bool says_more = best_error_.what.empty() || best_error_.code == Errc::cannot_reach;
  if (says_more) best_error_ = std::move(result.error());
  if (running_ == 0 && handler_) std::exchange(handler_, nullptr)(tl::unexpected(best_error_));
}

std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates) {
  std::vector<Endpoint> once;
  for (const Endpoint& candidate : candidates)
    if (std::find(once.begin(), once.end(), candidate) == once.end()) once.push_back(candidate);
  return once;
}

}  // namespace udtcat::rsh
