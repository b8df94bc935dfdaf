// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/openssl.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

namespace udtcat::crypto {
namespace {

class OpensslError : public testing::Test {
 protected:
  void SetUp() override { clear_openssl_errors(); }
};

TEST_F(OpensslError, IsEmptyWhereNothingFailed) {
  EXPECT_EQ(peek_openssl_reason(), 0);
  EXPECT_EQ(take_openssl_text(), "");
}

TEST_F(OpensslError, HasTheFirstCauseAndEmptiesTheQueue) {
  ERR_raise(ERR_LIB_EVP, ERR_R_MALLOC_FAILURE);
  ERR_raise(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR);
  EXPECT_EQ(peek_openssl_reason(), ERR_R_MALLOC_FAILURE);
  EXPECT_EQ(take_openssl_text(), "malloc failure");
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST_F(OpensslError, BecomesOurError) {
  ERR_raise(ERR_LIB_EVP, ERR_R_MALLOC_FAILURE);
  const Status failed = openssl_failed("seal a block");
  EXPECT_EQ(failed.error().code, Errc::cipher_failed);
  EXPECT_EQ(failed.error().message(), "seal a block: malloc failure");
}

}  // namespace
}  // namespace udtcat::crypto
