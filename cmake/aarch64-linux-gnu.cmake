# SPDX-License-Identifier: Apache-2.0
# Builds for Debian's arm64 on another machine: the presets arm64 and static-arm64.
set(machine aarch64)
set(architecture arm64)
include("${CMAKE_CURRENT_LIST_DIR}/Cross.cmake")
