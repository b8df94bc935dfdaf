# A folder under src/ is a room: one namespace, one object library. The product is the one library made of them (ADR-0002).
set_property(GLOBAL PROPERTY UDTCAT_ROOMS "")

# Platform code comes as twins: x_linux.cpp and x_default.cpp.
function(udtcat_keep_this_platform list_name)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(FILTER ${list_name} EXCLUDE REGEX "_default\\.cpp$")
  else()
    list(FILTER ${list_name} EXCLUDE REGEX "_linux\\.cpp$")
  endif()
  set(${list_name} "${${list_name}}" PARENT_SCOPE)
endfunction()

function(udtcat_objects name)
  add_library(udtcat_${name} OBJECT ${ARGN})
  set_target_properties(udtcat_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(udtcat_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(udtcat_${name} PRIVATE udtcat_compile
                        PUBLIC Boost::headers tl::expected fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
endfunction()

# What stands in `apart`, a folder of the room, is no part of it: see udtcat_libudt().
function(udtcat_room name)
  cmake_parse_arguments(room "" "APART" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  udtcat_keep_this_platform(sources)
  if(room_APART)
    list(FILTER sources EXCLUDE REGEX "/${name}/${room_APART}/")
  endif()
  udtcat_objects(${name} ${sources})
  set_property(GLOBAL APPEND PROPERTY UDTCAT_ROOMS ${name})
endfunction()

# Who links udtcat_libudt waits 0.1 s for libudt at each start. So the program links udtcat_no_libudt instead (ADR-0014).
function(udtcat_libudt)
  set(absent "${PROJECT_SOURCE_DIR}/src/transport/libudt/absent.cpp")
  udtcat_objects(no_libudt "${absent}")
  if(UDTCAT_STATIC)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/transport/libudt/*.cpp")
  udtcat_keep_this_platform(sources)
  list(REMOVE_ITEM sources "${absent}")
  udtcat_objects(libudt ${sources})
  target_link_libraries(udtcat_libudt PUBLIC UDT::udt)
endfunction()

# The object libraries of every room from the bottom up to `top`, that one included, and libudt with the transport.
function(udtcat_rooms_up_to top result)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  set(below "")
  foreach(room IN LISTS rooms)
    list(APPEND below udtcat_${room})
    if(room STREQUAL "transport")
      list(APPEND below udtcat_libudt)
    endif()
    if(room STREQUAL top)
      break()
    endif()
  endforeach()
  set(${result} "${below}" PARENT_SCOPE)
endfunction()

function(udtcat_library)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  list(APPEND rooms libudt)
  add_library(libudtcat STATIC)
  add_library(udtcat::udtcat ALIAS libudtcat)
  foreach(room IN LISTS rooms)
    target_sources(libudtcat PRIVATE $<TARGET_OBJECTS:udtcat_${room}>)
  endforeach()
  set_target_properties(libudtcat PROPERTIES OUTPUT_NAME udtcat EXPORT_NAME udtcat LINKER_LANGUAGE CXX)
  target_compile_features(libudtcat PUBLIC cxx_std_20)
  target_include_directories(libudtcat PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Public headers need Boost and tl::expected only; the rest is for the linker.
  target_link_libraries(libudtcat PUBLIC Boost::headers tl::expected Threads::Threads
                        PRIVATE fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto UDT::udt)
endfunction()

# The program, and the same with libudt, which takes its place for `--transport libudt`.
function(udtcat_program)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cpp")
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
  udtcat_keep_this_platform(sources)
  # All but main, so that tests can link it.
  add_library(udtcat_cli OBJECT ${sources})
  target_include_directories(udtcat_cli PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(udtcat_cli PRIVATE udtcat_compile OpenSSL::SSL
                        PUBLIC Boost::headers tl::expected fmt::fmt spdlog::spdlog CLI11::CLI11 nlohmann_json::nlohmann_json)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  list(TRANSFORM rooms PREPEND udtcat_)
  udtcat_executable(udtcat ${rooms} udtcat_no_libudt)
  if(UDTCAT_STATIC)
    target_link_options(udtcat PRIVATE -static -s)
    set_target_properties(udtcat PROPERTIES OUTPUT_NAME udtcat-static)  # beside the other, for `udtcat rsh --push`
  else()
    udtcat_executable(udtcat-libudt libudtcat)
    add_dependencies(udtcat udtcat-libudt)
  endif()
endfunction()

function(udtcat_executable name)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE udtcat_cli udtcat_compile ${ARGN})
endfunction()
