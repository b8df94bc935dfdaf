#include "lib/bridge/trouble_reporter.hpp"

#include <optional>
#include <utility>

namespace udtcat::bridge {

using Clock = std::chrono::steady_clock;

TroubleReporter::TroubleReporter(boost::asio::io_context& io, Handler handler)
    : handler_(std::move(handler)), timer_(io) {}

void TroubleReporter::report(const Endpoint& where, const Error& error) {
  const std::optional<TroubleDigest::Line> line = digest_.add(where, error, Clock::now());
  if (!line) return set_timer();
  handler_(line->where, line->error);
}

void TroubleReporter::set_timer() {
  const std::optional<Clock::time_point> due = digest_.next_due();
  if (!due || timer_.expiry() == *due) return;  // none, or set already
  timer_.expires_at(*due);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (error) return;  // set to another time
    for (const TroubleDigest::Line& line : digest_.take_due(Clock::now())) handler_(line.where, line.error);
    set_timer();
  }));
}

}  // namespace udtcat::bridge
