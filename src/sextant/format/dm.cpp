// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

enum Kind { group = 20, value = 21 };
enum Composed { structure = 15, text = 18, array = 20 };

/// Sizes of the primitive types in bytes, by type number; 0 for other type numbers.
constexpr std::array<Bytes, 13> sizes{0, 0, 2, 4, 2, 4, 4, 8, 1, 1, 1, 8, 8};

Bytes size_of_plain(std::uint64_t type) {
    return type < sizes.size() ? sizes[static_cast<std::size_t>(type)] : 0;
}

/// A tag of a DM3 or DM4 file.
struct DmTag {
    std::string path;       ///< such as "ImageList/1/ImageData/Calibrations/Dimension/0/Scale"
    Bytes start = 0;        ///< position of the value in the file
    Bytes size = 0;         ///< size of the value in bytes
    std::int64_t count = 1; ///< number of array elements
    int type = 0;           ///< type number of an element in the format; 0 for structures
    bool swapped = false;   ///< true if the byte order differs from the machine's
};

class Walk {
  public:
    Walk(SourceFile& file, const std::function<void(const DmTag&)>& visit)
        : file_(file), visit_(visit) {}

    void run() {
        const auto version = number<std::uint32_t>();
        if (version != 3 && version != 4)
            throw InvalidFile(file_.path(), "is not a DM3 or DM4 file: its signature is wrong");
        wide_ = version == 4;
        length(); // skip the file length: the tags are more reliable
        swapped_ = number<std::uint32_t>() != 1;
        read_group("", 0);
    }

  private:
    /// The tag structure is always big-endian; values have their own byte order.
    template <class T>
    T number() {
        std::array<std::byte, sizeof(T)> bytes{};
        if (file_.read_at(position_, bytes) < static_cast<Bytes>(sizeof(T)))
            fail("ends inside its tags: truncated");
        position_ += static_cast<Bytes>(sizeof(T));
        return number_in<T>(bytes, 0, true);
    }
    std::uint64_t length() { return wide_ ? number<std::uint64_t>() : number<std::uint32_t>(); }

    [[noreturn]] void fail(const std::string& what) const { throw InvalidFile(file_.path(), what); }

    std::string name() {
        std::string letters(number<std::uint16_t>(), '\0');
        if (file_.read_at(position_, std::as_writable_bytes(std::span(letters))) <
            static_cast<Bytes>(letters.size()))
            fail("ends inside its tags: truncated");
        position_ += static_cast<Bytes>(letters.size());
        return letters;
    }

    void read_group(const std::string& path, int depth) {
        constexpr int deepest = 64;
        if (depth > deepest)
            fail(fmt::format("has tags nested more than {} levels deep: damaged", deepest));
        number<std::uint16_t>(); // skip the flags "sorted" and "open"
        const std::uint64_t count = length();
        for (std::uint64_t i = 0; i < count; ++i)
            read_entry(path, i, depth);
    }

    void read_entry(const std::string& path, std::uint64_t number_in_group, int depth) {
        const auto kind = number<std::uint8_t>();
        std::string own = name();
        if (own.empty())
            own = std::to_string(number_in_group);
        if (wide_)
            length(); // skip the stated length of the tag
        const std::string whole = path.empty() ? own : path + '/' + own;
        constexpr std::size_t longest = 1 << 12;
        if (whole.size() > longest)
            fail(fmt::format("has a tag with a name of {} characters: damaged", whole.size()));
        if (kind == group)
            read_group(whole, depth + 1);
        else if (kind == value)
            read_value(whole);
        else
            fail(fmt::format("has a tag of kind {}, expected {} or {}; the file is damaged", kind,
                             int{group}, int{value}));
    }

