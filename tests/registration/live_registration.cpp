// SPDX-License-Identifier: BSD-3-Clause
// Frames that are registered one after another while a series is recorded, and their links.
#include "sextant/registration/live/live_registration.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series_registration.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/support/changed_fields.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::LiveFrame;
using registration::LiveLinks;
using registration::LiveRegistration;

std::string conditions(const RegistrationOptions& options, const FrameSource& source) {
    return registration::conditions_of_links(options, source.header(), 0, 0);
}

/// Registers all frames of a series, and makes `links` of the links between them.
class LiveSeries {
  public:
    explicit LiveSeries(const FramesMade& frames, int links = 0)
        : source_(frames),
          links_(folder_.path(), conditions(options_, source_)),
          live_(source_, options_, links_) {
        for (std::size_t frame = 0; frame < frames.size(); ++frame)
            live_.take(frame + 1 == frames.size());
        while (links-- > 0 && live_.link()) {
        }
    }

    const LiveRegistration& live() const { return live_; }
    const std::vector<LiveFrame>& frames() const { return live_.frames(); }
    const LiveLinks& links() const { return links_; }
    std::string folder() const { return folder_.path(); }

  private:
    RegistrationOptions options_;
    TemporaryFolder folder_;
    MadeSource source_;
    LiveLinks links_;
    LiveRegistration live_;
};

void fill(kernel::FloatPlane& frame, float value) {
    for (Elements y = 0; y < frame.shape().height; ++y)
        std::fill_n(frame.row(y), frame.shape().width, value);
}

void expect_motions(const MadeSeries& made, const std::vector<LiveFrame>& frames, double most) {
    for (const LiveFrame& frame : frames) {
        EXPECT_EQ(frame.flag, "") << frame.frame;
        EXPECT_LT(registration::rms_distance(frame.motion,
                                             made.series.motion(static_cast<int>(frame.frame)),
                                             {128, 128}, central),
                  most)
            << frame.frame;
    }
}

TEST(LiveRegistration, finds_the_motions_to_the_first_frame) {
    const MadeSeries made = make_series(12);
    const LiveSeries series(made.frames);
    EXPECT_EQ(series.live().reference(), 0);
    EXPECT_EQ(series.live().averaged(), 12);
    expect_motions(made, series.frames(), .3);
}

TEST(LiveRegistration, composes_motions_when_frames_leave_the_view_of_the_first_one) {
    const MadeSeries made = make_series(30, {}, {0, -5, 4}); // by more than a frame in all
    expect_motions(made, LiveSeries(made.frames).frames(), .5);
}

TEST(LiveRegistration, averages_the_frames_in_the_area_of_the_reference) {
    const MadeSeries made = make_series(8);
    const LiveSeries series(made.frames);
    const std::vector<float> average = series.live().average();
    // A readable reference: each frame resampled alone, and the mean of those that cover a pixel.
    MadeSource source(made.frames);
    registration::Resampler resampler(source);
    std::vector<double> sum(average.size()), count(average.size());
    std::vector<float> shown(average.size());
    for (const LiveFrame& frame : series.frames()) {
        resampler.resample(frame.frame, frame.motion, registration::area_of({128, 128}), shown);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            if (std::isnan(shown[i]))
                continue;
            sum[i] += static_cast<double>(shown[i]);
            count[i] += 1;
        }
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        EXPECT_EQ(series.live().count()[i], static_cast<float>(count[i]));
        EXPECT_NEAR(static_cast<double>(average[i]), count[i] > 0 ? sum[i] / count[i] : 0, 1e-4);
    }
}

TEST(LiveRegistration, leaves_out_dark_and_constant_frames) {
    MadeSeries made = make_series(10, {4});
    fill(made.frames[6], 3);
    LiveSeries series(made.frames);
    const auto& frames = series.frames();
    EXPECT_THAT(frames[4].flag, testing::StartsWith("the mean is"));
    EXPECT_EQ(frames[6].flag, "every sample is 3");
    EXPECT_EQ(series.live().averaged(), 8);
    EXPECT_EQ(frames[9].flag, "");
}

TEST(LiveRegistration, begins_again_if_the_first_frames_are_dark) {
    MadeSeries made = make_series(8, {0, 1});
    const LiveSeries series(made.frames);
    EXPECT_EQ(series.live().reference(), 2);
    EXPECT_NE(series.frames()[0].flag, "");
    EXPECT_NE(series.frames()[1].flag, "");
    EXPECT_EQ(series.live().averaged(), 6);
}

TEST(LiveRegistration, does_not_take_the_last_frame_before_it_is_whole) {
    MadeSeries made = make_series(3), whole = make_series(3);
    fill(made.frames[2], 0);
    MadeSource source(made.frames);
    const TemporaryFolder folder;
    const RegistrationOptions options;
    LiveLinks links(folder.path(), conditions(options, source));
    LiveRegistration live(source, options, links);
    live.take(false);
    live.take(false);
    EXPECT_THROW(live.take(true), registration::UnusableFrame);
    EXPECT_EQ(live.frames().size(), 2U);
    std::swap(whole.frames[2], made.frames[2]);
    EXPECT_EQ(live.take(true).flag, "");
}

