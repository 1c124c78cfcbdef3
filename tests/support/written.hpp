// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {

/// A program from text: sentences separated by semicolons, of which the last names the result.
/// `input a 4`, `in_out a 4`, `output a 4` and `scratch a 4` declare buffers. The steps are
/// `send 1 a`, `receive 0 a`, `copy to from`, `fold to a b` and `compute from to` (with kernel 0);
/// `round 1` and `window 1` apply to the steps that follow. A region is a buffer, some of its
/// elements (`a[1+3]`: three from element 1), or `a[offset,length,stride,count]`. `peer` in the
/// text stands for this number.
inline Program written(const std::string& text, int peer = 0) {
    ProgramBuilder builder;
    std::map<std::string, Region> buffers;
    const auto region = [&](const std::string& name) {
        const std::size_t at = name.find('[');
        const Region whole = buffers.at(name.substr(0, at));
        long long n[4] = {};
        if (at == std::string::npos)
            return whole;
        if (std::sscanf(&name[at], "[%lld+%lld]", &n[0], &n[1]) == 2)
            return block(whole.buffer, n[0], n[1]);
        EXPECT_EQ(std::sscanf(&name[at], "[%lld,%lld,%lld,%lld]", &n[0], &n[1], &n[2], &n[3]), 4);
        return Region{whole.buffer, n[0], n[1], n[2], n[3]};
    };
    std::istringstream sentences(text);
    for (std::string sentence; std::getline(sentences, sentence, ';');) {
        std::istringstream words(sentence);
        std::string verb, first, word;
        words >> verb >> first;
        const int number = first == "peer" ? peer : std::atoi(first.c_str());
        std::vector<Region> regions;
        if (const std::map<std::string, Role> roles{{"input", Role::input},
                                                    {"in_out", Role::in_out},
                                                    {"output", Role::output},
                                                    {"scratch", Role::scratch}};
            roles.contains(verb)) {
            Elements size = 0;
            words >> size;
            buffers[first] = builder.buffer({roles.at(verb), size});
            continue;
        }
        while (words >> word)
            regions.push_back(region(word));
        if (verb == "send")
            builder.send(number, regions);
        else if (verb == "receive")
            builder.receive(number, regions);
        else if (verb == "copy")
            builder.copy(region(first), regions.at(0));
        else if (verb == "fold")
            builder.fold(region(first), regions);
        else if (verb == "compute")
            builder.compute(0, {region(first)}, {regions.at(0)});
        else if (verb == "round")
            builder.round(number);
        else if (verb == "window")
            builder.window(number);
        else
            return builder.finish(verb == "result" ? region(first) : Region{});
    }
    return builder.finish({});
}

} // namespace sextant::test
