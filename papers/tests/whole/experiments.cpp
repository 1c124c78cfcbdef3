// SPDX-License-Identifier: BSD-3-Clause
// Figures whose simulations or measurements take seconds or minutes.
#include <algorithm>

#include "papers/tests/experiment.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::papers {
namespace {

using testing::Each;
using testing::Ge;

TEST(Reproduce, frame_rates_of_the_shift_based_paper_agree_on_the_calibrated_network) {
    for (const Row& each : experiment("shift-based", "Figures 4-7, 9").run(Extent::quick).rows)
        EXPECT_EQ(verdict(each), "agrees") << each.label;
}

TEST(Reproduce, bandwidths_of_messages_are_explained_by_a_start_up_or_by_slower_cables) {
    const Result found = experiment("shift-based", "Figures 4-7, 9: matrices").run(Extent::quick);
    int matrices = 0, senders = 0;
    for (const Row& each : found.rows) {
        const double least = each.ours[2], most = each.ours[3], mean = each.ours[4];
        EXPECT_LE(least, mean) << each.label;
        EXPECT_LE(mean, most) << each.label;
        senders += each.only_in_json;
        if (each.only_in_json)
            continue;
        ++matrices;
        for (const double assumed : {each.ours[0], each.ours[1]}) {
            EXPECT_NEAR(assumed / *each.theirs, 1, .25) << each.label;
        }
    }
    EXPECT_EQ(matrices, 5);
    EXPECT_EQ(senders, 12 + 3 * 144 + 64);
    EXPECT_NEAR(ratio(found.rows.front()).value(), 1, .05) << found.rows.front().label;
}

TEST(Reproduce, shift_based_gains_on_direct_send_on_larger_trees) {
    expect_all_claims(experiment("shift-based", "section 6").run(Extent::quick));
}

TEST(Reproduce, combining_messages_beats_permutations_for_small_messages_on_the_delta) {
    const Result figure = experiment("c3", "Figure 11").run(Extent::quick);
    const auto took = [&](std::string_view label) { return row(figure, label).ours.back(); };
    for (const char* bytes : {"16", "128"}) {
        EXPECT_LT(took(fmt::format("2-lev-c_r, {}", bytes)),
                  .75 * took(fmt::format("1-lev-xor, {}", bytes)))
            << bytes;
    }
    EXPECT_GT(took("logp-lev-bfly, 4096"), 1.5 * took("1-lev-xor, 4096"));
    for (const Row& each : figure.rows)
        EXPECT_EQ(verdict(each), "agrees") << each.label;
    const Claim& balanced = figure.claims.back();
    EXPECT_FALSE(balanced.can_be_known) << balanced.text;
    for (const Claim& claim : figure.claims)
        EXPECT_TRUE(claim.holds || !claim.can_be_known) << claim.text << ": " << claim.found;
}

TEST(Reproduce, each_assumption_about_the_delta_has_its_effect) {
    const Result table = experiment("c3", "Figures 8, 11: causes").run(Extent::quick);
    const auto times = [&](std::string_view label) { return row(table, label).ours; };
    EXPECT_GT(times("2-lev-sq, 64")[1], 1.5 * times("2-lev-sq, 64")[0]);            // wormholes
    EXPECT_GT(times("1-lev-dir, 1024")[2], 1.8 * times("1-lev-dir, 1024")[1]);      // busy
    EXPECT_GT(times("logp-lev-sq, 1024")[3], 1.15 * times("logp-lev-sq, 1024")[2]); // copies
    const auto uneven = times("logp-lev-rec(0.75), 1024");
    EXPECT_LT(uneven[4], .9 * uneven[3]); // rounds overlap
}

TEST(Reproduce, searches_find_the_values_that_the_simulated_delta_has) {
    for (const char* item : {"Figures 8, 11: overheads fitted", "Figure 8: copying fitted"}) {
        const Result map = experiment("c3", item).run(Extent::quick);
        ASSERT_EQ(map.rows.size(), 5u) << item;
        EXPECT_LT(map.rows[2].ours[2], 1.15) << item;
        EXPECT_GT(map.rows[0].ours[0], 1.1 * map.rows[2].ours[2]) << item;
    }
    const Result model = experiment("c3", "Figures 8, 11: C³ fitted").run(Extent::quick);
    for (const Row& each : model.rows) {
        for (const double factor : each.ours)
            EXPECT_GT(factor, 1.25) << each.label; // no parameters of C³ explain the times
    }
}

TEST(Reproduce, balanced_contour_merging_pays_with_the_lists_of_the_c3_paper_only) {
    const auto last = [](const char* item) {
        return experiment("c3", item).run(Extent::quick).rows.back().ours; // 2048x2048, 100 %
    };
    const std::vector<double> ours = last("section 5.3");
    EXPECT_GT(ours[3], ours[2]);
    const std::vector<double> theirs = last("section 5.3: lists of the paper");
    EXPECT_LT(theirs[3], theirs[2]);
}

TEST(Reproduce, registration_of_series_scales_as_in_the_thesis) {
    for (const char* item : {"Figures 5.5, 5.6", "Figures 5.7, 5.8", "Figure 5.9"})
        expect_all_claims(experiment("registration", item).run(Extent::quick));
    const Result stated = experiment("registration", "stated times").run(Extent::quick);
    for (const Row& each : stated.rows) {
        EXPECT_EQ(verdict(each), "agrees") << each.label;
        EXPECT_EQ(verdict({each.label, each.theirs, {each.ours.front()}}), "differs")
            << each.label << ": the scan alone";
    }
    for (const char* item : {"Figures 5.1, 5.2", "Figures 5.3, 5.4"}) {
        int published = 0;
        for (const Row& each : experiment("registration", item).run(Extent::quick).rows) {
            published += each.theirs ? 1 : 0;
            EXPECT_NE(verdict(each), "differs") << each.label;
        }
        EXPECT_GT(published, 0) << item;
    }
}

TEST(Reproduce, two_bracketings_of_frames_end_in_minima_less_than_a_pixel_apart) {
    expect_all_claims(experiment("registration", "Figure 2.5").run(Extent::quick));
}

TEST(Reproduce, the_work_of_the_operator_varies_more_if_frames_are_noisy) {
    const Result found = experiment("registration", "Figures 4.3, 4.4").run(Extent::quick);
    const std::vector<double>& ours =
        row(found, "standard deviation of the logarithm of the work").ours;
    EXPECT_GT(ours[2], 1.3 * ours[0]);
}

TEST(Reproduce, stealing_comes_close_to_the_published_times_with_times_fitted_to_the_thesis) {
    const Result found = experiment("work-stealing", "table for 1,024 cores").run(Extent::quick);
    for (const char* label : {"Ladner-Fischer", "Ladner-Fischer, stealing", "MPI_Scan, stealing"})
        EXPECT_EQ(verdict(row(found, label)), "agrees") << label;
    EXPECT_LT(row(found, "dissemination, stealing").ours.back(),
              .9 * row(found, "dissemination").ours.back());
}

TEST(Reproduce, every_disagreement_is_explained) {
    for (const Experiment& experiment : all_experiments()) {
        if (experiment.item == "Figure 2 on this machine" || !experiment.reasons.empty())
            continue;
        for (const Row& each : experiment.run(Extent::quick).rows)
            EXPECT_NE(verdict(each), "differs")
                << experiment.paper << ", " << experiment.item << ": " << each.label;
    }
}

TEST(Reproduce, scatters_on_this_machine_are_compared_with_models_with_and_without_memory_layouts) {
    const Result figure = experiment("p3pc", "Figure 2 on this machine").run(Extent::quick);
    ASSERT_EQ(figure.rows.size(), 16u);
    std::vector<double> measured;
    for (std::size_t i = 0; i < figure.rows.size(); ++i) {
        const auto& ours = figure.rows[i].ours; // LogGP*, P-3PC with four sizes, P-3PC, measured
        const auto& contiguous = figure.rows[i / 4 * 4].ours;
        EXPECT_THAT(ours, Each(Ge(0))) << figure.rows[i].label;
        measured.push_back(ours[3]);
        EXPECT_EQ(ours[0], contiguous[0]) << figure.rows[i].label;
        EXPECT_EQ(contiguous[2], contiguous[0]) << figure.rows[i].label;
    }
    // The time of the reply is subtracted. On a loaded machine, the reply may take longer than some
    // messages.
    EXPECT_THAT(measured, testing::Contains(testing::Gt(0)));
}

TEST(Reproduce, the_flat_scatter_is_timed_against_mpi_in_a_launch) {
    const Result figure = experiment("p3pc", "Figure 4 on this machine").run(Extent::quick);
    ASSERT_EQ(figure.claims.size(), 1u);
    if (!figure.claims[0].can_be_known)
        GTEST_SKIP() << figure.claims[0].found; // without MPI or sextant-lab
    ASSERT_EQ(figure.rows.size(), 6u);
    for (const Row& each : figure.rows) {
        EXPECT_THAT(each.ours, Each(testing::Gt(0))) << each.label;
        EXPECT_DOUBLE_EQ(each.ours[2], each.ours[1] / each.ours[0]) << each.label;
    }
}

TEST(Reproduce, work_stealing_shortens_registration_on_many_cores) {
    const Result table = experiment("work-stealing", "table for 1,024 cores").run(Extent::quick);
    ASSERT_EQ(table.rows.size(), 7U); // three scans with and without stealing, and a chain
    for (std::size_t i = 0; i + 1 < table.rows.size(); i += 2) {
        const auto& fixed = table.rows[i].ours;
        const auto& stealing = table.rows[i + 1].ours;
        EXPECT_LT(stealing[1], fixed[1]) << table.rows[i].label;
        EXPECT_GT(stealing[1], stealing[0]) << table.rows[i].label;
    }
}

TEST(Reproduce, the_speedup_of_radix_k_depends_on_rings_overlap_and_mapping) {
    const Result found = experiment("radix-k", "Figure 4: assumptions").run(Extent::quick);
    EXPECT_EQ(found.claims.size(), 5u);
    expect_all_claims(found);
}

} // namespace
} // namespace sextant::papers
