// SPDX-License-Identifier: Apache-2.0
/// How and where a client's data move: the transfer parameter commands.  spec: RFC 959 §4.1.2; docs/spec/gridftp.md §3,
/// §7
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/dialogue/reply.hpp"
#include "gridftp/mode_e/data_path.hpp"
#include "gridftp/server/service.hpp"

namespace udtcat::gridftp {

/// The two ends of a control connection.
struct ControlEnds {
  Endpoint local;
  Endpoint peer;
  std::optional<PublicKey> peer_key{};     ///< none without a key pair
  std::optional<std::string> peer_name{};  ///< of that key
  bool has_key = false;                    ///< the client has proved one, of whatever kind
};

/// The decimal number at the front of an argument; none where there is none, or it is beyond any file.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text);
/// The reply to a command that failed so.  spec: RFC 959 §4.2.2
[[nodiscard]] Reply to_reply(const Error& error);

/// Each command gives the reply to it.
/// Threads: confined to the io_context thread.
class TransferParameters {
 public:
  TransferParameters(boost::asio::io_context& io, std::shared_ptr<Service> service, const Quota& quota,
                     const ControlEnds& ends);

  [[nodiscard]] Reply set_mode(const std::string& mode);
  [[nodiscard]] Reply set_parallelism(const std::string& options);
  [[nodiscard]] Reply set_stack(const std::string& stack);
  [[nodiscard]] Reply set_authentication(const std::string& mode);
  [[nodiscard]] Reply set_protection(const std::string& level);
  [[nodiscard]] Reply answer_pasv();
  [[nodiscard]] Reply answer_spas();
  [[nodiscard]] Reply answer_epsv(const std::string& protocol);
  [[nodiscard]] Reply aim(const std::string& ports);
  [[nodiscard]] Reply aim_extended(const std::string& port);

  /// Why a transfer in which we are `needed` cannot begin with these parameters; none: it can.
  [[nodiscard]] std::optional<Reply> refusal(DataPath::Role needed) const;
  [[nodiscard]] DataPath& path() { return path_; }
  [[nodiscard]] const DataPath& path() const { return path_; }
  [[nodiscard]] bool is_mode_e() const { return mode_e_; }
  [[nodiscard]] bool is_session() const { return kind_ == DataKind::session; }
  /// Data connections to make to each address, and how many bytes of a block each may have in memory.
  [[nodiscard]] std::size_t connections_to_each() const;
  [[nodiscard]] std::size_t most_block_bytes() const;

 private:
  /// Protection of data connections, as it is agreed upon.
  [[nodiscard]] Protection protection() const;
  [[nodiscard]] Reply change_stack();
  [[nodiscard]] std::optional<Reply> cannot_aim(const Endpoint& target) const;
  [[nodiscard]] Result<Endpoint> open_port();

  boost::asio::io_context& io_;
  const std::shared_ptr<Service> service_;
  const ServeOptions& options_ = service_->options;
  const Quota quota_;
  const Endpoint local_;
  const Endpoint peer_;
  const std::optional<PublicKey> peer_key_;
  DataKind kind_ = DataKind::tcp;
  bool authenticates_ = true;  // DCAU A, which counts where kind_ can prove anything
  Protection level_;           // PROT, which counts where kind_ is a session
  bool mode_e_ = false;        // MODE E
  std::size_t parallelism_ = 1;
  bool protection_agreed_ = false;  // the client asked for protected data, and we agreed
  DataPath path_;
};

}  // namespace udtcat::gridftp
