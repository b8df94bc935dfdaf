// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/datagram_guard.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "lib/core/invariant.hpp"
#include "lib/net/system_error.hpp"

namespace udtcat::transport::libudt {

namespace {

/// Builds a classic BPF program row by row.
/// Every check either falls through or drops, so that rows read from top to bottom. The few branches go forward:
/// go_if() leaves a jump open and land() says where it ends.
/// Threads: unsynchronised.
class FilterProgram {
 public:
  void load_length() { add(BPF_LD | BPF_W | BPF_LEN, 0); }
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void load_last_word() {
    load_length();
    add(BPF_ALU | BPF_SUB | BPF_K, 4);
    add(BPF_MISC | BPF_TAX, 0);
    add(BPF_LD | BPF_W | BPF_IND, 0);
  }
  void keep_bits(std::uint32_t mask) { add(BPF_ALU | BPF_AND | BPF_K, mask); }

  void drop() { add(BPF_RET | BPF_K, 0); }
  void pass() { add(BPF_RET | BPF_K, 0xffffffff); }
  void pass_if(std::uint32_t value) {
    add_jump(BPF_JEQ, value, 0, 1);
    pass();
  }
  void drop_if(std::uint32_t value) { add_drop(BPF_JEQ, value, true); }
  void drop_unless(std::uint32_t value) { add_drop(BPF_JEQ, value, false); }
  void drop_if_below(std::uint32_t value) { add_drop(BPF_JGE, value, false); }
  void drop_if_above(std::uint32_t value) { add_drop(BPF_JGT, value, true); }
  void drop_if_any_bit_of(std::uint32_t mask) { add_drop(BPF_JSET, mask, true); }

  [[nodiscard]] std::size_t go_if(std::uint32_t value) { return add_jump(BPF_JEQ, value, 0, 0); }
  [[nodiscard]] std::size_t go_if_any_bit_of(std::uint32_t mask) { return add_jump(BPF_JSET, mask, 0, 0); }
  void land(std::size_t jump) {
    const std::size_t distance = code_.size() - jump - 1;
    UDTCAT_INVARIANT(distance < 256, "programs here are shorter than the longest jump");
    code_[jump].jt = static_cast<std::uint8_t>(distance);
  }

  [[nodiscard]] std::vector<sock_filter>& code() { return code_; }

 private:
  void add(unsigned code, std::uint32_t value) { code_.push_back({static_cast<std::uint16_t>(code), 0, 0, value}); }
  std::size_t add_jump(unsigned test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), if_true, if_false, value});
    return code_.size() - 1;
  }
  void add_drop(unsigned test, std::uint32_t value, bool when) {
    add_jump(test, value, when ? 0 : 1, when ? 1 : 0);
    drop();
  }

  std::vector<sock_filter> code_;
};

// Where things are in what a UDP socket's filter sees: 8 bytes of UDP header, 16 of UDT header, the payload.
constexpr std::uint32_t kUdpHeaderBytes = 8;   // spec: RFC 768
constexpr std::uint32_t kUdtHeaderBytes = 16;  // spec: UDT4, as are all numbers below that say nothing else
constexpr std::uint32_t kHeaderBytes = kUdpHeaderBytes + kUdtHeaderBytes;
constexpr std::uint32_t kTypeAt = kUdpHeaderBytes;
constexpr std::uint32_t kSocketIdAt = kUdpHeaderBytes + 12;
constexpr std::uint32_t word_at(std::uint32_t index) { return kHeaderBytes + 4 * index; }

constexpr std::uint32_t kControlBit = 0x80000000;
constexpr std::uint32_t kTypeMask = 0x7fff0000;
constexpr std::uint32_t type_bits(std::uint32_t type) { return type << 16; }
// Sequence numbers and socket IDs are 31 bits; in a NAK the bit marks the start of a range.
constexpr std::uint32_t kTopBit = 0x80000000;