    std::vector<std::uint64_t> read_description() {
        constexpr std::string_view mark = "%%%%";
        std::array<char, 4> found{};
        if (file_.read_at(position_, std::as_writable_bytes(std::span(found))) < 4 ||
            std::string_view(found.data(), found.size()) != mark)
            fail("has a tag without its marker %%%%: damaged or truncated");
        position_ += static_cast<Bytes>(mark.size());
        constexpr std::uint64_t most = 1 << 12;
        const std::uint64_t count = length();
        if (count < 1 || count > most)
            fail(fmt::format("has a tag described by {} numbers: damaged", count));
        std::vector<std::uint64_t> description;
        for (std::uint64_t i = 0; i < count; ++i)
            description.push_back(length());
        return description;
    }

    /// Returns the size in bytes of an element. The description of its type begins at index `at`.
    Bytes element_bytes(const std::vector<std::uint64_t>& description, std::size_t at) const {
        if (description[at] != structure)
            return size_of_plain(description[at]);
        // A structure is described by the length of its name and the number of its fields, followed
        // by the name length and the type of each field.
        Bytes bytes = 0;
        for (std::size_t field = at + 4; field < description.size(); field += 2)
            bytes += size_of_plain(description[field]);
        return bytes;
    }

    void read_value(const std::string& path) {
        const std::vector<std::uint64_t> description = read_description();
        DmTag tag{path, position_, 0, 1, static_cast<int>(description.front() & 0xff), swapped_};
        Bytes each = 0;
        if (description.size() > 2 && description.front() == array) {
            tag.type = static_cast<int>(description[1] & 0xff);
            each = element_bytes({description.begin(), description.end() - 1}, 1);
            tag.count = static_cast<std::int64_t>(description.back());
        } else if (description.size() > 1 && description.front() == text) {
            each = 2;
            tag.count = static_cast<std::int64_t>(description[1]);
        } else {
            each = element_bytes(description, 0);
        }
        const Bytes left = file_.size() - position_;
        if (each < 1 || tag.count < 0 || tag.count > left / each) {
            fail(fmt::format("tag {} claims {} elements of {} bytes, but only {} bytes remain: "
                             "damaged or truncated",
                             path, tag.count, each, left));
        }
        tag.size = each * tag.count;
        position_ += tag.size;
        visit_(tag);
    }

    SourceFile& file_;
    const std::function<void(const DmTag&)>& visit_;
    Bytes position_ = 0;
    bool wide_ = false; ///< true for DM4, which has 64-bit counts
    bool swapped_ = false;
};

/// Visits all tags of a file in file order. Throws InvalidFile if it is not a DM3 or DM4 file, ends
/// inside a tag, or has invalid tags.
void for_each_dm_tag(SourceFile& file, const std::function<void(const DmTag&)>& visit) {
    Walk(file, visit).run();
}

/// Returns the value of a numeric tag; 0 for tags that are not a single number.
double dm_number(SourceFile& file, const DmTag& tag) {
    std::array<std::byte, 8> bytes{};
    file.read_at(tag.start, std::span(bytes).first(static_cast<std::size_t>(std::clamp<Bytes>(
                                size_of_plain(static_cast<std::uint64_t>(tag.type)), 0, 8))));
    const auto as = [&]<class T>(T) {
        return static_cast<double>(number_in<T>(bytes, 0, tag.swapped));
    };
    switch (tag.type) {
    case 2:
        return as(std::int16_t{});
    case 3:
        return as(std::int32_t{});
    case 4:
        return as(std::uint16_t{});
    case 5:
        return as(std::uint32_t{});
    case 6:
        return as(float{});
    case 7:
        return as(double{});
    case 11:
        return as(std::int64_t{});
    case 12:
        return as(std::uint64_t{});
    default:
        return 0;
    }
}

