// SPDX-License-Identifier: BSD-3-Clause
// Renders and composites frames.
#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "check.hpp"
#include "context.hpp"
#include "planes.hpp"
#include "projection.hpp"

namespace sextant::icet {

namespace {

/// The images that a caller has rendered (icetCompositeImage).
struct Rendered {
    const void *color, *depth;
    Viewport valid;
};

/// The request of a rank, which must be the same on all ranks, and what it draws.
struct Request {
    std::int32_t tiles = 0, color_format = 0, depth_format = 0, mode = 0, ordered = 0, collects = 0;
    std::uint64_t layout = 0, order = 0; ///< hashes of tiles and of the visibility order
    std::int32_t failed = 0, reports = 0, checks = 0;
    RankTimes before;              ///< of the previous frame
    Viewport drawn = {0, 0, 0, 0}; ///< in the coordinates of the global viewport
};

/// FNV-1a.
std::uint64_t hash_of(std::span<const IceTInt> numbers) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const IceTInt number : numbers)
        hash = (hash ^ static_cast<std::uint32_t>(number)) * 1099511628211ULL;
    return hash;
}

/// Memory that belongs to the caller, who keeps it alive.
Memory borrowed_memory(const void* data, Bytes size) {
    auto* const bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));
    return {bytes, size, std::shared_ptr<void>(bytes, [](void*) {})};
}

class Frame {
  public:
    Frame(Context& context, const double* projection, const double* modelview,
          const float* background, const Rendered* rendered)
        : context_(context), given_(rendered), began_(wall_time()) {
        if (projection)
            projection_ = matrix_at(projection);
        if (modelview)
            modelview_ = matrix_at(modelview);
        has_matrices_ = projection && modelview;
        if (background)
            std::copy_n(background, 4, true_background_.begin());
        has_background_ = background;
    }

    /// Draws first, so that ranks do not wait for each other before that.
    IceTImage run() {
        std::exception_ptr failure;
        try {
            check();
            prepare();
            for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
                images_.push_back(&image_of(tile));
                draw_into(*images_.back());
            }
        } catch (...) { // the other ranks must not wait for this one
            failure = std::current_exception();
        }
        IceTImage image = icetImageNull();
        try {
            const std::vector<Request> all = exchange(failure != nullptr);
            if (failure) {
                for (TileImage* drawn : images_)
                    empty(*drawn);
                std::rethrow_exception(failure);
            }
            for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
                if (composite(tile, all))
                    image = handle(&context_.result);
            }
        } catch (...) { // all ranks keep the same images
            std::erase_if(context_.tiles, [](const auto& kept) { return !kept->compositor; });
            throw;
        }
        keep_recent_images();
        finish();
        return image;
    }

  private:
    void check() const;
    void prepare();
    std::vector<Request> exchange(bool failed);
    void share_with_group();
    void describe(const std::vector<Request>& all);
    bool composite(std::size_t tile, const std::vector<Request>& all);
    TileImage& image_of(std::size_t tile);
    void keep_recent_images();
    void make_compositor(TileImage& tile, double density);
    void draw_into(TileImage& tile);
    Pixels given_planes() const;
    void clear(TileImage& tile, const Viewport& part) const;
    void empty(TileImage& tile) const;
    bool draws_directly(const TileImage& tile, const Viewport& part) const;
    void render(const Viewport& view, const Viewport& readback, TileImage* direct = nullptr);
    void render_part(TileImage& tile, Viewport& part, Viewport& readback);
    void finish();

    Context& context_;
    const Rendered* given_;
    double began_, render_time_ = 0, read_time_ = 0, blend_time_ = 0, wait_time_ = 0;
    bool reports_ = false; ///< rank 0 writes a page
    Bytes sent_ = 0;
    bool has_matrices_ = false, has_background_ = false;
    Matrix projection_{}, modelview_{};
    std::array<IceTFloat, 4> true_background_{}, background_{};
    std::vector<Viewport> tiles_;
    std::vector<IceTInt> displays_;
    Viewport whole_{};
    Viewport drawn_{}; ///< what this rank draws
    Projected projected_;
    Composition composition_;
    std::optional<Viewport> floating_; ///< the view that has been rendered for several tiles
    std::vector<TileImage*> images_;
    bool direct_ = false; ///< the callback wrote to the image that is composited
};

