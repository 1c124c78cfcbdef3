// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include <fmt/format.h>
#include <spng.h>

namespace sextant::format {

struct FreePng {
    void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using PngContext = std::unique_ptr<spng_ctx, FreePng>;

inline PngContext make_png_context(int flags) {
    PngContext context(spng_ctx_new(flags));
    if (!context)
        throw std::bad_alloc();
    return context;
}

inline void check_png(const std::string& path, const char* failed, int error) {
    if (error)
        throw InvalidFile(path, fmt::format("{}: {}", failed, spng_strerror(error)));
}

inline int samples_a_pixel(int color_type) {
    switch (color_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR:
        return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
        return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
        return 4;
    default:
        return 1; // grey or palette index
    }
}

/// The library's write callback. Returns error numbers: exceptions must not pass through C.
inline int write_png_bytes(spng_ctx*, void* user, void* bytes, std::size_t size) {
    try {
        static_cast<AtomicFile*>(user)->write({static_cast<const std::byte*>(bytes), size});
        return 0;
    } catch (...) {
        return SPNG_IO_ERROR; // the file keeps the reason
    }
}

} // namespace sextant::format
