// SPDX-License-Identifier: BSD-3-Clause
// The text of composite_report.
#include "sextant/command/composite/composite.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;
using testing::Not;

CompositeSummary summary_of(int ranks) {
    CompositeSummary summary;
    summary.inputs.assign(static_cast<std::size_t>(ranks), "a.exr");
    summary.output = "b.exr";
    summary.shape = {4, 3};
    summary.ranks = ranks;
    summary.transport = "threads";
    summary.blend = "over";
    summary.plan = planner::choose_by_name("direct-send", {}, ranks);
    summary.task = compositing::one_image_each(ranks, 12, 0);
    summary.phases = {{"read", .001}};
    return summary;
}

TEST(CompositeReport, uses_singular_and_plural_forms) {
    EXPECT_THAT(to_text(summary_of(1)), HasSubstr("1 image of 4x3 on 1 thread,"));
    EXPECT_THAT(to_text(summary_of(3)), HasSubstr("3 images of 4x3 on 3 threads,"));
    CompositeSummary over_mpi = summary_of(1);
    over_mpi.transport = "Open MPI 4.1.4";
    EXPECT_THAT(to_text(over_mpi), HasSubstr("on 1 process of Open MPI 4.1.4,"));
}

TEST(CompositeReport, reports_clocks_that_cannot_be_compared) {
    CompositeSummary summary = summary_of(3);
    const Image picture(summary.shape, rgba_f32);
    EXPECT_THAT(to_page(summary, picture), Not(HasSubstr("clocks")));
    summary.clocks = 2;
    EXPECT_THAT(to_page(summary, picture), HasSubstr("The clocks of 2 hosts cannot be compared"));
    summary.aligned = {{0, 1, 0, 0}, {2, 1, -1.5, 3e-6}};
    EXPECT_THAT(
        to_page(summary, picture),
        HasSubstr("The clocks of 2 hosts were aligned to within 3.00 µs: the clock of rank 2 was "
                  "1.50 s ahead of that of rank 0"));
}

TEST(CompositeReport, shows_candidates_predictions_and_measurements) {
    CompositeSummary summary = summary_of(2);
    const Image picture(summary.shape, rgba_f32);
    EXPECT_THAT(to_page(summary, picture), Not(HasSubstr("Candidates")));
    EXPECT_THAT(to_page(summary, picture), Not(HasSubstr("predicted")));
    summary.element_size = 16;
    summary.plan.alternatives = {{summary.plan.configuration, 1e-6, {{3e-6, 2e-6, 4e-6}}, {}, ""}};
    summary.trace.events = {{0, 0, Activity::send, 0, 1, 6, 0, 5e-6},
                            {1, 0, Activity::receive, 0, 0, 6, 1e-6, 5e-6}};
    summary.trace.duration = 5e-6;
    summary.prediction = {{3e-6, 2e-6, 4e-6, summary.trace, {}}};
    const std::string page = to_page(summary, picture);
    for (const char* part : {"Candidates", "direct-send (predicted)", "direct-send (measured)",
                             "Communication: ", "96 B", "5.00 µs"})
        EXPECT_THAT(page, HasSubstr(part));
    // The prediction comes before the measurement.
    EXPECT_LT(page.find("direct-send (predicted)"), page.find("direct-send (measured)"));
}

TEST(CompositeReport, lets_many_ranks_share_lanes_and_notes_omitted_parts) {
    const Image picture({4, 3}, rgba_f32);
    const std::string few = to_page(summary_of(256), picture),
                      many = to_page(summary_of(600), picture);
    EXPECT_THAT(few, HasSubstr("class=\"timeline\""));
    EXPECT_THAT(few, Not(HasSubstr("share each lane")));
    EXPECT_THAT(many, HasSubstr("class=\"timeline\""));
    EXPECT_THAT(many, HasSubstr("3 of which share each lane"));
    EXPECT_THAT(many, HasSubstr("the schedule of 600 ranks"));
    EXPECT_THAT(to_page(summary_of(most_ranks_drawn), picture),
                Not(HasSubstr("this page shows schedules")));
}

} // namespace
} // namespace sextant::command
