// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/text_file.hpp"

#include "sextant/core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sextant::machine {

std::string read_text(const std::string& path, Bytes most) {
    std::error_code error;
    const auto kind = std::filesystem::status(path, error).type();
    if (kind == std::filesystem::file_type::not_found)
        throw InvalidFile(path, "does not exist");
    if (kind == std::filesystem::file_type::directory)
        throw InvalidFile(path, "is a folder, expected a file");
    const auto size = std::filesystem::file_size(path, error);
    if (error)
        throw InvalidFile(path, error.message());
    if (static_cast<Bytes>(size) > most)
        throw InvalidFile(path, std::to_string(size) + " bytes, expected at most " +
                                    std::to_string(most));
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file || static_cast<std::uintmax_t>(text.size()) != size)
        throw InvalidFile(path, "cannot be read");
    return text;
}

} // namespace sextant::machine
