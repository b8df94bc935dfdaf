/// A peer of stock Globus: real globus-gridftp-server, every file compared.
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/support/globus_server.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class GridftpTest : public UdtcatTest {
 protected:
  [[nodiscard]] Ran gridftp(Arguments words) const {
    words.insert(words.begin(), {UDTCAT_BINARY, "gridftp"});
    return run({.argv = std::move(words), .working_directory = home_.path()});
  }
  [[nodiscard]] std::filesystem::path random_file(const std::string& name, std::size_t bytes) const {
    std::string content(bytes, '\0');
    std::ifstream("/dev/urandom", std::ios::binary).read(content.data(), static_cast<std::streamsize>(bytes));
    return home_.write(name, content);
  }

  GlobusServer server_;
};

TEST_F(GridftpTest, GetsAndPutsFilesOfAnySizeOverAnyNumberOfConnections) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1'048'576}, std::size_t{20'000'003}}) {
    const auto source = random_file("source", bytes);
    for (const char* connections : {"1", "4", "16"}) {
      const auto got = home_.path() / "got";
      const auto put = home_.path() / "put";
      const Ran down = gridftp({"get", "-p", connections, server_.url(source), got});
      EXPECT_EQ(down.status, kSuccess) << down.errors;
      EXPECT_TRUE(read_file(got) == read_file(source)) << bytes << " over " << connections;
      const Ran up = gridftp({"put", "-p", connections, source, server_.url(put)});
      EXPECT_EQ(up.status, kSuccess) << up.errors;
      EXPECT_TRUE(read_file(put) == read_file(source)) << bytes << " over " << connections;
      std::filesystem::remove(got);
      std::filesystem::remove(put);
    }
  }
}

TEST_F(GridftpTest, GetsAndPutsAPartOfAFile) {
  const auto source = random_file("source", 3'000'000);
  const std::string content = read_file(source);
  EXPECT_EQ(gridftp({"get", "-p", "4", "--range", "1000000-2500000", server_.url(source), "part"}).status, kSuccess);
  EXPECT_TRUE(read_file(home_.path() / "part") == content.substr(1'000'000, 1'500'000));
  const auto target = home_.write("target", std::string(3'000'000, 'x'));
  EXPECT_EQ(gridftp({"put", "--range", "1000000-2500000", source, server_.url(target)}).status, kSuccess);
  EXPECT_TRUE(read_file(target).substr(1'000'000, 1'500'000) == content.substr(1'000'000, 1'500'000));
}

TEST_F(GridftpTest, LeavesNothingUnderTheNameOfWhatDidNotCome) {
  const Ran ran = gridftp({"get", server_.url(home_.path() / "none"), "target"});
  EXPECT_NE(ran.status, kSuccess);
  EXPECT_THAT(ran.errors, HasSubstr("No such file"));
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "target"));
}

TEST_F(GridftpTest, NamesWhatIsWrong) {
  EXPECT_THAT(gridftp({"get", "http://host/x", "y"}).errors, HasSubstr("ftp://"));
  EXPECT_THAT(gridftp({"--help"}).output, HasSubstr("--range"));
  EXPECT_THAT(gridftp({"fetch"}).errors, AllOf(HasSubstr("fetch"), HasSubstr("get and put")));
  EXPECT_THAT(gridftp({"get", "ftp://host/x"}).errors, HasSubstr("needs a URL and a file"));
  EXPECT_THAT(gridftp({"get", "--range", "5", "ftp://host/x", "y"}).errors, HasSubstr("0-1048576"));
  EXPECT_EQ(gridftp({"get", "ftp://127.0.0.1:" + std::to_string(port_) + "/x", "y"}).status, kUnreachable);
}

}  // namespace
}  // namespace udtcat::e2e
