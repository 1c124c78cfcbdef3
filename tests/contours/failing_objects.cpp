// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/failing_objects.hpp"

#include "sextant/comm/threads.hpp"

namespace sextant::test {
namespace {

const bool failing_added = add_cases("FailingObjects", failing_object_cases(), on_threads);

TEST(FailingObjects, a_failure_does_not_affect_completed_calls) {
    for (const int ranks : {1, 2, 3, 4, 7}) {
        run_threads(ranks, [](const Communicator& communicator) {
            a_failure_does_not_affect_completed_calls(communicator, 200);
        });
    }
}
TEST(FailingObjects, ranks_that_request_different_frames_all_name_them) {
    for (const bool all_change : {false, true}) {
        for (const int ranks : {2, 3}) {
            run_threads(ranks, [&](const Communicator& communicator) {
                ranks_that_request_different_frames_all_name_them(communicator, all_change);
            });
        }
    }
}

/// Returns what each rank's body throws, each of which ends by its exception.
std::vector<std::string> thrown_by_ranks(int ranks,
                                         const std::function<void(const Communicator&)>& body) {
    std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
    EXPECT_ANY_THROW(run_threads(ranks, [&](const Communicator& communicator) {
        try {
            body(communicator);
        } catch (const std::exception& error) {
            thrown[static_cast<std::size_t>(communicator.rank())] = error.what();
            throw;
        }
    }));
    return thrown;
}

constexpr int repeats = 50; // of a race

TEST(FailingObjects, ranks_that_end_by_different_requests_all_name_them) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto thrown = thrown_by_ranks(3, [](const Communicator& communicator) {
            Compositor compositor(communicator, small_shape, 1);
            const std::vector<RgbaF32> image(static_cast<std::size_t>(small_shape.elements()));
            const float red = communicator.rank() == 2 ? 1.f : 0.f;
            compositor.composite<RgbaF32>(image, {.background = RgbaF32{red, 0, 0, 1}});
        });
        for (const std::string& each : thrown)
            EXPECT_THAT(each, testing::StartsWith("ranks request different frames: rank 0: "));
    }
}
TEST(FailingObjects, a_rank_whose_operator_throws_gets_that_exception) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto thrown = thrown_by_ranks(3, [](const Communicator& communicator) {
            const auto add = [](double a, double b) {
                if (a == 2 || b == 2)
                    throw std::runtime_error("no numbers left");
                return a + b;
            };
            CollectiveTask task{.kind = CollectiveKind::all_reduce, .counts = {1}};
            task.op = element_operator<double>("sum", add);
            Collective collective(communicator, task);
            collective.run<double>(std::vector<double>{communicator.rank() == 2 ? 2. : 1.});
        });
        EXPECT_THAT(thrown, testing::Contains("no numbers left"));
    }
}
} // namespace
} // namespace sextant::test
