// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/catalogue.hpp"

#include "sextant/model/c3.hpp"
#include "sextant/schedule/builder.hpp"

#include <set>

#include "tests/model/machines.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::model {
namespace {

using machine::Curve;
using machine::exactly;
using machine::Layout;
using machine::Link;
using machine::Path;
using machine::Strategy;
using testing::Contains;
using testing::HasSubstr;

/// Rank 0 sends `count` runs of `length` elements, `stride` apart, to rank 1 as one message.
Schedule strided(Elements length, Elements count, Elements stride) {
    return make_schedule(2, [=](int rank) {
        ProgramBuilder builder;
        if (rank == 0) {
            const Region all = builder.input(stride * count);
            builder.send(1, Region{all.buffer, 0, length, stride, count});
            return builder.finish({});
        }
        const Region got = builder.scratch(length * count);
        builder.receive(0, got);
        return builder.finish(got);
    });
}

Curve curve(Path path, Layout layout, Strategy strategy, std::vector<machine::Point> points) {
    return {path, layout, strategy, {}, std::move(points)};
}

/// A machine where every path costs 1 s, plus 1 s per byte of contiguous data, 3 s per byte in
/// blocks of 4 bytes, or 2 s per byte in blocks of 16 bytes.
machine::Profile detailed_machine(Link where = Link::same_node) {
    machine::Profile profile;
    profile.name = "detailed";
    machine::LinkCosts link;
    link.link = where;
    for (Path path : {Path::send, Path::receive, Path::full}) {
        link.curves.push_back(curve(path, Layout::cc, Strategy::contiguous,
                                    {{0, 0, exactly(1)}, {1000, 1000, exactly(1001)}}));
        link.curves.push_back(curve(path, Layout::nc, Strategy::datatype,
                                    {{0, 0, exactly(1)},
                                     {100, 4, exactly(301)},
                                     {100, 16, exactly(201)},
                                     {1000, 4, exactly(3001)},
                                     {1000, 16, exactly(2001)}}));
    }
    profile.links = {link};
    return profile;
}

double seconds(const char* model, const Schedule& schedule, const machine::Profile& machine,
               Strategy strategy = Strategy::datatype) {
    return find(model)
        .predict({.schedule = schedule, .machine = machine, .element_size = 1, .strided = strategy})
        .seconds;
}

TEST(CostModels, have_unique_names_and_are_found_by_them) {
    std::set<std::string_view> names;
    for (const Model& model : catalogue()) {
        EXPECT_TRUE(names.insert(model.name).second);
        EXPECT_EQ(&find(model.name), &model);
        EXPECT_FALSE(model.source.empty());
    }
    EXPECT_EQ(names.size(), 7u);
    EXPECT_THROW(find("p4pc"), InvalidTask);
}

TEST(CostModels, name_costs_missing_from_a_profile) {
    const Schedule schedule = strided(4, 10, 8);
    const auto refusal = [&](const char* model, const char* machine) {
        return test::message_of<CannotExpress>(
            [&] { test::predicted(model, schedule, test::shipped_machine(machine), 4); });
    };
    EXPECT_THAT(refusal("p3pc", "ddr-infiniband"),
                HasSubstr("ddr-infiniband lacks the cost of the send path"));
    EXPECT_THAT(refusal("hockney", "delta256"), HasSubstr("has no costs of messages to the other"));
    EXPECT_THAT(refusal("c3", "das"), HasSubstr("das has no C3 parameters"));
    EXPECT_EQ(refusal("hockney", "das"), "");
    EXPECT_EQ(refusal("loggp", "das"), "");
    EXPECT_EQ(refusal("3pc", "das"), "");
}

TEST(CostModels, remark_on_missing_operator_costs_and_extrapolation) {
    const machine::Profile das = test::shipped_machine("das");
    const auto task = compositing::one_image_each(4, 4 << 20);
    const Schedule schedule = make_schedule(4, [&](int rank) {
        return compositing::program(compositing::find("direct-send"), task, {}, rank);
    });
    const Prediction prediction = find("p3pc").predict(
        {.schedule = schedule, .machine = das, .element_size = 16, .operator_name = "over"});
    EXPECT_THAT(
        prediction.remarks,
        Contains(HasSubstr(
            "folds are predicted to take no time: the profile of das has no operator 'over'")));
    EXPECT_THAT(prediction.remarks, Contains(HasSubstr("are outside the range measured on das")));
}

TEST(CostModels, distinguish_ranks_on_the_same_node_from_other_nodes) {
    machine::Profile machine = detailed_machine(Link::same_node);
    machine.links.push_back(machine.links[0]);
    machine.links[1].link = Link::other_node;
    machine.links[1].hockney = machine::Hockney{exactly(100), exactly(10), {}};
    const Schedule schedule = strided(8, 1, 8);
    const auto on = [&](const std::vector<int>& nodes) {
        return find("hockney")
            .predict({.schedule = schedule, .machine = machine, .element_size = 1, .nodes = nodes})
            .seconds;
    };
    EXPECT_DOUBLE_EQ(on({0, 0}), 1 + 8);
    EXPECT_DOUBLE_EQ(on({0, 1}), 100 + 80);
    EXPECT_DOUBLE_EQ(on({}), 100 + 80);
    EXPECT_THROW(on({0}), CannotExpress);
}

TEST(CostModels, multiply_bytes_by_the_density) {
    const machine::Profile machine = detailed_machine();
    const Schedule schedule = strided(100, 1, 100);
    const Question sparse{
        .schedule = schedule, .machine = machine, .element_size = 1, .density = .25};
    EXPECT_DOUBLE_EQ(find("hockney").predict(sparse).seconds, 1 + 25);
}

TEST(LogGP, takes_twice_the_overhead_plus_latency_plus_the_gap_per_byte) {
    machine::Profile machine;
    machine.name = "loggp";
    machine.links = {{}};
    machine.links[0].loggp = machine::LogGP{exactly(7), exactly(2), exactly(3), exactly(.5), {}};
    const Schedule one = strided(10, 1, 10);
    EXPECT_DOUBLE_EQ(seconds("loggp", one, machine), 2 * 2 + 7 + 5);
}

TEST(P3pcExtended, charges_strides_by_block_length_unlike_p3pc) {
    const machine::Profile machine = detailed_machine();
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", strided(4, 25, 8), machine), 301);
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", strided(16, 20, 32), machine), 641);
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", strided(8, 25, 16), machine), 501) << "between";
    EXPECT_DOUBLE_EQ(seconds("p3pc", strided(4, 25, 8), machine),
                     seconds("p3pc", strided(20, 5, 30), machine));
}

TEST(P3pcExtended, predicts_packing_as_a_copy_if_packing_was_not_measured) {
    machine::Profile machine = detailed_machine();
    const Schedule schedule = strided(4, 25, 8);
    EXPECT_THROW(seconds("p3pc-extended", schedule, machine, Strategy::packing), CannotExpress);
    machine.copies = {{0, exactly(.1), {}}, {4, exactly(.5), {}}};
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", schedule, machine, Strategy::packing), 101 + 50);
    for (Path path : {Path::send, Path::receive, Path::full}) {
        machine.links[0].curves.push_back(curve(path, Layout::nc, Strategy::packing,
                                                {{0, 0, exactly(1)}, {100, 4, exactly(111)}}));
    }
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", schedule, machine, Strategy::packing), 111);
}

/// Rank 0 sends rank 1 `count` messages of 10 elements.
Schedule stream(int count) {
    return make_schedule(2, [&](int rank) {
        ProgramBuilder builder;
        const Region all = rank == 0 ? builder.input(10 * count) : builder.scratch(10 * count);
        for (int i = 0; i < count; ++i) {
            if (rank == 0)
                builder.send(1, block(all.buffer, 10 * i, 10));
            else
                builder.receive(0, block(all.buffer, 10 * i, 10));
        }
        return builder.finish(rank == 0 ? Region{} : all);
    });
}

TEST(P3pcExtended, sends_no_faster_than_the_saturated_gap_allows) {
    machine::Profile machine = detailed_machine(Link::other_node);
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", stream(5), machine), 5 * 11);
    machine.links[0].gap = {{10, 10, exactly(30)}};
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", stream(5), machine), 5 * 30);
    EXPECT_DOUBLE_EQ(seconds("p3pc", stream(5), machine), 5 * 11);
}

/// Each of 16 ranks sends 100 elements to every other rank.
Schedule crowd() {
    return make_schedule(16, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(100);
        for (int i = 1; i < 16; ++i) {
            builder.send((rank + i) % 16, own);
            builder.receive((rank - i + 16) % 16, builder.scratch(100));
        }
        return builder.finish({});
    });
}

