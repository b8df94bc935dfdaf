# SPDX-License-Identifier: Apache-2.0
# Debian's packages, nothing else. scripts/install-dependencies names them.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

if(UDTCAT_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # Debian has no archives of these two; their headers do as well.
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
  add_library(spdlog::spdlog INTERFACE IMPORTED)
  target_compile_definitions(spdlog::spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
else()
  find_package(fmt REQUIRED)
  find_package(spdlog REQUIRED)
endif()

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
# No exception passes through OpenSSL, which is C: half a megabyte that nobody reads.
if(UDTCAT_STATIC)
  foreach(library Crypto SSL)
    get_target_property(archive OpenSSL::${library} IMPORTED_LOCATION)
    cmake_path(GET archive FILENAME name)
    execute_process(COMMAND "${CMAKE_OBJCOPY}" --remove-section=.eh_frame --remove-section=.rela.eh_frame "${archive}" "${PROJECT_BINARY_DIR}/${name}"
                    COMMAND_ERROR_IS_FATAL ANY)
    set_target_properties(OpenSSL::${library} PROPERTIES IMPORTED_LOCATION "${PROJECT_BINARY_DIR}/${name}")
  endforeach()
endif()
find_package(Boost 1.74 REQUIRED)
find_package(tl-expected REQUIRED)
if(UDTCAT_LIBUDT)
  find_package(UDT REQUIRED)
endif()
# The program's own. systemd has no archive: the static program tells no service manager anything.
if(NOT UDTCAT_STATIC)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
endif()
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
