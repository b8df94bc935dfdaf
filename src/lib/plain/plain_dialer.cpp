/// dial_plain(): for a bare connection nothing is left to do once there is a channel.
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/plain.hpp>

#include "lib/connection/attempts.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/plain/bare_pipe.hpp"

namespace udtcat::plain {
namespace {

class PlainDialer final : public Dialer {
 public:
  using Made = Result<std::unique_ptr<PlainPipe>>;
  using Handler = std::function<void(Made)>;

  PlainDialer(boost::asio::io_context& io, DialRequest request, Handler handler)
      : io_(io),
        request_(std::move(request)),
        handler_(std::move(handler)),
        attempts_(
            io, request_, nullptr,
            [this](std::unique_ptr<transport::Channel> channel) {
              finish(std::make_unique<BarePipe>(io_, std::move(channel), attempts_.engine()));
            },
            [this](const Error& error) { finish(tl::unexpected(error)); }) {}

 private:
  void finish(Made made) {
    attempts_.finish();
    // Posted: the handler may destroy this dialer.
    boost::asio::post(io_,
                      lifetime_.guard([handler = std::move(handler_), kept = std::make_shared<Made>(std::move(made))] {
                        handler(std::move(*kept));
                      }));
  }

  boost::asio::io_context& io_;
  const DialRequest request_;
  Handler handler_;
  connection::Attempts attempts_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::plain

namespace udtcat {

std::unique_ptr<Dialer> dial_plain(boost::asio::io_context& io, DialRequest request,
                                   std::function<void(Result<std::unique_ptr<PlainPipe>>)> handler) {
  return std::make_unique<plain::PlainDialer>(io, std::move(request), std::move(handler));
}

}  // namespace udtcat
