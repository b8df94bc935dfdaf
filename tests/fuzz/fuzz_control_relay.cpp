// SPDX-License-Identifier: Apache-2.0
// Any bytes as both directions of a control connection, in both gateways: nothing is lost or changed but addresses, and
// the same comes out however the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/gateway/control_relay.hpp"
#include "gridftp/gateway/gateway_stream.hpp"

namespace fuzz_control_relay {

using namespace udtcat;
using namespace udtcat::gridftp;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Stands in with the address itself, so that what is rewritten is the same but for how it is written.
struct Ports final : DataPorts {
  Status announce(const Endpoint& endpoint, bool first) override {
    announced = first ? 1 : announced + 1;
    if (endpoint.port() == 1) return fail(Errc::bad_argument, "announce", "no");
    return {};
  }
  Result<Endpoint> stand_in(const Endpoint& endpoint, bool first) override {
    stood_in = first ? 1 : stood_in + 1;
    if (endpoint.port() == 1) return fail(Errc::cannot_bind, "listen", "no");
    return endpoint;
  }
  std::size_t announced = 0;
  std::size_t stood_in = 0;
};

struct Passed {
  std::string to_session;
  std::string to_local;
  bool whole = true;
};

/// In pieces of `step` bytes, all from the socket or all from the session.
Passed pass(LocalPeer local, std::string_view text, std::size_t step, bool from_local) {
  Ports ports;
  ControlRelay relay(local, ports);
  ControlRelay::Output out;
  Passed passed;
  for (std::size_t at = 0; at < text.size() && passed.whole; at += step) {
    const std::string_view piece = text.substr(at, step);
    passed.whole = (from_local ? relay.from_local(piece, out) : relay.from_session(piece, out)).has_value();
  }
  passed.to_session = std::move(out.to_session);
  passed.to_local = std::move(out.to_local);
  return passed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view lines = text.substr(0, text.rfind('\n') + 1);
  for (const LocalPeer local : {LocalPeer::client, LocalPeer::server})
    for (const bool from_local : {true, false}) {
      const Passed at_once = pass(local, text, std::max<std::size_t>(size, 1), from_local);
      const Passed in_pieces = pass(local, text, 5, from_local);
      require(at_once.whole == in_pieces.whole);
      if (!at_once.whole) continue;
      require(at_once.to_session == in_pieces.to_session && at_once.to_local == in_pieces.to_local);
    }
  // A server's replies reach the session unchanged; a client's commands likewise, but for those that are answered
  // here.
  if (const Passed far = pass(LocalPeer::server, text, 7, true); far.whole) require(far.to_session == lines);
  if (const Passed near = pass(LocalPeer::client, text, 7, true); near.whole)
    require(near.to_session.size() <= lines.size());
  // Replies come out as long as they were, but for zeros in front of a number.
  if (const Passed near = pass(LocalPeer::client, text, 7, false); near.whole)
    require(near.to_local.size() <= lines.size() && near.to_session.empty());
  if (const auto greeting = parse_gateway_greeting(text))
    require(parse_gateway_greeting(to_line(*greeting).substr(0, to_line(*greeting).size() - 1)).value() == *greeting);
  return 0;
}

}  // namespace fuzz_control_relay
