// SPDX-License-Identifier: Apache-2.0
/// The options and quotas of a server, and the counts that its clients share.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "gridftp/disk/published_files.hpp"
#include "gridftp/mode_e/data_stack.hpp"
#include "gridftp/server/served_root.hpp"
#include "lib/core/ip_prefix.hpp"
#include "tool/identity/peers_file.hpp"
#include "tool/run/event_log.hpp"

namespace udtcat::gridftp {

/// The most that the clients of one prefix, an IPv4 /24 or an IPv6 /56, have together.
struct Quota {
  std::size_t clients;                      ///< beyond it, 421
  std::size_t data_connections;             ///< either way; beyond it, 425
  std::chrono::milliseconds stall_timeout;  ///< of a transfer of which nothing moves: then 426
};

struct ServeOptions {
  bool read_only = false;
  bool third_party = false;              ///< data may go to, and come from, other hosts than the client's
  std::optional<Endpoint> data_address;  ///< of this host, for PASV and SPAS; none: that of the control connection
  DataOptions data;                      ///< for sessions: the key, if there is one
  std::shared_ptr<const tool::PeersFile> peers{};  ///< what each has of the root; none: peers have no key pairs
  Protection least = Protection::clear;            ///< of the data: what is weaker is refused
  /// Beyond it, 421.
  std::size_t most_clients = 256;           ///< guess: eight clusters of 32 nodes
  std::size_t most_data_connections = 512;  ///< guess: two for each client; beyond it, 425
  // guess: an eighth, enough for a site and short of all; a client may pause as long as vsftpd lets it
  Quota anonymous_quota{.clients = 32, .data_connections = 64, .stall_timeout = std::chrono::seconds(300)};
  // guess: more, for the nodes of a cluster; a pipe's other end may pause as long as a client may be silent
  Quota keyed_quota{.clients = 128, .data_connections = 128, .stall_timeout = std::chrono::seconds(600)};
  [[nodiscard]] const Quota& quota_for(bool has_key) const { return has_key ? keyed_quota : anonymous_quota; }
  std::chrono::seconds login_timeout{60};           ///< guess
  std::chrono::milliseconds idle_timeout{600'000};  ///< guess; as Globus' server
};

/// How many data connections the server has, and for whom. See docs/spec/gridftp.md §4.
/// Threads: confined to the io_context thread.
class DataSlots {
 public:
  using Slot = std::shared_ptr<void>;  ///< one connection; given back when it is destroyed, which may be after this

  explicit DataSlots(std::size_t most) : most_(most) {}
  /// share   of the client's prefix.  errors: Errc::out_of_resources
  [[nodiscard]] Result<Slot> take(const Endpoint& client, std::size_t quota) {
    const std::string what = "open a data connection for " + client.host_to_string();
    const core::Prefix prefix = core::prefix_of(client);
    if (held_->of(prefix) >= quota)
      return fail(Errc::out_of_resources, what,
                  fmt::format("the clients of its network have {} of {} already", held_->of(prefix), quota));
    if (held_->all() >= most_)
      return fail(Errc::out_of_resources, what,
                  fmt::format("all clients together have {} of {} already", held_->all(), most_));
    held_->add(prefix);
    return Slot(nullptr, [held = held_, prefix](void*) { held->remove(prefix); });
  }

 private:
  const std::size_t most_;
  const std::shared_ptr<core::PrefixCounts> held_ = std::make_shared<core::PrefixCounts>();
};

/// The root, the options and the counts that all clients of a server share.
struct Service {
  const ServedRoot root;
  const ServeOptions options;
  DataSlots data_slots{options.most_data_connections};
  const std::shared_ptr<tool::EventLog> events;
  std::size_t checksums = 0;  // under way
  files::DirectoryUses uses{};
  const std::shared_ptr<std::atomic<std::int64_t>> placed_bytes_left =
      std::make_shared<std::atomic<std::int64_t>>(PublishedFiles::kMaxBytes);
};

}  // namespace udtcat::gridftp
