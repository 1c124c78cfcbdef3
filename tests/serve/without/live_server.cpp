// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/live_server.hpp"

#include "sextant/core/error.hpp"

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::serve {
namespace {

TEST(WithoutHttplib, reports_the_missing_package) {
    const std::string said = test::message_of<InvalidTask>([&] {
        LiveServer({"127.0.0.1", 8080}, "page");
    });
    EXPECT_THAT(said, testing::StartsWith("127.0.0.1:8080: "));
    EXPECT_THAT(said, testing::HasSubstr("libcpp-httplib-dev"));
}

} // namespace
} // namespace sextant::serve
