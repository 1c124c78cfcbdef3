// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/progress.hpp"

#include "sextant/core/text.hpp"

#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant {

namespace {

constexpr Seconds between_changes = .1, between_lines = 30;

} // namespace

Seconds Progress::steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Progress::Progress(bool speaks, std::FILE* to, std::function<Seconds()> clock)
    : to_(to),
      clock_(std::move(clock)),
      speaks_(speaks),
      terminal_(isatty(fileno(to)) == 1),
      logged_(clock_()) {}

void Progress::say(std::string_view what) {
    if (!speaks_)
        return;
    if (terminal_) {
        std::fputs(fmt::format("\r\033[K{} ...", printable(what)).c_str(), to_);
        shown_ = true;
    } else if (const Seconds time = clock_(); time - logged_ >= between_lines) {
        std::fputs(fmt::format("sextant: {}\n", printable(bounded_message(what))).c_str(), to_);
        logged_ = time;
    }
    std::fflush(to_);
}

void Progress::say(std::string_view part, std::int64_t done, std::int64_t all) {
    if (!speaks_)
        return;
    const Seconds time = clock_();
    if (part_ != part) {
        part_ = part;
        part_began_ = time;
    } else if (time - said_ < between_changes) {
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
        std::fputs("\r\033[K", to_);
    shown_ = false;
}

} // namespace sextant
