/// Builds a classic BPF program row by row.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::libudt {

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

}  // namespace udtcat::transport::libudt
