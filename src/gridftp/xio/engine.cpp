// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/engine.hpp"

#include <algorithm>
#include <csignal>
#include <future>
#include <stdexcept>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/duplicate.hpp"
#include "lib/core/try.hpp"
#include "lib/net/event_loop.hpp"

namespace udtcat::gridftp::xio {
namespace {

constexpr auto kDialTimeout = std::chrono::seconds(30);     // guess: as long as TCP's own are endured
constexpr auto kPollEvery = std::chrono::milliseconds(10);  // guess: too short to be seen at the end of a process

/// The driver has shared keys only.
bool same_key(const std::optional<Credentials>& one, const std::optional<Credentials>& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  return *one->shared() == *other->shared();
}

bool same_session(const DialRequest& one, const DialRequest& other) {
  return one.peer_name == other.peer_name && one.session.protection == other.session.protection &&
         one.session.own_name == other.session.own_name && one.session.expected_peer == other.session.expected_peer &&
         one.session.threads == other.session.threads && one.session.lanes == other.session.lanes &&
         one.session.block_bytes == other.session.block_bytes && one.transport.rate == other.transport.rate &&
         same_key(one.credentials, other.credentials);
}

/// The parts of a request that same_session() compares.
DialRequest identity_of(const DialRequest& request) {
  DialRequest identity;
  identity.peer_name = request.peer_name;
  identity.session = request.session;
  identity.transport = request.transport;
  identity.credentials = core::duplicate(request.credentials);
  return identity;
}

/// Threads started meanwhile take no signals: those are for the program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::unique_ptr<XioEngine>> XioEngine::start() {
  try {
    auto io = std::make_shared<boost::asio::io_context>(1);
    UDTCAT_CHECK(net::prepare_event_loop(*io, net::LoopSignals::none));
    std::unique_ptr<XioEngine> engine(new XioEngine(std::move(io)));
    engine->start_thread();
    return engine;
  } catch (const std::runtime_error& error) {  // of Asio, or the thread
    return fail(Errc::out_of_resources, "start a thread", error.what());
  }
}

XioEngine::XioEngine(std::shared_ptr<boost::asio::io_context> io)
    : io_(std::move(io)), work_(io_->get_executor()), timeout_(*io_), poll_(*io_) {}

void XioEngine::start_thread() {
  const BlockedSignals masked;
  thread_ = std::thread([this] { io_->run(); });
}

XioEngine::~XioEngine() {
  if (!thread_.joinable()) return;
  boost::asio::post(*io_, [this] { begin_shutdown(); });
  thread_.join();
  // The thread has ended: its links are this one's now.
  const Error gone{Errc::interrupted, "transfer", "the program ends"};
  for (auto& outgoing : outgoing_)
    for (const auto& link : outgoing.waiting) link->on_over(gone);
}

// ---- Active ---------------------------------------------------------------------------------------------------------

Result<DialRequest> XioEngine::request_for(const Contact& contact, const Settings& settings, std::optional<Key> key) {
  DialRequest request;
  UDTCAT_TRY(request.addresses, resolve({.host = contact.host, .port = contact.port}, AddressFamily::any));
  request.peer_name = contact.host + ":" + std::to_string(contact.port);
  request.timeout = kDialTimeout;
  request.credentials = std::move(key);
  request.session = settings.session;
  request.transport = settings.transport;
  return request;
}

Result<std::shared_ptr<XioLink>> XioEngine::dial(DialRequest request) {
  UDTCAT_TRY(auto link, XioLink::make(io_));
  boost::asio::post(*io_, [this, link, request = std::move(request)]() mutable { connect(std::move(request), link); });
  return link;
}

void XioEngine::connect(DialRequest request, const std::shared_ptr<XioLink>& link) {
  if (shutdown_ != Shutdown::no) return link->on_over(Error{Errc::interrupted, "transfer", "the program ends"});
  for (auto& known : outgoing_) {
    if (!same_session(known.identity, request)) continue;
    if (!known.session) return known.waiting.push_back(link);
    if (!known.session->closing()) return known.session->open(link);
  }
  const Position position = outgoing_.emplace(outgoing_.end());
  position->waiting.push_back(link);
  position->identity = identity_of(request);
  position->dialer = udtcat::dial(*io_, std::move(request), [this, position](Result<std::unique_ptr<Connection>> made) {
    on_dialled(position, std::move(made));
  });
}

void XioEngine::on_dialled(Position position, Result<std::unique_ptr<Connection>> connection) {
  position->dialer.reset();
  const auto waiting = std::exchange(position->waiting, {});
  if (!connection) {
    outgoing_.erase(position);  // before anything else is dialled: a link that waited here now would wait for ever
    for (const auto& link : waiting) link->on_over(connection.error());
    return stop_if_done();
  }
  position->session = std::make_unique<LinkSession>(
      *io_, std::move(*connection),
      [position] {
        if (position->session->idle() && !position->session->closing()) position->session->close();
      },
      [this, position] {
        outgoing_.erase(position);
        stop_if_done();
      });
  for (const auto& link : waiting) position->session->open(link);
  if (position->session->idle()) position->session->close();
}

// ---- Passive --------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<XioAcceptor>> XioEngine::listen(const Settings& settings, std::optional<Key> key,
                                                       UdpPortRange ports) {
  // Shared: set_value() may still be returning when get() has.
  const auto made = std::make_shared<std::promise<Result<std::shared_ptr<XioAcceptor>>>>();
  boost::asio::post(*io_, [&, made] {
    drop_over_acceptors();
    auto acceptor = XioAcceptor::make(io_, settings, std::move(key), ports);
    if (acceptor) acceptors_.push_back(*acceptor);
    made->set_value(std::move(acceptor));
  });
  return made->get_future().get();
}

