// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files with any byte changed are read or refused, even if the HDF5 library crashes.
#include <algorithm>
#include <string>

#include "tests/format/images.hpp"
#include "tests/format/seeds.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Hdf5Damage, a_file_with_any_changed_byte_is_read_or_refused_without_a_crash) {
    const TemporaryFolder folder;
    const std::string path = folder.path("a.h5");
    hdf5_seeds().front().make(path);
    const std::string whole = content(path);
    int refused = 0, read = 0;
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 250);
    for (std::size_t at = 0; at < whole.size(); at += step) {
        for (const int change : {0xff, 0x01}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            fill_file(path, bytes);
            try {
                const auto source = format::open_frames(path);
                if (source->header().shape.elements() < 1 << 20)
                    read_frame(*source, 0);
                ++read;
            } catch (const InvalidFile&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 20);
    EXPECT_GT(read, 20);
}

} // namespace
} // namespace sextant::test
