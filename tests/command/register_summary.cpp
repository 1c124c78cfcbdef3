// SPDX-License-Identifier: BSD-3-Clause
// The text at the end of a registration, and its warnings.
#include "sextant/command/register/register.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A run of this many frames, all registered and without flags.
RegisterSummary summary_of(std::size_t frames) {
    RegisterSummary summary;
    summary.transforms.series = "movie.mrc";
    summary.transforms.model = "rigid";
    summary.transforms.shape = {64, 48};
    summary.transforms.stages = 2;
    summary.transforms.frames.resize(frames);
    for (std::size_t i = 0; i < frames; ++i) {
        FrameRegistration& frame = summary.transforms.frames[i];
        frame.frame = static_cast<std::int64_t>(i);
        frame.result.converged = true;
        frame.result.uncertainty.tx = .03;
    }
    summary.transforms.relative_to = frame_of_reference(summary.transforms);
    return summary;
}

TEST(RegisterText, ends_with_the_frames_that_were_used_and_their_flags) {
    RegisterSummary summary = summary_of(6);
    EXPECT_TRUE(to_text(summary).ends_with("\n6 frames used, 0 left out, 0 flagged; standard "
                                           "deviation of a position 0.030 px (median)\n"))
        << to_text(summary);
    summary.transforms.frames[1].gaps = 3;
    summary.transforms.frames[2].result.ambiguous = true;
    summary.transforms.frames[2].gaps = 1;
    summary.transforms.frames[3].leave_out(Omission::unusable, "every sample is 0");
    const std::string text = to_text(summary);
    EXPECT_THAT(text, HasSubstr("5 frames used, 1 left out, 2 flagged (gaps 2, ambiguous 1);"));
    EXPECT_THAT(text, HasSubstr("\nambiguous frames: record ")) << "gaps need no action";
    const auto json = nlohmann::json::parse(to_json(summary));
    EXPECT_EQ(json["flags"], nlohmann::json::parse(R"([{"flag": "gaps", "frames": 2},
                                        {"flag": "ambiguous", "frames": 1}])"));
    EXPECT_EQ(json["relative_to"], "the average of stage 1");
    EXPECT_TRUE(json["aligned"].is_null());
    EXPECT_EQ(json["largest_displacement"], 0);
    EXPECT_EQ(json["advice"].size(), 1);
}

TEST(RegisterText, advises_by_evidence_what_to_try_for_frames_that_resemble_no_other) {
    RegisterSummary summary = summary_of(6);
    summary.transforms.frames[4].leave_out(Omission::unlike, "no overlap");
    EXPECT_THAT(advice_of(summary), ElementsAre(HasSubstr("record at shorter intervals")));
    summary.transforms.model = "nonrigid";
    EXPECT_THAT(advice_of(summary), ElementsAre(HasSubstr("try --model rigid, or --reference N")));
    summary.evidence = {4, true};
    EXPECT_THAT(advice_of(summary), ElementsAre(HasSubstr("frame 4 shows hardly more than noise")));
    summary.evidence = {4, false, FrameEvidence::Rotated{3, 50}};
    EXPECT_THAT(to_text(summary), HasSubstr("\nframe 4 resembles frame 3 if it is rotated by 50 "
                                            "degrees: try --rotation 180\n"));
    summary.evidence = {};
    summary.transforms.frames[4].leave_out(Omission::unusable, "every sample is 0");
    EXPECT_THAT(to_text(summary), Not(HasSubstr("try")));
}

