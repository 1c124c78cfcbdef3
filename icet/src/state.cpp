// SPDX-License-Identifier: BSD-3-Clause
// Functions that set and get state variables.
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "context.hpp"

namespace sextant::icet {

namespace {

/// Copies a state variable and converts it to another numeric type.
template <class To, bool integers_only = false>
void get(const char* function, IceTEnum name, To* to) {
    guarded(function, [&] {
        if (name >= ICET_STATE_SIZE || current().at(name).type() == ICET_NULL)
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("the state variable {:#x} is not set", name));
        const Value& value = current().at(name);
        const auto copy = [&](auto type) {
            for (const auto each : value.as<decltype(type)>())
                *to++ = static_cast<To>(each);
        };
        switch (value.type()) {
        case ICET_BOOLEAN:
            copy(IceTBoolean{});
            break;
        case ICET_BYTE:
            copy(IceTByte{});
            break;
        case ICET_SHORT:
            copy(IceTShort{});
            break;
        case ICET_INT:
            copy(IceTInt{});
            break;
        case ICET_FLOAT:
        case ICET_DOUBLE:
            if constexpr (!integers_only) {
                if (value.type() == ICET_FLOAT)
                    copy(IceTFloat{});
                else
                    copy(IceTDouble{});
                break;
            }
            [[fallthrough]];
        default:
            throw Raised(ICET_BAD_CAST,
                         fmt::format("the state variable {:#x} is not a number", name));
        }
    });
}

bool is_flag(IceTEnum name) {
    return name > ICET_STATE_ENABLE_START && name < ICET_STATE_ENABLE_END;
}

void set_flag(const char* function, IceTEnum name, bool value) {
    guarded(function, [&] {
        if (!is_flag(name))
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("{:#x} is not a feature that can be enabled", name));
        current().set_flag(name, value);
    });
}

struct Named {
    IceTEnum value;
    const char* name;
    bool ordered;
};

constexpr Named strategies[] = {{ICET_STRATEGY_DIRECT, "Direct", true},
                                {ICET_STRATEGY_SEQUENTIAL, "Sequential", true},
                                {ICET_STRATEGY_SPLIT, "Split", false},
                                {ICET_STRATEGY_REDUCE, "Reduce", true},
                                {ICET_STRATEGY_VTREE, "Virtual Tree", false}};

constexpr Named single_strategies[] = {
    {ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC, "Automatic", true},
    {ICET_SINGLE_IMAGE_STRATEGY_BSWAP, "Binary Swap", true},
    {ICET_SINGLE_IMAGE_STRATEGY_TREE, "Binary Tree", true},
    {ICET_SINGLE_IMAGE_STRATEGY_RADIXK, "Radix-k", true},
    {ICET_SINGLE_IMAGE_STRATEGY_RADIXKR, "Radix-kr", true},
    {ICET_SINGLE_IMAGE_STRATEGY_BSWAP_FOLDING, "Folded Binary Swap", true}};

const Named* find(std::span<const Named> all, IceTEnum value) {
    const auto found = std::ranges::find(all, value, &Named::value);
    return found == all.end() ? nullptr : &*found;
}

/// Sets a state variable to one of the allowed values, or raises an error.
void choose(IceTEnum variable, const char* what, IceTEnum value,
            std::initializer_list<IceTEnum> all) {
    if (std::ranges::find(all, value) == all.end())
        throw Raised(ICET_INVALID_ENUM, fmt::format("{:#x} is not a {}", value, what));
    current().set_number(variable, static_cast<IceTInt>(value));
}

void set_vertices(Context& context, const std::vector<IceTDouble>& vertices) {
    context.set_reals(ICET_GEOMETRY_BOUNDS, vertices);
    context.set_number(ICET_NUM_BOUNDING_VERTS, static_cast<IceTInt>(vertices.size() / 3));
}

