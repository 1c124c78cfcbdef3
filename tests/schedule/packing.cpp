// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_gather.hpp"
#include "sextant/schedule/builder.hpp"

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Packing, copies_strided_data_into_contiguous_messages) {
    const Grid columns{4, 6, 2, 1};
    const Program program = collective::flat_scatter(columns, 0);
    ASSERT_EQ(program.steps.size(), 1u);
    const Program packed = with_packed_messages(program);
    ASSERT_EQ(packed.steps.size(), 2u);
    EXPECT_EQ(packed.steps[0].verb, Verb::copy);
    EXPECT_EQ(packed.regions_of(packed.steps[0])[0], program.regions_of(program.steps[0])[0]);
    EXPECT_EQ(packed.steps[1].verb, Verb::send);
    EXPECT_EQ(packed.steps[1].peer, 1);
    EXPECT_EQ(packed.regions_of(packed.steps[1])[0], packed.steps[0].to);
    EXPECT_TRUE(packed.steps[0].to.contiguous());
    EXPECT_EQ(packed.buffers.size(), program.buffers.size() + 1);
    EXPECT_EQ(packed.buffers.back().size, 2 * 6);
}

TEST(Packing, leaves_contiguous_messages_unchanged) {
    const Grid rows{4, 6, 1, 2};
    for (const int rank : {0, 1}) {
        const Program program = collective::flat_scatter(rows, rank);
        const Program packed = with_packed_messages(program);
        EXPECT_EQ(packed.steps.size(), program.steps.size());
        EXPECT_EQ(packed.buffers.size(), program.buffers.size());
    }
}

} // namespace
} // namespace sextant::test
