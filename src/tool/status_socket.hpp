/// The socket at which a process tells `udtcat status` what it is doing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "tool/picture.hpp"

namespace udtcat::tool {

/// Rates in an answer are those of this time, for which the asking end waits: an idle process need not count.
inline constexpr std::chrono::milliseconds kStatusInterval{250};    // guess: some round trips of a long path
inline constexpr std::chrono::milliseconds kStatusPatience{1'000};  // guess: for a client to read, which is local
inline constexpr std::size_t kMaxStatusClients = 4;                 // guess: each costs a picture or two

/// Answers each client of this user or of root with one JSON object, and closes. Further clients wait until one has
/// gone. Nobody else is answered; a client that does not read is dropped.
/// Threads: confined to the io_context thread, which never waits for a client.
class StatusSocket {
 public:
  using TakePicture = std::function<ProcessPicture()>;

  /// Only this user can connect. A dead socket at `path` is replaced.
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<StatusSocket>> open(boost::asio::io_context& io, const std::string& path,
                                                                  TakePicture take_picture);
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Removes it from its directory.
  ~StatusSocket();

 private:
  using Protocol = boost::asio::local::stream_protocol;
  struct Client {
    explicit Client(Protocol::socket connected) : socket(std::move(connected)), timer(socket.get_executor()) {}
    Protocol::socket socket;
    boost::asio::steady_timer timer;
    Rates rates;
    std::string answer;
  };
  using ClientPtr = std::shared_ptr<Client>;

  StatusSocket(boost::asio::io_context& io, Protocol::acceptor acceptor, std::string path, TakePicture take_picture);
  void accept();
  void serve(Protocol::socket socket);
  void answer(const ClientPtr& client);
  void drop(const ClientPtr& client);

  const std::string path_;
  const TakePicture take_picture_;
  Protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // after an accept that failed
  std::set<ClientPtr> clients_;      // at most kMaxStatusClients
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
