#include "lib/bridge/descriptor.hpp"

#include <cerrno>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::bridge {
namespace {

std::error_code close_number(int number) {
  // Linux frees the number even when close() is interrupted, so that a second attempt could close a stranger's.
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

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    std::ignore = close();  // who wants the error calls close()
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { std::ignore = close(); }  // who wants the error calls close()

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

}  // namespace udtcat::bridge
