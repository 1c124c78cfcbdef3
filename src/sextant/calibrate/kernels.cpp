// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/kernels.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sextant::calibrate {

namespace {

/// A file in the system's folder for temporary files.
ScratchFile scratch_file() {
    return ScratchFile((std::filesystem::temp_directory_path() / "calibration").string());
}

std::span<std::byte> bytes_of(const Computation& computation) {
    const Blocks& place = computation.places[0];
    return {place.base, static_cast<std::size_t>(place.bytes())};
}

/// Makes a run that reads or writes a file; the elements of its step are bytes.
Timed timed_file(const Cell& cell, Kernel kernel) {
    Operator bytes;
    bytes.element = {"byte", 1};
    ProgramBuilder builder;
    const Region moved = builder.in_out(cell.elements);
    builder.compute(0, {}, {moved});
    return {{builder.finish({})}, bytes, 1, {}, {std::move(kernel)}};
}

// Runs that read, or rewrite, about `cell.elements` bytes of a private file. They measure access to
// the page cache; disk access is not part of any profile.

Timed timed_reading(const Cell& cell) {
    const auto file = std::make_shared<ScratchFile>(scratch_file());
    file->write(0, std::vector<std::byte>(static_cast<std::size_t>(cell.elements)));
    return timed_file(cell, [file](const Computation& computation) {
        // Reads into untouched memory, as for images, because page faults cost more than the read.
        Memory fresh(computation.made[0].elements());
        file->read(0, fresh.bytes());
        std::ranges::copy(fresh.bytes().first(1), bytes_of(computation).begin());
    });
}

Timed timed_writing(const Cell& cell) {
    const auto file = std::make_shared<ScratchFile>(scratch_file());
    return timed_file(cell, [file](const Computation& computation) {
        file->clear();
        file->write(0, bytes_of(computation));
    });
}

/// Filters, in increasing order of cost per result.
struct TimedFilter {
    double sigma;
    std::vector<std::string> features;

    kernel::FilterBank bank() const { return {sigma, features}; }
};

const std::vector<TimedFilter>& timed_filters() {
    static const std::vector<std::string> five = {"x", "y", "xx", "xy", "yy"};
    static const std::vector<TimedFilter> filters = {
        {1, five}, {3, five}, {5, five}, {3, {"laplacian"}}, {5, {"laplacian"}}};
    return filters;
}

std::vector<int> filter_operands() {
    std::vector<int> operands;
    for (const TimedFilter& filter : timed_filters())
        operands.push_back(filter.bank().multiply_adds());
    return operands;
}

const TimedFilter& filter_of(const Cell& cell) {
    for (const TimedFilter& filter : timed_filters()) {
        if (filter.bank().multiply_adds() == cell.operands)
            return filter;
    }
    throw std::logic_error("no timed filter has the requested number of multiply-adds");
}

/// Filters a square image as a step of a schedule would.
Kernel filter_kernel(const TimedFilter& filter, Elements side) {
    const auto bank = std::make_shared<kernel::FilterBank>(filter.bank());
    return [bank, side](const Computation& computation) {
        const auto* const image = reinterpret_cast<const float*>(
            computation.buffers[static_cast<std::size_t>(computation.read[0].buffer)]);
        const Tile all{0, 0, side, side};
        std::vector<kernel::Plane> planes;
        for (const Blocks& place : computation.places)
            planes.push_back({reinterpret_cast<float*>(place.base), side});
        bank->apply({image, side, all, {side, side}}, all, planes, computation.progress);
    };
}

Timed timed_filter(const Cell& cell) {
    const TimedFilter& filter = filter_of(cell);
    const auto planes = static_cast<Elements>(filter.features.size());
    const auto side = static_cast<Elements>(std::sqrt(static_cast<double>(cell.elements / planes)));
    const Elements pixels = side * side;
    constexpr Elements worth_timing = 1 << 16;
    const auto repeats = static_cast<int>(
        std::clamp<Elements>(worth_timing / std::max<Elements>(1, cell.elements), 1, 32));
    ProgramBuilder builder;
    const Region image = builder.in_out(pixels), results = builder.in_out(planes * pixels);
    std::vector<Region> made;
    for (Elements k = 0; k < planes; ++k)
        made.push_back(block(results.buffer, k * pixels, pixels));
    for (int i = 0; i < repeats; ++i)
        builder.compute(0, {&image, 1}, made);
    Operator floats;
    floats.element = gray_f32;
    // A square may have fewer elements than requested.
    const double share = static_cast<double>(planes * pixels) / static_cast<double>(cell.elements);
    return {{builder.finish({})}, floats, repeats * share, {}, {filter_kernel(filter, side)}};
}

std::vector<int> one_operand() {
    return {1};
}

const TimedKernel kernels[] = {{"gaussian-derivatives", "f32", filter_operands, timed_filter},
                               {"read-file", "u8", one_operand, timed_reading, true, 1 << 16},
                               {"write-file", "u8", one_operand, timed_writing, true, 1 << 16}};

} // namespace

std::span<const TimedKernel> timed_kernels() {
    return kernels;
}

const TimedKernel& find_timed_kernel(std::string_view name) {
    for (const TimedKernel& kernel : kernels) {
        if (kernel.name == name)
            return kernel;
    }
    throw std::logic_error("no kernel " + std::string(name) + " is timed");
}

} // namespace sextant::calibrate
