// SPDX-License-Identifier: BSD-3-Clause
// Contours and merging on report pages.
#include "sextant/comm/threads.hpp"
#include "sextant/command/contours/contours.hpp"
#include "sextant/command/pages/plan_report.hpp"

#include <numeric>

#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Contours of these lengths, placed one after another along the rows of an image 1000 pixels wide.
ContourLines lines_of(const std::vector<Elements>& lengths) {
    ContourLines lines;
    const Elements all = std::accumulate(lengths.begin(), lengths.end(), Elements{0});
    lines.image = {1000, all / 1000 + 1};
    lines.pixels.resize(static_cast<std::size_t>(all));
    std::iota(lines.pixels.begin(), lines.pixels.end(), 0);
    Elements first = 0;
    for (const Elements length : lengths) {
        lines.lines.push_back({first, length, false});
        first += length;
    }
    return lines;
}

report::OutlinedPicture outlined_of(const std::vector<Elements>& lengths) {
    const ContourLines lines = lines_of(lengths);
    LinesInMemory reader(lines);
    return outlined(reader);
}

TEST(OutlinedContours, are_the_longest_ones_and_keep_file_order_for_ties) {
    std::vector<Elements> lengths(40, 3);
    lengths[7] = 5;
    const report::OutlinedPicture picture = outlined_of(lengths);
    ASSERT_EQ(picture.outlines.size(), 24u);
    EXPECT_EQ(picture.outlines[0].length, 5);
    EXPECT_EQ(picture.outlines[0].points.front().x, 21);
    EXPECT_EQ(picture.outlines[1].points.front().x, 0);
    EXPECT_EQ(picture.caption, "The longest 24 of 40 contours.");
}

TEST(OutlinedContours, are_simplified_with_a_note_if_they_have_too_many_points) {
    const report::OutlinedPicture picture = outlined_of({100'000, 2, 1});
    EXPECT_LE(picture.outlines[0].points.size(), 2'001u);
    EXPECT_EQ(picture.outlines[0].length, 100'000);
    EXPECT_EQ(picture.outlines[0].points.back().x, 999); // both ends are kept
    EXPECT_EQ(picture.outlines[1].points.size(), 2u);
    EXPECT_EQ(picture.outlines[2].points.size(), 1u);
    EXPECT_THAT(picture.caption, HasSubstr("At most 2000 points"));
}

TEST(OutlinedContours, are_empty_for_an_image_without_contours) {
    const report::OutlinedPicture picture = outlined_of({});
    EXPECT_THAT(picture.outlines, IsEmpty());
    EXPECT_EQ(picture.caption, "The longest 0 of 0 contours.");
}

distributed::MergingPlan plan_of(bool predicted) {
    distributed::MergingPlan plan;
    plan.configuration = &contour::catalogue()[0];
    plan.reason = "for a test";
    if (predicted) {
        plan.machine = "m";
        plan.model = "hockney";
        plan.alternatives = {
            {.configuration = plan.configuration, .expected = {{2e-6, 1e-6, 3e-6}}},
            {.configuration = &contour::catalogue()[1]}};
        plan.timeline = {{{0, 0, Activity::fold, 0, -1, 1, 0, 2e-6}}, 2e-6};
    }
    return plan;
}

std::string all_of(const std::vector<report::Section>& sections) {
    std::string html;
    for (const report::Section& section : sections)
        html += section.title + section.html;
    return html;
}

TEST(MergingSections, show_the_prediction_above_the_measured_run) {
    GatheredMerging merging;
    merging.trace = {
        {{0, 0, Activity::send, 0, 1, 1, 0, 5e-6}, {1, 0, Activity::receive, 0, 0, 1, 0, 5e-6}},
        5e-6};
    merging.sent = {40, 0};
    const std::string both = all_of(merging_sections(plan_of(true), merging));
    EXPECT_LT(both.find("(predicted)"), both.find("(measured)"));
    EXPECT_THAT(both, HasSubstr("predicted by hockney on m"));
    EXPECT_THAT(both, HasSubstr("40 B"));
    const std::string alone = all_of(merging_sections(plan_of(false), merging));
    EXPECT_THAT(alone, Not(HasSubstr("(predicted)")));
    EXPECT_THAT(alone, HasSubstr("(measured)"));
}

TEST(MergingSections, are_empty_for_one_rank) {
    GatheredMerging merging;
    merging.sent = {0};
    EXPECT_THAT(merging_sections(plan_of(true), merging), IsEmpty());
}

TEST(GatherMerging, collects_events_and_bytes_of_all_ranks_on_rank_0) {
    run_threads(3, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        MergingTrace own{{{{rank, 0, Activity::fold, 0, -1, 1, 0, 1e-6}}, 1e-6, 0}, 10 * rank};
        const TraceClocks clocks(communicator);
        const GatheredMerging all = gather_merging(communicator, clocks, own);
        EXPECT_EQ(all.sent, (std::vector<Bytes>{0, 10, 20}));
        EXPECT_EQ(all.trace.events.size(), rank == 0 ? 3u : 0u);
        EXPECT_TRUE(all.lent);
    });
}

} // namespace
} // namespace sextant::command
