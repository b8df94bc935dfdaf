/// A program that we start, the pipes that lead to it, and how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <udtcat/result.hpp>

#include "bridge/descriptor.hpp"
#include "core/lifetime.hpp"

namespace udtcat::bridge {

struct ChildRequest {
  std::string program;                            ///< a path, or a name that is looked for in $PATH
  std::vector<std::string> words;                 ///< argv, its first word included
  bool pipe_stderr = true;                        ///< false: the child writes to our stderr
  bool own_session = true;                        ///< it leads a process group of its own, without our terminal
  std::optional<std::uint64_t> core_limit_bytes;  ///< of its core dumps; none: ours
};

/// How a child ended: by itself, with a status, or by a signal.
struct ChildEnd {
  int status = 0;
  int signal = 0;  ///< 0: it exited with `status`
  bool dumped_core = false;
};

/// Our ends of the child's pipes.
struct ChildPipes {
  Descriptor input;   ///< leads to its stdin
  Descriptor output;  ///< comes from its stdout
  Descriptor errors;  ///< comes from its stderr; not open where that is ours
};

/// Makes what runs now into the program: no threads, descriptors beyond stderr, blocked or ignored signals of ours stay.
/// returns  the errno, only when it failed
[[nodiscard]] int become(const ChildRequest& request);

/// Threads: confined to the io_context thread, where the handler is called, never from inside start().
class ChildProcess {
 public:
  using EndHandler = std::function<void(ChildEnd)>;

  /// errors: Errc::local_connect_failed when the program cannot be run; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> start(boost::asio::io_context& io,
                                                                   const ChildRequest& request, EndHandler on_end);
  /// A child that has not ended goes on by itself.
  ~ChildProcess();

  /// Once: hands the pipes to their user.
  [[nodiscard]] ChildPipes take_pipes() { return std::move(pipes_); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// To its whole process group where it leads one. Nothing after its end.
  void signal(int number) const;

 private:
  ChildProcess(boost::asio::io_context& io, bool leads_group, EndHandler on_end);
  void wait_for_end();
  void reap();

  const bool leads_group_;
  EndHandler on_end_;
  boost::asio::signal_set child_ends_;  // before the child, so that no end is missed
  pid_t pid_ = -1;
  bool ended_ = false;
  ChildPipes pipes_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
