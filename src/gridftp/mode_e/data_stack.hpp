// SPDX-License-Identifier: Apache-2.0
/// The transports of data connections: TCP, plain UDT4, or sessions of ours.  spec: docs/spec/gridftp.md §7
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/statement.hpp"

namespace udtcat::gridftp {

class DataPortRange;  // data_port_range.hpp

/// The statistics of the sessions and plain UDT4 connections that carry a transfer's data. TCP has none.
/// Threads: confined to the io_context thread.
class DataStats : public std::enable_shared_from_this<DataStats> {
 public:
  using StatsSource = std::function<ConnectionStats()>;

  /// Adds a session or connection.
  /// returns  kept by it until its end; source() is called until then, and a last time then
  [[nodiscard]] std::shared_ptr<void> add(StatsSource source) {
    had_company_ = !live_.empty();
    const auto counted = live_.insert(live_.end(), std::move(source));
    return {this, [self = shared_from_this(), counted](void*) { self->leave(counted); }};
  }

  /// The sums. Of the ends only one that was alone from its beginning: what limits one of several does not limit the
  /// transfer.
  [[nodiscard]] ConnectionStats stats() const {
    ConnectionStats all = gone_;
    for (const StatsSource& source : live_) all = sum(all, source());
    if (had_company_) all.ends = {};
    return all;
  }

 private:
  void leave(std::list<StatsSource>::const_iterator counted) {
    gone_ = sum(gone_, (*counted)());
    gone_.silence = {};
    live_.erase(counted);
  }

  std::list<StatsSource> live_;  // in the order in which they came
  ConnectionStats gone_;
  // Several were there at a time: the ends of the last one began beside theirs.
  bool had_company_ = false;
};

enum class DataKind { tcp, udt, session };

inline constexpr std::chrono::milliseconds kConnectTimeout{10'000};  // guess: some lost SYNs, and a long path

struct DataOptions {
  DataKind kind = DataKind::tcp;
  SessionOptions session;
  TransportOptions transport;
  std::shared_ptr<const Credentials> credentials;  ///< session: none only at Protection::clear
  Statements statements = Statements::none;
  std::optional<PublicKey> only_peer;  ///< the key pair whose data these are; none: any known peer's
  std::chrono::milliseconds connect_timeout = kConnectTimeout;
  std::shared_ptr<DataStats> stats;      ///< none: nobody asks for them
  std::shared_ptr<DataPortRange> ports;  ///< of this host, for data; none: the system chooses
};

/// A data connection, and which of our addresses it was made to, or which of the peer's it goes to.
struct DataConnection {
  std::shared_ptr<StreamIo> io;
  std::size_t address = 0;
};

/// A data port: connections come to it while it lives.
class DataListener {
 public:
  virtual ~DataListener() = default;
  [[nodiscard]] virtual Endpoint local() const = 0;
};

/// Threads: confined to the io_context thread, where handlers are called.
class DataStack {
 public:
  using ConnectionHandler = std::function<void(std::shared_ptr<StreamIo>, const Endpoint& peer)>;

  virtual ~DataStack() = default;
  /// To the first of these addresses that answers; there is one at least.
  /// errors: Errc::cannot_reach within the timeout that it was made with; of a session also
  /// Errc::authentication_failed, Errc::parameters_refused
  [[nodiscard]] virtual Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) = 0;
  /// local   whose port 0 lets the system choose.  errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] virtual Result<std::unique_ptr<DataListener>> listen(const Endpoint& local,
                                                                     ConnectionHandler handler) = 0;
};

/// Waits for the connection that is dialled.
/// dial   takes the handler, and gives the dialer, which is kept until the handler is called
template <typename Connected, typename Dial>
[[nodiscard]] Task<Result<std::unique_ptr<Connected>>> await_dial(boost::asio::io_context& io, Dial dial) {
  Result<std::unique_ptr<Connected>> outcome;
  Promise<bool> dialled(io);
  const auto dialer = dial([&](Result<std::unique_ptr<Connected>> connected) {
    outcome = std::move(connected);
    dialled.set(true);
  });
  std::ignore = co_await dialled.get();
  co_return outcome;
}

[[nodiscard]] std::shared_ptr<DataStack> make_tcp_stack(boost::asio::io_context& io,
                                                        std::chrono::milliseconds timeout = kConnectTimeout);
/// Any UDT4 program is a peer: the stock driver `udt`. Nothing is protected.
[[nodiscard]] std::shared_ptr<DataStack> make_udt_stack(boost::asio::io_context& io, const TransportOptions& transport,
                                                        std::chrono::milliseconds timeout = kConnectTimeout,
                                                        std::shared_ptr<DataStats> stats = {});
/// Connections to one port are streams of one session. A peer proves the key.
[[nodiscard]] std::shared_ptr<DataStack> make_session_stack(boost::asio::io_context& io, const DataOptions& options);
[[nodiscard]] std::shared_ptr<DataStack> make_stack(boost::asio::io_context& io, const DataOptions& options);

}  // namespace udtcat::gridftp
