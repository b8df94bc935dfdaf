/// make_udt_stack(): each data connection is a UDT4 connection, bare.
#include <utility>

#include <udtcat/plain.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/data_stack.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

std::shared_ptr<StreamIo> stream_over(boost::asio::io_context& io, std::unique_ptr<PlainPipe> pipe) {
  const std::string name = "udt " + pipe->peer().to_string();
  auto [theirs, ours] = bridge::make_stream_pair(io, name);
  const std::shared_ptr<PlainPipe> carrier = std::move(pipe);
  carrier->bridge(std::move(theirs), true, [name](const StreamOutcome& outcome) {
    core::log().debug("{}: {}", name, outcome.error ? outcome.error->message() : "ended");
  });
  return std::make_shared<StreamIo>(std::move(ours), carrier);
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
  UdtStack(boost::asio::io_context& io, const TransportOptions& transport, std::chrono::milliseconds patience)
      : io_(io), transport_(transport), patience_(patience) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(Endpoint to) override {
    DialRequest request;
    request.addresses.push_back(to);
    request.peer_name = to.to_string();
    request.timeout = patience_;
    request.transport = transport_;
    const auto begin = [&](auto handler) { return dial_plain(io_, std::move(request), std::move(handler)); };
    UDTCAT_CO_TRY(auto pipe, co_await await_dial<PlainPipe>(io_, begin));
    co_return stream_over(io_, std::move(pipe));
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    ListenRequest request;
    request.locals.push_back(local);
    request.transport = transport_;
    const auto take = [&io = io_, handler = std::move(handler)](std::unique_ptr<PlainPipe> pipe) {
      const Endpoint peer = pipe->peer();
      handler(stream_over(io, std::move(pipe)), peer);
    };
    UDTCAT_TRY(auto listener, listen_plain(io_, std::move(request), take));
    return std::make_unique<UdtDataListener>(std::move(listener));
  }

 private:
  boost::asio::io_context& io_;
  const TransportOptions transport_;
  const std::chrono::milliseconds patience_;
};

}  // namespace

std::shared_ptr<DataStack> make_udt_stack(boost::asio::io_context& io, const TransportOptions& transport,
                                          std::chrono::milliseconds patience) {
  return std::make_shared<UdtStack>(io, transport, patience);
}

}  // namespace udtcat::gridftp
