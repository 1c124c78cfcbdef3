// SPDX-License-Identifier: BSD-3-Clause
// Bodies of components are the same after packing; damaged bytes are refused.
#include "sextant/kernel/label/packed_bodies.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

using namespace sextant;
using kernel::Body;
using kernel::Label;

namespace {

/// Noise labelled and measured: the bodies of each sequence, in the order in which they came.
std::vector<std::map<Label, Body>> measured(const kernel::VolumeShape& volume,
                                            kernel::Sameness sameness, Elements first_plane,
                                            bool with_intensity) {
    std::mt19937 random(7);
    std::vector<std::uint8_t> samples(static_cast<std::size_t>(volume.elements()));
    for (std::uint8_t& sample : samples)
        sample = static_cast<std::uint8_t>(random() % 10 < 6 ? 0 : 1 + random() % 2);
    std::vector<float> intensities(samples.size());
    for (float& intensity : intensities)
        intensity = static_cast<float>(random()) * .001F;
    const Tile tile{0, 0, volume.width, volume.height};
    const ImageShape plane{volume.width, volume.height};
    kernel::ValueView view(samples.data(), volume.width, tile, plane);
    view.planes = volume.depth;
    view.next_plane = volume.height * volume.width;
    kernel::ValueView intensity = view;
    intensity.first = intensities.data();
    const kernel::Connection connection{kernel::Neighbours::six, sameness};
    kernel::Labeller labeller(connection);
    labeller.find(view);
    const std::vector<std::uint8_t> wanted(labeller.count(), 1);
    std::vector<std::map<Label, Body>> bodies(kernel::body_sequences);
    kernel::VolumeShape whole = volume;
    whole.depth += first_plane + 1;
    kernel::measure(labeller, connection, view, first_plane, whole,
                    with_intensity ? &intensity : nullptr, wanted,
                    [&](Label label, const Body& body, int sequence) {
                        auto& own = bodies.at(static_cast<std::size_t>(sequence));
                        EXPECT_TRUE(own.empty() || own.rbegin()->first < label);
                        own[label] = body;
                    });
    return bodies;
}

bool same(const Body& a, const Body& b) {
    return a.first == b.first && a.value == b.value && a.voxels == b.voxels && a.low == b.low &&
           a.high == b.high && a.sums == b.sums && a.products == b.products &&
           a.contacts == b.contacts && a.at_border == b.at_border && a.intensity == b.intensity &&
           a.intensity_error == b.intensity_error && a.least == b.least && a.largest == b.largest;
}

} // namespace

TEST(PackedBodies, all_measures_return_as_they_were) {
    const kernel::VolumeShape volume{40, 23, 67};
    for (const kernel::Sameness sameness :
         {kernel::Sameness::foreground, kernel::Sameness::value}) {
        for (const bool with_intensity : {false, true}) {
            const Elements first_plane = 5;
            kernel::VolumeShape whole = volume;
            whole.depth += first_plane + 1;
            const kernel::BodyContents contents{whole, sameness == kernel::Sameness::value,
                                                with_intensity};
            std::size_t bytes = 0, all = 0, sequences = 0;
            for (const auto& bodies : measured(volume, sameness, first_plane, with_intensity)) {
                kernel::PackedBodies packer(contents);
                for (const auto& [label, body] : bodies)
                    packer.add(label, body);
                const std::vector<std::byte> packed = packer.take();
                EXPECT_TRUE(packer.empty());
                kernel::BodyReader reader(contents, packed);
                for (const auto& [label, body] : bodies) {
                    ASSERT_TRUE(reader.next());
                    EXPECT_EQ(reader.label(), label);
                    EXPECT_TRUE(same(reader.body(), body)) << label;
                }
                EXPECT_FALSE(reader.next());
                sequences += bodies.empty() ? 0 : 1;
                bytes += packed.size();
                all += bodies.size();
            }
            EXPECT_GT(sequences, 2U); // components of few and of many planes
            EXPECT_LT(bytes, all * (with_intensity ? 48 : 16));
        }
    }
}

TEST(PackedBodies, every_truncation_is_noticed_or_ends_between_bodies) {
    const kernel::VolumeShape volume{40, 23, 67};
    const auto bodies = measured(volume, kernel::Sameness::foreground, 0, false)[1];
    kernel::VolumeShape whole = volume;
    whole.depth += 1;
    const kernel::BodyContents contents{whole};
    kernel::PackedBodies packer(contents);
    for (const auto& [label, body] : bodies)
        packer.add(label, body);
    const std::vector<std::byte> packed = packer.take();
    std::size_t refused = 0, whole_lists = 0;
    for (std::size_t size = 0; size < std::min<std::size_t>(packed.size(), 400); ++size) {
        kernel::BodyReader reader(contents, std::span(packed).first(size));
        try {
            while (reader.next())
                EXPECT_TRUE(same(reader.body(), bodies.at(reader.label())));
            ++whole_lists;
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 5 * whole_lists);
    const std::vector<std::byte> endless(20, std::byte{0xFF});
    kernel::BodyReader reader(contents, endless);
    EXPECT_THROW(reader.next(), Error);
}