void Frame::check() const {
    if (!has_background_)
        throw Raised(ICET_INVALID_VALUE, "the background color is null");
    if (context_.number(ICET_STRATEGY) == -1)
        throw Raised(ICET_INVALID_OPERATION, "no strategy is set: call icetStrategy");
    if (context_.number(ICET_NUM_TILES) < 1)
        throw Raised(ICET_INVALID_OPERATION, "no tile is defined: call icetAddTile");
    if (!given_) {
        if (!has_matrices_)
            throw Raised(ICET_INVALID_VALUE, "a matrix is null");
        if (!context_.at(ICET_DRAW_FUNCTION).as<IceTDrawCallbackType>().at(0))
            throw Raised(ICET_INVALID_OPERATION, "no drawing function: call icetDrawCallback");
        return;
    }
    const bool lacks_color =
        !given_->color && context_.choice(ICET_COLOR_FORMAT) != ICET_IMAGE_COLOR_NONE;
    const bool lacks_depth =
        !given_->depth && context_.choice(ICET_DEPTH_FORMAT) != ICET_IMAGE_DEPTH_NONE;
    if ((lacks_color || lacks_depth) && !is_empty(given_->valid))
        throw Raised(ICET_INVALID_VALUE,
                     fmt::format("the {} buffer is null", lacks_color ? "color" : "depth"));
}

void Frame::prepare() {
    tiles_ = tiles_of(context_);
    displays_ = context_.numbers(ICET_DISPLAY_NODES);
    whole_ = context_.viewport(ICET_GLOBAL_VIEWPORT);
    const auto mode = context_.choice(ICET_COMPOSITE_MODE);
    composition_ = composition_of(context_.choice(ICET_COLOR_FORMAT),
                                  context_.choice(ICET_DEPTH_FORMAT), mode);
    // In blending, the background is added once, at the end.
    const bool blends = mode == ICET_COMPOSITE_MODE_BLEND;
    background_ = blends ? std::array<IceTFloat, 4>{0, 0, 0, 0} : true_background_;
    context_.set_floats(ICET_BACKGROUND_COLOR, background_);
    context_.set_number(ICET_BACKGROUND_COLOR_WORD, static_cast<IceTInt>(word_of(background_)));
    context_.set_floats(ICET_TRUE_BACKGROUND_COLOR, true_background_);
    context_.set_number(ICET_TRUE_BACKGROUND_COLOR_WORD,
                        static_cast<IceTInt>(word_of(true_background_)));
    context_.set_flag(ICET_NEED_BACKGROUND_CORRECTION,
                      blends && context_.enabled(ICET_CORRECT_COLORED_BACKGROUND));
    context_.set_flag(ICET_PRE_RENDERED, given_ != nullptr);
    if (has_matrices_) {
        context_.set_reals(ICET_PROJECTION_MATRIX, projection_);
        context_.set_reals(ICET_MODELVIEW_MATRIX, modelview_);
        const Value& bounds = context_.at(ICET_GEOMETRY_BOUNDS);
        projected_ = project(bounds.as<IceTDouble>(), product(projection_, modelview_), whole_);
    } else { // as in IceT, the bounds are then forgotten
        projected_ = {whole_, -1, 1};
        context_.set_reals(ICET_GEOMETRY_BOUNDS, {});
        context_.set_number(ICET_NUM_BOUNDING_VERTS, 0);
    }
    if (given_)
        projected_.pixels =
            common(projected_.pixels, {given_->valid[0] + whole_[0], given_->valid[1] + whole_[1],
                                       given_->valid[2], given_->valid[3]});
    drawn_ = projected_.pixels;
    share_with_group();
    projected_.pixels = drawn_;
}

