/// listen_plain(): whoever comes is let in.
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include <udtcat/plain.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/plain/bare_pipe.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::plain {
namespace {

class OpenDoor final : public Listener {
 public:
  using PipeHandler = std::function<void(std::unique_ptr<PlainPipe>)>;

  OpenDoor(boost::asio::io_context& io, std::shared_ptr<transport::Engine> engine,
           std::unique_ptr<transport::Acceptor> acceptor, PipeHandler on_pipe)
      : io_(io),
        engine_(std::move(engine)),
        locals_(acceptor->local_endpoints()),
        acceptor_(std::move(acceptor)),
        on_pipe_(std::move(on_pipe)) {
    accept_on();
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return locals_; }
  void stop() override { acceptor_.reset(); }

 private:
  using Accepted = Result<std::unique_ptr<transport::Channel>>;

  void accept_on() {
    acceptor_->async_accept(lifetime_.guard([this](Accepted channel) {
      // Posted: the owner may stop or destroy this listener, and it is the acceptor that calls.
      boost::asio::post(io_, lifetime_.guard([this, kept = std::make_shared<Accepted>(std::move(channel))] {
        if (acceptor_) take(std::move(*kept));
      }));
    }));
  }

  void take(Accepted channel) {
    accept_on();
    if (!channel) return core::log().warn("{}", channel.error().message());
    on_pipe_(std::make_unique<BarePipe>(io_, std::move(*channel), engine_));
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<transport::Engine> engine_;
  const std::vector<Endpoint> locals_;
  std::unique_ptr<transport::Acceptor> acceptor_;  // none once stopped
  const PipeHandler on_pipe_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::plain

namespace udtcat {

Result<std::unique_ptr<Listener>> listen_plain(boost::asio::io_context& io, ListenRequest request,
                                               std::function<void(std::unique_ptr<PlainPipe>)> on_pipe) {
  auto engine = transport::make_engine(io, request.transport);
  if (!engine) return tl::unexpected(engine.error());
  std::shared_ptr<transport::Engine> shared = std::move(*engine);
  auto acceptor = shared->listen(request.locals);
  if (!acceptor) return tl::unexpected(acceptor.error());
  return std::make_unique<plain::OpenDoor>(io, std::move(shared), std::move(*acceptor), std::move(on_pipe));
}

}  // namespace udtcat