template <class T>
std::vector<IceTDouble> vertices_of(IceTInt size, IceTSizeType stride, IceTSizeType count,
                                    const void* pointer) {
    const std::size_t step =
        stride > 0 ? static_cast<std::size_t>(stride) / sizeof(T) : static_cast<std::size_t>(size);
    const T* vertex = static_cast<const T*>(pointer);
    std::vector<IceTDouble> vertices;
    for (IceTSizeType i = 0; i < count; ++i, vertex += step) {
        const double w = size >= 4 ? static_cast<double>(vertex[3]) : 1;
        for (IceTInt axis = 0; axis < 3; ++axis)
            vertices.push_back(axis < size ? static_cast<double>(vertex[axis]) / w : 0);
    }
    return vertices;
}

void set_box(double x0, double x1, double y0, double y1, double z0, double z1) {
    std::vector<IceTDouble> vertices;
    for (const double x : {x0, x1})
        for (const double y : {y0, y1})
            for (const double z : {z0, z1})
                vertices.insert(vertices.end(), {x, y, z});
    set_vertices(current(), vertices);
}

/// Derives the variables that describe the display from the tiles and their ranks.
void set_tiles(Context& context, const std::vector<Viewport>& tiles,
               const std::vector<IceTInt>& displays) {
    std::vector<IceTInt> all;
    Viewport whole = {0, 0, 0, 0};
    IceTInt widest = 0, highest = 0, displayed = -1;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const Viewport& tile = tiles[i];
        all.insert(all.end(), tile.begin(), tile.end());
        widest = std::max(widest, tile[2]);
        highest = std::max(highest, tile[3]);
        if (displays[i] == context.rank())
            displayed = static_cast<IceTInt>(i);
        if (i == 0) {
            whole = tile;
            continue;
        }
        const IceTInt right = std::max(whole[0] + whole[2], tile[0] + tile[2]);
        const IceTInt top = std::max(whole[1] + whole[3], tile[1] + tile[3]);
        whole[0] = std::min(whole[0], tile[0]);
        whole[1] = std::min(whole[1], tile[1]);
        whole[2] = right - whole[0];
        whole[3] = top - whole[1];
    }
    context.set_number(ICET_NUM_TILES, static_cast<IceTInt>(tiles.size()));
    context.set_numbers(ICET_TILE_VIEWPORTS, all);
    context.set_numbers(ICET_GLOBAL_VIEWPORT, whole);
    context.set_number(ICET_TILE_MAX_WIDTH, widest);
    context.set_number(ICET_TILE_MAX_HEIGHT, highest);
    context.set_numbers(ICET_DISPLAY_NODES, displays);
    context.set_number(ICET_TILE_DISPLAYED, displayed);
}

/// The members of a group: all ranks with the same colour as this rank.
std::vector<IceTInt> members_of(const Context& context, IceTInt color) {
    const std::vector<IceTInt> colors = context.communicator().all_gather(color);
    std::vector<IceTInt> members;
    for (std::size_t rank = 0; rank < colors.size(); ++rank) {
        if (colors[rank] == color)
            members.push_back(static_cast<IceTInt>(rank));
    }
    return members;
}

/// Throws if a frame is being drawn, because all images of a frame must have one format.
void require_no_frame(const void* frame, const char* what) {
    if (current().draws(frame))
        throw Raised(ICET_INVALID_OPERATION,
                     fmt::format("the {} cannot change while a frame is drawn", what));
}

} // namespace

std::vector<Viewport> tiles_of(const Context& context) {
    const std::vector<IceTInt> all = context.numbers(ICET_TILE_VIEWPORTS);
    std::vector<Viewport> tiles;
    for (std::size_t i = 0; i + 3 < all.size(); i += 4)
        tiles.push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
    return tiles;
}

} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

