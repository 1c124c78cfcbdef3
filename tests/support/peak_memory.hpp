// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

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

/// Peak memory, in KiB, of this process since forget_peak_memory().
inline long peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        long kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes)
            return kibibytes;
    }
    return 0;
}

/// Lowers the peak memory of this process to what it uses now. Returns false if the system cannot.
inline bool forget_peak_memory() {
    std::ofstream file("/proc/self/clear_refs");
    file << 5 << std::flush;
    return file.good() && peak_memory() > 0;
}

/// Forgets earlier peaks and returns the memory in use, in KiB. The later peak_memory() minus this
/// value is what a test needed. If the system cannot forget peaks, the difference is too small if
/// this process needed more memory before.
inline long memory_before() {
    forget_peak_memory();
    return peak_memory();
}

} // namespace sextant::test
