// SPDX-License-Identifier: BSD-3-Clause
// If floats would lose the differences between samples, an offset is found and subtracted exactly.
#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample_offset.hpp"
#include "sextant/core/error.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace sextant {
namespace {

constexpr ImageShape shape{40, 30};

/// A source of frames in memory, with stored samples.
template <class T>
class Stored final : public FrameSource {
  public:
    Stored(Sample sample, std::vector<std::vector<T>> frames, ImageShape of = shape)
        : FrameSource("stored", {.frames = std::ssize(frames), .shape = of, .sample = sample},
                      {[this](auto... part) { load(part...); }}),
          frames_(std::move(frames)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (frames_[static_cast<std::size_t>(frame)].empty())
            throw InvalidFile("stored", "is damaged");
        std::memcpy(to.data(),
                    frames_[static_cast<std::size_t>(frame)].data() +
                        rows.first * header().shape.width,
                    to.size());
    }
    std::vector<std::vector<T>> frames_;
};

/// A frame of whole numbers from `first` to `first + 12`.
template <class T>
std::vector<T> frame_from(T first) {
    std::vector<T> samples;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
        samples.push_back(static_cast<T>(first + static_cast<T>(i * 7 % 13)));
    return samples;
}

template <class T>
Centred centred(Sample sample, std::vector<std::vector<T>> frames) {
    return less_offset(std::make_unique<Stored<T>>(sample, std::move(frames)));
}

template <class T>
void expect_exact(Sample sample, T first) {
    const std::vector<T> stored = frame_from(first);
    const Centred series = centred<T>(sample, {stored, stored});
    ASSERT_NE(series.offset, 0) << name(sample);
    EXPECT_EQ(series.frames->header().sample, Sample::f32);
    std::vector<float> floats(stored.size());
    series.frames->read_frame(1, floats);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const long double difference =
            static_cast<long double>(stored[i]) - static_cast<long double>(series.offset);
        ASSERT_EQ(static_cast<long double>(floats[i]), difference) << name(sample) << " " << i;
    }
}

TEST(Offset, is_subtracted_exactly_before_samples_become_floats) {
    expect_exact<double>(Sample::f64, 1e9);
    expect_exact<double>(Sample::f64, -1e12);
    expect_exact<std::int32_t>(Sample::i32, 1 << 24);
    expect_exact<std::int32_t>(Sample::i32, std::numeric_limits<std::int32_t>::min());
    expect_exact<std::uint32_t>(Sample::u32, std::uint32_t{1} << 31);
    expect_exact<std::uint32_t>(Sample::u32, std::numeric_limits<std::uint32_t>::max() - 12);
    expect_exact<std::int64_t>(Sample::i64, std::int64_t{1} << 60);
    expect_exact<std::int64_t>(Sample::i64, std::numeric_limits<std::int64_t>::min());
    expect_exact<std::uint64_t>(Sample::u64, std::uint64_t{1} << 63);
    expect_exact<std::uint64_t>(Sample::u64, std::numeric_limits<std::uint64_t>::max() - 12);
}

TEST(Offset, is_zero_if_floats_preserve_differences_between_samples) {
    EXPECT_EQ(centred<double>(Sample::f64, {frame_from(0.)}).offset, 0);
    EXPECT_EQ(centred<double>(Sample::f64, {frame_from(1000.1)}).offset, 0);
    EXPECT_EQ(centred<std::int32_t>(Sample::i32, {frame_from(1 << 20)}).offset, 0);
    EXPECT_EQ(centred<float>(Sample::f32, {frame_from(1e6F)}).offset, 0);
    EXPECT_EQ(centred<std::uint16_t>(Sample::u16, {frame_from<std::uint16_t>(65000)}).offset, 0);
    std::vector<double> wide = frame_from(1e9);
    for (std::size_t i = 0; i < wide.size(); i += 4)
        wide[i] = 0;
    EXPECT_EQ(centred<double>(Sample::f64, {wide}).offset, 0);
    const std::vector<double> constant(wide.size(), 1e9 + .1);
    EXPECT_EQ(centred<double>(Sample::f64, {constant}).offset, 0);
    const std::vector<double> nothing(wide.size(), std::nan(""));
    EXPECT_EQ(centred<double>(Sample::f64, {nothing}).offset, 0);
}

/// The offset for computation, which floats hold.
template <class T>
double held_offset(Sample sample, const std::vector<T>& frame) {
    auto stored = std::make_unique<Stored<T>>(sample, std::vector<std::vector<T>>{frame, frame});
    const Centred found = less_offset(std::move(stored), OffsetFor::computation);
    EXPECT_TRUE(floats_hold_offset(sample, found.offset)) << name(sample);
    std::vector<float> floats(frame.size());
    found.frames->read_frame(1, floats);
    for (std::size_t i = 0; i < floats.size(); ++i)
        EXPECT_EQ(floats[i], static_cast<float>(static_cast<double>(frame[i]) - found.offset));
    return found.offset;
}

