// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cells.hpp"

#include <random>

namespace sextant::test {

/// A machine with known costs, measured on its own clock. It adds noise of a few per cent, and
/// occasional interruptions as if by another program.
class SyntheticMachine : public calibrate::Stopwatch {
  public:
    explicit SyntheticMachine(unsigned seed, double noise = .02) : random_(seed), noise_(noise) {}

    double state = 1;          ///< factor on all times
    double distance = 1;       ///< factor on the time per byte of a round trip
    double interruptions = .1; ///< fraction of samples that are disturbed

    static constexpr Bytes eager_limit = 5000;

    static Seconds full(Bytes bytes) {
        const Seconds rendezvous = bytes > eager_limit ? 4e-6 : 0;
        return bytes <= 1 ? 1e-6 : 1e-6 + rendezvous + 2.5e-10 * static_cast<double>(bytes);
    }
    static Seconds strided(Bytes bytes, Bytes block) {
        return full(bytes) + 2e-9 * static_cast<double>(bytes / block);
    }
    static Seconds gap(Bytes bytes) { return 3e-7 + 2e-10 * static_cast<double>(bytes); }
    static Seconds pass(Elements elements, int operands) {
        return 5e-8 + 5e-10 * static_cast<double>(elements) * (operands - 1);
    }
    static Seconds kernel(Elements elements, int operands) {
        return 1e-6 + (1e-9 + 1e-10 * operands) * static_cast<double>(elements);
    }
    static Seconds truth(const calibrate::Cell& cell) {
        using calibrate::Kind;
        switch (cell.kind) {
        case Kind::round_trip:
            if (cell.strategy == machine::Strategy::lending)
                return full(1) + 2e-7 + pass(cell.bytes / 16, 2);
            return full(1) + (cell.layout == machine::Layout::cc ? full(cell.bytes)
                                                                 : strided(cell.bytes, cell.block));
        case Kind::stream:
            return gap(cell.bytes);
        case Kind::pass:
            return pass(cell.elements, cell.operands);
        case Kind::kernel:
            return kernel(cell.elements, cell.operands);
        case Kind::copy:
            return 1e-10 * static_cast<double>(cell.bytes);
        }
        return 0;
    }

    std::vector<calibrate::Sample> burst(const calibrate::Cell& cell) override {
        std::normal_distribution<double> spread(0, noise_);
        std::uniform_real_distribution<double> chance(0, 1);
        std::vector<calibrate::Sample> samples(8);
        for (calibrate::Sample& sample : samples) {
            sample.disturbed = chance(random_) < interruptions;
            for (Seconds& seconds : sample.seconds) {
                seconds = state * (truth(cell) + farther(cell)) * std::exp(spread(random_));
                if (sample.disturbed)
                    seconds *= 20;
            }
            elapsed_ += sample.seconds[0];
        }
        elapsed_ += 1e-5;
        ++bursts;
        return samples;
    }
    Seconds elapsed() const override { return elapsed_; }

    int bursts = 0;

  private:
    /// Additional time of a round trip between distant cores.
    Seconds farther(const calibrate::Cell& cell) const {
        return cell.kind == calibrate::Kind::round_trip
                   ? (distance - 1) * 2.5e-10 * static_cast<double>(cell.bytes)
                   : 0;
    }

    std::mt19937 random_;
    double noise_;
    Seconds elapsed_ = 0;
};

} // namespace sextant::test
