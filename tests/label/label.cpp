// SPDX-License-Identifier: BSD-3-Clause
// Components of images and volumes in slabs, on threads and on ranks, compared with a flood fill.
#include "sextant/label/label.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/agreed_failure.hpp"
#include "tests/support/changed_fields.hpp"
#include "tests/support/flood_fill.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using kernel::Body;
using kernel::Label;
using kernel::Neighbours;
using kernel::Sameness;
using kernel::VolumeShape;

template <class Value>
FrameHeader header_of(const VolumeShape& shape, Sample sample) {
    FrameHeader header;
    header.frames = shape.depth; // 1 for an image
    header.shape = {shape.width, shape.height};
    header.sample = sample;
    return header;
}

struct Made {
    std::vector<ComponentNumber> labels;
    LabelResult result;
    std::vector<Body> table;
};

/// Collects planes and rows, which must come in order.
class Collected : public LabelSink {
  public:
    Elements planes_per_part() const override { return per_part; }
    Elements begin(const LabelResult& of, Elements first, Elements end) override {
        result = of;
        first_ = first;
        end_ = end;
        next_ = first + std::min(stored, end - first);
        return next_ - first;
    }
    void rows(ComponentNumber first, std::span<const Body> bodies) override {
        ASSERT_EQ(first, table.size() + 1);
        ASSERT_EQ(end_, 0) << "rows after begin()";
        table.insert(table.end(), bodies.begin(), bodies.end());
    }
    void planes(Elements plane, const LabelPlanes& some) override {
        ASSERT_EQ(plane, next_);
        std::visit(
            [&](const auto& values) {
                ASSERT_EQ(sizeof(values[0]) * 8, static_cast<std::size_t>(result.label_bits));
                labels.insert(labels.end(), values.begin(), values.end());
                next_ += std::ssize(values) / (result.shape.height * result.shape.width);
            },
            some);
    }

    Elements per_part = 0, stored = 0;
    LabelResult result;
    std::vector<Body> table;
    std::vector<ComponentNumber> labels;

  private:
    Elements first_ = 0, end_ = 0, next_ = 0;
};

/// How the samples are given.
enum class Given { frames, rows, array };

template <class Value>
Made label(const std::vector<Value>& samples, Sample sample, const VolumeShape& shape, int ranks,
           const LabelOptions& options, const std::vector<float>* intensity = nullptr,
           Elements per_part = 0, Given given = Given::frames) {
    Made made;
    const auto frames_of = [&](const auto& all, Sample type) {
        return std::make_unique<MemoryFrames>(header_of<Value>(shape, type),
                                              std::as_bytes(std::span(all)));
    };
    run_threads(ranks, [&](Communicator communicator) {
        const std::unique_ptr<FrameSource> volume = frames_of(samples, sample);
        RowSource rows(frames_of(samples, sample), 0, ReadAs::values);
        kernel::ValueView view;
        if constexpr (std::is_constructible_v<kernel::ValueView::First, const Value*>)
            view = {samples.data(),
                    shape.width,
                    {0, 0, shape.width, shape.height},
                    {shape.width, shape.height}};
        view.planes = shape.depth;
        view.next_plane = shape.height * shape.width;
        const bool is_image = shape.of_rows;
        const LabelInput input = given == Given::array  ? LabelInput(view, sample, is_image)
                                 : given == Given::rows ? LabelInput(rows)
                                 : is_image             ? LabelInput(*volume, 0)
                                                        : LabelInput(*volume);
        std::unique_ptr<FrameSource> second;
        std::optional<LabelInput> measured;
        if (intensity) {
            second = frames_of(*intensity, Sample::f32);
            measured = is_image ? LabelInput(*second, 0) : LabelInput(*second);
        }
        Collected sink;
        sink.per_part = per_part;
        LabelResult result =
            Labelling(communicator, options).run(input, measured ? &*measured : nullptr, sink);
        const auto labels = all_gather_by_rank(communicator, sink.labels);
        if (communicator.rank() == 0)
            made = {labels.values, std::move(result), sink.table};
    });
    return made;
}

