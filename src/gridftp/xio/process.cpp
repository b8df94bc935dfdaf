// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/process.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "lib/core/core_dumps.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp::xio {

namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

/// Ends the engine at the end of the program.
struct ProcessExit {
  ProcessExit() = default;
  ProcessExit(const ProcessExit&) = delete;
  ProcessExit& operator=(const ProcessExit&) = delete;
  ~ProcessExit() { Process::self().end(); }
};

}  // namespace

Process& Process::self() {
  static auto* const process = new Process();
  return *process;
}

Result<std::shared_ptr<XioEngine>> Process::engine() {
  const core::MutexLock lock(engine_mutex_);
  if (ended_) return fail(Errc::interrupted, "transfer", "the program ends");
  if (!engine_) {
    // OpenSSL's clean-up and the log's are registered for the end of the process at their first use. Ours, registered
    // later, runs before them: the engine's thread uses both to its end.
    std::ignore = Key::generate();
    std::ignore = core::log().level();
    static const ProcessExit leaver;
    UDTCAT_TRY(engine_, XioEngine::start());
  }
  return engine_;
}

void Process::release(std::shared_ptr<XioAcceptor> acceptor) {
  const core::MutexLock lock(engine_mutex_);
  if (engine_) engine_->release(std::move(acceptor));
}

void Process::leave() {
  std::shared_ptr<XioEngine> leaving;  // ends after the lock, by this thread or by the last that dials with it
  const core::MutexLock lock(engine_mutex_);
  leaving.swap(engine_);
}

void Process::end() {
  {
    const core::MutexLock lock(engine_mutex_);
    ended_ = true;
  }
  leave();
}

Result<std::optional<Key>> Process::key(const Settings& settings) {
  const core::MutexLock lock(key_mutex_);
  if (char* value = std::getenv(kKeyVariable); value != nullptr && *value != '\0')
    key_text_ = core::take_text({value, std::strlen(value)});
  auto key = find_key(settings, environment, key_text_.view());
  if (key && *key && !std::exchange(dumps_are_forbidden_, true)) {
    std::ignore = core::forbid_core_dumps(false);
    core::forbid_tracing();
  }
  return key;
}

Result<UdpPortRange> Process::udp_ports() {
  const auto range = environment("GLOBUS_UDP_PORT_RANGE");
  if (!range || range->empty()) return UdpPortRange();
  return parse_udp_port_range(*range);
}

}  // namespace udtcat::gridftp::xio
