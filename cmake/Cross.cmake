# SPDX-License-Identifier: Apache-2.0
# For the toolchain files beside it, which set `machine` (as uname -m prints it) and `architecture` (as Debian calls it): Debian's cross
# compiler, and that architecture's libraries in a root of their own, so that none is installed on this machine.
# scripts/install-dependencies --arm64 brings both.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${machine})
set(CMAKE_C_COMPILER ${machine}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${machine}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${machine}-linux-gnu)
set(CMAKE_SYSROOT /opt/udtcat-sysroots/${architecture})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# Runs the programs that are built, so the unit tests too.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${machine}-static -L ${CMAKE_SYSROOT})