void expect_equal(const Body& a, const Body& b) {
    EXPECT_EQ(a.first, b.first);
    EXPECT_EQ(a.voxels, b.voxels);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.high, b.high);
    EXPECT_EQ(a.sums, b.sums);
    EXPECT_EQ(a.products, b.products);
    EXPECT_EQ(a.contacts, b.contacts);
    EXPECT_EQ(a.at_border, b.at_border);
    EXPECT_NEAR(a.intensity_sum(), b.intensity_sum(), 1e-9);
    EXPECT_EQ(a.least, b.least);
    EXPECT_EQ(a.largest, b.largest);
}

TEST(Labelling, labels_and_measures_equal_those_of_a_flood_fill) {
    std::mt19937 random(4);
    for (int turn = 0; turn < 90; ++turn) {
        const auto size = [&](int most) {
            return 1 + static_cast<Elements>(random() % static_cast<unsigned>(most));
        };
        const bool is_image = turn % 3 == 2;
        const VolumeShape shape{is_image ? 1 : size(14), size(is_image ? 30 : 9),
                                size(turn % 4 == 0 ? 130 : 20), is_image};
        LabelOptions options;
        constexpr Neighbours all[] = {Neighbours::six, Neighbours::eighteen,
                                      Neighbours::twenty_six};
        const Neighbours neighbours =
            is_image ? (turn % 2 == 0 ? Neighbours::six : Neighbours::twenty_six)
                     : all[turn / 3 % 3];
        options.neighbours = !is_image                       ? neighbours
                             : neighbours == Neighbours::six ? Neighbours::four
                                                             : Neighbours::eight;
        options.by_value = turn / 2 % 2 == 1;
        options.measure = true;
        options.columns = LabelColumns::all;
        std::vector<std::uint16_t> samples;
        std::vector<float> intensity;
        const unsigned empty = random() % 90;
        for (Elements i = 0; i < shape.elements(); ++i) {
            samples.push_back(
                static_cast<std::uint16_t>(random() % 100 < empty ? 0 : 1 + random() % 3));
            intensity.push_back(static_cast<float>(random() % 1000) / 7 - 40);
        }
        const std::vector<Label> expected =
            flooded(samples, shape,
                    {neighbours, options.by_value ? Sameness::value : Sameness::foreground});
        const std::vector<Body> bodies = measured(expected, shape, intensity);
        for (const int ranks : {1, 2, 3, 5}) {
            for (const int planes : {1, 3, 100}) {
                const Given given = turn % 5 == 4              ? Given::array
                                    : is_image && turn % 4 < 2 ? Given::rows
                                                               : Given::frames;
                options.threads = 1 + turn % 4;
                options.memory = planes * ranks * (is_image ? 1 : shape.height) * shape.width *
                                 (2 + 4 +
                                  (options.by_value                ? 9
                                   : neighbours == Neighbours::six ? 5
                                                                   : 4));
                options.most_narrow = planes == 3 ? 2 : 4294967295;
                const Made made = label(samples, Sample::u16, shape, ranks, options, &intensity,
                                        turn % 2 == 0 ? 0 : planes, given);
                EXPECT_EQ(made.result.label_bits,
                          made.result.components > options.most_narrow ? 64 : 32);
                ASSERT_TRUE(std::ranges::equal(made.labels, expected))
                    << turn << ": " << ranks << " ranks, slabs of " << planes;
                EXPECT_EQ(made.result.components, std::ssize(bodies));
                ASSERT_EQ(made.table.size(), bodies.size());
                for (std::size_t i = 0; i < bodies.size(); ++i)
                    expect_equal(made.table[i], bodies[i]);
                if (planes == 1 && ranks == 1) {
                    EXPECT_EQ(made.result.slabs, is_image ? shape.height : shape.depth);
                }
            }
        }
    }
}

