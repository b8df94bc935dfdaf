// SPDX-License-Identifier: Apache-2.0
/// The end-to-end tests, and in the same program the strangers and the foreign UDT programs that some of them run:
/// processes of their own, since libudt keeps threads and sockets that no test should inherit.
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "e2e/support/udt_program.hpp"
#include "e2e/support/udt_strangers.hpp"

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == udtcat::test::e2e::kBeStrangers) {
    return udtcat::test::e2e::be_strangers(argv[2], argv[3]);
  }
  if (argc == 5 && std::string_view(argv[1]) == udtcat::test::e2e::kBeUdtProgram) {
    return udtcat::test::e2e::be_udt_program(argv[2], argv[3], argv[4]);
  }
  // Pipes whose process has gone are part of the tests; the processes get the default back.
  std::signal(SIGPIPE, SIG_IGN);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
