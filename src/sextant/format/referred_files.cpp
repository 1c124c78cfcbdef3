// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/referred_files.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/formats.hpp"

#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// Adds the symbolic links in a folder and in the folders below it. If a link leads to a folder,
/// adds all files in that folder. `seen` has the targets of earlier links, because links may form a
/// cycle.
void add_links(const fs::path& folder, bool is_target, std::set<fs::path>& seen,
               std::vector<std::string>& files) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code unknown;
        const bool is_link = entry->is_symlink(unknown);
        if (!entry->is_directory(unknown)) {
            if (is_link || is_target)
                files.push_back(entry->path().string());
            continue;
        }
        const fs::path target = is_link ? fs::canonical(entry->path(), unknown) : entry->path();
        if (!is_link || (!unknown && seen.insert(target).second))
            add_links(target, is_target || is_link, seen, files);
    }
}

} // namespace

std::vector<std::string> files_referred(const std::string& name, const SourceOptions& options) {
    std::vector<std::string> referred;
    std::set<fs::path> seen;
    SourceOptions own = options;
    own.detail = split_series_name(name).detail;
    for (const std::string& path : files_of_frames(name)) {
        const FrameFormat* const format = find_frame_format(path);
        if (format && format->open == open_zarr)
            add_links(path, false, seen, referred);
        if (!format || format->open != open_hdf5)
            continue;
        try {
            std::vector<std::string> others = files_referred_by_hdf5(path, own);
            referred.insert(referred.end(), std::make_move_iterator(others.begin()),
                            std::make_move_iterator(others.end()));
        } catch (const Error&) { // the error is reported when the series is opened
        }
    }
    return referred;
}

} // namespace sextant::format