void XioEngine::release(std::shared_ptr<XioAcceptor> acceptor) {
  boost::asio::post(*io_, [this, acceptor = std::move(acceptor)] {
    acceptor->stop();
    drop_over_acceptors();
  });
}

void XioEngine::drop_over_acceptors() {
  std::erase_if(acceptors_, [](const auto& acceptor) { return acceptor->over(); });
}

// ---- The end --------------------------------------------------------------------------------------------------------

/// Links that their users have closed get kDeliveryTimeout to deliver; open ones are interrupted.
void XioEngine::begin_shutdown() {
  shutdown_ = Shutdown::delivering;
  for (const auto& acceptor : acceptors_) acceptor->stop();
  timeout_.expires_after(kDeliveryTimeout);
  timeout_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) close_sessions();
  });
  stop_if_done();
}

void XioEngine::close_sessions() {
  shutdown_ = Shutdown::closing;
  for (auto& outgoing : outgoing_)
    if (outgoing.session && !outgoing.session->closing()) outgoing.session->close();
  for (const auto& acceptor : acceptors_) acceptor->close();
  timeout_.expires_after(kCloseTimeout);
  timeout_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) io_->stop();
  });
  stop_if_done();
}

bool XioEngine::delivered() const {
  return std::all_of(outgoing_.begin(), outgoing_.end(),
                     [](const auto& outgoing) { return !outgoing.session || outgoing.session->delivered(); }) &&
         std::all_of(acceptors_.begin(), acceptors_.end(), [](const auto& acceptor) { return acceptor->delivered(); });
}

void XioEngine::stop_if_done() {
  if (shutdown_ == Shutdown::no) return;
  drop_over_acceptors();
  if (shutdown_ == Shutdown::delivering && delivered()) return close_sessions();
  const bool connected =
      std::any_of(outgoing_.begin(), outgoing_.end(), [](const auto& one) { return one.session != nullptr; });
  if (shutdown_ == Shutdown::closing && !connected && acceptors_.empty()) return io_->stop();
  poll_.expires_after(kPollEvery);
  poll_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) stop_if_done();
  });
}

}  // namespace udtcat::gridftp::xio
