// SPDX-License-Identifier: BSD-3-Clause
// Reading a file with any contents either throws InvalidFile or returns an image of the shape
// stated in the header, with little time and memory.
#include "sextant/format/catalogue.hpp"
#include "sextant/format/manifest.hpp"

#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr int mutations = 400;

/// Changes a few bytes at random positions; half of the time near the start, where headers are, and
/// sometimes to extreme values that cause overflow.
void damage(std::string& bytes, Random& random) {
    const std::size_t reach =
        random.chance(50) ? std::min<std::size_t>(bytes.size(), 512) : bytes.size();
    for (int flips = random.number(1, 4); flips > 0; --flips) {
        const std::size_t at = random.index(reach);
        if (random.chance(25)) {
            const std::string extreme(random.chance(50) ? "\xff\xff\xff\x7f" : "\xff\xff\xff\xff");
            bytes.replace(at, std::min<std::size_t>(4, bytes.size() - at), extreme);
        } else {
            bytes[at] = static_cast<char>(random.number(0, 255));
        }
    }
}

struct Sample {
    std::string name;
    ImageShape shape;
    ElementFormat element;
};

class DamagedFile : public testing::TestWithParam<Sample> {
  protected:
    void SetUp() override {
        path = folder.path(GetParam().name);
        const Image image = gradient(GetParam().shape, GetParam().element);
        fill_file(folder.path("manifest.json"),
                  "{\"size\": [" + std::to_string(GetParam().shape.width) + ", " +
                      std::to_string(GetParam().shape.height) + "], \"element\": \"" +
                      std::string(GetParam().element.name) + "\"}");
        format::write_image(path, image);
        whole = content(path);
    }

    /// Any exception but InvalidFile fails the test.
    void expect_image_or_error(const std::string& bytes) const {
        fill_file(path, bytes);
        try {
            const format::ImageHeader header = format::read_header(path);
            EXPECT_EQ(format::read_image(path).shape(), header.shape);
        } catch (const InvalidFile& error) {
            EXPECT_EQ(error.path(), path);
        }
    }

    TemporaryFolder folder;
    std::string path, whole;
};

TEST_P(DamagedFile, truncated_anywhere_is_rejected_unless_all_pixels_are_present) {
    const Image image = format::read_image(path);
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 300);
    for (std::size_t length = 0; length < whole.size(); length += length < 400 ? 1 : step) {
        fill_file(path, whole.substr(0, length));
        const std::string message =
            failure([&] { EXPECT_TRUE(same_bits(format::read_image(path), image)) << length; });
        EXPECT_TRUE(message != "nothing was thrown" || length + 4 >= whole.size()) << length;
    }
}

TEST_P(DamagedFile, with_changed_bytes_is_read_or_rejected_without_a_crash) {
    const long before = memory_before();
    Random random(7);
    for (int i = 0; i < mutations; ++i) {
        std::string bytes = whole;
        damage(bytes, random);
        expect_image_or_error(bytes);
    }
    EXPECT_LT(peak_memory() - before, 2 << 20) << "KiB";
}

TEST_P(DamagedFile, with_removed_or_repeated_bytes_is_read_or_rejected_without_a_crash) {
    Random random(8);
    for (int i = 0; i < mutations / 4; ++i) {
        std::string bytes = whole;
        const std::size_t at = random.index(bytes.size());
        const std::size_t length = random.index(64) + 1;
        if (random.chance(50))
            bytes.erase(at, length);
        else
            bytes.insert(at, bytes.substr(at, length));
        expect_image_or_error(bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(OfEveryFormat, DamagedFile,
                         testing::Values(Sample{"a.exr", {61, 37}, rgba_f32},
                                         Sample{"z.exr", {61, 37}, rgba_depth_f32},
                                         Sample{"a.png", {61, 37}, rgba_f32},
                                         Sample{"a.rgba32f", {13, 7}, rgba_f32},
                                         Sample{"a.rgba32f.zst", {61, 37}, rgba_f32},
                                         Sample{"z.rgbaz32f.zst", {61, 37}, rgba_depth_f32}),
                         [](const auto& test) {
                             std::string name = test.param.name;
                             for (char& letter : name) {
                                 if (letter == '.')
                                     letter = '_';
                             }
                             return name;
                         });

TEST(DamagedManifest, of_any_bytes_is_read_or_rejected_without_a_crash) {
    const TemporaryFolder folder;
    const std::string path = folder.path("manifest.json");
    const std::string whole = R"({"version": 1, "size": [7, 5], "element": "rgba f32",
        "order_front_to_back": [1, 0], "bricks": [{"id": 0}, {"id": 1, "file": "b.exr"}]})";
    fill_file(folder.path("partial_0.rgba32f.zst"), "");
    fill_file(folder.path("b.exr"), "");
    const auto try_to_read = [&](const std::string& bytes) {
        fill_file(path, bytes);
        try {
            EXPECT_EQ(format::read_manifest(path).paths.size(), 2U);
        } catch (const InvalidFile& error) {
            EXPECT_EQ(error.path(), path);
        }
    };
    for (std::size_t length = 0; length <= whole.size(); ++length)
        try_to_read(whole.substr(0, length));
    Random random(9);
    for (int i = 0; i < 4 * mutations; ++i) {
        std::string bytes = whole;
        damage(bytes, random);
        try_to_read(bytes);
    }
}

} // namespace
} // namespace sextant::test
