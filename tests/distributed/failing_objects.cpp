// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/failing_objects.hpp"

#include "sextant/comm/threads.hpp"

namespace sextant::test {
namespace {

void on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

TEST(FailingObjects, ARankWhoseObjectAnExceptionDestroysStopsTheOthers) {
    on_threads(a_rank_whose_object_an_exception_destroys_stops_the_others);
}
TEST(FailingObjects, ARankThatFailsOnPurposeTellsAllRanksWhy) {
    on_threads(a_rank_that_fails_on_purpose_tells_all_ranks_why);
}
TEST(FailingObjects, AFailureDoesNotAffectCompletedCalls) {
    on_threads([](const Communicator& communicator) {
        a_failure_does_not_affect_completed_calls(communicator, 200);
    });
}
TEST(FailingObjects, CallsInSwappedOrderAreNamedOnEveryRank) {
    on_threads(calls_in_swapped_order_are_named_on_every_rank);
}
TEST(FailingObjects, ObjectsMadeInSwappedOrderAreNamedOnEveryRank) {
    on_threads(objects_made_in_swapped_order_are_named_on_every_rank);
}

} // namespace
} // namespace sextant::test