/// Divides the rows that this rank draws among the ranks that have the same data.
void Frame::share_with_group() {
    const std::vector<IceTInt> group = context_.numbers(ICET_DATA_REPLICATION_GROUP);
    const auto members = static_cast<std::int64_t>(group.size());
    if (members < 2 || is_empty(drawn_))
        return;
    const std::int64_t member = std::ranges::find(group, context_.rank()) - group.begin();
    const auto row = [&](std::int64_t part) {
        return static_cast<IceTInt>(drawn_[3] * part / members);
    };
    const IceTInt first = row(member), last = row(member + 1);
    drawn_[1] += first;
    drawn_[3] = last - first;
    if (is_empty(drawn_))
        drawn_ = {0, 0, 0, 0};
}

/// Tells all ranks what each draws, and checks that they composite the same.
std::vector<Request> Frame::exchange(bool failed) {
    Request own;
    own.failed = failed ? 1 : 0;
    own.reports = context_.history ? 1 : 0;
    own.checks = context_.checks ? 1 : 0;
    own.before = context_.times;
    const double asked = wall_time();
    own.tiles = static_cast<std::int32_t>(tiles_.size());
    own.color_format = context_.number(ICET_COLOR_FORMAT);
    own.depth_format = context_.number(ICET_DEPTH_FORMAT);
    own.mode = context_.number(ICET_COMPOSITE_MODE);
    own.ordered = context_.enabled(ICET_ORDERED_COMPOSITE) ? 1 : 0;
    own.collects = context_.enabled(ICET_COLLECT_IMAGES) ? 1 : 0;
    own.layout = hash_of(context_.numbers(ICET_TILE_VIEWPORTS)) ^
                 31 * hash_of(context_.numbers(ICET_DISPLAY_NODES));
    own.order = own.ordered ? hash_of(context_.numbers(ICET_COMPOSITE_ORDER)) : 0;
    own.drawn = drawn_;
    const std::vector<Request> all = context_.communicator().all_gather(own);
    wait_time_ = wall_time() - asked;
    reports_ = all[0].reports != 0;
    if (context_.history && context_.number(ICET_FRAME_COUNT) > 1) {
        std::vector<RankTimes> times;
        for (const Request& request : all)
            times.push_back(request.before);
        context_.history->add(std::move(times));
    }
    if (failed)
        return all; // its own error says more
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].failed)
            throw Raised(ICET_INVALID_OPERATION,
                         fmt::format("rank {} cannot draw this frame, and states why", rank));
    }
    const auto require = [&](const char* what, auto member) {
        for (std::size_t rank = 1; rank < all.size(); ++rank) {
            if (all[rank].*member != all[0].*member)
                throw Raised(ICET_INVALID_VALUE,
                             fmt::format("{} of rank {} differs from that of rank 0: {:#x}, {:#x}",
                                         what, rank, all[rank].*member, all[0].*member));
        }
    };
    require("SEXTANT_ICET_CHECK", &Request::checks);
    require("the number of tiles", &Request::tiles);
    require("the color format", &Request::color_format);
    require("the depth format", &Request::depth_format);
    require("the composite mode", &Request::mode);
    require("ICET_ORDERED_COMPOSITE", &Request::ordered);
    require("ICET_COLLECT_IMAGES", &Request::collects);
    require("the layout of tiles (a hash of it)", &Request::layout);
    require("the composite order (a hash of it)", &Request::order);
    describe(all);
    return all;
}

