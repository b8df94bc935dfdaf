// SPDX-License-Identifier: Apache-2.0
#include "ssh/control_message.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::ssh {

namespace {

enum class Type : std::uint8_t {  // spec: docs/spec/rsh.md §3
  run_command = 0x01,
  run_subsystem = 0x02,
  deliver_signal = 0x03,
  carry_datagrams = 0x04,
  started = 0x81,
  exited = 0x82,
  killed = 0x83,
  not_run = 0x84,
};

constexpr std::size_t kMaxNameBytes = 64;      // spec: docs/spec/rsh.md §3
constexpr std::size_t kMaxReasonBytes = 1024;  // spec: docs/spec/rsh.md §3

/// The sizes that the body of a type may have.
struct Limits {
  Type type;
  std::size_t least_bytes;
  std::size_t most_bytes;
};
constexpr std::array<Limits, 8> kLimits{{{Type::run_command, 1, kMaxTextBytes},
                                         {Type::run_subsystem, 1, kMaxNameBytes},
                                         {Type::deliver_signal, 1, kMaxNameBytes},
                                         {Type::carry_datagrams, 0, 0},
                                         {Type::started, 0, 0},
                                         {Type::exited, 1, 1},
                                         {Type::killed, 2, 1 + kMaxNameBytes},
                                         {Type::not_run, 0, kMaxReasonBytes}}};

struct Body {
  Type type;
  std::string text;  // bytes, some of which may not be text
};

Body body_of(const ControlMessage& message) {
  return std::visit(
      [](const auto& m) -> Body {
        using Message = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<Message, RunCommand>) return {Type::run_command, m.text};
        if constexpr (std::is_same_v<Message, RunSubsystem>) return {Type::run_subsystem, m.name};
        if constexpr (std::is_same_v<Message, DeliverSignal>) return {Type::deliver_signal, m.name};
        if constexpr (std::is_same_v<Message, CarryDatagrams>) return {Type::carry_datagrams, {}};
        if constexpr (std::is_same_v<Message, Started>) return {Type::started, {}};
        if constexpr (std::is_same_v<Message, Exited>)
          return {Type::exited, std::string(1, static_cast<char>(m.status))};
        if constexpr (std::is_same_v<Message, Killed>)
          return {Type::killed, std::string(1, static_cast<char>(m.dumped_core)) + m.signal_name};
        if constexpr (std::is_same_v<Message, NotRun>)
          return {Type::not_run, core::printable(m.reason, kMaxReasonBytes)};
      },
      message);
}

tl::unexpected<Error> violation(std::string cause) {
  return fail(Errc::protocol_violated, "read a control message", std::move(cause));
}

Result<ControlMessage> decode(Type type, std::string text) {
  // A NUL in a command line or a name would end it there.
  const bool is_name = type == Type::run_command || type == Type::run_subsystem || type == Type::deliver_signal;
  if (is_name && text.find('\0') != std::string::npos) return violation("a NUL in a text");
  switch (type) {
    case Type::run_command:
      return RunCommand{std::move(text)};
    case Type::run_subsystem:
      return RunSubsystem{std::move(text)};
    case Type::deliver_signal:
      return DeliverSignal{std::move(text)};
    case Type::carry_datagrams:
      return CarryDatagrams{};
    case Type::started:
      return Started{};
    case Type::exited:
      return Exited{static_cast<std::uint8_t>(text.front())};
    case Type::killed:
      if (text.front() != 0 && text.front() != 1) return violation("a flag that is neither 0 nor 1");
      return Killed{core::printable(std::string_view(text).substr(1), kMaxNameBytes), text.front() == 1};
    case Type::not_run:
      return NotRun{core::printable(text, kMaxReasonBytes)};
  }
  return violation("unknown type");
}

struct NamedSignal {
  int number;
  std::string_view name;
};
constexpr std::array<NamedSignal, 13> kSignals{{{SIGABRT, "ABRT"},
                                                {SIGALRM, "ALRM"},
                                                {SIGFPE, "FPE"},
                                                {SIGHUP, "HUP"},
                                                {SIGILL, "ILL"},
                                                {SIGINT, "INT"},
                                                {SIGKILL, "KILL"},
                                                {SIGPIPE, "PIPE"},
                                                {SIGQUIT, "QUIT"},
                                                {SIGSEGV, "SEGV"},
                                                {SIGTERM, "TERM"},
                                                {SIGUSR1, "USR1"},
                                                {SIGUSR2, "USR2"}}};

}  // namespace

std::vector<std::byte> encode(const ControlMessage& message) {
  const Body body = body_of(message);
  std::vector<std::byte> bytes(ControlReader::kHeaderBytes + body.text.size());
  core::store_be(std::span(bytes), static_cast<std::uint32_t>(body.text.size()));
  bytes[0] = static_cast<std::byte>(body.type);
  std::transform(body.text.begin(), body.text.end(), bytes.begin() + ControlReader::kHeaderBytes,
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

Result<std::size_t> ControlReader::body_bytes(std::span<const std::byte, kHeaderBytes> header) {
  const auto type = std::to_integer<std::uint8_t>(header[0]);
  const std::size_t length = core::load_be<std::uint32_t>(header) & 0xff'ff'ffU;
  const auto* const limits = std::ranges::find(kLimits, static_cast<Type>(type), &Limits::type);
  if (limits == kLimits.end()) return violation(fmt::format("unknown type {:#04x}", type));
  if (length < limits->least_bytes || length > limits->most_bytes)
    return violation(fmt::format("{} bytes in a message of type {:#04x}", length, type));
  return length;
}

Result<std::optional<ControlMessage>> ControlReader::next() {
  if (arrived_.size() < kHeaderBytes) return std::nullopt;
  UDTCAT_TRY(const std::size_t length, body_bytes(std::span(arrived_).first<kHeaderBytes>()));
  if (arrived_.size() < kHeaderBytes + length) return std::nullopt;
  const auto begin = arrived_.begin() + kHeaderBytes;
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  std::string text(length, '\0');
  std::transform(begin, end, text.begin(), [](std::byte b) { return std::to_integer<char>(b); });
  UDTCAT_TRY(ControlMessage message, decode(static_cast<Type>(arrived_.front()), std::move(text)));
  arrived_.erase(arrived_.begin(), end);
  return message;
}

std::optional<std::string> signal_name(int number) {
  const auto* const found = std::ranges::find(kSignals, number, &NamedSignal::number);
  return found == kSignals.end() ? std::nullopt : std::optional<std::string>(found->name);
}

std::optional<int> signal_number(std::string_view name) {
  const auto* const found = std::ranges::find(kSignals, name, &NamedSignal::name);
  return found == kSignals.end() ? std::nullopt : std::optional(found->number);
}

}  // namespace udtcat::ssh
