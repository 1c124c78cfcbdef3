// SPDX-License-Identifier: BSD-3-Clause
// Compositing beside IceT, what ParaView, VTK and VisIt composite with.
//
//   mpirun -n N bench_icet [cases/icet.json] [ROUNDS]
//
// Why the measurement is right: both blend the same images, in the same order, on the same
// processes and communicator. They alternate in blocks within one run, in another order each round;
// every block begins with a context (IceT) or a compositor (ours) of its own and one frame that is
// not timed. Before each frame a rank's image is written anew, as a renderer would; frames are
// timed one by one between barriers, by the slowest rank. Each round gives one ratio to each of
// IceT's strategies; the table shows that to the one with the least median. Pictures are compared
// first.
#include "sextant/comm/mpi.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/operation/bench_cases.hpp"
#include "sextant/operation/compositor.hpp"
#include "sextant/operation/element.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <IceT.h>
#include <IceTMPI.h>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;

constexpr int frames_a_block = 3;

/// One way to composite a case: what a block begins with, a frame, and its end.
class Way {
  public:
    virtual ~Way() = default;
    virtual std::string name() const = 0;
    virtual void open() = 0;
    virtual void frame() = 0;
    virtual void close() = 0;
    /// After a frame that rank 0 collected, there: its colours, as floats.
    virtual std::vector<float> picture() const = 0;
};

/// Colours of an image, channel by channel.
std::vector<float> colours(std::span<const std::byte> pixels, ElementFormat element) {
    std::vector<float> values;
    for (std::size_t at = 0; at < pixels.size(); at += static_cast<std::size_t>(element.size)) {
        for (std::size_t channel = 0; channel < 4; ++channel) {
            const std::byte* const pixel = pixels.data() + at;
            values.push_back(channels(element) == "u8"
                                 ? static_cast<float>(pixel[channel]) / 255
                                 : reinterpret_cast<const float*>(pixel)[channel]);
        }
    }
    return values;
}

class Ours : public Way {
  public:
    Ours(const Communicator& communicator, const operation::CompositeCase& what, const Image& image)
        : communicator_(communicator), image_(image) {
        options_.blend = what.blend;
        options_.element = image.element();
        options_.root = what.collect ? 0 : CompositeOptions::distributed;
    }

    std::string name() const override { return "sextant"; }
    void open() override {
        compositor_ = std::make_unique<Compositor>(communicator_, image_.shape(), 1, options_);
    }
    void frame() override { shown_ = compositor_->composite(image_.bytes()); }
    void close() override { compositor_.reset(); }
    std::vector<float> picture() const override { return colours(shown_.bytes, image_.element()); }

  private:
    const Communicator& communicator_;
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
    {"bswap folding", ICET_SINGLE_IMAGE_STRATEGY_BSWAP_FOLDING},
    {"radix-k", ICET_SINGLE_IMAGE_STRATEGY_RADIXK},
    {"radix-kr", ICET_SINGLE_IMAGE_STRATEGY_RADIXKR},
    {"tree", ICET_SINGLE_IMAGE_STRATEGY_TREE},
};

/// A rank's image as IceT takes it: colours and depths apart, the farthest of them 1.
class Planes {
  public:
    explicit Planes(const Image& image) : bytes_(channels(image.element()) == "u8") {
        const std::size_t pixel = bytes_ ? 4 : 16, size = image.element().size;
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

    void draw_anew() {
        write_anew(colour_);
        write_anew(std::as_writable_bytes(std::span(depth_)));
    }
    const void* colour() const { return colour_.data(); }
    const void* depth() const { return depth_.empty() ? nullptr : depth_.data(); }
    bool bytes() const { return bytes_; }

  private:
    bool bytes_;
    std::vector<std::byte> colour_;
    std::vector<float> depth_;
};

class Theirs : public Way {
  public:
    Theirs(MPI_Comm comm, const operation::CompositeCase& what, const Planes& planes,
           const Strategy& strategy)
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
    const operation::CompositeCase& what_;
    const Planes& planes_;
    Strategy strategy_;
    std::vector<IceTInt> order_;
    IceTCommunicator communicator_;
    IceTContext context_{};
    IceTImage shown_{};
};

/// One case: its images, all ways, and what they took.
class Match {
  public:
    Match(MPI_Comm comm, const operation::CompositeCase& what)
        : communicator_(from_mpi(comm)),
          what_(what),
          image_(what.shape,
                 kernel::find(what.blend, operation::element_named(what.element, what.blend))
                     .element) {
        operation::fill_image(image_, what.image, communicator_.rank(), communicator_.size());
        planes_ = std::make_unique<Planes>(image_);
        ways_.push_back(std::make_unique<Ours>(communicator_, what_, image_));
        for (const Strategy& strategy : strategies)
            ways_.push_back(std::make_unique<Theirs>(comm, what_, *planes_, strategy));
        times_.resize(ways_.size());
    }

