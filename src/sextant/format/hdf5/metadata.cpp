// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/metadata.hpp"

#include "sextant/array/sample.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace sextant::format {

namespace {

constexpr std::uint64_t hdf5_undefined = ~std::uint64_t{0}; // an undefined address

// Positions in the file. The sizes of the B-tree node and the group node follow from the entry
// counts in the superblock.
constexpr std::uint16_t entries_of_leaf = 4, entries_of_tree = 16; // nodes hold twice as many
constexpr std::uint64_t root_at = 96, tree_at = root_at + 40,
                        heap_at = tree_at + 24 + 8 * (4 * entries_of_tree + 1),
                        names_at = heap_at + 32, names_bytes = 16,
                        group_at = names_at + names_bytes,
                        dataset_at = group_at + 8 + 40 * 2 * entries_of_leaf;
constexpr std::string_view dataset_name = "data";

/// Builds the metadata of a file, in little-endian byte order.
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
    /// Appends an object header message.
    Hdf5Metadata& message(int type, Hdf5Metadata body) {
        body.align();
        return put<std::uint16_t>(static_cast<std::uint16_t>(type))
            .put<std::uint16_t>(static_cast<std::uint16_t>(body.size()))
            .put<std::uint32_t>(0)
            .append(body);
    }
    /// Appends an object header, version 1.
    Hdf5Metadata& object(int count, const Hdf5Metadata& messages) {
        return bytes({1, 0})
            .put<std::uint16_t>(static_cast<std::uint16_t>(count))
            .put<std::uint32_t>(1)
            .put<std::uint32_t>(static_cast<std::uint32_t>(messages.size()))
            .put<std::uint32_t>(0)
            .append(messages);
    }
    Hdf5Metadata& append(const Hdf5Metadata& other) {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
        return *this;
    }
    /// Pads to a multiple of 8 bytes.
    Hdf5Metadata& align() { return fill_to((bytes_.size() + 7) / 8 * 8); }
    std::size_t size() const { return bytes_.size(); }
    const std::vector<std::byte>& all() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// Returns a datatype message: 16 bytes for integers, 24 bytes for floats.
Hdf5Metadata type_of(Sample sample) {
    Hdf5Metadata bytes;
    struct Float { // bit positions and sizes of a float's fields
        int sign, exponent, exponent_bits, mantissa_bits;
        std::uint32_t bias;
    };
    const auto size = static_cast<std::uint32_t>(size_of(sample));
    const auto precision = static_cast<std::uint16_t>(8 * size);
    constexpr int version = 1 << 4, integer = 0, real = 1;
    const std::string_view kind = name(sample).substr(0, 1);
    if (kind != "f") {
        constexpr int has_sign = 1 << 3;
        return bytes.bytes({version | integer, kind == "i" ? has_sign : 0, 0, 0})
            .put<std::uint32_t>(size)
            .put<std::uint16_t>(0)
            .put<std::uint16_t>(precision)
            .put<std::uint32_t>(0);
    }
    const Float type = size == 2   ? Float{15, 10, 5, 10, 15}
                       : size == 4 ? Float{31, 23, 8, 23, 127}
                                   : Float{63, 52, 11, 52, 1023};
    constexpr int leading_one_is_implied = 2 << 4;
    return bytes.bytes({version | real, leading_one_is_implied, type.sign, 0})
        .put<std::uint32_t>(size)
        .put<std::uint16_t>(0)
        .put<std::uint16_t>(precision)
        .bytes({type.exponent, type.exponent_bits, 0, type.mantissa_bits})
        .put<std::uint32_t>(type.bias)
        .put<std::uint32_t>(0);
}

/// Writes the B-tree of chunks. Each node has up to 64 children. The levels are stored one after
/// another, from the leaves to the root.
class Hdf5TreeWriter {
  public:
    /// `at` is the position of the tree in the file.
    Hdf5TreeWriter(const ArrayHeader& array, std::span<const Hdf5Chunk> chunks, std::uint64_t at)
        : array_(array), chunks_(chunks), at_(at) {
        std::vector<Child> children;
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            if (chunks[i].bytes > 0)
                children.push_back({i, static_cast<std::uint64_t>(chunks[i].position)});
        }
        for (int level = 0; level == 0 || children.size() > 1; ++level)
            children = put_level(level, children);
        root_ = children.front().address;
    }

