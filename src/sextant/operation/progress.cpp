// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/progress.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::operation {

namespace {

Seconds now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

Progress::Progress(bool speaks) : speaks_(speaks && isatty(STDERR_FILENO) == 1) {}

void Progress::say(std::string_view what) {
    if (!speaks_)
        return;
    std::fprintf(stderr, "\r\033[K%.*s ...", static_cast<int>(what.size()), what.data());
    std::fflush(stderr);
    shown_ = true;
}

void Progress::say(std::string_view part, std::int64_t done, std::int64_t all) {
    if (!speaks_)
        return;
    const Seconds time = now();
    if (part_ != part) {
        part_ = part;
        part_began_ = time;
    } else if (time - said_ < .1) {
        return;
    }
    said_ = time;
    std::string text = fmt::format("{} {} of {}", part, done, all);
    if (done > 0)
        text += fmt::format(", {:.0f} s left", (time - part_began_) / static_cast<double>(done) *
                                                   static_cast<double>(all - done));
    say(text);
}

void Progress::clear() {
    if (shown_)
        std::fputs("\r\033[K", stderr);
    shown_ = false;
}

} // namespace sextant::operation