TEST(Labelling, sizes_are_those_of_whole_measures) {
    std::mt19937 random(8);
    for (const VolumeShape& shape : {VolumeShape{1, 40, 70, true}, {9, 20, 30}}) {
        std::vector<std::uint16_t> samples(static_cast<std::size_t>(shape.elements()));
        for (std::uint16_t& sample : samples)
            sample = static_cast<std::uint16_t>(random() % 10 < 7 ? 0 : 1 + random() % 2);
        for (const Elements min_size : {0, 3}) {
            LabelOptions options;
            options.measure = true;
            options.by_value = true;
            options.min_size = min_size;
            options.columns = LabelColumns::all;
            const Made all = label(samples, Sample::u16, shape, 1, options);
            options.columns = LabelColumns::sizes;
            for (const int threads : {1, 2, 5}) {
                for (const int ranks : {1, 2}) {
                    options.threads = threads;
                    options.most_narrow = threads == 2 ? 3 : 4294967295;
                    const Made made = label(samples, Sample::u16, shape, ranks, options);
                    ASSERT_EQ(made.labels, all.labels);
                    ASSERT_EQ(made.table.size(), all.table.size());
                    for (std::size_t i = 0; i < all.table.size(); ++i) {
                        EXPECT_EQ(made.table[i].first, all.table[i].first);
                        EXPECT_EQ(made.table[i].voxels, all.table[i].voxels);
                        EXPECT_EQ(made.table[i].low, all.table[i].low);
                        EXPECT_EQ(made.table[i].high, all.table[i].high);
                        EXPECT_EQ(made.table[i].sums, all.table[i].sums);
                    }
                }
            }
        }
    }
}

TEST(Labelling, regions_have_the_same_sizes_alone_and_with_all_measures) {
    std::mt19937 random(9);
    for (const VolumeShape& shape : {VolumeShape{1, 40, 70, true}, {9, 20, 30}}) {
        // Few values, many, and values that no list holds.
        for (const std::uint64_t most : {3ULL, 600ULL, ~0ULL}) {
            std::vector<std::uint64_t> samples(static_cast<std::size_t>(shape.elements()));
            for (std::uint64_t& sample : samples)
                sample =
                    random() % 3 == 0 ? 0 : most - random() % std::min<std::uint64_t>(most, 900);
            const auto regions = [&](LabelColumns columns, int ranks, Bytes memory) {
                std::vector<Body> table;
                run_threads(ranks, [&](Communicator communicator) {
                    MemoryFrames frames(header_of<std::uint64_t>(shape, Sample::u64),
                                        std::as_bytes(std::span(samples)));
                    LabelOptions options;
                    options.columns = columns;
                    options.threads = 2;
                    options.memory = memory;
                    LabelRegions found =
                        Labelling(communicator, options)
                            .measure(shape.of_rows ? LabelInput(frames, 0) : LabelInput(frames),
                                     nullptr);
                    if (communicator.rank() == 0)
                        table = std::move(found.table);
                });
                return table;
            };
            const std::vector<Body> all = regions(LabelColumns::all, 1, 1 << 30);
            for (const int ranks : {1, 3}) {
                const std::vector<Body> sizes = regions(LabelColumns::sizes, ranks, 100000);
                ASSERT_EQ(sizes.size(), all.size());
                for (std::size_t i = 0; i < all.size(); ++i) {
                    EXPECT_EQ(sizes[i].value, all[i].value);
                    EXPECT_EQ(sizes[i].voxels, all[i].voxels);
                    EXPECT_EQ(sizes[i].low, all[i].low);
                    EXPECT_EQ(sizes[i].high, all[i].high);
                    EXPECT_EQ(sizes[i].sums, all[i].sums);
                }
            }
        }
    }
}

/// Takes labels in memory whose rows have gaps.
class InPlace final : public LabelSink {
  public:
    InPlace(std::vector<Label>& labels, Elements stride) : labels_(labels), stride_(stride) {}
    Elements begin(const LabelResult&, Elements, Elements) override { return 0; }
    kernel::LabelPlane memory() override { return {labels_.data(), stride_}; }
    void planes(Elements, const LabelPlanes&) override { FAIL() << "not in place"; }

  private:
    std::vector<Label>& labels_;
    Elements stride_;
};

