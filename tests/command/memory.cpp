// SPDX-License-Identifier: BSD-3-Clause
// Memory of commands on images larger than the memory limit, each case in a separate process; and
// the files that remain if the disk is full.
#include "sextant/command/commands.hpp"
#include "sextant/core/error.hpp"

#include <filesystem>

#include "tests/command/gray_files.hpp"
#include "tests/format/file_size_limit.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/peak_memory.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

constexpr long mebibyte = 1024;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_IF_SANITIZED GTEST_SKIP() << "sanitizers take memory of their own"
#else
#define SKIP_IF_SANITIZED
#endif

void find_contours(const std::string& image, const std::string& output, const char* memory,
                   const char* simplify = nullptr) {
    command::Given options = {{"image", {image}},
                              {"output", {output}},
                              {"sigma", {"2"}},
                              {"ranks", {"1"}},
                              {"memory", {memory}}};
    if (simplify)
        options["simplify"] = {simplify};
    command::run_command(command::contours_operation(), options);
}

long peak_of_contours(const std::string& image, const std::string& output, const char* memory,
                      const char* simplify = nullptr) {
    return peak_memory_of([&] { find_contours(image, output, memory, simplify); });
}

TEST(Memory, of_contours_in_strips_stays_within_the_limit) {
    SKIP_IF_SANITIZED;
    const TemporaryFolder folder;
    const ImageShape small{64, 8}, large{1024, 6000};
    const std::string output = folder.path("lines.csv");
    const long little =
        peak_of_contours(gray_file(folder, "small.npy", small, waves(small)), output, "1024");
    const std::string image = gray_file(folder, "large.npy", large, waves(large));
    const long whole = peak_of_contours(image, folder.path("whole.csv"), "1024");
    const long strips = peak_of_contours(image, output, "16");
    EXPECT_GT(whole - little, 60 * mebibyte) << "6 Mpixels of 10 bytes at least";
    EXPECT_LT(strips - little, 16 * mebibyte);
    EXPECT_EQ(content(output), content(folder.path("whole.csv")));
    find_contours(image, folder.path("whole.csv"), "1024", "1");
    EXPECT_LT(peak_of_contours(image, output, "16", "1") - little, 16 * mebibyte);
    EXPECT_EQ(content(output), content(folder.path("whole.csv")));
}

TEST(FullDisk, leaves_no_file_of_contours_in_strips) {
    const TemporaryFolder folder;
    const ImageShape shape{256, 700};
    const std::string image = gray_file(folder, "image.npy", shape, waves(shape));
    const std::string output = folder.path("lines.csv");
    find_contours(image, output, "1");
    const auto needed = static_cast<rlim_t>(std::filesystem::file_size(output));
    std::filesystem::remove(output);
    // The disk is too small for the direction codes, for the points, or for the output.
    for (const rlim_t limit : {rlim_t{70000}, needed / 2, needed - 1}) {
        const FileSizeLimit full(limit);
        EXPECT_THAT(test::message_of<Error>([&] { find_contours(image, output, "1"); }),
                    testing::HasSubstr("lines.csv: a scratch file in the same folder"));
        EXPECT_EQ(folder.entries(), 1) << "after " << limit << " bytes";
    }
}

/// An image, or planes below one another, with a dot every 64 pixels in every third row.
std::vector<std::uint8_t> dots(ImageShape shape) {
    std::vector<std::uint8_t> samples(static_cast<std::size_t>(shape.elements()));
    for (Elements y = 0; y < shape.height; y += 3) {
        for (Elements x = 0; x < shape.width; x += 64)
            samples[static_cast<std::size_t>(y * shape.width + x)] =
                static_cast<std::uint8_t>(1 + x / 64);
    }
    return samples;
}

TEST(Memory, of_labels_in_strips_stays_within_the_limit) {
    SKIP_IF_SANITIZED;
    const TemporaryFolder folder;
    const auto peak = [&](Elements height, const char* memory) {
        const std::string image =
            gray_file(folder, "dots.npy", {2048, height}, dots({2048, height}));
        return peak_memory_of([&] {
            command::run_command(command::label_operation(),
                                 {{"image", {image}},
                                  {"output", {folder.path("labels.npy")}},
                                  {"ranks", {"1"}},
                                  {"memory", {memory}}});
        });
    };
    const long little = peak(1, "1024");
    EXPECT_GT(peak(3000, "1024") - little, 14 * mebibyte) << "6 Mpixels, and labels of some";
    EXPECT_LT(peak(3000, "8") - little, 12 * mebibyte);
}

TEST(Memory, of_stitching_stays_within_the_limit) {
    SKIP_IF_SANITIZED;
    const TemporaryFolder folder;
    const auto peak = [&](Elements planes, const char* memory) {
        const std::string list = folder.path("blocks.csv");
        std::ofstream(list) << "file,z,y,x\na.npy,0,0,0\nb.npy,0,0,1024\n";
        for (const char* name : {"a.npy", "b.npy"}) // which overlap by half
            gray_file(folder, name, {2000, 500 * planes}, dots({2000, 500 * planes}), planes);
        return peak_memory_of([&] {
            command::run_command(command::stitch_operation(), {{"image", {list}},
                                                               {"output", {folder.path("out.npy")}},
                                                               {"ranks", {"2"}},
                                                               {"memory", {memory}}});
        });
    };
    const long little = peak(1, "1");
    EXPECT_GT(peak(20, "1024") - little, 100 * mebibyte) << "40 million voxels of 4 bytes";
    EXPECT_LT(peak(20, "8") - little, 24 * mebibyte);
}

} // namespace
} // namespace sextant::test