TEST(Offset, is_subtracted_for_computations_with_samples_farther_from_zero_than_16_ranges) {
    for (const bool far : {false, true}) { // a range of 12
        EXPECT_EQ(held_offset(Sample::u16, frame_from<std::uint16_t>(far ? 181 : 180)) != 0, far);
        EXPECT_EQ(held_offset(Sample::i16, frame_from<std::int16_t>(far ? -193 : -192)) != 0, far);
        EXPECT_EQ(held_offset(Sample::i32, frame_from<std::int32_t>(far ? 181 : 180)) != 0, far);
        EXPECT_EQ(held_offset(Sample::u32, frame_from<std::uint32_t>(far ? 181 : 180)) != 0, far);
        EXPECT_EQ(held_offset(Sample::i64, frame_from<std::int64_t>(far ? -193 : -192)) != 0, far);
        EXPECT_EQ(held_offset(Sample::u64, frame_from<std::uint64_t>(far ? 181 : 180)) != 0, far);
        EXPECT_EQ(held_offset(Sample::f32, frame_from(far ? 181.F : 180.F)) != 0, far);
        EXPECT_EQ(held_offset(Sample::f64, frame_from(far ? 181. : 180.)) != 0, far);
        EXPECT_EQ(held_offset(Sample::f64, frame_from(far ? 181.1 : 179.1)) != 0, far);
    }
    EXPECT_EQ(held_offset(Sample::u8, frame_from<std::uint8_t>(240)), 0);
    EXPECT_EQ(held_offset(Sample::f32, std::vector<float>(1200, 1e7F)), 0);
    EXPECT_NE(held_offset(Sample::u16, frame_from<std::uint16_t>(65000)), 0);
    EXPECT_NE(held_offset(Sample::i16, frame_from<std::int16_t>(-32768)), 0);
    EXPECT_NE(held_offset(Sample::f32, frame_from(-1e7F)), 0);
    EXPECT_FALSE(floats_hold_offset(
        Sample::f64, centred<double>(Sample::f64, {[] {
                                         std::vector<double> odd = frame_from(1e6);
                                         odd[7] += .1; // the only sample that floats do not hold
                                         return odd;
                                     }()})
                         .offset));
}

TEST(Offset, is_found_despite_gaps_hot_pixels_and_empty_frames) {
    std::vector<double> odd = frame_from(1e9);
    odd[600] = std::nan("");
    odd[601] = std::numeric_limits<double>::infinity();
    odd[602] = 1e300;
    odd[603] = 0;
    const std::vector<double> blank(odd.size(), 0);
    const Centred series = centred<double>(Sample::f64, {blank, odd, {}, odd, odd});
    EXPECT_NEAR(series.offset, 1e9, 13);
    std::vector<float> floats(odd.size());
    series.frames->read_frame(1, floats);
    EXPECT_TRUE(std::isnan(floats[600]));
    EXPECT_TRUE(std::isinf(floats[601]));
    EXPECT_THROW(series.frames->read_frame(2, floats), InvalidFile);
}

TEST(Offset, is_found_for_a_few_counts_above_a_constant) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(shape.elements()), 1 << 25);
    counts[605] += 1;
    counts[640] += 2;
    EXPECT_EQ(centred<std::int32_t>(Sample::i32, {counts}).offset, 1 << 25);
}

TEST(Offset, of_a_volume_is_found_if_only_planes_differ) {
    const auto plane = [](std::int32_t value) {
        return std::vector<std::int32_t>(static_cast<std::size_t>(shape.elements()), value);
    };
    const auto volume = [](std::vector<std::vector<std::int32_t>> planes) {
        return less_offset_of_volume(
            std::make_unique<Stored<std::int32_t>>(Sample::i32, std::move(planes)));
    };
    constexpr std::int32_t first = 1'000'000'000;
    std::vector<std::vector<std::int32_t>> planes;
    for (std::int32_t z = 0; z < 20; ++z)
        planes.push_back(plane(first + z));
    planes[4] = {}; // cannot be read
    EXPECT_EQ(centred(Sample::i32, planes).offset, 0);
    const Centred found = volume(planes);
    ASSERT_NE(found.offset, 0);
    std::vector<float> floats(static_cast<std::size_t>(shape.elements()));
    for (std::int32_t z = 5; z < 20; ++z) {
        found.frames->read_frame(z, floats);
        EXPECT_EQ(floats[7],
                  static_cast<float>(first + z - static_cast<std::int32_t>(found.offset)));
    }
    EXPECT_EQ(volume({plane(first), plane(first)}).offset, 0);
    EXPECT_EQ(volume({plane(5), plane(1 << 20)}).offset, 0);
    EXPECT_EQ(volume({{}, {}}).offset, 0);
}

