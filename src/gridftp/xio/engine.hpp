// SPDX-License-Identifier: Apache-2.0
/// Our one thread within the host program: sessions, listeners, and the links that they carry.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "gridftp/xio/acceptor.hpp"
#include "gridftp/xio/link.hpp"
#include "gridftp/xio/link_session.hpp"
#include "gridftp/xio/settings.hpp"

namespace udtcat::gridftp::xio {

struct Contact {
  std::string host;
  std::uint16_t port = 0;
};

/// How long the end of the process waits for the peers' ends of links that its user has closed: what it wrote is there
/// already.
inline constexpr auto kDeliveryTimeout = std::chrono::milliseconds(300);  // guess: a round trip across an ocean
/// And then for the CLOSEs, which bring the last receipts.
inline constexpr auto kCloseTimeout = std::chrono::seconds(2);  // guess: some round trips of a bad path

/// Data connections to one contact with one key and the same options are streams of one session: the first dials.
/// Threads: internally synchronised; no call waits for the network. Our thread takes no signals.
class XioEngine {
 public:
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<XioEngine>> start();
  /// Ends every session in order where that can be done in kDeliveryTimeout and kCloseTimeout.
  ~XioEngine();
  XioEngine(const XioEngine&) = delete;
  XioEngine& operator=(const XioEngine&) = delete;

  /// Waits for the host's addresses: to be called before engine(), so that the end of the process finds no thread that
  /// holds the engine for so long.  errors: Errc::cannot_resolve
  [[nodiscard]] static Result<DialRequest> request_for(const Contact& contact, const Settings& settings,
                                                       std::optional<Key> key);
  /// errors: Errc::out_of_resources
  [[nodiscard]] Result<std::shared_ptr<XioLink>> dial(DialRequest request);
  /// errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] Result<std::shared_ptr<XioAcceptor>> listen(const Settings& settings, std::optional<Key> key,
                                                            UdpPortRange ports);
  /// The acceptor's user is done with it.
  void release(std::shared_ptr<XioAcceptor> acceptor);

 private:
  /// A session that we dialled, or dial.
  struct Outgoing {
    DialRequest identity;
    std::unique_ptr<Dialer> dialer;
    std::vector<std::shared_ptr<XioLink>> waiting;  // for the session; as many as the program opens
    std::unique_ptr<LinkSession> session;
  };
  using Position = std::list<Outgoing>::iterator;

  explicit XioEngine(std::shared_ptr<boost::asio::io_context> io);
  void start_thread();
  void connect(DialRequest request, const std::shared_ptr<XioLink>& link);
  void on_dialled(Position position, Result<std::unique_ptr<Connection>> connection);

  void begin_shutdown();
  void close_sessions();
  void stop_if_done();
  [[nodiscard]] bool delivered() const;
  void drop_over_acceptors();

  const std::shared_ptr<boost::asio::io_context> io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  /// no ── ~XioEngine() ──► delivering ── all is delivered, or kDeliveryTimeout is over ──► closing
  enum class Shutdown { no, delivering, closing } shutdown_ = Shutdown::no;
  boost::asio::steady_timer timeout_;
  boost::asio::steady_timer poll_;
  std::list<Outgoing> outgoing_;
  std::list<std::shared_ptr<XioAcceptor>> acceptors_;
  std::thread thread_;
};

}  // namespace udtcat::gridftp::xio
