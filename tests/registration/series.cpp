// SPDX-License-Identifier: BSD-3-Clause
// Series of frames of known motion, registered on any number of ranks.
#include "sextant/registration/series.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/registration/stages.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/registration/trials.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::FramePlace;
using registration::SeriesPlan;
using registration::SyntheticSeries;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Frames = std::vector<kernel::FloatPlane>;

/// Frames in memory.
class Source : public FrameSource {
  public:
    explicit Source(const Frames& frames)
        : FrameSource("made", header_of(frames)), frames_(frames) {}

    const Frames& frames() const { return frames_; }

  private:
    static FrameHeader header_of(const Frames& frames) {
        FrameHeader header;
        header.frames = static_cast<std::int64_t>(frames.size());
        header.shape = frames.empty() ? ImageShape{16, 16} : frames.front().shape();
        return header;
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const kernel::FloatImage image = frames_[static_cast<std::size_t>(frame)].image();
        const auto bytes = static_cast<std::size_t>(image.shape.width) * sizeof(float);
        for (std::int64_t y = rows.first; y < rows.last; ++y)
            std::memcpy(to.data() + static_cast<std::size_t>(y - rows.first) * bytes, image.row(y),
                        bytes);
    }

    const Frames& frames_;
};

struct Made {
    SyntheticSeries series;
    Frames frames;
    double bound;
};

Made make(int frames, std::vector<int> blanks = {},
          const RigidMotion& drift = {.1 * degree, 1.4, -.9}) {
    SeriesPlan plan;
    plan.shape = {128, 128};
    plan.frames = frames;
    plan.drift = drift;
    plan.wander = .4;
    plan.blanks = std::move(blanks);
    registration::SpecimenPlan of_specimen;
    of_specimen.field = registration::field_for(plan);
    const registration::Specimen specimen = registration::find_specimen("carbon").make(of_specimen);
    Made made{SyntheticSeries(plan, specimen), {}, cramer_rao(specimen, plan.shape, plan.dose)};
    for (int frame = 0; frame < frames; ++frame)
        made.frames.push_back(made.series.counted(frame));
    return made;
}

std::vector<FramePlace> registered(const Frames& frames, int ranks,
                                   const registration::SeriesOptions& options = {}) {
    std::vector<std::vector<FramePlace>> parts(static_cast<std::size_t>(ranks));
    run_threads(ranks, [&](const Communicator& communicator) {
        Source source(frames);
        parts[static_cast<std::size_t>(communicator.rank())] =
            registration::register_series(communicator, source, options);
    });
    std::vector<FramePlace> all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

double error_of(const Made& made, const FramePlace& place, int reference) {
    const RigidMotion truth = made.series.between(reference, static_cast<int>(place.frame));
    return registration::rms_distance(place.result.motion, truth, {128, 128}, central);
}

TEST(Series, errors_do_not_grow_with_the_number_of_a_frame) {
    const Made made = make(14);
    const std::vector<FramePlace> places = registered(made.frames, 2);
    ASSERT_EQ(places.size(), 14U);
    EXPECT_EQ(places.front().result.motion, RigidMotion());
    double early = 0, late = 0;
    for (int frame = 1; frame < 14; ++frame) {
        const FramePlace& place = places[static_cast<std::size_t>(frame)];
        EXPECT_EQ(place.frame, frame);
        EXPECT_FALSE(place.result.unrelated || place.result.ambiguous);
        const double error = error_of(made, place, 0);
        EXPECT_LT(error, 4 * made.bound) << frame;
        (frame < 7 ? early : late) += error / 6.5;
    }
    EXPECT_LT(late, 2 * early) << "a chain's error would be several times larger at its end";
}

TEST(Series, any_number_of_ranks_gives_the_same_motions_within_their_noise) {
    const Made made = make(9);
    const std::vector<FramePlace> alone = registered(made.frames, 1);
    for (const int ranks : {2, 3, 4, 7, 12}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks);
        ASSERT_EQ(places.size(), alone.size()) << ranks;
        for (std::size_t frame = 0; frame < alone.size(); ++frame)
            EXPECT_LT(registration::rms_distance(places[frame].result.motion,
                                                 alone[frame].result.motion, {128, 128}),
                      .005)
                << frame << " on " << ranks;
    }
}

TEST(Series, ranks_that_share_by_how_long_neighbours_took_give_the_same_motions_too) {
    const Made made = make(9, {4});
    registration::SeriesOptions options;
    options.scan.strategy = "reduce-then-scan";
    options.scan.shares = scan::Shares::by_time_across_ranks;
    const std::vector<FramePlace> alone = registered(made.frames, 1);
    for (const int ranks : {1, 3, 4}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks, options);
        ASSERT_EQ(places.size(), alone.size()) << ranks;
        for (std::size_t frame = 0; frame < alone.size(); ++frame) {
            EXPECT_EQ(places[frame].frame, alone[frame].frame);
            EXPECT_EQ(places[frame].left_out, alone[frame].left_out);
            EXPECT_LT(registration::rms_distance(places[frame].result.motion,
                                                 alone[frame].result.motion, {128, 128}),
                      .005)
                << frame << " on " << ranks;
        }
    }
}

