// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::string_view> names = {"direct-send", "radix-k", "binary-swap",
                                             "shift-based"};

std::string asked_for(std::string_view wanted) {
    return unknown_name("algorithm", wanted, names);
}

TEST(UnknownName, suggests_similar_names) {
    EXPECT_EQ(asked_for("radixk"), "unknown algorithm 'radixk'; did you mean radix-k?");
    EXPECT_EQ(asked_for("Radix-K"), "unknown algorithm 'Radix-K'; did you mean radix-k?");
    EXPECT_THAT(asked_for("direct_send"), HasSubstr("did you mean direct-send?"));
    EXPECT_THAT(asked_for("bianry-swap"), HasSubstr("did you mean binary-swap?"));
    EXPECT_THAT(asked_for("shiftbased"), HasSubstr("did you mean shift-based?"));
}

TEST(UnknownName, suggests_names_that_contain_the_given_text) {
    EXPECT_THAT(asked_for("swap"), HasSubstr("did you mean binary-swap?"));
    EXPECT_THAT(asked_for("radix"), HasSubstr("did you mean radix-k?"));
}

TEST(UnknownName, counts_a_transposition_as_one_change) {
    const std::vector<std::string_view> one = {"over"};
    EXPECT_EQ(unknown_name("operator", "voer", one), "unknown operator 'voer'; did you mean over?");
    EXPECT_EQ(unknown_name("operator", "voref", one),
              "unknown operator 'voref'; expected one of over");
}

TEST(UnknownName, lists_all_names_if_none_is_similar) {
    EXPECT_EQ(asked_for("gaussian"),
              "unknown algorithm 'gaussian'; expected one of direct-send, radix-k, "
              "binary-swap, shift-based");
    EXPECT_THAT(asked_for(""), HasSubstr("expected one of direct-send"));
}

TEST(UnknownName, accepts_an_empty_catalogue) {
    EXPECT_THAT(unknown_name("algorithm", "radix-k", {}), HasSubstr("unknown algorithm 'radix-k'"));
}

struct Row {
    std::string_view name;
    int value;
};
constexpr Row rows[] = {{"over", 1}, {"nearest", 2}, {"over", 3}};

TEST(FindByName, returns_the_first_row_with_the_name) {
    EXPECT_EQ(&find_by_name<Row>("operator", "nearest", rows), &rows[1]);
    EXPECT_EQ(&find_by_name<Row>("operator", "over", rows), &rows[0]);
}

TEST(FindByName, throws_if_no_row_has_the_name) {
    EXPECT_THAT([] { find_by_name<Row>("operator", "nearst", rows); },
                ThrowsMessage<InvalidTask>("unknown operator 'nearst'; did you mean nearest?"));
    EXPECT_THROW(find_by_name<Row>("operator", "", rows), InvalidTask);
    EXPECT_THROW(find_by_name<Row>("operator", "over", {}), InvalidTask);
}

TEST(Errors, have_types_that_distinguish_their_causes) {
    EXPECT_STREQ(InvalidFile("a.mrc", "is cut off").what(), "a.mrc: is cut off");
    EXPECT_EQ(InvalidFile("a.mrc", "is cut off").path(), "a.mrc");
    EXPECT_EQ(PeerFailed(3, "out of memory").rank(), 3);
    EXPECT_THROW(throw InvalidTask("no"), Error);
    EXPECT_THROW(throw CommunicationFailed("no"), Error);
}

} // namespace
} // namespace sextant