TEST(P3pcExtended, predicts_longer_times_for_shared_and_slow_links) {
    machine::Profile machine = detailed_machine(Link::other_node);
    const double alone = seconds("p3pc-extended", crowd(), machine);
    const auto with_links = [&](double seconds_per_byte) {
        machine.network =
            machine::Network{{machine::Shape::mesh, {4, 4}}, exactly(seconds_per_byte), {}};
        return seconds("p3pc-extended", crowd(), machine);
    };
    EXPECT_NEAR(with_links(1e-9), alone, 1e-3);
    EXPECT_GT(with_links(.5), alone);
    EXPECT_GT(with_links(1), with_links(.5));
    machine.network->topology = {machine::Shape::hypercube, {16}};
    EXPECT_THROW(seconds("p3pc-extended", crowd(), machine), CannotExpress);
}

TEST(P3pcExtended, predicts_no_contention_if_the_profile_has_no_network) {
    const Schedule schedule = crowd();
    const machine::Profile machine = detailed_machine(Link::other_node);
    const Prediction prediction =
        find("p3pc-extended")
            .predict({.schedule = schedule, .machine = machine, .element_size = 1});
    EXPECT_GE(prediction.seconds, 15 * 101) << "each rank sends fifteen messages of 100 bytes";
    EXPECT_THAT(prediction.remarks, Contains(HasSubstr("contention is not modelled")));
}

