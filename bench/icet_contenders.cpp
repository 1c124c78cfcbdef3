// SPDX-License-Identifier: BSD-3-Clause
#include "bench/icet_contenders.hpp"

#include "sextant/command/composite/composite.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include <IceT.h>
#include <IceTMPI.h>

namespace sextant::bench {

namespace {

/// The colour channels of an image, as floats.
std::vector<float> colours(std::span<const std::byte> pixels, ElementFormat element) {
    constexpr std::size_t channels_a_pixel = 4;
    const auto size = static_cast<std::size_t>(element.size);
    const bool bytes = channels(element) == "u8";
    std::vector<float> values;
    values.reserve(pixels.size() / size * channels_a_pixel);
    for (std::size_t at = 0; at < pixels.size(); at += size) {
        const std::byte* const pixel = pixels.data() + at;
        for (std::size_t channel = 0; channel < channels_a_pixel; ++channel) {
            values.push_back(bytes ? static_cast<float>(pixel[channel]) / 255
                                   : reinterpret_cast<const float*>(pixel)[channel]);
        }
    }
    return values;
}

class Ours : public Contender {
  public:
    Ours(Carrier carrier, const lab::CompositeCase& what, const Image& image)
        : carrier_(std::move(carrier)), image_(image) {
        options_.blend = what.blend;
        options_.element = image.element();
        options_.root = what.collect ? 0 : CompositeOptions::distributed;
    }

    std::string name() const override { return carrier_.name; }
    void open() override {
        compositor_ =
            std::make_unique<Compositor>(carrier_.communicator, image_.shape(), 1, options_);
    }
    void redraw() override { write_anew(carrier_.image); }
    void frame() override { shown_ = compositor_->composite(carrier_.image); }
    void close() override { compositor_.reset(); }
    std::vector<float> picture() const override { return colours(shown_.bytes, image_.element()); }

  private:
    const Carrier carrier_;
    const Image& image_;
    CompositeOptions options_;
    std::unique_ptr<Compositor> compositor_;
    Frame shown_;
};

struct Strategy {
    const char* name;
    IceTEnum value;
};

constexpr Strategy strategies[] = {
    {"automatic", ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC},
    {"bswap", ICET_SINGLE_IMAGE_STRATEGY_BSWAP},
    {"bswap-folding", ICET_SINGLE_IMAGE_STRATEGY_BSWAP_FOLDING},
    {"radix-k", ICET_SINGLE_IMAGE_STRATEGY_RADIXK},
    {"radix-kr", ICET_SINGLE_IMAGE_STRATEGY_RADIXKR},
    {"tree", ICET_SINGLE_IMAGE_STRATEGY_TREE},
};

class Theirs : public Contender {
  public:
    Theirs(MPI_Comm comm, const lab::CompositeCase& what, Planes& planes, const Strategy& strategy)
        : what_(what), planes_(planes), strategy_(strategy) {
        int ranks = 0;
        MPI_Comm_size(comm, &ranks);
        order_.resize(static_cast<std::size_t>(ranks));
        std::iota(order_.begin(), order_.end(), 0);
        communicator_ = icetCreateMPICommunicator(comm);
    }
    ~Theirs() override { icetDestroyMPICommunicator(communicator_); }

    std::string name() const override { return strategy_.name; }

    void open() override {
        context_ = icetCreateContext(communicator_);
        icetDiagnostics(ICET_DIAG_ERRORS | ICET_DIAG_ALL_NODES);
        icetSetColorFormat(planes_.bytes() ? ICET_IMAGE_COLOR_RGBA_UBYTE
                                           : ICET_IMAGE_COLOR_RGBA_FLOAT);
        icetSetDepthFormat(planes_.depth() ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE);
        icetCompositeMode(planes_.depth() ? ICET_COMPOSITE_MODE_Z_BUFFER
                                          : ICET_COMPOSITE_MODE_BLEND);
        if (!planes_.depth()) {
            icetEnable(ICET_ORDERED_COMPOSITE);
            icetCompositeOrder(order_.data());
        }
        (what_.collect ? icetEnable : icetDisable)(ICET_COLLECT_IMAGES);
        icetStrategy(ICET_STRATEGY_SEQUENTIAL);
        icetSingleImageStrategy(strategy_.value);
        icetResetTiles();
        icetAddTile(0, 0, static_cast<IceTSizeType>(what_.shape.width),
                    static_cast<IceTSizeType>(what_.shape.height), 0);
    }

    void redraw() override { planes_.redraw(); }

    void frame() override {
        const std::array<IceTFloat, 4> background{};
        shown_ = icetCompositeImage(planes_.colour(), planes_.depth(), nullptr, nullptr, nullptr,
                                    background.data());
    }

    void close() override { icetDestroyContext(context_); }

    std::vector<float> picture() const override {
        const auto pixels = static_cast<std::size_t>(icetImageGetNumPixels(shown_));
        if (planes_.bytes())
            return colours(std::as_bytes(std::span(icetImageGetColorcub(shown_), 4 * pixels)),
                           rgba_u8);
        return colours(std::as_bytes(std::span(icetImageGetColorcf(shown_), 4 * pixels)), rgba_f32);
    }

  private:
    const lab::CompositeCase& what_;
    Planes& planes_;
    Strategy strategy_;
    std::vector<IceTInt> order_;
    IceTCommunicator communicator_;
    IceTContext context_{};
    IceTImage shown_{};
};

} // namespace

std::unique_ptr<Contender> ours(const Carrier& carrier, const lab::CompositeCase& what,
                                const Image& image) {
    return std::make_unique<Ours>(carrier, what, image);
}

Planes::Planes(const Image& image) : bytes_(channels(image.element()) == "u8") {
    const std::size_t pixel = bytes_ ? 4 : 16;
    const auto size = static_cast<std::size_t>(image.element().size);
    const auto pixels = static_cast<std::size_t>(image.shape().elements());
    colour_.resize(pixels * pixel);
    depth_.resize(has_depth(image.element()) ? pixels : 0);
    for (std::size_t i = 0; i < pixels; ++i) {
        const std::byte* const from = image.bytes().data() + i * size;
        std::memcpy(colour_.data() + i * pixel, from, pixel);
        if (!depth_.empty()) {
            std::memcpy(&depth_[i], from + pixel, sizeof(float));
            depth_[i] = std::min(depth_[i], 1.f);
        }
    }
}

void Planes::redraw() {
    write_anew(colour_);
    write_anew(std::as_writable_bytes(std::span(depth_)));
}

std::vector<std::string> icet_strategies() {
    std::vector<std::string> names;
    for (const Strategy& strategy : strategies)
        names.emplace_back(strategy.name);
    return names;
}

std::unique_ptr<Contender> icet(MPI_Comm comm, const lab::CompositeCase& what, Planes& planes,
                                const std::string& strategy) {
    const auto* const found =
        std::find_if(std::begin(strategies), std::end(strategies),
                     [&](const Strategy& each) { return each.name == strategy; });
    if (found == std::end(strategies))
        throw InvalidTask("IceT has no strategy '" + strategy + "'");
    return std::make_unique<Theirs>(comm, what, planes, *found);
}

} // namespace sextant::bench
