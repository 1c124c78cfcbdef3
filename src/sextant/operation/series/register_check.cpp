// SPDX-License-Identifier: BSD-3-Clause
// What `sextant register` can know to go wrong before it looks at a frame.
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/series/register_run.hpp"
#include "sextant/registration/field_series.hpp"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::operation {

/// Those that lie in the folder of the results can be written where that can be.
void RegisterRun::check_reports() const {
    std::vector<std::string> elsewhere, all = results();
    for (const std::string& path : files_given(values_, {"report", "json"})) {
        all.push_back(path);
        const std::filesystem::path folder(summary_.output);
        const auto parent = std::filesystem::path(path).parent_path();
        if (parent.lexically_normal() != (folder / "").lexically_normal().parent_path())
            elsewhere.push_back(path);
    }
    require_distinct(all);
    keep_inputs(format::files_of_frames(values_.text("series")), all);
    check_outputs(elsewhere);
}

/// What the folder will hold.
std::vector<std::string> RegisterRun::results() const {
    std::vector<std::string> paths = {path_of("transforms.csv"), path_of("transforms.json")};
    for (const char* image : {"average", "median", "count"})
        paths.push_back(path_of(fmt::format("{}.{}", image, values_.text("format"))));
    if (values_.flag("aligned"))
        paths.push_back(path_of(fmt::format("aligned.{}", values_.text("format"))));
    if (nonrigid())
        paths.push_back(path_of("fields.npy"));
    return paths;
}

void RegisterRun::check_folder() const {
    std::error_code unknown;
    const std::filesystem::path folder(summary_.output);
    if (std::filesystem::exists(folder, unknown)) {
        if (!std::filesystem::is_directory(folder, unknown))
            throw InvalidFile(summary_.output, "is no folder");
        return require_writable(path_of("transforms.json"));
    }
    const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
    const auto above = folder.has_filename() ? parent : parent.parent_path();
    if (!std::filesystem::is_directory(above, unknown))
        throw InvalidFile(summary_.output,
                          fmt::format("the folder {} does not exist", above.string()));
    if (access(above.c_str(), W_OK) != 0)
        throw InvalidFile(summary_.output,
                          fmt::format("the folder {} may not be written", above.string()));
}

void RegisterRun::check_memory() const {
    const FrameHeader& header = source_->header();
    const Bytes least = registration::least_memory(header.frames, header.shape.width, {});
    constexpr Bytes mebibyte = 1 << 20;
    if (stage_options_.memory < least)
        throw InvalidTask(fmt::format("--memory {}: a row of {} frames takes more, expected {}",
                                      stage_options_.memory / mebibyte, header.frames,
                                      (least + mebibyte - 1) / mebibyte));
}

/// Fields of all stages lie in the checkpoint, and those of the last one are written again.
void RegisterRun::check_disk() const {
    const FrameHeader& header = source_->header();
    const Bytes field = registration::nodes_of_fields(header.shape).elements() * 13;
    const Bytes needed = header.frames * field * (stages_ + 2);
    std::error_code unknown;
    auto folder = std::filesystem::absolute(summary_.output);
    while (!std::filesystem::exists(folder, unknown) && folder.has_relative_path())
        folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, unknown);
    const Bytes scanned = registration::memory_of_scan(header.frames, header.shape);
    const std::string text =
        fmt::format("fields of {} frames in {} stages take up to {} MiB on the disk, {} MiB of "
                    "memory in all while they are scanned",
                    header.frames, stages_, (needed >> 20) + 1, (scanned >> 20) + 1);
    if (!unknown && space.available < static_cast<std::uintmax_t>(needed))
        throw InvalidFile(summary_.output,
                          fmt::format("{}, the disk has {} left", text, space.available >> 20));
    print_note(text);
}

} // namespace sextant::operation
