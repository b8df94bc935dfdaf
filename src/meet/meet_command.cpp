// SPDX-License-Identifier: Apache-2.0
#include "meet/meet_command.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/meeting/names.hpp"
#include "meet/binding_service.hpp"
#include "meet/place.hpp"
#include "meet/place_snapshot.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::meet {

namespace {

/// Threads: confined to the main thread.
class MeetCommand {
 public:
  MeetCommand(const MeetOptions& options, tool::Console& console)
      : options_(options), run_(options, console), refusals_(run_.io()) {}

  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials found) {
    tool::allow_descriptors(tool::kAllDescriptors);
    run_.console().date_lines();
    if (auto started = start(std::move(found)); !started) return run_.fail_to_start(std::move(started.error()));
    run_.watch([this] { return relayed_stats(*place_); });
    run_.publish([this](tool::ProcessSnapshot& snapshot) { add_to(snapshot); });
    run_.on_interrupt([this](const Error& why) {
      listener_->stop();
      refusals_.flush();
      place_->stop(why, [this, why] { run_.finish(why); });
    });
    return run_.run();
  }

 private:
  [[nodiscard]] Status start(tool::FoundCredentials found) {
    run_.keep_current(found.peers);
    if (options_.serves_everybody) {
      UDTCAT_TRY(Key key, meeting::public_place_key());
      found.credentials = std::move(key);
    }
    UDTCAT_TRY(ListenRequest request, tool::make_listen_request(options_, std::move(found.credentials)));
    UDTCAT_TRY(listener_, listen(
                              run_.io(), std::move(request),
                              [this](std::unique_ptr<Connection> connection) { place_->add(std::move(connection)); },
                              [this](const Endpoint& peer, const Error& why) { refusals_.add(peer, why); }));
    const auto locals = listener_->local_endpoints();
    place_ =
        std::make_unique<Place>(run_.io(), options_.place,
                                PairTable::Settings{.locals = locals,
                                                    .any_ports = options_.local.port == 0,
                                                    .relays_tcp = !listener_->tcp_endpoints().empty(),
                                                    .pair_rate = options_.pair_rate,
                                                    .rate = options_.rate},
                                [this](const Connection& peer, const Error& why) { refusals_.add(peer.peer(), why); });
    listener_->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
      auto answer = binding_.answer(message, from, std::chrono::steady_clock::now());
      if (!answer.empty()) listener_->send_stun(from, std::move(answer));
    });
    listener_->on_relay([this](boost::asio::ip::tcp::socket socket, const Listener::RelayToken& token,
                               const Endpoint& from) { place_->take(std::move(socket), token, from); });
    if (const auto failure = listener_->tcp_failure())
      core::log().warn("{}; ends without UDP cannot come: free that TCP port and start again", failure->message());
    const bool with_tcp = !listener_->tcp_endpoints().empty();
    const std::string ports = options_.local.port == 0
                                  ? fmt::format("UDP{} {}, and a UDP port that the system chooses for each pair",
                                                with_tcp ? " and TCP" : "", locals.front().port())
                                  : firewall_text(locals.front().port(), options_.place.pairs, with_tcp);
    tool::log_event({.kind = tool::EventKind::listening,
                     .message = fmt::format("a meeting place for {}; its ports are {}",
                                            options_.serves_everybody ? "everybody" : "those who prove the key", ports),
                     .address = locals.front().to_string(),
                     .object = "meeting place"});
    return {};
  }

  void add_to(tool::ProcessSnapshot& snapshot) const {
    snapshot.refused = refusals_.snapshots();
    for (const Endpoint& local : listener_->local_endpoints()) snapshot.listening.push_back("udp " + local.to_string());
    for (const Endpoint& local : listener_->tcp_endpoints()) snapshot.listening.push_back("tcp " + local.to_string());
    meet::add_to(snapshot, *place_);
  }

  const MeetOptions& options_;
  tool::SessionRun run_;
  tool::RefusalLog refusals_;
  BindingService binding_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Place> place_;
};

}  // namespace

tool::ExitStatus meet_command(const MeetOptions& options, tool::FoundCredentials found, tool::Console& console) {
  MeetCommand command(options, console);
  return command.run(std::move(found));
}

}  // namespace udtcat::meet