TEST(Labelling, arrays_in_memory_are_labelled_in_place) {
    std::mt19937 random(7);
    for (const VolumeShape& shape : {VolumeShape{1, 400, 70, true},
                                     {1, 1, 513, true},
                                     {1, 513, 1, true},
                                     {1, 33, 129, true},
                                     {30, 20, 40}}) {
        std::vector<double> samples(static_cast<std::size_t>(shape.elements()));
        for (double& sample : samples)
            sample = random() % 2 == 0 ? 0 : 1 + static_cast<double>(random() % 2);
        kernel::ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                               {shape.width, shape.height});
        view.planes = shape.depth;
        view.next_plane = shape.height * shape.width;
        for (const bool by_value : {false, true}) {
            const std::vector<Label> expected = flooded(
                samples, shape,
                {Neighbours::twenty_six, by_value ? Sameness::value : Sameness::foreground});
            for (const int threads : {1, 2, 5}) {
                const Elements stride = shape.width + 3, rows = shape.depth * shape.height;
                std::vector<Label> labels(static_cast<std::size_t>(stride * rows), -1);
                InPlace sink(labels, stride);
                LabelOptions options;
                options.by_value = by_value;
                options.threads = threads;
                run_threads(1, [&](Communicator communicator) {
                    Labelling(communicator, options)
                        .run({view, Sample::f64, shape.of_rows}, nullptr, sink);
                });
                for (Elements i = 0; i < stride * rows; ++i) {
                    const Elements x = i % stride, y = i / stride;
                    ASSERT_EQ(labels[static_cast<std::size_t>(i)],
                              x < shape.width
                                  ? expected[static_cast<std::size_t>(y * shape.width + x)]
                                  : -1)
                        << x << ", " << y << " with " << threads << " threads";
                }
            }
        }
    }
}

TEST(Labelling, every_type_of_samples_is_compared_exactly) {
    const VolumeShape shape{2, 1, 4};
    const auto check = [&]<class Value>(Sample sample, std::vector<Value> samples) {
        LabelOptions options;
        options.by_value = true;
        options.neighbours = Neighbours::six;
        const Made made = label(samples, sample, shape, 1, options);
        EXPECT_THAT(made.labels, testing::ElementsAre(1, 1, 0, 2, 3, 1, 0, 2)) << name(sample);
    };
    check(Sample::i8, std::vector<std::int8_t>{-1, -1, 0, 1, 2, -1, 0, 1});
    check(Sample::i16, std::vector<std::int16_t>{-1, -1, 0, 1, 2, -1, 0, 1});
    check(Sample::u32, std::vector<std::uint32_t>{1U << 31, 1U << 31, 0, 1, 2, 1U << 31, 0, 1});
    constexpr std::uint64_t large = std::uint64_t{1} << 62; // larger than floats resolve
    check(Sample::u64,
          std::vector<std::uint64_t>{large, large, 0, large + 1, large + 2, large, 0, large + 1});
    check(Sample::f64, std::vector<double>{1, 1, 0, 1 + 1e-15, 2, 1, 0, 1 + 1e-15});
}

TEST(Labelling, values_that_are_not_numbers_are_background_and_counted) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> samples = {1, nan, 1, nan, nan, 2};
    const Made made = label(samples, Sample::f32, {2, 1, 3}, 2, {});
    EXPECT_THAT(made.labels, testing::ElementsAre(1, 0, 2, 0, 0, 2));
    EXPECT_EQ(made.result.nan, 3);
}

TEST(Labelling, small_components_are_removed_and_the_largest_kept) {
    const std::vector<std::uint8_t> samples = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    const VolumeShape shape{2, 1, 8};
    LabelOptions options;
    options.neighbours = Neighbours::six;
    options.measure = true;
    for (const int ranks : {1, 2}) {
        options.min_size = options.keep_largest = 0;
        const Made all = label(samples, Sample::u8, shape, ranks, options);
        EXPECT_THAT(all.labels,
                    testing::ElementsAre(1, 0, 2, 2, 0, 3, 3, 3, 0, 2, 2, 2, 2, 0, 3, 3));
        options.min_size = 2;
        const Made some = label(samples, Sample::u8, shape, ranks, options);
        EXPECT_THAT(some.labels,
                    testing::ElementsAre(0, 0, 1, 1, 0, 2, 2, 2, 0, 1, 1, 1, 1, 0, 2, 2));
        EXPECT_EQ(some.result.removed, 1);
        ASSERT_EQ(some.table.size(), 2U);
        EXPECT_EQ(some.table[1].voxels, 5);
        options.keep_largest = 1;
        const Made one = label(samples, Sample::u8, shape, ranks, options);
        EXPECT_THAT(one.labels,
                    testing::ElementsAre(0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0));
        EXPECT_EQ(one.result.components, 1);
    }
}

