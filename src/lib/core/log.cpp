#include "lib/core/log.hpp"

#include <spdlog/sinks/null_sink.h>

#include "lib/core/invariant.hpp"

namespace udtcat::core {

namespace {

std::shared_ptr<spdlog::logger> silent_logger() {
  auto logger = std::make_shared<spdlog::logger>("udtcat", std::make_shared<spdlog::sinks::null_sink_mt>());
  logger->set_level(spdlog::level::off);
  return logger;
}

std::shared_ptr<spdlog::logger>& current() {
  static std::shared_ptr<spdlog::logger> logger = silent_logger();
  return logger;
}

}  // namespace

spdlog::logger& log() { return *current(); }

void set_logger(std::shared_ptr<spdlog::logger> logger) {
  UDTCAT_INVARIANT(logger != nullptr, "log() is never null");
  current() = std::move(logger);
}

}  // namespace udtcat::core
