// SPDX-License-Identifier: Apache-2.0
#include "trees/command/relayed_transfer.hpp"

#include <utility>

namespace udtcat::trees {

RelayedTransfer::RelayedTransfer(boost::asio::io_context& io, LocalStream& other,
                                 std::unique_ptr<TransferCounters> counters, TransferRole role,
                                 std::function<void()> on_over)
    : counters_(std::move(counters)),
      on_over_(std::move(on_over)),
      transfer_(
          io, [this, role = std::move(role)](BlockingStream& stream) { return role(stream, *counters_, {}); },
          [this](const Status& result) {
            result_ = result;
            finish_if_over();
          }),
      stream_(transfer_.local_stream()),
      inwards_(other, *stream_, [this](const auto& outcome) { cut_if_broken(outcome); }),
      outwards_(*stream_, other, [this](const auto& outcome) {
        cut_if_broken(outcome);
        is_sent_ = true;
        finish_if_over();
      }) {}

/// A direction that has broken makes the other one useless.
void RelayedTransfer::cut_if_broken(const bridge::Relay::Outcome& outcome) {
  if (outcome.write_error || outcome.read_error) transfer_.cut();
}

void RelayedTransfer::finish_if_over() {
  if (result_ && is_sent_) on_over_();
}

}  // namespace udtcat::trees
