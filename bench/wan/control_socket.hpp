// SPDX-License-Identifier: Apache-2.0
/// Commands to a running lab: one datagram each way.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <udtcat/result.hpp>

#include "wan/descriptor.hpp"

namespace udtcat::wan {

/// A unix socket with a name. Threads: unsynchronised.
class ControlSocket {
 public:
  /// errors   Errc::out_of_resources
  [[nodiscard]] static Result<ControlSocket> listen(const std::filesystem::path& path);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  /// Answers every command that has arrived.
  void serve(const std::function<std::string(const std::string&)>& answer) const;

 private:
  explicit ControlSocket(Descriptor socket) : socket_(std::move(socket)) {}
  Descriptor socket_;
};

/// errors   Errc::cannot_reach: nobody there, or no answer
[[nodiscard]] Result<std::string> ask(const std::filesystem::path& path, const std::string& words);

}  // namespace udtcat::wan
