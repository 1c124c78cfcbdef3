// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/names.hpp"
#include "sextant/model/c3.hpp"
#include "sextant/model/hockney.hpp"
#include "sextant/model/loggp.hpp"
#include "sextant/model/loggp_star.hpp"
#include "sextant/model/model.hpp"
#include "sextant/model/p3pc.hpp"
#include "sextant/model/p3pc_extended.hpp"
#include "sextant/model/three_paths.hpp"

namespace sextant::model {

namespace {

constexpr std::string_view seinstra = "Seinstra and Koelma 2002, IEEE TPDS 13(7)";

constexpr Model models[] = {
    {"hockney", "a latency and a time per byte", "Hockney 1994, doi:10.1016/S0167-8191(06)80021-9",
     hockney},
    {"loggp", "latency, overhead, gap, gap per byte",
     "Alexandrov et al. 1995, doi:10.1145/215399.215427", loggp},
    {"loggp-star", "LogGP piecewise linear, as P-3PC was compared with it", seinstra, loggp_star},
    {"3pc", "three paths, each a line", seinstra, three_paths},
    {"p3pc", "three paths, piecewise linear, by memory layout", seinstra, p3pc},
    {"p3pc-extended", "P-3PC with block lengths, packing, gaps, protocols and contention",
     "Seinstra and Koelma 2002; Moritz and Frank 2001, IEEE TPDS 12(4)", p3pc_extended},
    {"c3", "supersteps with congestion of links and processors",
     "Hambrusch and Khokhar 1996, doi:10.1006/jpdc.1996.0010", c3}};

} // namespace

std::span<const Model> catalogue() {
    return models;
}

const Model& find(std::string_view name) {
    return find_by_name<Model>("model", name, models);
}

} // namespace sextant::model
