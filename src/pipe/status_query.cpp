// SPDX-License-Identifier: Apache-2.0
#include "pipe/status_query.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::pipe {

namespace {

bool has_ended(const std::error_code& outcome) {
  return outcome == std::errc::connection_refused || outcome == std::errc::no_such_file_or_directory;
}
bool is_forbidden(const std::error_code& outcome) {
  return outcome == std::errc::permission_denied || outcome == std::errc::operation_not_permitted;
}

/// One socket that is asked.
/// Threads: confined to the thread that runs the io_context.
class StatusQuestion {
 public:
  StatusQuestion(boost::asio::io_context& io, std::string path, std::chrono::milliseconds patience)
      : io_(io), path_(std::move(path)), patience_(patience) {
    ask();
  }

  /// None: its process has ended.
  [[nodiscard]] std::optional<StatusAnswer> take_answer() {
    if (has_ended_) return std::nullopt;
    return StatusAnswer{std::move(path_), std::move(snapshot_)};
  }

 private:
  using Socket = boost::asio::local::stream_protocol::socket;

  void ask() {
    has_ended_ = path_.size() > bridge::kMaxUnixPathBytes;  // nobody can listen there
    if (has_ended_) return;
    connect_.emplace(io_, path_, patience_, [this](const std::error_code& outcome, Socket socket) {
      if (!outcome) {
        socket_.emplace(std::move(socket));
        return read_on();
      }
      has_ended_ = has_ended(outcome);
      if (outcome == std::errc::connection_refused) std::ignore = tool::remove_left_over(path_);
      const Errc kind = is_forbidden(outcome) ? Errc::local_connect_failed : Errc::peer_lost;
      snapshot_ = fail(kind, "ask " + path_, core::errno_text(outcome.value()));
    });
  }
  void read_on() {
    socket_->async_read_some(
        boost::asio::buffer(piece_), [this](const boost::system::error_code& end, std::size_t bytes) {
          text_.append(piece_.data(), bytes);
          if (!end && text_.size() <= tool::kMaxSnapshotBytes) return read_on();
          if (!text_.empty())
            parse();
          else if (!std::exchange(asked_again_, true))
            ask();  // its process may have ended just now
          else
            snapshot_ = fail(Errc::peer_lost, "ask " + path_, "it closed without an answer; it may be busy: ask again");
        });
  }

  void parse() {
    snapshot_ = tool::parse_snapshot(std::exchange(text_, {}));
    // It is not believed which process it is.
    const auto peer = bridge::peer_credentials(socket_->native_handle());
    if (snapshot_ && peer && peer->pid > 0) snapshot_->pid = peer->pid;
  }

  boost::asio::io_context& io_;
  std::string path_;
  const std::chrono::milliseconds patience_;
  std::optional<bridge::UnixConnect> connect_;
  std::optional<Socket> socket_;
  bool has_ended_ = false;
  bool asked_again_ = false;
  std::array<char, 16384> piece_{};
  std::string text_;
  Result<tool::ProcessSnapshot> snapshot_ = fail(Errc::peer_lost, "ask " + path_, "no answer in time");
};

}  // namespace

std::vector<StatusAnswer> ask_for_status(const std::vector<std::string>& paths, std::chrono::milliseconds patience) {
  boost::asio::io_context io;
  std::list<StatusQuestion> questions;
  for (const std::string& path : paths) questions.emplace_back(io, path, patience);
  io.run_for(patience);
  std::vector<StatusAnswer> answers;
  answers.reserve(questions.size());
  for (StatusQuestion& question : questions)
    if (auto answer = question.take_answer()) answers.push_back(std::move(*answer));
  return answers;
}

std::vector<StatusAnswer> ask_host_for_status(const tool::StatusRoots& roots) {
  constexpr int kMostRounds = 4;  // guess: hundreds that were killed in one directory; 8 s, where others make new ones
  auto sockets = tool::status_sockets(roots);
  for (int round = 1;; ++round) {
    auto answers = ask_for_status(sockets);
    if (answers.size() == sockets.size() || round == kMostRounds) return answers;
    // Those that have ended may have hidden others.
    auto left = tool::status_sockets(roots);
    if (std::ranges::includes(sockets, left)) return answers;
    sockets = std::move(left);
  }
}

}  // namespace udtcat::pipe
