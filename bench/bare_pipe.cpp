// SPDX-License-Identifier: Apache-2.0
// Question: what can this machine carry over a cable at all?
//
//   bare_pipe receive PORT > OUT      bare_pipe send HOST PORT < IN
//
// A pipe over UDP that does nothing that it need not: trains by UDP_SEGMENT and UDP_GRO, AES-256-GCM over blocks of a
// quarter of a megabyte, an acknowledgement for each train, a window that the receiver's socket holds, one thread at
// each end. No headers, no repair, no congestion control, a key that everybody knows: a lost packet ends it with an
// error.
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/aead.hpp"

namespace {

using udtcat::crypto::Aead;
using udtcat::crypto::AeadDirection;

constexpr std::size_t kSegmentBytes = 1472;  // a 1500-byte MTU
constexpr std::size_t kTrainBytes = 44 * kSegmentBytes;
constexpr std::size_t kRecordBytes = 4 * kTrainBytes;
constexpr std::size_t kPlainBytes = kRecordBytes - udtcat::crypto::kTagBytes;
constexpr std::size_t kPayloadBytes = kPlainBytes - sizeof(std::uint64_t);  // its length stands behind it
constexpr std::size_t kFirstWindow = kTrainBytes;
constexpr int kWantedBuffer = 8 << 20;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "bare_pipe: %s: %s\n", what, std::strerror(errno));
  std::_Exit(1);
}

class Cipher {
 public:
  explicit Cipher(AeadDirection direction) : aead_(make(direction)) {}
  void seal(std::span<std::byte> record) {
    if (!aead_.seal(next_nonce(), {}, plain(record), tag(record))) die("seal");
  }
  void open(std::span<std::byte> record) {
    errno = EBADMSG;  // a packet was lost
    if (!aead_.open(next_nonce(), {}, plain(record), tag(record))) die("open a record");
  }

 private:
  static Aead make(AeadDirection direction) {
    const std::array<std::byte, 32> key{};
    auto made = Aead::create(udtcat::Cipher::aes_256_gcm, direction, key);
    if (!made) die("make a cipher");
    return std::move(*made);
  }
  static std::span<std::byte> plain(std::span<std::byte> record) { return record.first(kPlainBytes); }
  static std::span<std::byte, udtcat::crypto::kTagBytes> tag(std::span<std::byte> record) {
    return record.subspan(kPlainBytes).first<udtcat::crypto::kTagBytes>();
  }
  const std::array<std::byte, udtcat::crypto::kNonceBytes>& next_nonce() {
    udtcat::core::store_be(std::span(nonce_).last<8>(), ++records_);
    return nonce_;
  }

  Aead aead_;
  std::uint64_t records_ = 0;
  std::array<std::byte, udtcat::crypto::kNonceBytes> nonce_{};
};

int open_socket(const char* host, const char* port, bool bound) {
  addrinfo hints{};
  hints.ai_flags = bound ? AI_PASSIVE : 0;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host, port, &hints, &found) != 0) die("resolve");
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  const auto join = bound ? ::bind : ::connect;
  if (socket < 0 || join(socket, found->ai_addr, found->ai_addrlen) != 0) die("open a socket");
  freeaddrinfo(found);
  for (const int option : {SO_RCVBUF, SO_RCVBUFFORCE, SO_SNDBUF, SO_SNDBUFFORCE})  // as far as rights go
    setsockopt(socket, SOL_SOCKET, option, &kWantedBuffer, sizeof kWantedBuffer);
  const timeval patience{5, 0};
  if (!bound) setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

/// How much the kernel holds for us: it counts its own bookkeeping, and gives some back late.
std::uint64_t window_of(int socket) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) die("getsockopt");
  return std::max(static_cast<std::uint64_t>(bytes) / 2 / kTrainBytes, std::uint64_t{2}) * kTrainBytes;
}

struct Ack {
  std::uint64_t received;
  std::uint64_t window;
};

