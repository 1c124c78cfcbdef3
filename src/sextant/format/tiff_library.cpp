// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_library.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

TiffBytes& of(thandle_t handle) {
    return *static_cast<TiffBytes*>(handle);
}

tmsize_t read(thandle_t handle, void* to, tmsize_t size) {
    TiffBytes& bytes = of(handle);
    try {
        const Bytes got = bytes.read(bytes.position,
                                     {static_cast<std::byte*>(to), static_cast<std::size_t>(size)});
        bytes.position += got;
        return got;
    } catch (...) {
        bytes.thrown = std::current_exception();
        return -1;
    }
}

/// Files are only read by the library.
tmsize_t write(thandle_t, void*, tmsize_t) {
    return -1;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffBytes& bytes = of(handle);
    const Bytes from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes.position : bytes.size;
    bytes.position = static_cast<Bytes>(static_cast<toff_t>(from) + offset);
    return bytes.position < 0 ? static_cast<toff_t>(-1) : static_cast<toff_t>(bytes.position);
}

int close(thandle_t) {
    return 0; // the file is its owner's
}

toff_t size_of_file(thandle_t handle) {
    return static_cast<toff_t>(of(handle).size);
}

int note_error(TIFF*, void* user, const char*, const char* text, va_list arguments) {
    auto& bytes = *static_cast<TiffBytes*>(user);
    if (bytes.complaint.empty()) {
        std::array<char, 256> message{};
        std::vsnprintf(message.data(), message.size(), text, arguments);
        bytes.complaint = message.data();
    }
    return 1;
}

int say_nothing(TIFF*, void*, const char*, const char*, va_list) {
    return 1;
}

struct FreeOptions {
    void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

} // namespace

Tiff open_tiff_library(TiffBytes& bytes, const char* mode) {
    // What a file can make the library take at once: it holds tags and compressed strips.
    constexpr Bytes always_allowed = Bytes{1} << 24;
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
    if (!options)
        throw std::bad_alloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), std::max(always_allowed, 2 * bytes.size));
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), note_error, &bytes);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), say_nothing, &bytes);
    Tiff file(TIFFClientOpenExt(bytes.path.c_str(), mode, &bytes, read, write, seek, close,
                                size_of_file, nullptr, nullptr, options.get()));
    if (!file)
        fail_tiff(bytes, "cannot be opened as TIFF");
    return file;
}

void fail_tiff(TiffBytes& bytes, const std::string& what) {
    if (bytes.thrown)
        std::rethrow_exception(std::exchange(bytes.thrown, nullptr));
    const std::string why = std::exchange(bytes.complaint, {});
    throw InvalidFile(bytes.path, why.empty() ? what : fmt::format("{}: {}", what, why));
}

} // namespace sextant::format
