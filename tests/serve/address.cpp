// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/address.hpp"

#include "sextant/core/error.hpp"

#include <gmock/gmock.h>

namespace sextant::serve {
namespace {

TEST(ServeAddress, is_loopback_unless_another_host_is_named) {
    EXPECT_EQ(parse_address("8080").text(), "127.0.0.1:8080");
    EXPECT_EQ(parse_address(":8080").text(), "127.0.0.1:8080");
    EXPECT_EQ(parse_address("[::1]:8080").text(), "[::1]:8080");
    for (const char* text : {"8080", "127.0.0.1:1", "127.8.0.1:1", "localhost:1", "[::1]:1"})
        EXPECT_TRUE(parse_address(text).is_loopback()) << text;
    for (const char* text : {"0.0.0.0:1", "192.168.1.2:1", "[::]:1"})
        EXPECT_FALSE(parse_address(text).is_loopback()) << text;
}

TEST(ServeAddress, other_texts_are_refused) {
    for (const char* text :
         {"", "pear", "pear:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
          "127.0.0.1:80x", "::1:80", "127.0.0.1:80:80", "127.evil.example:80"})
        EXPECT_THROW(parse_address(text), InvalidTask) << text;
}

TEST(ServeAddress, a_host_header_names_the_server_by_an_address_and_its_port) {
    const Address here{"127.0.0.1", 8080};
    for (const char* good : {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"})
        EXPECT_TRUE(names_server(good, here)) << good;
    for (const char* bad :
         {"", "127.0.0.1", "127.0.0.1:80", "evil.example:8080", "192.168.1.2:8080",
          "127.0.0.1.evil.example:8080", "127.evil.example:8080", "user@127.0.0.1:8080", ":8080"})
        EXPECT_FALSE(names_server(bad, here)) << bad;
    const Address open{"0.0.0.0", 8080};
    EXPECT_TRUE(names_server("192.168.1.2:8080", open));
    EXPECT_FALSE(names_server("evil.example:8080", open));
}

TEST(ServeAddress, tokens_are_random_hexadecimal_digits) {
    const std::string one = random_token();
    EXPECT_THAT(one, testing::MatchesRegex("[0-9a-f]*"));
    EXPECT_EQ(one.size(), 32U);
    EXPECT_NE(one, random_token());
}

} // namespace
} // namespace sextant::serve