/// Returns the text of a tag that is an array of 16-bit characters, in UTF-8.
std::string dm_text(SourceFile& file, const DmTag& tag) {
    constexpr Bytes longest = 64;
    std::vector<std::byte> letters(static_cast<std::size_t>(std::min(tag.size / 2 * 2, longest)));
    file.read_at(tag.start, letters);
    std::string result;
    for (std::size_t at = 0; at < letters.size(); at += 2) {
        const auto letter = number_in<std::uint16_t>(letters, at, tag.swapped);
        constexpr std::uint16_t first_surrogate = 0xD800, last_surrogate = 0xDFFF;
        if (letter < first_surrogate || letter > last_surrogate)
            result += utf8_of(letter);
    }
    return result;
}

constexpr std::size_t most_axes = 8;

/// An image in the file, as described by the tags read so far.
struct DmImage {
    DmTag data;
    int type = 0;
    std::array<std::int64_t, most_axes> sides{}; ///< lengths of the axes; 0 after the last axis
    std::array<double, 3> scale{};               ///< calibration of columns, rows and frames
    std::array<std::string, 3> unit;

    int axes() const {
        return static_cast<int>(std::find(sides.begin(), sides.end(), 0) - sides.begin());
    }
};

/// The two parts of a text such as "0/Scale".
struct Indexed {
    std::size_t index = 0;
    std::string_view rest;
};

std::optional<Indexed> indexed(std::string_view text, std::string_view before) {
    if (!text.starts_with(before))
        return std::nullopt;
    text.remove_prefix(before.size());
    Indexed parts;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.index);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    parts.rest = text.substr(text.starts_with('/') ? 1 : 0);
    return parts;
}

/// Converts the length of an axis to an integer; -1 if it is out of range.
std::int64_t side(double stated) {
    constexpr double most = 1LL << 40;
    return stated >= 1 && stated <= most ? static_cast<std::int64_t>(stated) : -1;
}

void take(SourceFile& file, const DmTag& tag, std::string_view name, DmImage& image) {
    if (name == "Data") {
        image.data = tag;
    } else if (name == "DataType") {
        image.type = static_cast<int>(std::clamp(dm_number(file, tag), -1.0, 1000.0));
    } else if (const auto dimension = indexed(name, "Dimensions/")) {
        if (dimension->index < most_axes)
            image.sides[dimension->index] = side(dm_number(file, tag));
    } else if (const auto axis = indexed(name, "Calibrations/Dimension/")) {
        if (axis->index < 3 && axis->rest == "Scale")
            image.scale[axis->index] = dm_number(file, tag);
        if (axis->index < 3 && axis->rest == "Units")
            image.unit[axis->index] = dm_text(file, tag);
    }
}

struct DmType {
    int number;
    std::optional<Sample> sample;
    std::string_view name = "real numbers";
};
constexpr std::array dm_types{DmType{1, Sample::i16},
                              DmType{2, Sample::f32},
                              DmType{3, {}, "complex numbers"},
                              DmType{5, {}, "complex numbers"}, // packed: half a transform
                              DmType{6, Sample::u8},
                              DmType{7, Sample::i32},
                              DmType{8, {}, "colours"},
                              DmType{9, Sample::i8},
                              DmType{10, Sample::u16},
                              DmType{11, Sample::u32},
                              DmType{12, Sample::f64},
                              DmType{13, {}, "complex numbers"},
                              DmType{14, Sample::u8}, // boolean
                              DmType{23, {}, "colours"},
                              DmType{27, {}, "complex numbers"},
                              DmType{28, {}, "complex numbers"}};

DmType dm_type(int number) {
    const auto* const row = std::ranges::find(dm_types, number, &DmType::number);
    return row == dm_types.end() ? DmType{number, {}, "an unknown kind"} : *row;
}