void send_train(int socket, std::span<std::byte> train) {
  iovec piece{train.data(), train.size()};
  std::array<char, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const segments = CMSG_FIRSTHDR(&message);
  segments->cmsg_level = SOL_UDP;
  segments->cmsg_type = UDP_SEGMENT;
  segments->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const std::uint16_t bytes = kSegmentBytes;
  std::memcpy(CMSG_DATA(segments), &bytes, sizeof bytes);
  if (::sendmsg(socket, &message, 0) < 0) die("send");
}

/// Fills it, unless the input ends before.  returns  the bytes read
std::size_t read_all(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got = ::read(STDIN_FILENO, &into[filled], into.size() - filled);
    if (got < 0) die("read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void write_all(std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, from.data(), from.size());
    if (put < 0) die("write");
    from = from.subspan(static_cast<std::size_t>(put));
  }
}

void send(const char* host, const char* port) {
  const int socket = open_socket(host, port, false);
  Cipher cipher(AeadDirection::seal);
  std::vector<std::byte> record(kRecordBytes);
  std::uint64_t sent = 0;
  Ack ack{0, kFirstWindow};
  const auto take_ack = [&](int flags) {
    if (::recv(socket, &ack, sizeof ack, flags) < 0 && flags == 0) die("wait for an acknowledgement");
  };
  for (std::uint64_t length = kPayloadBytes; length == kPayloadBytes;) {
    length = read_all(std::span(record).first(kPayloadBytes));
    udtcat::core::store_be(std::span(record).subspan(kPayloadBytes).first<8>(), length);
    cipher.seal(record);
    for (std::size_t at = 0; at < kRecordBytes; at += kTrainBytes) {
      take_ack(MSG_DONTWAIT);
      while (sent + kTrainBytes > ack.received + ack.window) take_ack(0);
      send_train(socket, std::span(record).subspan(at, kTrainBytes));
      sent += kTrainBytes;
    }
  }
  while (ack.received < sent) take_ack(0);
}

void receive(const char* port) {
  const int socket = open_socket(nullptr, port, true);
  const int on = 1;
  if (setsockopt(socket, SOL_UDP, UDP_GRO, &on, sizeof on) != 0) die("UDP_GRO");
  const std::uint64_t window = window_of(socket);
  Cipher cipher(AeadDirection::open);
  std::vector<std::byte> record(kRecordBytes + kTrainBytes);  // and what comes of the next with its last packets
  std::size_t filled = 0;
  Ack ack{0, window};
  for (std::uint64_t length = kPayloadBytes; length == kPayloadBytes;) {
    sockaddr_in peer{};
    while (filled < kRecordBytes) {
      socklen_t peer_bytes = sizeof peer;
      const auto room = std::span(record).subspan(filled);
      const ssize_t got =
          ::recvfrom(socket, room.data(), room.size(), 0, reinterpret_cast<sockaddr*>(&peer), &peer_bytes);
      if (got <= 0) die("receive");
      filled += static_cast<std::size_t>(got);
      ack.received += static_cast<std::uint64_t>(got);
      if (::sendto(socket, &ack, sizeof ack, 0, reinterpret_cast<sockaddr*>(&peer), sizeof peer) < 0)
        die("acknowledge");
    }
    cipher.open(std::span(record).first(kRecordBytes));
    length = udtcat::core::load_be<std::uint64_t>(std::span(record).subspan(kPayloadBytes));
    write_all(std::span(record).first(length));
    std::copy(record.begin() + kRecordBytes, record.begin() + static_cast<std::ptrdiff_t>(filled), record.begin());
    filled -= kRecordBytes;
  }
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string role = count > 1 ? words[1] : "";
  if (role == "send" && count == 4) return send(words[2], words[3]), 0;
  if (role == "receive" && count == 3) return receive(words[2]), 0;
  std::fprintf(stderr, "bare_pipe receive PORT | bare_pipe send HOST PORT\n");
  return 2;
}
