/// Tells the operator of trouble through a TroubleDigest, by the io_context's clock.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/trouble_digest.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// Threads: confined to the io_context thread. The handler is called from report() and from the timer, and must not
/// destroy this.
class TroubleReporter {
 public:
  using Handler = std::function<void(const Endpoint& where, const Error& error)>;

  TroubleReporter(boost::asio::io_context& io, Handler handler);
  void report(const Endpoint& where, const Error& error);

 private:
  void set_timer();

  TroubleDigest digest_;
  const Handler handler_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