std::vector<double> waves(double scale, double offset = 0) {
    std::vector<double> samples;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
        samples.push_back(offset + scale * std::sin(static_cast<double>(i)));
    return samples;
}

const ScaledFrames& as_scaled(const FrameSource& source) {
    return dynamic_cast<const ScaledFrames&>(source);
}

TEST(Scale, makes_floats_hold_doubles_of_any_magnitude) {
    std::vector<float> floats(static_cast<std::size_t>(shape.elements()));
    for (const double magnitude : {1e-300, 1e-60, 1e-38, 1., 1e9, 1e38, 1e50, 1e300}) {
        for (const double offset : {0., 1e4 * magnitude}) {
            const std::vector<double> samples = waves(magnitude, offset);
            for (const bool is_volume : {false, true}) {
                auto stored = std::make_unique<Stored<double>>(
                    Sample::f64, std::vector<std::vector<double>>{samples, samples});
                const std::unique_ptr<FrameSource> source =
                    is_volume ? scaled_volume(std::move(stored)) : scaled(std::move(stored), 1);
                const ScaledFrames& frames = as_scaled(*source);
                EXPECT_EQ(std::exp2(std::ilogb(frames.scale())), frames.scale());
                EXPECT_EQ(frames.offset() != 0, offset != 0) << magnitude;
                source->read_frame(1, floats);
                std::vector<double> again(floats.size());
                to_doubles(floats, frames.offset(), frames.scale(), again, "again");
                for (std::size_t i = 0; i < samples.size(); ++i)
                    ASSERT_NEAR(again[i] / magnitude, samples[i] / magnitude, 1e-6) << magnitude;
                EXPECT_TRUE(frames.vanished().empty());
            }
        }
    }
}

TEST(Scale, is_found_from_all_samples_if_those_in_the_middle_are_unusual) {
    // Tall frames: only rows in the middle are examined first.
    constexpr ImageShape tall{1 << 12, 60};
    const auto scale_of = [&](double middle, double top) {
        auto source = scaled(std::make_unique<Stored<double>>(
                                 Sample::f64,
                                 [&] {
                                     std::vector<double> samples(
                                         static_cast<std::size_t>(tall.elements()), middle);
                                     samples[5] = top;
                                     return std::vector<std::vector<double>>{samples};
                                 }(),
                                 tall),
                             0);
        std::vector<float> floats(static_cast<std::size_t>(tall.elements()));
        source->read_frame(0, floats);
        return as_scaled(*source).scale();
    };
    EXPECT_EQ(scale_of(0, 0), 1);
    EXPECT_EQ(scale_of(0, 2), 1);
    EXPECT_EQ(scale_of(0, 0x1p-200), 0x1p-200);
    EXPECT_EQ(scale_of(0, 0x1.8p+300), 0x1p+300);
    EXPECT_THROW(scale_of(1, 1e50), InvalidFile);
}

TEST(Scale, counts_the_samples_that_vanish_beside_others) {
    std::vector<double> samples = waves(1);
    for (const std::size_t at : {3, 4, 50, 1100})
        samples[at] = 1e-60;
    const auto source = scaled(
        std::make_unique<Stored<double>>(Sample::f64, std::vector<std::vector<double>>{samples}),
        0);
    std::vector<float> floats(samples.size());
    for (int time = 0; time < 2; ++time) {
        source->read_frame(0, floats);
        EXPECT_EQ(as_scaled(*source).vanished(),
                  (std::map<std::int64_t, Elements>{{0, 2}, {1, 1}, {27, 1}}));
    }
}

TEST(Scale, is_refused_where_only_an_offset_is_subtracted) {
    for (const double magnitude : {1e-60, 1e50}) {
        const std::vector<double> samples = waves(magnitude);
        EXPECT_THROW(centred<double>(Sample::f64, {samples, samples}), InvalidFile);
    }
    // Single samples are missing, unless this is not acceptable.
    std::vector<double> samples = waves(1);
    samples[600] = 1e50;
    std::vector<float> floats(samples.size());
    centred<double>(Sample::f64, {samples}).frames->read_frame(0, floats);
    EXPECT_TRUE(std::isnan(floats[600]));
    EXPECT_THROW(strict(centred<double>(Sample::f64, {samples}))->read_frame(0, floats),
                 InvalidFile);
}

} // namespace
} // namespace sextant
