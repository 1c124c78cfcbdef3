// SPDX-License-Identifier: BSD-3-Clause
// Each option of a registration is either part of what identifies a checkpoint, or has no effect on
// the results in it.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series_registration.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/support/changed_fields.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Names all members, so that this does not compile if there is another one: a new option must be
/// in the record of RegistrationOptions, or among those of registration::identity_of that are not.
[[maybe_unused]] void name_members(const RegistrationOptions& options) {
    [[maybe_unused]] const auto& [model, reference, stages, reproducible, recorded_mean, threads,
                                  memory, checkpoint, restart, rigid, nonrigid, limits, prefilter,
                                  farthest, tolerance, average, frames, despike, detector,
                                  thread_work, flatten, static_pattern, contrast, canvas, scan_rows,
                                  region, roi, bidirectional, min_registered] = options;
}

SeriesRun registered(const FramesMade& frames, const RegistrationOptions& options) {
    return run_series(frames, 1, options);
}

/// Values of options that are neither flags, choices nor any numbers.
const std::map<std::string, std::string> other_values = {
    {"memory", "32M"},    {"frames", "0-2"},      {"despike", "9"},
    {"rotation", "8"},    {"checkpoint", "none"}, {"reference", "2"},
    {"threads", "3"},     {"tolerance", "1.25"},  {"prefilter", "1.7000001"},
    {"roi", "8,8,64,64"}, {"max_shift", "40"},    {"bidirectional", "off"}};

/// Changes of the options that the record leaves out, by their names in the identity.
const std::map<std::string, std::function<void(RegistrationOptions&)>> unlisted = {
    {"rigid.most_steps", [](auto& options) { options.rigid.most_steps = 31; }},
    {"rigid.stop", [](auto& options) { options.rigid.stop *= 1.0001; }},
    {"rigid.least_lead", [](auto& options) { options.rigid.least_lead = 2; }},
    {"rigid.inverts", [](auto& options) { options.rigid.inverts = true; }},
    {"nonrigid.prefilter", [](auto& options) { options.nonrigid.prefilter *= 2; }},
    {"nonrigid.levels", [](auto& options) { options.nonrigid.levels = 2; }},
    {"nonrigid.fit.steps", [](auto& options) { options.nonrigid.fit.steps = 21; }},
    {"nonrigid.fit.stop", [](auto& options) { options.nonrigid.fit.stop *= 2; }},
    {"nonrigid.fit.reach", [](auto& options) { options.nonrigid.fit.reach = 4; }},
    {"nonrigid.fit.weak_steps", [](auto& options) { options.nonrigid.fit.weak_steps = 2; }},
    {"nonrigid.fit.share_of_strain",
     [](auto& options) { options.nonrigid.fit.share_of_strain = .2; }},
    {"limits.least_brightness", [](auto& options) { options.limits.least_brightness = .06; }},
    {"limits.most_gaps", [](auto& options) { options.limits.most_gaps = .7; }},
};

TEST(RegistrationOptions, must_be_the_same_on_all_ranks_also_those_that_the_record_leaves_out) {
    const FramesMade frames = make_series(3).frames;
    for (const auto& [name, change] : unlisted) {
        run_threads(2, [&, name = name, change = change](const Communicator& communicator) {
            RegistrationOptions options;
            if (communicator.rank() == 1)
                change(options);
            const SeriesRegistration registration(communicator, options);
            EXPECT_THAT([&] { registration.run(std::make_unique<MadeSource>(frames)); },
                        ThrowsMessage<AgreedFailure>(HasSubstr(name + ": rank 0 has ")));
        });
    }
}

RegistrationOptions usual(const std::string& checkpoint = "") {
    RegistrationOptions options;
    options.reproducible = true;
    options.checkpoint = checkpoint;
    return options;
}

/// A checkpoint of a run whose results could not be written, copied for each test.
class LeftCheckpoint {
  public:
    explicit LeftCheckpoint(const FramesMade& frames) {
        EXPECT_THROW(run_series(frames, 1, usual(folder_.path("left")), {}, true), AgreedFailure);
    }
    std::string copy() {
        const std::string path = folder_.path("copy");
        std::filesystem::remove_all(path);
        std::filesystem::copy(folder_.path("left"), path);
        return path;
    }

  private:
    TemporaryFolder folder_;
};

TEST(ResumedOptions, that_change_results_are_refused_and_all_others_give_the_same_bits) {
    const MadeSeries made = make_series(5);
    LeftCheckpoint left(made.frames);
    const auto free = registration::options_without_effect_on_checkpoints();
    RegistrationOptions usual_options = usual();
    for (const Field& field : record_of(usual_options).fields) {
        const std::string& name = field.name;
        if (name == "checkpoint")
            continue; // another folder has another checkpoint
        SCOPED_TRACE(name);
        RegistrationOptions options = usual(left.copy());
        Record record = record_of(options);
        change(record, name, other_values);
        if (name == "reproducible" || std::ranges::find(free, name) == free.end()) {
            const std::string stated = name == "reproducible" ? "association" : name;
            EXPECT_THAT([&] { registered(made.frames, options); },
                        ThrowsMessage<AgreedFailure>(
                            HasSubstr("belongs to another run, whose " + stated + " is ")));
            continue;
        }
        const SeriesRun resumed = registered(made.frames, options);
        EXPECT_EQ(total(resumed) == 0, name != "restart");
        options.checkpoint.clear();
        expect_same(resumed, registered(made.frames, options));
    }
}

