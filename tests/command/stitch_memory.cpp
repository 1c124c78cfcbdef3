// SPDX-License-Identifier: BSD-3-Clause
// Memory needed to stitch blocks larger than the memory limit, each case in a separate process.
#include "sextant/command/commands.hpp"

#include <fstream>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Writes two NumPy files of bytes that overlap by half, with a dot every 64 pixels in every third
/// row, and a list of them; returns its path.
std::string dotted_blocks(const TemporaryFolder& folder, int planes) {
    constexpr int height = 500, width = 2000;
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" +
                         std::to_string(planes) + ", " + std::to_string(height) + ", " +
                         std::to_string(width) + "), }";
    header.resize(117, ' ');
    const std::string row(static_cast<std::size_t>(width), '\0');
    std::string dots = row;
    for (std::size_t x = 0; x < dots.size(); x += 64)
        dots[x] = static_cast<char>(1 + x / 64);
    const std::string name = std::to_string(planes);
    for (const char* block : {"a", "b"}) {
        std::ofstream file(folder.path(block + name + ".npy"), std::ios::binary);
        file << "\x93NUMPY" << '\1' << '\0' << 'v' << '\0' << header << '\n';
        for (int y = 0; y < planes * height; ++y)
            file << (y % 3 == 0 ? dots : row);
    }
    std::string path = folder.path(name + ".csv");
    std::ofstream(path) << "file,z,y,x\na" << name << ".npy,0,0,0\nb" << name << ".npy,0,0,1024\n";
    return path;
}

long peak_of_stitching(const std::string& blocks, const TemporaryFolder& folder,
                       const char* memory) {
    return peak_memory_of([&] {
        command::run_command(command::stitch_operation(), {{"image", {blocks}},
                                                           {"output", {folder.path("out.npy")}},
                                                           {"ranks", {"2"}},
                                                           {"memory", {memory}}});
    });
}

TEST(StitchMemory, stitching_stays_within_the_memory_limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    const TemporaryFolder folder;
    const long little = peak_of_stitching(dotted_blocks(folder, 1), folder, "1");
    const std::string large = dotted_blocks(folder, 20);
    const long whole = peak_of_stitching(large, folder, "1024");
    const long slabs = peak_of_stitching(large, folder, "8");
    constexpr long mebibyte = 1024;
    EXPECT_GT(whole - little, 100 * mebibyte) << "40 million voxels of 4 bytes";
    EXPECT_LT(slabs - little, 24 * mebibyte);
}

} // namespace
} // namespace sextant::test