/// Differs: an invalid variable name is an error; IceT reads out of bounds. ICET_COMPRESS_TIME,
/// ICET_INTERLACE_TIME and ICET_COLLECT_TIME are 0, because these steps overlap: they are part of
/// ICET_COMPOSITE_TIME.
void icetGetDoublev(IceTEnum pname, IceTDouble* params) {
    get(__func__, pname, params);
}
void icetGetFloatv(IceTEnum pname, IceTFloat* params) {
    get(__func__, pname, params);
}
void icetGetIntegerv(IceTEnum pname, IceTInt* params) {
    get(__func__, pname, params);
}
void icetGetBooleanv(IceTEnum pname, IceTBoolean* params) {
    get(__func__, pname, params);
}
void icetGetEnumv(IceTEnum pname, IceTEnum* params) {
    get<IceTInt, true>(__func__, pname, reinterpret_cast<IceTInt*>(params));
}
void icetGetBitFieldv(IceTEnum pname, IceTBitField* bitfield) {
    get<IceTInt, true>(__func__, pname, reinterpret_cast<IceTInt*>(bitfield));
}
void icetGetPointerv(IceTEnum pname, IceTVoid** params) {
    guarded(__func__, [&] {
        if (pname >= ICET_STATE_SIZE || current().at(pname).type() == ICET_NULL)
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("the state variable {:#x} is not set", pname));
        if (current().at(pname).type() != ICET_POINTER)
            throw Raised(ICET_BAD_CAST,
                         fmt::format("the state variable {:#x} is not a pointer", pname));
        for (IceTVoid* each : current().at(pname).as<IceTVoid*>())
            *params++ = each;
    });
}

void icetEnable(IceTEnum pname) {
    set_flag(__func__, pname, true);
}
void icetDisable(IceTEnum pname) {
    set_flag(__func__, pname, false);
}
IceTBoolean icetIsEnabled(IceTEnum pname) {
    return guarded(__func__, IceTBoolean{ICET_FALSE}, [&]() -> IceTBoolean {
        if (!is_flag(pname))
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("{:#x} is not a feature that can be enabled", pname));
        return current().at(pname).type() != ICET_NULL && current().enabled(pname) ? ICET_TRUE
                                                                                   : ICET_FALSE;
    });
}

/// Differs: the distance between vertices is `stride`; IceT reads wrong addresses if there is more
/// than one vertex.
void icetBoundingVertices(IceTInt size, IceTEnum type, IceTSizeType stride, IceTSizeType count,
                          const IceTVoid* pointer) {
    guarded(__func__, [&] {
        if (count <= 0)
            return set_vertices(current(), {});
        if (size < 1 || !pointer)
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("{} vertices with {} coordinates and {}, expected 1 or more "
                                     "coordinates and a pointer",
                                     count, size, pointer ? "a pointer" : "a null pointer"));
        switch (type) {
        case ICET_SHORT:
            return set_vertices(current(), vertices_of<IceTShort>(size, stride, count, pointer));
        case ICET_INT:
            return set_vertices(current(), vertices_of<IceTInt>(size, stride, count, pointer));
        case ICET_FLOAT:
            return set_vertices(current(), vertices_of<IceTFloat>(size, stride, count, pointer));
        case ICET_DOUBLE:
            return set_vertices(current(), vertices_of<IceTDouble>(size, stride, count, pointer));
        default:
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("{:#x} is not ICET_SHORT, INT, FLOAT or DOUBLE", type));
        }
    });
}

void icetBoundingBoxd(IceTDouble x_min, IceTDouble x_max, IceTDouble y_min, IceTDouble y_max,
                      IceTDouble z_min, IceTDouble z_max) {
    guarded(__func__, [&] { set_box(x_min, x_max, y_min, y_max, z_min, z_max); });
}
void icetBoundingBoxf(IceTFloat x_min, IceTFloat x_max, IceTFloat y_min, IceTFloat y_max,
                      IceTFloat z_min, IceTFloat z_max) {
    guarded(__func__, [&] {
        set_box(static_cast<double>(x_min), static_cast<double>(x_max), static_cast<double>(y_min),
                static_cast<double>(y_max), static_cast<double>(z_min), static_cast<double>(z_max));
    });
}

void icetResetTiles(void) {
    guarded(__func__, [] {
        set_tiles(current(), {}, {});
        current().set_number(ICET_PHYSICAL_RENDER_WIDTH, 0);
        current().set_number(ICET_PHYSICAL_RENDER_HEIGHT, 0);
    });
}

