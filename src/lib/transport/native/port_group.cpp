// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/port_group.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/transport/native/native_channel.hpp"
#include "lib/transport/thread_channel.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxHandedOver = 512;  // guess: the packets of some trains, which are handled in a moment

TransportOptions options_of_further_ports(TransportOptions options) {
  options.known_paths.reset();  // it is the owner's
  return options;
}

UdpPort::IncomingDatagram copy_of(std::span<const std::byte> packet, const net::ReceivedTrain& train) {
  return {{packet.begin(), packet.end()}, train.from, train.to, train.arrived};
}

}  // namespace

/// Port 1, 2 and so on. Threads: made and destroyed on the owner's, called on its own.
class PortGroup::FurtherPort final : public OtherPorts {
 public:
  FurtherPort(PortGroup& group, IoThread& thread, std::size_t index) : group_(group), thread_(thread), index_(index) {}

  [[nodiscard]] Status open(net::DatagramSocket socket, const TransportOptions& options, std::uint32_t mss) {
    Status opened;
    thread_.call([&] {
      auto port = UdpPort::create_beside(thread_.io(), std::move(socket), options, mss, *this);
      if (port)
        port_ = std::move(*port);
      else
        opened = tl::unexpected(port.error());
    });
    return opened;
  }

  // ---- On the owner's thread
  [[nodiscard]] IoThread& thread() { return thread_; }
  void finish() {
    thread_.post([this] { port_->finish(); });
  }
  void take(UdpPort::IncomingDatagram datagram) {
    if (coming_ >= kMaxHandedOver) return;
    ++coming_;
    thread_.post([this, datagram = std::move(datagram)] {
      --coming_;
      port_->take_handed_over(datagram);
    });
  }
  void take(const std::vector<net::PathError>& errors) {
    thread_.post([this, errors] { port_->take_path_errors(clock_now(), errors); });
  }

  // ---- On its own
  [[nodiscard]] UdpPort& port() { return *port_; }

  void hand_over(std::uint32_t /*port*/, std::span<const std::byte> packet, const net::ReceivedTrain& train) override {
    if (leaving_ >= kMaxHandedOver) return;
    ++leaving_;
    post_back([datagram = copy_of(packet, train)](FurtherPort& port) {
      --port.leaving_;
      port.group_.first_.take_handed_over(datagram);
    });
  }
  void on_path_errors(const std::vector<net::PathError>& errors) override {
    post_back([errors](FurtherPort& port) {
      port.group_.first_.take_path_errors(clock_now(), errors);
      for (const auto& other : port.group_.further_)
        if (other.get() != &port) other->take(errors);
    });
  }
  void on_forgotten(const UdtConnection& connection) override {
    const bool closed = connection.state() == UdtConnection::State::closed;
    post_back([id = connection.local_id(), peer = connection.peer_address(),
               shutdown = closed ? connection.shutdown_packet() : std::vector<std::byte>()](FurtherPort& port) {
      port.group_.first_.forget_elsewhere(id, peer, shutdown);
      port.group_.threads_.remove_connection(port.index_);
    });
  }
  void note_path(const Endpoint& peer, const KnownPath& path) override {
    post_back([peer, path](FurtherPort& port) { port.group_.first_.note_path(peer, path); });
  }
  [[nodiscard]] std::uint32_t ports() const override { return group_.ports_; }
  [[nodiscard]] std::uint32_t port_for(const Endpoint& /*peer*/, bool /*beside*/) override { return 0; }
  [[nodiscard]] std::unique_ptr<Channel> adopt(AdoptedLink /*link*/) override { return nullptr; }

 private:
  void post_back(std::function<void(FurtherPort&)> task) {
    thread_.post_back([told = told_, task = std::move(task)] { told(task); });
  }

  PortGroup& group_;
  IoThread& thread_;
  const std::size_t index_;  // of its thread
  std::atomic<std::size_t> coming_ = 0;
  std::atomic<std::size_t> leaving_ = 0;
  std::unique_ptr<UdpPort> port_;
  core::Lifetime lifetime_;
  const std::function<void(const std::function<void(FurtherPort&)>&)> told_ =
      lifetime_.guard([this](const std::function<void(FurtherPort&)>& task) { task(*this); });
};

PortGroup::PortGroup(UdpPort& first, IoThreads& threads, const TransportOptions& options, std::uint32_t mss,
                     std::function<std::size_t()> owners_connections)
    : first_(first),
      threads_(threads),
      further_options_(options_of_further_ports(options)),
      mss_(mss),
      owners_connections_(std::move(owners_connections)),
      ports_(static_cast<std::uint32_t>(threads.limit()) + 1),
      openable_(threads.limit()) {
  first_.lead(*this);
}

PortGroup::~PortGroup() = default;

void PortGroup::finish() {
  for (const auto& port : further_) port->finish();
}

void PortGroup::hand_over(std::uint32_t port, std::span<const std::byte> packet, const net::ReceivedTrain& train) {
  further_[port - 1]->take(copy_of(packet, train));
}

void PortGroup::on_path_errors(const std::vector<net::PathError>& errors) {
  for (const auto& port : further_) port->take(errors);
}

std::uint32_t PortGroup::port_for(const Endpoint& peer, bool beside) {
  if (const auto port = first_.port_of(peer, beside)) return *port;
  const std::size_t index = threads_.least_busy(owners_connections_(), std::min(openable_, further_.size() + 1));
  if (index == threads_.limit()) return 0;
  if (index == further_.size()) {
    if (const auto opened = open_next(); !opened) {
      core::log().info("{}: {} threads carry packets", opened.error().message(), index + 1);
      openable_ = index;
      return 0;
    }
  }
  return static_cast<std::uint32_t>(index) + 1;
}

Status PortGroup::open_next() {
  const std::size_t index = further_.size();
  UDTCAT_TRY(IoThread* const thread, threads_.at(index));
  UDTCAT_TRY(net::DatagramSocket socket, first_.open_beside());
  auto port = std::make_unique<FurtherPort>(*this, *thread, index);
  UDTCAT_CHECK(port->open(std::move(socket), further_options_, mss_));
  further_.push_back(std::move(port));
  return first_.steer(ports_, static_cast<std::uint32_t>(further_.size()) + 1);
}

std::unique_ptr<Channel> PortGroup::adopt(AdoptedLink link) {
  FurtherPort& port = *further_[link.port - 1];
  threads_.add_connection(link.port - 1);
  const ThreadChannel::Settings settings{link.settings.peer_address, link.proved, link.settings.options.memory_bytes,
                                         true};
  return std::make_unique<ThreadChannel>(
      port.thread(), settings, [&port, link = std::move(link)](FarUser user) -> std::unique_ptr<Channel> {
        return std::make_unique<NativeChannel>(port.thread().io(), port.port().adopt(link), std::move(user));
      });
}

}  // namespace udtcat::transport::native
