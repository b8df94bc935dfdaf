// SPDX-License-Identifier: Apache-2.0
// The baseline: a bare program on libudt with its default options. No cipher, no framing, no check, memory to memory.
//
//   raw_udt receive PORT BYTES [SECONDS]      raw_udt send HOST PORT BYTES
//
// The receiver ends after BYTES, or SECONDS after the first of them, and prints bytes, seconds, CPU seconds of its
// process and what had come by each half second, as one JSON line; the sender sends 0 bytes without end, and prints its
// CPU seconds.

#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <udt/udt.h>

#include "cpu_seconds.hpp"

namespace {

constexpr int kChunkBytes = 256 * 1024;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "raw_udt: %s: %s\n", what, UDT::getlasterror().getErrorMessage());
  std::exit(1);
}

addrinfo* lookup(const char* host, const char* port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host, port, &hints, &found) != 0) die("resolve");
  return found;
}

void receive(const char* port, std::int64_t bytes, double seconds_limit) {
  addrinfo* local = lookup(nullptr, port);
  const UDTSOCKET listener = UDT::socket(AF_INET, SOCK_STREAM, 0);
  if (UDT::bind(listener, local->ai_addr, static_cast<int>(local->ai_addrlen)) == UDT::ERROR) die("bind");
  if (UDT::listen(listener, 1) == UDT::ERROR) die("listen");
  sockaddr_storage peer{};
  int peer_bytes = sizeof peer;
  const UDTSOCKET stream = UDT::accept(listener, reinterpret_cast<sockaddr*>(&peer), &peer_bytes);
  if (stream == UDT::INVALID_SOCK) die("accept");
  std::vector<char> chunk(kChunkBytes);
  const int first = UDT::recv(stream, chunk.data(), kChunkBytes, 0);  // the time of these is before them
  if (first <= 0) die("receive");
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  constexpr double kSampleSeconds = 0.5;
  std::string samples;
  double next_sample = kSampleSeconds;
  std::int64_t received = 0;
  while (first + received < bytes && elapsed() < seconds_limit) {
    const int got = UDT::recv(stream, chunk.data(), kChunkBytes, 0);
    if (got <= 0) die("receive");
    received += got;
    for (; elapsed() >= next_sample; next_sample += kSampleSeconds)
      samples += (samples.empty() ? "[" : ", [") + std::to_string(next_sample) + ", " + std::to_string(received) + "]";
  }
  const double seconds = elapsed();
  const char done = 1;
  UDT::send(stream, &done, 1, 0);
  UDT::close(stream);
  std::printf("{\"bytes\": %lld, \"seconds\": %.6f, \"cpu_seconds\": %.3f, \"samples\": [%s]}\n",
              static_cast<long long>(received), seconds, cpu_seconds(), samples.c_str());
}

void send(const char* host, const char* port, std::int64_t bytes) {
  addrinfo* peer = lookup(host, port);
  UDTSOCKET stream = UDT::INVALID_SOCK;
  for (int attempt = 0; attempt < 5; ++attempt) {  // the receiver may still be starting; each attempt waits 3 s
    stream = UDT::socket(AF_INET, SOCK_STREAM, 0);
    if (UDT::connect(stream, peer->ai_addr, static_cast<int>(peer->ai_addrlen)) != UDT::ERROR) break;
    UDT::close(stream);
    if (attempt == 4) die("connect");
  }
  const std::vector<char> chunk(kChunkBytes);
  const bool endless = bytes == 0;
  for (std::int64_t left = endless ? kChunkBytes : bytes; left > 0;) {
    const int sent = UDT::send(stream, chunk.data(), static_cast<int>(std::min<std::int64_t>(left, kChunkBytes)), 0);
    if (sent == UDT::ERROR && endless) break;  // the receiver has had enough
    if (sent == UDT::ERROR) die("send");
    if (!endless) left -= sent;
  }
  char done = 0;
  UDT::recv(stream, &done, 1, 0);
  UDT::close(stream);
  std::printf("{\"cpu_seconds\": %.3f}\n", cpu_seconds());
}

}  // namespace

int main(int argc, char** argv) {
  UDT::startup();
  if ((argc == 4 || argc == 5) && std::strcmp(argv[1], "receive") == 0) {
    constexpr double kNoLimit = 1e9;
    receive(argv[2], std::atoll(argv[3]), argc == 5 ? std::atof(argv[4]) : kNoLimit);
  } else if (argc == 5 && std::strcmp(argv[1], "send") == 0) {
    send(argv[2], argv[3], std::atoll(argv[4]));
  } else {
    std::fprintf(stderr, "usage: raw_udt receive PORT BYTES [SECONDS] | raw_udt send HOST PORT BYTES\n");
    return 2;
  }
  UDT::cleanup();
}
