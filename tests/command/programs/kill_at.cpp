// SPDX-License-Identifier: BSD-3-Clause
// A library to preload into a program under test. It counts the calls that change files. Before the
// call numbered KILL_AT it kills the process; from the call numbered FULL_AT on, writing fails as
// on a full disk. The number of calls is written to the file COUNT_CALLS when the process ends.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

std::atomic<long> calls{0};

long number_in(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : std::atol(text);
}

/// Counts a call. Returns false if the disk is to be full.
bool count(bool writes) {
    static const long kill_at = number_in("KILL_AT"), full_at = number_in("FULL_AT");
    const long call = ++calls;
    if (call == kill_at)
        kill(getpid(), SIGKILL);
    if (writes && full_at > 0 && call >= full_at) {
        errno = ENOSPC;
        return false;
    }
    return true;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct AtExit {
    ~AtExit() {
        const char* const path = std::getenv("COUNT_CALLS");
        if (path == nullptr)
            return;
        if (std::FILE* const file = std::fopen(path, "w")) {
            std::fprintf(file, "%ld\n", calls.load());
            std::fclose(file);
        }
    }
} at_exit;

} // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
    static const auto original = next<ssize_t(int, const void*, size_t)>("write");
    return file <= 2 || count(true) ? original(file, bytes, size) : -1;
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t position) {
    static const auto original = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return count(true) ? original(file, bytes, size, position) : -1;
}
int ftruncate(int file, off_t size) noexcept {
    static const auto original = next<int(int, off_t)>("ftruncate");
    return count(false) ? original(file, size) : -1;
}
int mkdir(const char* path, mode_t mode) noexcept {
    static const auto original = next<int(const char*, mode_t)>("mkdir");
    return count(true) ? original(path, mode) : -1;
}
int rename(const char* from, const char* to) noexcept {
    static const auto original = next<int(const char*, const char*)>("rename");
    return count(false) ? original(from, to) : -1;
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
    static const auto original =
        next<int(int, const char*, int, const char*, unsigned)>("renameat2");
    return count(false) ? original(from_folder, from, to_folder, to, flags) : -1;
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    static const auto original = next<int(int, const char*, int, const char*, int)>("linkat");
    return count(true) ? original(from_folder, from, to_folder, to, flags) : -1;
}
int unlink(const char* path) noexcept {
    static const auto original = next<int(const char*)>("unlink");
    return count(false) ? original(path) : -1;
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    static const auto original = next<int(int, const char*, int)>("unlinkat");
    return count(false) ? original(folder, path, flags) : -1;
}
int remove(const char* path) noexcept {
    static const auto original = next<int(const char*)>("remove");
    return count(false) ? original(path) : -1;
}
} // extern "C"
