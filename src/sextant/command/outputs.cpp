// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/outputs.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/recording.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sextant::command {

namespace {

/// Returns the canonical path, without symbolic links and "..", even if no file exists there;
/// `path` itself if the canonical path cannot be determined.
std::string place_of(const std::string& path) {
    std::error_code unknown;
    const auto absolute = std::filesystem::absolute(target_of(path), unknown);
    const auto place = std::filesystem::weakly_canonical(absolute, unknown);
    return path == standard_output || unknown ? path : place.string();
}

/// Refuses outputs inside an output that is a folder, because the folder is created as a whole and
/// holds nothing else.
void refuse_inside(std::span<const std::string> paths) {
    for (const std::string& folder : paths) {
        const format::FrameFormat* const format = format::find_frame_format(folder);
        if (format == nullptr || !format->is_folder())
            continue;
        const std::filesystem::path place = place_of(folder);
        for (const std::string& path : paths) {
            const std::filesystem::path inner = place_of(path);
            for (auto above = inner.parent_path();
                 path != standard_output && above != above.root_path();
                 above = above.parent_path()) {
                if (above == place)
                    throw InvalidTask(fmt::format("{} is in the output {}: expected another folder",
                                                  path, folder));
            }
        }
    }
}

/// Refuses outputs inside Zarr stores that are read. A new store in one of them, such as the labels
/// of its image, is allowed, because it changes no data that are read.
void refuse_in_inputs(std::span<const std::string> inputs, std::span<const std::string> outputs) {
    std::error_code unknown;
    std::set<std::string> folders;
    for (const std::string& input : inputs) {
        const format::FrameFormat* const format = format::find_frame_format(input);
        if (format && format->is_folder() && std::filesystem::is_directory(input, unknown))
            folders.insert(std::filesystem::canonical(input, unknown).string());
    }
    for (const std::string& output : outputs) {
        const format::FrameFormat* const format = format::find_frame_format(output);
        const bool is_new_folder =
            format && format->is_folder() && !std::filesystem::exists(output, unknown);
        if (folders.empty() || output == standard_output || is_new_folder)
            continue;
        const std::filesystem::path place = place_of(output);
        for (auto above = place.parent_path(); above != above.root_path();
             above = above.parent_path()) {
            if (folders.contains(above.string()))
                throw InvalidTask(fmt::format("{} is in the input {}: expected another folder",
                                              output, above.string()));
        }
    }
}

} // namespace

std::vector<std::string> files_named(std::initializer_list<std::string> names) {
    std::vector<std::string> files;
    for (const std::string& name : names) {
        if (!name.empty())
            files.push_back(name);
    }
    return files;
}

void check_picture_name(const std::string& path) {
    try {
        const format::Format& format = format::format_of(path);
        if (!format.write)
            throw InvalidTask(
                fmt::format("{}: {} files can be read but not written", path, format.name));
    } catch (const InvalidFile& error) {
        throw InvalidTask(error.what()); // the name is wrong, not the content of the file
    }
}

void check_frames_name(const std::string& path, Sample sample) {
    const auto takes = [sample](const format::FrameFormat& format) { return format.holds(sample); };
    const format::FrameFormat* const format = format::find_frame_format(path);
    if (format && takes(*format))
        return;
    std::string known;
    for (const format::FrameFormat& each : format::frame_catalogue()) {
        if (takes(each))
            known += fmt::format("{}{}", known.empty() ? "" : " ", each.extensions);
    }
    throw InvalidTask(fmt::format("{}: {} frames can be written as {}", path, name(sample), known));
}

bool can_write_frames(const std::string& path, Sample sample) {
    const format::FrameFormat* const format = format::find_frame_format(path);
    return format != nullptr && format->holds(sample);
}

