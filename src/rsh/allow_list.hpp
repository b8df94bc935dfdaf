// SPDX-License-Identifier: Apache-2.0
/// The commands that a daemon runs for its peers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::rsh {

///   # the text of a request  =  a program and its words, run without a shell
///   rsync --server --daemon .  =  rsync --server --daemon --config=/etc/rsyncd.conf .
///
/// Immutable.
class AllowList {
 public:
  /// name     of the file, for errors
  /// errors   Errc::bad_argument with the file and the line
  [[nodiscard]] static Result<AllowList> parse(std::string_view text, const std::string& name);

  /// The program of the line whose left side equals the peer's text, which is never part of what is run.
  /// errors: Errc::stream_refused
  [[nodiscard]] Result<bridge::ChildRequest> program_for(const ssh::ControlMessage& request) const;

  [[nodiscard]] std::size_t size() const { return programs_.size(); }

 private:
  std::map<std::string, std::vector<std::string>> programs_;  // by the text that asks for it
};

}  // namespace udtcat::rsh
