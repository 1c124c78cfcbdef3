// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sextant::test {

/// A kind of series that grows.
struct GrowingKind {
    std::string_view file, detail; ///< the file's name, and the layout after "::"
    bool folder = false;           ///< files of one frame each, in the folder "frames"
};

/// What a program does to the files of a series while it is followed, as text for a fuzzer. The
/// first byte chooses the kind of series. Each step is the byte of an action, the number of its
/// bytes (two bytes, least significant first), and these bytes.
class GrowingScript {
  public:
    enum class Action : unsigned char { append, truncate, replace, remove, patch, last = patch };
    static constexpr std::array kinds{GrowingKind{"a.mrc", ""}, GrowingKind{"a.tif", ""},
                                      GrowingKind{"a.ser", ""}, GrowingKind{"a.npy", ""},
                                      GrowingKind{"a.nii", ""}, GrowingKind{"a.raw", "::13x7,u16"},
                                      GrowingKind{"a.dm3", ""}, GrowingKind{"a.mrc", "", true}};

    explicit GrowingScript(std::string_view text)
        : kind_(kinds[text.empty() ? 0 : static_cast<unsigned char>(text.front()) % kinds.size()]),
          rest_(text.substr(std::min<std::size_t>(1, text.size()))) {}

    /// A script that appends a file in pieces of about `piece` bytes.
    static std::string of(std::size_t kind, std::string_view file, std::size_t piece) {
        std::string text(1, static_cast<char>(kind));
        for (; !file.empty(); file.remove_prefix(std::min(piece, file.size()))) {
            const std::size_t size = std::min({piece, file.size(), std::size_t{0xffff}});
            text += static_cast<char>(Action::append);
            text += static_cast<char>(size & 0xff);
            text += static_cast<char>(size >> 8);
            text += file.substr(0, size);
        }
        return text;
    }

    const GrowingKind& kind() const { return kind_; }
    bool done() const { return rest_.empty(); }

    /// Does the next step to the files in `folder`. Files of a folder are named by the first byte
    /// of the step.
    void step(const std::filesystem::path& folder) {
        const auto action = static_cast<Action>(next() % (static_cast<int>(Action::last) + 1));
        const std::size_t low = next(), size = low | next() << 8;
        std::string_view bytes = rest_.substr(0, size);
        rest_.remove_prefix(bytes.size());
        std::filesystem::path path = folder / kind_.file;
        if (kind_.folder) {
            const unsigned number = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
            path = folder / "frames" / (std::to_string(number % 16) + ".mrc");
            bytes.remove_prefix(std::min<std::size_t>(1, bytes.size()));
        }
        perform(action, path, bytes);
    }

  private:
    std::size_t next() {
        if (rest_.empty())
            return 0;
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        return byte;
    }

    static void perform(Action action, const std::filesystem::path& path, std::string_view bytes) {
        std::error_code ignored; // there may be no file
        const auto at = [&] {    // a position in the file, from the first two bytes
            const auto end = std::filesystem::file_size(path, ignored);
            std::size_t number = 0;
            for (int i = 0; i < 2 && !bytes.empty(); ++i, bytes.remove_prefix(1))
                number = number << 8 | static_cast<unsigned char>(bytes.front());
            return ignored ? 0 : number % (end + 1);
        };
        switch (action) {
        case Action::append:
            std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
            break;
        case Action::truncate:
            std::filesystem::resize_file(path, at(), ignored);
            break;
        case Action::replace: {
            std::filesystem::path other = path;
            std::ofstream(other += ".part", std::ios::binary) << bytes;
            std::filesystem::rename(other, path, ignored);
            break;
        }
        case Action::remove:
            std::filesystem::remove(path, ignored);
            break;
        case Action::patch: {
            const auto position = static_cast<std::streamoff>(at());
            std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
            file.seekp(position);
            file << bytes;
            break;
        }
        }
    }

    GrowingKind kind_;
    std::string_view rest_;
};

} // namespace sextant::test
