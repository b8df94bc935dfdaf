// SPDX-License-Identifier: Apache-2.0
/// A TCP connection through a forward: a client at one host, a service at the other.
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fault/products.hpp"
#include "fault/tcp_peer.hpp"

namespace udtcat::fault {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

class ForwardCase final : public Case {
 public:
  ForwardCase(Stage& stage, const Scenario& scenario, unsigned number)
      : Case(stage, scenario, number),
        clients_(scenario.reverse ? Side::far : Side::near),
        service_port_(listen_at_service()) {}

  void tick() override {
    if (!client_) connect_client();
    if (client_ && !service_) accept_service();
  }

  [[nodiscard]] bool over() override {
    if (!client_) return is_stopped(clients_) || !lives(clients_).back().process->running();
    const bool client_over = client_->done() || is_stopped(clients_);
    // A connection that has not come to the service by the client's end comes no more.
    const bool service_over = service_ ? service_->done() : client_over;
    return client_over && (service_over || is_stopped(other(clients_)));
  }
  [[nodiscard]] std::uint64_t progress() const override {
    return (client_ ? client_->bytes_taken() : 0) + (service_ ? service_->bytes_taken() : 0);
  }

 protected:
  [[nodiscard]] bool serves(Side) const override { return true; }

  [[nodiscard]] Arguments arguments(Side side) override {
    Arguments words = side == Side::near ? dialled() : waits();
    if (side == Side::near) words.emplace_back("--once");
    const auto port = side == clients_ ? client_port() : service_port_;
    words.insert(words.end(), {side == clients_ ? "--from" : "--to", "127.0.0.1:" + std::to_string(port)});
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    limit_rate(words);
    return words;
  }

  void check_promises(Report& report) override {
    if (client_) check_peer(*client_, back(), "the client", report);
    if (service_) check_peer(*service_, out(), "the service", report);
    const auto clean = [](const std::optional<TcpPeer>& peer) { return peer && peer->end() == TcpPeer::End::clean; };
    report.whole = report.lies.empty() && clean(client_) && clean(service_);
  }

 private:
  static void check_peer(const TcpPeer& peer, const Content& expected, const std::string& whose, Report& report) {
    if (peer.wrong()) report.lies.push_back(whose + " got bytes that were not sent so");
    if (peer.end() == TcpPeer::End::clean && peer.bytes_taken() != expected.size())
      report.lies.push_back(whose + " saw a clean end after " + std::to_string(peer.bytes_taken()) + " of " +
                            std::to_string(expected.size()) + " bytes");
  }

  [[nodiscard]] static Side other(Side side) { return side == Side::near ? Side::far : Side::near; }
  [[nodiscard]] std::uint16_t client_port() const { return static_cast<std::uint16_t>(7000 + number_); }
  /// From the client to the service.
  [[nodiscard]] const Content& out() const { return clients_ == Side::near ? out_ : back_; }
  [[nodiscard]] const Content& back() const { return clients_ == Side::near ? back_ : out_; }

  /// At a port that the system chooses: a process on its way to another program may still hold the last one.
  std::uint16_t listen_at_service() {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    // SAFETY: as generic(), for an address that is written to.
    if (::bind(door_.fd(), generic(address), length) != 0 || ::listen(door_.fd(), 8) != 0 ||
        ::getsockname(door_.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
      test::die("listen as the service");
    test::set_non_blocking(door_);
    return ntohs(address.sin_port);
  }

  /// Again and again until its end listens.
  void connect_client() {
    const sockaddr_in address = loopback(client_port());
    test::Descriptor socket = stage_.path().tcp_socket(clients_);
    if (::connect(socket.fd(), generic(address), sizeof address) == 0)
      client_.emplace(std::move(socket), out(), back());
  }

  void accept_service() {
    test::Descriptor socket(::accept4(door_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.valid()) service_.emplace(std::move(socket), back(), out());
  }

  const Side clients_;  ///< whose host they are at; the service is at the other
  const test::Descriptor door_ = stage_.path().tcp_socket(other(clients_));
  const std::uint16_t service_port_;
  std::optional<TcpPeer> client_;
  std::optional<TcpPeer> service_;
};

}  // namespace

std::unique_ptr<Case> make_forward_case(Stage& stage, const Scenario& scenario, unsigned number) {
  return std::make_unique<ForwardCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
