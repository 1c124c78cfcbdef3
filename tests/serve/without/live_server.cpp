// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/live_server.hpp"

#include "sextant/core/error.hpp"

#include <gmock/gmock.h>

namespace sextant::serve {
namespace {

TEST(WithoutHttplib, reports_the_missing_package) {
    try {
        LiveServer({"127.0.0.1", 8080}, "page");
        FAIL() << "it serves";
    } catch (const InvalidTask& refused) {
        EXPECT_THAT(refused.what(), testing::StartsWith("127.0.0.1:8080: "));
        EXPECT_THAT(refused.what(), testing::HasSubstr("libcpp-httplib-dev"));
    }
}

} // namespace
} // namespace sextant::serve
