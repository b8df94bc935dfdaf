# SPDX-License-Identifier: Apache-2.0
# Builds for Debian's s390x, which is big-endian: to test that no decoder depends on our machines' order (preset s390x).
set(machine s390x)
set(architecture s390x)
include("${CMAKE_CURRENT_LIST_DIR}/Cross.cmake")
