// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/line_relay.hpp"

#include <utility>

#include "e2e/support/ftp_dialogue.hpp"

namespace udtcat::test::e2e {

namespace {

constexpr std::chrono::seconds kRelayPatience{120};  // as long as a transfer may take

}  // namespace

LineRelay::LineRelay(std::uint16_t target, Rewrite commands, Rewrite replies)
    : target_(target), commands_(std::move(commands)), replies_(std::move(replies)), thread_([this] { serve(); }) {}

LineRelay::~LineRelay() {
  stopping_ = true;
  const TcpClient last(port(), kAtOnce);  // whom it waits for
  thread_.join();
}

void LineRelay::serve() {
  for (auto client = listener_.accept(kRelayPatience); client && !stopping_;
       client = listener_.accept(kRelayPatience)) {
    clients_.emplace_back([this, client = std::move(*client)] {
      const TcpClient server(target_, kRelayPatience);
      std::thread back([&] { relay(server, client, replies_); });
      relay(client, server, commands_);
      back.join();
    });
  }
  for (std::thread& client : clients_) client.join();
}

void LineRelay::relay(const TcpClient& from, const TcpClient& to, const Rewrite& rewrite) {
  for (std::string line = read_line(from); !line.empty(); line = read_line(from)) {
    const std::lock_guard lock(mutex_);
    const std::string instead = rewrite(line + "\r\n");
    if (!instead.empty() && !to.send(instead)) break;
  }
  to.finish_sending();
}

}  // namespace udtcat::test::e2e