/// Sets the variables that describe which tiles are drawn.
void Frame::describe(const std::vector<Request>& all) {
    std::vector<IceTInt> list;
    std::vector<IceTBoolean> own_mask, masks;
    std::vector<IceTInt> counts(tiles_.size(), 0);
    IceTInt total = 0;
    for (const Request& request : all) {
        for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
            const bool draws = !is_empty(common(request.drawn, tiles_[tile]));
            masks.push_back(draws ? ICET_TRUE : ICET_FALSE);
            counts[tile] += draws ? 1 : 0;
            total += draws ? 1 : 0;
        }
    }
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        const bool draws = !is_empty(common(drawn_, tiles_[tile]));
        own_mask.push_back(draws ? ICET_TRUE : ICET_FALSE);
        if (draws)
            list.push_back(static_cast<IceTInt>(tile));
    }
    const auto set_flags = [&](IceTEnum name, const std::vector<IceTBoolean>& flags) {
        context_.at(name).set(ICET_BOOLEAN, std::span<const IceTBoolean>(flags));
    };
    context_.set_numbers(ICET_CONTAINED_VIEWPORT, projected_.pixels);
    context_.set_real(ICET_NEAR_DEPTH, projected_.near);
    context_.set_real(ICET_FAR_DEPTH, projected_.far);
    context_.set_number(ICET_NUM_CONTAINED_TILES, static_cast<IceTInt>(list.size()));
    context_.set_numbers(ICET_CONTAINED_TILES_LIST, list);
    set_flags(ICET_CONTAINED_TILES_MASK, own_mask);
    set_flags(ICET_ALL_CONTAINED_TILES_MASKS, masks);
    context_.set_numbers(ICET_TILE_CONTRIB_COUNTS, counts);
    context_.set_number(ICET_TOTAL_IMAGE_COUNT, total);
    std::vector<double> flat;
    for (const Viewport& tile : tiles_) {
        const Matrix matrix = product(projection_onto(tile, whole_), projection_);
        flat.insert(flat.end(), matrix.begin(), matrix.end());
    }
    context_.set_reals(ICET_TILE_PROJECTIONS, flat);
}

/// True if the callback may write to the image that is composited: then nothing is copied, but what
/// it may write outside `part` has to be emptied.
bool Frame::draws_directly(const TileImage& tile, const Viewport& part) const {
    return !has_depth(composition_.element) &&
           context_.number(ICET_PHYSICAL_RENDER_WIDTH) == tile.tile[2] &&
           context_.number(ICET_PHYSICAL_RENDER_HEIGHT) == tile.tile[3] &&
           2. * part[2] * part[3] >= 1. * tile.tile[2] * tile.tile[3];
}

/// Calls the draw callback for a view of the display.
void Frame::render(const Viewport& view, const Viewport& readback, TileImage* direct) {
    Pixels& pixels = context_.rendered;
    const IceTInt width = context_.number(ICET_PHYSICAL_RENDER_WIDTH);
    const IceTInt height = context_.number(ICET_PHYSICAL_RENDER_HEIGHT);
    Pixels borrowed;
    if (direct) {
        borrowed.color_format = direct->color_format;
        borrowed.width = width;
        borrowed.height = height;
        borrowed.color = borrowed_memory(direct->image.data(), direct->image.size());
    } else {
        pixels.shape(context_.choice(ICET_COLOR_FORMAT), context_.choice(ICET_DEPTH_FORMAT), width,
                     height);
    }
    const auto callback = context_.at(ICET_DRAW_FUNCTION).as<IceTDrawCallbackType>().at(0);
    const Viewport physical = {view[0], view[1], width, height};
    const Matrix projection = product(projection_onto(physical, whole_), projection_);
    context_.set_numbers(ICET_RENDERED_VIEWPORT, physical);
    const double before = wall_time();
    callback(projection.data(), modelview_.data(), background_.data(), readback.data(),
             handle(direct ? &borrowed : &pixels));
    render_time_ += wall_time() - before;
}

/// Renders this rank's part of a tile. `part`: the part, in pixels of the display; `readback`:
/// where it is in the rendered image.
void Frame::render_part(TileImage& tile, Viewport& part, Viewport& readback) {
    part = common(drawn_, tile.tile);
    const IceTInt width = context_.number(ICET_PHYSICAL_RENDER_WIDTH);
    const IceTInt height = context_.number(ICET_PHYSICAL_RENDER_HEIGHT);
    if (width < tile.tile[2] || height < tile.tile[3])
        throw Raised(
            ICET_INVALID_VALUE,
            fmt::format("images of {}x{} pixels are rendered (icetPhysicalRenderSize), but "
                        "a tile has {}x{}",
                        width, height, tile.tile[2], tile.tile[3]));
    const bool floats = part != drawn_ && context_.enabled(ICET_FLOATING_VIEWPORT) &&
                        drawn_[2] <= width && drawn_[3] <= height;
    if (floats) { // one image for all tiles
        if (!floating_) {
            floating_ = drawn_;
            render(drawn_, {0, 0, drawn_[2], drawn_[3]});
        }
        readback = {part[0] - drawn_[0], part[1] - drawn_[1], part[2], part[3]};
        return;
    }
    floating_.reset();
    readback = {part[0] - tile.tile[0], part[1] - tile.tile[1], part[2], part[3]};
    direct_ = draws_directly(tile, part);
    render(tile.tile, readback, direct_ ? &tile : nullptr);
}

