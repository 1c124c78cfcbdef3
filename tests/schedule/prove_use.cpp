// SPDX-License-Identifier: BSD-3-Clause
// Every transferred element must be used, even if it is only copied.
#include "sextant/schedule/prove.hpp"

#include "tests/support/two_ranks.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::anything;
using test::two_ranks;
using test::wrong_with_receiver;
using testing::HasSubstr;

const char* dead_transfer = "dead transfer";

TEST(ProveUse, refuses_a_transfer_that_is_never_read) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        b.receive(0, b.scratch(4));
                                        return in;
                                    }),
                HasSubstr("rank 1, step 0 (receive from rank 0): dead transfer"));
}

TEST(ProveUse, refuses_a_transfer_with_one_element_that_is_never_read) {
    EXPECT_THAT(
        wrong_with_receiver(1,
                            [](ProgramBuilder& b, const Region& in) {
                                const Region slot = b.scratch(4), sum = b.scratch(3);
                                b.receive(0, slot);
                                b.fold(sum, {block(slot.buffer, 0, 3), block(in.buffer, 0, 3)});
                                return sum;
                            }),
        HasSubstr(dead_transfer));
}

TEST(ProveUse, refuses_a_transfer_that_a_copy_overwrites_before_it_is_read) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region slot = b.scratch(4);
                                        b.receive(0, slot);
                                        b.copy(slot, in);
                                        return slot;
                                    }),
                HasSubstr(dead_transfer));
}

TEST(ProveUse, refuses_a_transfer_that_the_next_message_overwrites_before_it_is_read) {
    const auto twice_into_one_slot = [](ProgramBuilder& b, const Region&) {
        const Region slot = b.scratch(4);
        b.receive(0, slot);
        b.receive(0, slot);
        return slot;
    };
    EXPECT_THAT(wrong_with_receiver(2, twice_into_one_slot), HasSubstr(dead_transfer));
}

TEST(ProveUse, refuses_a_transfer_partly_overwritten_by_the_next_message_before_it_is_read) {
    const auto overlapping = [](ProgramBuilder& b, const Region&) {
        const Region slot = b.scratch(7);
        b.receive(0, block(slot.buffer, 0, 4));
        b.receive(0, block(slot.buffer, 3, 4));
        return slot;
    };
    EXPECT_THAT(wrong_with_receiver(2, overlapping), HasSubstr(dead_transfer));
}

TEST(ProveUse, refuses_a_transfer_that_is_only_copied) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region slot = b.scratch(4), once = b.scratch(4);
                                        b.receive(0, slot);
                                        b.copy(once, slot);
                                        b.copy(b.scratch(4), once);
                                        return in;
                                    }),
                HasSubstr("rank 1, step 0 (receive from rank 0): dead transfer"));
}

TEST(ProveUse, refuses_a_transfer_whose_only_copy_is_overwritten) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region slot = b.scratch(4), copy = b.scratch(4);
                                        b.receive(0, slot);
                                        b.copy(copy, slot);
                                        b.copy(slot, in);
                                        b.copy(copy, in);
                                        return copy;
                                    }),
                HasSubstr(dead_transfer));
}

TEST(ProveUse, refuses_a_transfer_with_one_element_that_is_only_copied) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region&) {
                                        const Region slot = b.scratch(4), copy = b.scratch(4);
                                        b.receive(0, slot);
                                        b.copy(copy, slot);
                                        return block(copy.buffer, 0, 3);
                                    }),
                HasSubstr(dead_transfer));
}

TEST(ProveUse, accepts_a_transfer_whose_copy_is_used) {
    const auto fold_the_copy_of_a_copy = [](ProgramBuilder& b, const Region& in) {
        const Region slot = b.scratch(4), once = b.scratch(4), twice = b.scratch(4);
        b.receive(0, slot);
        b.copy(once, slot);
        b.copy(slot, in);
        b.copy(twice, once);
        b.fold(twice, {twice, in});
        return slot;
    };
    EXPECT_EQ(wrong_with_receiver(1, fold_the_copy_of_a_copy), "");
    const auto hold_the_copy = [](ProgramBuilder& b, const Region&) {
        const Region slot = b.scratch(4), copy = b.scratch(4);
        b.receive(0, slot);
        b.copy(copy, slot);
        return copy;
    };
    EXPECT_EQ(wrong_with_receiver(1, hold_the_copy), "");
    const Schedule send_the_copy_back = two_ranks([](ProgramBuilder& b, int rank) {
        const Region in = b.input(4), slot = b.scratch(4), copy = b.scratch(4);
        if (rank == 0) {
            b.send(1, in);
            b.receive(1, slot);
            return slot;
        }
        b.receive(0, slot);
        b.copy(copy, slot);
        b.send(0, copy);
        return in;
    });
    EXPECT_EQ(prove(send_the_copy_back, anything()).error, "");
}

TEST(ProveUse, accepts_a_transfer_that_is_read_forwarded_or_in_the_result) {
    EXPECT_EQ(wrong_with_receiver(1,
                                  [](ProgramBuilder& b, const Region&) {
                                      const Region slot = b.scratch(4);
                                      b.receive(0, slot);
                                      return slot;
                                  }),
              "");
    EXPECT_EQ(wrong_with_receiver(2,
                                  [](ProgramBuilder& b, const Region& in) {
                                      const Region slot = b.scratch(4);
                                      b.receive(0, slot);
                                      b.fold(slot, {slot, in});
                                      const Region other = b.scratch(4);
                                      b.receive(0, other);
                                      b.copy(slot, other);
                                      return slot;
                                  }),
              "");
}

} // namespace
} // namespace sextant