int icetAddTile(IceTInt x, IceTInt y, IceTSizeType width, IceTSizeType height, int display_rank) {
    return guarded(__func__, -1, [&] {
        Context& context = current();
        if (width < 1 || height < 1)
            throw Raised(
                ICET_INVALID_VALUE,
                fmt::format("a tile of {}x{} pixels, expected at least 1x1", width, height));
        constexpr IceTInt limit = std::numeric_limits<IceTInt>::max();
        if (x > limit - width || y > limit - height)
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("a tile of {}x{} pixels at {}, {} ends beyond {}", width,
                                     height, x, y, limit));
        if (display_rank < 0 || display_rank >= context.size())
            throw Raised(ICET_INVALID_VALUE, fmt::format("display rank {}, expected 0 to {}",
                                                         display_rank, context.size() - 1));
        std::vector<Viewport> tiles = tiles_of(context);
        std::vector<IceTInt> displays = context.numbers(ICET_DISPLAY_NODES);
        if (const auto at = std::ranges::find(displays, display_rank); at != displays.end())
            throw Raised(ICET_INVALID_VALUE, fmt::format("rank {} already displays tile {}",
                                                         display_rank, at - displays.begin()));
        tiles.push_back({x, y, width, height});
        for (const Viewport& other : tiles) {
            const auto far = [limit](std::int64_t from, std::int64_t to) {
                return to - from > limit;
            };
            if (far(other[0], std::int64_t{x} + width) ||
                far(x, std::int64_t{other[0]} + other[2]) ||
                far(other[1], std::int64_t{y} + height) ||
                far(y, std::int64_t{other[1]} + other[3]))
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("tiles at {}, {} and {}, {} are more than {} pixels apart",
                                         x, y, other[0], other[1], limit));
        }
        displays.push_back(display_rank);
        set_tiles(context, tiles, displays);
        context.set_number(ICET_PHYSICAL_RENDER_WIDTH,
                           std::max(context.number(ICET_PHYSICAL_RENDER_WIDTH), width));
        context.set_number(ICET_PHYSICAL_RENDER_HEIGHT,
                           std::max(context.number(ICET_PHYSICAL_RENDER_HEIGHT), height));
        return static_cast<int>(tiles.size()) - 1;
    });
}

void icetPhysicalRenderSize(IceTInt width, IceTInt height) {
    guarded(__func__, [&] {
        Context& context = current();
        if (width < context.number(ICET_TILE_MAX_WIDTH) ||
            height < context.number(ICET_TILE_MAX_HEIGHT))
            report(ICET_INVALID_VALUE, "icetPhysicalRenderSize",
                   fmt::format("{}x{} is smaller than the largest tile, {}x{}", width, height,
                               context.number(ICET_TILE_MAX_WIDTH),
                               context.number(ICET_TILE_MAX_HEIGHT)),
                   ICET_DIAG_WARNINGS);
        context.set_number(ICET_PHYSICAL_RENDER_WIDTH, width);
        context.set_number(ICET_PHYSICAL_RENDER_HEIGHT, height);
    });
}

void icetSetColorFormat(IceTEnum color_format) {
    const void* const frame = __builtin_frame_address(0);
    guarded(__func__, [&] {
        require_no_frame(frame, "color format");
        choose(ICET_COLOR_FORMAT, "color format", color_format,
               {ICET_IMAGE_COLOR_RGBA_UBYTE, ICET_IMAGE_COLOR_RGBA_FLOAT,
                ICET_IMAGE_COLOR_RGB_FLOAT, ICET_IMAGE_COLOR_NONE});
    });
}
void icetSetDepthFormat(IceTEnum depth_format) {
    const void* const frame = __builtin_frame_address(0);
    guarded(__func__, [&] {
        require_no_frame(frame, "depth format");
        choose(ICET_DEPTH_FORMAT, "depth format", depth_format,
               {ICET_IMAGE_DEPTH_FLOAT, ICET_IMAGE_DEPTH_NONE});
    });
}

/// Hint: the strategy is stored and returned; the planner chooses the algorithm.
void icetStrategy(IceTEnum strategy) {
    guarded(__func__, [&] {
        const Named* found = find(strategies, strategy);
        if (!found)
            throw Raised(ICET_INVALID_ENUM, fmt::format("{:#x} is not a strategy", strategy));
        current().set_number(ICET_STRATEGY, static_cast<IceTInt>(strategy));
        current().set_flag(ICET_STRATEGY_SUPPORTS_ORDERING, found->ordered);
    });
}

