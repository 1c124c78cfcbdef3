// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"

#include <gmock/gmock.h>

namespace sextant::calibrate {
namespace {

TEST(LocalTopology, states_the_number_of_cores_and_is_reproducible) {
    const std::string first = topology_here();
    EXPECT_THAT(first, testing::ContainsRegex("[1-9][0-9]* cores?"));
    EXPECT_EQ(topology_here(), first);
}

} // namespace
} // namespace sextant::calibrate
