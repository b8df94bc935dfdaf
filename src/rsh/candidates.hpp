// SPDX-License-Identifier: Apache-2.0
/// The addresses under which a far end may be reached: found, and all dialled at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <sys/types.h>
#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::rsh {

/// The peers of the TCP connections that process `pid` has open: of an ssh, the address that it really dialled,
/// whatever aliases and resolvers say. Empty where it has none (it goes through a jump host or a master) or the system
/// does not tell.
[[nodiscard]] std::vector<Endpoint> dialled_addresses(pid_t pid);

/// The same in their order, each once.
[[nodiscard]] std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates);

/// The first address that proves the key wins; one that does not answer, or not with the key, is left out.
/// Destroying it gives up without a call.
/// Threads: confined to the io_context thread, where the handler is called, once.
class DialRace {
 public:
  /// request   its addresses are the candidates, each once; its timeout holds for each of them
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

}  // namespace udtcat::rsh
