// SPDX-License-Identifier: Apache-2.0
#include "support/descriptor.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

namespace udtcat::test {

namespace {

Descriptor checked(int fd, const std::string& what) {
  if (fd < 0) die(what);
  return Descriptor(fd);
}

}  // namespace

void die(const std::string& what) {
  std::fprintf(stderr, "the test cannot go on: %s: %s\n", what.c_str(), std::strerror(errno));
  std::abort();
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) die("pipe");
  return Pipe{.reading = Descriptor(ends[0]), .writing = Descriptor(ends[1])};
}

Descriptor open_for_reading(const std::filesystem::path& path) {
  return checked(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open " + path.string());
}

Descriptor open_for_writing(const std::filesystem::path& path) {
  return checked(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "open " + path.string());
}

Descriptor open_null() { return checked(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null"); }

Descriptor open_unnamed_file() { return checked(::memfd_create("udtcat-e2e", MFD_CLOEXEC), "memfd_create"); }

Descriptor open_event() { return checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"); }

void set_event(const Descriptor& event) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the waiter is awake already.
  std::ignore = ::write(event.fd(), &one, sizeof one);
}

void set_non_blocking(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.fd(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor.fd(), F_SETFL, flags | O_NONBLOCK) != 0) die("set non-blocking");
}

}  // namespace udtcat::test