Sample computed_sample(const std::string& path, Sample from, double offset) {
    const bool is_narrow = from == Sample::f32 || size_of(from) <= 2;
    const bool wide = (offset != 0 && !is_narrow) || from == Sample::f64;
    return wide && can_write_frames(path, Sample::f64) ? Sample::f64 : Sample::f32;
}

std::string offset_remark(double offset, const std::string& path) {
    if (offset == 0)
        return "";
    const bool added = can_write_frames(path, Sample::f64);
    return fmt::format(
        "{} is subtracted from samples before conversion to float32, and {}", offset,
        added ? "added again to the results, which are f64"
              : "is not added to the results: f32 cannot represent it, .npy (f64) can");
}

void require_distinct(std::span<const std::string> paths) {
    std::vector<std::string> places;
    for (const std::string& path : paths) {
        const std::string place = place_of(path);
        if (std::find(places.begin(), places.end(), place) != places.end())
            throw InvalidTask(fmt::format("{} is given for two outputs", path));
        places.push_back(place);
    }
}

void keep_inputs(std::span<const std::string> inputs, std::span<const std::string> outputs) {
    refuse_in_inputs(inputs, outputs);
    std::map<std::pair<dev_t, ino_t>, std::string> there; // outputs that already exist
    bool folders = false;
    struct stat file {};
    for (const std::string& output : outputs) {
        if (output == standard_output || stat(output.c_str(), &file) != 0)
            continue;
        if (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode))
            there[{file.st_dev, file.st_ino}] = output;
        folders = folders || S_ISDIR(file.st_mode);
    }
    const auto refuse_output = [&](const std::string& path) {
        if (there.empty() || stat(path.c_str(), &file) != 0)
            return;
        if (const auto output = there.find({file.st_dev, file.st_ino}); output != there.end())
            throw InvalidTask(fmt::format("{} is an input: expected another name for the output",
                                          output->second));
    };
    for (const std::string& input : inputs) {
        refuse_output(input);
        // An input inside a folder that is replaced would be lost, too.
        const std::filesystem::path place = folders ? place_of(input) : "";
        for (auto above = place.parent_path(); above != above.root_path();
             above = above.parent_path())
            refuse_output(above.string());
    }
}

void check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
    keep_inputs(inputs, outputs);
    require_distinct(outputs);
    refuse_inside(outputs);
    for (const std::string& path : outputs) {
        if (path.ends_with(".otf2")) {
            throw InvalidTask(fmt::format(
                "{}: OTF2 cannot be written; expected another name, for a trace in JSON", path));
        }
        if (path != standard_output)
            format::require_writable_output(path);
    }
}

namespace {

thread_local PrintedText* collecting = nullptr;

} // namespace

PrintedText::PrintedText() : outer_(collecting) {
    collecting = this;
}

PrintedText::~PrintedText() {
    collecting = outer_;
}

void print_warnings(std::span<const std::string> warnings) {
    for (const std::string& warning : warnings) {
        if (!warning.empty())
            print_note(fmt::format("warning: {}", warning));
    }
}

void print_warning(const std::string& warning) {
    print_warnings({&warning, 1});
}

void print_note(std::string_view note) {
    if (collecting) {
        collecting->notes.emplace_back(note);
        return;
    }
    std::fputs(fmt::format("sextant: {}\n", printable(bounded_message(note))).c_str(), stderr);
}

void print_text(std::string_view text) {
    if (collecting) {
        collecting->text += text;
        return;
    }
    std::fputs(printable_lines(text).c_str(), stdout);
}

void print_remarks(const FrameSource& source) {
    for (const std::string& remark : source.header().remarks)
        print_warning(fmt::format("{}: {}", source.path(), remark));
}

void write_text(const std::string& path, std::string_view text) {
    if (path != standard_output)
        return write_file(path, text);
    if (collecting) {
        collecting->text += text;
        return;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void write_trace(const std::string& path, const report::Recording& recording) {
    write_text(path, report::to_json(recording));
}

} // namespace sextant::command
