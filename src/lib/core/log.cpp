// SPDX-License-Identifier: Apache-2.0
#include "lib/core/log.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/null_sink.h>

#include <udtcat/log.hpp>

namespace udtcat {

namespace {

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return LogLevel::trace;
    case spdlog::level::debug:
      return LogLevel::debug;
    case spdlog::level::info:
      return LogLevel::info;
    case spdlog::level::warn:
      return LogLevel::warn;
    default:
      return LogLevel::error;
  }
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

class CallbackSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(LogSink program) : program_(std::move(program)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    program_(level_of(message.level), {message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  const LogSink program_;
};

std::unique_ptr<spdlog::logger> silent_logger() {
  auto logger = std::make_unique<spdlog::logger>("udtcat", std::make_shared<spdlog::sinks::null_sink_mt>());
  logger->set_level(spdlog::level::off);
  return logger;
}

std::unique_ptr<spdlog::logger>& current() {
  static std::unique_ptr<spdlog::logger> logger = silent_logger();
  return logger;
}

}  // namespace

namespace core {
spdlog::logger& log() { return *current(); }
}  // namespace core

void set_log_sink(LogLevel least, LogSink sink) {
  auto logger = silent_logger();
  if (sink) {
    logger = std::make_unique<spdlog::logger>("udtcat", std::make_shared<CallbackSink>(std::move(sink)));
    logger->set_level(level_of(least));
  }
  current() = std::move(logger);
}

}  // namespace udtcat
