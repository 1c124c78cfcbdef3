// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(BuiltInProfile, has_a_cost_for_every_operator_and_element_format) {
    for (const kernel::Family& family : kernel::catalogue()) {
        for (const Operator& op : family.operators) {
            EXPECT_NE(machine::built_in().find_operator(op.name, channels(op.element)), nullptr)
                << op.name << " " << op.element.name;
        }
    }
}

} // namespace
} // namespace sextant
