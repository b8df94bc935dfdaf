// SPDX-License-Identifier: Apache-2.0
#include "interop/raw_udt.hpp"

#include <algorithm>
#include <future>
#include <tuple>

#include <poll.h>
#include <udt/udt.h>

#include "support/descriptor.hpp"

namespace udtcat::test::interop {

namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr int kCallLimitMs = 100;   // a call that waits longer looks whether it is still wanted
constexpr int kIpAndUdpBytes = 28;  // the unit of libudt's buffers is MSS less these

thread_local std::string last_words;

std::string libudt_says(const std::string& call) {
  last_words = call + ": " + UDT::getlasterror().getErrorMessage();
  UDT::getlasterror().clear();
  return last_words;
}

template <typename Value>
void set_option(int id, UDT::SOCKOPT option, Value value) {
  if (UDT::setsockopt(id, 0, option, &value, static_cast<int>(sizeof value)) == UDT::ERROR)
    ADD_FAILURE() << libudt_says("set option " + std::to_string(option));
}

void set_options(int id, const RawOptions& options) {
  const int mss = options.mss.value_or(1500);
  if (options.mss) set_option(id, UDT_MSS, mss);
  if (options.receive_buffer_packets)
    set_option(id, UDT_RCVBUF, *options.receive_buffer_packets * (mss - kIpAndUdpBytes));
  if (options.send_buffer_packets) set_option(id, UDT_SNDBUF, *options.send_buffer_packets * (mss - kIpAndUdpBytes));
  set_option(id, UDP_RCVBUF, options.udp_buffer_bytes);
  set_option(id, UDP_SNDBUF, options.udp_buffer_bytes);
  set_option(id, UDT_LINGER, linger{0, 0});
  set_option(id, UDT_RCVTIMEO, kCallLimitMs);
  set_option(id, UDT_SNDTIMEO, kCallLimitMs);
}

int open_socket(AddressFamily family, const RawOptions& options) {
  const int id = UDT::socket(family == AddressFamily::ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (id != UDT::INVALID_SOCK) set_options(id, options);
  return id;
}

bool bind_to(int id, const Endpoint& local) {
  return UDT::bind(id, local.data(), static_cast<int>(local.size_bytes())) != UDT::ERROR;
}

std::uint16_t port_of(int id) {
  sockaddr_storage address{};
  int length = sizeof address;
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (UDT::getsockname(id, generic, &length) == UDT::ERROR) return 0;
  return Endpoint::from_sockaddr(generic, static_cast<std::size_t>(length)).value().port();
}

/// A call came back only because its time was over.
bool may_go_on(const std::atomic<bool>& closing) {
  return !closing && UDT::getlasterror().getErrorCode() == UDT::ERRORINFO::ETIMEOUT;
}

/// Looks again every few milliseconds: libudt's state has nothing to wait on.
template <typename Condition>
std::optional<std::chrono::milliseconds> look_until(Condition condition, std::chrono::milliseconds limit) {
  const auto begin = Clock::now();
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    if (condition()) return passed;
    if (passed > limit) return std::nullopt;
    let_pass(2ms);
  }
}

}  // namespace

RawRuntime::RawRuntime() { UDT::startup(); }
RawRuntime::~RawRuntime() { UDT::cleanup(); }

const std::string& RawSocket::why() { return last_words; }

std::unique_ptr<RawSocket> RawSocket::connect(const Endpoint& peer, const RawOptions& options) {
  const int id = open_socket(peer.family(), options);
  auto socket = std::make_unique<RawSocket>(id);
  if (options.local_port != 0 && !bind_to(id, loopback(peer.family(), options.local_port))) {
    libudt_says("bind");
    return nullptr;
  }
  if (!options.blocking_connect) set_option(id, UDT_RCVSYN, false);
  if (UDT::connect(id, peer.data(), static_cast<int>(peer.size_bytes())) == UDT::ERROR) {
    libudt_says("connect");
    return nullptr;
  }
  return socket;
}

RawSocket::~RawSocket() { close(); }

void RawSocket::close(std::chrono::seconds seconds) {
  if (closing_.exchange(true)) return;
  // Before it sets an option libudt waits for every call on the socket.
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const linger its{.l_onoff = seconds.count() > 0 ? 1 : 0, .l_linger = static_cast<int>(seconds.count())};
  // A socket that libudt has collected meanwhile has no options; it is closed then.
  UDT::setsockopt(id_, 0, UDT_LINGER, &its, static_cast<int>(sizeof its));
  UDT::close(id_);
}

std::string RawSocket::send(std::span<const std::byte> bytes, std::size_t piece_bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(piece_bytes, bytes.size()));
    // SAFETY: bytes are bytes; libudt calls them char.
    const int sent = UDT::send(id_, reinterpret_cast<const char*>(piece.data()), static_cast<int>(piece.size()), 0);
    if (sent == UDT::ERROR && may_go_on(closing_)) continue;
    if (sent == UDT::ERROR) return libudt_says("send");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

