// SPDX-License-Identifier: Apache-2.0
/// The interoperability tests, and in the same program the peers that they stop and kill.
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "interop/peer_process.hpp"
#include "interop/raw_udt.hpp"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 4 && std::string_view(argv[1]) == udtcat::test::interop::kBePeer)
    return udtcat::test::interop::be_peer(argv[2], static_cast<std::uint16_t>(std::atoi(argv[3])));
  testing::InitGoogleTest(&argc, argv);
  const udtcat::test::interop::RawRuntime runtime;
  return RUN_ALL_TESTS();
}