    Hdf5ChunkTree tree() const { return {tree_.all(), root_}; }

  private:
    /// A chunk or a node, with the index of its first chunk.
    struct Child {
        std::size_t first;
        std::uint64_t address;
    };

    std::uint64_t node_bytes() const {
        const std::uint64_t key = 8 + 8 * (array_.lengths.size() + 1);
        return 24 + most_children * 8 + (most_children + 1) * key;
    }

    /// Appends the nodes of a level, and returns them.
    std::vector<Child> put_level(int level, std::span<const Child> children) {
        std::vector<Child> nodes;
        const std::size_t count = (children.size() + most_children - 1) / most_children;
        for (std::size_t i = 0; i < count; ++i) {
            const auto own = children.subspan(
                i * most_children, std::min(most_children, children.size() - i * most_children));
            const std::uint64_t address = at_ + tree_.size();
            nodes.push_back({own.front().first, address});
            tree_.text("TREE")
                .bytes({1, level})
                .put<std::uint16_t>(static_cast<std::uint16_t>(own.size()));
            tree_.address(i == 0 ? hdf5_undefined : address - node_bytes());
            tree_.address(i + 1 == count ? hdf5_undefined : address + node_bytes());
            for (const Child& child : own) {
                put_key(child.first);
                tree_.address(child.address);
            }
            const std::size_t after = (i + 1) * most_children;
            put_key(after < children.size() ? children[after].first : chunks_.size());
            tree_.fill_to(address - at_ + node_bytes());
        }
        return nodes;
    }

    /// Appends the key of a chunk. The key after the last chunk must exceed all other keys.
    void put_key(std::size_t chunk) {
        const bool exists = chunk < chunks_.size();
        tree_.put<std::uint32_t>(exists ? static_cast<std::uint32_t>(chunks_[chunk].bytes) : 0);
        tree_.put<std::uint32_t>(0); // no filter is skipped
        std::vector<std::uint64_t> start(array_.lengths.size() + 1);
        std::size_t rest = exists ? chunk : chunks_.size() - 1;
        for (std::size_t axis = array_.lengths.size(); axis-- > 0;) {
            const auto length = static_cast<std::size_t>(array_.chunk[axis]);
            const std::size_t along =
                (static_cast<std::size_t>(array_.lengths[axis]) + length - 1) / length;
            start[axis] = (rest % along + (exists ? 0 : 1)) * length;
            rest /= along;
        }
        start.back() = exists ? 0 : static_cast<std::uint64_t>(size_of(array_.sample));
        for (const std::uint64_t each : start)
            tree_.address(each);
    }

    static constexpr std::size_t most_children = 64; // default of the format
    const ArrayHeader& array_;
    std::span<const Hdf5Chunk> chunks_;
    std::uint64_t at_, root_ = 0;
    Hdf5Metadata tree_;
};

/// Returns the dataspace message of an array or attribute.
Hdf5Metadata space_of(std::span<const std::int64_t> sides) {
    Hdf5Metadata space;
    space.bytes({1, static_cast<int>(sides.size()), 0, 0, 0, 0, 0, 0});
    for (const std::int64_t side : sides)
        space.address(static_cast<std::uint64_t>(side));
    return space;
}

/// Returns the layout message of a chunked dataset.
Hdf5Metadata layout_of(const ArrayHeader& array, std::uint64_t tree) {
    constexpr int version = 3, chunked = 2;
    Hdf5Metadata layout;
    layout.bytes({version, chunked, static_cast<int>(array.chunk.size()) + 1}).address(tree);
    for (const std::int64_t length : array.chunk)
        layout.put<std::uint32_t>(static_cast<std::uint32_t>(length));
    return layout.put<std::uint32_t>(static_cast<std::uint32_t>(size_of(array.sample)));
}

/// Returns the filter pipeline message: deflate only.
Hdf5Metadata deflate_filter() {
    Hdf5Metadata filters;
    constexpr std::uint16_t deflate = 1, name_bytes = 8, optional = 1, parameters = 1;
    filters.bytes({1, 1, 0, 0, 0, 0, 0, 0}).put<std::uint16_t>(deflate);
    filters.put<std::uint16_t>(name_bytes).put<std::uint16_t>(optional);
    return filters.put<std::uint16_t>(parameters)
        .text(std::string_view("deflate\0", name_bytes))
        .put<std::uint32_t>(hdf5_deflate_level);
}

