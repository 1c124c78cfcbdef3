// SPDX-License-Identifier: BSD-3-Clause
// What a build without SimGrid has in its place, compiled into this program in every build.
#include "sextant/core/error.hpp"
#include "sextant/simulate/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::simulate {
namespace {

TEST(SimulateWithout, says_which_package_is_missing) {
    EXPECT_FALSE(available());
    try {
        simulate({.schedule = {}, .platform = "any.json"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("install libsimgrid-dev"));
    }
}

} // namespace
} // namespace sextant::simulate