constexpr std::uint32_t kIpAndUdpBytes = 28;  // an MSS counts an IPv4 header, whatever the family
constexpr std::uint32_t kHandshakeBytes = 48;
constexpr std::uint32_t kSmallestMss = 128;          // guess: at 44 libudt divides by zero, below it aborts
constexpr std::uint32_t kLargestWindow = 65536;      // guess: libudt allocates 24 bytes for each packet of it
constexpr std::uint32_t kLongestRttUs = 60'000'000;  // guess: a sender that believes in hours never sends again

void add_handshake_rows(FilterProgram& program, std::uint32_t largest_mss) {
  program.load_length();
  program.drop_unless(kHeaderBytes + kHandshakeBytes);
  program.load(word_at(0));  // version
  program.drop_unless(4);
  program.load(word_at(1));  // STREAM
  program.drop_unless(1);
  program.load(word_at(2));  // initial sequence number
  program.drop_if_any_bit_of(kTopBit);
  program.load(word_at(3));  // MSS
  program.drop_if_below(kSmallestMss);
  program.drop_if_above(largest_mss);
  program.load(word_at(4));  // flight window
  program.drop_if_below(1);
  program.drop_if_above(kLargestWindow);
  program.load(word_at(6));  // socket ID
  program.drop_if(0);
  program.drop_if_any_bit_of(kTopBit);
  program.load(word_at(5));  // request: induction (1) or conclusion (-1)
  program.pass_if(1);
  program.pass_if(0xffffffff);
  program.drop();
}

void add_ack_rows(FilterProgram& program) {
  program.load(word_at(0));  // sequence number; a load past the end drops, so this is at least 4 bytes
  program.drop_if_any_bit_of(kTopBit);
  program.load_length();
  program.pass_if(kHeaderBytes + 4);
  const auto medium = program.go_if(kHeaderBytes + 16);
  program.drop_unless(kHeaderBytes + 24);
  program.land(medium);
  program.load(word_at(1));  // round-trip time
  program.drop_if_above(kLongestRttUs);
  program.pass();
}

void add_nak_rows(FilterProgram& program) {
  program.load_length();
  program.drop_if(kHeaderBytes);
  program.keep_bits(3);
  program.drop_unless(0);
  program.load_last_word();
  program.drop_if_any_bit_of(kTopBit);
  program.pass();
}

FilterProgram guard_program(std::size_t mss, std::size_t handshake_mss) {
  FilterProgram program;
  program.load_length();
  program.drop_if_below(kHeaderBytes);
  program.drop_if_above(static_cast<std::uint32_t>(mss) - kIpAndUdpBytes + kUdpHeaderBytes);
  program.load(kTypeAt);
  program.keep_bits(kControlBit | kTypeMask);
  const auto handshake = program.go_if(kControlBit | type_bits(0));
  program.load(kSocketIdAt);  // a listener, ID 0, would answer anything of 48 bytes as if it were a handshake
  program.drop_if(0);
  program.load(kTypeAt);
  const auto control = program.go_if_any_bit_of(kControlBit);
  program.pass();

  program.land(control);
  program.keep_bits(kTypeMask);
  program.pass_if(type_bits(1));  // keep-alive
  const auto ack = program.go_if(type_bits(2));
  const auto nak = program.go_if(type_bits(3));
  program.pass_if(type_bits(5));  // shutdown
  program.pass_if(type_bits(6));  // ACK2
  program.drop();

  program.land(handshake);
  add_handshake_rows(program, static_cast<std::uint32_t>(handshake_mss));
  program.land(ack);
  add_ack_rows(program);
  program.land(nak);
  add_nak_rows(program);
  return program;
}

}  // namespace

Status attach_datagram_guard(const net::UdpSocket& socket, std::size_t mss, std::size_t handshake_mss) {
  FilterProgram program = guard_program(mss, handshake_mss);
  sock_fprog code{static_cast<unsigned short>(program.code().size()), program.code().data()};
  if (::setsockopt(socket.descriptor(), SOL_SOCKET, SO_ATTACH_FILTER, &code, sizeof code) == 0) return {};
  return net::system_error(Errc::cannot_bind, "put a filter before a udp socket", errno);
}

}  // namespace udtcat::transport::libudt
