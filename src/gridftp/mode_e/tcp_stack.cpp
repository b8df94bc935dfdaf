/// make_tcp_stack(), which every GridFTP program speaks, and make_stack().
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include <udtcat/bridges.hpp>

#include "gridftp/mode_e/data_stack.hpp"
#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/core/log.hpp"

namespace udtcat::gridftp {

namespace {

using boost::asio::ip::tcp;

class TcpDataListener final : public DataListener {
 public:
  TcpDataListener(tcp::acceptor acceptor, DataStack::ConnectionHandler handler)
      : acceptor_(
            std::move(acceptor),
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

class TcpStack final : public DataStack {
 public:
  TcpStack(boost::asio::io_context& io, std::chrono::milliseconds patience) : io_(io), patience_(patience) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(Endpoint to) override {
    const auto socket = std::make_shared<tcp::socket>(io_);
    const std::vector<Endpoint> addresses{to};
    const auto error = co_await connect_tcp(socket, addresses, patience_);
    if (error)
      co_return fail(Errc::cannot_reach, "connect to tcp " + to.to_string() + " for data",
                     bridge::cause_of(bridge::from_asio(error)));
    co_return std::make_shared<StreamIo>(make_tcp_stream(std::move(*socket)));
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    auto bound = bridge::TcpAcceptor::bind(io_, local, bridge::TcpEnd::always);
    if (!bound)
      return fail(Errc::cannot_bind, "listen for data on tcp " + local.to_string(), bridge::cause_of(bound.error()));
    return std::make_unique<TcpDataListener>(std::move(*bound), std::move(handler));
  }

 private:
  boost::asio::io_context& io_;
  const std::chrono::milliseconds patience_;
};

}  // namespace

std::shared_ptr<DataStack> make_tcp_stack(boost::asio::io_context& io, std::chrono::milliseconds patience) {
  return std::make_shared<TcpStack>(io, patience);
}

std::shared_ptr<DataStack> make_stack(boost::asio::io_context& io, const DataOptions& options) {
  switch (options.kind) {
    case DataKind::udt:
      return make_udt_stack(io, options.transport, options.connect_patience);
    case DataKind::session:
      return make_session_stack(io, options.session, options.transport,
                                options.key ? std::optional(options.key->duplicate()) : std::nullopt,
                                options.connect_patience);
    case DataKind::tcp:
      break;
  }
  return make_tcp_stack(io, options.connect_patience);
}

}  // namespace udtcat::gridftp
