// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/raw.hpp"

#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/manifest.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

std::string compressed(std::string_view bytes) {
    std::string frame(ZSTD_compressBound(bytes.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 1));
    return frame;
}

/// Compressed bytes without the content size in the header, as written by the zstd command in a
/// pipe.
std::string streamed(std::string_view bytes) {
    std::string frame(ZSTD_compressBound(bytes.size()) + 64, '\0');
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), bytes.data(), bytes.size()));
    ZSTD_freeCCtx(context);
    return frame;
}

std::string_view text(const Image& image) {
    return {reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size()};
}

/// Limits the address space that this process can still allocate. Without effect under the address
/// and thread sanitizers, which reserve terabytes.
class AddressSpaceLimit {
  public:
    explicit AddressSpaceLimit(rlim_t more) {
        getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        rlim_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit limit{pages * static_cast<rlim_t>(getpagesize()) + more, before_.rlim_max};
        setrlimit(RLIMIT_AS, &limit);
#else
        (void)more;
#endif
    }
    AddressSpaceLimit(const AddressSpaceLimit&) = delete;
    AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
    ~AddressSpaceLimit() {
        setrlimit(RLIMIT_AS, &before_);
    }

  private:
    rlimit before_{};
};

/// A folder with a manifest for images of 7×5 pixels.
class RawFile : public testing::Test {
  protected:
    RawFile() { describe("rgba f32"); }
    void describe(const std::string& element) const {
        fill_file(folder.path("manifest.json"),
                  R"({"size": [7, 5], "element": ")" + element + "\"}");
    }
    void refuses(const std::string& path, const std::string& text) const {
        EXPECT_THAT(failure([&] { format::read_image(path); }),
                    testing::AllOf(testing::StartsWith(path + ": "), HasSubstr(text)));
    }

    TemporaryFolder folder;
    Image image = any_bits({7, 5}, rgba_f32, 1);
    std::string plain = folder.path("a.rgba32f");
    std::string packed = folder.path("a.rgba32f.zst");
};

TEST_F(RawFile, keeps_every_bit) {
    for (const std::string& path : {plain, packed, folder.path("bare.zst")}) {
        format::write_image(path, image);
        EXPECT_EQ(format::read_header(path), (format::ImageHeader{{7, 5}, rgba_f32}));
        EXPECT_TRUE(same_bits(format::read_image(path), image)) << path;
    }
    EXPECT_EQ(content(plain), text(image));
}

TEST_F(RawFile, keeps_every_bit_of_depth) {
    describe("rgba+depth f32");
    const Image deep = any_bits({7, 5}, rgba_depth_f32, 2);
    for (const char* name : {"a.rgbaz32f", "a.rgbaz32f.zst"}) {
        format::write_image(folder.path(name), deep);
        EXPECT_TRUE(same_bits(format::read_image(folder.path(name)), deep)) << name;
    }
}

TEST_F(RawFile, is_read_from_several_zstd_frames_of_unknown_size) {
    const std::string_view bytes = text(image);
    fill_file(packed,
              streamed(bytes.substr(0, 100)) + streamed("") + compressed(bytes.substr(100)));
    EXPECT_TRUE(same_bits(format::read_image(packed), image));
}

TEST_F(RawFile, is_read_with_skippable_zstd_frames_and_any_window_size) {
    const std::string bytes(text(image));
    const std::string skipped("\x5f\x2a\x4d\x18\x03\0\0\0abc", 11);
    fill_file(packed, skipped + compressed(bytes.substr(0, 100)) + skipped +
                          compressed(bytes.substr(100)) + skipped);
    EXPECT_TRUE(same_bits(format::read_image(packed), image));
    std::string wide = streamed(bytes); // the sixth byte contains the window size
    ASSERT_EQ(wide[4] & 0x20, 0);
    wide[5] = static_cast<char>((31 - 10) << 3);
    fill_file(packed, wide);
    const AddressSpaceLimit limit(256 << 20); // less than the window
    EXPECT_TRUE(same_bits(format::read_image(packed), image));
}

TEST_F(RawFile, larger_than_any_buffer_is_read) {
    fill_file(folder.path("manifest.json"), R"({"size": [997, 301]})");
    const Image large = any_bits({997, 301}, rgba_f32, 4);
    format::write_image(packed, large);
    EXPECT_TRUE(same_bits(format::read_image(packed), large));
}

