// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace sextant::operation {

Progress::Progress(bool speaks) : speaks_(speaks && isatty(STDERR_FILENO) == 1) {}

void Progress::say(std::string_view what) {
    if (!speaks_)
        return;
    std::fprintf(stderr, "\r\033[K%.*s ...", static_cast<int>(what.size()), what.data());
    std::fflush(stderr);
    shown_ = true;
}

void Progress::clear() {
    if (shown_)
        std::fputs("\r\033[K", stderr);
    shown_ = false;
}

} // namespace sextant::operation
