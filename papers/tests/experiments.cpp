// SPDX-License-Identifier: BSD-3-Clause
// Sextant's results compared with the tables of papers: counts must agree, and each comparison must
// be able to fail.

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include "papers/p3pc.hpp"
#include "papers/shift_based.hpp"
#include "papers/tests/experiment.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

using testing::Each;
using testing::Ge;

TEST(Reproduce, a_result_agrees_if_it_is_within_a_quarter_of_the_published_value) {
    EXPECT_EQ(verdict({"", 100.0, {1, 81}}), "agrees");
    EXPECT_EQ(verdict({"", 100.0, {1, 125}}), "agrees");
    EXPECT_EQ(verdict({"", 100.0, {100, 79}}), "differs");
    EXPECT_EQ(verdict({"", 100.0, {126}}), "differs");
    EXPECT_EQ(verdict({"", std::nullopt, {134}}), "");
}

TEST(Reproduce, counts_agree_if_they_are_equal_and_bounds_if_they_are_kept) {
    EXPECT_EQ(verdict({.label = "", .theirs = 4, .ours = {5}, .match = Match::at_most}), "differs");
    EXPECT_EQ(verdict({.label = "", .theirs = 4, .ours = {1}, .match = Match::at_most}), "agrees");
    EXPECT_EQ(verdict({.label = "", .theirs = 7, .ours = {6}, .match = Match::count}), "differs");
    EXPECT_EQ(verdict({.label = "", .theirs = 7, .ours = {7}, .match = Match::count}), "agrees");
    const Result table = result_of(experiment("shift-based", "Table 1"), Extent::quick);
    for (const Row& each : table.rows)
        EXPECT_TRUE(each.match == Match::count || each.match == Match::at_most) << each.label;
}

TEST(Reproduce, a_quick_run_judges_no_statement_about_cases_that_it_does_not_compute) {
    const auto judged = [](const char* paper, const char* item) {
        const Result found = result_of(experiment(paper, item), Extent::quick);
        EXPECT_FALSE(found.claims.empty()) << item;
        return std::ranges::count_if(found.claims, &Claim::can_be_known);
    };
    EXPECT_EQ(judged("c3", "section 4.2"), 0);
    EXPECT_EQ(judged("radix-k", "Figure 7"), 0);
    EXPECT_EQ(judged("scan", "definition 3.1.3"), 1); // a quick run computes all cases
}

TEST(Reproduce, prefix_circuits_have_their_published_span_and_work) {
    expect_all_claims(experiment("scan", "circuits").run(Extent::quick));
}

TEST(Reproduce, algorithms_send_the_amounts_of_data_in_table_1_of_the_shift_based_paper) {
    const Result table = experiment("shift-based", "Table 1").run(Extent::quick);
    for (const char* label :
         {"direct-send, messages", "binary-swap, messages", "radix-k, messages",
          "parallel-pipeline, in any order, messages", "parallel-pipeline, in any order, images",
          "shift-based, messages", "shift-based, images"})
        EXPECT_DOUBLE_EQ(ratio(row(table, label)).value(), 1) << label;
    // Blending in order needs two partial results beyond the end of the ring.
    EXPECT_GT(ratio(row(table, "parallel-pipeline, operands in order, images")).value(), 1.9);
    expect_all_claims(table);
}

TEST(Reproduce, a_tree_of_2_3_swap_from_the_leaves_sends_more_than_the_image) {
    const Sent seven = sent_by_tree_from_leaves(7); // (0 1) (2 3) (4 5 6), then all three
    EXPECT_EQ(seven.stage_messages, 4);
    const Sent four = sent_by_tree_from_leaves(4); // halves, then quarters in the order of ranks
    EXPECT_EQ(four.messages, 3);
    EXPECT_DOUBLE_EQ(four.images, 1);
    EXPECT_DOUBLE_EQ(four.mean_images, .875);
}