/// Returns an attribute message with 64-bit floats.
Hdf5Metadata attribute_message(std::string_view name, std::span<const double> values) {
    const Hdf5Metadata type = type_of(Sample::f64);
    const std::array count{std::ssize(values)};
    const Hdf5Metadata space = space_of(count);
    Hdf5Metadata attribute;
    attribute.bytes({1, 0}).put<std::uint16_t>(static_cast<std::uint16_t>(name.size() + 1));
    attribute.put<std::uint16_t>(static_cast<std::uint16_t>(type.size()));
    attribute.put<std::uint16_t>(static_cast<std::uint16_t>(space.size()));
    attribute.text(name).bytes({0}).align().append(type).append(space);
    for (const double value : values)
        attribute.put<double>(value);
    return attribute;
}

/// Returns a file with a root group and one dataset. `messages_of_dataset` is the number of
/// messages in `dataset`, and `end` is the length of the file.
std::vector<std::byte> file_with(const Hdf5Metadata& dataset, int messages_of_dataset,
                                 std::uint64_t end) {
    Hdf5Metadata file;
    // The superblock ends with the symbol table entry of the root group.
    file.text("\x89HDF\r\n\x1a\n")
        .bytes({0, 0, 0, 0, 0, 8, 8, 0})
        .put<std::uint16_t>(entries_of_leaf)
        .put<std::uint16_t>(entries_of_tree)
        .put<std::uint32_t>(0)
        .address(0)
        .address(hdf5_undefined)
        .address(end)
        .address(hdf5_undefined);
    file.address(0).address(root_at).put<std::uint32_t>(1).put<std::uint32_t>(0);
    file.address(tree_at).address(heap_at);
    // The root group has a B-tree of one node, a heap with the names, and a node with the entry of
    // the dataset.
    Hdf5Metadata group, messages;
    group.address(tree_at).address(heap_at);
    messages.message(0x11, group);
    file.fill_to(root_at).object(1, messages);
    file.fill_to(tree_at).text("TREE").bytes({0, 0}).put<std::uint16_t>(1);
    file.address(hdf5_undefined).address(hdf5_undefined);
    file.address(0).address(group_at).address(8); // the first name is empty, the last one is "data"
    constexpr std::uint64_t no_free_space = 1;
    file.fill_to(heap_at).text("HEAP").bytes({0, 0, 0, 0}).address(names_bytes);
    file.address(no_free_space).address(names_at);
    file.fill_to(names_at + 8).text(dataset_name);
    file.fill_to(group_at).text("SNOD").bytes({1, 0}).put<std::uint16_t>(1);
    file.address(8).address(dataset_at);
    file.fill_to(dataset_at).object(messages_of_dataset, dataset);
    return file.fill_to(hdf5_chunks_at).all();
}

} // namespace

Hdf5ChunkTree hdf5_chunk_tree(const ArrayHeader& array, std::span<const Hdf5Chunk> chunks,
                              std::uint64_t position) {
    return Hdf5TreeWriter(array, chunks, position).tree();
}

std::vector<std::byte> hdf5_metadata(const ArrayHeader& array, bool deflated,
                                     std::span<const std::byte> fill,
                                     std::span<const double> element, std::uint64_t root,
                                     std::uint64_t end) {
    Hdf5Metadata dataset, fill_value;
    int count = 4;
    constexpr int version = 2, space_when_written = 3, value_if_set = 2, is_defined = 1;
    fill_value.bytes({version, space_when_written, value_if_set, is_defined})
        .put<std::uint32_t>(static_cast<std::uint32_t>(fill.size()));
    for (const std::byte byte : fill)
        fill_value.put<std::byte>(byte);
    dataset.message(0x01, space_of(array.lengths)).message(0x03, type_of(array.sample));
    dataset.message(0x05, fill_value);
    dataset.message(0x08, layout_of(array, root));
    if (deflated) {
        dataset.message(0x0b, deflate_filter());
        ++count;
    }
    if (!element.empty()) {
        dataset.message(0x0c, attribute_message("element_size_um", element));
        ++count;
    }
    return file_with(dataset, count, end);
}

} // namespace sextant::format
