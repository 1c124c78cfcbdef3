// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile.hpp"

#include <gtest/gtest.h>

namespace sextant::machine {
namespace {

TEST(ProfileValues, list_every_value_of_a_profile_with_its_precision) {
    Profile profile;
    LinkCosts link;
    link.link = Link::same_node;
    link.curves = {{Path::full, Layout::cc, Strategy::contiguous, {}, {{64, 64, {2, 1, 3, 9}}}},
                   {Path::full, Layout::nn, Strategy::datatype, {}, {{64, 16, exactly(2)}}}};
    profile.links = {link};
    profile.operators = {{"over", "f32", {}, {{8, 2, {1, .99, 1.01, 9}}}, {}, {}}};
    profile.copies = {{0, exactly(1), {}}};
    const std::vector<NamedValue> values = values_of(profile);
    ASSERT_EQ(values.size(), 4u);
    EXPECT_EQ(values[0].group + ": " + values[0].what, "same node full cc contiguous: 64 B");
    EXPECT_EQ(values[1].what, "64 B in 16");
    EXPECT_EQ(values[2].group + ": " + values[2].what, "over f32: 8 of 2");
    EXPECT_EQ(values[3].what, "whole");
    const Precision worth = worth_of(profile, .02);
    EXPECT_EQ(worth.values, 4);
    EXPECT_EQ(worth.wide, 1);
    EXPECT_NEAR(worth.nine_in_ten, .5, 1e-9); // the largest of only four values
    EXPECT_EQ(worth_of({}, .02).values, 0);
}

} // namespace
} // namespace sextant::machine
