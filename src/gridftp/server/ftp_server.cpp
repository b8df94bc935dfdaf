// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/ftp_server.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "gridftp/dialogue/control_connection.hpp"
#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/applications.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/status/process_resources.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

constexpr std::size_t kEventsAtOnce = 64;  // guess: of a person at work each is told

void warn(const Endpoint& /*of whom*/, const Error& error) { core::log().warn("{}", error.message()); }

}  // namespace

FtpServer::FtpServer(boost::asio::io_context& io, ServedRoot root, ServeOptions options)
    : io_(io),
      service_(new Service{.root = std::move(root),
                           .options = std::move(options),
                           .events = std::make_shared<tool::EventLog>(io, kEventsAtOnce)}),
      error_log_(io, warn) {}

Status FtpServer::listen(const std::vector<Endpoint>& locals) {
  UDTCAT_TRY(ports_, bridge::TcpPorts::bind(io_, locals, bridge::GracefulClose::always));
  ports_.accept(
      [this](tcp::socket socket) {
        boost::system::error_code gone;
        const Endpoint here = bridge::from_asio(socket.local_endpoint(gone));
        const Endpoint peer = bridge::from_asio(socket.remote_endpoint(gone));
        if (gone) return;
        auto stream = std::make_shared<StreamIo>(make_tcp_stream(std::move(socket)));
        serve(std::make_unique<ControlConnection>(io_, std::move(stream), here, peer), false);
      },
      [this](const Endpoint& local, const Error& error) { error_log_.report(local, error); });
  return {};
}

Status FtpServer::listen_sealed(const std::vector<Endpoint>& locals) {
  DataOptions data = options_.data;
  data.kind = DataKind::session;
  data.session.application = tool::kGridftp;
  data.ports = nullptr;                                               // those are for data
  const bool has_key = data.session.protection != Protection::clear;  // there nothing is proved
  sealed_stack_ = make_stack(io_, data);
  for (const Endpoint& local : locals) {
    auto listener = sealed_stack_->listen(local, lifetime_.guard([this, has_key](std::shared_ptr<StreamIo> stream,
                                                                                 const Endpoint& peer) {
      serve(std::make_unique<ControlConnection>(io_, std::move(stream), local_address_towards(peer), peer), has_key);
    }));
    if (!listener) return tl::unexpected(std::move(listener.error()));
    sealed_listeners_.push_back(std::move(*listener));
  }
  return {};
}

namespace {

/// The client with the greatest gives way to a newcomer: of the prefix with most clients, not logged in, idle longest.
using Precedence = std::tuple<std::size_t, bool, ServedClient::Clock::duration>;

}  // namespace

bool FtpServer::has_room_for(core::Prefix newcomer, const Quota& quota) {
  core::PrefixCounts held;
  for (const auto& [number, entry] : clients_) held.add(entry.prefix);
  const bool has_its_share = held.of(newcomer) >= quota.clients;
  if (!has_its_share && held.all() < options_.most_clients) return true;
  std::optional<Precedence> greatest;
  auto leaves = clients_.end();
  for (auto entry = clients_.begin(); entry != clients_.end(); ++entry) {
    const auto& [prefix, proved, address, name, came_at, client] = entry->second;
    const bool in_exchange = prefix == newcomer && !client->is_logged_in();
    const bool has_more = !has_its_share && held.of(prefix) > held.of(newcomer);
    const auto idle = client->is_logged_in() ? client->idle() : ServedClient::Clock::duration::zero();
    if (!(in_exchange || has_more) || !idle || (proved && client->is_logged_in())) continue;
    const Precedence mine{held.of(prefix), !client->is_logged_in(), *idle};
    if (greatest && mine <= *greatest) continue;  // of equals the oldest
    greatest = mine;
    leaves = entry;
  }
  if (leaves == clients_.end()) return false;
  leaves->second.client->dismiss();
  forget(leaves);
  return true;
}

