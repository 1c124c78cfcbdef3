// SPDX-License-Identifier: BSD-3-Clause
// Every transferred element must be used, even if it is only copied.
#include "sextant/schedule/prove.hpp"

#include "tests/support/two_ranks.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::anything;
using test::written;
using test::wrong_with_receiver;
using testing::HasSubstr;

struct Transfer {
    const char* what;
    int messages;
    const char* text;
};

TEST(ProveUse, refuses_a_transfer_that_is_not_used) {
    for (const Transfer& row : {
             Transfer{"never read", 1, "scratch s 4; receive 0 s; result in"},
             {"one element is never read", 1,
              "scratch s 4; scratch t 3; receive 0 s; fold t s[0+3] in[0+3]; result t"},
             {"overwritten by a copy", 1, "scratch s 4; receive 0 s; copy s in; result s"},
             {"overwritten by the next message", 2,
              "scratch s 4; receive 0 s; receive 0 s; result s"},
             {"partly overwritten by the next message", 2,
              "scratch s 7; receive 0 s[0+4]; receive 0 s[3+4]; result s"},
             {"only copied", 1,
              "scratch s 4; scratch t 4; scratch u 4; receive 0 s; copy t s; copy u t; result in"},
             {"its only copy is overwritten", 1,
              "scratch s 4; scratch t 4; receive 0 s; copy t s; copy s in; copy t in; result t"},
             {"one element is only copied", 1,
              "scratch s 4; scratch t 4; receive 0 s; copy t s; result t[0+3]"},
         })
        EXPECT_THAT(wrong_with_receiver(row.messages, row.text), HasSubstr("dead transfer"))
            << row.what;
    EXPECT_THAT(wrong_with_receiver(1, "scratch s 4; receive 0 s; result in"),
                HasSubstr("rank 1, step 0 (receive from rank 0): dead transfer"));
}

TEST(ProveUse, accepts_a_transfer_that_is_used_itself_or_by_a_copy) {
    for (const Transfer& row : {
             Transfer{"in the result", 1, "scratch s 4; receive 0 s; result s"},
             {"folded", 2,
              "scratch s 4; scratch t 4; receive 0 s; fold s s in; receive 0 t; copy s t; result "
              "s"},
             {"a copy of a copy is folded", 1,
              "scratch s 4; scratch t 4; scratch u 4; receive 0 s; copy t s; copy s in; copy u t; "
              "fold u u in; result s"},
             {"a copy is in the result", 1,
              "scratch s 4; scratch t 4; receive 0 s; copy t s; result t"},
         })
        EXPECT_EQ(wrong_with_receiver(row.messages, row.text), "") << row.what;
    const Schedule send_the_copy_back = {
        written("input in 4; scratch s 4; send 1 in; receive 1 s; result s"),
        written("input in 4; scratch s 4; scratch t 4; receive 0 s; copy t s; send 0 t; "
                "result in")};
    EXPECT_EQ(prove(send_the_copy_back, anything()).error, "");
}

} // namespace
} // namespace sextant
