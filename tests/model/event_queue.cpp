// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/event_queue.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>

namespace sextant::model {
namespace {

TEST(EventQueue, returns_events_by_time_and_equal_times_in_the_order_of_addition) {
    EventQueue queue;
    EXPECT_EQ(queue.next(), std::numeric_limits<Seconds>::infinity());
    const std::vector<Seconds> times{2, -0., 1e300, -1, 0, -1e-9, 2, 5e-324, -1, 0};
    for (std::uint32_t event = 0; event < times.size(); ++event)
        queue.push(times[event], event);
    std::vector<std::uint32_t> order;
    while (!queue.empty()) {
        const Seconds next = queue.next();
        order.push_back(queue.pop());
        EXPECT_EQ(next, times[order.back()]);
    }
    EXPECT_THAT(order, testing::ElementsAre(3, 8, 5, 1, 4, 9, 7, 0, 6, 2));
}

} // namespace
} // namespace sextant::model