TEST(Series, the_same_number_of_ranks_gives_the_same_bits) {
    const Made made = make(7);
    const std::vector<FramePlace> once = registered(made.frames, 3);
    const std::vector<FramePlace> again = registered(made.frames, 3);
    for (std::size_t frame = 0; frame < once.size(); ++frame)
        EXPECT_EQ(once[frame].result.motion, again[frame].result.motion);
}

TEST(Series, frames_without_a_picture_are_left_out_with_the_reason) {
    Made made = make(10, {0, 4, 5});
    made.frames[7] = kernel::FloatPlane({128, 128});
    std::fill_n(made.frames[8].row(3), 128 * 40, std::nanf(""));
    made.frames[9].row(70)[5] = std::nanf("");
    for (const int ranks : {1, 3}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks);
        for (const int dark : {0, 4, 5})
            EXPECT_THAT(places[static_cast<std::size_t>(dark)].left_out,
                        HasSubstr("that of others"));
        EXPECT_THAT(places[7].left_out, HasSubstr("every sample is 0"));
        EXPECT_THAT(places[8].left_out, HasSubstr("samples are not finite"));
        EXPECT_EQ(places[9].gaps, 1);
        for (const int good : {1, 2, 3, 6, 9}) {
            const FramePlace& place = places[static_cast<std::size_t>(good)];
            EXPECT_EQ(place.left_out, "");
            EXPECT_LT(error_of(made, place, 1), 4 * made.bound) << good;
        }
    }
}

TEST(Series, of_one_frame_or_of_none_that_can_be_registered_are_series_too) {
    const Made made = make(1);
    EXPECT_EQ(registered(made.frames, 2).front().result.motion, RigidMotion());
    Frames dark;
    dark.emplace_back(ImageShape{64, 64});
    dark.emplace_back(ImageShape{64, 64});
    for (const FramePlace& place : registered(dark, 2))
        EXPECT_THAT(place.left_out, HasSubstr("every sample is 0"));
}

TEST(Series, without_frames_or_on_threads_of_a_rank_is_refused) {
    EXPECT_THAT([] { registered({}, 1); },
                ThrowsMessage<AgreedFailure>(HasSubstr("a series without frames")));
    run_threads(1, [](const Communicator& communicator) {
        const Made made = make(2);
        Source source(made.frames);
        registration::SeriesOptions options;
        options.scan.threads = 2;
        EXPECT_THAT(([&] { registration::register_series(communicator, source, options); }),
                    ThrowsMessage<AgreedFailure>(HasSubstr("one thread a rank, not on 2")));
    });
}

TEST(Series, against_a_chosen_frame_leaves_that_one_where_it_is) {
    const Made made = make(7);
    registration::SeriesOptions options;
    options.reference = 4;
    for (const int ranks : {1, 3}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks, options);
        EXPECT_EQ(places[4].result.motion, RigidMotion());
        for (const FramePlace& place : places)
            EXPECT_LT(error_of(made, place, 4), 4 * made.bound) << place.frame;
    }
    options.reference = 7;
    EXPECT_THAT([&] { registered(made.frames, 2, options); },
                ThrowsMessage<AgreedFailure>(HasSubstr("reference 7, expected 0 to 6")));
}

TEST(Series, a_frame_of_another_specimen_is_left_out_and_bridged) {
    Made made = make(7);
    made.frames[3] = make_pair({.specimen = "particles", .shape = {128, 128}}).moved;
    for (const int ranks : {1, 2}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks);
        EXPECT_THAT(places[3].left_out, HasSubstr("resembles none"));
        for (const int frame : {1, 2, 4, 5, 6})
            EXPECT_LT(error_of(made, places[static_cast<std::size_t>(frame)], 0), 4 * made.bound);
    }
    registration::SeriesOptions options;
    options.reference = 3;
    EXPECT_THAT([&] { registered(made.frames, 2, options); },
                ThrowsMessage<AgreedFailure>(HasSubstr("frame 3 can be no reference: it resem")));
}

TEST(Series, frames_that_show_nothing_of_the_reference_any_more_are_not_placed_at_random) {
    Made made = make(12, {}, {0, 14, 3});
    for (const int ranks : {1, 2}) {
        std::vector<FramePlace> places = registered(made.frames, ranks);
        for (const FramePlace& place : places)
            EXPECT_LT(error_of(made, place, 0), place.result.unrelated ? 2 : .5) << place.frame;
        EXPECT_TRUE(places.back().result.unrelated);
        registration::leave_out_strangers(places);
        EXPECT_THAT(places.back().left_out, HasSubstr("of a frame, is no more alike than noise"));
        EXPECT_EQ(places[3].left_out, "");
    }
}

