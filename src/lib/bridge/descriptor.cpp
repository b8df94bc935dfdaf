// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/descriptor.hpp"

#include <cerrno>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <udtcat/units.hpp>

namespace udtcat::bridge {
namespace {

std::error_code close_number(int number) {
  // Linux frees the number even when close() is interrupted, so that a second attempt could close another's.
  return ::close(number) == 0 || errno == EINTR ? std::error_code{} : last_error();
}

/// Closes a standard descriptor but keeps its number taken: the next socket or file would get it otherwise, and a stray
/// print would land there.
std::error_code close_standard(int number) {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (copy < 0 || nowhere < 0 || ::dup2(nowhere, number) < 0) {
    if (copy >= 0) std::ignore = close_number(copy);  // `number` is closed below and says what there is to say
    if (nowhere >= 0) std::ignore = close_number(nowhere);
    return close_number(number);
  }
  std::ignore = close_number(nowhere);  // nothing was written there
  return close_number(copy);            // the last one that leads to the user's file: its error is the one that counts
}

constexpr int kPipeBytes = 1 * kMiB;  // spec: /proc/sys/fs/pipe-max-size, what an ordinary user may have by default

/// The master of a pseudo-terminal: to open it again would make a new terminal.
bool is_terminal_master(int number) {
  unsigned int index = 0;
  return ::ioctl(number, TIOCGPTN, &index) == 0;
}

std::optional<std::error_code> pipe_consumer_status(int number) {
  // Readers are polled before the count: without readers the count is final.
  pollfd readers{number, 0, 0};
  const bool gone = ::poll(&readers, 1, 0) == 1 && (readers.revents & POLLERR) != 0;
  int unread_bytes = 0;
  if (::ioctl(number, FIONREAD, &unread_bytes) != 0) return last_error();
  if (unread_bytes == 0) return std::error_code{};
  if (gone) return std::error_code(EPIPE, std::generic_category());
  return std::nullopt;
}

std::optional<std::error_code> socket_consumer_status(int number) {
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) != 0) return last_error();
  if (type != SOCK_STREAM) return std::error_code{};
  // Of a Unix socket what its reader has not read; of a TCP socket what the peer's system has not acknowledged, the end
  // included.
  int untaken_bytes = 0;
  if (::ioctl(number, SIOCOUTQ, &untaken_bytes) != 0) return last_error();
  // The error is read last: a closing peer sets it before it discards what it has not read.
  int error = 0;
  length = sizeof error;
  if (::getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return last_error();
  if (error != 0) return std::error_code(error, std::generic_category());
  if (untaken_bytes == 0) return std::error_code{};
  return std::nullopt;
}

/// For a directory that may be written to and not read. syncfs(2) refuses an O_PATH descriptor, so it gets an unnamed
/// file made there.
std::error_code sync_file_system_of(int directory, const char* path) {
  const Descriptor nameless(::openat(directory, path, O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR));
  if (nameless.is_open()) return ::syncfs(nameless.number()) == 0 ? std::error_code{} : last_error();
  const bool cannot_be_made = errno == EOPNOTSUPP || errno == EISDIR || errno == EACCES;  // spec: open(2)
  return cannot_be_made ? std::error_code{} : last_error();
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    std::ignore = close();  // a caller that wants the error calls close()
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { std::ignore = close(); }  // a caller that wants the error calls close()

std::error_code Descriptor::close() {
  if (!is_open()) return {};
  const int number = std::exchange(number_, -1);
  return number <= STDERR_FILENO ? close_standard(number) : close_number(number);
}

DescriptorKind kind_of(int number) {
  struct stat status {};
  if (::fstat(number, &status) != 0) return DescriptorKind::other;
  if (S_ISFIFO(status.st_mode)) return DescriptorKind::fifo;
  if (S_ISSOCK(status.st_mode)) return DescriptorKind::socket;
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) return DescriptorKind::file;
  return ::isatty(number) == 1 ? DescriptorKind::terminal : DescriptorKind::other;
}

std::error_code last_error() { return {errno, std::generic_category()}; }

bool is_open_for(int number, Half half) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return errno != EBADF;
  const int mode = flags & O_ACCMODE;
  return mode == O_RDWR || mode == (half == Half::read ? O_RDONLY : O_WRONLY);
}

Descriptor reopen_non_blocking(int number, DescriptorKind kind, Half half) {
  if (kind != DescriptorKind::fifo && kind != DescriptorKind::terminal) return {};
  if (!is_open_for(number, half)) return {};
  if (kind == DescriptorKind::terminal && is_terminal_master(number)) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(number);
  const int access = half == Half::read ? O_RDONLY : O_WRONLY;
  return Descriptor(::open(path.c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

void close_on_exec_above(int number) {
  // The call by its number: glibc has it since 2.34 only. A kernel before 5.11 refuses: all that we open ourselves has
  // FD_CLOEXEC already, what libraries open is lost to the child's attention.
  std::ignore = ::syscall(SYS_close_range, static_cast<unsigned>(number) + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

std::error_code sync_names(int directory, const char* path) {
  const Descriptor opened(::openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() && errno == EACCES) return sync_file_system_of(directory, path);
  if (!opened.is_open()) return last_error();
  if (::fsync(opened.number()) == 0) return {};
  // spec: fsync(2)
  return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? std::error_code{} : last_error();
}

void enlarge_pipe(int number) {
  const int bytes = ::fcntl(number, F_GETPIPE_SZ);
  // A refusal (the user's share of pipe memory is used up) leaves the pipe as it was, which works too.
  if (bytes > 0 && bytes < kPipeBytes) ::fcntl(number, F_SETPIPE_SZ, kPipeBytes);
}

// At the position of the description, as read() and write() are.
ssize_t read_without_waiting(int number, std::span<std::byte> into) {
  const iovec piece{into.data(), into.size()};
  return ::preadv2(number, &piece, 1, -1, RWF_NOWAIT);
}

ssize_t write_without_waiting(int number, std::span<const std::byte> from) {
  const iovec piece{const_cast<std::byte*>(from.data()), from.size()};  // SAFETY: only read from
  return ::pwritev2(number, &piece, 1, -1, RWF_NOWAIT);
}

std::optional<std::error_code> consumer_status(int number, DescriptorKind kind) {
  if (kind == DescriptorKind::fifo) return pipe_consumer_status(number);
  if (kind == DescriptorKind::socket) return socket_consumer_status(number);
  return std::error_code{};
}

}  // namespace udtcat::bridge