/// The samples with background that does not reach the border set to 1.
std::vector<std::uint8_t> filled(const std::vector<std::uint8_t>& samples, const VolumeShape& shape,
                                 Neighbours dual, Elements& holes) {
    std::vector<std::uint8_t> background;
    for (const std::uint8_t sample : samples)
        background.push_back(sample == 0 ? 1 : 0);
    const std::vector<Label> labels = flooded(background, shape, {dual, Sameness::foreground});
    const std::vector<Body> bodies = measured(labels, shape, std::vector<float>(samples.size(), 1));
    holes = std::ranges::count_if(bodies, [](const Body& body) { return !body.at_border; });
    std::vector<std::uint8_t> all;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const bool is_hole =
            labels[i] > 0 && !bodies[static_cast<std::size_t>(labels[i] - 1)].at_border;
        all.push_back(is_hole || samples[i] != 0 ? 1 : 0);
    }
    return all;
}

TEST(Labelling, holes_are_filled_first) {
    std::mt19937 random(6);
    struct Case {
        Neighbours neighbours, as_volume, dual;
    };
    for (const VolumeShape& shape : {VolumeShape{7, 8, 9}, {1, 20, 30, true}}) {
        const bool is_image = shape.of_rows;
        const std::vector<Case> cases =
            is_image
                ? std::vector<Case>{{Neighbours::four, Neighbours::six, Neighbours::twenty_six},
                                    {Neighbours::eight, Neighbours::twenty_six, Neighbours::six}}
                : std::vector<Case>{
                      {Neighbours::six, Neighbours::six, Neighbours::twenty_six},
                      {Neighbours::eighteen, Neighbours::eighteen, Neighbours::six},
                      {Neighbours::twenty_six, Neighbours::twenty_six, Neighbours::six}};
        Elements found = 0;
        for (int turn = 0; turn < 30; ++turn) {
            std::vector<std::uint8_t> samples;
            for (Elements i = 0; i < shape.elements(); ++i)
                samples.push_back(random() % 100 < 60 + static_cast<unsigned>(turn) ? 1 : 0);
            for (const Case& each : cases) {
                Elements holes = 0;
                const std::vector<Label> expected =
                    flooded(filled(samples, shape, each.dual, holes), shape,
                            {each.as_volume, Sameness::foreground});
                found += holes;
                for (const int ranks : {1, 3, 9}) {
                    LabelOptions options;
                    options.neighbours = each.neighbours;
                    options.fill_holes = true;
                    options.threads = 2;
                    options.memory = 2 * ranks * (is_image ? 3 : shape.height) * shape.width * 8;
                    const Made made = label(samples, Sample::u8, shape, ranks, options);
                    ASSERT_TRUE(std::ranges::equal(made.labels, expected)) << turn << ", " << ranks;
                    EXPECT_EQ(made.result.holes, holes);
                }
            }
        }
        EXPECT_GT(found, 100);
    }
}

TEST(Labelling, of_an_image_needs_the_neighbours_of_an_image) {
    const std::vector<std::uint8_t> samples(12, 1);
    LabelOptions of_volume, of_image;
    of_volume.neighbours = Neighbours::six;
    of_image.neighbours = Neighbours::eight;
    EXPECT_THROW(label(samples, Sample::u8, {1, 3, 4, true}, 2, of_volume), AgreedFailure);
    EXPECT_THROW(label(samples, Sample::u8, {3, 1, 4}, 2, of_image), AgreedFailure);
}

