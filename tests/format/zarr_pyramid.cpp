// SPDX-License-Identifier: BSD-3-Clause
// Levels of half the resolution in stores of Zarr.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/random.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using format::SinkOptions;
using format::StackAxis;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Frames, rows and columns of samples.
template <class T>
struct Volume {
    std::int64_t frames, height, width;
    std::vector<T> samples;

    static Volume zeros(std::int64_t frames, std::int64_t height, std::int64_t width) {
        return {frames, height, width,
                std::vector<T>(static_cast<std::size_t>(frames * height * width))};
    }
    T& at(std::int64_t z, std::int64_t y, std::int64_t x) {
        return samples[static_cast<std::size_t>((z * height + y) * width + x)];
    }
};

template <class T>
Sample sample_of() {
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return *sextant::sample_of(kind, 8 * sizeof(T));
}

/// Writes a volume; each call passes a few rows.
template <class T>
void write(const std::string& path, Volume<T> volume, const SinkOptions& options) {
    FrameHeader header{volume.frames, {volume.width, volume.height}, sample_of<T>()};
    header.pixel = {.5, .25, "nm"};
    header.slice_distance = 3;
    const auto sink = format::create_frames(path, header, options);
    constexpr std::int64_t rows_at_once = 7;
    for (std::int64_t z = 0; z < volume.frames; ++z) {
        for (std::int64_t y = 0; y < volume.height; y += rows_at_once) {
            const std::int64_t rows = std::min(rows_at_once, volume.height - y);
            sink->write_samples(std::as_bytes(
                std::span(&volume.at(z, y, 0), static_cast<std::size_t>(rows * volume.width))));
        }
    }
    sink->commit();
}

template <class T>
Volume<T> read(const std::string& name) {
    const auto source = format::open_frames(name);
    const FrameHeader& header = source->header();
    EXPECT_EQ(header.sample, sample_of<T>());
    auto volume = Volume<T>::zeros(header.frames, header.shape.height, header.shape.width);
    for (std::int64_t z = 0; z < volume.frames; ++z)
        source->read_samples(
            z, {0, volume.height},
            std::as_writable_bytes(std::span(
                &volume.at(z, 0, 0), static_cast<std::size_t>(volume.height * volume.width))));
    return volume;
}

/// The mean, computed in a wider type.
template <class T>
T plain_mean(const std::vector<T>& values) {
    if constexpr (std::is_integral_v<T>) {
        long double sum = 0;
        for (const T value : values)
            sum += static_cast<long double>(value);
        return static_cast<T>(std::floor(sum / static_cast<long double>(values.size()) + .5L));
    } else {
        double sum = 0, count = 0;
        for (const T value : values) {
            sum += std::isnan(value) ? 0 : static_cast<double>(value);
            count += std::isnan(value) ? 0 : 1;
        }
        return static_cast<T>(sum / count);
    }
}

/// The next level, voxel by voxel.
template <class T>
Volume<T> halved(Volume<T> from, bool slices, bool labels) {
    auto to = Volume<T>::zeros(slices ? (from.frames + 1) / 2 : from.frames, (from.height + 1) / 2,
                               (from.width + 1) / 2);
    const std::int64_t planes = slices ? 2 : 1;
    for (std::int64_t z = 0; z < to.frames; ++z) {
        for (std::int64_t y = 0; y < to.height; ++y) {
            for (std::int64_t x = 0; x < to.width; ++x) {
                std::vector<T> block;
                for (std::int64_t k = planes * z; k < std::min(planes * (z + 1), from.frames); ++k)
                    for (std::int64_t j = 2 * y; j < std::min(2 * y + 2, from.height); ++j)
                        for (std::int64_t i = 2 * x; i < std::min(2 * x + 2, from.width); ++i)
                            block.push_back(from.at(k, j, i));
                to.at(z, y, x) = labels ? block.front() : plain_mean(block);
            }
        }
    }
    return to;
}

