// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/campaign.hpp"

#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/machine/interpolate.hpp"

#include <algorithm>

#include "tests/calibrate/synthetic.hpp"
#include <gtest/gtest.h>

namespace sextant::calibrate {
namespace {

using machine::Layout;
using machine::Link;
using machine::Path;
using machine::Strategy;
using test::SyntheticMachine;

machine::Profile calibrated(SyntheticMachine& truth, Seconds budget = 20) {
    CampaignOptions options;
    options.budget = budget;
    options.ci = .01;
    return costs_of(measure(truth, make_cells({.lending = true}), options), Link::same_process);
}

/// Expects points within 3 % of the true values, most of which must be within the intervals.
template <class Truth>
void expect_recovered(const machine::LinkCosts& link, Path path, Layout layout, Strategy strategy,
                      Truth&& truth) {
    const machine::Curve* curve = machine::find(link, path, layout, strategy);
    ASSERT_NE(curve, nullptr);
    int outside = 0;
    for (const machine::Point& point : curve->points) {
        const Seconds expected = truth(point);
        EXPECT_NEAR(point.seconds.median, expected, .03 * expected)
            << name(path) << " " << name(layout) << " " << point.bytes << " in " << point.block;
        outside += point.seconds.low > expected || point.seconds.high < expected;
    }
    EXPECT_LE(outside, 2 + static_cast<int>(curve->points.size()) / 8);
}

TEST(CalibrationCampaign, omits_operators_that_were_measured_only_on_a_single_rank) {
    Measurements measured;
    const Sample sample{{1e-6, 1e-6}, false};
    for (int i = 0; i < 4; ++i) {
        measured.cells[probe()].add(sample);
        measured.cells[pass("over", "f32", 256, 2, true)].add(sample);
        measured.cells[pass("add", "f32", 256, 2)].add(sample);
    }
    measured.probe_before = measured.probe_after = measured.cells[probe()].value(0);
    const machine::Profile costs = costs_of(measured, Link::same_node);
    EXPECT_EQ(costs.find_operator("over", "f32"), nullptr);
    EXPECT_NE(costs.find_operator("add", "f32"), nullptr);
}

TEST(CalibrationCampaign, recovers_the_true_costs_of_a_machine) {
    SyntheticMachine truth(1);
    const machine::Profile profile = calibrated(truth);
    ASSERT_EQ(profile.links.size(), 1u);
    const machine::LinkCosts& link = profile.links[0];
    expect_recovered(link, Path::full, Layout::cc, Strategy::contiguous,
                     [](const machine::Point& p) { return SyntheticMachine::full(p.bytes); });
    expect_recovered(link, Path::full, Layout::nn, Strategy::datatype, [](const machine::Point& p) {
        return p.bytes == 0 ? SyntheticMachine::full(1)
                            : SyntheticMachine::strided(p.bytes, p.block);
    });
    expect_recovered(
        link, Path::send, Layout::cc, Strategy::contiguous,
        [](const machine::Point& p) { return SyntheticMachine::gap(std::max<Bytes>(1, p.bytes)); });
    const machine::Work* over = profile.find_operator("over", "f32");
    ASSERT_NE(over, nullptr);
    for (const machine::Pass& pass : over->passes) {
        const Seconds expected = SyntheticMachine::pass(pass.elements, pass.operands);
        EXPECT_NEAR(pass.seconds.median, expected, .03 * expected);
    }
    const machine::Work* filter = profile.find_kernel("gaussian-derivatives", "f32");
    ASSERT_NE(filter, nullptr);
    EXPECT_EQ(filter->passes.size(), 20u);
    for (const machine::Pass& pass : filter->passes) {
        const Seconds expected = SyntheticMachine::kernel(pass.elements, pass.operands);
        EXPECT_NEAR(pass.seconds.median, expected, .03 * expected);
    }
    const machine::Curve* lent = machine::find(link, Path::full, Layout::cc, Strategy::lending);
    ASSERT_NE(lent, nullptr);
    ASSERT_TRUE(link.start);
    EXPECT_NEAR(link.start->median, 2e-7, 3e-8);
    const Seconds announced = SyntheticMachine::full(1);
    EXPECT_NEAR(lent->points.front().seconds.median, announced, .05 * announced);
}

TEST(CalibrationCampaign, samples_both_sides_of_a_protocol_switch) {
    SyntheticMachine truth(2);
    const machine::Profile profile = calibrated(truth);
    const machine::Curve* whole =
        machine::find(profile.links[0], Path::full, Layout::cc, Strategy::contiguous);
    for (const Bytes bytes : {Bytes{4700}, Bytes{5300}}) {
        const Seconds expected = SyntheticMachine::full(bytes);
        EXPECT_NEAR(machine::at_size(whole->points, bytes).median, expected, .05 * expected)
            << bytes;
    }
}

TEST(CalibrationCampaign, predicts_messages_of_unmeasured_sizes) {
    SyntheticMachine truth(3);
    const machine::Profile profile = calibrated(truth);
    const std::vector<HeldOut> held =
        hold_out(truth, draw_held_out(7, 60, 60), profile, Link::same_process, 6);
    std::vector<double> errors;
    for (const HeldOut& one : held)
        errors.push_back(one.error());
    EXPECT_LT(median(errors), .05);
    EXPECT_LT(quantile(errors, .9), .15);
}

TEST(CalibrationCampaign, drops_disturbed_samples_if_others_exist) {
    Series series;
    for (int i = 0; i < 10; ++i)
        series.add({{1, 1}, false});
    for (int i = 0; i < 90; ++i)
        series.add({{20, 20}, true});
    EXPECT_EQ(series.value(0).high, 1);
    EXPECT_EQ(series.size(), 10u);
    EXPECT_TRUE(series.quiet());
    Series loud;
    for (int i = 0; i < 9; ++i)
        loud.add({{20, 20}, true});
    EXPECT_FALSE(loud.quiet());
    EXPECT_EQ(loud.value(1).median, 20);
}

/// True if the intervals of all measured cells are as narrow as requested.
bool all_converged(const Measurements& measured, const CampaignOptions& options) {
    return std::all_of(measured.cells.begin(), measured.cells.end(),
                       [&](const auto& cell) { return cell.second.within(options.ci); });
}

std::size_t count(const CellLevels& levels) {
    std::size_t cells = 0;
    for (const auto& level : levels)
        cells += level.size();
    return cells;
}

TEST(CalibrationCampaign, stops_at_its_time_limit_after_measuring_the_most_important_cells) {
    SyntheticMachine truth(4, .3);
    CampaignOptions options;
    options.budget = .05;
    const Measurements measured = measure(truth, make_cells({}), options);
    EXPECT_LT(truth.elapsed(), .15) << "only little is measured regardless of the time";
    EXPECT_LT(measured.cells.size(), count(make_cells({})));
    EXPECT_TRUE(measured.cells.contains(message(Kind::round_trip, 65536)));
    EXPECT_FALSE(all_converged(measured, options));
}

TEST(CalibrationCampaign, stops_early_when_every_cell_has_converged) {
    SyntheticMachine truth(5, .001);
    CampaignOptions options;
    options.budget = 1000;
    const Measurements measured = measure(truth, make_cells({}), options);
    EXPECT_LT(truth.elapsed(), 100);
    EXPECT_TRUE(all_converged(measured, options));
    EXPECT_GE(measured.cells.size(), count(make_cells({})));
}

TEST(CalibrationCampaign, gives_the_same_results_for_the_same_seed) {
    SyntheticMachine one(6), other(6);
    EXPECT_EQ(calibrated(one, .5), calibrated(other, .5));
}

TEST(CalibrationCampaign, reports_a_change_of_the_machine_state_during_measurement) {
    class Changing : public SyntheticMachine {
      public:
        Changing() : SyntheticMachine(7) {}
        std::vector<Sample> burst(const Cell& cell) override {
            state = elapsed() > .2 ? 3 : 1;
            return SyntheticMachine::burst(cell);
        }
    } machine;
    EXPECT_EQ(calibrated(machine, .5).state, unsteady);
}

} // namespace
} // namespace sextant::calibrate
