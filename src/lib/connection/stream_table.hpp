// SPDX-License-Identifier: Apache-2.0
/// The streams of a connection: their numbers, how many there may be, and those that have just ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <udtcat/connection.hpp>

#include "lib/connection/mux_stream.hpp"

namespace udtcat::connection {

/// How many streams may end in one turn of the event loop: behind more, further ones wait for the next, or are refused.
inline constexpr std::size_t kMaxEndedStreams = 4 * kMaxStreams;  // guess: a full block's, of clients that give up
inline constexpr StreamId kLastStreamId = 0xffff'fff0;            // guess: well before the session's own number

/// Threads: confined to the io_context thread.
class StreamTable {
 public:
  /// first_own_id   0 or 1: the peer's begin with the other
  /// has_services   a stream of the peer's may ask for a service by its name
  StreamTable(StreamId first_own_id, std::size_t most_peer_streams, bool has_services)
      : most_peer_streams_(most_peer_streams),
        has_services_(has_services),
        next_own_id_(first_own_id),
        next_peer_id_(1 - first_own_id) {}

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Of size(), the streams that this end has opened.
  [[nodiscard]] std::size_t own() const { return own_; }
  /// All that were ever added.
  [[nodiscard]] std::uint64_t opened() const { return opened_; }
  /// null: there is none of that number
  [[nodiscard]] MuxStream* find(StreamId id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : found->second.stream.get();
  }
  /// A stream of the peer's is accepted or refused.
  /// done      of its outcome; null: as before
  /// returns   null: the stream has ended
  [[nodiscard]] MuxStream* answer(StreamId id, const Connection::OutcomeHandler& done);
  /// The service that the peer has asked for, while it is not answered.
  [[nodiscard]] std::optional<std::string> service_of(StreamId id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? std::nullopt : found->second.service;
  }
  /// Whether none of them needs the peer any more; true of an empty table.
  [[nodiscard]] bool are_all_cut() const {
    return std::ranges::all_of(entries_, [](const auto& each) { return each.second.stream->is_cut(); });
  }
  /// Any of them.  Not of an empty table.
  [[nodiscard]] MuxStream& first() const { return *entries_.begin()->second.stream; }
  /// A stream of that number is or was there.
  [[nodiscard]] bool was_opened(StreamId id) const { return id < (is_own(id) ? next_own_id_ : next_peer_id_); }

  [[nodiscard]] bool has_own_ids() const { return next_own_id_ <= kLastStreamId; }
  /// For a stream that this end opens.
  [[nodiscard]] StreamId take_own_id();
  /// For a stream that the peer opens.  errors: Errc::protocol_violated
  [[nodiscard]] Status take_peer_id(StreamId id);
  /// Whether this end takes streams of the peer's: not at first.
  void take_streams(bool takes) { takes_streams_ = takes; }
  /// Why a further stream of the peer's is refused; none: it is not.
  [[nodiscard]] std::optional<std::string> refusal(const std::string& service) const;
  /// service   of a stream of the peer's, which is to be answered
  MuxStream& add(std::unique_ptr<MuxStream> stream, Connection::OutcomeHandler done,
                 std::optional<std::string> service);

  /// A priority datagram has a copy of the OPEN of stream `id`; the OPEN itself comes later.
  /// returns   whether the stream is to be opened now: streams begin in the order of their numbers
  [[nodiscard]] bool open_early(StreamId id);
  /// The OPEN of stream `id` has come.  returns   whether open_early() has opened the stream already
  [[nodiscard]] bool take_opened_early(StreamId id) { return opened_early_.erase(id) > 0; }

  /// The stream is over. It is destroyed by destroy_ended(), when nothing on the stack uses it.
  /// error     of its outcome
  /// returns   its handler
  [[nodiscard]] Connection::OutcomeHandler end(StreamId id, const std::optional<Error>& error);
  void destroy_ended() { ended_.clear(); }
  [[nodiscard]] bool has_room_for_ended() const { return ended_.size() < kMaxEndedStreams; }
  /// Why the peer gave up a stream that was neither accepted nor refused; given once.  none: it did not
  [[nodiscard]] std::optional<Error> take_given_up(StreamId id);

 private:
  struct Entry {
    std::unique_ptr<MuxStream> stream;
    Connection::OutcomeHandler done;
    std::optional<std::string> service;  // that the peer has asked for, while that is not answered
  };
  [[nodiscard]] bool is_own(StreamId id) const { return (id & 1U) == (next_own_id_ & 1U); }

  const std::size_t most_peer_streams_;
  const bool has_services_;
  bool takes_streams_ = false;
  std::unordered_map<StreamId, Entry> entries_;
  std::size_t own_ = 0;
  std::uint64_t opened_ = 0;
  StreamId next_own_id_;
  StreamId next_peer_id_;
  std::unordered_set<StreamId> opened_early_;
  std::vector<std::unique_ptr<MuxStream>> ended_;
  std::unordered_map<StreamId, Error> given_up_;
};

}  // namespace udtcat::connection
