# SPDX-License-Identifier: BSD-3-Clause
# Copies the public headers (chapters) from `source` to `to`, except those in the list `without`, and the headers that
# they include to `to`/detail.
cmake_policy(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/installed_headers.cmake")
file(REMOVE_RECURSE "${to}")
installed_headers("${source}" "${without}" headers)
foreach(header IN LISTS headers)
    file(READ "${source}/${header}" text)
    string(REGEX REPLACE "#include \"sextant/([a-z0-9_]+/)" "#include \"sextant/detail/\\1" text "${text}")
    if(header MATCHES "/")
        set(header "detail/${header}")
    endif()
    file(WRITE "${to}/${header}" "${text}")
endforeach()
