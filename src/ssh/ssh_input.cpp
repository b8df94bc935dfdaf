// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_input.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include "lib/core/try.hpp"

namespace udtcat::ssh {

SshInput::SshInput(boost::asio::io_context& io, int descriptor, bridge::WakeEvent stop, Handlers handlers)
    : io_(io),
      descriptor_(descriptor),
      stop_(std::move(stop)),
      handlers_(std::make_shared<const Handlers>(std::move(handlers))) {}

Result<std::unique_ptr<SshInput>> SshInput::start(boost::asio::io_context& io, int descriptor, Handlers handlers) {
  UDTCAT_TRY(bridge::WakeEvent stop, bridge::WakeEvent::make());
  std::unique_ptr<SshInput> input(new SshInput(io, descriptor, std::move(stop), std::move(handlers)));
  try {
    input->thread_ = std::thread([&self = *input] { self.run(); });
  } catch (const std::system_error& error) {
    return fail(Errc::out_of_resources, "start a thread", error.what());
  }
  return input;
}

SshInput::~SshInput() {
  stop_.raise();
  if (thread_.joinable()) thread_.join();
}

void SshInput::run() {
  auto message = read_message();
  // Weak: the handlers end with this, what is posted does not.
  boost::asio::post(io_, [weak = std::weak_ptr<const Handlers>(handlers_), message = std::move(message)] {
    const auto handlers = weak.lock();
    if (!handlers) return;
    if (message)
      handlers->on_request(*message);
    else
      handlers->on_end();
  });
}

std::optional<ControlMessage> SshInput::read_message() const {
  std::array<std::byte, ControlReader::kHeaderBytes> header{};
  if (!read_exactly(header)) return std::nullopt;
  const auto body_bytes = ControlReader::body_bytes(header);
  if (!body_bytes) return std::nullopt;
  std::vector<std::byte> body(*body_bytes);
  if (!read_exactly(body)) return std::nullopt;
  ControlReader reader;
  reader.push(header);
  reader.push(body);
  auto message = reader.next();
  return message ? std::move(*message) : std::nullopt;
}

bool SshInput::read_exactly(std::span<std::byte> into) const {
  while (!into.empty()) {
    if (stop_.wait(descriptor_, POLLIN) == bridge::WakeEvent::Wake::raised) return false;
    const ssize_t got = ::read(descriptor_, into.data(), into.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace udtcat::ssh