class ZarrPyramid : public testing::Test {
  protected:
    static SinkOptions options(StackAxis axis, bool labels) {
        SinkOptions made;
        made.axis = axis;
        made.label_image = labels;
        made.pyramid = true;
        return made;
    }

    /// Compares all levels with those computed voxel by voxel; returns their number.
    template <class T>
    int compare(Volume<T> volume, StackAxis axis, bool labels) const {
        write(path, volume, options(axis, labels));
        const bool slices = axis == StackAxis::slices && volume.frames > 1;
        for (int level = 0;; ++level) {
            const std::string name = path + "::" + std::to_string(level);
            const Volume<T> found = read<T>(name);
            EXPECT_EQ(found.frames, volume.frames) << name;
            EXPECT_EQ(found.height, volume.height) << name;
            EXPECT_EQ(found.width, volume.width) << name;
            EXPECT_EQ(found.samples.size(), volume.samples.size());
            for (std::size_t i = 0; i < found.samples.size(); ++i) {
                const bool both_nan =
                    found.samples[i] != found.samples[i] && volume.samples[i] != volume.samples[i];
                if (!both_nan && found.samples[i] != volume.samples[i]) {
                    ADD_FAILURE() << name << ", sample " << i;
                    return 0;
                }
            }
            const std::int64_t side =
                std::max({slices ? volume.frames : std::int64_t{1}, volume.height, volume.width});
            if (side <= 256)
                return level + 1;
            volume = halved(volume, slices, labels);
        }
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.zarr");
};

template <class T>
Volume<T> random_volume(std::int64_t frames, std::int64_t height, std::int64_t width) {
    Random random(17);
    auto volume = Volume<T>::zeros(frames, height, width);
    for (T& value : volume.samples)
        value = static_cast<T>(random.number(0, 250) - (std::is_signed_v<T> ? 125 : 0));
    return volume;
}

TEST_F(ZarrPyramid, samples_labels_at_even_coordinates) {
    EXPECT_EQ(compare(random_volume<std::uint32_t>(5, 301, 519), StackAxis::slices, true), 3);
    EXPECT_EQ(compare(random_volume<std::uint32_t>(1, 1025, 3), StackAxis::slices, true), 4);
    EXPECT_EQ(compare(random_volume<std::uint32_t>(515, 3, 2), StackAxis::slices, true), 3);
    EXPECT_EQ(compare(random_volume<std::uint32_t>(256, 9, 256), StackAxis::slices, true), 1);
}

TEST_F(ZarrPyramid, averages_other_samples_over_the_voxels_that_exist) {
    EXPECT_EQ(compare(random_volume<std::uint8_t>(5, 301, 519), StackAxis::slices, false), 3);
    EXPECT_EQ(compare(random_volume<std::int16_t>(2, 5, 513), StackAxis::slices, false), 3);
    EXPECT_EQ(compare(random_volume<float>(67, 257, 4), StackAxis::slices, false), 2);
    EXPECT_EQ(compare(random_volume<double>(1, 1, 1027), StackAxis::slices, false), 4);
}

TEST_F(ZarrPyramid, halves_frames_of_a_time_series_in_the_plane_only) {
    EXPECT_EQ(compare(random_volume<float>(66, 300, 5), StackAxis::time, false), 2);
    EXPECT_EQ(compare(random_volume<std::uint8_t>(3, 7, 700), StackAxis::time, false), 3);
}

TEST_F(ZarrPyramid, averages_64_bit_integers_exactly) {
    auto volume = random_volume<std::int64_t>(2, 2, 258);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t z = 0; z < 2; ++z) {
        for (std::int64_t y = 0; y < 2; ++y) {
            volume.at(z, y, 0) = volume.at(z, y, 1) = most;
            volume.at(z, y, 2) = volume.at(z, y, 3) = least;
            volume.at(z, y, 4) = most;
            volume.at(z, y, 5) = least; // the mean is -1/2, which is rounded up
        }
    }
    write(path, volume, options(StackAxis::slices, false));
    auto half = read<std::int64_t>(path + "::1");
    EXPECT_EQ(half.at(0, 0, 0), most);
    EXPECT_EQ(half.at(0, 0, 1), least);
    EXPECT_EQ(half.at(0, 0, 2), 0);
}