TEST(Reproduce, a_pipeline_of_a_commutative_operator_blends_every_image_once) {
    constexpr int ranks = 5;
    const Schedule schedule =
        make_schedule(ranks, [](int rank) { return commutative_pipeline(7, ranks, rank); });
    std::vector<int> folded(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const Program& program = schedule[static_cast<std::size_t>(rank)];
        folded[static_cast<std::size_t>(rank)] = static_cast<int>(
            std::count_if(program.steps.begin(), program.steps.end(),
                          [](const Step& step) { return step.verb == Verb::fold; }));
        EXPECT_EQ(program.result.offset, part(block(0, 0, 7), (rank + 1) % ranks, ranks).offset);
    }
    EXPECT_THAT(folded, Each(ranks - 1));
}

TEST(Reproduce, shift_based_routing_slows_binary_swap_on_a_fat_tree) {
    const Result found = experiment("shift-based", "section 4").run(Extent::quick);
    expect_all_claims(found);
    // The routing of this fat-tree suits shifts, but not Binary-Swap.
    EXPECT_GT(row(found, "fat-tree-144").ours.front(), 1);
}

TEST(Reproduce, only_the_fat_tree_engine_of_opensm_keeps_shifts_apart) {
    const Result found = experiment("shift-based", "section 2.1.1").run(Extent::quick);
    expect_all_claims(found);
    EXPECT_EQ(row(found, "LASH, DOR: the first port, 144 nodes").ours.front(), 12);
    EXPECT_GT(row(found, "Min Hop, UPDN, 144 nodes").ours.front(), 1);
}

TEST(Reproduce, min_hop_routing_costs_binary_swap_the_loss_that_the_paper_expects) {
    const Result figure = experiment("shift-based", "Figure 3").run(Extent::quick);
    for (const char* nodes : {"16", "64", "128"}) {
        const std::string label = fmt::format("binary-swap, {} nodes", nodes);
        EXPECT_EQ(verdict(row(figure, label + ", Min Hop")), "agrees") << label;
        EXPECT_NEAR(ratio(row(figure, label + ", table of section 4, no loss expected")).value(), 1,
                    .03)
            << label;
    }
    for (const char* nodes : {"24", "72", "144"}) {
        const std::string label = fmt::format("shift-based, {} nodes", nodes);
        EXPECT_NEAR(ratio(row(figure, label)).value(), 1, .03) << label;
    }
    EXPECT_EQ(verdict(row(figure, "shift-based, 64 nodes")), "differs");
}

TEST(Reproduce, frame_rates_fall_where_shifts_share_cables) {
    const Result figure = experiment("shift-based", "Figure 8").run(Extent::quick);
    EXPECT_GT(row(figure, "36 nodes").ours.back(), 1.3 * row(figure, "35 nodes").ours.back());
    EXPECT_TRUE(row(figure, "35 nodes").only_in_json);
    EXPECT_EQ(verdict(row(figure, "64 nodes")), "agrees");
    for (const Claim& claim : figure.claims) // up to 24 nodes there is no contention
        EXPECT_EQ(claim.holds, claim.text.find("peak performance") == std::string::npos)
            << claim.text << ": " << claim.found;
}

TEST(Reproduce, random_bisections_of_a_fat_tree_get_slightly_more_than_half_of_the_bandwidth) {
    const Result found = experiment("shift-based", "section 2.1.3").run(Extent::quick);
    for (const Row& each : found.rows) {
        EXPECT_GT(each.ours.front(), .5) << each.label;
        EXPECT_LT(each.ours.front(), .75) << each.label;
    }
}

TEST(Reproduce, scatters_on_the_delta_match_the_measurements_in_the_c3_paper) {
    const Result figure = experiment("c3", "Figure 8").run(Extent::quick);
    ASSERT_EQ(figure.rows.size(), 18u);
    for (const Row& each : figure.rows)
        EXPECT_EQ(verdict(each), "agrees") << each.label;
    // If links are shared and processors are never busy, the simulated broadcast is too fast.
    EXPECT_LT(row(figure, "1-lev-br, 2048").ours.front(), .75 * 549.12);
}

