// SPDX-License-Identifier: BSD-3-Clause
// Reading a file of frames with any contents either throws InvalidFile or returns frames of the
// shape stated in the header, with little time and memory.
#include <algorithm>
#include <string>

#include "tests/format/images.hpp"
#include "tests/format/seeds.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/zarr3_files.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Stores of Zarr, each with a file of it that is damaged.
std::vector<Seed> store_seeds() {
    const Zarr3Pattern shards{
        .order = {2, 0, 1}, .compressor = zarr3_compressors()[4], .shards = Zarr3Shards{}};
    const auto version_2 = [](const std::string& path) {
        write_zarr(path, {.compressor = zarr_compressors()[4]});
    };
    const auto version_3 = [=](const std::string& path) { write_zarr3(path, shards); };
    return {{"a.zarr", "", version_2, "/.zarray"},
            {"metadata.zarr", "", version_3, "/zarr.json"},
            {"shard.zarr", "", version_3, "/c/0/0/0"}};
}

class DamagedFrames : public testing::TestWithParam<Seed> {
  protected:
    void SetUp() override {
        path = folder.path(GetParam().name);
        GetParam().make(path);
        whole = content(path + GetParam().file);
    }

    /// Opens a file and reads some frames, unless they are large. Any exception but InvalidFile
    /// fails the test.
    void try_to_read(const std::string& bytes) {
        fill_file(path + GetParam().file, bytes);
        try {
            const auto source = format::open_frames(path + GetParam().detail);
            const FrameHeader& header = source->header();
            ASSERT_GT(header.frames, 0);
            constexpr Elements most = 1 << 20;
            if (header.shape.elements() > most)
                return;
            for (std::int64_t frame = 0; frame < std::min<std::int64_t>(header.frames, 5);
                 ++frame) {
                try {
                    read_frame(*source, frame);
                } catch (const InvalidFile&) {
                    ++refused;
                }
            }
        } catch (const InvalidFile& error) {
            EXPECT_TRUE(error.path().starts_with(path)) << error.what();
            ++refused;
        }
    }

    TemporaryFolder folder;
    std::string path, whole;
    int refused = 0;
};

TEST_P(DamagedFrames, truncated_anywhere_are_read_or_refused_without_a_crash) {
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 500);
    for (std::size_t length = 0; length < whole.size(); length += length < 1200 ? 1 : step)
        try_to_read(whole.substr(0, length));
    EXPECT_GT(refused, 4);
}

TEST_P(DamagedFrames, with_any_changed_byte_are_read_or_refused_without_a_crash) {
    const long before = memory_before();
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 1500);
    for (std::size_t at = 0; at < whole.size(); at += at < 1200 ? 1 : step) {
        const auto with = [&](char byte) {
            std::string bytes = whole;
            bytes[at] = byte;
            try_to_read(bytes);
        };
        for (const int change : {0xff, 0x80, 0x01})
            with(static_cast<char>(whole[at] ^ change));
        for (const char json : {'0', '9', '-', '"', ',', '[', '}', 'e', '\0', '\xff'}) {
            if (!GetParam().file.empty())
                with(json);
        }
    }
    const bool has_header = GetParam().detail.empty();
    EXPECT_EQ(refused > 4, has_header) << refused;
    EXPECT_LT(peak_memory() - before, 1 << 19) << "KiB";
}

std::string name_of(const testing::TestParamInfo<Seed>& test) {
    std::string name = test.param.name;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(OfEveryFormat, DamagedFrames, testing::ValuesIn(seeds()), name_of);
INSTANTIATE_TEST_SUITE_P(OfStores, DamagedFrames, testing::ValuesIn(store_seeds()), name_of);

} // namespace
} // namespace sextant::test