TEST(ResumedOptions, runs_of_every_model_continue_with_the_same_bits) {
    const MadeSeries made = make_series(4);
    RegistrationOptions similarity = usual(), fields = usual(), rows = usual(), canvas = usual();
    similarity.model = MotionModel::similarity;
    fields.model = MotionModel::nonrigid;
    rows.scan_rows = ScanRows::on;
    canvas.canvas = Canvas::united;
    for (RegistrationOptions options : {similarity, fields, rows, canvas}) {
        SCOPED_TRACE(static_cast<int>(options.model));
        const SeriesRun whole = run_series(made.frames, 2, options);
        const TemporaryFolder folder;
        options.checkpoint = folder.path();
        EXPECT_THROW(run_series(made.frames, 2, options, {}, true), AgreedFailure);
        const SeriesRun resumed = run_series(made.frames, 2, options);
        EXPECT_EQ(total(resumed), 0) << "everything was in the checkpoint";
        expect_same(resumed, whole);
        EXPECT_EQ(folder.entries(), 0);
    }
}

TEST(ResumedOptions, that_the_record_leaves_out_are_refused_too) {
    std::set<std::string> expected{"rigid.most_rotation"}; // "rotation" in the record
    for (const auto& [name, change] : unlisted)
        expected.insert(name);
    std::set<std::string> named;
    for (const auto& [name, value] : registration::identity_of(RegistrationOptions(), {})) {
        if (name.find('.') != std::string::npos)
            named.insert(name);
    }
    EXPECT_EQ(named, expected) << "an option without a change in this test";
    const MadeSeries made = make_series(3);
    LeftCheckpoint left(made.frames);
    for (const auto& [name, change] : unlisted) {
        RegistrationOptions options = usual(left.copy());
        change(options);
        EXPECT_THAT([&] { registered(made.frames, options); },
                    ThrowsMessage<AgreedFailure>(
                        HasSubstr("belongs to another run, whose " + name + " is ")));
    }
}

FramesMade shifted(const FramesMade& frames) {
    FramesMade shifted;
    std::int64_t by = 3;
    for (const kernel::FloatPlane& frame : frames) {
        const ImageShape shape = frame.shape();
        kernel::FloatPlane& to = shifted.emplace_back(shape);
        for (Elements y = 0; y < shape.height; ++y)
            for (Elements x = 0; x < shape.width; ++x)
                to.row((y + by) % shape.height)[(x + 2 * by) % shape.width] =
                    frame.image().row(y)[x];
        by += 5;
    }
    return shifted;
}

TEST(ResumedOptions, do_not_continue_a_series_of_the_same_samples_at_other_positions) {
    const MadeSeries made = make_series(3);
    LeftCheckpoint left(made.frames);
    try {
        registered(shifted(made.frames), usual(left.copy()));
        FAIL() << "the checkpoint was continued";
    } catch (const AgreedFailure& refused) {
        EXPECT_THAT(refused.what(), HasSubstr("belongs to another run, whose filtered"));
        EXPECT_EQ(refused.fault(), AgreedFailure::Fault::data);
    }
}

TEST(ResumedOptions, checkpoint_of_a_failed_run_does_not_stop_another_series) {
    const MadeSeries made = make_series(4), other = make_series(3);
    LeftCheckpoint left(made.frames);
    const std::string folder = left.copy();
    const SeriesRun run = registered(other.frames, usual(folder));
    EXPECT_THAT(run.result.warnings,
                testing::Contains(HasSubstr("of a failed run on another series was removed")));
    expect_same(run, registered(other.frames, usual()));
    EXPECT_TRUE(std::filesystem::is_empty(folder));

    const SeriesRun resumed =
        registered(made.frames, usual(left.copy())); // the same series continues
    EXPECT_EQ(total(resumed), 0);
}

TEST(ResumedOptions, run_that_would_fail_again_leaves_no_checkpoint) {
    MadeSeries made = make_series(3);
    for (std::size_t frame = 0; frame < made.frames.size(); ++frame) { // unrelated noise
        std::uint32_t state = 7 + static_cast<std::uint32_t>(frame);
        for (Elements y = 0; y < 128; ++y)
            for (Elements x = 0; x < 128; ++x) {
                state = state * 1664525U + 1013904223U;
                made.frames[frame].row(y)[x] = static_cast<float>(state >> 16U);
            }
    }
    const TemporaryFolder folder;
    EXPECT_THAT([&] { registered(made.frames, usual(folder.path())); },
                ThrowsMessage<AgreedFailure>(HasSubstr("at least 2 are needed")));
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
