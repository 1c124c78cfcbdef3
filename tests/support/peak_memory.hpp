// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::test {

/// Peak memory, in KiB, of a separate process that runs `work`, which must not fail.
template <class Work>
long peak_memory_of(Work&& work) {
    const pid_t child = fork();
    if (child == 0) {
        int code = 1;
        try {
            work();
            code = 0;
        } catch (const std::exception& error) {
            std::fputs(error.what(), stderr);
        }
        _exit(code);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return usage.ru_maxrss;
}

} // namespace sextant::test
