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
    {"src/tool/forward_command.cpp", "tests/e2e/tcp_service_test.cpp"},
    {"src/gridftp/command/gateway_command.cpp", "tests/e2e/gateway_test.cpp"},
    {"src/gridftp/command/gridftp_command.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/command/gridftp_options.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/command/gridftp_written_options.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/tool/keygen_command.cpp", "tests/e2e/key_usage_test.cpp"},
    {"src/tool/main.cpp", "tests/e2e/usage_test.cpp"},
    {"src/tool/libudt_program.cpp", "tests/e2e/usage_test.cpp"},
    {"src/tool/option_values.cpp", "tests/tool/options_test.cpp"},
    {"src/tool/pipe_command.cpp", "tests/e2e/pipe_digest_test.cpp"},
    {"src/tool/pipe_session.cpp", "tests/e2e/pipe_digest_test.cpp"},
    {"src/tool/piped_command.cpp", "tests/e2e/exec_test.cpp"},
    {"src/tool/plain_command.cpp", "tests/e2e/plain_test.cpp"},
    {"src/rsh/command/pushed_program.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/tool/requests.cpp", "tests/e2e/usage_test.cpp"},
    {"src/rsh/command/rsh_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/command/rsh_daemon_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/command/rsh_server_command.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/command/rsh_written_options.cpp", "tests/rsh/command/rsh_options_test.cpp"},
    {"src/tool/run.cpp", "tests/e2e/usage_test.cpp"},
    {"src/tool/serve_command.cpp", "tests/e2e/tcp_service_test.cpp"},
    {"src/tool/session_run.cpp", "tests/e2e/peer_loss_test.cpp"},
    {"src/tool/standard_output.cpp", "tests/e2e/usage_test.cpp"},
    {"src/tool/stats_sum.cpp", "tests/e2e/stats_test.cpp"},
    {"src/tool/stderr_log.cpp", "tests/tool/console_test.cpp"},
    {"src/tool/written_options.cpp", "tests/tool/options_test.cpp"},
    {"src/lib/crypto/key_file.cpp", "tests/tool/key_source_test.cpp"},
    {"src/gridftp/client/control_client.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/client/download.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/client/remote_server.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/mode_e/session_stack.cpp", "tests/gridftp/mode_e/data_stack_test.cpp"},
    {"src/gridftp/mode_e/tcp_stack.cpp", "tests/gridftp/mode_e/data_stack_test.cpp"},
    {"src/gridftp/client/third_party.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/gridftp/mode_e/udt_stack.cpp", "tests/gridftp/mode_e/data_stack_test.cpp"},
    {"src/gridftp/client/upload.cpp", "tests/e2e/gridftp_test.cpp"},
    {"src/lib/net/interface_mtu_linux.cpp", "tests/lib/net/udp_socket_test.cpp"},
    {"src/lib/net/system_error.cpp", "tests/lib/net/udp_socket_test.cpp"},
    {"src/lib/net/train_receiver_linux.cpp", "tests/lib/net/datagram_socket_test.cpp"},
    {"src/lib/net/train_sender_linux.cpp", "tests/lib/net/datagram_socket_test.cpp"},
    {"src/rsh/bootstrap.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/dial_race.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/far_end.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/rsh/near_end.cpp", "tests/e2e/rsh_test.cpp"},
    {"src/lib/connection/attempts.cpp", "tests/lib/connection/dialer_test.cpp"},
    {"src/lib/plain/plain_dialer.cpp", "tests/lib/plain/plain_listener_test.cpp"},
    {"src/lib/transport/engine.cpp", "tests/lib/transport/connect_test.cpp"},
    {"src/lib/transport/libudt/", "tests/lib/transport/channel_test.cpp"},
    {"src/lib/transport/native/native_acceptor.cpp", "tests/lib/transport/acceptor_test.cpp"},
    {"src/lib/transport/native/native_channel.cpp", "tests/lib/transport/channel_test.cpp"},
    {"src/lib/transport/native/native_engine.cpp", "tests/lib/transport/connect_test.cpp"},
    {"src/lib/transport/native/sender_to_plain.cpp", "tests/lib/transport/native/connection_test.cpp"},
    {"src/lib/transport/native/udp_port.cpp", "tests/lib/transport/connect_test.cpp"},
    {"src/lib/transport/native/udp_port_handshakes.cpp", "tests/lib/transport/connect_test.cpp"},
    {"src/gridftp/xio/acceptor.cpp", "tests/gridftp/xio/engine_test.cpp"},
    {"src/gridftp/xio/carrier.cpp", "tests/gridftp/xio/engine_test.cpp"},
    {"src/gridftp/xio/driver.cpp", "tests/e2e/xio_driver_test.cpp"},
    {"src/gridftp/xio/globus.cpp", "tests/e2e/xio_driver_test.cpp"},
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
