// SPDX-License-Identifier: Apache-2.0
/// The end of transfers that waits for the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/identity/peers_file.hpp"
#include "tool/run/event_log.hpp"
#include "tool/run/peer_listener.hpp"
#include "tool/run/rejected_connections.hpp"
#include "tool/run/session_run.hpp"
#include "tool/status/peer_totals.hpp"
#include "trees/active_transfers.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/command/tree_options.hpp"

namespace udtcat::trees {

/// Serves a few transfers at a time, each on threads of its own; more are refused in words. A peer has a share of the
/// places, and one that is silent gives way to another:
///
///   silent ── HELLO ──► begun ──► over
///      └─ 10 s; no place left ─┘ └─ no place left, 2 minutes, its peer has two places more ─► leaving ──► over
///
/// Threads: confined to the main thread.
class TreeListener {
 public:
  static constexpr std::size_t kTransfersAtOnce = 64;         // guess: of a peer; what a person follows
  static constexpr std::chrono::seconds kRequestTimeout{10};  // spec: docs/spec/trees.md §4

  /// `run` and `options` must outlive this. Its end is that of `run`.
  /// request_timeout   until a peer is to have said what it wants
  TreeListener(tool::SessionRun& run, const TreeOptions& options,
               std::chrono::milliseconds request_timeout = kRequestTimeout)
      : run_(run), options_(options), request_timeout_(request_timeout), rejected_(run.io()) {}

  /// A receiver's directory is made.  errors: those of PeerListener::start(), and of the directory
  [[nodiscard]] Status start(tool::FoundCredentials found);

 private:
  struct Client {
    Client(boost::asio::io_context& io, std::uint64_t with_number, std::string with_name, std::string of_peer)
        : number(with_number), name(std::move(with_name)), peer(std::move(of_peer)), timer(io) {}

    const std::uint64_t number;
    const std::string name;
    const std::string peer;  // by which its places are counted
    boost::asio::steady_timer timer;
    std::unique_ptr<TransferSession> session{};
    const std::chrono::steady_clock::time_point came_at = std::chrono::steady_clock::now();
    bool is_leaving = false;        // it has no place any more
    std::uint64_t moved_bytes = 0;  // when it was last looked at
    std::chrono::steady_clock::time_point moved_at{};
    core::Lifetime lifetime{};
  };

  void take(std::unique_ptr<Connection> connection);
  [[nodiscard]] std::unique_ptr<TransferCounters> counters_of(const Connection& connection, const std::string& peer);
  [[nodiscard]] std::size_t places_of(const std::string& peer) const;
  [[nodiscard]] std::size_t places() const;
  [[nodiscard]] Status admit(const std::string& peer);
  [[nodiscard]] bool gives_way(const Client& client, const std::string& to) const;
  static void dismiss(Client& client, const char* why);
  void watch(Client& client);
  [[nodiscard]] Result<TransferPlace> place_for(const Connection& connection);
  [[nodiscard]] TransferRole role(const TransferPlace& place);
  void on_over(const Client& client);
  void log_end(const Client& client, const Status& result);
  [[nodiscard]] ConnectionStats total() const;

  tool::SessionRun& run_;
  const TreeOptions& options_;
  const std::chrono::milliseconds request_timeout_;
  std::shared_ptr<tool::PeersFile> peers_;  // none: peers have no key pairs
  ActiveTransfers active_transfers_;
  files::DirectoryUses uses_;
  tool::RejectedConnections rejected_;
  std::unique_ptr<tool::PeerListener> listener_;
  tool::EventLog event_log_{run_.io(), kTransfersAtOnce};
  std::uint64_t last_number_ = 0;
  std::list<Client> clients_;
  tool::PeerTotals totals_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::trees
