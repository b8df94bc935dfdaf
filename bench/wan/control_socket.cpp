// SPDX-License-Identifier: Apache-2.0
#include "wan/control_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <tuple>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

constexpr std::size_t kMaxMessageBytes = 32 * 1024;  // guess: the counters of kMostPaths take 13 KiB at most

Result<sockaddr_un> address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path) return fail(Errc::bad_argument, "socket " + name, "the name is too long");
  std::ranges::copy(name, address.sun_path);
  return address;
}

// SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// Where the answer goes; nothing is left of it afterwards.
class AnswerSocketName {
 public:
  explicit AnswerSocketName(std::filesystem::path asked)
      : path_(asked.replace_extension(".ask" + std::to_string(::getpid()))) {}
  AnswerSocketName(const AnswerSocketName&) = delete;
  AnswerSocketName& operator=(const AnswerSocketName&) = delete;
  ~AnswerSocketName() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

Result<ControlSocket> ControlSocket::listen(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  ::unlink(path.c_str());  // of a lab that had our number and was killed
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid() || ::bind(socket.fd(), generic(*address), sizeof *address) != 0)
    return fail(Errc::out_of_resources, "listen on " + path.string(), core::errno_text(errno));
  return ControlSocket(std::move(socket));
}

void ControlSocket::serve(const std::function<std::string(const std::string&)>& answer) const {
  std::array<char, kMaxMessageBytes> buffer{};
  for (;;) {
    sockaddr_un asker{};
    socklen_t length = sizeof asker;
    // SAFETY: as generic(), for an address that is written to.
    const ssize_t bytes =
        ::recvfrom(socket_.fd(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&asker), &length);
    if (bytes < 0) return;
    const std::string words = answer(std::string(buffer.data(), static_cast<std::size_t>(bytes)));
    // A client that has gone, or does not read, does without.
    std::ignore =
        ::sendto(socket_.fd(), words.data(), std::min(words.size(), kMaxMessageBytes), 0, generic(asker), length);
  }
}

Result<std::string> ask(const std::filesystem::path& path, const std::string& words) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // A name in the file system: the kernel's own names are those of a network namespace, and the lab is in another.
  const AnswerSocketName own(path);
  const auto own_address = address_of(own.path());
  if (!own_address) return tl::unexpected(own_address.error());
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::array<char, kMaxMessageBytes> buffer{};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  ::unlink(own.path().c_str());
  const bool sent = ::bind(socket.fd(), generic(*own_address), sizeof *own_address) == 0 &&
                    ::sendto(socket.fd(), words.data(), words.size(), 0, generic(*address), sizeof *address) >= 0;
  const ssize_t bytes = sent ? ::recv(socket.fd(), buffer.data(), buffer.size(), 0) : -1;
  if (bytes < 0) return fail(Errc::cannot_reach, "ask the lab at " + path.string(), core::errno_text(errno));
  return std::string(buffer.data(), static_cast<std::size_t>(bytes));
}

}  // namespace udtcat::wan
