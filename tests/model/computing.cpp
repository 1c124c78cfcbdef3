// SPDX-License-Identifier: BSD-3-Clause
// The cost of compute steps, on a machine with round figures.
#include <array>

#include "tests/model/machines.hpp"
#include "tests/support/line_sums.hpp"
#include <gmock/gmock.h>

namespace sextant::model {
namespace {

using machine::exactly;

/// A message of any size takes 10 s; computing a sum takes 3 s.
machine::Profile slow_machine() {
    machine::Profile profile;
    profile.name = "slow";
    machine::LinkCosts link;
    link.hockney = machine::Hockney{exactly(10), exactly(0), {}};
    profile.links = {link};
    profile.kernels = {{.name = "sum",
                        .element = "f32",
                        .seconds_per_element = exactly(3),
                        .passes = {},
                        .alone = {},
                        .origin = {}}};
    return profile;
}

Prediction predicted(const machine::Profile& machine, std::span<const KernelUse> kernels) {
    const Schedule schedule = test::line_sums_case(3).schedule;
    return find("hockney").predict({.schedule = schedule,
                                    .machine = machine,
                                    .element_size = 4,
                                    .kernels = kernels,
                                    .timeline = true});
}

TEST(KernelCost, is_the_time_per_element_times_the_number_of_elements) {
    const std::array<KernelUse, 1> names = {{{"sum"}}};
    const Prediction prediction = predicted(slow_machine(), names);
    Seconds busy = 0;
    Elements made = 0;
    for (const Event& event : prediction.timeline.events) {
        if (event.activity == Activity::compute)
            busy += event.end - event.begin, made += event.elements;
    }
    EXPECT_EQ(made, 3 * test::each);
    EXPECT_DOUBLE_EQ(busy, 3 * 3 * test::each);
    EXPECT_GE(prediction.seconds, 3 * test::each);
    EXPECT_TRUE(prediction.remarks.empty());
}

TEST(KernelCost, is_interpolated_between_measured_amounts_of_work) {
    machine::Profile machine = slow_machine();
    machine.kernels[0].passes = {{1, 4, exactly(40)},
                                 {1, 8, exactly(60)},
                                 {1000, 4, exactly(40000)},
                                 {1000, 8, exactly(60000)}};
    const auto work = [&](int operands) {
        const std::array<KernelUse, 1> uses = {{{"sum", operands}}};
        return predicted(machine, uses).seconds - predicted(machine, {}).seconds;
    };
    EXPECT_NEAR(work(4) / work(8), 2. / 3, 1e-9);
    EXPECT_NEAR(work(6) / work(8), 5. / 6, 1e-9);
}

TEST(KernelCost, is_zero_with_a_remark_if_the_profile_lacks_the_kernel) {
    const std::array<KernelUse, 1> names = {{{"product"}}};
    const Prediction unknown = predicted(slow_machine(), names);
    ASSERT_EQ(unknown.remarks.size(), 1u);
    EXPECT_THAT(unknown.remarks[0],
                testing::HasSubstr("kernels that are not in the profile of slow"));
    EXPECT_EQ(predicted(slow_machine(), {}).seconds, unknown.seconds);
}

} // namespace
} // namespace sextant::model
