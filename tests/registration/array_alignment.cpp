// SPDX-License-Identifier: BSD-3-Clause
// Motions applied to arrays of several axes, compared with a readable reference.
#include "sextant/registration/transform/array_alignment.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gmock/gmock.h>

namespace sextant::registration {
namespace {

constexpr std::int64_t frames_in = 3, channels = 2, energies = 3;
constexpr ImageShape array_frames{11, 9};
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Frames, channels, rows, columns, energies of f64, in chunks; counts the samples that are read.
class ArrayInMemory final : public ArraySource {
  public:
    explicit ArrayInMemory(std::vector<double> samples, std::vector<std::int64_t> chunk = {})
        : ArraySource("array", header_with(std::move(chunk))), samples_(std::move(samples)) {}
    Elements read_samples = 0;
    bool all_fill = false;

  private:
    static ArrayHeader header_with(std::vector<std::int64_t> chunk) {
        ArrayHeader header{
            {frames_in, channels, array_frames.height, array_frames.width, energies}};
        header.sample = Sample::f64;
        header.chunk = std::move(chunk);
        return header;
    }
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const std::vector<Elements> steps = steps_of(header().lengths);
        Elements first = 0;
        for (std::size_t axis = 0; axis < steps.size(); ++axis)
            first += block.start[axis] * steps[axis];
        copy_block(block.count, 8, reinterpret_cast<const std::byte*>(samples_.data() + first),
                   steps, to.data(), steps_of(block.count));
        read_samples += block.elements();
    }
    bool lacks(const ArrayBlock&) override { return all_fill; }
    std::vector<double> samples_;
};

class SinkInMemory final : public ArraySink {
  public:
    SinkInMemory(std::vector<std::int64_t> lengths, std::vector<std::int64_t> chunk,
                 bool in_order = false)
        : ArraySink("result", header_with(std::move(lengths), std::move(chunk))),
          in_order_(in_order) {
        samples.assign(static_cast<std::size_t>(ArrayBlock{{}, header().lengths}.elements()), 0);
        written.assign(samples.size(), 0);
    }
    bool in_order() const override { return in_order_; }
    void commit() override {}
    std::vector<double> samples;
    std::vector<int> written; ///< how often each sample is written

  private:
    static ArrayHeader header_with(std::vector<std::int64_t> lengths,
                                   std::vector<std::int64_t> chunk) {
        ArrayHeader header{std::move(lengths)};
        header.sample = Sample::f64;
        header.chunk = std::move(chunk);
        return header;
    }
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        const std::vector<Elements> steps = steps_of(header().lengths);
        Elements first = 0;
        for (std::size_t axis = 0; axis < steps.size(); ++axis)
            first += block.start[axis] * steps[axis];
        if (in_order_) {
            EXPECT_EQ(first, next_) << "blocks are not in order";
            next_ += block.elements();
        }
        copy_block(block.count, 8, from.data(), steps_of(block.count),
                   reinterpret_cast<std::byte*>(samples.data() + first), steps);
        const std::vector<int> ones(static_cast<std::size_t>(block.elements()), 1);
        copy_block(block.count, 4, reinterpret_cast<const std::byte*>(ones.data()),
                   steps_of(block.count), reinterpret_cast<std::byte*>(written.data() + first),
                   steps);
    }
    bool in_order_;
    Elements next_ = 0;
};

std::vector<double> random_samples(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(1, 9);
    std::vector<double> samples(
        static_cast<std::size_t>(frames_in * channels * array_frames.elements() * energies));
    std::ranges::generate(samples, [&] { return value(random); });
    return samples;
}

const std::vector<Transform>& motions_of_arrays() {
    static const std::vector<Transform> motions = [] {
        DisplacementField field = no_displacement(array_frames, 4);
        for (std::size_t i = 0; i < field.count(); ++i) {
            field.x[i] = .3F * static_cast<float>(i % 3) - .2F;
            field.y[i] = .1F * static_cast<float>(i % 4);
        }
        RowMotion rows{{0, .5, 1.25}, {}, {}, {}};
        for (int row = 0; row < array_frames.height; ++row) {
            rows.dx.push_back(.4F * static_cast<float>(row % 3) - .4F);
            rows.dy.push_back(.05F * static_cast<float>(row % 2));
        }
        return std::vector<Transform>{RigidMotion{0, -1.75, 2.5}, RigidMotion{.1, .5, -1}, field,
                                      AffineMotion{1.1, .02, -.03, .9, .25, .5}, rows};
    }();
    return motions;
}