void Frame::clear(TileImage& tile, const Viewport& part) const {
    const Bytes size = tile.blend.element.size;
    for (IceTInt y = part[1]; y < part[1] + part[3]; ++y)
        tile.blend.fill_identity(tile.image.data() + (Elements{y} * tile.tile[2] + part[0]) * size,
                                 part[2]);
}

void Frame::empty(TileImage& tile) const {
    clear(tile, {0, 0, tile.tile[2], tile.tile[3]});
    tile.drawn = {0, 0, 0, 0};
}

/// Writes what this rank draws to its image of a tile, and empties the rest.
void Frame::draw_into(TileImage& tile) {
    Viewport part = {0, 0, 0, 0}, readback = {0, 0, 0, 0};
    direct_ = false;
    if (given_)
        part = common(drawn_, tile.tile);
    else if (!is_empty(common(drawn_, tile.tile)))
        render_part(tile, part, readback);
    else if (context_.enabled(ICET_RENDER_EMPTY_IMAGES))
        render(tile.tile, {0, 0, 0, 0});
    const double before = wall_time();
    const Viewport at =
        is_empty(part) ? Viewport{0, 0, 0, 0}
                       : Viewport{part[0] - tile.tile[0], part[1] - tile.tile[1], part[2], part[3]};
    if (direct_) {
        const IceTInt width = tile.tile[2], height = tile.tile[3];
        const IceTInt right = at[0] + at[2], top = at[1] + at[3];
        clear(tile, {0, 0, width, at[1]});
        clear(tile, {0, top, width, height - top});
        clear(tile, {0, at[1], at[0], at[3]});
        clear(tile, {right, at[1], width - right, at[3]});
    } else if (at != tile.drawn) {
        clear(tile, tile.drawn);
    }
    tile.drawn = at;
    if (!direct_ && !is_empty(at)) {
        if (given_)
            pack(given_planes(), {part[0] - whole_[0], part[1] - whole_[1], part[2], part[3]},
                 composition_, tile.image.data(), at[0], at[1], tile.tile[2]);
        else
            pack(context_.rendered, readback, composition_, tile.image.data(), at[0], at[1],
                 tile.tile[2]);
    }
    read_time_ += wall_time() - before;
}

/// The caller's planes (icetCompositeImage), for the duration of the call.
Pixels Frame::given_planes() const {
    Pixels planes;
    planes.color_format = context_.choice(ICET_COLOR_FORMAT);
    planes.depth_format = context_.choice(ICET_DEPTH_FORMAT);
    planes.width = whole_[2];
    planes.height = whole_[3];
    if (given_->color)
        planes.color =
            borrowed_memory(given_->color, planes.count() * color_size(planes.color_format));
    if (given_->depth)
        planes.depth =
            borrowed_memory(given_->depth, planes.count() * depth_size(planes.depth_format));
    return planes;
}

/// The image of a tile: that of earlier frames, if they were alike.
TileImage& Frame::image_of(std::size_t tile) {
    const auto color = context_.choice(ICET_COLOR_FORMAT);
    const auto depth = context_.choice(ICET_DEPTH_FORMAT);
    const auto mode = context_.choice(ICET_COMPOSITE_MODE);
    const bool collects = context_.enabled(ICET_COLLECT_IMAGES) || tiles_.size() > 1;
    for (auto& kept : context_.tiles) {
        if (kept->tile == tiles_[tile] && kept->color_format == color &&
            kept->depth_format == depth && kept->mode == mode && kept->collects == collects &&
            kept->display == displays_[tile])
            return *kept;
    }
    auto made = std::make_unique<TileImage>();
    made->tile = tiles_[tile];
    made->color_format = color;
    made->depth_format = depth;
    made->mode = mode;
    made->display = displays_[tile];
    made->collects = collects;
    made->blend = kernel::find(composition_.blend, composition_.element);
    made->image = context_.communicator().memory(Elements{made->tile[2]} * made->tile[3] *
                                                 composition_.element.size);
    empty(*made);
    context_.tiles.push_back(std::move(made));
    return *context_.tiles.back();
}