TEST(Reproduce, the_published_gamma_and_alpha_explain_the_published_times) {
    for (const char* item : {"section 4.1: gamma", "section 4.1: alpha"}) {
        const Result found = experiment("c3", item).run(Extent::whole);
        const Claim& published = found.claims.front();
        EXPECT_TRUE(published.holds) << published.text << ": " << published.found;
        EXPECT_GT(found.rows.front().ours.back(), 1.3) << found.rows.front().label;
        EXPECT_GT(found.rows.back().ours.back(), 1.1) << found.rows.back().label;
    }
}

TEST(Reproduce, all_to_one_on_the_delta_is_slower_than_one_to_all_for_large_messages) {
    const Result table = experiment("c3", "section 4.2").run(Extent::quick);
    const std::vector<double> scatter = row(table, "one-to-all, 16384").ours;
    const std::vector<double> gather = row(table, "all-to-one, busy receivers, 16384").ours;
    for (std::size_t i = 0; i < scatter.size(); ++i)
        EXPECT_GT(gather[i], .99 * scatter[i]) << table.columns[i];
    EXPECT_EQ(table.claims.size(), 5u);
}

TEST(Reproduce, prefix_circuits_obey_the_published_tables_and_bounds) {
    expect_all_claims(experiment("scan", "theorem 3.4.1").run(Extent::quick));
    const Result table = experiment("scan", "Table 3.1").run(Extent::quick);
    expect_all_claims(table);
    for (const Row& each : table.rows)
        EXPECT_EQ(verdict(each) == "agrees", !each.label.starts_with("blelloch, 16")) << each.label;
    const Result segmented = experiment("scan", "definition 3.1.3").run(Extent::quick);
    expect_all_claims(segmented);
    for (const Row& each : segmented.rows) {
        EXPECT_DOUBLE_EQ(ratio(each).value(), 1) << each.label;
        EXPECT_EQ(each.ours.front() == 0, each.label.ends_with("segments of 1")) << each.label;
        EXPECT_LE(each.ours.front(), each.ours.back()) << each.label;
    }
}

TEST(Reproduce, scans_of_series_have_the_span_and_work_of_the_thesis_equations) {
    const Result counted = experiment("registration", "equations 4.5-4.28").run(Extent::quick);
    ASSERT_EQ(counted.rows.size(), 48U);
    for (const Row& each : counted.rows)
        EXPECT_NEAR(ratio(each).value(), 1, .15) << each.label;
    const Result best =
        experiment("registration", "equations 4.16, 4.17, 4.21, 4.26").run(Extent::quick);
    for (const Row& each : best.rows) // the formulas assume that cores divide the frames evenly
        EXPECT_NEAR(ratio(each).value(), 1, each.label.ends_with("speedup") ? .03 : .2)
            << each.label;
    EXPECT_TRUE(best.claims[0].holds);
    EXPECT_FALSE(best.claims[1].holds) << "N ln 2 is less than N";
}

TEST(Reproduce, blellochs_circuit_stays_within_13_percent_of_its_published_bound) {
    const Result found = experiment("registration", "equation 4.18").run(Extent::quick);
    EXPECT_NEAR(row(found, "4096 frames, 512 cores").theirs.value(), 124.1, .05);
    EXPECT_NEAR(row(found, "512 frames, 512 cores").theirs.value(), 26.9, .05);
    for (const Row& each : found.rows) {
        EXPECT_GT(ratio(each).value(), 1) << each.label;
        EXPECT_LT(ratio(each).value(), 1.13) << each.label;
        EXPECT_EQ(verdict(each), "agrees") << each.label;
    }
}

TEST(Reproduce, costs_on_the_delta_equal_those_in_figure_6_of_the_c3_paper) {
    for (const Row& each : experiment("c3", "Figure 6").run(Extent::quick).rows)
        EXPECT_NEAR(ratio(each).value(), 1, .01) << each.label;
}

TEST(Reproduce, c3_chooses_the_fastest_algorithm_at_one_of_eleven_sizes) {
    EXPECT_EQ(experiment("c3", "Figure 7").run(Extent::quick).claims.front().found,
              "at 1 of 11 sizes; 10.2 % lost on average, 45.5 % at most");
}