double sample_at(const std::vector<double>& samples, std::int64_t frame, std::int64_t channel,
                 std::int64_t y, std::int64_t x, std::int64_t energy) {
    const std::int64_t at =
        (((frame * channels + channel) * array_frames.height + y) * array_frames.width + x) *
            energies +
        energy;
    return samples[static_cast<std::size_t>(at)];
}

/// Bilinear interpolation at φ(x), written as it is defined; NaN outside.
double bilinear_at(const std::vector<double>& samples, const Transform& transform,
                   std::int64_t frame, std::int64_t channel, Point x, std::int64_t energy) {
    const Point at = apply(transform, x, array_frames);
    const auto* const rows = std::get_if<RowMotion>(&transform);
    const double y0 = std::floor(at.y), v = at.y - y0;
    double value = 0;
    for (const auto& [row, weight] : {std::pair(y0, 1 - v), std::pair(y0 + 1, v)}) {
        if (weight == 0)
            continue;
        if (row < 0 || row > static_cast<double>(array_frames.height - 1))
            return no_value;
        double along = at.x;
        if (rows) // each row has its own displacement
            along = apply(rows->motion, x, centre(array_frames)).x +
                    static_cast<double>(rows->dx[static_cast<std::size_t>(row)]);
        const double x0 = std::floor(along), u = along - x0;
        for (const auto& [column, share] : {std::pair(x0, 1 - u), std::pair(x0 + 1, u)}) {
            if (share == 0)
                continue;
            if (column < 0 || column > static_cast<double>(array_frames.width - 1))
                return no_value;
            value += weight * share *
                     sample_at(samples, frame, channel, static_cast<std::int64_t>(row),
                               static_cast<std::int64_t>(column), energy);
        }
    }
    return value;
}

constexpr MovedAxes moved_axes{0, 2, 3};

struct Aligned {
    std::vector<double> samples;
    AlignResult result;
    Elements read = 0;
};

Aligned aligned(const std::vector<double>& samples, const Transform& transform,
                AlignOptions options, std::vector<std::int64_t> chunk = {}, Team* team = nullptr,
                bool in_order = false) {
    ArrayInMemory source(samples, chunk);
    const std::vector<MovedFrame> frames{{0, 0}, {2, 2}};
    std::vector<std::int64_t> lengths = aligned_lengths(source.header(), moved_axes, 2, options);
    if (!chunk.empty() && options.sum)
        chunk.erase(chunk.begin());
    else if (!chunk.empty())
        chunk.front() = 1;
    SinkInMemory sink(lengths, in_order ? std::vector<std::int64_t>{} : chunk, in_order);
    const auto transform_of = [&](std::int64_t frame) {
        return frame == 0 ? Transform(RigidMotion{}) : transform;
    };
    AlignResult result = align_array(source, moved_axes, frames, transform_of, sink, options, team);
    EXPECT_THAT(sink.written, testing::Each(1)) << "every sample is written";
    return {sink.samples, std::move(result), source.read_samples};
}

AlignOptions options_for(AlignBy by, const PixelArea& area = area_of(array_frames)) {
    AlignOptions options;
    options.by = by;
    options.area = area;
    options.gap = by == AlignBy::splat ? 0 : no_value;
    return options;
}

void expect_bits(const std::vector<double>& one, const std::vector<double>& other) {
    ASSERT_EQ(one.size(), other.size());
    EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)), 0);
}

TEST(ArrayAlignment, interpolates_every_channel_and_spectrum_with_its_pixel) {
    const std::vector<double> samples = random_samples(1);
    const PixelArea area{1, 1, {10, 8}};
    for (const Transform& transform : motions_of_arrays()) {
        const Aligned found = aligned(samples, transform, options_for(AlignBy::bilinear, area));
        std::size_t at = 0;
        int gaps = 0;
        for (const std::int64_t frame : {0, 2}) {
            const Transform motion = frame == 0 ? Transform(RigidMotion{}) : transform;
            for (std::int64_t channel = 0; channel < channels; ++channel) {
                for (std::int64_t y = 0; y < area.shape.height; ++y) {
                    for (std::int64_t x = 0; x < area.shape.width; ++x) {
                        for (std::int64_t energy = 0; energy < energies; ++energy, ++at) {
                            const double wanted = bilinear_at(
                                samples, motion, frame, channel,
                                {static_cast<double>(area.x + x), static_cast<double>(area.y + y)},
                                energy);
                            gaps += std::isnan(wanted);
                            ASSERT_EQ(std::isnan(found.samples[at]), std::isnan(wanted))
                                << transform.index() << ' ' << frame << ' ' << y << ' ' << x;
                            if (!std::isnan(wanted)) {
                                ASSERT_NEAR(found.samples[at], wanted, 1e-12);
                            }
                        }
                    }
                }
            }
        }
        EXPECT_GT(gaps, 0);
    }
}

