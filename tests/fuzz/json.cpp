// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as a JSON file, with the readers of one kind of file (json_readers.hpp),
// which is set at compile time.
#include "sextant/core/json.hpp"

#include "sextant/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tests/format/temporary_folder.hpp"
#include "tests/fuzz/json_mutation.hpp"
#include "tests/fuzz/json_readers.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace {

using sextant::test::JsonMutation;
using Value = nlohmann::json;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

std::optional<Value> parsed(std::string_view text) {
    try {
        return sextant::parse_json(text, "input");
    } catch (const sextant::InvalidFile&) {
        return std::nullopt;
    }
}

/// Writes a value as an input. Returns its size, or 0 if it does not fit.
std::size_t write_input(const Value& value, std::uint8_t* to, std::size_t most) {
    const std::string text = value.dump(-1, ' ', false, Value::error_handler_t::replace);
    if (text.size() > most)
        return 0;
    std::memcpy(to, text.data(), text.size());
    return text.size();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const sextant::test::TemporaryFolder folder;
    static const bool prepared = (sextant::test::write_files_named_in_json(folder), true);
    const std::string path = folder.path(prepared ? "transforms.json" : "");
    sextant::test::fill_file(path, std::string(text_of(bytes, size)));
    sextant::test::read_json_of(SEXTANT_FUZZ_DETAIL, path);
    return 0;
}

/// Most inputs get other values; some get other bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned seed) {
    if (seed % 8 != 0) {
        if (auto value = parsed(text_of(bytes, size))) {
            JsonMutation(seed).change(*value);
            if (const std::size_t written = write_input(*value, bytes, most))
                return written;
        }
    }
    return LLVMFuzzerMutate(bytes, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
    auto value = parsed(text_of(first, first_size));
    const auto other = parsed(text_of(second, second_size));
    if (!value || !other)
        return 0;
    JsonMutation(seed).copy(*other, *value);
    return write_input(*value, out, most);
}
