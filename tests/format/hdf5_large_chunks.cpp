// SPDX-License-Identifier: BSD-3-Clause
// A large chunk that is compressed to a small size is read while it is decoded.
#include "sextant/core/error.hpp"
#include "sextant/format/hdf5/large_chunks.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gmock/gmock.h>
#include <zlib.h>

namespace sextant::test {
namespace {

using format::Hdf5Inflater;

/// Deflates bytes incrementally.
class Deflater {
  public:
    Deflater() { deflateInit(&stream_, 1); }
    ~Deflater() { deflateEnd(&stream_); }
    void put(std::string_view bytes, int flush = Z_NO_FLUSH) {
        std::array<unsigned char, 1 << 14> out{};
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = out.data();
            stream_.avail_out = out.size();
            deflate(&stream_, flush);
            result_.append(reinterpret_cast<const char*>(out.data()),
                           out.size() - stream_.avail_out);
        } while (stream_.avail_out == 0);
    }
    std::string finish() {
        put({}, Z_FINISH);
        return result_;
    }

  private:
    z_stream stream_{};
    std::string result_;
};

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// Four-byte samples as stored in a chunk: deflated, and shuffled if requested.
std::string deflated(const std::vector<std::uint32_t>& values, bool shuffled) {
    Deflater deflater;
    const std::string_view plain(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    if (!shuffled) {
        deflater.put(plain);
        return deflater.finish();
    }
    for (std::size_t byte = 0; byte < 4; ++byte) {
        std::string plane;
        for (std::size_t i = 0; i < values.size(); ++i)
            plane += plain[4 * i + byte];
        deflater.put(plane);
    }
    return deflater.finish();
}

TEST(Hdf5Inflater, returns_samples_from_any_position) {
    Random random(8);
    std::vector<std::uint32_t> values(100000);
    for (std::uint32_t& value : values)
        value = static_cast<std::uint32_t>(random.number(0, 1 << 30));
    for (const bool shuffled : {false, true}) {
        Hdf5Inflater inflater(bytes_of(deflated(values, shuffled)), 100000, 4, shuffled,
                              [](Bytes) {});
        for (const std::size_t first : {0, 1000, 1700, 99300, 5, 40000}) {
            std::vector<std::uint32_t> read(700);
            inflater.read(static_cast<Elements>(first), std::as_writable_bytes(std::span(read)));
            EXPECT_TRUE(std::equal(read.begin(), read.end(),
                                   values.begin() + static_cast<std::ptrdiff_t>(first)))
                << first << shuffled;
        }
        std::vector<std::uint32_t> read(700);
        EXPECT_THROW(inflater.read(99301, std::as_writable_bytes(std::span(read))), Error);
    }
}

TEST(Hdf5Inflater, reports_its_progress_and_rejects_damaged_data) {
    const std::vector<std::uint32_t> values(40 << 20);
    std::string stored = deflated(values, false);
    int reported = 0;
    Hdf5Inflater inflater(bytes_of(stored), std::ssize(values), 4, false,
                          [&](Bytes) { ++reported; });
    std::vector<std::uint32_t> read(1);
    inflater.read((40 << 20) - 1, std::as_writable_bytes(std::span(read)));
    EXPECT_EQ(reported, 2); // two reports for 160 MiB
    stored[stored.size() / 2] = static_cast<char>(~stored[stored.size() / 2]);
    Hdf5Inflater damaged(bytes_of(stored), std::ssize(values), 4, false, [](Bytes) {});
    EXPECT_THROW(damaged.read((40 << 20) - 1, std::as_writable_bytes(std::span(read))), Error);
}

/// A chunk of 288 MB.
class LargeChunk : public testing::Test {
  protected:
    void write(bool shuffled) {
        Deflater deflater;
        for (std::size_t plane = 0; plane < (shuffled ? 2 : 1); ++plane) {
            for (std::int64_t y = 0; y < rows; ++y) {
                std::string row;
                for (std::int64_t x = 0; x < columns; ++x) {
                    const auto value = static_cast<std::uint16_t>(257 * pattern(0, x, y));
                    row += shuffled ? static_cast<char>(value >> 8 * plane)
                                    : static_cast<char>(value & 255);
                    if (!shuffled)
                        row += static_cast<char>(value >> 8);
                }
                deflater.put(row);
            }
        }
        const std::vector<hsize_t> chunk{static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
        const std::vector<H5Z_filter_t> filters =
            shuffled ? std::vector<H5Z_filter_t>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE}
                     : std::vector<H5Z_filter_t>{H5Z_FILTER_DEFLATE};
        Hdf5File(path).chunk("/x", chunk, H5T_STD_U16LE, chunk, filters, deflater.finish());
    }
    static constexpr std::int64_t rows = 12000, columns = 12000;
    TemporaryFolder folder;
    std::string path = folder.path("a.h5");
};

TEST_F(LargeChunk, is_read_with_little_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers have memory of their own";
#endif
    for (const bool shuffled : {false, true}) {
        write(shuffled);
        const auto read_to = [&](std::int64_t last) {
            return peak_memory_of([&] {
                const auto source = format::open_frames(path);
                std::vector<float> row(columns);
                for (std::int64_t y = 0; y < last; ++y) {
                    source->read_rows(0, {y, y + 1}, row);
                    for (std::int64_t x = 0; x < std::ssize(row); x += 37) {
                        if (row[static_cast<std::size_t>(x)] != 257 * pattern(0, x, y))
                            throw std::logic_error("another sample");
                    }
                }
            });
        };
        EXPECT_LT(read_to(rows) - read_to(0), 32 << 10) << "KiB " << shuffled;
    }
}

} // namespace
} // namespace sextant::test