TEST_F(ZarrPyramid, ignores_NaN_in_means) {
    auto volume = random_volume<float>(1, 300, 5);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    volume.at(0, 0, 0) = nan;
    for (std::int64_t y = 2; y < 4; ++y)
        volume.at(0, y, 0) = volume.at(0, y, 1) = nan;
    EXPECT_EQ(compare(volume, StackAxis::slices, false), 2);
    auto half = read<float>(path + "::1");
    EXPECT_FALSE(std::isnan(half.at(0, 0, 0)));
    EXPECT_TRUE(std::isnan(half.at(0, 1, 0)));
}

TEST_F(ZarrPyramid, states_scales_and_the_shift_of_means) {
    const auto volume = random_volume<std::uint8_t>(3, 300, 513);
    write(path, volume, options(StackAxis::slices, true));
    std::string text = content(path + "/zarr.json");
    EXPECT_THAT(text, HasSubstr("\"image-label\""));
    EXPECT_THAT(text, HasSubstr("\"type\": \"nearest\""));
    EXPECT_THAT(text, Not(HasSubstr("translation")));
    for (int level = 0; level < 3; ++level) {
        const auto source = format::open_frames(path + "::" + std::to_string(level));
        const double factor = 1 << level;
        EXPECT_EQ(source->header().pixel, (PixelSize{.5 * factor, .25 * factor, "nm"}));
        // 3 planes, 2, then 1, which is read as a single frame
        EXPECT_EQ(source->header().slice_distance, level == 2 ? 0 : 3 * factor);
    }
    EXPECT_EQ(format::open_frames(path)->header().shape, (ImageShape{513, 300}));
    write(path, volume, options(StackAxis::slices, false));
    text = content(path + "/zarr.json");
    EXPECT_THAT(text, Not(HasSubstr("image-label")));
    EXPECT_THAT(text, HasSubstr("\"type\": \"mean\""));
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
        text.end());
    EXPECT_THAT(text, HasSubstr("\"translation\":[1.5,0.125,0.25]"));
    EXPECT_THAT(text, HasSubstr("\"translation\":[4.5,0.375,0.75]"));
}

TEST_F(ZarrPyramid, appears_whole_or_not_at_all_and_replaces_one_of_other_depth) {
    write(path, random_volume<std::uint8_t>(1, 5, 1025), options(StackAxis::slices, true));
    {
        FrameHeader header{2, {513, 3}, Sample::u8};
        const auto sink = format::create_frames(path, header, options(StackAxis::slices, true));
        sink->write_samples(std::vector<std::byte>(513 * 3));
        EXPECT_THROW(sink->commit(), std::logic_error);
    }
    EXPECT_EQ(format::open_frames(path + "::3")->header().shape, (ImageShape{129, 1}));
    write(path, random_volume<std::uint8_t>(1, 5, 300), options(StackAxis::slices, true));
    EXPECT_EQ(format::open_frames(path + "::1")->header().shape, (ImageShape{150, 3}));
    EXPECT_THAT(failure([&] { format::open_frames(path + "::2"); }), HasSubstr("no array"));
    EXPECT_EQ(folder.entries(), 1);
}

TEST_F(ZarrPyramid, is_refused_for_other_formats) {
    for (const std::string name : {"a.npy", "a.tif", "a.mrc", "a.png"}) {
        EXPECT_THAT(
            [&] {
                format::create_frames(folder.path(name), {1, {9, 9}, Sample::u16},
                                      options(StackAxis::slices, false));
            },
            ThrowsMessage<InvalidTask>(
                AllOf(HasSubstr(name + ": "), HasSubstr("cannot hold a pyramid"))));
    }
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