TEST(ArrayAlignment, has_the_same_bits_for_all_blocks_memory_limits_and_threads) {
    const std::vector<double> samples = random_samples(2);
    Team team(3);
    for (const Transform& transform : motions_of_arrays()) {
        for (const AlignBy by : {AlignBy::bilinear, AlignBy::cubic, AlignBy::lanczos,
                                 AlignBy::shift, AlignBy::splat}) {
            for (const bool sum : {false, true}) {
                AlignOptions options = options_for(by);
                options.sum = sum;
                const Aligned once = aligned(samples, transform, options);
                expect_bits(aligned(samples, transform, options, {}, &team).samples, once.samples);
                // Several threads that take whole blocks.
                options.memory = Bytes{192} << 20;
                expect_bits(aligned(samples, transform, options, {1, 1, 2, 5, 2}, &team).samples,
                            once.samples);
                options.memory = 20'000;
                const Aligned small = aligned(samples, transform, options);
                expect_bits(small.samples, once.samples);
                EXPECT_EQ(small.result.count, once.result.count);
                EXPECT_NEAR(small.result.outside, once.result.outside, 1e-9);
                EXPECT_NEAR(small.result.total, once.result.total, 1e-9);
                options.memory = Bytes{1} << 20;
                expect_bits(aligned(samples, transform, options, {2, 1, 4, 5, 2}).samples,
                            once.samples);
                if (!sum) {
                    options.memory = 20'000;
                    expect_bits(aligned(samples, transform, options, {}, nullptr, true).samples,
                                once.samples);
                }
            }
        }
    }
}

TEST(ArrayAlignment, splats_keep_the_sum_of_each_spectrum) {
    const std::vector<double> samples = random_samples(3);
    double total = 0;
    for (const std::int64_t frame : {0, 2})
        for (std::int64_t channel = 0; channel < channels; ++channel)
            for (std::int64_t y = 0; y < array_frames.height; ++y)
                for (std::int64_t x = 0; x < array_frames.width; ++x)
                    for (std::int64_t energy = 0; energy < energies; ++energy)
                        total += sample_at(samples, frame, channel, y, x, energy);
    for (const Transform& transform : motions_of_arrays()) {
        const bool field = std::holds_alternative<DisplacementField>(transform);
        const PixelArea wide{-9, -9, {array_frames.width + 18, array_frames.height + 18}};
        AlignOptions options = options_for(AlignBy::splat, field ? area_of(array_frames) : wide);
        const Aligned all = aligned(samples, transform, options);
        double sum = 0;
        for (const double value : all.samples)
            sum += value;
        EXPECT_NEAR(sum + all.result.outside, total, 1e-9 * total);
        EXPECT_NEAR(all.result.total, total, 1e-9 * total);
        if (!field) {
            EXPECT_NEAR(all.result.outside, 0, 1e-9);
        }
        options = options_for(AlignBy::splat, {2, 3, {4, 3}});
        const Aligned part = aligned(samples, transform, options);
        sum = 0;
        for (const double value : part.samples)
            sum += value;
        EXPECT_GT(part.result.outside, 0);
        EXPECT_NEAR(sum + part.result.outside, total, 1e-9 * total);
    }
}

TEST(ArrayAlignment, shifts_are_those_of_the_centre_and_state_the_farthest_pixel) {
    const std::vector<double> samples = random_samples(4);
    const Aligned found = aligned(samples, RigidMotion{.1, 1.6, -.7}, options_for(AlignBy::shift));
    // Frame 2 is moved by (2, -1).
    const std::size_t frame = found.samples.size() / 2;
    const std::size_t at = static_cast<std::size_t>((4 * array_frames.width + 3) * energies);
    EXPECT_EQ(found.samples[frame + at], sample_at(samples, 2, 0, 3, 5, 0));
    EXPECT_TRUE(std::isnan(found.samples[frame]));
    EXPECT_GT(found.result.farthest, .5);
    EXPECT_LT(found.result.farthest, 1.5);
    EXPECT_EQ(aligned(samples, RigidMotion{0, 2, -1}, options_for(AlignBy::shift)).result.farthest,
              0);
}

