#include "gridftp/ftp_server.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "bridge/asio_terms.hpp"
#include "core/log.hpp"
#include "gridftp/local_address.hpp"
#include "gridftp/remote_server.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

FtpServer::FtpServer(boost::asio::io_context& io, ServedRoot root, ServeOptions options)
    : io_(io), root_(std::move(root)), options_(std::move(options)) {}

Status FtpServer::listen(const std::vector<Endpoint>& locals) {
  for (const Endpoint& local : locals) {
    auto bound = bridge::TcpAcceptor::bind(io_, local, bridge::TcpEnd::always);
    if (!bound) return fail(Errc::cannot_bind, "bind tcp " + local.to_string(), bridge::cause_of(bound.error()));
    doors_.push_back(std::make_unique<bridge::TcpAcceptor>(
        std::move(*bound),
        [this](tcp::socket socket) {
          boost::system::error_code gone;
          const Endpoint here = bridge::from_asio(socket.local_endpoint(gone));
          const Endpoint peer = bridge::from_asio(socket.remote_endpoint(gone));
          if (gone) return;
          auto stream = std::make_shared<StreamIo>(make_tcp_stream(std::move(socket)));
          welcome(std::make_unique<ControlLink>(io_, std::move(stream), here, peer));
        },
        [](const Endpoint& at, std::error_code error) {
          core::log().warn("accept tcp {}: {}", at.to_string(), error.message());
        }));
  }
  return {};
}

Status FtpServer::listen_sealed(const std::vector<Endpoint>& locals) {
  DataOptions data = options_.data;
  data.kind = DataKind::session;
  data.session.purpose = Purpose::gridftp;
  sealed_stack_ = make_stack(io_, data);
  for (const Endpoint& local : locals) {
    auto door =
        sealed_stack_->listen(local, lifetime_.guard([this](std::shared_ptr<StreamIo> stream, const Endpoint& peer) {
          welcome(std::make_unique<ControlLink>(io_, std::move(stream), local_address_towards(io_, peer), peer));
        }));
    if (!door) return tl::unexpected(std::move(door.error()));
    sealed_doors_.push_back(std::move(*door));
  }
  return {};
}

namespace {

/// The unit that shares most_clients_of_one: an IPv4 address, an IPv6 /64.
std::string address_of(const Endpoint& peer) {
  const auto address = bridge::to_asio(peer).address();
  if (!address.is_v6()) return address.to_string();
  auto network = address.to_v6().to_bytes();
  std::fill(network.begin() + network.size() / 2, network.end(), 0);
  return boost::asio::ip::address_v6(network).to_string();
}

}  // namespace

FtpServer::Guests::iterator FtpServer::oldest_stranger(const std::string& address) {
  return std::ranges::find_if(clients_, [&](const auto& each) {
    return each.second.address == address && !each.second.client->is_logged_in();
  });
}

/// Of those who have not logged in.
std::string FtpServer::greediest_address() const {
  std::map<std::string, std::size_t> strangers;
  for (const auto& [number, guest] : clients_)
    if (!guest.client->is_logged_in()) ++strangers[guest.address];
  const auto most = std::ranges::max_element(strangers, {}, [](const auto& each) { return each.second; });
  return most == strangers.end() ? "" : most->first;
}

bool FtpServer::has_room_for(const std::string& address) {
  const auto from_there =
      std::ranges::count_if(clients_, [&](const auto& each) { return each.second.address == address; });
  auto leaves = clients_.end();
  if (static_cast<std::size_t>(from_there) >= options_.most_clients_of_one)
    leaves = oldest_stranger(address);
  else if (clients_.size() >= options_.most_clients)
    leaves = oldest_stranger(greediest_address());
  else
    return true;
  if (leaves == clients_.end()) return false;
  core::log().info("a client from {} gives way: it has not logged in", leaves->second.address);
  forget(leaves);
  return true;
}

void FtpServer::send_away(std::unique_ptr<ControlLink> link) {
  core::log().warn("{} sent away: {} clients are here", link->peer().to_string(), clients_.size());
  boost::asio::co_spawn(
      io_,
      [kept = std::shared_ptr<ControlLink>(std::move(link))]() -> Task<void> {
        constexpr std::chrono::milliseconds kPatience{1'000};  // guess: one line, which the system takes at once
        if (co_await kept->say("421 Too many clients: later.\r\n", kPatience)) co_await kept->finish();
      },
      boost::asio::detached);
}

void FtpServer::welcome(std::unique_ptr<ControlLink> link) {
  const std::string address = address_of(link->peer());
  if (!has_room_for(address)) return send_away(std::move(link));
  const std::string name = link->peer().to_string();
  const std::uint64_t number = next_number_++;
  core::log().info("{} connected", name);
  // Posted: it is the client that calls.
  auto gone = lifetime_.guard([this, number, name] {
    core::log().info("{} left", name);
    boost::asio::post(io_, lifetime_.guard([this, number] {
      if (const auto guest = clients_.find(number); guest != clients_.end()) forget(guest);
    }));
  });
  clients_.emplace(
      number, Guest{address, std::make_unique<ServedClient>(io_, std::move(link), root_, options_, std::move(gone))});
}

void FtpServer::forget(Guests::iterator guest) {
  moved_before_ += guest->second.client->moved_bytes();
  clients_.erase(guest);
}

void FtpServer::stop() {
  doors_.clear();
  sealed_doors_.clear();
  for (const auto& [number, guest] : clients_) guest.client->close();
}

std::vector<Endpoint> FtpServer::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const auto& door : doors_) locals.push_back(door->local_endpoint());
  for (const auto& door : sealed_doors_) locals.push_back(door->local());
  return locals;
}

std::uint64_t FtpServer::moved_bytes() const {
  std::uint64_t moved = moved_before_;
  for (const auto& [number, guest] : clients_) moved += guest.client->moved_bytes();
  return moved;
}

}  // namespace udtcat::gridftp