TEST(P3pcExtended, lets_the_receiver_alone_copy_messages_between_threads) {
    const Schedule both = make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(100), got = builder.output(100);
        builder.send(1 - rank, own);
        builder.receive(1 - rank, got);
        return builder.finish(got);
    });
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", both, detailed_machine(Link::same_process)), 1 + 101)
        << "announced, then copied";
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", both, detailed_machine(Link::same_node)), 101 + 101)
        << "the processors copy the sent bytes, then the received ones";
}

/// Rank 1 combines rank 0's element with its own.
Schedule pair_that_folds() {
    return make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(100);
        if (rank == 0) {
            builder.send(1, own);
            return builder.finish({});
        }
        const Region got = builder.scratch(100), sum = builder.output(100);
        builder.receive(0, got);
        builder.fold(sum, {got, own});
        return builder.finish(sum);
    });
}

TEST(P3pcExtended, charges_no_transfer_between_threads_for_data_that_is_only_folded) {
    machine::Profile machine = detailed_machine(Link::same_process);
    machine.operators = {{.name = "over",
                          .element = "f32",
                          .seconds_per_element = exactly(2),
                          .passes = {},
                          .alone = {},
                          .origin = {}}};
    const std::vector<int> nodes = {0, 0};
    const auto predicted = [&](Link within) {
        const Schedule schedule = pair_that_folds();
        return find("p3pc-extended")
            .predict({.schedule = schedule,
                      .machine = machine,
                      .element_size = 1,
                      .operator_name = "over",
                      .nodes = nodes,
                      .within_node = within})
            .seconds;
    };
    EXPECT_DOUBLE_EQ(predicted(Link::same_process), 1 + 200)
        << "the cost of an empty message and of the fold";
    machine.links[0].curves.push_back(curve(Path::full, Layout::cc, Strategy::lending,
                                            {{0, 0, exactly(3)}, {100, 100, exactly(43)}}));
    EXPECT_DOUBLE_EQ(predicted(Link::same_process), 43 + 200);
    const Schedule schedule = pair_that_folds();
    EXPECT_DOUBLE_EQ(seconds("p3pc-extended", schedule, machine), 43)
        << "the profile has only this link";
    machine.links[0].link = Link::same_node;
    EXPECT_DOUBLE_EQ(predicted(Link::same_node), 101 + 200);
}

/// Rank 0 computes `bytes` bytes and sends them to rank 1.
Schedule pair_that_computes(Elements bytes) {
    return make_schedule(2, [=](int rank) {
        ProgramBuilder builder;
        const Region made = rank == 0 ? builder.scratch(bytes) : builder.output(bytes);
        if (rank == 1) {
            builder.receive(0, made);
            return builder.finish(made);
        }
        builder.compute(0, {}, {made});
        builder.send(1, made);
        return builder.finish({});
    });
}

TEST(P3pcExtended, charges_no_transfer_for_kernel_results_written_at_their_destination) {
    const std::vector<int> nodes = {0, 0};
    const auto predicted = [&](Link within, Elements bytes) {
        const machine::Profile machine = detailed_machine(within);
        const Schedule schedule = pair_that_computes(bytes);
        return find("p3pc-extended")
            .predict({.schedule = schedule,
                      .machine = machine,
                      .element_size = 1,
                      .nodes = nodes,
                      .within_node = within})
            .seconds;
    };
    EXPECT_DOUBLE_EQ(predicted(Link::same_process, 100'000), 1) << "the cost of an empty message";
    EXPECT_DOUBLE_EQ(predicted(Link::same_process, 1000), 1001)
        << "too small to be written at its destination";
    EXPECT_GT(predicted(Link::same_node, 100'000), 50'000);
}

} // namespace
} // namespace sextant::model
