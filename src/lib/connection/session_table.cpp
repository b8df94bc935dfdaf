// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/session_table.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::connection {

SessionTable::Entry::Entry(std::shared_ptr<SessionTable> table, session::Session& session)
    : table_(std::move(table)), session_(session), entered_from_(session.peer()) {
  table_->entries_.push_back(this);
}

SessionTable::Entry::~Entry() {
  table_->entries_.remove(this);
  table_->ended_.push_back(session_.join_key()->session_id());
  if (table_->ended_.size() > kMaxEndedSessions) table_->ended_.pop_front();
  if (table_->empty() && table_->on_empty_) table_->on_empty_();
}

bool SessionTable::takes(std::span<const std::byte> words) const {
  const auto join = session::decode_join(words);
  return join && std::ranges::any_of(entries_, [&](const Entry* entry) {
           const session::JoinKey& key = *entry->session_.join_key();
           return key.is_meant_by(*join) && key.check(*join);
         });
}

bool SessionTable::has_unreplaceable() const {
  return std::ranges::any_of(entries_, [](const Entry* entry) { return !entry->session_.can_replace_flows(); });
}

Status SessionTable::join(const session::Join& join, std::unique_ptr<transport::Channel> channel,
                          const FlowAdmission& admit) {
  const auto meant =
      std::ranges::find_if(entries_, [&](const Entry* entry) { return entry->session_.join_key()->is_meant_by(join); });
  if (meant == entries_.end()) {
    // A flow of a short session comes when that is over: it is no attempt of somebody else's.
    const bool has_ended = std::ranges::find(ended_, join.session_id) != ended_.end();
    return fail(has_ended ? Errc::peer_lost : Errc::authentication_failed, "join a session",
                has_ended ? "it has ended" : "no session has that name");
  }
  session::Session& session = (*meant)->session_;
  UDTCAT_CHECK(session.join_key()->check(join));
  UDTCAT_CHECK(session.check_flow(join.name));
  // A flow that is lost may be replaced also where all memory is promised.
  auto place = session.place_to_share(join.name);
  if (!place) {
    UDTCAT_TRY(place, admit(session, (*meant)->entered_from_, channel->retained_limit_bytes()));
  }
  UDTCAT_TRY(const auto joined, session.join_key()->joined(join.name));
  // A write that fails shows when the session reads.
  channel->async_write(core::SharedBytes::adopt(encode(joined)), [](const Status&) {});
  const std::uint64_t joined_bytes = channel->stats().bytes_received;
  session.add_flow(std::move(channel), join.name, joined_bytes, std::move(place));
  return {};
}

}  // namespace udtcat::connection
