// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/progress.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace sextant::command {
namespace {

/// The log of a Progress object, with a clock set by the test.
class ProgressInALog : public testing::Test {
  protected:
    std::string written() const {
        std::rewind(log.get());
        std::string text;
        for (int c = std::fgetc(log.get()); c != EOF; c = std::fgetc(log.get()))
            text += static_cast<char>(c);
        return text;
    }

    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log{std::tmpfile(), std::fclose};
    Seconds now = 1000;
    const std::function<Seconds()> clock = [this] { return now; };
};

TEST_F(ProgressInALog, prints_one_line_every_30_seconds) {
    {
        Progress progress(true, log.get(), clock);
        for (int done = 0; done < 95; ++done, ++now)
            progress.say("round", done, 95);
    }
    EXPECT_EQ(written(), "sextant: round 30 of 95, 65 s left\n"
                         "sextant: round 60 of 95, 35 s left\n"
                         "sextant: round 90 of 95, 5 s left\n");
}

TEST_F(ProgressInALog, omits_parts_that_take_little_time) {
    {
        Progress progress(true, log.get(), clock);
        for (int done = 0; done < 29; ++done, ++now)
            progress.say(done < 10 ? "read" : "write");
    }
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressInALog, is_printed_by_one_rank_only) {
    {
        Progress progress(false, log.get(), clock);
        now += 60;
        progress.say("round", 1, 2);
        progress.say("average");
    }
    EXPECT_EQ(written(), "");
}

} // namespace
} // namespace sextant::command
