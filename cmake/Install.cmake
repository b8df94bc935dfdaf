# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program, the library with its public headers, package files for CMake and pkg-config, and the documents.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/udtcat")

install(TARGETS udtcat RUNTIME)
if(UDTCAT_LIBUDT)
  install(TARGETS udtcat-libudt RUNTIME)
endif()
install(PROGRAMS "${PROJECT_SOURCE_DIR}/wrappers/udr" DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/wrappers/systemd/udtcat@.service" DESTINATION lib/systemd/system)
install(TARGETS libudtcat EXPORT udtcatTargets ARCHIVE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/udtcat" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")

# find_package(udtcat) -> udtcat::udtcat
install(EXPORT udtcatTargets NAMESPACE udtcat:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/udtcatConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/udtcatConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/udtcatConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/udtcatConfig.cmake" "${PROJECT_BINARY_DIR}/package/udtcatConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindUDT.cmake"
        DESTINATION "${package_dir}")

# pkg-config udtcat: the paths are relative to the file, so that the tree can be moved.
file(RELATIVE_PATH UDTCAT_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" UDTCAT_PREFIX_FROM_PC "${UDTCAT_PREFIX_FROM_PC}")
set(UDTCAT_LIBUDT_FLAG "")
if(UDTCAT_LIBUDT)
  set(UDTCAT_LIBUDT_FLAG " -ludt")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/udtcat.pc.in" "${PROJECT_BINARY_DIR}/package/udtcat.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/udtcat.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

foreach(section 1 5)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
  install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()
# One page for the three commands of trees.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")
foreach(command receive verify)
  set(page "${PROJECT_BINARY_DIR}/man/udtcat-${command}.1")
  file(CREATE_LINK udtcat-send.1 "${page}" SYMBOLIC)
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endforeach()
# A shell looks for a command's completion by its name; the files are the same for both.
foreach(command udtcat udr)
  foreach(completion bash-completion/completions/${command}=bash zsh/vendor-completions/_${command}=zsh
                     fish/vendor_completions.d/${command}.fish=fish)
    string(REGEX MATCH "^(.*)/([^/]*)=(.*)$" completion "${completion}")
    install(FILES "${PROJECT_SOURCE_DIR}/wrappers/completion/udtcat.${CMAKE_MATCH_3}" RENAME "${CMAKE_MATCH_2}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_1}")
  endforeach()
endforeach()
set(pages "${PROJECT_SOURCE_DIR}/README.md")
foreach(page guide threat-model comparison life-of-a-byte packages SECURITY)
  list(APPEND pages "${PROJECT_SOURCE_DIR}/docs/${page}.md")
endforeach()
install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/monitoring" "${PROJECT_SOURCE_DIR}/docs/recipes" "${PROJECT_SOURCE_DIR}/docs/spec"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(CODE "set(UDTCAT_PAGES \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/Pages.cmake")
# Behind the pages, which do not lead there: the examples are in a package of their own.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
