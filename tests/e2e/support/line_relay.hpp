// SPDX-License-Identifier: Apache-2.0
/// Somebody on the path of a control connection, who reads and rewrites its lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "e2e/support/tcp_client.hpp"

namespace udtcat::test::e2e {

/// Threads: internally synchronised; both rewriters are called with one mutex held.
class LineRelay {
 public:
  /// The text that goes on in the place of a line: one, several or, empty, none.
  using Rewrite = std::function<std::string(const std::string& line)>;

  /// Between 127.0.0.1:`target` and who comes to port().
  LineRelay(std::uint16_t target, Rewrite commands, Rewrite replies);
  /// Waits until those who came have gone. To be destroyed before what it stands in front of.
  ~LineRelay();
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

 private:
  void serve();
  void relay(const TcpClient& from, const TcpClient& to, const Rewrite& rewrite);

  const std::uint16_t target_;
  const Rewrite commands_;
  const Rewrite replies_;
  const TcpListener listener_;
  std::mutex mutex_;
  std::atomic<bool> stopping_ = false;
  std::list<std::thread> clients_;  // the serving thread's
  std::thread thread_;
};

}  // namespace udtcat::test::e2e
