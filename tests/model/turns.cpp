// SPDX-License-Identifier: BSD-3-Clause
// Oversubscribed cores, and folds computed directly in another rank's buffer.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/critical_path.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/builder.hpp"

#include <gtest/gtest.h>

namespace sextant::model {
namespace {

using machine::exactly;
using machine::Link;

/// A machine with this number of cores, for threads of one process. Messages are free; folds take
/// 1 s per element and operand.
machine::Profile threads_on(int cores) {
    machine::Profile profile;
    profile.name = "threads";
    profile.cores = cores;
    machine::LinkCosts link;
    link.link = Link::same_process;
    profile.links = {link};
    profile.operators = {{.name = "over",
                          .element = "f32",
                          .seconds_per_element = exactly(1),
                          .passes = {},
                          .alone = {},
                          .origin = {}}};
    return profile;
}

/// Every rank folds two of its own images of this size.
Schedule folding(int ranks, Elements elements) {
    return make_schedule(ranks, [&](int) {
        ProgramBuilder builder;
        const Region a = builder.input(elements), b = builder.input(elements);
        const Region sum = builder.in_out(elements);
        builder.fold(sum, {a, b});
        return builder.finish(sum);
    });
}

Seconds seconds(const Schedule& schedule, const machine::Profile& machine,
                const std::vector<int>& nodes) {
    const Question question{.schedule = schedule,
                            .machine = machine,
                            .element_size = 16,
                            .operator_name = "over",
                            .nodes = nodes,
                            .within_node = Link::same_process};
    const auto free = [](const Message&) { return MessageCost{}; };
    return critical_path(question, {free, false}).seconds;
}

TEST(CoreQueue, ranks_work_concurrently_up_to_the_number_of_cores) {
    for (const int ranks : {1, 2, 3, 4, 7, 8}) {
        for (const int cores : {1, 2, 3, 4, 8}) {
            const std::vector<int> nodes(static_cast<std::size_t>(ranks), 0);
            EXPECT_DOUBLE_EQ(seconds(folding(ranks, 10), threads_on(cores), nodes),
                             10.0 * ((ranks + cores - 1) / cores))
                << ranks << " ranks on " << cores << " cores";
        }
    }
}

TEST(CoreQueue, every_node_has_its_own_cores) {
    EXPECT_DOUBLE_EQ(seconds(folding(6, 10), threads_on(2), {0, 0, 0, 1, 1, 1}), 20);
    EXPECT_DOUBLE_EQ(seconds(folding(6, 10), threads_on(2), {0, 0, 1, 1, 2, 2}), 10);
    EXPECT_DOUBLE_EQ(seconds(folding(6, 10), threads_on(2), {0, 0, 0, 0, 0, 1}), 30);
}

TEST(CoreQueue, cores_are_unlimited_if_their_number_is_unknown) {
    const std::vector<int> nodes(8, 0);
    EXPECT_DOUBLE_EQ(seconds(folding(8, 10), threads_on(0), nodes), 10);
}

TEST(CoreQueue, threads_share_an_unspecified_node_but_processes_do_not) {
    const machine::Profile machine = threads_on(2);
    EXPECT_TRUE(crowd_of(machine, {}, 3, Link::same_process).takes_turns());
    EXPECT_FALSE(crowd_of(machine, {}, 2, Link::same_process).takes_turns());
    EXPECT_FALSE(crowd_of(machine, {}, 3, Link::same_node).takes_turns());
    const std::vector<int> nodes{0, 1, 1, 1};
    EXPECT_EQ(crowd_of(machine, nodes, 4, Link::same_node).ranks, 3);
}

/// Two threads each fold half of an image that rank 0 collects.
TEST(CoreQueue, results_folded_in_place_for_another_thread_are_not_moved_again) {
    const machine::Profile& machine = machine::built_in();
    const std::vector<int> nodes(2, 0);
    const auto take = [&](int root) {
        const compositing::Task task = compositing::one_image_each(2, 1 << 20, root);
        const compositing::Configuration configuration{&compositing::find("direct-send"), {}};
        const Candidate candidate = compositing::candidate(task, configuration);
        const Schedule schedule = make_schedule(2, candidate.program);
        return find("p3pc-extended")
            .predict({.schedule = schedule,
                      .machine = machine,
                      .element_size = 16,
                      .operator_name = "over",
                      .nodes = nodes,
                      .within_node = Link::same_process})
            .seconds;
    };
    EXPECT_LT(take(0), take(compositing::Task::distributed) + 1e-5);
}

} // namespace
} // namespace sextant::model