/// Registers a series with a checkpoint in a folder.
RegistrationResult registered(const FramesMade& frames, const std::string& folder,
                              RegistrationOptions options = {}) {
    options.reproducible = true;
    options.checkpoint = folder;
    return registration_of(frames, options);
}

void expect_same(const RegistrationResult& a, const RegistrationResult& b) {
    EXPECT_EQ(a.average.mean, b.average.mean);
    EXPECT_EQ(a.average.median, b.average.median);
    for (std::size_t i = 0; i < a.frames.size(); ++i)
        EXPECT_EQ(a.frames[i].result.motion, b.frames[i].result.motion);
}

TEST(LiveLinks, are_taken_by_the_batch_run_with_the_same_bits) {
    const MadeSeries made = make_series(12, {5}); // frame 5 is not usable: 4 and 6 are neighbours
    const TemporaryFolder folder;
    const RegistrationResult batch = registered(made.frames, folder.path("batch"));
    EXPECT_EQ(batch.resumed, 0U);
    constexpr int all = 1 + 2 + 3 * 8;
    for (const int links : {1, 10, 100}) {
        const LiveSeries series(made.frames, links);
        EXPECT_EQ(series.links().size(), static_cast<std::size_t>(std::min(links, all)));
        const RegistrationResult result = registered(made.frames, series.folder());
        EXPECT_EQ(result.resumed, static_cast<std::size_t>(std::min(links, all)));
        expect_same(result, batch);
        EXPECT_FALSE(LiveLinks::exist(series.folder())) << "they are removed at the end";
    }
}

TEST(LiveLinks, of_other_frames_or_conditions_are_not_taken) {
    MadeSeries made = make_series(8);
    const TemporaryFolder folder;
    {
        const LiveSeries series(made.frames, 100);
        made.frames[3].row(0)[100] += 1; // three links to frames before it, and three after it
        const RegistrationResult result = registered(made.frames, series.folder());
        EXPECT_EQ(result.resumed, 18U - 6U);
        expect_same(result, registered(made.frames, folder.path("changed")));
    }
    const LiveSeries series(made.frames, 100);
    RegistrationOptions options;
    options.contrast = ContrastSearch::same;
    EXPECT_EQ(registered(made.frames, series.folder(), options).resumed, 0U);
}

TEST(LiveLinks, made_with_other_options_are_taken_only_if_these_have_no_effect_on_them) {
    const MadeSeries made = make_series(5);
    const LiveSeries series(made.frames, 100);
    const TemporaryFolder folder;
    const std::map<std::string, std::string> other_values = {
        {"memory", "32M"},    {"frames", "0-2"},    {"despike", "9"},
        {"rotation", "8"},    {"reference", "2"},   {"threads", "3"},
        {"farthest", "2"},    {"checkpoint", "no"}, {"prefilter", "1.7000001"},
        {"roi", "8,8,96,96"}, {"max_shift", "40"},  {"bidirectional", "off"}};
    const auto free = registration::options_without_effect_on_links();
    RegistrationOptions usual;
    for (const Field& field : record_of(usual).fields) {
        SCOPED_TRACE(field.name);
        RegistrationOptions options;
        Record record = record_of(options);
        change(record, field.name, other_values);
        const std::string copy = folder.path("copy"), fresh = folder.path("fresh");
        std::filesystem::create_directory(copy);
        std::filesystem::copy(registration::path_of_live_links(series.folder()), copy);
        const RegistrationResult result = registered(made.frames, copy, options);
        const bool is_free = std::ranges::find(free, field.name) != free.end();
        if (!is_free) {
            EXPECT_EQ(result.resumed, 0U);
        } else if (field.name != "restart" && field.name != "flatten") {
            EXPECT_GT(result.resumed, 0U);
        }
        expect_same(result, registered(made.frames, fresh, options));
    }
}

TEST(LiveLinks, are_continued_unless_the_conditions_differ) {
    const TemporaryFolder folder;
    {
        LiveLinks links(folder.path(), "a");
        links.keep(0, {.mean = 1});
        links.keep(1, {.mean = 2});
        links.keep(0, 1, true, {});
        EXPECT_THROW(LiveLinks(folder.path(), "a"), InvalidFile) << "another process writes it";
    }
    {
        LiveLinks links(folder.path(), "a");
        EXPECT_TRUE(links.has(0, 1, true));
        EXPECT_FALSE(links.has(0, 1, false));
        links.keep(0, {.mean = 1});
        EXPECT_TRUE(links.has(0, 1, true));
        links.keep(1, {.mean = 3}); // another frame
        EXPECT_FALSE(links.has(0, 1, true));
    }
    EXPECT_THROW(LiveLinks(folder.path(), "b"), InvalidTask);
    { const registration::Checkpoint checkpoint(folder.path(), 0, {{"model", "rigid"}}); }
    registration::Checkpoint::mark_failed(folder.path());
    EXPECT_EQ(LiveLinks(folder.path(), "a").size(), 1U) << "the same run continues";
    EXPECT_EQ(LiveLinks(folder.path(), "b").size(), 0U) << "a run that failed stops no other one";
}

} // namespace
} // namespace sextant::test