TEST(Series, a_hop_by_a_period_is_mended_by_what_frames_around_say) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 24;
    plan.drift = {0, 5, -.7};
    plan.wander = 6;
    plan.seed = 2;
    registration::SpecimenPlan nearly_perfect;
    nearly_perfect.field = registration::field_for(plan);
    nearly_perfect.amorphous = .14;
    nearly_perfect.seed = 2;
    const SyntheticSeries series(plan, registration::find_specimen("lattice").make(nearly_perfect));
    constexpr int first = 7;
    Frames frames;
    for (int frame = first; frame < 14; ++frame)
        frames.push_back(series.counted(frame));
    const auto worst = [&](const std::vector<FramePlace>& places) {
        double most = 0;
        for (const FramePlace& place : places)
            most = std::max(
                most, rms_distance(place.result.motion,
                                   series.between(first, first + static_cast<int>(place.frame)),
                                   plan.shape));
        return most;
    };
    registration::SeriesOptions unchecked;
    unchecked.farthest = 1;
    EXPECT_GT(worst(registered(frames, 1, unchecked)), 20) << "there is no hop to mend";
    for (const int ranks : {1, 2}) {
        const std::vector<FramePlace> places = registered(frames, ranks);
        EXPECT_LT(worst(places), .5);
        EXPECT_TRUE(places[3].mended);
        EXPECT_FALSE(places[2].mended);
    }
}

/// Keeps results in memory.
class MemoryLedger : public registration::Ledger {
  public:
    std::optional<std::vector<std::byte>> find(const registration::EntryName& name) override {
        const auto at = entries_.find(name);
        return at == entries_.end() ? std::nullopt : std::optional(at->second);
    }
    void keep(const registration::EntryName& name, std::span<const std::byte> bytes) override {
        entries_[name].assign(bytes.begin(), bytes.end());
        ++kept;
    }
    void refresh() override {}
    int kept = 0;

  private:
    std::map<registration::EntryName, std::vector<std::byte>> entries_;
};

TEST(Series, with_a_ledger_finds_again_what_it_kept) {
    const Made made = make(6);
    MemoryLedger ledger;
    run_threads(1, [&](const Communicator& communicator) {
        Source source(made.frames);
        const registration::SeriesOptions options;
        registration::SeriesHooks hooks;
        hooks.ledger = &ledger;
        const auto run = [&] {
            return register_series(communicator, source,
                                   look_at_series(communicator, source, options), options, hooks);
        };
        const std::vector<FramePlace> once = run();
        const int kept = std::exchange(ledger.kept, 0);
        EXPECT_GE(kept, 5 + 4 + 3 + 4) << "neighbours, skips, and the scan";
        const std::vector<FramePlace> again = run();
        EXPECT_EQ(ledger.kept, 0) << "all of it was known";
        for (std::size_t frame = 0; frame < once.size(); ++frame)
            EXPECT_EQ(once[frame].result.motion, again[frame].result.motion);
    });
}

/// The RMS difference of an image and what frame 0 is expected to show, within its middle.
double difference(std::span<const float> image, const kernel::FloatPlane& truth) {
    double sum = 0;
    for (Elements y = 30; y < 98; ++y) {
        for (Elements x = 30; x < 98; ++x) {
            const float off = image[static_cast<std::size_t>(y * 128 + x)] - truth.image().at(x, y);
            sum += static_cast<double>(off) * static_cast<double>(off);
        }
    }
    return std::sqrt(sum) / 68;
}

struct Stacked {
    explicit Stacked(const Made& made) : source(made.frames) {
        for (int frame = 0; frame < made.series.plan().frames; ++frame) {
            registered.frames.push_back(frame);
            registered.motions.push_back(made.series.between(0, frame));
        }
    }
    Source source;
    registration::Registered registered;

    registration::Combined combined(int ranks, Bytes memory = Bytes{1} << 24) {
        registration::Combined result;
        std::mutex one_reader;
        run_threads(ranks, [&](const Communicator& communicator) {
            Source own(source.frames());
            registration::Combined mine = combine(communicator, own, registered.frames,
                                                  transforms(registered), {true, memory});
            const std::lock_guard lock(one_reader);
            if (communicator.rank() == ranks - 1)
                result = std::move(mine);
        });
        return result;
    }
};

