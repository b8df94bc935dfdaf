// SPDX-License-Identifier: Apache-2.0
/// A control connection as it passes a gateway: its lines, and where they say that data shall go.
/// spec: docs/spec/gridftp.md §6
///
///   local ─ observe: what our side announces ─► session ─ rewrite: a port of ours for each ─► local
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/dialogue/reply.hpp"

namespace udtcat::gridftp {

/// The ports of a gateway, as a control connection needs them.
class DataPorts {
 public:
  /// Our side announces a data port of its own. A later port without `first` joins the earlier ones.
  /// errors: Errc::bad_argument for what no data may be brought to
  [[nodiscard]] virtual Status announce(const Endpoint& endpoint, bool first) = 0;
  /// A port here, whose connections go to what the other side has announced. `first`: the ones before are closed.
  /// errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] virtual Result<Endpoint> stand_in(const Endpoint& announced, bool first) = 0;

 protected:
  ~DataPorts() = default;
};

enum class LocalPeer { client, server };

/// Both directions of one control connection, in one gateway. Next to a client it also refuses, in their order, the
/// commands that would lead data or the rest of the dialogue past the gateway. A line without its end is none.
/// Total: any bytes are passed on or end the connection.
/// Threads: unsynchronised. The ports must outlive it.
class ControlRelay {
 public:
  static constexpr std::size_t kMaxCommandBytes = 131'072;  // guess: DCSC brings a key with its chain, some 10 KB
  static constexpr std::size_t kMaxReplyLineBytes = ReplyReader::kMaxBytes;
  static constexpr std::size_t kMaxAnswers = 64;  // guess: clients ask for AUTH once and wait

  struct Output {
    std::string to_session;
    std::string to_local;
  };

  ControlRelay(LocalPeer local, DataPorts& ports) : local_(local), ports_(ports) {}

  /// Appends to `out`.  errors: Errc::protocol_violated, and those of the ports: the connection is to end
  [[nodiscard]] Status from_local(std::string_view bytes, Output& out);
  [[nodiscard]] Status from_session(std::string_view bytes, Output& out);

 private:
  /// Cuts what arrives into lines, each with its end.
  struct Lines {
    std::string arrived;
    std::size_t searched = 0;
  };
  /// Which reply a line belongs to.
  struct ReplyLine {
    int code = 0;       // 0: to none
    bool last = false;  // of its reply
  };
  struct Answer {
    std::uint64_t behind;  // as many replies of the server
    std::string text;
  };

  template <typename TakeLine>
  [[nodiscard]] Status each_line(Lines& lines, std::string_view bytes, std::size_t most_bytes, TakeLine take);
  [[nodiscard]] Status observe_command(std::string_view line, Output& out);
  [[nodiscard]] Status rewrite_command(std::string_view line, Output& out);
  [[nodiscard]] Status observe_reply(std::string_view line, Output& out);
  [[nodiscard]] Status rewrite_reply(std::string_view line, Output& out);
  [[nodiscard]] ReplyLine reply_of(std::string_view line);
  [[nodiscard]] Status answer(std::string text, Output& out);
  void give_due_answers(Output& out);

  const LocalPeer local_;
  DataPorts& ports_;
  Lines from_local_;
  Lines from_session_;
  int open_reply_ = 0;          // the code of a reply of many lines that has not ended
  bool port_in_reply_ = false;  // of open_reply_, one has been seen
  std::uint64_t asked_ = 1;     // commands that the server has to answer; its greeting counts as one
  std::uint64_t answered_ = 0;
  std::deque<Answer> answers_;  // ours, that wait for the server's
};

}  // namespace udtcat::gridftp