std::size_t RawSocket::receive(std::span<std::byte> into) {
  int got = UDT::ERROR;
  do {
    // SAFETY: as in send().
    got = UDT::recv(id_, reinterpret_cast<char*>(into.data()), static_cast<int>(into.size()), 0);
  } while (got == UDT::ERROR && may_go_on(closing_));
  if (got == UDT::ERROR) libudt_says("recv");
  return got == UDT::ERROR ? 0 : static_cast<std::size_t>(got);
}

std::string RawSocket::receive_all(std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t got = receive(into);
    if (got == 0) return last_words + " with " + std::to_string(into.size()) + " bytes missing";
    into = into.subspan(got);
  }
  return {};
}

Job RawSocket::start_sending(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes) {
  Job job;
  threads_.emplace_back([this, job, pattern, bytes, piece_bytes]() mutable {
    std::vector<std::byte> piece(piece_bytes);
    for (std::uint64_t sent = 0; sent < bytes;) {
      const auto now = std::span(piece).first(std::min<std::uint64_t>(piece_bytes, bytes - sent));
      pattern.fill(sent, now);
      if (auto trouble = send(now, piece_bytes); !trouble.empty()) return job.finish("libudt: " + trouble);
      sent += now.size();
      job.progress(now.size());
    }
    job.finish();
  });
  return job;
}

Job RawSocket::start_receiving(const Pattern& pattern, std::uint64_t bytes) { return receiving(pattern, bytes); }
Job RawSocket::start_receiving_to_the_end(const Pattern& pattern) { return receiving(pattern, std::nullopt); }

Job RawSocket::receiving(const Pattern& pattern, std::optional<std::uint64_t> bytes) {
  Job job;
  threads_.emplace_back([this, job, pattern, bytes]() mutable {
    std::vector<std::byte> piece(kReadBytes);
    for (std::uint64_t got = 0; !bytes || got < *bytes;) {
      const auto room = std::span(piece).first(bytes ? std::min<std::uint64_t>(kReadBytes, *bytes - got) : kReadBytes);
      const std::size_t now = receive(room);
      if (now == 0) return bytes ? job.finish("libudt: " + last_words) : job.finish({}, true);
      if (auto wrong = pattern.difference(got, room.first(now))) return job.finish("libudt received: " + *wrong);
      got += now;
      job.progress(now);
    }
    job.finish();
  });
  return job;
}

int RawSocket::state() const { return UDT::getsockstate(id_); }
bool RawSocket::connected() const { return state() == CONNECTED; }

std::optional<std::chrono::milliseconds> RawSocket::wait_until_broken(std::chrono::milliseconds limit) const {
  return look_until([this] { return !connected(); }, limit);
}

bool RawSocket::wait_until_connected(std::chrono::milliseconds limit) const {
  return look_until([this] { return state() != OPENED && state() != CONNECTING; }, limit) && connected();
}

std::uint16_t RawSocket::local_port() const { return port_of(id_); }

std::string RawSocket::counters() const {
  UDT::TRACEINFO trace{};
  if (UDT::perfmon(id_, &trace, false) == UDT::ERROR) return "libudt's socket is gone";
  return "libudt: sent " + std::to_string(trace.pktSentTotal) + " (again " + std::to_string(trace.pktRetransTotal) +
         "), received " + std::to_string(trace.pktRecvTotal) + ", ACKs out " + std::to_string(trace.pktSentACKTotal) +
         " in " + std::to_string(trace.pktRecvACKTotal) + ", NAKs out " + std::to_string(trace.pktSentNAKTotal) +
         " in " + std::to_string(trace.pktRecvNAKTotal) + ", window " + std::to_string(trace.pktFlowWindow) +
         ", cwnd " + std::to_string(trace.pktCongestionWindow) + ", in flight " + std::to_string(trace.pktFlightSize) +
         ", period " + std::to_string(trace.usPktSndPeriod) + " us, RTT " + std::to_string(trace.msRTT) + " ms";
}

RawListener::RawListener(const RawOptions& options, AddressFamily family, int backlog)
    : id_(open_socket(family, options)) {
  if (!bind_to(id_, loopback(family, options.local_port)) || UDT::listen(id_, backlog) == UDT::ERROR)
    ADD_FAILURE() << libudt_says("listen");
  port_ = port_of(id_);
}

RawListener::~RawListener() { UDT::close(id_); }

std::unique_ptr<RawSocket> RawListener::accept(std::chrono::milliseconds limit) {
  auto accepted = std::async(std::launch::async, [id = id_] {
    sockaddr_storage address{};
    int length = sizeof address;
    // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
    return UDT::accept(id, reinterpret_cast<sockaddr*>(&address), &length);
  });
  if (accepted.wait_for(limit) == std::future_status::timeout) UDT::close(id_);
  const int id = accepted.get();
  return id == UDT::INVALID_SOCK ? nullptr : std::make_unique<RawSocket>(id);
}

}  // namespace udtcat::test::interop