TEST(Labelling, invalid_tasks_are_refused_on_all_ranks) {
    const std::vector<std::uint8_t> samples(2 * 3 * 4, 1);
    LabelOptions options;
    options.memory = 1;
    EXPECT_THAT(
        [&] {
            label(samples, Sample::u8, {2, 3, 4}, 2, options);
        },
        testing::ThrowsMessage<AgreedFailure>(testing::HasSubstr("too small")));
    const std::vector<float> intensity(3 * 3 * 4, 1);
    options = {};
    options.measure = true;
    run_threads(2, [&](Communicator communicator) {
        MemoryFrames volume(header_of<std::uint8_t>({2, 3, 4}, Sample::u8),
                            std::as_bytes(std::span(samples)));
        MemoryFrames other(header_of<float>({3, 3, 4}, Sample::f32),
                           std::as_bytes(std::span(intensity)));
        Collected sink;
        EXPECT_THAT(
            [&] {
                const LabelInput second(other);
                Labelling(communicator, options).run(volume, &second, sink);
            },
            testing::ThrowsMessage<AgreedFailure>(
                testing::HasSubstr("memory has 3x3x4 voxels, expected 2x3x4")));
    });
}

TEST(Labelling, ranks_send_their_last_planes_and_pairs_of_components) {
    // The most runs, and so the most bytes, per plane: every other voxel.
    const VolumeShape shape{12, 30, 200};
    std::vector<std::uint8_t> samples;
    for (Elements i = 0; i < shape.elements(); ++i)
        samples.push_back(static_cast<std::uint8_t>((i + i / shape.width) % 2));
    const Elements face = shape.height * shape.width;
    for (const int ranks : {2, 3, 5}) {
        run_threads(ranks, [&](Communicator communicator) {
            MemoryFrames volume(header_of<std::uint8_t>(shape, Sample::u8),
                                std::as_bytes(std::span(samples)));
            Collected sink;
            LabelOptions options;
            options.neighbours = Neighbours::six;
            const LabelResult result = Labelling(communicator, options).run(volume, nullptr, sink);
            const std::vector<Elements> sent = communicator.all_gather(result.sent);
            const Elements all = std::accumulate(sent.begin(), sent.end(), Elements{0});
            constexpr Elements label = 4, pair = 2 * 8, number = 2 * 8;
            const Elements faces = (ranks - 1) * face;
            EXPECT_GT(all, faces * label / 2); // a label per run
            EXPECT_LE(static_cast<double>(all),
                      1.1 * static_cast<double>(faces * label) +
                          static_cast<double>(faces / 2 * (pair + number) * (ranks - 1)));
        });
    }
}

TEST(Labelling, runs_of_slabs_are_kept_if_they_fit_in_memory) {
    const VolumeShape shape{64, 40, 512};
    const std::vector<std::uint8_t> samples(static_cast<std::size_t>(shape.elements()), 1);
    const auto kept = [&](Elements planes) {
        LabelOptions options;
        options.memory = planes * shape.height * shape.width * (1 + 4);
        const Made made = label(samples, Sample::u8, shape, 1, options);
        EXPECT_EQ(made.result.components, 1);
        return std::pair(made.result.slabs, made.result.kept);
    };
    EXPECT_EQ(kept(64), std::pair(1L, 1L));
    EXPECT_EQ(kept(32), std::pair(4L, 4L)); // slabs of 16 planes, and the runs of all
    EXPECT_EQ(kept(4), std::pair(16L, 0L)); // slabs of 4 planes leave no memory
}

/// Fails when planes are to be stored, which leaves the checkpoint.
class FullDisk final : public Collected {
  public:
    void planes(Elements, const LabelPlanes&) override {
        throw InvalidFile("labels.zarr", "the disk is full");
    }
};

