// SPDX-License-Identifier: BSD-3-Clause
// Memory needed to trace contours in an image larger than the memory limit, each case in a separate
// process; and the files that remain if the disk is full.
#include "sextant/command/commands.hpp"
#include "sextant/core/error.hpp"

#include <filesystem>
#include <map>

#include "tests/command/gray_files.hpp"
#include "tests/format/file_size_limit.hpp"
#include "tests/support/peak_memory.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

void find_contours(const std::string& image, const std::string& output, const char* memory,
                   const char* simplify = nullptr) {
    std::map<std::string, std::vector<std::string>> options = {{"image", {image}},
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

TEST(ContoursMemory, processing_in_strips_stays_within_the_memory_limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    const TemporaryFolder folder;
    const ImageShape small{64, 8}, large{1024, 6000};
    const std::string output = folder.path("lines.csv");
    const long little =
        peak_of_contours(gray_file(folder, "small.npy", small, waves(small)), output, "1024");
    const std::string image = gray_file(folder, "large.npy", large, waves(large));
    const long whole = peak_of_contours(image, folder.path("whole.csv"), "1024");
    const long strips = peak_of_contours(image, output, "16");
    constexpr long mebibyte = 1024;
    EXPECT_GT(whole - little, 60 * mebibyte) << "6 Mpixels of 10 bytes at least";
    EXPECT_LT(strips - little, 16 * mebibyte);
    EXPECT_EQ(content(output), content(folder.path("whole.csv")));
    find_contours(image, folder.path("whole.csv"), "1024", "1");
    EXPECT_LT(peak_of_contours(image, output, "16", "1") - little, 16 * mebibyte);
    EXPECT_EQ(content(output), content(folder.path("whole.csv")));
}

TEST(ContoursMemory, processing_in_strips_leaves_no_file_on_a_full_disk) {
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
        try {
            find_contours(image, output, "1");
            FAIL() << limit << " bytes were enough";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(),
                        testing::HasSubstr("lines.csv: a scratch file in the same folder"));
        }
        EXPECT_EQ(folder.entries(), 1) << "after " << limit << " bytes";
    }
}

} // namespace
} // namespace sextant::test
