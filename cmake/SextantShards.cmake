# SPDX-License-Identifier: BSD-3-Clause
# Registers a GoogleTest program as `count` tests of ctest, PROGRAM.1, PROGRAM.2, ... (or PROGRAM), each of which runs a
# part of its tests in one process: a process per test would start several thousand programs. `count` is chosen by
# measured time, about 20 s per part. The other arguments are properties of these tests. If ctest is
# run with the environment variable GTEST_FILTER, only tests with these names run.
function(sextant_shards program count)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
        set(name ${program})
        if(count GREATER 1)
            math(EXPR number "${index} + 1")
            set(name ${program}.${number})
        endif()
        add_test(NAME ${name} COMMAND ${program})
        set_tests_properties(${name} PROPERTIES ENVIRONMENT
            "SEXTANT_PROBE=off;GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${index}" ${ARGN})
    endforeach()
endfunction()
