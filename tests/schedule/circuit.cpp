// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/circuit.hpp"

#include "sextant/compositing/catalogue.hpp"

#include "tests/support/compositing_cases.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Circuit, counts_dependences_rather_than_program_order) {
    ProgramBuilder builder;
    const Region in = builder.input(4), out = builder.scratch(4);
    const auto element = [](const Region& of, Elements e) { return block(of.buffer, e, 1); };
    builder.fold(element(out, 0), {element(in, 0), element(in, 1)});
    builder.fold(element(out, 1), {element(in, 2), element(in, 3)}); // independent of the first
    builder.fold(element(out, 2), {element(out, 0), element(out, 1)});
    builder.copy(element(out, 3), element(out, 2));
    builder.fold(element(out, 3), {element(out, 3), element(in, 0), element(in, 1)});
    const Circuit read = circuit({builder.finish(out)});
    EXPECT_EQ(read.work, 5);
    EXPECT_EQ(read.span, 4);
}

TEST(Circuit, overwriting_a_value_resets_its_dependence_chain) {
    ProgramBuilder sender, receiver;
    sender.send(1, sender.input(1));
    const Region in = receiver.input(2), sum = receiver.scratch(1);
    const Region first = block(in.buffer, 0, 1), second = block(in.buffer, 1, 1);
    receiver.fold(sum, {first, second});
    receiver.receive(0, sum);
    receiver.fold(sum, {sum, first});
    const Circuit read = circuit({sender.finish({}), receiver.finish(sum)});
    EXPECT_EQ(read.work, 2);
    EXPECT_EQ(read.span, 1);
}

TEST(Circuit, agrees_with_the_proof_of_the_same_schedule) {
    std::vector<test::Case> cases;
    for (int ranks : {1, 2, 5, 8, 13}) {
        for (const auto& algorithm : compositing::catalogue()) {
            for (const auto& tuning : algorithm.tunings(ranks)) {
                const auto task = compositing::one_image_each(ranks, 3 * ranks + 1, ranks / 2);
                cases.push_back(test::compositing_case(algorithm, task, tuning));
            }
        }
        test::for_each_scan([&](const auto& algorithm, const auto& tuning, scan::Form form) {
            cases.push_back(test::scan_case(algorithm, {ranks, 3, form}, tuning));
        });
    }
    for (const test::Case& c : cases) {
        const Proof proof = test::proved(c);
        const Circuit read = circuit(c.schedule);
        EXPECT_EQ(read.work, proof.applications) << c.name;
        EXPECT_EQ(read.span, proof.depth) << c.name;
    }
}

TEST(Circuit, a_schedule_with_a_deadlock_is_refused) {
    ProgramBuilder builder;
    builder.receive(1, builder.scratch(1));
    EXPECT_THROW(circuit({builder.finish({}), Program{}}), std::logic_error);
}

TEST(Circuit, a_serial_scan_has_no_deficiency) {
    for (int ranks : {1, 2, 3, 10}) {
        const test::Case c =
            test::scan_case(scan::find("serial"), {ranks, 1, scan::Form::inclusive}, {});
        EXPECT_EQ(circuit(c.schedule).deficiency(ranks), 0);
    }
}

} // namespace
} // namespace sextant
