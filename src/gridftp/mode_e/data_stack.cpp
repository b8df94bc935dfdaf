// SPDX-License-Identifier: Apache-2.0
/// Data connections over TCP, which every GridFTP program speaks, and over UDT4, bare. session_stack.cpp has the third.
#include "gridftp/mode_e/data_stack.hpp"

#include <algorithm>

#include <boost/asio/ip/tcp.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/plain.hpp>

#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/mode_e/data_port_range.hpp"
#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

// ---- TCP ------------------------------------------------------------------------------------------------------------

using boost::asio::ip::tcp;

class TcpDataListener final : public DataListener {
 public:
  TcpDataListener(bridge::TcpAcceptor::Bound bound, DataStack::ConnectionHandler handler)
      : acceptor_(
            std::move(bound),
            [handler = std::move(handler)](tcp::socket socket) {
              boost::system::error_code error;
              const Endpoint peer = bridge::from_asio(socket.remote_endpoint(error));
              if (error) return;  // gone already
              handler(std::make_shared<StreamIo>(make_tcp_stream(std::move(socket))), peer);
            },
            [](const Endpoint& at, std::error_code error) {
              core::log().warn("accept data on {}: {}", at.to_string(), error.message());
            }) {}
  [[nodiscard]] Endpoint local() const override { return acceptor_.local_endpoint(); }

 private:
  bridge::TcpAcceptor acceptor_;
};

/// The hosts that answered in place of a named one, which are tried first the next time. One entry for each stripe of a
/// server.
/// Threads: confined to the io_context thread.
class LastReachable {
 public:
  /// hosts   the named one first
  [[nodiscard]] std::vector<Endpoint> likeliest_first(std::vector<Endpoint> hosts) const {
    const auto known = std::ranges::find(answers_, hosts.front().with_port(0), &Answer::named);
    if (known == answers_.end()) return hosts;
    const auto last = std::ranges::find(hosts, known->by, [](const Endpoint& each) { return each.with_port(0); });
    if (last != hosts.end()) std::rotate(hosts.begin(), last, last + 1);
    return hosts;
  }
  void note(const Endpoint& named, const Endpoint& by) {
    std::erase_if(answers_, [&](const Answer& each) { return each.named == named.with_port(0); });
    if (answers_.size() == kMaxDataPorts) answers_.erase(answers_.begin());
    answers_.push_back({named.with_port(0), by.with_port(0)});
  }

 private:
  struct Answer {
    Endpoint named, by;
  };
  std::vector<Answer> answers_;  // oldest first
};

class TcpStack final : public DataStack {
 public:
  TcpStack(boost::asio::io_context& io, std::chrono::milliseconds timeout) : io_(io), timeout_(timeout) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) override {
    const Endpoint named = to.front();
    const std::string doing = "connect to tcp " + named.to_string() + " for data";
    UDTCAT_CO_TRY(auto socket, co_await connect_tcp(io_, answered_.likeliest_first(std::move(to)), timeout_, doing));
    boost::system::error_code gone;  // then the first read says so
    answered_.note(named, bridge::from_asio(socket.remote_endpoint(gone)));
    co_return std::make_shared<StreamIo>(make_tcp_stream(std::move(socket)));
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    auto bound = bridge::bind_tcp(io_, local, bridge::GracefulClose::always);
    if (!bound)
      return core::fail_by_errno(Errc::cannot_bind, "listen for data on tcp " + local.to_string(),
                                 bound.error().value());
    return std::make_unique<TcpDataListener>(std::move(*bound), std::move(handler));
  }

 private:
  boost::asio::io_context& io_;
  const std::chrono::milliseconds timeout_;
  LastReachable answered_;
};

// ---- UDT4 -----------------------------------------------------------------------------------------------------------

struct CountedPipe {
  std::unique_ptr<PlainPipe> pipe;
  std::shared_ptr<void> counted;  // goes before the pipe
};

std::shared_ptr<StreamIo> stream_over(boost::asio::io_context& io, std::unique_ptr<PlainPipe> pipe,
                                      const std::shared_ptr<DataStats>& stats) {
  const std::string name = "udt " + pipe->peer().to_string();
  auto [theirs, ours] = bridge::make_stream_pair(io, name, bridge::LargeWrites::uncopied);
  pipe->bridge(std::move(theirs), true, [name](const StreamOutcome& outcome) {
    core::log().debug("{}: {}", name, outcome.error ? outcome.error->message() : "ended");
  });
  const auto counted = std::make_shared<CountedPipe>();
  counted->pipe = std::move(pipe);
  if (stats) counted->counted = stats->add([&pipe = *counted->pipe] { return pipe.stats(); });
  return std::make_shared<StreamIo>(std::move(ours), counted);
}

class UdtDataListener final : public DataListener {
 public:
  explicit UdtDataListener(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
  [[nodiscard]] Endpoint local() const override { return listener_->local_endpoints().front(); }

 private:
  const std::unique_ptr<Listener> listener_;
};

class UdtStack final : public DataStack {
 public:
  UdtStack(boost::asio::io_context& io, const TransportOptions& transport, std::chrono::milliseconds timeout,
           std::shared_ptr<DataStats> stats)
      : io_(io), transport_(transport), timeout_(timeout), stats_(std::move(stats)) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) override {
    DialRequest request;
    const Endpoint named = to.front();
    request.peer_name = named.to_string();
    request.addresses = answered_.likeliest_first(std::move(to));
    request.timeout = timeout_;
    request.transport = transport_;
    const auto begin = [&](auto handler) { return dial_plain(io_, std::move(request), std::move(handler)); };
    UDTCAT_CO_TRY(auto pipe, co_await await_dial<PlainPipe>(io_, begin));
    answered_.note(named, pipe->peer());
    co_return stream_over(io_, std::move(pipe), stats_);
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    ListenRequest request;
    request.locals.push_back(local);
    request.transport = transport_;
    const auto take = [&io = io_, stats = stats_, handler = std::move(handler)](std::unique_ptr<PlainPipe> pipe) {
      const Endpoint peer = pipe->peer();
      handler(stream_over(io, std::move(pipe), stats), peer);
    };
    UDTCAT_TRY(auto listener, listen_plain(io_, std::move(request), take));
    return std::make_unique<UdtDataListener>(std::move(listener));
  }

 private:
  boost::asio::io_context& io_;
  const TransportOptions transport_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<DataStats> stats_;
  LastReachable answered_;
};

}  // namespace

std::shared_ptr<DataStack> make_tcp_stack(boost::asio::io_context& io, std::chrono::milliseconds timeout) {
  return std::make_shared<TcpStack>(io, timeout);
}

std::shared_ptr<DataStack> make_udt_stack(boost::asio::io_context& io, const TransportOptions& transport,
                                          std::chrono::milliseconds timeout, std::shared_ptr<DataStats> stats) {
  return std::make_shared<UdtStack>(io, transport, timeout, std::move(stats));
}

std::shared_ptr<DataStack> make_stack(boost::asio::io_context& io, const DataOptions& options) {
  if (options.ports) {
    DataOptions anywhere = options;
    anywhere.ports = nullptr;
    return within(options.ports, make_stack(io, anywhere));
  }
  switch (options.kind) {
    case DataKind::udt:
      return make_udt_stack(io, options.transport, options.connect_timeout, options.stats);
    case DataKind::session:
      return make_session_stack(io, options);
    case DataKind::tcp:
      break;
  }
  return make_tcp_stack(io, options.connect_timeout);
}

}  // namespace udtcat::gridftp
