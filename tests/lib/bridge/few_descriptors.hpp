// SPDX-License-Identifier: Apache-2.0
/// A process that has run out of descriptors, as far as accept() can tell.
#pragma once

namespace udtcat::bridge {

/// While it lives, accept() fails with EMFILE. The real limit would hit the sanitizers too, which open pipes to look at
/// memory.
class FewDescriptors {
 public:
  FewDescriptors();
  ~FewDescriptors();
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
};

}  // namespace udtcat::bridge
