// SPDX-License-Identifier: Apache-2.0
/// The words of the interoperability tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interop/our_end.hpp"
#include "interop/pattern.hpp"
#include "interop/raw_udt.hpp"
#include "interop/scripted_peer.hpp"
#include "interop/sequence_shift.hpp"
#include "interop/transfer.hpp"
#include "support/udp_relay.hpp"
#include "support/wire.hpp"

namespace udtcat::test::interop {

/// Our end's part; the other end does the other thing.
enum class Role { connects, listens };

inline std::string name_of(Role role) { return role == Role::connects ? "OursConnects" : "OursListens"; }

struct LinkOptions {
  RawOptions raw{};
  TransportOptions ours = {};
  AddressFamily family = AddressFamily::ipv4;
  bool relayed = false;
  /// Called before the first packet.
  std::function<void(UdpRelay&)> prepare{};
};

/// A connection between our engine and libudt, perhaps over a relay. Parts end in the right order by themselves.
struct Link {
  std::unique_ptr<OurEnd> end{};
  std::unique_ptr<RawListener> listener{};
  std::unique_ptr<UdpRelay> relay{};
  std::unique_ptr<OurChannel> ours{};
  std::unique_ptr<RawSocket> theirs{};

  [[nodiscard]] bool up() const { return ours && theirs; }
  /// For a failure's message.
  [[nodiscard]] std::string tell() const {
    std::string text = "\n";
    if (ours) text += ours->counters() + "\n";
    if (theirs) text += theirs->counters() + "\n";
    if (relay) text += relay->last_words();
    return text;
  }
};

inline Link make_link(Role role, const LinkOptions& options = {}) {
  Link link{.end = std::make_unique<OurEnd>(options.ours)};
  const auto through = [&](std::uint16_t port) {
    if (options.relayed) {
      link.relay = std::make_unique<UdpRelay>(port);
      link.relay->capture();
      if (options.prepare) options.prepare(*link.relay);
      port = link.relay->port();
    }
    return loopback(options.family, port);
  };
  if (role == Role::listens) {
    const Endpoint peer = through(link.end->listen(options.family));
    link.end->start_accept();
    link.theirs = RawSocket::connect(peer, options.raw);
    EXPECT_TRUE(link.theirs) << "libudt's " << RawSocket::why() << link.tell();
    if (link.theirs) link.ours = link.end->accepted(5s);
    EXPECT_TRUE(link.ours) << "libudt is connected, but ours has accepted nothing" << link.tell();
  } else {
    link.listener = std::make_unique<RawListener>(options.raw, options.family);
    auto connected = link.end->connect(through(link.listener->port()));
    EXPECT_TRUE(connected) << connected.error().message() << link.tell();
    if (!connected) return link;
    link.ours = std::move(*connected);
    link.theirs = link.listener->accept(5s);
    EXPECT_TRUE(link.theirs) << "ours is connected, but libudt has accepted nothing" << link.tell();
  }
  return link;
}

/// Which way the bytes go.
enum class Flow { from_us, to_us, both };

inline std::string name_of(Flow flow) {
  return flow == Flow::from_us ? "FromUs" : flow == Flow::to_us ? "ToUs" : "BothWaysAtOnce";
}

/// Both transfers, as their receivers saw them.
struct Carried {
  std::optional<Transfer> from_us;
  std::optional<Transfer> to_us;
};

/// Carries `bytes` each way that `flow` says, and expects them unchanged within `limit`.
inline Carried carry(Link& link, Flow flow, std::uint64_t bytes, std::chrono::milliseconds limit,
                     std::size_t piece_bytes = 256 * 1024) {
  const Pattern up(1);
  const Pattern down(2);
  const auto deadline = Clock::now() + limit;
  const auto left = [&] {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()), 1ms);
  };
  std::optional<Job> got_up;
  std::optional<Job> got_down;
  std::vector<Job> sent;
  if (flow != Flow::to_us) {
    got_up = link.theirs->start_receiving(up, bytes);
    sent.push_back(link.ours->start_sending(up, bytes, piece_bytes));
  }
  if (flow != Flow::from_us) {
    got_down = link.ours->start_receiving(down, bytes);
    sent.push_back(link.theirs->start_sending(down, bytes, piece_bytes));
  }
  Carried carried;
  if (got_up) {
    carried.from_us = got_up->wait(left());
    EXPECT_TRUE(complete(*carried.from_us, bytes)) << "from us" << link.tell();
  }
  if (got_down) {
    carried.to_us = got_down->wait(left());
    EXPECT_TRUE(complete(*carried.to_us, bytes)) << "to us" << link.tell();
  }
  for (const Job& each : sent) EXPECT_TRUE(complete(each.wait(left()), bytes)) << "the sender" << link.tell();
  return carried;
}

/// For each role.
class ByRole : public testing::TestWithParam<Role> {
 protected:
  static Role role() { return GetParam(); }
  static Towards towards_us() { return role() == Role::connects ? Towards::connector : Towards::listener; }
  static Towards towards_them() { return opposite(towards_us()); }
};

#define UDTCAT_FOR_BOTH_ROLES(suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(BothRoles, suite, testing::Values(Role::connects, Role::listens), \
                           [](const auto& row) { return name_of(row.param); })

}  // namespace udtcat::test::interop
