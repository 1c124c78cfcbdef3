// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>
#include <spng.h>

namespace sextant::test {

/// A PNG file with options that other programs use.
struct Png {
    spng_ihdr header{2, 1, 8, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 0, 0, 0};
    std::vector<std::uint8_t> samples = {};
    spng_plte palette = {};
    spng_trns transparency = {};
    std::optional<spng_phys> resolution = {};

    void write(const std::string& path) {
        spng_ctx* const context = spng_ctx_new(SPNG_CTX_ENCODER);
        spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
        spng_set_ihdr(context, &header);
        if (palette.n_entries > 0)
            spng_set_plte(context, &palette);
        if (transparency.n_type3_entries > 0)
            spng_set_trns(context, &transparency);
        if (resolution)
            spng_set_phys(context, &*resolution);
        const int failed = spng_encode_image(context, samples.data(), samples.size(), SPNG_FMT_PNG,
                                             SPNG_ENCODE_FINALIZE);
        EXPECT_EQ(failed, 0) << spng_strerror(failed);
        std::size_t size = 0;
        int error = 0;
        void* const bytes = spng_get_png_buffer(context, &size, &error);
        fill_file(path, std::string(static_cast<const char*>(bytes), size));
        std::free(bytes);
        spng_ctx_free(context);
    }
};

/// Two colours, of numbers 0 and 1.
inline const spng_plte two_colours{2, {{10, 20, 30, 0}, {200, 100, 50, 0}}};

/// The checksum of the kind and the bytes of a chunk.
inline std::uint32_t png_checksum(const std::string& bytes) {
    std::uint32_t sum = 0xffffffffU;
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320U : 0);
    }
    return ~sum;
}

} // namespace sextant::test
