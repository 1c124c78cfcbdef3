// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfTiledOutputFile.h>

namespace sextant::test {

/// Writes an image of one sample type as other programs do: in any compression, in tiles, and with
/// a data window that differs from the display window.
inline void write_exr_seed(const std::string& path, Imf::Compression compression,
                           Imf::PixelType type, bool tiled) {
    constexpr int width = 20, height = 36;
    Imf::Header header(Imath::Box2i({0, 0}, {width - 1, height - 1}),
                       Imath::Box2i({-3, 2}, {width - 4, height + 1}));
    header.compression() = compression;
    std::vector<float> floats;
    std::vector<half> halves;
    for (int i = 0; i < width * height; ++i) {
        floats.push_back(static_cast<float>(i % 97) / 97);
        halves.push_back(half(floats.back()));
    }
    const std::size_t size = type == Imf::HALF ? sizeof(half) : sizeof(float);
    char* const first = type == Imf::HALF ? reinterpret_cast<char*>(halves.data())
                                          : reinterpret_cast<char*>(floats.data());
    const Imath::Box2i window = header.dataWindow();
    char* const origin = first - (window.min.y * width + window.min.x) * static_cast<int>(size);
    Imf::FrameBuffer buffer;
    for (const char* name : {"R", "G", "B", "A"}) {
        header.channels().insert(name, Imf::Channel(type));
        buffer.insert(name, Imf::Slice(type, origin, size, size * width));
    }
    if (tiled) {
        header.setTileDescription(Imf::TileDescription(8, 8));
        Imf::TiledOutputFile file(path.c_str(), header);
        file.setFrameBuffer(buffer);
        file.writeTiles(0, file.numXTiles() - 1, 0, file.numYTiles() - 1);
    } else {
        Imf::OutputFile file(path.c_str(), header);
        file.setFrameBuffer(buffer);
        file.writePixels(height);
    }
}

/// Writes images of OpenEXR into the folder "exr" and raw images into the folders "rgba" and "zst".
inline void write_image_seeds(const std::filesystem::path& corpus) {
    for (const char* name : {"exr", "rgba", "zst"})
        std::filesystem::create_directories(corpus / name);
    const std::filesystem::path folder = corpus / "exr";
    for (int compression = 0; compression < Imf::NUM_COMPRESSION_METHODS; ++compression) {
        const std::string name = std::to_string(compression) + ".exr";
        const auto method = static_cast<Imf::Compression>(compression);
        write_exr_seed(folder / ("half-" + name), method, Imf::HALF, false);
        write_exr_seed(folder / ("float-" + name), method, Imf::FLOAT, false);
        write_exr_seed(folder / ("tiles-" + name), method, Imf::HALF, true);
    }
    format::write_image(folder / "depth.exr", gradient({13, 7}, rgba_depth_f32));
    DeepImage deep = {{13, 7}, {0}, {}};
    for (Elements pixel = 0; pixel < deep.shape.elements(); ++pixel) {
        for (Elements i = 0; i < pixel % 3; ++i)
            deep.fragments.push_back({.25F, .5F, 0, 1, static_cast<float>(i)});
        deep.first.push_back(static_cast<Elements>(deep.fragments.size()));
    }
    format::write_deep(folder / "deep.exr", deep);
    format::write_image(corpus / "rgba" / "a.rgba32f", gradient({13, 7}, rgba_f32));
    format::write_image(corpus / "zst" / "a.rgba32f.zst", gradient({13, 7}, rgba_f32));
}

} // namespace sextant::test
