// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sextant::format {

namespace {

constexpr std::uint64_t hdf5_undefined = ~std::uint64_t{0}; // an address that is not set

// Positions in the file. The sizes of the tree's and the group's node follow from their numbers of
// entries in the superblock.
constexpr std::uint16_t entries_of_leaf = 4, entries_of_tree = 16; // nodes hold twice as many
constexpr std::uint64_t root_at = 96, tree_at = root_at + 40,
                        heap_at = tree_at + 24 + 8 * (4 * entries_of_tree + 1),
                        names_at = heap_at + 32, names_bytes = 16,
                        group_at = names_at + names_bytes,
                        dataset_at = group_at + 8 + 40 * 2 * entries_of_leaf, samples_at = 2048;
constexpr std::string_view dataset_name = "data";

/// The metadata of a file, in little-endian byte order.
class Hdf5Metadata {
  public:
    template <class T>
    Hdf5Metadata& put(std::type_identity_t<T> value) {
        bytes_.resize(bytes_.size() + sizeof(T));
        put_number(std::span(bytes_), bytes_.size() - sizeof(T), value);
        return *this;
    }
    Hdf5Metadata& bytes(std::initializer_list<int> values) {
        for (const int value : values)
            put<std::uint8_t>(static_cast<std::uint8_t>(value));
        return *this;
    }
    Hdf5Metadata& address(std::uint64_t value) { return put<std::uint64_t>(value); }
    Hdf5Metadata& text(std::string_view letters) {
        for (const char letter : letters)
            put<char>(letter);
        return *this;
    }
    Hdf5Metadata& fill_to(std::uint64_t position) {
        bytes_.resize(position);
        return *this;
    }
    /// Begins a message of an object header.
    Hdf5Metadata& message(int type, std::size_t size) {
        return put<std::uint16_t>(static_cast<std::uint16_t>(type))
            .put<std::uint16_t>(static_cast<std::uint16_t>(size))
            .put<std::uint32_t>(0);
    }
    /// Begins an object header, version 1.
    Hdf5Metadata& object(int messages, std::size_t size) {
        return bytes({1, 0})
            .put<std::uint16_t>(static_cast<std::uint16_t>(messages))
            .put<std::uint32_t>(1)
            .put<std::uint32_t>(static_cast<std::uint32_t>(size))
            .put<std::uint32_t>(0);
    }
    const std::vector<std::byte>& all() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// The message that states the type of samples.
void put_type(Hdf5Metadata& file, Sample sample) {
    struct Float { // positions and sizes in bits
        int sign, exponent, exponent_bits, mantissa_bits;
        std::uint32_t bias;
    };
    const auto size = static_cast<std::uint32_t>(size_of(sample));
    const auto precision = static_cast<std::uint16_t>(8 * size);
    constexpr int version = 1 << 4, integer = 0, real = 1;
    const std::string_view kind = name(sample).substr(0, 1);
    if (kind != "f") {
        constexpr int has_sign = 1 << 3;
        file.message(0x03, 16)
            .bytes({version | integer, kind == "i" ? has_sign : 0, 0, 0})
            .put<std::uint32_t>(size)
            .put<std::uint16_t>(0)
            .put<std::uint16_t>(precision)
            .put<std::uint32_t>(0);
        return;
    }
    const Float type = size == 2   ? Float{15, 10, 5, 10, 15}
                       : size == 4 ? Float{31, 23, 8, 23, 127}
                                   : Float{63, 52, 11, 52, 1023};
    constexpr int leading_one_is_implied = 2 << 4;
    file.message(0x03, 24)
        .bytes({version | real, leading_one_is_implied, type.sign, 0})
        .put<std::uint32_t>(size)
        .put<std::uint16_t>(0)
        .put<std::uint16_t>(precision)
        .bytes({type.exponent, type.exponent_bits, 0, type.mantissa_bits})
        .put<std::uint32_t>(type.bias)
        .put<std::uint32_t>(0);
}

/// Everything before the samples: a root group with one contiguous dataset.
std::vector<std::byte> metadata_of(const FrameHeader& header) {
    std::vector<std::int64_t> sides{header.shape.height, header.shape.width};
    if (header.frames > 1)
        sides.insert(sides.begin(), header.frames);
    const auto samples = static_cast<std::uint64_t>(header.frames * header.shape.elements() *
                                                    size_of(header.sample));
    Hdf5Metadata file;
    // The superblock, which ends with the entry of the root group.
    file.text("\x89HDF\r\n\x1a\n")
        .bytes({0, 0, 0, 0, 0, 8, 8, 0})
        .put<std::uint16_t>(entries_of_leaf)
        .put<std::uint16_t>(entries_of_tree)
        .put<std::uint32_t>(0)
        .address(0)
        .address(hdf5_undefined)
        .address(samples_at + samples) // the end of the file
        .address(hdf5_undefined);
    file.address(0).address(root_at).put<std::uint32_t>(1).put<std::uint32_t>(0);
    file.address(tree_at).address(heap_at);
    // The root group: a tree of one node, the names, and the node with the dataset's entry.
    file.fill_to(root_at).object(1, 24).message(0x11, 16).address(tree_at).address(heap_at);
    file.fill_to(tree_at).text("TREE").bytes({0, 0}).put<std::uint16_t>(1);
    file.address(hdf5_undefined).address(hdf5_undefined);
    file.address(0).address(group_at).address(8); // the first name is empty, the last one is "data"
    constexpr std::uint64_t no_free_space = 1;
    file.fill_to(heap_at).text("HEAP").bytes({0, 0, 0, 0}).address(names_bytes);
    file.address(no_free_space).address(names_at);
    file.fill_to(names_at + 8).text(dataset_name);
    file.fill_to(group_at).text("SNOD").bytes({1, 0}).put<std::uint16_t>(1);
    file.address(8).address(dataset_at);
    // The dataset: its axes, type, fill value (the default, allocated and written late) and layout.
    const std::size_t axes = 8 + 8 * sides.size(), type = name(header.sample)[0] == 'f' ? 24 : 16;
    file.fill_to(dataset_at).object(4, 8 * 4 + axes + type + 8 + 24);
    file.message(0x01, axes).bytes({1, static_cast<int>(sides.size()), 0, 0, 0, 0, 0, 0});
    for (const std::int64_t side : sides)
        file.address(static_cast<std::uint64_t>(side));
    put_type(file, header.sample);
    file.message(0x05, 8).bytes({2, 2, 2, 1, 0, 0, 0, 0});
    constexpr int layout_version = 3, contiguous = 1;
    file.message(0x08, 24).bytes({layout_version, contiguous}).address(samples_at).address(samples);
    return file.fill_to(samples_at).all();
}

} // namespace

std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions&) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
    checked_frames(path, header);
    return stored_sink(path, header, metadata_of(header));
}

} // namespace sextant::format
