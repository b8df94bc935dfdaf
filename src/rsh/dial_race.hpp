/// One peer under several addresses, all dialled at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::rsh {

/// The first address that proves the key wins; an address where somebody else answers, or nobody, loses nothing but
/// itself. Destroying it gives up without a call.
/// Threads: confined to the io_context thread, where the handler is called, once.
class DialRace {
 public:
  /// request   its addresses are the candidates, each once; its timeout is everybody's
  /// handler   errors: that of the candidate that came furthest: refused before unreachable
  DialRace(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler);

 private:
  void on_result(Result<std::unique_ptr<Connection>> result);

  Dialer::Handler handler_;
  std::size_t running_;
  Error best_error_;
  std::vector<std::unique_ptr<Dialer>> dialers_;
  core::Lifetime lifetime_;
};

/// The same, without those that are there already.
[[nodiscard]] std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates);

}  // namespace udtcat::rsh
