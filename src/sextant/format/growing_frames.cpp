// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/growing_frames.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/sequence.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sextant::format {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;
constexpr std::int64_t unbounded_frames = std::int64_t{1} << 40;

Seconds steady_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Returns the time since a file changed, by the system's clock.
Seconds age_of(const WatchedFile& file) {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return static_cast<double>(now.count() - file.changed) / nanoseconds;
}

WatchedFile state_of(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0)
        return {path};
    return {path, found.st_dev, found.st_ino, static_cast<Bytes>(found.st_size),
            found.st_mtim.tv_sec * nanoseconds + found.st_mtim.tv_nsec};
}

std::vector<WatchedFile> states_of(const std::vector<std::string>& paths) {
    std::vector<WatchedFile> states;
    for (const std::string& path : paths)
        states.push_back(state_of(path));
    return states;
}

bool is_hdf5(const std::string& name) {
    const std::string format = format_of_frames(name);
    return format == "HDF5" || format == "EMD, HyperSpy, NeXus";
}

FrameHeader without_end(FrameHeader header) {
    header.frames = unbounded_frames;
    header.remarks.clear();
    return header;
}

} // namespace

std::unique_ptr<GrowingFrames> GrowingFrames::open(const std::string& name,
                                                   const SourceOptions& options) {
    auto source = open_frames(name, options);
    const FrameFormat* const format = find_frame_format(split_series_name(name).path);
    if (format && format->is_folder())
        throw InvalidTask(name + ": is a Zarr store, which cannot be followed while it is written");
    return std::unique_ptr<GrowingFrames>(new GrowingFrames(name, options, std::move(source)));
}

GrowingFrames::GrowingFrames(std::string name, const SourceOptions& options,
                             std::unique_ptr<FrameSource> source)
    : FrameSource(source->path(), without_end(source->header()),
                  {[this](auto... part) { load(part...); }}),
      name_(std::move(name)),
      options_(options),
      source_(std::move(source)),
      holds_back_(is_hdf5(name_)) {
    if (auto files = find_frame_files(name_))
        files_ = std::move(files->paths);
    if (!files_.empty())
        source_ = open_sequence(name_, {files_, {}}, options_);
    note_statement(source_->header());
    watched_ = states_of(watched_paths());
}

std::int64_t GrowingFrames::whole() const {
    constexpr Seconds settled = .25;
    const std::int64_t frames = source_->header().frames;
    return holds_back_ && age_of(watched_.front()) < settled ? frames - 1 : frames;
}

bool GrowingFrames::is_complete() const {
    const FrameHeader& now = source_->header();
    return announced_ && now.frames == now.stated_frames;
}

/// Some programs count each frame before they write it, so the stated number of frames is one
/// ahead. If the number is further ahead, the file announces the length of the series.
void GrowingFrames::note_statement(const FrameHeader& header) {
    announced_ = announced_ || header.stated_frames > header.frames + 1;
}

std::vector<std::string> GrowingFrames::take_remarks() {
    return std::exchange(remarks_, {});
}

/// Returns the paths whose changes show that the series may have grown: the file or, for files with
/// one frame each, their list or folder and the last file.
std::vector<std::string> GrowingFrames::watched_paths() const {
    if (files_.empty())
        return files_of_frames(name_);
    std::error_code unknown;
    const std::filesystem::path path(name_);
    const bool lists = std::filesystem::exists(path, unknown);
    const std::string folder = path.parent_path().string();
    return {lists ? name_ : folder.empty() ? "." : folder, files_.back()};
}

void GrowingFrames::check_replaced(const std::vector<WatchedFile>& now) const {
    const WatchedFile &before = watched_.front(), &after = now.front();
    if (before.device == after.device && before.file == after.file)
        return;
    throw InvalidFile(before.path, after.file == 0 ? "was removed while it was followed"
                                                   : "was replaced while it was followed");
}

/// Appends new files in the order of their arrival, regardless of their names.
void GrowingFrames::take_files(std::vector<std::string> found) {
    std::vector<std::string> known = files_;
    std::sort(known.begin(), known.end());
    std::sort(found.begin(), found.end());
    std::vector<std::string> gone, fresh;
    std::set_difference(known.begin(), known.end(), found.begin(), found.end(),
                        std::back_inserter(gone));
    if (!gone.empty())
        throw InvalidFile(gone.front(), "was removed while the series was followed");
    std::set_difference(found.begin(), found.end(), known.begin(), known.end(),
                        std::back_inserter(fresh));
    std::sort(fresh.begin(), fresh.end(), naturally_before);
    const std::string last = *std::max_element(files_.begin(), files_.end(), naturally_before);
    for (const std::string& path : fresh) {
        if (naturally_before(path, last))
            remarks_.push_back(
                fmt::format("{} appeared after {}: it is read as the last frame for now, and moved "
                            "to its sorted position when the series is complete",
                            path, last));
        files_.push_back(path);
    }
}

std::unique_ptr<FrameSource> GrowingFrames::reopened() {
    if (files_.empty())
        return open_frames(name_, options_);
    auto found = find_frame_files(name_);
    if (!found)
        throw InvalidFile(name_, "was removed while it was followed");
    take_files(std::move(found->paths));
    return open_sequence(name_, {files_, {}}, options_);
}

bool GrowingFrames::refresh() {
    constexpr Seconds recent = .1; // file systems have coarse time stamps
    constexpr double most_of_time = 5;
    const Seconds begin = steady_now();
    if (begin < next_)
        return false;
    std::vector<WatchedFile> now = states_of(watched_paths());
    const bool quiet =
        std::ranges::all_of(now, [](const WatchedFile& file) { return age_of(file) > recent; });
    if (now == watched_ && quiet)
        return false;
    check_replaced(now);
    const std::int64_t before = source_->header().frames;
    std::unique_ptr<FrameSource> source;
    try {
        source = reopened();
    } catch (const InvalidFile& failed) {
        if (files_.empty() && now.front().size >= watched_.front().size)
            source = nullptr; // the file is being written at this moment
        else if (files_.empty())
            throw InvalidFile(now.front().path,
                              fmt::format("shrank from {} to {} bytes while it was followed",
                                          watched_.front().size, now.front().size));
        else
            throw;
    }
    next_ = steady_now() + most_of_time * (steady_now() - begin);
    if (!source)
        return false;
    if (source->header().frames < before)
        throw InvalidFile(now.front().path,
                          fmt::format("shrank from {} to {} frames while it was followed", before,
                                      source->header().frames));
    if (source->header().shape != header().shape || source->header().sample != header().sample)
        throw InvalidFile(now.front().path, "changed its frames' shape or sample type while it was "
                                            "followed");
    source_ = std::move(source);
    note_statement(source_->header());
    watched_ = states_of(watched_paths());
    if (files_.empty())
        watched_ = std::move(now); // the next call finds frames written in the meantime
    return source_->header().frames > before;
}

void GrowingFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    if (frame >= source_->header().frames)
        throw InvalidFile(path(), fmt::format("has no frame {} yet", frame));
    source_->read_samples(frame, rows, to);
}

} // namespace sextant::format