const char* icetGetStrategyName(void) {
    return guarded(__func__, static_cast<const char*>(nullptr), []() -> const char* {
        const Named* found =
            find(strategies, static_cast<IceTEnum>(current().number(ICET_STRATEGY)));
        if (!found)
            throw Raised(ICET_INVALID_ENUM, "no strategy is set");
        return found->name;
    });
}

/// Hint: the strategy is stored and returned; the planner chooses the algorithm.
void icetSingleImageStrategy(IceTEnum strategy) {
    guarded(__func__, [&] {
        if (!find(single_strategies, strategy))
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("{:#x} is not a single-image strategy", strategy));
        current().set_number(ICET_SINGLE_IMAGE_STRATEGY, static_cast<IceTInt>(strategy));
    });
}

const char* icetGetSingleImageStrategyName(void) {
    return guarded(__func__, static_cast<const char*>(nullptr), []() -> const char* {
        const auto strategy = static_cast<IceTEnum>(current().number(ICET_SINGLE_IMAGE_STRATEGY));
        return find(single_strategies, strategy)->name;
    });
}

void icetCompositeMode(IceTEnum mode) {
    guarded(__func__, [&] {
        choose(ICET_COMPOSITE_MODE, "composite mode", mode,
               {ICET_COMPOSITE_MODE_Z_BUFFER, ICET_COMPOSITE_MODE_BLEND});
    });
}

void icetCompositeOrder(const IceTInt* process_ranks) {
    guarded(__func__, [&] {
        Context& context = current();
        const auto count = static_cast<std::size_t>(context.size());
        if (!process_ranks)
            throw Raised(ICET_INVALID_VALUE, "the order is null");
        const std::vector<IceTInt> order(process_ranks, process_ranks + count);
        std::vector<IceTInt> places(count, -1);
        for (std::size_t place = 0; place < count; ++place) {
            const IceTInt rank = order[place];
            if (rank < 0 || rank >= context.size())
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("rank {} at position {}, expected 0 to "
                                         "{}",
                                         rank, place, context.size() - 1));
            if (places[static_cast<std::size_t>(rank)] >= 0)
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("rank {} is at positions {} and {}", rank,
                                         places[static_cast<std::size_t>(rank)], place));
            places[static_cast<std::size_t>(rank)] = static_cast<IceTInt>(place);
        }
        context.set_numbers(ICET_COMPOSITE_ORDER, order);
        context.set_numbers(ICET_PROCESS_ORDERS, places);
    });
}

void icetDataReplicationGroup(IceTInt size, const IceTInt* processes) {
    guarded(__func__, [&] {
        Context& context = current();
        std::vector<IceTInt> members;
        if (size > 0 && processes)
            members.assign(processes, processes + size);
        for (const IceTInt member : members) {
            if (member < 0 || member >= context.size())
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("rank {}, expected 0 to {}", member, context.size() - 1));
        }
        if (std::ranges::find(members, context.rank()) == members.end())
            throw Raised(ICET_INVALID_VALUE,
                         fmt::format("the group does not contain this rank, {}", context.rank()));
        context.set_numbers(ICET_DATA_REPLICATION_GROUP, members);
        context.set_number(ICET_DATA_REPLICATION_GROUP_SIZE, size);
    });
}
void icetDataReplicationGroupColor(IceTInt color) {
    guarded(__func__, [&] {
        Context& context = current();
        const std::vector<IceTInt> members = members_of(context, color);
        context.set_numbers(ICET_DATA_REPLICATION_GROUP, members);
        context.set_number(ICET_DATA_REPLICATION_GROUP_SIZE, static_cast<IceTInt>(members.size()));
    });
}

void icetDrawCallback(IceTDrawCallbackType callback) {
    guarded(__func__, [&] {
        current().set_pointer(ICET_DRAW_FUNCTION, reinterpret_cast<const void*>(callback));
    });
}

} // extern "C"