TEST(Labelling, continues_a_checkpoint_only_with_options_that_change_no_result) {
    const VolumeShape shape{48, 10, 20};
    std::vector<std::uint16_t> samples;
    std::vector<float> intensity;
    std::mt19937 random(3);
    for (Elements i = 0; i < shape.elements(); ++i) {
        samples.push_back(static_cast<std::uint16_t>(random() % 100 < 60 ? 0 : 1 + random() % 2));
        intensity.push_back(static_cast<float>(random() % 100));
    }
    const TemporaryFolder folder;
    LabelOptions usual;
    usual.measure = true;
    usual.memory = 24 << 10;
    usual.identity = "input: made\n";
    const auto run = [&](const LabelOptions& options, LabelSink& sink,
                         const std::vector<float>* second, Sample sample = Sample::u16) {
        run_threads(1, [&](Communicator communicator) {
            MemoryFrames volume(header_of<std::uint16_t>(shape, sample),
                                std::as_bytes(std::span(samples)));
            std::optional<MemoryFrames> more;
            if (second)
                more.emplace(header_of<float>(shape, Sample::f32),
                             std::as_bytes(std::span(*second)));
            std::optional<LabelInput> measured;
            if (more)
                measured.emplace(*more);
            Labelling(communicator, options).run(volume, measured ? &*measured : nullptr, sink);
        });
    };
    const auto copied = [&](LabelOptions options) { // continues a copy of the checkpoint
        options.checkpoint = folder.path("copy");
        std::filesystem::remove_all(options.checkpoint);
        std::filesystem::copy(folder.path("left"), options.checkpoint);
        return options;
    };
    const auto expect_refused = [&](const LabelOptions& options, const std::vector<float>* second,
                                    const char* line, Sample sample = Sample::u16) {
        Collected sink;
        EXPECT_THAT([&] { run(copied(options), sink, second, sample); },
                    testing::ThrowsMessage<AgreedFailure>(testing::AllOf(
                        testing::HasSubstr("belongs to another run"), testing::HasSubstr(line))));
    };
    const auto expect_continued = [&](const LabelOptions& options) {
        Collected sink, fresh;
        run(copied(options), sink, &intensity);
        EXPECT_GT(sink.result.resumed, 1);
        LabelOptions alone = options;
        alone.checkpoint = "";
        run(alone, fresh, &intensity);
        EXPECT_EQ(sink.labels, fresh.labels);
        EXPECT_EQ(sink.result.label_bits, fresh.result.label_bits);
        ASSERT_EQ(sink.table.size(), fresh.table.size());
        for (std::size_t i = 0; i < fresh.table.size(); ++i)
            expect_equal(sink.table[i], fresh.table[i]);
    };
    {
        LabelOptions options = usual;
        options.checkpoint = folder.path("left");
        FullDisk full;
        EXPECT_THROW(run(options, full, &intensity), AgreedFailure);
    }
    LabelOptions listed = usual;
    const Record in_slabs = record_in_slabs(listed); // tiles have no checkpoint
    for (const Field& field : in_slabs.fields) {
        SCOPED_TRACE(field.name);
        LabelOptions options = usual;
        Record record = record_of(options);
        change(record, field.name, {{"memory", "25K"}, {"threads", "3"}, {"neighbours", "18"}});
        if (field.name == "memory")
            expect_continued(options);
        else if (field.name == "threads") // which divide slabs into parts
            expect_refused(options, &intensity, "slabs");
        else
            expect_refused(options, &intensity,
                           field.name == "measure" ? "intensities" : field.name.c_str());
    }
    LabelOptions options = usual;
    options.most_narrow = 5; // labels of 64 bits, which are numbered when they are passed on
    expect_continued(options);
    options = usual;
    options.identity = "input: another\n";
    expect_refused(options, &intensity, "input: another");
    options.identity = usual.identity;
    options.memory = 12 << 10;
    expect_refused(options, &intensity, "slabs");
    expect_refused(usual, nullptr, "intensities");
    expect_refused(usual, &intensity, "samples", Sample::i16);
}

TEST(VolumeAxes, are_those_of_boxes) {
    // A box of 2 x 4 x 9 voxels: variances (n² − 1) / 12.
    const VolumeShape shape{2, 4, 9};
    const std::vector<Label> labels(static_cast<std::size_t>(shape.elements()), 1);
    const std::vector<float> intensity(labels.size(), 1);
    const Body body = measured(labels, shape, intensity)[0];
    const kernel::BodyAxes axes = kernel::axes_of(body);
    EXPECT_NEAR(axes.deviations[0], std::sqrt(80 / 12.), 1e-14);
    EXPECT_NEAR(axes.deviations[1], std::sqrt(15 / 12.), 1e-14);
    EXPECT_NEAR(axes.deviations[2], std::sqrt(3 / 12.), 1e-14);
    EXPECT_THAT(axes.directions[0], testing::ElementsAre(0, 0, 1));
    EXPECT_EQ(body.faces(), 2 * (2 * 4 + 2 * 9 + 4 * 9));
    EXPECT_THAT(body.centroid(), testing::ElementsAre(.5, 1.5, 4));
}

} // namespace
} // namespace sextant::test