TEST(Reproduce, the_simulated_delta_chooses_better_than_c3) {
    double by_c3 = 0, by_simulation = 0;
    for (const Row& each : experiment("c3", "Figure 7").run(Extent::quick).rows) {
        ASSERT_EQ(each.ours.size(), 2u) << each.label;
        by_c3 += each.ours[0] / *each.theirs - 1;
        by_simulation += each.ours[1] / *each.theirs - 1;
    }
    EXPECT_LT(by_simulation, .6 * by_c3);
}

TEST(Reproduce, all_to_one_is_charged_as_one_to_all_without_set_ups) {
    const Result charges = experiment("c3", "section 4.2: charges").run(Extent::quick);
    for (const Row& each : charges.rows) {
        EXPECT_NEAR(ratio(each).value(), 1, .01) << each.label;
        EXPECT_NEAR(each.ours.front(), 255. / 512, 1e-9) << each.label; // all received bytes count
    }
    EXPECT_EQ(charges.claims.front().found.substr(0, 9), "0 and 256");
}

TEST(Reproduce, schedules_take_the_times_of_the_formulas_in_the_shift_based_paper) {
    const Result theory = experiment("shift-based", "Figure 2").run(Extent::quick);
    expect_all_claims(theory);
    for (const Row& each : theory.rows) {
        if (each.label.starts_with("shift-based") || each.label.starts_with("binary-swap")) {
            EXPECT_NEAR(each.ours.front() / *each.theirs, 1, .01) << each.label;
        }
        if (each.label.find("in order") == std::string::npos) {
            EXPECT_NEAR(ratio(each).value(), 1, .01) << each.label;
        }
    }
}

TEST(Reproduce, a_single_message_takes_the_full_path_time_in_the_p3pc_paper) {
    const Result figure = experiment("p3pc", "Figure 2").run(Extent::quick);
    expect_all_claims(figure);
    // Times are longer if the sender or receiver is busy for longer than the full path takes.
    for (const Row& each : figure.rows) {
        EXPECT_GT(ratio(each).value(), .97) << each.label;
        EXPECT_LT(ratio(each).value(), 1.3) << each.label;
    }
    EXPECT_DOUBLE_EQ(ratio(row(figure, "nn, 500K values")).value(), 1);
}

TEST(Reproduce, the_profile_of_das_has_the_values_of_table_1_of_the_p3pc_paper) {
    const Result table = experiment("p3pc", "Table 1").run(Extent::quick);
    EXPECT_EQ(table.rows.size(), 60u);
    for (const Row& each : table.rows)
        EXPECT_NEAR(ratio(each).value(), 1, 1e-9) << each.label;
    EXPECT_TRUE(table.claims[0].holds) << table.claims[0].found;
    EXPECT_FALSE(table.claims[1].holds) << table.claims[1].found; // borders of fewer than 1K values
}

TEST(Reproduce, kernels_and_messages_have_the_sizes_in_the_p3pc_paper) {
    for (const Row& each : experiment("p3pc", "sections 4, 5").run(Extent::quick).rows) {
        const double expected = each.label == "smallest message" ? 4 : 1; // values, not bytes
        EXPECT_DOUBLE_EQ(ratio(each).value(), expected) << each.label;
    }
}

TEST(Reproduce, replayed_schedules_take_the_times_estimated_in_the_p3pc_paper) {
    for (const char* item : {"Figure 9", "Figure 10"}) {
        const Result figure = experiment("p3pc", item).run(Extent::quick);
        for (const Row& each : figure.rows)
            EXPECT_NEAR(ratio(each).value(), 1, .22) << each.label;
        for (const Claim& claim : figure.claims) { // strips have no neighbours along one axis
            const bool strips = claim.found == "1x16 by the schedule, 2x8 by Figure 6 as printed";
            EXPECT_EQ(claim.holds, claim.can_be_known && !strips)
                << claim.text << ": " << claim.found;
        }
        EXPECT_DOUBLE_EQ(ratio(row(figure, "512x512 on 1x16, exchange, sigma 1, Figure 6 without "
                                           "missing neighbours"))
                             .value(),
                         1);
    }
}

