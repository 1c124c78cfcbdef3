// SPDX-License-Identifier: BSD-3-Clause
// Calls every function of IceT's interface, and prints what comes back. The program runs over
// either library, and compare.py compares the two transcripts. Lines that begin with "~" may differ
// by one level per rank.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <IceT.h>
#include <IceTMPI.h>

namespace {

int rank, size;
std::vector<std::string> lines;

template <class... Values>
void say(const char* format, Values... values) {
    char line[4096];
    std::snprintf(line, sizeof(line), format, values...);
    lines.push_back(line);
}

const char* error() {
    switch (icetGetError()) {
    case ICET_NO_ERROR:
        return "no error";
    case ICET_SANITY_CHECK_FAIL:
        return "sanity check";
    case ICET_INVALID_ENUM:
        return "invalid enum";
    case ICET_BAD_CAST:
        return "bad cast";
    case ICET_OUT_OF_MEMORY:
        return "out of memory";
    case ICET_INVALID_OPERATION:
        return "invalid operation";
    case ICET_INVALID_VALUE:
        return "invalid value";
    default:
        return "another error";
    }
}

struct Variable {
    const char* name;
    IceTEnum value;
    int count; ///< number of values; 0: one per rank, -1: one per tile, -4: four per tile
};

#define VARIABLE(name, count)                                                                      \
    { #name, name, count }
// Variables that programs read. Variables of IceT's own strategies and buffers are internal.
const Variable variables[] = {VARIABLE(ICET_DIAGNOSTIC_LEVEL, 1),
                              VARIABLE(ICET_RANK, 1),
                              VARIABLE(ICET_NUM_PROCESSES, 1),
                              VARIABLE(ICET_BACKGROUND_COLOR, 4),
                              VARIABLE(ICET_BACKGROUND_COLOR_WORD, 1),
                              VARIABLE(ICET_PHYSICAL_RENDER_WIDTH, 1),
                              VARIABLE(ICET_PHYSICAL_RENDER_HEIGHT, 1),
                              VARIABLE(ICET_COLOR_FORMAT, 1),
                              VARIABLE(ICET_DEPTH_FORMAT, 1),
                              VARIABLE(ICET_NUM_TILES, 1),
                              VARIABLE(ICET_TILE_VIEWPORTS, -4),
                              VARIABLE(ICET_GLOBAL_VIEWPORT, 4),
                              VARIABLE(ICET_TILE_MAX_WIDTH, 1),
                              VARIABLE(ICET_TILE_MAX_HEIGHT, 1),
                              VARIABLE(ICET_DISPLAY_NODES, -1),
                              VARIABLE(ICET_TILE_DISPLAYED, 1),
                              VARIABLE(ICET_NUM_BOUNDING_VERTS, 1),
                              VARIABLE(ICET_STRATEGY, 1),
                              VARIABLE(ICET_SINGLE_IMAGE_STRATEGY, 1),
                              VARIABLE(ICET_COMPOSITE_MODE, 1),
                              VARIABLE(ICET_COMPOSITE_ORDER, 0),
                              VARIABLE(ICET_PROCESS_ORDERS, 0),
                              VARIABLE(ICET_STRATEGY_SUPPORTS_ORDERING, 1),
                              VARIABLE(ICET_DATA_REPLICATION_GROUP_SIZE, 1),
                              VARIABLE(ICET_FRAME_COUNT, 1),
                              VARIABLE(ICET_MAGIC_K, 1),
                              VARIABLE(ICET_MAX_IMAGE_SPLIT, 1),
                              VARIABLE(ICET_IS_DRAWING_FRAME, 1),
                              VARIABLE(ICET_CONTAINED_VIEWPORT, 4),
                              VARIABLE(ICET_NEAR_DEPTH, 1),
                              VARIABLE(ICET_FAR_DEPTH, 1),
                              VARIABLE(ICET_NUM_CONTAINED_TILES, 1),
                              VARIABLE(ICET_CONTAINED_TILES_MASK, -1),
                              VARIABLE(ICET_NEED_BACKGROUND_CORRECTION, 1),
                              VARIABLE(ICET_TRUE_BACKGROUND_COLOR, 4),
                              VARIABLE(ICET_TRUE_BACKGROUND_COLOR_WORD, 1),
                              VARIABLE(ICET_PRE_RENDERED, 1),
                              VARIABLE(ICET_FLOATING_VIEWPORT, 1),
                              VARIABLE(ICET_ORDERED_COMPOSITE, 1),
                              VARIABLE(ICET_CORRECT_COLORED_BACKGROUND, 1),
                              VARIABLE(ICET_COMPOSITE_ONE_BUFFER, 1),
                              VARIABLE(ICET_INTERLACE_IMAGES, 1),
                              VARIABLE(ICET_COLLECT_IMAGES, 1),
                              VARIABLE(ICET_RENDER_EMPTY_IMAGES, 1)};

void say_state(const char* when) {
    IceTInt tiles = 0;
    icetGetIntegerv(ICET_NUM_TILES, &tiles);
    for (const Variable& variable : variables) {
        const int count = variable.count > 0    ? variable.count
                          : variable.count == 0 ? size
                                                : -variable.count * tiles;
        std::vector<IceTDouble> values(static_cast<std::size_t>(std::max(count, 1)) + 4, -777);
        icetGetDoublev(variable.value, values.data());
        const std::string failed = error();
        std::string text = std::string(when) + ": " + variable.name + ":";
        if (failed != "no error")
            text += " " + failed;
        else
            for (int i = 0; i < count; ++i) {
                char number[40];
                std::snprintf(number, sizeof(number), " %.7g", values[static_cast<std::size_t>(i)]);
                text += number;
            }
        lines.push_back(text);
    }
}

void say_types() {
    for (const IceTEnum name :
         {ICET_RANK, ICET_BACKGROUND_COLOR, ICET_RENDER_TIME, ICET_FLOATING_VIEWPORT,
          ICET_DRAW_FUNCTION, ICET_GEOMETRY_BOUNDS, (IceTEnum)0x77}) {
        IceTDouble reals[64] = {};
        IceTFloat floats[64] = {};
        IceTInt numbers[64] = {};
        IceTBoolean flags[64] = {};
        IceTEnum enums[64] = {};
        IceTBitField bits[64] = {};
        IceTVoid* pointers[64] = {};
        icetGetDoublev(name, reals);
        say("%#x as double: %s", name, error());
        icetGetFloatv(name, floats);
        say("%#x as float: %s", name, error());
        icetGetIntegerv(name, numbers);
        say("%#x as integer: %s", name, error());
        icetGetBooleanv(name, flags);
        say("%#x as boolean: %s", name, error());
        icetGetEnumv(name, enums);
        say("%#x as enum: %s", name, error());
        icetGetBitFieldv(name, bits);
        say("%#x as bit field: %s", name, error());
        icetGetPointerv(name, pointers);
        say("%#x as pointer: %s", name, error());
    }
}

// Images.

std::uint32_t mixed(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

/// A pixel of a rank's image, in display coordinates. Depths differ between ranks at every pixel.
void pixel(int x, int y, std::uint8_t* color, float* depth) {
    const std::uint32_t word =
        mixed(static_cast<std::uint32_t>(x * 7919 + y * 104729 + rank * 1299709));
    const unsigned alpha = 64 + (word >> 24) % 192;
    for (int channel = 0; channel < 3; ++channel)
        color[channel] = static_cast<std::uint8_t>((word >> 8 * channel & 255) * alpha / 255);
    color[3] = static_cast<std::uint8_t>(alpha);
    *depth = static_cast<float>((word >> 4) % 1000 * 8 + static_cast<std::uint32_t>(rank)) / 8200.F;
    if ((x + 2 * y + rank) % 5 == 0) { // this pixel stays empty
        std::memset(color, 0, 4);
        *depth = 1;
    }
}

std::vector<std::string> calls;

void draw(const IceTDouble* projection, const IceTDouble*, const IceTFloat* background,
          const IceTInt* part, IceTImage result) {
    char text[512];
    std::snprintf(text, sizeof(text),
                  "callback: image %dx%d %#x %#x, part %d %d %d %d, background %g %g %g %g, "
                  "projection %.6g %.6g %.6g %.6g",
                  icetImageGetWidth(result), icetImageGetHeight(result),
                  icetImageGetColorFormat(result), icetImageGetDepthFormat(result), part[0],
                  part[1], part[2], part[3], background[0], background[1], background[2],
                  background[3], projection[0], projection[5], projection[12], projection[13]);
    calls.push_back(text);
    // The view. The projection is only scaled and shifted for the view.
    IceTInt whole[4];
    icetGetIntegerv(ICET_GLOBAL_VIEWPORT, whole);
    const int width = icetImageGetWidth(result);
    const double view_x =
        whole[0] + (whole[2] - (projection[12] + 1) * whole[2] / projection[0]) / 2;
    const double view_y =
        whole[1] + (whole[3] - (projection[13] + 1) * whole[3] / projection[5]) / 2;
    const IceTEnum format = icetImageGetColorFormat(result);
    for (int y = part[1]; y < part[1] + part[3]; ++y) {
        for (int x = part[0]; x < part[0] + part[2]; ++x) {
            std::uint8_t color[4];
            float depth;
            pixel(x + static_cast<int>(std::lround(view_x)),
                  y + static_cast<int>(std::lround(view_y)), color, &depth);
            if (depth == 1 && format != ICET_IMAGE_COLOR_NONE && background[3] > 0)
                for (int channel = 0; channel < 4; ++channel)
                    color[channel] = static_cast<std::uint8_t>(background[channel] * 255);
            const int at = y * width + x;
            if (format == ICET_IMAGE_COLOR_RGBA_UBYTE)
                std::memcpy(icetImageGetColorub(result) + 4 * at, color, 4);
            const int channels = format == ICET_IMAGE_COLOR_RGBA_FLOAT  ? 4
                                 : format == ICET_IMAGE_COLOR_RGB_FLOAT ? 3
                                                                        : 0;
            for (int channel = 0; channel < channels; ++channel)
                icetImageGetColorf(result)[channels * at + channel] =
                    static_cast<float>(color[channel]) / 255.F;
            if (icetImageGetDepthFormat(result) == ICET_IMAGE_DEPTH_FLOAT)
                icetImageGetDepthf(result)[at] = depth;
        }
    }
}

void say_image(const char* what, const IceTImage& image, bool exact) {
    IceTInt displayed = -1;
    icetGetIntegerv(ICET_TILE_DISPLAYED, &displayed);
    if (displayed < 0)
        return; // the content is undefined
    say("%s: null %d, %dx%d, %d pixels, %#x %#x", what, icetImageIsNull(image),
        icetImageGetWidth(image), icetImageGetHeight(image), icetImageGetNumPixels(image),
        icetImageGetColorFormat(image), icetImageGetDepthFormat(image));
    if (icetImageIsNull(image))
        return;
    const auto count = static_cast<std::size_t>(icetImageGetNumPixels(image));
    const std::size_t width = static_cast<std::size_t>(icetImageGetWidth(image));
    const auto rows = [&](const char* plane, const std::vector<int>& levels, std::size_t channels,
                          bool same) {
        for (std::size_t first = 0; first < count; first += width) {
            std::string text = std::string(same ? "" : "~") + what + " " + plane + ":";
            for (std::size_t i = channels * first; i < channels * (first + width); ++i)
                text += " " + std::to_string(levels[i]);
            lines.push_back(text);
        }
    };
    if (icetImageGetColorFormat(image) != ICET_IMAGE_COLOR_NONE) {
        std::vector<std::uint8_t> bytes(4 * count);
        icetImageCopyColorub(image, bytes.data(), ICET_IMAGE_COLOR_RGBA_UBYTE);
        rows("bytes", {bytes.begin(), bytes.end()}, 4, exact);
        std::vector<float> floats(4 * count);
        icetImageCopyColorf(image, floats.data(), ICET_IMAGE_COLOR_RGBA_FLOAT);
        std::vector<int> levels;
        for (const float value : floats)
            levels.push_back(static_cast<int>(std::lround(value * 255)));
        rows("floats", levels, 4, exact);
        floats.resize(3 * count);
        icetImageCopyColorf(image, floats.data(), ICET_IMAGE_COLOR_RGB_FLOAT);
        say("%s: three floats: %s", what, error());
    }
    if (icetImageGetDepthFormat(image) != ICET_IMAGE_DEPTH_NONE) {
        std::vector<float> depths(count);
        icetImageCopyDepthf(image, depths.data(), ICET_IMAGE_DEPTH_FLOAT);
        std::vector<int> steps;
        for (const float depth : depths)
            steps.push_back(static_cast<int>(std::lround(depth * 8200)));
        rows("depths", steps, 1, true);
    }
    // Getters of other formats fail.
    say("%s: ub %d %s", what, icetImageGetColorub(image) != nullptr, error());
    say("%s: ui %d %s", what, icetImageGetColorui(image) != nullptr, error());
    say("%s: f %d %s", what, icetImageGetColorf(image) != nullptr, error());
    say("%s: depth %d %s", what, icetImageGetDepthf(image) != nullptr, error());
    say("%s: cub %d %s", what, icetImageGetColorcub(image) != nullptr, error());
    say("%s: cui %d %s", what, icetImageGetColorcui(image) != nullptr, error());
    say("%s: cf %d %s", what, icetImageGetColorcf(image) != nullptr, error());
    say("%s: cdepth %d %s", what, icetImageGetDepthcf(image) != nullptr, error());
}

const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
const float plain[4] = {.2F, .4F, .6F, 1};
const float none[4] = {0, 0, 0, 0};

void say_frame(const char* what, const float* background, bool exact) {
    calls.clear();
    const IceTImage image = icetDrawFrame(identity, identity, background);
    say("%s: %s", what, error());
    // Strategies draw tiles in different orders, and some draw tiles more often than others.
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    for (const std::string& call : calls)
        lines.push_back(std::string(what) + ": " + call);
    say_image(what, image, exact);
    IceTDouble total = 0, render = 0, read = 0, write = 0, composite = 0;
    icetGetDoublev(ICET_TOTAL_DRAW_TIME, &total);
    icetGetDoublev(ICET_RENDER_TIME, &render);
    icetGetDoublev(ICET_BUFFER_READ_TIME, &read);
    icetGetDoublev(ICET_BUFFER_WRITE_TIME, &write);
    icetGetDoublev(ICET_COMPOSITE_TIME, &composite);
    say("%s: times add up: %d", what,
        std::abs(total - render - read - write - composite) < 1e-9 && composite > 0);
}

/// Sets the bounds of this rank's part of the display. Parts overlap those of neighbours; the last
/// of several ranks has none.
void set_bounds() {
    if (size > 2 && rank == size - 1)
        icetBoundingBoxd(5, 6, 5, 6, -.5, .5); // off screen
    else
        icetBoundingBoxf(-.9F + .2F * static_cast<float>(rank),
                         .3F + .25F * static_cast<float>(rank), -.8F, .7F, -.5F, .5F);
}

void frames(const char* strategy) {
    const auto named = [strategy](const char* what) {
        static std::string text;
        text = std::string(strategy) + " " + what;
        return text.c_str();
    };
    for (const IceTEnum flag : {ICET_COMPOSITE_ONE_BUFFER, ICET_INTERLACE_IMAGES})
        icetDisable(flag);
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
    icetDisable(ICET_ORDERED_COMPOSITE);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    say_frame(named("z bytes"), plain, true);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
    say_frame(named("z floats"), plain, false);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGB_FLOAT);
    say_frame(named("z three floats"), plain, false);
    icetSetColorFormat(ICET_IMAGE_COLOR_NONE);
    say_frame(named("z depths only"), plain, true);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    icetEnable(ICET_COMPOSITE_ONE_BUFFER);
    say_frame(named("z one buffer"), none, true);
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    icetEnable(ICET_ORDERED_COMPOSITE);
    std::vector<IceTInt> order;
    for (int i = 0; i < size; ++i)
        order.push_back((i * (size > 2 ? 2 : 1) + 1) % size);
    if (size % 2 == 0 && size > 2)
        for (int i = 0; i < size; ++i)
            order[static_cast<std::size_t>(i)] = size - 1 - i;
    icetCompositeOrder(order.data());
    say("order: %s", error());
    say_frame(named("blend bytes"), none, false);
    say_frame(named("blend on a background"), plain, false);
    icetEnable(ICET_CORRECT_COLORED_BACKGROUND);
    say_frame(named("blend, corrected background"), plain, false);
    icetDisable(ICET_CORRECT_COLORED_BACKGROUND);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
    say_frame(named("blend floats"), none, false);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    say_state(named("after frames"));
}

void composite_images() {
    icetResetTiles();
    icetAddTile(0, 0, 24, 18, 0);
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
    icetDisable(ICET_ORDERED_COMPOSITE);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    std::vector<std::uint8_t> colors(4 * 24 * 18);
    std::vector<float> depths(24 * 18);
    for (int y = 0; y < 18; ++y)
        for (int x = 0; x < 24; ++x)
            pixel(x, y, &colors[static_cast<std::size_t>(4 * (y * 24 + x))],
                  &depths[static_cast<std::size_t>(y * 24 + x)]);
    IceTImage image =
        icetCompositeImage(colors.data(), depths.data(), nullptr, nullptr, nullptr, plain);
    icetGetError(); // IceT 2.2.0 reports an invalid value, contrary to its manual
    say_image("given", image, true);
    const IceTInt valid[4] = {2 + rank, 3, 11, 9};
    image = icetCompositeImage(colors.data(), depths.data(), valid, nullptr, nullptr, plain);
    say("given in part: %s", error());
    say_image("given in part", image, true);
    image = icetCompositeImage(colors.data(), depths.data(), valid, identity, identity, plain);
    say("given in part, with matrices: %s", error());
    say_image("given in part, with matrices", image, true);
}

struct Buffers {
    std::vector<std::uint8_t> colors;
    std::vector<float> depths;
};
Buffers rendered(int width, int height) {
    Buffers buffers{std::vector<std::uint8_t>(static_cast<std::size_t>(4 * width * height)),
                    std::vector<float>(static_cast<std::size_t>(width * height))};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            pixel(x, y, &buffers.colors[static_cast<std::size_t>(4 * (y * width + x))],
                  &buffers.depths[static_cast<std::size_t>(y * width + x)]);
    return buffers;
}

/// The calls of Vistle: a context per view; images passed with matrices, bounds and valid pixels.
void vistle(IceTCommunicator communicator) {
    IceTContext views[2];
    for (IceTContext& view : views) {
        view = icetCreateContext(communicator);
        icetDiagnostics(ICET_DIAG_OFF);
    }
    const int widths[2] = {21, 16}, heights[2] = {13, 19};
    for (int frame = 0; frame < 4; ++frame) {
        const int view = frame % 2, width = widths[view], height = heights[view];
        icetSetContext(views[view]);
        icetResetTiles();
        icetAddTile(0, 0, width, height, 0);
        icetDisable(ICET_COMPOSITE_ONE_BUFFER);
        icetStrategy(ICET_STRATEGY_REDUCE);
        icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
        icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
        icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
        icetBoundingBoxf(-1, .2F * static_cast<float>(rank + 1), -1, 1, -1, 1);
        const Buffers buffers = rendered(width, height);
        const IceTInt valid[4] = {frame, 1, width - frame, height - 2};
        const IceTImage image = icetCompositeImage(buffers.colors.data(), buffers.depths.data(),
                                                   valid, identity, identity, none);
        say("Vistle: %s", error());
        say_image("Vistle", image, true);
    }
    for (IceTContext view : views)
        icetDestroyContext(view);
}

/// The calls of VisIt: opaque images by depth, then transparent ones in order, without matrices.
void visit(IceTCommunicator communicator) {
    IceTContext context = icetCreateContext(communicator);
    icetDiagnostics(ICET_DIAG_OFF);
    const int width = 23, height = 12;
    const Buffers buffers = rendered(width, height);
    icetResetTiles();
    icetAddTile(0, 0, width, height, 0);
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
    icetDisable(ICET_ORDERED_COMPOSITE);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    icetEnable(ICET_FLOATING_VIEWPORT);
    const IceTInt valid[4] = {0, 0, width, height};
    IceTImage image = icetCompositeImage(buffers.colors.data(), buffers.depths.data(), valid,
                                         nullptr, nullptr, plain);
    say_image("VisIt, opaque", image, true);
    std::vector<IceTInt> order;
    for (int i = 0; i < size; ++i)
        order.push_back((i + 1) % size);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    icetEnable(ICET_ORDERED_COMPOSITE);
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
    icetCompositeOrder(order.data());
    icetEnable(ICET_COMPOSITE_ONE_BUFFER);
    image = icetCompositeImage(buffers.colors.data(), nullptr, valid, nullptr, nullptr, none);
    icetGetError();
    say_image("VisIt, transparent", image, false);
    icetDestroyContext(context);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) {
        std::fprintf(stderr, "usage: conversation PREFIX (of a file per rank)\n");
        return 2;
    }
    IceTCommunicator communicator = icetCreateMPICommunicator(MPI_COMM_WORLD);
    say("null communicator: %d", icetCreateMPICommunicator(MPI_COMM_NULL) == ICET_COMM_NULL);
    say("communicator: %d of %d", communicator->Comm_rank(communicator),
        communicator->Comm_size(communicator));
    IceTContext first = icetCreateContext(communicator);
    say("current: %d", icetGetContext() == first);
    icetDiagnostics(ICET_DIAG_OFF);
    say_state("new");
    say_types();

    // Invalid formats, modes and strategies.
    icetSetColorFormat((IceTEnum)0x1234);
    say("color format: %s", error());
    icetSetDepthFormat((IceTEnum)0x1234);
    say("depth format: %s", error());
    icetCompositeMode((IceTEnum)0x1234);
    say("mode: %s", error());
    icetStrategy((IceTEnum)0x1234);
    say("strategy: %s", error());
    icetSingleImageStrategy((IceTEnum)0x1234);
    say("single-image strategy: %s", error());
    for (const IceTEnum strategy :
         {ICET_STRATEGY_DIRECT, ICET_STRATEGY_SEQUENTIAL, ICET_STRATEGY_SPLIT, ICET_STRATEGY_REDUCE,
          ICET_STRATEGY_VTREE}) {
        icetStrategy(strategy);
        IceTBoolean ordered = 7;
        icetGetBooleanv(ICET_STRATEGY_SUPPORTS_ORDERING, &ordered);
        say("strategy %#x: %s, ordered %d, %s", strategy, icetGetStrategyName(), ordered, error());
    }
    for (const IceTEnum strategy :
         {ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC, ICET_SINGLE_IMAGE_STRATEGY_BSWAP,
          ICET_SINGLE_IMAGE_STRATEGY_TREE, ICET_SINGLE_IMAGE_STRATEGY_RADIXK,
          ICET_SINGLE_IMAGE_STRATEGY_RADIXKR, ICET_SINGLE_IMAGE_STRATEGY_BSWAP_FOLDING}) {
        icetSingleImageStrategy(strategy);
        say("single-image strategy %#x: %s, %s", strategy, icetGetSingleImageStrategyName(),
            error());
    }
    icetSingleImageStrategy(ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC);

    // Features.
    for (IceTEnum flag = ICET_FLOATING_VIEWPORT; flag <= ICET_RENDER_EMPTY_IMAGES; ++flag) {
        const IceTBoolean before = icetIsEnabled(flag);
        icetEnable(flag);
        const IceTBoolean on = icetIsEnabled(flag);
        icetDisable(flag);
        say("feature %#x: %d %d %d %s", flag, before, on, icetIsEnabled(flag), error());
        if (before)
            icetEnable(flag);
    }
    icetEnable(ICET_RANK);
    say("enable: %s", error());
    icetDisable(ICET_RANK);
    say("disable: %s", error());
    const int enabled = icetIsEnabled(ICET_RANK);
    say("is enabled: %d %s", enabled, error());

    // Tiles.
    int tile = icetAddTile(0, 0, 0, 5, 0);
    say("empty tile: %d %s", tile, error());
    tile = icetAddTile(0, 0, 5, 5, size);
    say("tile of no rank: %d %s", tile, error());
    tile = icetAddTile(3, 2, 24, 18, 0);
    say("tile: %d %s", tile, error());
    tile = icetAddTile(3, 2, 24, 18, 0);
    say("second tile of a rank: %d %s", tile, error());
    icetPhysicalRenderSize(5, 5);
    say("small render size: %s", error());
    icetPhysicalRenderSize(30, 20);
    say("render size: %s", error());
    say_state("a tile");
    icetResetTiles();
    say_state("no tiles");

    // Order and groups.
    std::vector<IceTInt> order(static_cast<std::size_t>(size), 0);
    icetCompositeOrder(order.data());
    say("order with a rank twice: %s", size > 1 ? error() : (icetGetError(), ""));
    order.assign(static_cast<std::size_t>(size), size);
    icetCompositeOrder(order.data());
    say("order with no rank: %s", error());
    for (int i = 0; i < size; ++i)
        order[static_cast<std::size_t>(i)] = size - 1 - i;
    icetCompositeOrder(order.data());
    say("order: %s", error());
    say_state("order");
    const IceTInt other = rank == 0 ? size - 1 : 0;
    if (size > 1) {
        icetDataReplicationGroup(1, &other);
        say("group without this rank: %s", error());
    }
    icetDataReplicationGroupColor(rank / 2);
    IceTInt members = 0, group[64] = {};
    icetGetIntegerv(ICET_DATA_REPLICATION_GROUP_SIZE, &members);
    icetGetIntegerv(ICET_DATA_REPLICATION_GROUP, group);
    say("group: %d from %d, %s", members, group[0], error());
    const IceTInt own = rank;
    icetDataReplicationGroup(1, &own);
    say("group of one: %s", error());

    // Bounds. IceT 2.2.0 does not step from vertex to vertex as its manual describes, so pass one
    // vertex each.
    const IceTDouble vertex[4] = {1, 2, 3, 4};
    IceTDouble bounds[64] = {};
    icetBoundingVertices(3, ICET_DOUBLE, 0, 1, vertex);
    icetGetDoublev(ICET_GEOMETRY_BOUNDS, bounds);
    say("a vertex: %g %g %g %s", bounds[0], bounds[1], bounds[2], error());
    const IceTShort shorts[3] = {1, 2, 3};
    icetBoundingVertices(2, ICET_SHORT, 0, 1, shorts);
    icetGetDoublev(ICET_GEOMETRY_BOUNDS, bounds);
    say("a short vertex: %g %g %g %s", bounds[0], bounds[1], bounds[2], error());
    const IceTFloat floats[3] = {1, 2, 3};
    icetBoundingVertices(3, ICET_FLOAT, 0, 1, floats);
    icetGetDoublev(ICET_GEOMETRY_BOUNDS, bounds);
    say("a float vertex: %g %g %g %s", bounds[0], bounds[1], bounds[2], error());
    icetBoundingVertices(3, ICET_BYTE, 0, 1, shorts);
    say("vertices of bytes: %s", error());

    // Frames with invalid arguments.
    icetDrawCallback(nullptr);
    IceTImage image = icetDrawFrame(identity, identity, none);
    say("frame without a function: %d %s", icetImageIsNull(image),
        icetGetError() != ICET_NO_ERROR ? "error" : "no error");
    image = icetImageNull();
    say("null image: %d %d %d %d %#x %#x", icetImageIsNull(image), icetImageGetWidth(image),
        icetImageGetHeight(image), icetImageGetNumPixels(image), icetImageGetColorFormat(image),
        icetImageGetDepthFormat(image));

    // Frames.
    icetDrawCallback(draw);
    set_bounds();
    icetAddTile(3, 2, 24, 18, size - 1);
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    frames("sequential");
    icetBoundingVertices(0, ICET_VOID, 0, 0, nullptr);
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
    icetDisable(ICET_ORDERED_COMPOSITE);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    say_frame("without bounds", plain, true);
    set_bounds();
    icetResetTiles();
    icetAddTile(0, 0, 24, 18, 0);
    if (size > 1)
        icetAddTile(24, 0, 20, 16, 1);
    if (size > 2)
        icetAddTile(0, 18, 22, 17, 2);
    icetPhysicalRenderSize(24, 18);
    icetStrategy(ICET_STRATEGY_REDUCE);
    frames("reduce");
    icetDisable(ICET_FLOATING_VIEWPORT);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
    icetDisable(ICET_ORDERED_COMPOSITE);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    say_frame("fixed viewport", plain, true);
    icetEnable(ICET_FLOATING_VIEWPORT);
    for (const IceTEnum strategy :
         {ICET_STRATEGY_DIRECT, ICET_STRATEGY_SPLIT, ICET_STRATEGY_VTREE}) {
        icetStrategy(strategy);
        calls.clear();
        image = icetDrawFrame(identity, identity, plain);
        say("strategy %#x: %s", strategy, error());
        say_image("another strategy", image, true);
    }
    composite_images();
    vistle(communicator);
    visit(communicator);
    icetSetContext(first);

    // Contexts.
    IceTContext second = icetCreateContext(communicator);
    say("second is current: %d", icetGetContext() == second);
    icetDiagnostics(ICET_DIAG_OFF);
    icetCopyState(second, first);
    say_state("copied");
    icetSetContext(first);
    say("first is current: %d", icetGetContext() == first);
    icetDestroyContext(second);
    say("destroyed: %s", error());
    say("time goes on: %d", icetWallTime() <= icetWallTime());
    icetDestroyContext(first);
    icetDestroyMPICommunicator(communicator);
    if (std::FILE* const file =
            std::fopen((std::string(argv[1]) + std::to_string(rank)).c_str(), "w")) {
        for (const std::string& line : lines)
            std::fprintf(file, "%s\n", line.c_str());
        std::fclose(file);
    }
    MPI_Finalize();
}
