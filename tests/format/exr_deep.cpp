// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/exr.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDeepFrameBuffer.h>
#include <OpenEXR/ImfDeepScanLineOutputFile.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfPartType.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

/// Pixels with 0, 1, 2, 0, 1, 2, ... fragments, which have unusual values.
DeepImage some_lists(ImageShape shape) {
    DeepImage image{shape, {0}, {}};
    for (Elements pixel = 0; pixel < shape.elements(); ++pixel) {
        for (Elements i = 0; i < pixel % 3; ++i) {
            const auto value = static_cast<float>(pixel);
            image.fragments.push_back({value / 7, -0.0F, 1e-40F, 1, value + static_cast<float>(i)});
        }
        image.first.push_back(static_cast<Elements>(image.fragments.size()));
    }
    return image;
}

/// Writes a deep file as other programs do, with one sample of value 1 in each channel of each
/// pixel.
void write_ones(const std::string& path, Imf::Header header,
                const std::vector<std::string>& names) {
    header.setType(Imf::DEEPSCANLINE);
    header.compression() = Imf::ZIPS_COMPRESSION;
    const Imath::Box2i window = header.dataWindow();
    unsigned count = 1;
    float one = 1;
    char* pointer = reinterpret_cast<char*>(&one);
    Imf::DeepFrameBuffer buffer;
    buffer.insertSampleCountSlice(Imf::Slice(Imf::UINT, reinterpret_cast<char*>(&count), 0, 0));
    for (const std::string& name : names) {
        header.channels().insert(name, Imf::Channel(Imf::FLOAT));
        buffer.insert(name, Imf::DeepSlice(Imf::FLOAT, reinterpret_cast<char*>(&pointer), 0, 0, 4));
    }
    Imf::DeepScanLineOutputFile file(path.c_str(), header);
    file.setFrameBuffer(buffer);
    file.writePixels(window.max.y - window.min.y + 1);
}

TEST(DeepExr, is_read_back_bit_for_bit) {
    const TemporaryFolder folder;
    for (const ImageShape shape : {ImageShape{13, 7}, ImageShape{1, 1}, ImageShape{2, 40}}) {
        const DeepImage image = some_lists(shape);
        const std::string path = folder.path("deep.exr");
        format::write_deep(path, image);
        EXPECT_EQ(format::read_header(path), (format::ImageHeader{shape, deep_f32}));
        const DeepImage read = format::read_deep(path);
        EXPECT_EQ(read.first, image.first);
        ASSERT_EQ(read.fragments.size(), image.fragments.size());
        const auto bytes_of = [](const DeepImage& of) {
            return std::as_bytes(std::span(of.fragments));
        };
        EXPECT_TRUE(std::ranges::equal(bytes_of(read), bytes_of(image)));
    }
}

TEST(DeepExr, pixels_outside_the_data_window_are_empty) {
    const TemporaryFolder folder;
    const std::string path = folder.path("window.exr");
    Imf::Header header(5, 4);
    header.dataWindow() = {{1, 2}, {3, 2}};
    write_ones(path, header, {"R", "G", "B", "A", "Z"});
    const DeepImage image = format::read_deep(path);
    for (Elements pixel = 0; pixel < 20; ++pixel)
        EXPECT_EQ(image.at(pixel).size(), pixel >= 11 && pixel <= 13 ? 1u : 0u) << pixel;
    EXPECT_EQ(image.at(12)[0], (Fragment{1, 1, 1, 1, 1}));
    header.dataWindow() = {{1, 2}, {5, 2}};
    write_ones(path, header, {"R", "G", "B", "A", "Z"});
    EXPECT_THAT(failure([&] { format::read_deep(path); }),
                HasSubstr("has deep pixels outside the image"));
}

TEST(DeepExr, unsupported_channels_are_refused) {
    const TemporaryFolder folder;
    const std::string path = folder.path("channels.exr");
    write_ones(path, Imf::Header(3, 2), {"R", "G", "B", "A"});
    EXPECT_EQ(failure([&] { format::read_header(path); }),
              path + ": has no channel Z; it has A, B, G, R, expected R, G, B, A and Z in a deep "
                     "image");
    write_ones(path, Imf::Header(3, 2), {"R", "G", "B", "A", "Z", "ZBack"});
    EXPECT_THAT(failure([&] { format::read_deep(path); }), HasSubstr("has channel ZBack"));
}

TEST(DeepExr, invalid_pixels_are_refused_when_read_and_written) {
    const TemporaryFolder folder;
    const std::string path = folder.path("fault.exr");
    DeepImage image{{2, 1}, {0, 0, 2}, {{0, 0, 0, 1, 2}, {0, 0, 0, 1, 1}}};
    const std::string fault = path + ": pixel (1, 0): fragment 1 at depth 1 comes after one at 2, "
                                     "expected nearest first";
    EXPECT_EQ(failure([&] { format::write_deep(path, image); }), fault);
    EXPECT_EQ(folder.entries(), 0);
    format::write_exr_deep(path, image); // as another program may write it
    EXPECT_EQ(failure([&] { format::read_deep(path); }), fault);
    EXPECT_THAT(failure([&] {
                    format::write_deep(folder.path("a.png"), some_lists({2, 2}));
                }),
                HasSubstr("PNG files cannot hold deep images"));
    EXPECT_THAT(failure([&] {
                    format::write_deep(path, some_lists({0, 2}));
                }),
                HasSubstr("0x2 pixels"));
}

TEST(DeepExr, a_truncated_or_damaged_file_is_refused_or_yields_valid_pixels) {
    const TemporaryFolder folder;
    const std::string path = folder.path("whole.exr"), spoilt = folder.path("spoilt.exr");
    format::write_deep(path, some_lists({9, 5}));
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const auto outcome = [&](const std::string& content) {
        std::ofstream(spoilt, std::ios::binary) << content;
        return failure([&] { format::read_deep(spoilt); });
    };
    for (std::size_t length = 0; length < bytes.size(); length += 37)
        EXPECT_NE(outcome(bytes.substr(0, length)), "nothing was thrown") << length;
    for (std::size_t i = 0; i < bytes.size(); i += 13) {
        std::string other = bytes;
        other[i] = static_cast<char>(other[i] ^ 0x55);
        const std::string said = outcome(other); // must be InvalidFile, or a valid image
        EXPECT_TRUE(said == "nothing was thrown" || said.starts_with(spoilt)) << i;
    }
}

TEST(DeepExr, a_row_that_claims_too_many_bytes_is_rejected) {
    const TemporaryFolder folder;
    const std::string path = folder.path("deep.exr");
    format::write_deep(path, some_lists({5, 1}));
    const std::string whole = content(path);
    const auto number_at = [&](std::size_t at) {
        std::int64_t number = 0;
        std::memcpy(&number, whole.data() + at, sizeof number);
        return number;
    };
    // After the header, a table has the position of the only row, which follows it.
    std::size_t table = 0;
    while (number_at(table) != static_cast<std::int64_t>(table) + 8)
        ++table;
    const auto refusal_with = [&](std::size_t at, std::int64_t number) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &number, sizeof number);
        fill_file(path, bytes);
        return failure([&] { format::read_deep(path); });
    };
    EXPECT_THAT(refusal_with(table + 20, 838860840), HasSubstr("row 0 claims"));
    EXPECT_THAT(refusal_with(table + 28, 838860840), HasSubstr("838860840 when unpacked: damaged"));
    EXPECT_THAT(refusal_with(table, INT64_MAX), HasSubstr("deep.exr"));
}

} // namespace
} // namespace sextant::test