TEST(ArrayAlignment, reads_every_sample_once_if_a_block_holds_a_frame) {
    const Aligned found =
        aligned(random_samples(5), RigidMotion{0, 0, 0}, options_for(AlignBy::bilinear));
    EXPECT_EQ(found.read, 2 * channels * array_frames.elements() * energies);
}

TEST(ArrayAlignment, neither_reads_nor_writes_blocks_of_the_fill_value) {
    ArrayInMemory source(random_samples(6));
    source.all_fill = true;
    const std::vector<MovedFrame> frames{{0, 0}, {2, 2}};
    for (const AlignBy by : {AlignBy::bilinear, AlignBy::splat}) {
        for (const bool sum : {false, true}) {
            AlignOptions options = options_for(by);
            options.sum = sum;
            options.gap = 0;
            SinkInMemory sink(aligned_lengths(source.header(), moved_axes, 2, options), {});
            const AlignResult result = align_array(
                source, moved_axes, frames,
                [](std::int64_t) {
                    return RigidMotion{0, 3, 0};
                },
                sink, options);
            EXPECT_EQ(source.read_samples, 0);
            EXPECT_THAT(sink.written, testing::Each(0));
            if (sum) {
                EXPECT_EQ(result.count[5], 2);
                EXPECT_EQ(result.count.back(), 0);
            }
        }
    }
    // Gaps that are not the fill value are written.
    AlignOptions options = options_for(AlignBy::bilinear);
    SinkInMemory sink(aligned_lengths(source.header(), moved_axes, 2, options), {});
    align_array(
        source, moved_axes, frames,
        [](std::int64_t) {
            return RigidMotion{0, 3, 0};
        },
        sink, options);
    EXPECT_EQ(sink.samples.front(), 0);
    EXPECT_TRUE(std::isnan(sink.samples.back()));
}

TEST(ArrayAlignment, writes_every_sample_of_a_sink_that_holds_old_ones) {
    Team team(2);
    for (const bool all_fill : {false, true}) {
        for (const AlignBy by : {AlignBy::bilinear, AlignBy::cubic, AlignBy::lanczos,
                                 AlignBy::shift, AlignBy::splat}) {
            for (const bool sum : {false, true}) {
                for (Team* const threads : {static_cast<Team*>(nullptr), &team}) {
                    ArrayInMemory source(random_samples(6));
                    source.all_fill = all_fill;
                    AlignOptions options = options_for(by);
                    options.sum = sum;
                    options.gap = 0;
                    options.overwrites = true;
                    options.memory = threads ? Bytes{192} << 20 : 20'000;
                    SinkInMemory sink(aligned_lengths(source.header(), moved_axes, 1, options), {});
                    const std::vector<MovedFrame> frames{{0, 0}};
                    align_array(
                        source, moved_axes, frames,
                        [](std::int64_t) {
                            return RigidMotion{0, 3, array_frames.height - 2};
                        },
                        sink, options, threads);
                    EXPECT_THAT(sink.written, testing::Each(1)) << static_cast<int>(by) << sum;
                }
            }
        }
    }
}

TEST(ArrayAlignment, refuses_too_little_memory_and_other_fields) {
    AlignOptions options = options_for(AlignBy::bilinear);
    options.memory = 100;
    EXPECT_THROW(aligned(random_samples(7), RigidMotion{}, options), InvalidTask);
    EXPECT_THROW(
        aligned(random_samples(7), no_displacement({5, 5}, 2), options_for(AlignBy::bilinear)),
        InvalidTask);
}

TEST(ArrayAlignment, chooses_chunks_of_one_frame_that_fit_in_memory) {
    ArrayHeader source{{100, 512, 512, 2048}};
    source.chunk = {8, 16, 16, 64};
    const MovedAxes axes{0, 1, 2};
    AlignOptions options = options_for(AlignBy::bilinear, area_of(ImageShape{512, 512}));
    const std::vector<std::int64_t> lengths = aligned_lengths(source, axes, 90, options);
    EXPECT_THAT(lengths, testing::ElementsAre(90, 512, 512, 2048));
    const auto chunk = aligned_chunks(source, axes, lengths, Sample::u16, options);
    EXPECT_EQ(chunk.front(), 1);
    EXPECT_GE(ArrayBlock({}, chunk).elements() * 2, Bytes{1} << 20);
    options.memory = Bytes{4} << 20;
    const auto small = aligned_chunks(source, axes, lengths, Sample::u16, options);
    EXPECT_LE(ArrayBlock({}, small).elements() / small[2] * 512 * 2 * 4, options.memory);
}

} // namespace
} // namespace sextant::registration
