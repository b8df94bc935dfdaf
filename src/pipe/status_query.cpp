// SPDX-License-Identifier: Apache-2.0
#include "pipe/status_query.hpp"

#include <array>
#include <list>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::pipe {

namespace {

/// One socket that is asked.
/// Threads: confined to the thread that runs the io_context.
class StatusQuestion {
 public:
  StatusQuestion(boost::asio::io_context& io, std::string path) : path_(std::move(path)), socket_(io) { ask(); }

  [[nodiscard]] bool is_left_over() const { return left_over_; }
  [[nodiscard]] StatusAnswer take_answer() { return {std::move(path_), std::move(snapshot_)}; }

 private:
  using Protocol = boost::asio::local::stream_protocol;

  void ask() {
    if (path_.size() > bridge::kMaxUnixPathBytes) return;
    socket_.async_connect(Protocol::endpoint(path_), [this](const boost::system::error_code& error) {
      left_over_ = error == boost::asio::error::connection_refused && tool::remove_left_over(path_);
      if (error) {
        snapshot_ = fail(Errc::local_connect_failed, "ask " + path_, core::errno_text(error.value()));
        return;
      }
      read_on();
    });
  }
  void read_on() {
    socket_.async_read_some(boost::asio::buffer(piece_),
                            [this](const boost::system::error_code& end, std::size_t bytes) {
                              text_.append(piece_.data(), bytes);
                              if (!end && text_.size() <= tool::kMaxSnapshotBytes) return read_on();
                              if (text_.empty())
                                snapshot_ = fail(Errc::local_connect_failed, "ask " + path_, "it has ended meanwhile");
                              else
                                snapshot_ = tool::parse_snapshot(std::exchange(text_, {}));
                            });
  }

  std::string path_;
  Protocol::socket socket_;
  bool left_over_ = false;
  std::array<char, 16384> piece_{};
  std::string text_;
  Result<tool::ProcessSnapshot> snapshot_ = fail(Errc::peer_lost, "ask " + path_, "no answer in time");
};

}  // namespace

std::vector<StatusAnswer> ask_for_status(const std::vector<std::string>& paths, std::chrono::milliseconds patience) {
  boost::asio::io_context io;
  std::list<StatusQuestion> questions;
  for (const std::string& path : paths) questions.emplace_back(io, path);
  io.run_for(patience);
  std::vector<StatusAnswer> answers;
  for (StatusQuestion& question : questions)
    if (!question.is_left_over()) answers.push_back(question.take_answer());
  return answers;
}

std::vector<StatusAnswer> ask_host_for_status(const tool::StatusRoots& roots) {
  for (;;) {
    const auto sockets = tool::status_sockets(roots);
    auto answers = ask_for_status(sockets);
    const bool some_were_dead = answers.size() < sockets.size();
    if (!some_were_dead || sockets.size() < tool::kMaxStatusSockets) return answers;
  }
}

}  // namespace udtcat::pipe