/// Drops the images that were used longest ago: windows that are resized leave many. Called when
/// all ranks have composited the frame, so all drop the same ones.
void Frame::keep_recent_images() {
    const auto is_used = [this](const auto& kept) {
        return std::ranges::find(images_, kept.get()) != images_.end();
    };
    std::ranges::stable_partition(context_.tiles, std::not_fn(is_used));
    constexpr std::size_t most_kept = 8;
    const std::size_t most = most_kept + images_.size();
    if (context_.tiles.size() > most)
        context_.tiles.erase(context_.tiles.begin(),
                             context_.tiles.end() - static_cast<std::ptrdiff_t>(most));
}

/// Plans the compositing of a tile. Collective.
void Frame::make_compositor(TileImage& tile, double density) {
    CompositeOptions options;
    options.blend = composition_.blend;
    options.element = composition_.element;
    options.root = tile.collects ? tile.display : CompositeOptions::distributed;
    options.density = density;
    if (!tile.collects)
        options.interlace = planner::Interlace::off;
    tile.compositor.emplace(context_.communicator(), ImageShape{tile.tile[2], tile.tile[3]}, 1,
                            options);
    const planner::CompositingPlan& plan = tile.compositor->plan();
    History::Tile described{
        fmt::format("{}x{} pixels of {}", tile.tile[2], tile.tile[3], composition_.element.name),
        planner::text_of(plan.configuration), plan.reason};
    debug("icetDrawFrame",
          fmt::format("{}: {}: {}", described.name, described.plan, described.reason));
    if (!reports_)
        return;
    const std::optional<model::Prediction> predicted = tile.compositor->prediction();
    if (context_.history) {
        described.predicted = predicted ? predicted->seconds : 0;
        context_.history->add(std::move(described));
    }
}

/// Composites a tile; returns true if this rank then has pixels of it.
bool Frame::composite(std::size_t tile, const std::vector<Request>& all) {
    TileImage& kept = *images_[tile];
    if (!kept.compositor) {
        double drawn = 0;
        for (const Request& request : all) {
            const Viewport part = common(request.drawn, kept.tile);
            drawn += static_cast<double>(part[2]) * part[3];
        }
        const double pixels = static_cast<double>(kept.tile[2]) * kept.tile[3];
        make_compositor(kept,
                        std::clamp(drawn / pixels / static_cast<double>(all.size()), .001, 1.));
    }
    FrameOptions options;
    const std::vector<IceTInt> order = context_.numbers(ICET_COMPOSITE_ORDER);
    if (context_.enabled(ICET_ORDERED_COMPOSITE))
        options.order = order;
    const Elements count = Elements{kept.tile[2]} * kept.tile[3];
    const sextant::Frame frame = kept.compositor->composite(
        std::span<const std::byte>(kept.image.data(),
                                   static_cast<std::size_t>(count * composition_.element.size)),
        options);
    sent_ += kept.compositor->sent().bytes;
    if (context_.checks)
        check_frame(context_, kept, composition_, options.order, frame);
    const bool has_pixels = kept.collects ? displays_[tile] == context_.rank() : frame.count > 0;
    if (!has_pixels)
        return false;
    const double before = wall_time();
    const bool drops_depth =
        context_.enabled(ICET_COMPOSITE_ONE_BUFFER) && kept.color_format != ICET_IMAGE_COLOR_NONE;
    const bool keeps_depth = has_depth(composition_.element) && !drops_depth;
    context_.result.shape(kept.color_format,
                          keeps_depth ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE,
                          kept.tile[2], kept.tile[3]);
    unpack(frame.bytes, composition_, kept.blend, true_background_, frame.first, context_.result);
    blend_time_ += wall_time() - before;
    context_.set_number(ICET_VALID_PIXELS_TILE, static_cast<IceTInt>(tile));
    context_.set_number(ICET_VALID_PIXELS_OFFSET, static_cast<IceTInt>(frame.first));
    context_.set_number(ICET_VALID_PIXELS_NUM, static_cast<IceTInt>(frame.count));
    return true;
}

