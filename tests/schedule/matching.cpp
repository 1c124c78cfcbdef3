// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/matching.hpp"

#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/schedule/walk.hpp"

#include <stdexcept>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Rank 0 sends messages of the sizes `sent`; rank 1 receives messages of the sizes `received`.
Schedule two_ranks(std::initializer_list<Elements> sent, std::initializer_list<Elements> received) {
    ProgramBuilder sender, receiver;
    const Region from = sender.input(100), to = receiver.scratch(100);
    for (Elements size : sent)
        sender.send(1, block(from.buffer, 0, size));
    for (Elements size : received)
        receiver.receive(0, block(to.buffer, 0, size));
    Schedule schedule;
    schedule.push_back(sender.finish({}));
    schedule.push_back(receiver.finish({}));
    return schedule;
}

std::string error_of(const Schedule& schedule) {
    return test::message_of<std::logic_error>([&] { match_messages(schedule); });
}

TEST(MatchMessages, pairs_the_kth_send_with_the_kth_receive) {
    const auto mates = match_messages(two_ranks({3, 4, 5}, {3, 4, 5}));
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(mates[0][static_cast<std::size_t>(k)].rank, 1);
        EXPECT_EQ(mates[0][static_cast<std::size_t>(k)].step, k);
        EXPECT_EQ(mates[1][static_cast<std::size_t>(k)].rank, 0);
        EXPECT_EQ(mates[1][static_cast<std::size_t>(k)].step, k);
    }
}

TEST(MatchMessages, leaves_folds_and_copies_unmatched) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    builder.copy(s, in);
    const auto mates = match_messages({builder.finish(s)});
    EXPECT_EQ(mates[0][0].rank, -1);
    EXPECT_EQ(mates[0][0].step, -1);
}

TEST(MatchMessages, counts_each_direction_of_each_pair_separately) {
    Schedule schedule;
    for (int rank = 0; rank < 3; ++rank) {
        ProgramBuilder builder;
        const Region in = builder.input(3), s = builder.scratch(9);
        for (int other = 2; other >= 0; --other) {
            if (other != rank)
                builder.receive(other, block(s.buffer, 3 * other, 3));
        }
        for (int other = 0; other < 3; ++other) {
            if (other != rank)
                builder.send(other, in);
        }
        schedule.push_back(builder.finish({}));
    }
    const auto mates = match_messages(schedule);
    for (int rank = 0; rank < 3; ++rank) {
        for (int step = 0; step < 4; ++step) {
            const auto mate = mates[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)];
            const auto back =
                mates[static_cast<std::size_t>(mate.rank)][static_cast<std::size_t>(mate.step)];
            EXPECT_EQ(back.rank, rank);
            EXPECT_EQ(back.step, step);
        }
    }
}

TEST(MatchMessages, allows_both_sides_to_divide_a_message_differently) {
    Schedule schedule = two_ranks({6}, {});
    ProgramBuilder builder;
    const Region s = builder.scratch(20);
    builder.receive(0, {{Region{s.buffer, 0, 1, 3, 4}, block(s.buffer, 15, 2)}});
    schedule[1] = builder.finish({});
    EXPECT_EQ(error_of(schedule), "");
}

TEST(MatchMessages, names_both_ranks_of_an_unmatched_message) {
    EXPECT_THAT(error_of(two_ranks({3, 3}, {3})),
                HasSubstr("rank 0 sends 2 messages to rank 1, which receives 1"));
    EXPECT_THAT(error_of(two_ranks({}, {3})),
                HasSubstr("rank 0 sends 0 messages to rank 1, which receives 1"));
}

TEST(MatchMessages, names_both_steps_if_sizes_differ) {
    EXPECT_EQ(error_of(two_ranks({3, 4}, {3, 5})),
              "rank 0, step 1 sends 4 elements; rank 1, step 1 expects 5");
}

TEST(MatchMessages, refuses_peers_that_do_not_exist_or_are_the_rank_itself) {
    for (int peer : {0, -1, 2, 1000000}) {
        Schedule schedule = two_ranks({3}, {3});
        schedule[0].steps[0].peer = peer;
        EXPECT_THAT(error_of(schedule),
                    HasSubstr("rank 0, step 0: no such peer: " + std::to_string(peer)));
    }
}

TEST(MessageTags, count_the_messages_of_each_direction_with_each_peer) {
    ProgramBuilder builder;
    const Region in = builder.input(1), s = builder.scratch(1);
    for (int peer : {1, 2, 1}) {
        builder.send(peer, in);
        builder.receive(peer, s);
    }
    builder.fold(s, {in, s});
    builder.send(2, in);
    EXPECT_THAT(message_tags(builder.finish(s)), ElementsAre(0, 0, 0, 0, 1, 1, 0, 1));
}

TEST(Activity, has_a_name_for_every_kind) {
    EXPECT_EQ(name(Activity::send), "send");
    EXPECT_EQ(name(Activity::receive), "receive");
    EXPECT_EQ(name(Activity::fold), "fold");
    EXPECT_EQ(name(Activity::copy), "copy");
    EXPECT_EQ(name(Activity::wait), "wait");
}

} // namespace
} // namespace sextant
