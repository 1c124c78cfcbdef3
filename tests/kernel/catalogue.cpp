// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/catalogue.hpp"

#include "sextant/core/error.hpp"

#include <set>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

TEST(KernelCatalogue, rows_are_complete_and_found_by_name_and_element) {
    std::set<std::string_view> seen;
    for (const kernel::Family& family : kernel::catalogue()) {
        EXPECT_TRUE(seen.insert(family.name).second) << family.name << " twice";
        EXPECT_EQ(&kernel::find_family(family.name), &family);
        EXPECT_FALSE(family.summary.empty());
        std::set<std::string_view> elements;
        for (const Operator& op : family.operators) {
            EXPECT_TRUE(elements.insert(op.element.name).second) << op.element.name << " twice";
            EXPECT_EQ(&kernel::find(family.name, op.element), &op);
            EXPECT_EQ(op.name, family.name);
            EXPECT_EQ(op.summary, family.summary);
            EXPECT_EQ(op.commutative, family.operators[0].commutative);
            EXPECT_GT(op.element.size, 0);
            EXPECT_TRUE(op.fold && op.fill_identity);
        }
    }
}

TEST(KernelCatalogue, the_default_element_is_rgba_f32) {
    EXPECT_EQ(&kernel::find("over"), &kernel::find("over", rgba_f32));
}

std::string refusal(std::string_view name, const ElementFormat& element) {
    return test::message_of<InvalidTask>([&] { kernel::find(name, element); });
}

TEST(KernelCatalogue, an_unknown_operator_is_refused_with_similar_names) {
    EXPECT_THAT(refusal("nearst", rgba_f32), testing::HasSubstr("did you mean nearest?"));
}

TEST(KernelCatalogue, an_unsupported_element_is_refused_naming_the_supported_ones) {
    EXPECT_EQ(refusal("nearest", rgba_f16), "the operator 'nearest' does not support rgba f16; it "
                                            "supports rgba+depth f32, rgba u8+depth f32");
}

} // namespace
} // namespace sextant
