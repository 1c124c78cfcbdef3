// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the catalogue over threads, compared with the serial fold.
#include "tests/support/conformance_cases.hpp"

namespace sextant::test {
namespace {

const bool conformance_added =
    add_cases("Threads", conformance_cases(), on_threads) &&
    add_cases("Threads",
              {{"every_algorithm_equals_the_serial_fold_on_up_to_17_ranks",
                every_algorithm_equals_the_serial_fold,
                {5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
               {"arrival_order_matters_little_on_more_ranks",
                arrival_order_changes_results_only_within_the_rounding_bound,
                {5, 8, 12}}},
              on_threads) &&
    add_cases("Nodes",
              {GROUP_CASE(an_operator_exception_reaches_its_receivers_and_the_group_stays_usable)},
              on_nodes);

TEST(Threads, eight_layers_give_the_same_bits_on_any_number_of_ranks) {
    for (int ranks : {1, 2, 3, 5, 8}) {
        compositing::Task task = compositing::one_image_each(ranks, 4099, 0);
        for (int i = 0; i < ranks; ++i)
            task.layers[static_cast<std::size_t>(i)] = 8 * (i + 1) / ranks - 8 * i / ranks;
        run_threads(ranks, [&](const Communicator& communicator) {
            for (const char* algorithm : {"direct-send", "shift-based"}) {
                const auto& row = compositing::find(algorithm);
                expect_conformance(communicator, row, task, row.tunings(ranks).front(),
                                   Association::in_order, 1);
            }
        });
    }
}

} // namespace
} // namespace sextant::test
