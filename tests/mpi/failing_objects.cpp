// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/failing_objects.hpp"

#include "sextant/comm/node_sharing.hpp"

#include "tests/mpi/groups.hpp"

namespace sextant::test {
namespace {

void in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(FailingObjectsOverMpi, ARankWhoseObjectAnExceptionDestroysStopsTheOthers) {
    in_every_group(a_rank_whose_object_an_exception_destroys_stops_the_others);
}
TEST(FailingObjectsOverMpi, ARankThatFailsOnPurposeTellsAllRanksWhy) {
    in_every_group(a_rank_that_fails_on_purpose_tells_all_ranks_why);
}
TEST(FailingObjectsOverMpi, AFailureDoesNotAffectCompletedCalls) {
    in_every_group([](const Communicator& communicator) {
        a_failure_does_not_affect_completed_calls(communicator, 20);
    });
}
TEST(FailingObjectsOverMpi, CallsInSwappedOrderAreNamedOnEveryRank) {
    in_every_group(calls_in_swapped_order_are_named_on_every_rank);
}
TEST(FailingObjectsOverMpi, FramesInSwappedOrderAreNamedOnEveryRank) {
    in_every_group(frames_in_swapped_order_are_named_on_every_rank);
}
TEST(FailingObjectsOverMpi, ARankThatChangesImagesAloneIsNamedOnEveryRank) {
    in_every_group(a_rank_that_changes_images_alone_is_named_on_every_rank);
}
TEST(FailingObjectsOverMpi, RanksThatRequestDifferentFramesAllNameThem) {
    for (const bool all_change : {false, true}) {
        for (const int size : group_sizes) {
            on_group(size, [&](const Communicator& communicator) {
                ranks_that_request_different_frames_all_name_them(communicator, all_change);
            });
        }
    }
}
TEST(FailingObjectsOverMpi, ObjectsMadeInSwappedOrderAreNamedOnEveryRank) {
    in_every_group(objects_made_in_swapped_order_are_named_on_every_rank);
}

/// Processes that share memory: after a failure, their communicator is not used again.
TEST(FailingObjectsOverMpi, AFailureStopsProcessesThatShareMemory) {
    in_every_group([](const Communicator& communicator) {
        if (communicator.size() == 1)
            return;
        const SharedNodes nodes = share_nodes(communicator, {0, Bytes{8} << 20});
        const int failed = communicator.size() / 2;
        if (communicator.rank() == failed) {
            EXPECT_THROW(
                {
                    const auto object = object_kinds()[0].make(nodes.communicator);
                    object->call();
                    throw std::runtime_error("no memory for textures");
                },
                std::runtime_error);
        } else {
            const auto object = object_kinds()[0].make(nodes.communicator);
            EXPECT_THAT(told_by_calls(*object, failed),
                        testing::HasSubstr("an exception destroyed its "));
        }
        communicator.barrier();
    });
}

} // namespace
} // namespace sextant::test
