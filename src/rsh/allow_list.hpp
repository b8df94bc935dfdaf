/// The commands that a daemon runs for its peers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "rsh/control_message.hpp"

namespace udtcat::rsh {

///   # what a peer asks for  =  what is run: a program and its words, by no shell
///   rsync --server --daemon .  =  rsync --server --daemon --config=/etc/rsyncd.conf .
///
/// Immutable.
class AllowList {
 public:
  /// name     of the file, for errors
  /// errors   Errc::bad_argument with the file and the line
  [[nodiscard]] static Result<AllowList> parse(std::string_view text, const std::string& name);

  /// Of what the peer said only that it equals a line's left side matters. It is never part of what is run.
  /// errors: Errc::stream_refused
  [[nodiscard]] Result<bridge::ChildRequest> launch(const ControlMessage& request) const;

 private:
  std::map<std::string, std::vector<std::string>> programs_;  // by the text that asks for it
};

}  // namespace udtcat::rsh
