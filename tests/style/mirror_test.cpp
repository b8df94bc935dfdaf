/// tests/ mirrors src/ file by file.
#include <map>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

/// Sources whose test has another name, and which it is: what can only be seen from further out, and parts that make sense
/// only together. A folder stands for all that is in it.
const std::map<std::string, std::string> kTestedIn{
    {"src/cli/forward_command.cpp", "tests/e2e/tcp_service_test.cpp"},
    {"src/cli/gateway_command.cpp", "tests/e2e/gateway_test.cpp"},
    {"src/cli/gridftp_command.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/cli/gridftp_options.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/cli/gridftp_written_options.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/cli/keygen_command.cpp", "tests/e2e/key_usage_test.cpp"},
    {"src/cli/main.cpp", "tests/e2e/usage_test.cpp"},
    {"src/cli/libudt_program.cpp", "tests/e2e/usage_test.cpp"},
    {"src/cli/option_values.cpp", "tests/cli/options_test.cpp"},
    {"src/cli/pipe_command.cpp", "tests/e2e/pipe_digest_test.cpp"},
    {"src/cli/pipe_session.cpp", "tests/e2e/pipe_digest_test.cpp"},
    {"src/cli/piped_command.cpp", "tests/e2e/exec_test.cpp"},
    {"src/cli/plain_command.cpp", "tests/e2e/plain_test.cpp"},
    {"src/cli/pushed_program.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/cli/requests.cpp", "tests/e2e/usage_test.cpp"},
    {"src/cli/rsh_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/cli/rsh_daemon_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/cli/rsh_server_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/cli/rsh_written_options.cpp", "tests/cli/rsh_options_test.cpp"},
    {"src/cli/run.cpp", "tests/e2e/usage_test.cpp"},
    {"src/cli/serve_command.cpp", "tests/e2e/tcp_service_test.cpp"},
    {"src/cli/session_run.cpp", "tests/e2e/peer_loss_test.cpp"},
    {"src/cli/standard_output.cpp", "tests/e2e/usage_test.cpp"},
    {"src/cli/stats_sum.cpp", "tests/e2e/stats_test.cpp"},
    {"src/cli/stderr_log.cpp", "tests/cli/console_test.cpp"},
    {"src/cli/written_options.cpp", "tests/cli/options_test.cpp"},
    {"src/crypto/key_file.cpp", "tests/cli/key_source_test.cpp"},
    {"src/gridftp/control_client.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/download.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/open_beneath_linux.cpp", "tests/gridftp/served_root_test.cpp"},
    {"src/gridftp/remote_server.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/session_stack.cpp", "tests/gridftp/data_stack_test.cpp"},
    {"src/gridftp/tcp_stack.cpp", "tests/gridftp/data_stack_test.cpp"},
    {"src/gridftp/third_party.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/udt_stack.cpp", "tests/gridftp/data_stack_test.cpp"},
    {"src/gridftp/upload.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/net/interface_mtu_linux.cpp", "tests/net/udp_socket_test.cpp"},
    {"src/net/system_error.cpp", "tests/net/udp_socket_test.cpp"},
    {"src/net/train_receiver_linux.cpp", "tests/net/datagram_socket_test.cpp"},
    {"src/net/train_sender_linux.cpp", "tests/net/datagram_socket_test.cpp"},
    {"src/rsh/bootstrap.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/dial_race.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/far_end.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/near_end.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/transport/engine.cpp", "tests/transport/connect_test.cpp"},
    {"src/transport/libudt/", "tests/transport/channel_test.cpp"},
    {"src/transport/native/native_acceptor.cpp", "tests/transport/acceptor_test.cpp"},
    {"src/transport/native/native_channel.cpp", "tests/transport/channel_test.cpp"},
    {"src/transport/native/native_engine.cpp", "tests/transport/connect_test.cpp"},
    {"src/transport/native/sender_to_plain.cpp", "tests/transport/native/connection_test.cpp"},
    {"src/transport/native/udp_port.cpp", "tests/transport/connect_test.cpp"},
    {"src/transport/native/udp_port_handshakes.cpp", "tests/transport/connect_test.cpp"},
    {"src/xio/acceptor.cpp", "tests/xio/engine_test.cpp"},
    {"src/xio/carrier.cpp", "tests/xio/engine_test.cpp"},
    {"src/xio/driver.cpp", "tests/e2e/xio_driver_test.cpp"},
    {"src/xio/globus.cpp", "tests/e2e/xio_driver_test.cpp"},
};

bool tested_elsewhere(const std::string& source) {
  const auto folder = source.substr(0, source.rfind('/') + 1);
  return kTestedIn.contains(source) || kTestedIn.contains(folder);
}

std::string test_of(const std::string& source) {
  auto test = "tests" + source.substr(source.find('/'));
  const auto stem_end = test.rfind(test.ends_with("_linux.cpp") ? "_linux.cpp" : ".cpp");
  return test.substr(0, stem_end) + "_test.cpp";
}

/// Not compiled on the platform that runs the tests.
bool is_other_platform(std::string_view path) { return path.ends_with("_default.cpp"); }

TEST(Tests, MirrorTheSources) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    if (!file.path.ends_with(".cpp") || is_other_platform(file.path) || tested_elsewhere(file.path)) continue;
    if (!exists(test_of(file.path))) offences.push_back(file.path + " has no " + test_of(file.path));
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Tests, ThatAreNamedInsteadExist) {
  Offences offences;
  for (const auto& [source, test] : kTestedIn)
    if (!exists(source) || !exists(test)) offences.push_back(source + " -> " + test);
  EXPECT_THAT(offences, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
