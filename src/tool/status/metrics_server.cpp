// SPDX-License-Identifier: Apache-2.0
#include "tool/status/metrics_server.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "lib/core/try.hpp"
#include "tool/status/openmetrics.hpp"

namespace udtcat::tool {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t kMaxDrainedBytes = 64 * 1024;  // guess: eight times the head that is read

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// A client that takes OpenMetrics names it; the older format is everybody's.
MetricsFormat format_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos ? MetricsFormat::openmetrics
                                                                               : MetricsFormat::prometheus;
}

}  // namespace

/// One connection: reads a head, answers it, and reads on until the client has closed, so that no reset overtakes the
/// answer. The operations under way keep it alive; close() ends them.
/// Threads: as MetricsServer.
class MetricsServer::Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  enum class State : std::uint8_t { reading, waiting, answering, closing, over };

  /// on_change   to any state but `answering`, which answer() makes
  Exchange(tcp::socket socket, SnapshotSource source, std::function<void(const std::shared_ptr<Exchange>&)> on_change)
      : socket_(std::move(socket)),
        deadline_(socket_.get_executor()),
        source_(std::move(source)),
        on_change_(std::move(on_change)) {}

  [[nodiscard]] State state() const { return state_; }

  void begin() {
    end_after(kRequestPatience);
    parser_.header_limit(kMaxRequestHeadBytes);
    http::async_read_header(
        socket_, buffer_, parser_,
        [self = shared_from_this()](const error_code& error, std::size_t) { self->on_head(error); });
  }

  /// Of one that is waiting.
  void answer() {
    state_ = State::answering;
    const MetricsFormat format = format_for(view_of(parser_.get()[http::field::accept]));
    question_.emplace(socket_.get_executor());
    question_->async_ask(source_, [this, format](const ProcessSnapshot& now) {
      response_.set(http::field::content_type, std::string(content_type_of(format)));
      respond(http::status::ok, to_metrics(std::span(&now, 1), format, std::chrono::system_clock::now()));
    });
  }

  /// Ends the operations; a snapshot under way is dropped.
  void close() {
    state_ = State::over;
    question_.reset();
    deadline_.cancel();
    error_code closed;
    socket_.close(closed);
  }

 private:
  void over() {
    close();
    on_change_(shared_from_this());
  }

  void change_to(State state) {
    state_ = state;
    on_change_(shared_from_this());
  }

  void end_after(std::chrono::milliseconds patience) {
    deadline_.expires_after(patience);
    deadline_.async_wait([waiting = weak_from_this()](const error_code& cancelled) {
      const auto late = waiting.lock();
      if (!cancelled && late) late->over();
    });
  }

  void on_head(const error_code& error) {
    if (!socket_.is_open()) return over();
    end_after(kMetricsPatience);
    const bool is_bad = error && error.category() == http::make_error_code(http::error::bad_method).category();
    if (error == http::error::end_of_stream || (error && !is_bad)) return over();
    if (is_bad) return respond(http::status::bad_request, "this is no HTTP request, or its head has more than 8 KiB\n");
    const auto& request = parser_.get();
    is_head_ = request.method() == http::verb::head;
    const std::string_view target = view_of(request.target());
    if (target.substr(0, target.find('?')) != kMetricsPath)
      return respond(http::status::not_found, "udtcat has its metrics at " + std::string(kMetricsPath) + "\n");
    if (!is_head_ && request.method() != http::verb::get) {
      response_.set(http::field::allow, "GET, HEAD");
      return respond(http::status::method_not_allowed, "metrics are only read: GET or HEAD\n");
    }
    change_to(State::waiting);
  }

  void respond(http::status status, std::string text) {
    if (status != http::status::ok) response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.result(status);
    response_.set(http::field::connection, "close");
    response_.body() = std::move(text);
    response_.prepare_payload();
    const auto written = [self = shared_from_this()](const error_code& error, std::size_t) {
      error ? self->over() : self->drain();
    };
    serializer_.emplace(response_);
    is_head_ ? http::async_write_header(socket_, *serializer_, written)
             : http::async_write(socket_, *serializer_, written);
  }

  void drain() {
    if (state_ != State::closing) change_to(State::closing);
    error_code gone;
    socket_.shutdown(tcp::socket::shutdown_send, gone);
    if (gone || drained_bytes_ > kMaxDrainedBytes) return over();
    socket_.async_read_some(boost::asio::buffer(rest_),
                            [self = shared_from_this()](const error_code& end, std::size_t bytes) {
                              self->drained_bytes_ += bytes;
                              end ? self->over() : self->drain();
                            });
  }

  tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  const SnapshotSource source_;
  const std::function<void(const std::shared_ptr<Exchange>&)> on_change_;
  State state_ = State::reading;
  boost::beast::flat_buffer buffer_{kMaxRequestHeadBytes};
  http::request_parser<http::empty_body> parser_;
  bool is_head_ = false;
  std::optional<SnapshotQuestion> question_;
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 4096> rest_{};
  std::size_t drained_bytes_ = 0;
};

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(boost::asio::io_context& io,
                                                           const std::vector<Endpoint>& locals,
                                                           SnapshotSource snapshot_source) {
  UDTCAT_TRY(auto ports, bridge::TcpPorts::bind(io, locals, bridge::GracefulClose::always));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(ports), std::move(snapshot_source)));
}

MetricsServer::MetricsServer(bridge::TcpPorts ports, SnapshotSource snapshot_source)
    : snapshot_source_(std::move(snapshot_source)), ports_(std::move(ports)) {
  ports_.accept([this](tcp::socket socket) { serve(std::move(socket)); },
                [](const Endpoint&, const Error&) {});  // it goes on by itself, and nobody else waits for it
}

MetricsServer::~MetricsServer() {
  for (const auto& exchange : exchanges_) exchange->close();
}

void MetricsServer::serve(tcp::socket socket) {
  if (exchanges_.size() >= kMaxMetricsConnections) make_way();
  exchanges_.push_back(std::make_shared<Exchange>(
      std::move(socket), snapshot_source_,
      lifetime_.guard([this](const std::shared_ptr<Exchange>& changed) { on_change(changed); })));
  exchanges_.back()->begin();
}

void MetricsServer::make_way() {
  using State = Exchange::State;
  const auto asks_nothing = [](const auto& each) {
    return each->state() == State::reading || each->state() == State::closing;
  };
  auto oldest = std::ranges::find_if(exchanges_, asks_nothing);
  if (oldest == exchanges_.end()) oldest = exchanges_.begin();
  const auto leaving = *oldest;
  exchanges_.erase(oldest);
  leaving->close();
}

void MetricsServer::on_change(const std::shared_ptr<Exchange>& changed) {
  using State = Exchange::State;
  if (changed->state() == State::over) exchanges_.remove(changed);
  auto answers = std::ranges::count_if(exchanges_, [](const auto& each) { return each->state() == State::answering; });
  for (const auto& each : exchanges_) {
    if (answers >= static_cast<std::ptrdiff_t>(kMaxMetricsAnswers)) return;
    if (each->state() != State::waiting) continue;
    ++answers;
    each->answer();
  }
}

}  // namespace udtcat::tool
