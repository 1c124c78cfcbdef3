// SPDX-License-Identifier: BSD-3-Clause
// The throughput of folds, compared with that of copying memory.
//
//   bench_kernel [--json] [CASES.json [MIB [ROUNDS]]]
//
// Method: a fold of k layers reads k images and writes one, a copy reads one image and writes one,
// so bytes per second are comparable where times are not. The copy is the C library's memcpy. An
// image has MIB mebibytes, by default four times the largest cache, so that a repetition finds none
// of its data in the cache. With smaller images, each case is repeated until 64 MiB are written,
// and the throughput is that of the caches. All pages are touched before. Times are CPU times of
// the thread, which other programs hardly affect. Every case runs once per round, in a new random
// order, and its rate is divided by that of the copy in the same round, so that drift of the
// machine affects both. Medians over the rounds with bootstrap intervals are reported, never
// minima.
#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using namespace sextant;

constexpr std::size_t most_layers = 8;
constexpr Bytes mebibyte = Bytes{1} << 20;

/// Images filled with numbers between 1/4 and 1, which every format can represent: random numbers
/// or, if `coherent`, one number per layer.
std::vector<Memory> make_images(Bytes size, bool coherent) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> number(.25f, 1);
    std::vector<Memory> images;
    for (std::size_t k = 0; k < most_layers; ++k) {
        images.emplace_back(size);
        auto* const words = reinterpret_cast<float*>(images[k].data());
        const float own = number(random);
        std::generate_n(words, size / 4, [&] { return coherent ? own : number(random); });
    }
    return images;
}

struct Case {
    std::string name;
    const Operator* op = nullptr; ///< null for memcpy
    std::size_t layers = 1;
    bool coherent = false;
    /// One value per round: bytes per second, and its ratio to that of memcpy.
    std::vector<double> rates, shares;
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases(1);
    cases[0].name = "copy";
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases")) {
        Case made;
        const std::string element = row.at("element"), name = row.at("operator");
        made.layers = row.at("layers");
        made.coherent = row.value("depth", "random") == "coherent";
        made.name =
            fmt::format("{}, {}{}", name, element,
                        row.contains("depth") ? made.coherent ? ", coherent" : ", random" : "");
        for (const Operator& op : kernel::find_family(name).operators) {
            if (op.element.name == element)
                made.op = &op;
        }
        if (!made.op || made.layers > most_layers)
            throw std::invalid_argument(made.name + ": no such case");
        cases.push_back(std::move(made));
    }
    return cases;
}

double seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Bytes read and written per second.
double rate(const Case& of, const std::vector<Memory>& images, Memory& to) {
    std::vector<const std::byte*> sources;
    for (std::size_t k = 0; k < of.layers; ++k)
        sources.push_back(images[k].data());
    const Bytes repeats = std::max<Bytes>(1, 64 * mebibyte / to.size());
    const double begin = seconds();
    for (Bytes i = 0; i < repeats; ++i) {
        if (of.op)
            of.op->fold(sources, to.data(), to.size() / of.op->element.size);
        else
            std::memcpy(to.data(), sources[0], static_cast<std::size_t>(to.size()));
    }
    const double took = seconds() - begin;
    return static_cast<double>((of.layers + 1) * to.size() * repeats) / took;
}

void run_rounds(std::vector<Case>& cases, Bytes size, int rounds) {
    const std::vector<Memory> random = make_images(size, false), coherent = make_images(size, true);
    Memory to(size);
    std::fill(to.bytes().begin(), to.bytes().end(), std::byte{1});
    std::vector<Case*> order;
    for (Case& one : cases)
        order.push_back(&one);
    std::mt19937 shuffle(11);
    for (int round = -1; round < rounds; ++round) { // round -1 is warm-up
        std::shuffle(order.begin(), order.end(), shuffle);
        for (Case* one : order)
            one->rates.push_back(rate(*one, one->coherent ? coherent : random, to));
        for (Case& one : cases) {
            if (round < 0)
                one.rates.clear();
            else
                one.shares.push_back(one.rates.back() / cases[0].rates.back());
        }
    }
}

void print_table(const std::vector<Case>& cases) {
    fmt::print("{:<34} {:>6} {:>7} {:>8} {:>6}\n", "fold", "layers", "GB/s", "Gpixel/s", "share");
    for (const Case& one : cases) {
        const double bytes = median(one.rates);
        const auto moved = static_cast<double>(one.layers + 1) *
                           static_cast<double>(one.op ? one.op->element.size : 0);
        const Interval share = interval_of_median(one.shares);
        fmt::print("{:<34} {:>6} {:>7.1f} {:>8} {:>6.2f} [{:.2f}, {:.2f}]\n", one.name, one.layers,
                   bytes * 1e-9, one.op ? fmt::format("{:.2f}", bytes / moved * 1e-9) : "",
                   median(one.shares), share.low, share.high);
    }
}

void print_json(const std::vector<Case>& cases, Bytes size, int rounds) {
    nlohmann::ordered_json json = {{"bytes_an_image", size}, {"rounds", rounds}};
    for (const Case& one : cases) {
        const Interval share = interval_of_median(one.shares);
        json["cases"].push_back({{"name", one.name},
                                 {"layers", one.layers},
                                 {"bytes_a_second", median(one.rates)},
                                 {"share_of_copy", median(one.shares)},
                                 {"interval", {share.low, share.high}}});
    }
    fmt::print("{}\n", json.dump(2));
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool as_json = std::erase(arguments, "--json") > 0;
    const auto argument = [&](std::size_t i, const std::string& usual) {
        return i < arguments.size() ? arguments[i] : usual;
    };
    std::ifstream file(argument(0, "bench/cases/kernel.json"));
    const Bytes cache = std::max<Bytes>(sysconf(_SC_LEVEL3_CACHE_SIZE), 8 * mebibyte);
    const Bytes size = std::stoll(argument(1, std::to_string(4 * cache / mebibyte))) * mebibyte;
    const int rounds = std::stoi(argument(2, "15"));
    if (!file || size <= 0 || rounds < 5) {
        fmt::print(stderr, "usage: bench_kernel [--json] [CASES.json [MIB [ROUNDS]]]\n");
        return 2;
    }
    std::vector<Case> cases = read_cases(file);
    run_rounds(cases, size, rounds);
    if (as_json)
        print_json(cases, size, rounds);
    else
        print_table(cases);
}