TEST(Reproduce, memory_layouts_matter_less_on_a_slower_network) {
    const Result figure = experiment("p3pc", "Figure 11").run(Extent::quick);
    for (const Row& each : figure.rows) {
        if (each.label.starts_with("512x512 on 1x8")) {
            EXPECT_DOUBLE_EQ(each.ours[0], each.ours[1]) << each.label;
        } else {
            EXPECT_GT(each.ours[1], each.ours[0]) << each.label;
        }
    }
    for (const Claim& claim : figure.claims)
        EXPECT_EQ(claim.holds, claim.can_be_known) << claim.text << ": " << claim.found;
}

TEST(Reproduce, estimates_for_sizes_of_the_user_agree_with_the_figures_of_the_p3pc_paper) {
    const Result figure = experiment("p3pc", "Figure 10").run(Extent::quick);
    const Result ours = estimate_operations(512, 512, 16).result;
    EXPECT_EQ(ours.rows.size(), 5u * 7);
    for (const char* label : {"512x512 on 2x8, flat scatter", "512x512 on 16x1, exchange, sigma 5"})
        EXPECT_EQ(row(ours, label).ours, row(figure, label).ours) << label;
    const Result odd = estimate_operations(102, 60, 6).result;
    EXPECT_EQ(odd.rows.size(), 4u * 7);
    EXPECT_EQ(row(odd, "102x60 on 3x2, binomial scatter").theirs, std::nullopt);
    EXPECT_NEAR(ratio(row(odd, "102x60 on 3x2, flat scatter")).value(), 1, 1e-3);
    EXPECT_THROW(estimate_operations(100, 4, 5), InvalidTask);
    const std::vector<std::int64_t> values{500, 500 * 1024};
    const Result messages = estimate_messages(values).result;
    EXPECT_EQ(messages.rows.size(), 4u * 2);
    EXPECT_EQ(row(messages, "nn, 500K values").ours,
              row(experiment("p3pc", "Figure 2").run(Extent::quick), "nn, 500K values").ours);
    EXPECT_NEAR(ratio(row(messages, "cc, 500 values")).value(), 1, 1e-9);
}

TEST(Reproduce, contour_ranking_costs_at_most_as_much_as_in_the_paper) {
    const Result figure = experiment("c3", "Figure 14").run(Extent::quick);
    expect_all_claims(figure);
    for (const Row& each : figure.rows) {
        EXPECT_LE(each.ours.front(), *each.theirs * (1 + 1e-3)) << each.label;
        EXPECT_NEAR(ratio(each).value(), 1, .02) << each.label; // by the paper's assumptions
        if (each.label.ends_with("set-ups")) {
            EXPECT_DOUBLE_EQ(each.ours.front(), *each.theirs) << each.label;
        }
    }
}

TEST(Reproduce, networks_of_the_c3_paper_are_counted_on_their_graphs) {
    const Result figure = experiment("c3", "Figure 1").run(Extent::quick);
    expect_all_claims(figure);
    const auto counted = [&](std::string_view label) { return row(figure, label).ours.back(); };
    EXPECT_DOUBLE_EQ(counted("linear array, 16 processors, latency"), 5.3125);
    EXPECT_DOUBLE_EQ(counted("square mesh, 16 processors, latency"), 2.5);
    EXPECT_DOUBLE_EQ(counted("fat tree of arity 4, 16 processors, latency"), 3.375);
    EXPECT_DOUBLE_EQ(counted("fat tree of arity 2, 256 processors, largest distance"), 16);
    EXPECT_EQ(verdict(row(figure, "fat tree of arity 2, 256 processors, latency")), "agrees");
    EXPECT_DOUBLE_EQ(counted("butterfly, 256 processors at its ends, latency"), 8);
    EXPECT_LT(counted("butterfly, 24 processors, latency"), .51 * std::log2(24));
    for (const char* network : {"linear array", "square mesh", "hypercube", "complete graph"}) {
        const auto label = fmt::format("{}, 16 processors, bisection", network);
        EXPECT_DOUBLE_EQ(ratio(row(figure, label)).value(), 1) << label;
    }
}