    void play(int rounds) {
        if (what_.collect)
            compare();
        std::vector<std::size_t> order(ways_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random(1); // the same on all ranks
        for (int round = 0; round < rounds; ++round) {
            std::shuffle(order.begin(), order.end(), random);
            for (const std::size_t way : order)
                times_[way].push_back(block(*ways_[way]));
        }
    }

    /// IceT's strategy with the least median.
    std::size_t best() const {
        std::size_t least = 1;
        for (std::size_t way = 2; way < ways_.size(); ++way) {
            if (median(times_[way]) < median(times_[least]))
                least = way;
        }
        return least;
    }

    nlohmann::ordered_json result() const {
        const std::size_t theirs = best();
        std::vector<double> ratios;
        for (std::size_t round = 0; round < times_[0].size(); ++round)
            ratios.push_back(times_[0][round] / times_[theirs][round]);
        const Interval interval = interval_of_median(ratios);
        nlohmann::ordered_json all;
        for (std::size_t way = 0; way < ways_.size(); ++way)
            all[ways_[way]->name()] = median(times_[way]) * 1e3;
        return {{"case", what_.name},
                {"ranks", communicator_.size()},
                {"collect", what_.collect},
                {"milliseconds", all},
                {"best", ways_[theirs]->name()},
                {"ratio", median(ratios)},
                {"interval", {interval.low, interval.high}}};
    }

  private:
    /// The median frame of a block, by the slowest rank each.
    double block(Way& way) {
        way.open();
        way.frame();
        std::vector<double> seconds;
        for (int i = 0; i < frames_a_block; ++i) {
            write_anew(image_.bytes());
            planes_->draw_anew();
            communicator_.barrier();
            const auto begin = std::chrono::steady_clock::now();
            way.frame();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            const std::vector<double> each = communicator_.all_gather(took.count());
            seconds.push_back(*std::max_element(each.begin(), each.end()));
        }
        way.close();
        return median(seconds);
    }

    /// Rounding may differ: a unit of a byte a rank, a few of a float.
    void compare() {
        std::vector<float> ours;
        for (const auto& way : ways_) {
            way->open();
            way->frame();
            if (communicator_.rank() == 0) {
                const std::vector<float> shown = way->picture();
                if (ours.empty())
                    ours = shown;
                double farthest = shown.size() == ours.size() ? 0 : INFINITY;
                for (std::size_t i = 0; i < shown.size() && i < ours.size(); ++i)
                    farthest = std::max(farthest, std::abs(double{shown[i]} - ours[i]));
                const double allowed = communicator_.size() * (planes_->bytes() ? 1. / 255 : 1e-6);
                if (farthest > allowed) {
                    fmt::print(stderr, "{}: '{}' differs from ours by {}\n", what_.name,
                               way->name(), farthest);
                    MPI_Abort(MPI_COMM_WORLD, 1);
                }
            }
            way->close();
        }
    }

    Communicator communicator_;
    operation::CompositeCase what_;
    Image image_;
    std::unique_ptr<Planes> planes_;
    std::vector<std::unique_ptr<Way>> ways_;
    std::vector<std::vector<double>> times_;
};

/// The cases that we do worst in come first.
void print(std::vector<nlohmann::ordered_json> results) {
    std::sort(results.begin(), results.end(),
              [](const auto& a, const auto& b) { return a["ratio"] > b["ratio"]; });
    for (const auto& result : results)
        fmt::print("{}\n", result.dump());
    fmt::print(
        "\n| case | ranks | IceT's best | ms | ours, ms | of IceT |\n|---|---|---|---|---|---|\n");
    for (const auto& result : results) {
        const std::string best = result["best"];
        fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} [{:.2f}, {:.2f}] |\n",
                   result["case"].get<std::string>(), result["ranks"].get<int>(), best,
                   result["milliseconds"][best].get<double>(),
                   result["milliseconds"]["sextant"].get<double>(), result["ratio"].get<double>(),
                   result["interval"][0].get<double>(), result["interval"][1].get<double>());
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        const std::string path = argc > 1 ? argv[1] : SEXTANT_SOURCE_DIR "/bench/cases/icet.json";
        const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
        std::vector<nlohmann::ordered_json> results;
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (const operation::CompositeCase& what : operation::read_composite_cases(path)) {
            Match match(MPI_COMM_WORLD, what);
            match.play(rounds);
            results.push_back(match.result());
        }
        if (rank == 0)
            print(std::move(results));
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        status = 1;
    }
    if (status != 0)
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return 0;
}