/// Returns the largest image that is not a thumbnail. Thumbnails may have more bytes than their
/// image. Colour images rank lower, because they are the thumbnails in files that do not list their
/// thumbnails.
DmImage largest_image(SourceFile& file) {
    std::map<std::size_t, DmImage> images;
    std::set<std::size_t> thumbnails;
    for_each_dm_tag(file, [&](const DmTag& tag) {
        const auto thumbnail = indexed(tag.path, "Thumbnails/");
        if (thumbnail && thumbnail->rest == "ImageIndex")
            thumbnails.insert(static_cast<std::size_t>(
                std::clamp(dm_number(file, tag), 0.0, 1e6))); // files have only a few images
        const auto image = indexed(tag.path, "ImageList/");
        constexpr std::string_view data = "ImageData/";
        if (image && image->rest.starts_with(data))
            take(file, tag, image->rest.substr(data.size()), images[image->index]);
    });
    const auto rank = [&](const auto& image) {
        return std::tuple(!thumbnails.contains(image.first),
                          dm_type(image.second.type).name != "colours", image.second.data.size);
    };
    const auto largest =
        std::max_element(images.begin(), images.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (largest == images.end() || largest->second.data.size == 0)
        throw InvalidFile(file.path(), "has no image");
    return largest->second;
}

Sample checked_sample(const std::string& path, int type) {
    const DmType found = dm_type(type);
    if (!found.sample) {
        throw InvalidFile(path, fmt::format("has an image of {} (DM type {}), expected real "
                                            "numbers: type 1, 2, 6, 7, 9 to 12 or 14",
                                            found.name, type));
    }
    return *found.sample;
}

FrameHeader checked_header(const std::string& path, const DmImage& image) {
    FrameHeader header;
    header.sample = checked_sample(path, image.type);
    const auto* const after = image.sides.begin() + image.axes();
    const bool one_row =
        std::all_of(image.sides.begin() + 1, after, [](std::int64_t side) { return side == 1; });
    if (one_row && (image.sides[0] > 1 || (image.axes() == 1 && image.sides[0] > 0)))
        throw InvalidFile(path, fmt::format("has a spectrum of {} channels, expected an image: two "
                                            "or more axes",
                                            image.sides[0]));
    header.shape = {image.sides[0], image.sides[1]};
    header.frames = 1;
    for (std::size_t axis = 2; axis < most_axes && image.sides[axis] != 0; ++axis) {
        if (image.sides[axis] < 1 ||
            header.frames > std::numeric_limits<std::int64_t>::max() / image.sides[axis])
            throw InvalidFile(path, "has an axis without a length: damaged");
        header.frames *= image.sides[axis];
    }
    checked_frames(path, header);
    const auto* const end = image.sides.begin() + std::max(2, image.axes());
    remark_on_axes({image.sides.begin() + 2, end}, header);
    if (image.sides[3] == 0)
        header.frame_interval = believable_interval(image.scale[2], image.unit[2]);
    const StatedPixelSize pixel{image.scale[0], image.scale[1], image.unit[0], image.unit[1]};
    // A scale of 1 without a unit means that the image is not calibrated.
    if (!tidy_unit(pixel.x_unit).empty() || !tidy_unit(pixel.y_unit).empty())
        header.pixel = believable(pixel, header.remarks);
    return header;
}

} // namespace

std::unique_ptr<FrameSource> open_dm(const std::string& path, const SourceOptions& options) {
    SourceFile file(path);
    const DmImage image = largest_image(file);
    FrameHeader header = checked_header(path, image);
    if (options.every_plane) {
        header.axes.lengths.assign(image.sides.begin(), image.sides.begin() + image.axes());
        std::ranges::reverse(header.axes.lengths); // the first axis varies fastest
    }
    const Bytes expected = header.frames * header.shape.elements() * size_of(header.sample);
    if (expected != image.data.size) {
        throw InvalidFile(path, fmt::format("has {} bytes of samples, expected {}: {} frames of {} "
                                            "{}",
                                            image.data.size, expected, header.frames,
                                            to_text(header.shape), name(header.sample)));
    }
    return stored_frames(std::move(file), std::move(header),
                         {image.data.start, image.data.swapped});
}

} // namespace sextant::format