TEST_F(RawFile, of_the_wrong_size_is_rejected_naming_both_sizes) {
    const std::string bytes(text(image));
    const std::string expected = ", expected 560: 7×5 pixels of 16 bytes (rgba f32)";
    fill_file(plain, bytes.substr(0, 559));
    refuses(plain, "holds 559 bytes" + expected);
    fill_file(plain, bytes + "x");
    refuses(plain, "holds 561 bytes" + expected);
    fill_file(packed, compressed(bytes.substr(0, 559)));
    refuses(packed, "holds 559 bytes" + expected);
    fill_file(packed, compressed(bytes + "x"));
    refuses(packed, "holds 561 bytes" + expected);
    for (const std::string& more : {streamed(bytes + "x"), streamed(bytes) + streamed("x")}) {
        fill_file(packed, more);
        refuses(packed, "holds more than 560 bytes" + expected);
    }
}

TEST_F(RawFile, truncated_in_its_last_zstd_frame_is_rejected) {
    format::write_image(packed, image);
    const std::string bytes = content(packed);
    fill_file(packed, bytes.substr(0, bytes.size() - 1)); // the checksum has four bytes
    refuses(packed, "doesn't match checksum");
    fill_file(packed, bytes.substr(0, bytes.size() - 5));
    refuses(packed, "ends inside its last zstd frame: truncated");
}

TEST_F(RawFile, with_a_flipped_bit_is_rejected) {
    format::write_image(packed, image);
    std::string bytes = content(packed);
    bytes[bytes.size() / 2] ^= 1;
    fill_file(packed, bytes);
    refuses(packed, "cannot be decompressed");
}

TEST_F(RawFile, that_is_not_compressed_is_rejected) {
    fill_file(packed, std::string(text(image)));
    refuses(packed, "is not a zstd file");
}

TEST_F(RawFile, too_small_for_its_manifest_is_rejected_before_memory_is_allocated) {
    fill_file(folder.path("manifest.json"), R"({"size": [131072, 131072]})");
    fill_file(packed, streamed("few"));
    EXPECT_THAT(failure([&] { format::read_header(packed); }),
                HasSubstr("too few for the 274877906944 bytes of pixels"));
}

TEST_F(RawFile, without_a_manifest_is_rejected_naming_the_expected_path) {
    format::write_image(plain, image);
    std::filesystem::remove(folder.path("manifest.json"));
    refuses(plain, "holds raw pixels, which need a manifest in the same folder, but " +
                       folder.path("manifest.json") + " does not exist");
}

TEST_F(RawFile, is_read_with_a_manifest_of_any_name) {
    format::write_image(plain, image);
    std::filesystem::rename(folder.path("manifest.json"), folder.path("scene.json"));
    const auto header = format::read_manifest_header(folder.path("scene.json"));
    Image read(header.shape, header.element);
    format::read_pixels(plain, header, read.bytes());
    EXPECT_TRUE(same_bits(read, image));
}

TEST_F(RawFile, with_an_extension_that_contradicts_its_pixels_is_rejected) {
    format::write_image(plain, image);
    describe("rgba+depth f32");
    refuses(plain, "ends in .rgba32f, but its pixels are rgba+depth f32");
    const std::string deep = folder.path("b.rgbaz32f.zst");
    EXPECT_EQ(failure([&] { format::write_image(deep, image); }),
              deep + ": ends in .rgbaz32f, but its pixels are rgba f32");
}

TEST_F(RawFile, is_reported_as_missing_before_its_manifest) {
    refuses(folder.path("none.rgba32f"), "no such file");
}

TEST(BrainSample, has_eight_valid_partial_images_in_visibility_order) {
    const std::string path = test::source_dir() + "/examples/data/brain/manifest.json";
    const format::Partials partials = format::read_manifest(path);
    EXPECT_EQ(partials.header(), (format::ImageHeader{{512, 512}, rgba_f32}));
    EXPECT_THAT(partials.order, testing::ElementsAre(5, 1, 4, 7, 0, 3, 6, 2));
    ASSERT_EQ(partials.paths.size(), 8U);
    for (const std::string& partial : partials.paths) {
        EXPECT_TRUE(format::check_pixels(format::read_image(partial)).good()) << partial;
    }
}

} // namespace
} // namespace sextant::test