TEST(Reproduce, messages_are_charged_by_the_formulas_of_the_c3_paper) {
    for (const char* item : {"Figure 2", "Figure 3", "Figure 4"}) {
        const Result figure = experiment("c3", item).run(Extent::quick);
        for (const Row& each : figure.rows) {
            // For a single message, store-and-forward in Figure 3 charges one packet time per
            // packet more than in Figure 2.
            const bool differs = item == std::string_view("Figure 2") &&
                                 each.label == "store-and-forward, nonblocking, send time";
            EXPECT_NEAR(each.ours.back() - *each.theirs, differs ? 3 : 0, 1e-6)
                << item << ", " << each.label;
        }
    }
}

TEST(Reproduce, computation_units_of_the_c3_paper_follow_from_two_rules) {
    const Result figures = experiment("c3", "Figures 6, 9, 14").run(Extent::quick);
    ASSERT_EQ(figures.rows.size(), 14u);
    for (const Row& each : figures.rows)
        EXPECT_EQ(verdict(each), "agrees") << each.label;
    EXPECT_FALSE(figures.claims.front().holds) << figures.claims.front().found;
    // The leader of each row receives a message of 16 blocks, and each processor receives one
    // block.
    EXPECT_DOUBLE_EQ(row(figures, "Figure 6, 2-lev-rec").ours[1], 17. / 512);
}

TEST(Reproduce, reduce_scatter_by_binary_swap_reaches_the_bounds_in_the_radix_k_paper) {
    const Result table = experiment("radix-k", "Table 1").run(Extent::quick);
    expect_all_claims(table);
    for (const char* algorithm : {"binary-swap", "radix-k 8,8"}) {
        for (const char* term : {"steps", "sent", "combined"}) {
            const std::string label = fmt::format("reduce-scatter: {}, {}", algorithm, term);
            EXPECT_DOUBLE_EQ(ratio(row(table, label)).value(), 1) << label;
        }
    }
    for (const Row& each : experiment("radix-k", "Figure 2").run(Extent::quick).rows)
        EXPECT_DOUBLE_EQ(ratio(each).value(), 1) << each.label;
}

TEST(Reproduce, radix_k_blends_while_messages_arrive) {
    const Result figure = experiment("radix-k", "Figure 3").run(Extent::quick);
    for (std::size_t i = 1; i < figure.claims.size(); ++i)
        EXPECT_TRUE(figure.claims[i].holds) << figure.claims[i].text;
    EXPECT_FALSE(
        figure.claims[0].holds); // on the mesh, a round takes more than half of the previous one
}

TEST(Reproduce, radix_k_is_as_much_faster_than_binary_swap_as_published) {
    const Result figure = experiment("radix-k", "Figure 4").run(Extent::quick);
    expect_all_claims(figure);
    EXPECT_NEAR(ratio(row(figure, "mean, in partitions of at least 512 nodes")).value(), 1, .05);
    EXPECT_NEAR(ratio(row(figure, "largest speedup")).value(), 1, .1);
}

TEST(Reproduce, ranks_in_blocks_favour_radix_8) {
    const Result figure = experiment("radix-k", "Figure 6").run(Extent::quick);
    for (const Claim& claim : figure.claims) {
        const bool unmet = claim.text == "mapping to blocks of 4x4x4 in XYZ order is faster";
        EXPECT_EQ(claim.holds, !unmet) << claim.text << ": " << claim.found;
    }
}

TEST(Reproduce, frame_rates_on_myrinet_peak_at_multiples_of_four) {
    expect_all_claims(experiment("radix-k", "Figure 7").run(Extent::quick));
}

TEST(Table, reports_a_missing_column_row_or_file) {
    const Table rates("shift_based_frame_rates");
    EXPECT_EQ(rates.rows(), 9u);
    EXPECT_EQ(rates.number(0, "frames_per_second"), 14.5);
    EXPECT_EQ(rates.number(1, "mean_bandwidth_MBps"), std::nullopt);
    EXPECT_THROW(rates.number(0, "frames"), InvalidFile);
    EXPECT_THROW(rates.number(0, "order"), InvalidFile);
    EXPECT_THROW(rates.row_of("radix-k"), InvalidFile);
    EXPECT_THROW(Table("frame_rates"), InvalidTask);
}

} // namespace
} // namespace sextant::papers