TEST(RegisterText, advises_first_on_what_concerns_most_frames) {
    RegisterSummary summary = summary_of(6);
    summary.transforms.frames[4].leave_out(Omission::unlike, "no overlap");
    summary.transforms.frames[1].mended = summary.transforms.frames[2].mended = true;
    summary.result.misfit = {true, false, .12, 40};
    summary.result.resolution.values = {1, 0};
    EXPECT_THAT(advice_of(summary),
                ElementsAre(HasSubstr("resemble none"), HasSubstr("even and odd"),
                            HasSubstr("--model auto"), HasSubstr("mended")));
    for (std::size_t i = 0; i < 3; ++i)
        summary.transforms.frames[i].result.ambiguous = true;
    EXPECT_THAT(advice_of(summary)[0], HasSubstr("ambiguous frames"));
    // Without frames that are left out, the evidence is about frames in doubt.
    for (FrameRegistration& frame : summary.transforms.frames)
        frame.leave_out(Omission::none, ""), frame.in_doubt = true;
    summary.evidence = {5, false, FrameEvidence::Rotated{3, 50}};
    EXPECT_THAT(advice_of(summary), SizeIs(3));
    EXPECT_THAT(advice_of(summary)[0], HasSubstr("--rotation 180"));
}

TEST(RegisterText, advises_first_on_the_most_probable_reason_of_a_failure) {
    RegisterSummary summary = summary_of(4);
    std::vector<FrameRegistration>& frames = summary.transforms.frames;
    frames[0].leave_out(Omission::unusable, "every sample is 0");
    for (std::size_t i = 1; i < 4; ++i)
        frames[i].leave_out(Omission::unlike, "no overlap");
    EXPECT_THAT(advice_on_failure(summary),
                ElementsAre(HasSubstr("shorter intervals"),
                            HasSubstr("such as frame 0 (every sample is 0)"),
                            HasSubstr("--flatten on"), HasSubstr("--dark")));
    summary.result.flattened = summary.corrected = true;
    EXPECT_THAT(advice_on_failure(summary), SizeIs(2)) << "what was done is not suggested";
    summary.evidence = {2, true};
    EXPECT_THAT(advice_on_failure(summary), ElementsAre(HasSubstr("noise"), HasSubstr("shutter")));
    for (std::size_t i = 1; i < 3; ++i)
        frames[i].leave_out(Omission::unreadable, "is cut off");
    EXPECT_THAT(advice_on_failure(summary),
                ElementsAre("some frames cannot be read, such as frame 1 (is cut off)",
                            HasSubstr("noise"), HasSubstr("shutter")));
}

TEST(RegisterText, offers_the_median_where_the_mean_has_streaks) {
    RegisterSummary summary = summary_of(6);
    EXPECT_THAT(to_text(summary), Not(HasSubstr("median may be")));
    summary.streaks = {24, 31, 7, 55};
    EXPECT_THAT(to_text(summary), HasSubstr("differ by more than noise in 24 pixels, most at (31, "
                                            "7), which suggests hot pixels: the median may be"));
    EXPECT_THAT(to_json(summary), HasSubstr("\"streak_pixels\": 24"));
}

TEST(RegisterText, names_the_option_for_rows_that_jitter) {
    RegisterSummary summary = summary_of(6);
    summary.result.misfit = {true, true, .12, 40};
    EXPECT_THAT(to_text(summary), HasSubstr("scan lines jitter, try --scan-rows\n"));
    EXPECT_THAT(to_json(summary), Not(HasSubstr("\"jitter\"")));
    summary.result.rows = RowFitSummary{.5, .25, .125, .14};
    const std::string text = to_text(summary);
    EXPECT_THAT(text,
                HasSubstr("rows jitter by 0.50 px and drift by (0.25, 0.12) px within a frame "
                          "(RMS); standard deviation of a row 0.140 px\n"));
    EXPECT_THAT(text, Not(HasSubstr("try")));
    EXPECT_THAT(text, Not(HasSubstr("flyback")));
    EXPECT_EQ(nlohmann::json::parse(to_json(summary))["rows"]["recognised"], false);
    summary.result.jitter_recognised = true;
    EXPECT_THAT(to_text(summary), HasSubstr("0.140 px; this was recognised, and is corrected"));
    EXPECT_EQ(nlohmann::json::parse(to_json(summary))["rows"]["recognised"], true);
    summary.result.flyback = 7;
    EXPECT_THAT(to_text(summary), HasSubstr("the first 7 columns of every frame are disturbed"));
    EXPECT_EQ(nlohmann::json::parse(to_json(summary))["rows"]["jitter"], .5);
    summary.result.misfit.of_rows = false;
    EXPECT_THAT(to_text(summary), HasSubstr(": try --model nonrigid\n"));
    summary.result.rows.reset();
    EXPECT_THAT(to_text(summary),
                HasSubstr("(RMS, 40 standard deviations above noise): try --model "
                          "auto, or --scan-rows if rows are"));
    summary.corrected = true;
    EXPECT_THAT(to_text(summary), HasSubstr("above noise): try --model auto"));
    summary.corrected = false;
    summary.transforms.frames[5].result.motion.tx = 3;
    EXPECT_THAT(to_text(summary), HasSubstr("above noise): try --model auto"));
}

