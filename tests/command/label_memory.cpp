// SPDX-License-Identifier: BSD-3-Clause
// Memory needed to label an image larger than the memory limit, each case in a separate process.
#include "sextant/command/commands.hpp"

#include <fstream>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Writes a NumPy file of bytes with a dot every 64 pixels in every third row; returns its path.
std::string dotted_image(const TemporaryFolder& folder, int width, int height) {
    std::string path = folder.path("dots-" + std::to_string(height) + ".npy");
    std::ofstream file(path, std::ios::binary);
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" +
                         std::to_string(height) + ", " + std::to_string(width) + "), }";
    header.resize(117, ' ');
    file << "\x93NUMPY" << '\1' << '\0' << 'v' << '\0' << header << '\n';
    const std::string row(static_cast<std::size_t>(width), '\0');
    std::string dots = row;
    for (std::size_t x = 0; x < dots.size(); x += 64)
        dots[x] = '\1';
    for (int y = 0; y < height; ++y)
        file << (y % 3 == 0 ? dots : row);
    return path;
}

long peak_of_labels(const std::string& image, const TemporaryFolder& folder, const char* memory) {
    return peak_memory_of([&] {
        command::run_command(command::label_operation(), {{"image", {image}},
                                                          {"output", {folder.path("labels.npy")}},
                                                          {"ranks", {"1"}},
                                                          {"memory", {memory}}});
    });
}

TEST(LabelMemory, processing_in_strips_stays_within_the_memory_limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    const TemporaryFolder folder;
    const long little = peak_of_labels(dotted_image(folder, 2048, 1), folder, "1024");
    const std::string large = dotted_image(folder, 2048, 3000);
    const long whole = peak_of_labels(large, folder, "1024");
    const long strips = peak_of_labels(large, folder, "8");
    constexpr long mebibyte = 1024;
    EXPECT_GT(whole - little, 14 * mebibyte) << "6 Mpixels, and labels of some";
    EXPECT_LT(strips - little, 12 * mebibyte);
}

} // namespace
} // namespace sextant::test