void Frame::finish() {
    const double total = wall_time() - began_;
    context_.set_real(ICET_RENDER_TIME, render_time_);
    context_.set_real(ICET_BUFFER_READ_TIME, read_time_);
    context_.set_real(ICET_BUFFER_WRITE_TIME, 0);
    context_.set_real(ICET_COMPRESS_TIME, 0);
    context_.set_real(ICET_INTERLACE_TIME, 0);
    context_.set_real(ICET_BLEND_TIME, blend_time_);
    context_.set_real(ICET_COLLECT_TIME, 0);
    context_.set_real(ICET_TOTAL_DRAW_TIME, total);
    context_.set_real(ICET_COMPOSITE_TIME, total - render_time_ - read_time_);
    context_.times = {static_cast<float>(render_time_), static_cast<float>(read_time_),
                      static_cast<float>(wait_time_),
                      static_cast<float>(total - render_time_ - read_time_ - wait_time_)};
    context_.set_number(ICET_BYTES_SENT, static_cast<IceTInt>(std::min<Bytes>(sent_, 2147483647)));
}

/// Sets the variables that state that a frame is being drawn, for its duration.
class Drawing {
  public:
    explicit Drawing(Context& context) : context_(context) {
        if (context.enabled(ICET_IS_DRAWING_FRAME))
            throw Raised(ICET_INVALID_OPERATION, "a frame is being drawn: recursive call");
        context.set_flag(ICET_IS_DRAWING_FRAME, true);
        context.set_number(ICET_FRAME_COUNT, context.number(ICET_FRAME_COUNT) + 1);
        context.set_number(ICET_VALID_PIXELS_TILE, -1);
        context.set_number(ICET_VALID_PIXELS_OFFSET, 0);
        context.set_number(ICET_VALID_PIXELS_NUM, 0);
    }
    ~Drawing() { context_.set_flag(ICET_IS_DRAWING_FRAME, false); }
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;

  private:
    Context& context_;
};

} // namespace
} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

IceTImage icetDrawFrame(const IceTDouble* projection_matrix, const IceTDouble* modelview_matrix,
                        const IceTFloat* background_color) {
    return guarded(__func__, icetImageNull(), [&] {
        Context& context = current();
        const Drawing drawing(context);
        return Frame(context, projection_matrix, modelview_matrix, background_color, nullptr).run();
    });
}

IceTImage icetCompositeImage(const IceTVoid* color_buffer, const IceTVoid* depth_buffer,
                             const IceTInt* valid_pixels_viewport,
                             const IceTDouble* projection_matrix,
                             const IceTDouble* modelview_matrix,
                             const IceTFloat* background_color) {
    return guarded(__func__, icetImageNull(), [&] {
        Context& context = current();
        const Viewport whole = context.viewport(ICET_GLOBAL_VIEWPORT);
        Rendered rendered{color_buffer, depth_buffer, {0, 0, whole[2], whole[3]}};
        if (valid_pixels_viewport) {
            Viewport valid;
            std::copy_n(valid_pixels_viewport, 4, valid.begin());
            if (!is_empty(valid) && common(valid, rendered.valid) != valid)
                report(ICET_INVALID_VALUE, "icetCompositeImage",
                       fmt::format("the valid pixels {}x{} at {}, {} are not all in the image of "
                                   "{}x{}",
                                   valid[2], valid[3], valid[0], valid[1], whole[2], whole[3]),
                       ICET_DIAG_WARNINGS);
            rendered.valid = common(valid, rendered.valid);
        }
        const Drawing drawing(context);
        return Frame(context, projection_matrix, modelview_matrix, background_color, &rendered)
            .run();
    });
}

} // extern "C"
