# Debian's packages, nothing else. scripts/install-dependencies names them.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tl-expected REQUIRED)
find_package(UDT REQUIRED)
# The program's own.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
