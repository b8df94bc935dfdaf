// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer.hpp"

#include <utility>

#include "trees/message_io.hpp"

namespace udtcat::trees {

Transfer::Transfer(boost::asio::io_context& io, Work work, std::function<void(const Status&)> on_over)
    : wire_(io),
      worker_(
          io,
          [this, work = std::move(work)] {
            const Status result = work(wire_);
            if (!result) wire_.cut();  // it has said what it could: its stream ends, too
            return result;
          },
          std::move(on_over)) {
  if (worker_.started()) return;
  MessageWriter writer(wire_);
  tell_failure(worker_.started().error(), writer);
  wire_.finish();
  wire_.cut_unless_ended();
}

}  // namespace udtcat::trees
