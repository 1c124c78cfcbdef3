// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/register/result_folder.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace sextant::command {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_head = std::size_t{1} << 20;

std::string beginning_of(const fs::path& path, std::size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    std::string text(bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return text;
}

/// Returns the fields of transforms.json before the list of frames, which can be long; empty if the
/// file was not written by `register`.
std::optional<JsonField> head_of_transforms(const fs::path& path) {
    std::string text = beginning_of(path, most_head);
    const std::size_t frames = text.find(",\n \"frames\": [");
    if (frames == std::string::npos)
        return std::nullopt;
    text.resize(frames);
    try {
        JsonField head = JsonField::parse(text + "\n}", path.string());
        if (head.is_object() && head.text_or_empty("kind") == "sextant transforms")
            return head;
    } catch (const InvalidFile&) {
        // The file was not written by `register`, so all files in the folder are kept.
    }
    return std::nullopt;
}

std::vector<std::string> usual_names() {
    std::vector<std::string> names = {"transforms.json", "transforms.csv", "fields.npy"};
    for (const char* image : {"average", "median", "count", "aligned"}) {
        for (const char* format : {"tif", "mrc", "npy"})
            names.push_back(fmt::format("{}.{}", image, format));
    }
    return names;
}

std::vector<std::string> names_listed(const JsonField& head) {
    if (!head.find("files"))
        return usual_names();
    std::vector<std::string> names;
    try {
        for (const JsonField& file : head.items_or_none("files"))
            names.push_back(file.text());
    } catch (const InvalidFile&) {
        return {};
    }
    // The list may have been edited by hand, and must not name files in other folders.
    std::erase_if(names, [](const std::string& name) {
        return fs::path(name).filename().string() != name || name == "." || name == "..";
    });
    return names;
}

/// Returns true for a page or a JSON file written by `register`.
bool is_report(const fs::path& path) {
    const std::string text = beginning_of(path, 4096);
    return text.find("<meta name=\"generator\" content=\"Sextant\"/>") != std::string::npos ||
           text.find("\"operation\": \"register\"") != std::string::npos;
}

bool may_be_report(const std::string& name) {
    const std::string extension = fs::path(name).extension().string();
    return name != "transforms.json" &&
           (extension == ".html" || extension == ".htm" || extension == ".json");
}

} // namespace

std::vector<std::string> results_of_earlier_run(const std::string& folder) {
    std::error_code unknown;
    const fs::path transforms = fs::path(folder) / "transforms.json";
    const auto head = head_of_transforms(transforms);
    if (!head)
        return {};
    // transforms.json is written last, so other results are older, up to the resolution of the
    // clock.
    const auto latest = fs::last_write_time(transforms, unknown) + std::chrono::seconds(2);
    std::vector<std::string> files;
    for (const std::string& name : names_listed(*head)) {
        const fs::path path = fs::path(folder) / name;
        if (!fs::is_regular_file(fs::symlink_status(path, unknown)))
            continue;
        const bool ours = may_be_report(name)
                              ? is_report(path)
                              : !unknown && fs::last_write_time(path, unknown) <= latest;
        if (ours && !unknown)
            files.push_back(path.string());
    }
    return files;
}

void remove_stale(const std::vector<std::string>& earlier,
                  const std::vector<std::string>& written) {
    std::error_code unknown;
    for (const std::string& file : earlier) {
        const bool kept = std::any_of(written.begin(), written.end(), [&](const std::string& path) {
            return fs::equivalent(path, file, unknown);
        });
        if (!kept)
            fs::remove(file, unknown);
    }
}

std::vector<std::string> names_in(const std::string& folder,
                                  const std::vector<std::string>& files) {
    const auto place = [](const fs::path& path) {
        std::error_code unknown;
        const fs::path whole = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
        return whole.has_filename() ? whole : whole.parent_path();
    };
    const fs::path home = place(folder);
    std::vector<std::string> names;
    for (const std::string& file : files) {
        // Compares the folder of the file, not the file, which may be a symbolic link.
        const fs::path path = fs::path(file).lexically_normal();
        if (place(path.has_parent_path() ? path.parent_path() : ".") == home)
            names.push_back(path.filename().string());
    }
    return names;
}

} // namespace sextant::command
