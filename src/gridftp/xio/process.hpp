// SPDX-License-Identifier: Apache-2.0
/// The one engine of a program that has loaded the driver, and the environment that it was started with.
#pragma once

#include <memory>
#include <optional>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

#include "gridftp/xio/engine.hpp"
#include "gridftp/xio/settings.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/secret_text.hpp"

namespace udtcat::gridftp::xio {

/// Threads: internally synchronised.
class Process {
 public:
  /// Never destroyed: threads of the program may outlive its statics.
  [[nodiscard]] static Process& self();

  /// Starts it at the first call, and at the first after leave(). It lives as long as a caller holds it.
  /// errors: those of XioEngine::start(); Errc::interrupted once the process ends
  [[nodiscard]] Result<std::shared_ptr<XioEngine>> engine();
  /// As XioEngine::release(); an engine that is gone has stopped its acceptors.
  void release(std::shared_ptr<XioAcceptor> acceptor);
  void leave();
  /// leave(), for good: a thread of the program that is still running starts no other.
  void end();

  /// As find_key(), with the environment's key as it was when it was first asked for. Its text is overwritten there,
  /// but the variable stays, as the program's other threads may be looking.
  [[nodiscard]] Result<std::optional<Key>> key(const Settings& settings);
  /// By GLOBUS_UDP_PORT_RANGE.  errors: Errc::bad_argument
  [[nodiscard]] static Result<UdpPortRange> udp_ports();

 private:
  Process() = default;

  core::Mutex engine_mutex_;
  std::shared_ptr<XioEngine> engine_ UDTCAT_GUARDED_BY(engine_mutex_);
  bool ended_ UDTCAT_GUARDED_BY(engine_mutex_) = false;
  core::Mutex key_mutex_;
  core::SecretText key_text_ UDTCAT_GUARDED_BY(key_mutex_);
  bool dumps_are_forbidden_ UDTCAT_GUARDED_BY(key_mutex_) = false;
};

}  // namespace udtcat::gridftp::xio
