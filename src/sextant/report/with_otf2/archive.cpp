// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/with_otf2/archive.hpp"

#include "sextant/core/error.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::report {

namespace {

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}

constexpr OTF2_FlushCallbacks always{flush, nullptr}; // no time after: a flush is no event of ours

/// Keeps the first thing that went wrong; later ones follow from it.
OTF2_ErrorCode note(void* told, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                    const char*, va_list) {
    auto& text = *static_cast<std::string*>(told);
    if (text.empty() && code != OTF2_SUCCESS)
        text = OTF2_Error_GetDescription(code);
    return code;
}

} // namespace

Otf2Archive::Otf2Archive(const std::string& folder, std::string path)
    : path_(std::move(path)), others_(OTF2_Error_RegisterCallback(note, &told_)) {
    archive_ = OTF2_Archive_Open(
        folder.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    try {
        check(archive_);
        check(OTF2_Archive_SetFlushCallbacks(archive_, &always, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    } catch (...) {
        OTF2_Error_RegisterCallback(others_, nullptr);
        throw;
    }
}

Otf2Archive::~Otf2Archive() {
    if (archive_)
        OTF2_Archive_Close(archive_); // after a failure: for its memory
    OTF2_Error_RegisterCallback(others_, nullptr);
}

/// Some functions tell an error only to the callback.
void Otf2Archive::check(OTF2_ErrorCode code) const {
    if (!told_.empty())
        fail(told_);
    if (code != OTF2_SUCCESS)
        fail(OTF2_Error_GetDescription(code));
}

void Otf2Archive::close() {
    check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
}

void Otf2Archive::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("cannot be written as OTF2: {}", what));
}

} // namespace sextant::report