TEST(RegisterText, states_the_aligned_stack_or_how_to_request_it) {
    RegisterSummary summary = summary_of(6);
    summary.aligned = {"out/aligned.tif", Sample::u16, 0, 0, "", 6, {3, 4, {60, 40}}};
    EXPECT_THAT(to_text(summary), HasSubstr("aligned: 6 frames of 60x40 u16, 0 without data\n"));
    summary.aligned = {};
    summary.aligned.omitted = "the aligned stack of 3 GB is not written: --aligned on";
    EXPECT_THAT(to_text(summary), HasSubstr("3 GB is not written: --aligned on\n"));
}

TEST(RegisterText, states_the_canvas_unless_it_is_the_area_of_the_reference) {
    RegisterSummary summary = summary_of(6);
    summary.transforms.canvas = registration::area_of(summary.transforms.shape);
    EXPECT_THAT(to_text(summary), Not(HasSubstr("canvas")));
    summary.transforms.canvas = {-3, 4, {60, 40}};
    EXPECT_THAT(to_text(summary), HasSubstr("canvas: 60x40 pixels; the first pixel of all images "
                                            "is (-3, 4) of the reference\n"));
}

TEST(RegisterText, names_the_frame_of_reference) {
    RegisterSummary summary = summary_of(3);
    EXPECT_EQ(frame_of_reference(summary.transforms), "the average of stage 1");
    summary.transforms.stages = 1;
    summary.transforms.reference = 2;
    EXPECT_EQ(frame_of_reference(summary.transforms), "frame 2");
}

TEST(RegisterWarnings, are_at_most_five_of_a_kind) {
    RegisterSummary summary = summary_of(20);
    for (std::size_t i = 0; i < 9; ++i)
        summary.transforms.frames[2 * i].leave_out(Omission::unusable,
                                                   "the mean is ." + std::to_string(i));
    summary.transforms.frames[3].leave_out(Omission::unreadable, "cannot be read");
    const std::vector<std::string> warnings = warnings_of_frames(summary.transforms);
    ASSERT_THAT(warnings, SizeIs(7));
    EXPECT_EQ(warnings[0], "movie.mrc: frame 0 is left out: the mean is .0");
    EXPECT_EQ(warnings[4], "movie.mrc: frame 8 is left out: the mean is .4");
    EXPECT_EQ(warnings[5], "movie.mrc: … and 4 more left out for the same reason");
    EXPECT_EQ(warnings[6], "movie.mrc: frame 3 is left out: cannot be read");
}

TEST(FramesToPicture, are_those_left_out_and_then_those_with_most_flags) {
    RegisterSummary summary = summary_of(40);
    std::vector<FrameRegistration>& frames = summary.transforms.frames;
    for (std::size_t i = 0; i < 30; ++i)
        frames[i].gaps = 1;
    frames[12].result.ambiguous = frames[12].in_doubt = true;
    frames[20].result.ambiguous = true;
    frames[35].leave_out(Omission::unusable, "dark");
    EXPECT_THAT(frames_to_picture(summary.transforms),
                ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 35));
    EXPECT_THAT(frames_to_picture(summary_of(4).transforms), SizeIs(0));
}

} // namespace
} // namespace sextant::command