void FtpServer::refuse(std::unique_ptr<ControlConnection> control) {
  const std::string address = control->peer().to_string();
  service_->events->report("refused",
                           {.kind = tool::EventKind::refused,
                            .severity = tool::Severity::warning,
                            .message = fmt::format("{} sent away: {} clients are here", address, clients_.size()),
                            .address = address,
                            .reason = make_error_code(Errc::out_of_resources).message()});
  boost::asio::co_spawn(
      io_,
      [kept = std::shared_ptr<ControlConnection>(std::move(control))]() -> Task<void> {
        constexpr std::chrono::milliseconds kTimeout{1'000};  // guess: one line, which the system takes at once
        if (co_await kept->write("421 Too many clients: try again later.\r\n", kTimeout)) co_await kept->finish();
      },
      rethrow);
}

void FtpServer::serve(std::unique_ptr<ControlConnection> control, bool has_key) {
  const core::Prefix prefix = core::prefix_of(control->peer());
  if (!has_room_for(prefix, options_.quota_for(has_key))) return refuse(std::move(control));
  const Endpoint address = control->peer();
  const std::string name = address.to_string();
  const std::uint64_t number = next_number_++;
  tool::LogEvent event{.kind = tool::EventKind::peer_up,
                       .severity = tool::Severity::info,
                       .message = name + " connected",
                       .peer = control->peer_name(),
                       .address = name};
  // Clients without a key have as many addresses as they like.
  const std::string series = has_key ? control->peer_name().value_or(address.host_to_string()) : "";
  service_->events->report("up " + series, event);
  // Posted: the client itself calls this.
  event.kind = tool::EventKind::peer_gone;
  event.message = name + " left";
  auto gone =
      lifetime_.guard([this, number, event, series, came_at = ServedClient::Clock::now()](const Status& how) mutable {
        event.duration = ServedClient::Clock::now() - came_at;
        event.result = how ? tool::kComplete : how.error().message();
        if (const auto entry = clients_.find(number); entry != clients_.end()) {
          ConnectionStats stats;
          stats.bytes_sent = entry->second.client->moved().sent;
          stats.bytes_received = entry->second.client->moved().received;
          tool::add_bytes(event, stats);
        }
        service_->events->report("gone " + series, event);
        boost::asio::post(io_, lifetime_.guard([this, number] {
          if (const auto entry = clients_.find(number); entry != clients_.end()) forget(entry);
        }));
      });
  std::string key_name = control->peer_name().value_or("");
  totals_.come(key_name);
  auto client = std::make_unique<ServedClient>(io_, std::move(control), service_, has_key, std::move(gone));
  clients_.emplace(number,
                   Entry{prefix, has_key, address, std::move(key_name), ServedClient::Clock::now(), std::move(client)});
}

void FtpServer::forget(Entries::iterator entry) {
  const ByteCounts moved = entry->second.client->moved();
  ConnectionStats stats;
  stats.bytes_sent = moved.sent;
  stats.bytes_received = moved.received;
  totals_.leave(entry->second.name, stats);
  clients_.erase(entry);
  tool::release_freed_memory();
}

void FtpServer::stop() {
  ports_ = {};
  sealed_listeners_.clear();
  for (const auto& [number, entry] : clients_) entry.client->close();
  service_->events->flush();
}

std::vector<Endpoint> FtpServer::local_endpoints() const {
  std::vector<Endpoint> locals = ports_.local_endpoints();
  for (const auto& listener : sealed_listeners_) locals.push_back(listener->local());
  return locals;
}

std::vector<FtpServer::ClientStats> FtpServer::clients() const {
  std::vector<ClientStats> clients;
  for (const auto& [number, entry] : clients_)
    clients.push_back({number, entry.address, entry.name, entry.came_at, entry.client->moved()});
  return clients;
}

ByteCounts FtpServer::moved() const {
  ByteCounts moved{totals_.gone().bytes_sent, totals_.gone().bytes_received};
  for (const auto& [number, entry] : clients_) moved += entry.client->moved();
  return moved;
}

}  // namespace udtcat::gridftp
