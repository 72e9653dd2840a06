// What was counted in a run, batch by batch, and when its goodput is known well enough.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "ns3/core-module.h"

namespace batches {

using namespace ns3;

// What a node, or all stations together, did while it was measured.
struct Tally {
    // PPDUs of data, of TCP ACKs, and MPDUs in them.
    double data = 0;
    double mpdus = 0;
    double acks = 0;
    double ackMpdus = 0;
    double requests = 0;
    double failures = 0;
    double drops = 0;
    // Backoffs that were drawn, by CW.
    std::map<uint32_t, double> draws;
    // Frames without a Block ACK agreement that are done with, by how often they were sent.
    std::map<uint32_t, double> sent;
};

// All that was counted up to an instant.
struct Counts {
    std::map<std::string, double> bytes;
    Tally accessPoint;
    Tally stations;
    // Data between the access point and each station.
    std::map<uint32_t, Tally> pairs;
};

inline Counts counts;
// The same at the beginning and at the end of each batch of time.
inline std::vector<Counts> ends;
inline double batchLength;

// Student's t for 95 % in the middle.
inline double Student(std::size_t freedom) {
    const double normal = 1.959964;
    auto cube = std::pow(normal, 3);
    auto fifth = std::pow(normal, 5);
    double n = freedom;
    return normal + (cube + normal) / (4 * n) + (5 * fifth + 16 * cube + 3 * normal) / (96 * n * n);
}

inline double Bytes(const Counts& counted) {
    double sum = 0;
    for (const auto& [name, bytes] : counted.bytes) {
        sum += bytes;
    }
    return sum;
}

// Half width of the 95 % interval of the goodput over batches, as a share of it.
inline double Interval() {
    auto count = ends.size() - 1;
    auto mean = (Bytes(ends.back()) - Bytes(ends.front())) / count;
    double squares = 0;
    for (std::size_t batch = 0; batch < count; batch++) {
        auto own = Bytes(ends[batch + 1]) - Bytes(ends[batch]);
        squares += (own - mean) * (own - mean);
    }
    return Student(count - 1) * std::sqrt(squares / (count - 1) / count) / mean;
}

// Ends the run once the goodput is known. Batches that have become many become twice as long.
inline void EndBatch(double within, double most) {
    ends.push_back(counts);
    auto count = ends.size() - 1;
    if ((count >= 10 && Interval() <= within) || count * batchLength >= most) {
        Simulator::Stop();
        return;
    }
    if (count == 30) {
        for (std::size_t batch = 0; batch <= count / 2; batch++) {
            ends[batch] = ends[2 * batch];
        }
        ends.resize(count / 2 + 1);
        batchLength *= 2;
    }
    Simulator::Schedule(Seconds(batchLength), &EndBatch, within, most);
}

using Metrics = std::map<std::string, double>;

// What one or all did between two instants of a run in which they did `total`; shares are left out
// if there is a batch without any (`shares`).
inline void Add(Metrics& metrics, const std::string& who, const Tally& from, const Tally& to,
                const Tally& total, bool shares, bool alone) {
    auto data = to.data - from.data;
    auto acks = to.acks - from.acks;
    auto requests = to.requests - from.requests;
    metrics["data_ppdus_per_s_" + who] = data / batchLength;
    metrics["bar_ppdus_per_s_" + who] = requests / batchLength;
    metrics["retry_drops_per_s_" + who] = (to.drops - from.drops) / batchLength;
    if (total.acks > 0) {
        metrics["tcpack_ppdus_per_s_" + who] = acks / batchLength;
    }
    if (shares) {
        auto all = data + acks + requests;
        metrics["failed_ppdu_ratio_" + who] = (to.failures - from.failures) / all;
    }
    if (data > 0) {
        metrics["mpdus_per_data_ppdu_" + who] = (to.mpdus - from.mpdus) / data;
    }
    if (acks > 0) {
        metrics["mpdus_per_tcpack_ppdu_" + who] = (to.ackMpdus - from.ackMpdus) / acks;
    }
    auto at = [](const std::map<uint32_t, double>& counted, uint32_t key) {
        auto found = counted.find(key);
        return found == counted.end() ? 0 : found->second;
    };
    double draws = 0;
    double windows = 0;
    for (auto [window, count] : to.draws) {
        draws += count - at(from.draws, window);
        windows += window * (count - at(from.draws, window));
    }
    if (shares) {
        metrics["mean_cw_" + who] = windows / draws;
    }
    if (!alone || !shares) {
        return;
    }
    for (auto [window, count] : total.draws) {
        metrics["draws_" + who + " cw=" + std::to_string(window)] =
            (at(to.draws, window) - at(from.draws, window)) / draws;
    }
    for (auto [times, count] : total.sent) {
        metrics["frames_per_s_" + who + " sent=" + std::to_string(times)] =
            (at(to.sent, times) - at(from.sent, times)) / batchLength;
    }
}

// Whether there were PPDUs and draws in each batch.
inline bool HasShares(Tally Counts::*who) {
    auto isEmpty = [who](const Counts& from, const Counts& to) {
        return (to.*who).data + (to.*who).acks == (from.*who).data + (from.*who).acks;
    };
    return std::adjacent_find(ends.begin(), ends.end(), isEmpty) == ends.end();
}

// A list with the metrics of each batch; `alone`: frames are not aggregated.
inline void Print(bool alone) {
    // A metric of some batches is one of none: the rows are over all of them.
    std::map<std::string, std::size_t> seen;
    std::vector<Metrics> all;
    auto ofAccessPoint = HasShares(&Counts::accessPoint);
    auto ofStations = HasShares(&Counts::stations);
    std::cout.precision(10);
    std::string before = "[";
    for (std::size_t batch = 0; batch + 1 < ends.size(); batch++) {
        const auto& from = ends[batch];
        const auto& to = ends[batch + 1];
        Metrics metrics;
        metrics["goodput_bps"] = 8 * (Bytes(to) - Bytes(from)) / batchLength;
        for (const auto& [name, bytes] : to.bytes) {
            metrics["goodput_bps " + name.substr(0, name.find('/'))] +=
                8 * (bytes - from.bytes.at(name)) / batchLength;
            metrics["flow_goodput_bps " + name] = 8 * (bytes - from.bytes.at(name)) / batchLength;
        }
        for (const auto& [station, pair] : to.pairs) {
            auto before = from.pairs.find(station);
            auto name = " sta" + std::to_string(station);
            auto data = pair.data - (before == from.pairs.end() ? 0 : before->second.data);
            auto mpdus = pair.mpdus - (before == from.pairs.end() ? 0 : before->second.mpdus);
            metrics["data_ppdus_per_s" + name] = data / batchLength;
            if (data > 0) {
                metrics["mpdus_per_data_ppdu" + name] = mpdus / data;
            }
        }
        Add(metrics, "ap", from.accessPoint, to.accessPoint, ends.back().accessPoint,
            ofAccessPoint, alone);
        Add(metrics, "stations", from.stations, to.stations, ends.back().stations,
            ofStations, alone);
        for (const auto& [name, value] : metrics) {
            seen[name]++;
        }
        all.push_back(metrics);
    }
    for (const auto& metrics : all) {
        for (const auto& [name, value] : metrics) {
            if (seen[name] == all.size()) {
                std::cout << before << (before == ", " ? "" : "{") << '"' << name << "\": " << value;
                before = ", ";
            }
        }
        before = "}, ";
    }
    std::cout << "}]" << std::endl;
}

} // namespace batches
