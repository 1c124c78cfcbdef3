// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/list_options.hpp"

#include "sextant/lab/catalogue.hpp"

#include <gtest/gtest.h>

namespace sextant::lab {
namespace {

TEST(LabOptions, lists_take_commas_words_and_repetition_in_every_command) {
    EXPECT_GT(command::check_lists(catalogue()), 2);
}

TEST(LabOptions, an_optional_value_needs_an_equals_sign_in_every_command) {
    EXPECT_GT(command::check_optional_values(catalogue()), 1);
}

} // namespace
} // namespace sextant::lab
