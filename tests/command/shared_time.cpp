// SPDX-License-Identifier: BSD-3-Clause
// The time of a command on other numbers of cores than were measured.
#include "sextant/command/schedules/trials.hpp"

#include <gtest/gtest.h>

namespace sextant::command {
namespace {

TEST(SharedTime, is_inside_its_interval_on_more_cores_than_were_measured) {
    const SharedTime time = {{10, 9, 18}, {7, 7, 7.5}, 2};
    EXPECT_EQ(time.on(1).median, 10);
    EXPECT_EQ(time.on(2).median, 7);
    for (const int n : {1, 2, 3, 4, 100}) {
        const model::Span span = time.on(n);
        EXPECT_LE(span.low, span.median) << n;
        EXPECT_LE(span.median, span.high) << n;
    }
    EXPECT_EQ(time.on(2).high, 7.5);
    EXPECT_EQ((SharedTime{{4, 3, 5}, {4, 3, 5}, 1}.on(2).high), 5);
}

} // namespace
} // namespace sextant::command
