// SPDX-License-Identifier: BSD-3-Clause
// The replacement for a build without OTF2, compiled into this program in every build.
#include "sextant/report/otf2.hpp"

#include "sextant/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::report {
namespace {

TEST(BuildWithoutOtf2, reports_the_missing_package) {
    EXPECT_FALSE(otf2_available());
    for (const auto& write :
         {+[] { require_otf2("run.otf2"); },
          +[] { write_otf2("run.otf2", {.name = "any", .ranks = 1, .trace = {}}); }}) {
        try {
            write();
            FAIL();
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("install libopen-trace-format2-dev"));
            EXPECT_THAT(error.what(), testing::HasSubstr("run.otf2: "));
        }
    }
}

} // namespace
} // namespace sextant::report
