// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace sextant::test {

/// Writes 8-bit samples, 1 or 3 per pixel, at the best quality.
inline void write_jpeg(const std::string& path, int width, int height, int channels,
                       std::vector<unsigned char> samples, bool progressive) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    jpeg_compress_struct library{};
    jpeg_error_mgr errors{};
    library.err = jpeg_std_error(&errors);
    jpeg_create_compress(&library);
    jpeg_stdio_dest(&library, file);
    library.image_width = static_cast<JDIMENSION>(width);
    library.image_height = static_cast<JDIMENSION>(height);
    library.input_components = channels;
    library.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&library);
    jpeg_set_quality(&library, 100, TRUE);
    if (progressive)
        jpeg_simple_progression(&library);
    jpeg_start_compress(&library, TRUE);
    for (int y = 0; y < height; ++y) {
        JSAMPROW row = samples.data() + y * width * channels;
        jpeg_write_scanlines(&library, &row, 1);
    }
    jpeg_finish_compress(&library);
    jpeg_destroy_compress(&library);
    std::fclose(file);
}

} // namespace sextant::test
