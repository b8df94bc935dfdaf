// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/stream_table.hpp"

#include <utility>

#include "lib/core/invariant.hpp"

namespace udtcat::connection {

StreamId StreamTable::take_own_id() {
  UDTCAT_INVARIANT(has_own_ids(), "two thousand million streams are more than a connection lives to see");
  return std::exchange(next_own_id_, next_own_id_ + 2);
}

Status StreamTable::take_peer_id(StreamId id) {
  if (id != next_peer_id_) return fail(Errc::protocol_violated, "stream " + std::to_string(id), "opened out of turn");
  if (id > kLastStreamId)
    return fail(Errc::protocol_violated, "stream " + std::to_string(id), "the numbers are used up");
  next_peer_id_ += 2;
  return {};
}

std::optional<std::string> StreamTable::refusal(const std::string& service) const {
  if (!takes_streams_) return "this end takes no streams";
  if (!has_room_for_ended()) return "too many have ended just now";
  if (size() - own() >= most_peer_streams_) return "too many are open";
  // An end with services refuses in its handler, which knows the services of this peer.
  if (has_services_ || service.empty()) return std::nullopt;
  return "the end that was asked has no service with a name";
}

MuxStream* StreamTable::answer(StreamId id, const Connection::OutcomeHandler& done) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  found->second.service.reset();
  if (done) found->second.done = done;
  return found->second.stream.get();
}

MuxStream& StreamTable::add(std::unique_ptr<MuxStream> stream, Connection::OutcomeHandler done,
                            std::optional<std::string> service) {
  const StreamId id = stream->id();
  ++opened_;
  if (is_own(id)) ++own_;
  return *entries_.emplace(id, Entry{std::move(stream), std::move(done), std::move(service)}).first->second.stream;
}

bool StreamTable::open_early(StreamId id) {
  if (id != next_peer_id_ || opened_early_.size() >= kMaxEndedStreams) return false;
  opened_early_.insert(id);
  return true;
}

Connection::OutcomeHandler StreamTable::end(StreamId id, const std::optional<Error>& error) {
  auto ended = entries_.extract(id);
  Entry& entry = ended.mapped();
  if (is_own(id)) --own_;
  // There is an error: a stream that was not accepted cannot end well.
  if (entry.service) given_up_.emplace(id, *error);
  ended_.push_back(std::move(entry.stream));
  return std::move(entry.done);
}

std::optional<Error> StreamTable::take_given_up(StreamId id) {
  auto found = given_up_.extract(id);
  return found ? std::optional(std::move(found.mapped())) : std::nullopt;
}

}  // namespace udtcat::connection
