// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/session_table.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::connection {

SessionTable::Entry::Entry(std::shared_ptr<SessionTable> table, session::Session& session)
    : table_(std::move(table)), session_(session) {
  table_->sessions_.push_back(&session_);
}

SessionTable::Entry::~Entry() {
  table_->sessions_.remove(&session_);
  if (table_->empty() && table_->on_empty_) table_->on_empty_();
}

bool SessionTable::takes(std::span<const std::byte> words) const {
  const auto join = session::decode_join(words);
  return join && std::ranges::any_of(sessions_, [&](const session::Session* session) {
           return session->join_key()->is_meant_by(*join) && session->join_key()->check(*join);
         });
}

bool SessionTable::has_unreplaceable() const {
  return std::ranges::any_of(sessions_, [](const session::Session* each) { return !each->can_replace_flows(); });
}

Status SessionTable::join(const session::Join& join, std::unique_ptr<transport::Channel> channel,
                          const FlowAdmission& admit) {
  const auto meant = std::ranges::find_if(
      sessions_, [&](const session::Session* session) { return session->join_key()->is_meant_by(join); });
  if (meant == sessions_.end()) return fail(Errc::authentication_failed, "join a session", "no session has that name");
  session::Session& session = **meant;
  UDTCAT_CHECK(session.join_key()->check(join));
  UDTCAT_CHECK(session.check_flow(join.name));
  UDTCAT_TRY(auto place, admit(session, channel->retained_limit_bytes()));
  UDTCAT_TRY(const auto joined, session.join_key()->joined(join.name));
  // A write that fails shows when the session reads.
  channel->async_write(core::SharedBytes::adopt(encode(joined)), [](const Status&) {});
  session.add_flow(std::move(channel), join.name, std::move(place));
  return {};
}

}  // namespace udtcat::connection
