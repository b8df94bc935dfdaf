// The limit: what a pipe over UDP can carry on this machine if it does nothing that it need not.
//
//   bare_pipe receive PORT > OUT      bare_pipe send HOST PORT < IN
//
// Trains by UDP_SEGMENT and UDP_GRO, AES-256-GCM over blocks of a quarter of a megabyte, an acknowledgement for each few
// trains, a window that the receiver's socket can hold; a thread for the socket and one for the cipher at each end. No
// headers, no repair, no congestion control, a key that everybody knows: a lost packet ends it with an error.
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
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
constexpr std::size_t kQueuedRecords = 8;
constexpr std::size_t kFirstWindow = kTrainBytes;
constexpr int kWantedBuffer = 16 << 20;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "bare_pipe: %s: %s\n", what, std::strerror(errno));
  std::_Exit(1);
}

struct Record {
  std::vector<std::byte> bytes = std::vector<std::byte>(kRecordBytes);
  std::size_t filled = 0;
};

/// Full records one way, empty ones the other.
class Queue {
 public:
  void push(std::unique_ptr<Record> record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(std::move(record));
    changed_.notify_one();
  }
  std::unique_ptr<Record> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !records_.empty(); });
    auto record = std::move(records_.front());
    records_.pop_front();
    return record;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Record>> records_;
};

struct Queues {
  Queues() {
    for (std::size_t i = 0; i < kQueuedRecords; ++i) empty.push(std::make_unique<Record>());
  }
  Queue full, empty;
};

class Cipher {
 public:
  explicit Cipher(AeadDirection direction) : aead_(make(direction)) {}
  void seal(Record& record) {
    if (!aead_.seal(next_nonce(), {}, plain(record), tag(record))) die("seal");
  }
  void open(Record& record) {
    errno = EBADMSG;  // a packet was lost
    if (!aead_.open(next_nonce(), {}, plain(record), tag(record))) die("open a record");
  }
  static std::uint64_t length(const Record& record) {
    return udtcat::core::load_be<std::uint64_t>(std::span(record.bytes).subspan(kPayloadBytes));
  }

 private:
  static Aead make(AeadDirection direction) {
    const std::array<std::byte, 32> key{};
    auto made = Aead::create(udtcat::Cipher::aes_256_gcm, direction, key);
    if (!made) die("make a cipher");
    return std::move(*made);
  }
  static std::span<std::byte> plain(Record& record) { return std::span(record.bytes).first(kPlainBytes); }
  static std::span<std::byte, udtcat::crypto::kTagBytes> tag(Record& record) {
    return std::span(record.bytes).subspan(kPlainBytes).first<udtcat::crypto::kTagBytes>();
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

/// How much the kernel holds for us: it counts its own bookkeeping, some half of it.
std::uint64_t window_of(int socket) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) die("getsockopt");
  return static_cast<std::uint64_t>(bytes) / 3 * 2 / kTrainBytes * kTrainBytes;
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

void send_records(int socket, Queues& queues) {
  std::uint64_t sent = 0;
  Ack ack{0, kFirstWindow};
  const auto take_ack = [&](int flags) {
    if (::recv(socket, &ack, sizeof ack, flags) < 0 && flags == 0) die("wait for an acknowledgement");
  };
  for (bool last = false; !last;) {
    auto record = queues.full.pop();
    last = record->filled < kPayloadBytes;
    for (std::size_t at = 0; at < kRecordBytes; at += kTrainBytes) {
      take_ack(MSG_DONTWAIT);
      while (sent + kTrainBytes > ack.received + ack.window) take_ack(0);
      send_train(socket, std::span(record->bytes).subspan(at, kTrainBytes));
      sent += kTrainBytes;
    }
    queues.empty.push(std::move(record));
  }
  while (ack.received < sent) take_ack(0);
}

void send(const char* host, const char* port) {
  Queues queues;
  std::thread io(send_records, open_socket(host, port, false), std::ref(queues));
  Cipher cipher(AeadDirection::seal);
  for (bool last = false; !last;) {
    auto record = queues.empty.pop();
    record->filled = 0;
    while (record->filled < kPayloadBytes && !last) {
      const ssize_t got = ::read(STDIN_FILENO, &record->bytes[record->filled], kPayloadBytes - record->filled);
      if (got < 0) die("read");
      last = got == 0;
      record->filled += static_cast<std::size_t>(got);
    }
    udtcat::core::store_be(std::span(record->bytes).subspan(kPayloadBytes).first<8>(), std::uint64_t{record->filled});
    cipher.seal(*record);
    queues.full.push(std::move(record));
  }
  io.join();
}

void write_records(Queues& queues) {
  Cipher cipher(AeadDirection::open);
  for (std::uint64_t length = kPayloadBytes; length == kPayloadBytes;) {
    auto record = queues.full.pop();
    cipher.open(*record);
    length = Cipher::length(*record);
    for (std::size_t at = 0; at < length;) {
      const ssize_t put = ::write(STDOUT_FILENO, &record->bytes[at], length - at);
      if (put < 0) die("write");
      at += static_cast<std::size_t>(put);
    }
    queues.empty.push(std::move(record));
  }
  std::_Exit(0);
}

void receive(const char* port) {
  Queues queues;
  const int socket = open_socket(nullptr, port, true);
  const int on = 1;
  if (setsockopt(socket, SOL_UDP, UDP_GRO, &on, sizeof on) != 0) die("UDP_GRO");
  const std::uint64_t window = window_of(socket);
  std::thread writer(write_records, std::ref(queues));
  std::uint64_t received = 0;
  std::uint64_t acked = 0;
  auto record = queues.empty.pop();
  auto next = queues.empty.pop();
  record->filled = next->filled = 0;
  for (;;) {
    sockaddr_in peer{};
    std::array<iovec, 2> pieces{
        {{&record->bytes[record->filled], kRecordBytes - record->filled}, {next->bytes.data(), kTrainBytes}}};
    msghdr message{};
    message.msg_name = &peer;
    message.msg_namelen = sizeof peer;
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t got = ::recvmsg(socket, &message, 0);
    if (got <= 0) die("receive");
    received += static_cast<std::uint64_t>(got);
    const std::size_t into = std::min<std::size_t>(static_cast<std::size_t>(got), kRecordBytes - record->filled);
    record->filled += into;
    next->filled = static_cast<std::size_t>(got) - into;
    if (received - acked >= std::min<std::uint64_t>(window / 4, kRecordBytes) || acked == 0 ||
        record->filled == kRecordBytes) {
      const Ack ack{received, window};
      acked = received;
      if (::sendto(socket, &ack, sizeof ack, 0, reinterpret_cast<sockaddr*>(&peer), sizeof peer) < 0)
        die("acknowledge");
    }
    if (record->filled < kRecordBytes) continue;
    queues.full.push(std::exchange(record, std::exchange(next, nullptr)));
    next = queues.empty.pop();
    next->filled = 0;
  }
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string role = count > 1 ? words[1] : "";
  if (role == "send" && count == 4) {
    send(words[2], words[3]);
    return 0;
  }
  if (role == "receive" && count == 3) receive(words[2]);
  std::fprintf(stderr, "bare_pipe receive PORT | bare_pipe send HOST PORT\n");
  return 2;
}
