// SPDX-License-Identifier: BSD-3-Clause
// The options of `sextant reproduce`.
#include "papers/reproduce.hpp"

#include "sextant/core/error.hpp"

#include <map>
#include <string>
#include <vector>

#include "tests/support/list_options.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

using Given = std::map<std::string, std::vector<std::string>>;

std::string refusal(const Given& given) {
    const command::Commands all = catalogue();
    try {
        command::run_command(*all.operations().front(), given);
    } catch (const InvalidTask& error) {
        return error.what();
    }
    return "";
}

TEST(ReproduceCommand, refuses_options_that_have_no_effect_and_sizes_that_are_too_small) {
    using testing::HasSubstr;
    // A process normally runs one command, so options keep their values between these cases. No
    // case needs an option of another.
    EXPECT_THAT(refusal({{"paper", {"p3pc"}}, {"ranks", {"4"}}}),
                HasSubstr("ranks has no effect here: it is used with --size"));
    EXPECT_THAT(refusal({{"paper", {"c3"}}, {"size", {"64x64"}}}),
                HasSubstr("size has no effect here: it applies to paper p3pc"));
    EXPECT_THAT(refusal({{"paper", {"p3pc"}}, {"values", {"50"}}}),
                HasSubstr("values 50: expected a whole number from 100"));
    EXPECT_THAT(refusal({{"paper", {"p3pc"}}, {"size", {"64x4"}}, {"ranks", {"8"}}}),
                HasSubstr("image of 64x4 pixels on 1x8 ranks, expected at most one"));
    EXPECT_THAT(refusal({{"paper", {"p3p"}}}), HasSubstr("unknown paper 'p3p'"));
}

TEST(ReproduceCommand, takes_lists_and_optional_values_like_other_commands) {
    EXPECT_GT(command::check_lists(catalogue()), 0);
    EXPECT_GT(command::check_optional_values(catalogue()), 0);
}

} // namespace
} // namespace sextant::papers
