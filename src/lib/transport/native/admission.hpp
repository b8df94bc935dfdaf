// SPDX-License-Identifier: Apache-2.0
/// Which clients get a connection, and the answers to packets that are of none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/transport/native/connection_table.hpp"
#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/passive_open.hpp"
#include "lib/transport/native/prefix_meter.hpp"
#include "lib/transport/native/stateless_reset.hpp"

namespace udtcat::transport::native {

/// Answers go to where the packet came from; empty: silence.
/// Threads: unsynchronised; time is a parameter.
class Admission {
 public:
  /// keys   none: without a key; not needed after the call.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<Admission> create(const PassiveOpen::Settings& settings, std::uint16_t local_port,
                                                const PortKeys* keys);

  /// none: without a key
  [[nodiscard]] KeyProof* key_proof() { return key_proof_.get(); }
  /// See PassiveOpen::Settings.
  [[nodiscard]] std::optional<std::uint32_t> known_cookie() const { return passive_.known_cookie(); }
  /// The token by which `peer` will know our socket `id`.  errors: Errc::cipher_failed
  [[nodiscard]] Result<std::uint64_t> draw_token(std::uint32_t id, const Endpoint& peer);

  /// has_room   whether one more client may be let in that has, or has not, proved the key
  /// on_link    told of each that is let in; the link is to be released
  /// on_channel   the same, of one that another port has
  struct ListenHandlers {
    std::function<bool(bool proved)> has_room;
    std::function<void(UdtLink&)> on_link;
    std::function<void(std::unique_ptr<Channel>)> on_channel{};
  };
  void listen(ListenHandlers handlers) { listening_ = std::move(handlers); }
  void stop_listening() { listening_.reset(); }
  /// See Acceptor.
  using WordsFilter = std::function<bool(std::span<const std::byte> words)>;
  void take_only(WordsFilter wanted) { wanted_ = std::move(wanted); }
  void keep_beside(WordsFilter alike) { alike_ = std::move(alike); }
  [[nodiscard]] bool keeps_beside(std::span<const std::byte> packet) const {
    return alike_ && has_words(packet, alike_);
  }
  /// A packet for destination 0. See PassiveOpen::handle(); a client that asks again because our answer was lost gets
  /// the same answer, and one of a port that does not listen is refused.
  [[nodiscard]] PassiveOpen::Outcome handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                            const ConnectionTable& connections,
                                            const std::function<Result<PassiveOpen::Numbers>()>& draw_numbers);
  void on_link(UdtLink& link) { listening_->on_link(link); }
  void on_channel(std::unique_ptr<Channel> channel) { listening_->on_channel(std::move(channel)); }
  /// A connection that was closed is forgotten: for a minute its peer is told.
  void on_closed(TimePoint now, const UdtConnection& closed) {
    on_closed(now, closed.local_id(), closed.peer_address(), closed.shutdown_packet());
  }
  /// shutdown   by which it is told
  void on_closed(TimePoint now, std::uint32_t id, const Endpoint& peer, std::vector<std::byte> shutdown) {
    closed_.add(now, id, peer, std::move(shutdown));
  }
  /// The answer to a packet for a connection that is over, or unknown to this process.
  [[nodiscard]] std::vector<std::byte> answer_unknown(TimePoint now, std::uint32_t id,
                                                      std::span<const std::byte> packet, const Endpoint& from);

 private:
  Admission(std::unique_ptr<KeyProof> key_proof, std::optional<StatelessResets> resets, PassiveOpen passive,
            PrefixMeter refusals)
      : key_proof_(std::move(key_proof)),
        resets_(std::move(resets)),
        passive_(std::move(passive)),
        refusals_(std::move(refusals)) {}

  [[nodiscard]] bool has_room(const ConnectionTable& connections, bool proved) const;
  [[nodiscard]] bool turns_away(std::span<const std::byte> packet) const;
  [[nodiscard]] static bool has_words(std::span<const std::byte> packet, const WordsFilter& filter);

  std::unique_ptr<KeyProof> key_proof_;    // none: without a key
  std::optional<StatelessResets> resets_;  // likewise
  PassiveOpen passive_;
  PrefixMeter refusals_;
  ClosedConnections closed_;
  std::optional<ListenHandlers> listening_;  // none: no clients are let in
  WordsFilter wanted_;                       // null: all are
  WordsFilter alike_;                        // null: none is
};

}  // namespace udtcat::transport::native
