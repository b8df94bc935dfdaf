// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/grid_certificates.hpp"

#include <filesystem>
#include <stdexcept>

#include "support/process.hpp"

namespace udtcat::test::e2e {
namespace {

const std::string kOrganisation = "/O=Grid/OU=udtcat";

std::string openssl(std::vector<std::string> words) {
  words.insert(words.begin(), "openssl");
  const Ran ran = run({.argv = words});
  if (ran.status != 0) throw std::runtime_error("openssl " + words[1] + ": " + ran.errors);
  return ran.output;
}

}  // namespace

GridCertificates::GridCertificates() {
  const auto at = [this](const std::string& name) { return (home_.path() / name).string(); };
  openssl({"req", "-x509", "-batch", "-nodes", "-newkey", "rsa:2048", "-days", "30", "-subj", kOrganisation + "/CN=CA",
           "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
           "-keyout", at("ca.key"), "-out", at("ca.pem")});
  std::string hash = openssl({"x509", "-in", at("ca.pem"), "-noout", "-subject_hash"});
  hash.erase(hash.find_last_not_of("\n") + 1);
  std::filesystem::create_directory(home_.path() / "certificates");
  std::filesystem::copy_file(at("ca.pem"), home_.path() / "certificates" / (hash + ".0"));
  // Globus trusts an authority only where a policy says what it may sign.
  home_.write("certificates/" + hash + ".signing_policy", "access_id_CA X509 '" + kOrganisation + "/CN=CA'\n" +
                                                              "pos_rights globus CA:sign\n" +
                                                              "cond_subjects globus '\"" + kOrganisation + "/*\"'\n");
  make("host", "localhost", "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
  make("user", "User", "extendedKeyUsage=clientAuth\n");
  home_.write("grid-mapfile", "\"" + kOrganisation + "/CN=User\" root\n");
}

void GridCertificates::make(const std::string& name, const std::string& common_name,
                            const std::string& extensions) const {
  const auto at = [&](const std::string& kind) { return (home_.path() / (name + kind)).string(); };
  openssl({"req", "-batch", "-nodes", "-newkey", "rsa:2048", "-subj", kOrganisation + "/CN=" + common_name, "-keyout",
           at(".key"), "-out", at(".csr")});
  home_.write(name + ".ext",
              "basicConstraints=critical,CA:FALSE\nkeyUsage=digitalSignature,keyEncipherment\n" + extensions);
  openssl({"x509", "-req", "-in", at(".csr"), "-CA", (home_.path() / "ca.pem").string(), "-CAkey",
           (home_.path() / "ca.key").string(), "-CAcreateserial", "-days", "30", "-extfile", at(".ext"), "-out",
           at(".pem")});
  std::filesystem::permissions(at(".key"), std::filesystem::perms::owner_read);
}

std::vector<std::string> GridCertificates::for_server() const {
  const std::string home = home_.path().string();
  return {"X509_CERT_DIR=" + home + "/certificates", "X509_USER_CERT=" + home + "/host.pem",
          "X509_USER_KEY=" + home + "/host.key", "GRIDMAP=" + home + "/grid-mapfile"};
}

std::vector<std::string> GridCertificates::for_user() const {
  const std::string home = home_.path().string();
  return {"X509_CERT_DIR=" + home + "/certificates", "X509_USER_CERT=" + home + "/user.pem",
          "X509_USER_KEY=" + home + "/user.key"};
}

}  // namespace udtcat::test::e2e
