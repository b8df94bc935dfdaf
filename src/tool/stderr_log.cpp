#include "tool/stderr_log.hpp"

#include <memory>
#include <mutex>
#include <string_view>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "lib/core/log.hpp"

namespace udtcat::tool {

namespace {

class ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(Console& console) : console_(console) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    std::string_view text(formatted.data(), formatted.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    console_.line(text);
  }
  void flush_() override {}

 private:
  Console& console_;
};

spdlog::level::level_enum level_of(int verbosity) {
  if (verbosity < 0) return spdlog::level::err;
  if (verbosity == 0) return spdlog::level::warn;
  if (verbosity == 1) return spdlog::level::info;
  return verbosity == 2 ? spdlog::level::debug : spdlog::level::trace;
}

}  // namespace

void install_stderr_log(Console& console, int verbosity) {
  auto logger = std::make_shared<spdlog::logger>("udtcat", std::make_shared<ConsoleSink>(console));
  logger->set_level(level_of(verbosity));
  // A person reads sentences; a developer wants to know when.
  logger->set_pattern(verbosity >= 2 ? "udtcat: %T.%e %l: %v" : "udtcat: %v");
  core::set_logger(std::move(logger));
}

}  // namespace udtcat::tool