TEST(Combined, frames_have_less_noise_and_count_their_samples) {
    const Made made = make(12);
    const registration::Combined all = Stacked(made).combined(1);
    const kernel::FloatPlane truth = made.series.expected(0);
    const auto at = [](Elements x, Elements y) { return static_cast<std::size_t>(y * 128 + x); };
    EXPECT_EQ(all.count[at(64, 64)], 12);
    EXPECT_LT(all.count[at(0, 127)], 12) << "the specimen drifted out there";
    std::vector<float> alone(128 * 128);
    Source(made.frames).read_frame(0, alone);
    EXPECT_LT(difference(all.mean, truth), .33 * difference(alone, truth));
    EXPECT_LT(difference(all.median, truth), .4 * difference(alone, truth));
}

TEST(Combined, has_the_same_bits_on_any_number_of_ranks_and_in_any_memory) {
    const Made made = make(5);
    Stacked stacked(made);
    const registration::Combined once = stacked.combined(1);
    for (const int ranks : {2, 3}) {
        const registration::Combined other = stacked.combined(ranks, 40'000);
        EXPECT_EQ(once.mean, other.mean);
        EXPECT_EQ(once.median, other.median);
        EXPECT_EQ(once.count, other.count);
    }
    EXPECT_THAT([&] { stacked.combined(2, 1000); },
                ThrowsMessage<AgreedFailure>(HasSubstr("1000 bytes of memory for a row of 5")));
}

TEST(Combined, median_forgets_an_outlier_and_neither_counts_a_gap) {
    Frames frames;
    for (const float level : {1.F, 2.F, 3.F, 1000.F}) {
        frames.emplace_back(ImageShape{16, 16});
        for (Elements y = 0; y < 16; ++y)
            std::fill_n(frames.back().row(y), 16, level);
    }
    frames[0].row(8)[8] = std::nanf("");
    Source source(frames);
    run_threads(1, [&](const Communicator& communicator) {
        const std::vector<std::int64_t> all = {0, 1, 2, 3};
        const registration::Combined combined = registration::combine(
            communicator, source, all, [](std::int64_t) { return RigidMotion(); });
        EXPECT_EQ(combined.median[0], 2.5F);
        EXPECT_EQ(combined.mean[0], 251.5F);
        EXPECT_EQ(combined.count[0], 4);
        EXPECT_EQ(combined.median[8 * 16 + 8], 3);
        EXPECT_EQ(combined.count[8 * 16 + 8], 3);
    });
}

/// The RMS error of all motions between two frames, in which the noise of a reference that all have
/// in common has no part.
double error_among_frames(const Made& made, const std::vector<FramePlace>& places) {
    double sum = 0, pairs = 0;
    for (const FramePlace& a : places) {
        for (const FramePlace& b : places) {
            if (a.frame >= b.frame)
                continue;
            const double error = rms_distance(
                compose(b.result.motion, inverse(a.result.motion)),
                made.series.between(static_cast<int>(a.frame), static_cast<int>(b.frame)),
                {128, 128}, central);
            sum += error * error;
            ++pairs;
        }
    }
    return std::sqrt(sum / pairs);
}

TEST(Stages, registration_to_the_average_agrees_better_among_frames) {
    const Made made = make(10);
    run_threads(1, [&](const Communicator& communicator) {
        Source source(made.frames);
        std::vector<FramePlace> places = registration::register_series(communicator, source);
        const double before = error_among_frames(made, places);
        const registration::StageOptions options;
        const registration::Registered all = everyones(communicator, places);
        const std::vector<float> average =
            average_of(communicator, source, all, transforms(all), options);
        register_to_average(source, average, places, 2, options, {});
        EXPECT_LT(error_among_frames(made, places), before);
    });
}

TEST(Stages, fields_are_kept_in_the_ledger_and_show_frames_where_they_lie) {
    const Made made = make(3);
    MemoryLedger ledger;
    run_threads(1, [&](const Communicator& communicator) {
        Source source(made.frames);
        std::vector<FramePlace> places = registration::register_series(communicator, source);
        registration::SeriesHooks hooks;
        hooks.ledger = &ledger;
        std::vector<float> reference(128 * 128);
        source.read_frame(0, reference);
        register_by_fields(source, reference, 0, places, 1, {}, hooks);
        ASSERT_EQ(std::exchange(ledger.kept, 0), 3);
        const auto field_of = registration::transforms_by_fields(ledger, 0, 1);
        for (const FramePlace& place : places) {
            const auto field = std::get<registration::DisplacementField>(field_of(place.frame));
            const RigidMotion truth = made.series.between(0, static_cast<int>(place.frame));
            EXPECT_LT(rms_distance(field, as_field(truth, {128, 128}, 8), central), .3);
            EXPECT_TRUE(place.field);
        }
        register_by_fields(source, reference, 0, places, 1, {}, hooks);
        EXPECT_EQ(ledger.kept, 0);
        EXPECT_THROW(registration::transforms_by_fields(ledger, 0, 2)(1), CommunicationFailed);
    });
}

} // namespace
} // namespace sextant::test
