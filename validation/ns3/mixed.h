// Devices of several standards or links in one cell of ns-3, with the PHY of spectra.

#pragma once

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ns3/spectrum-module.h"

#include "room.h"

namespace mixed {

using namespace ns3;

// A constant rate for each receiver: that of `MODES`, else that of ConstantRateWifiManager.
class RateByReceiver : public ConstantRateWifiManager {
  public:
    // Mode and width in MHz.
    using Rate = std::pair<WifiMode, double>;
    static inline std::map<Mac48Address, Rate> rates;

    static TypeId GetTypeId() {
        static TypeId tid = TypeId("ns3::RateByReceiver")
                                .SetParent<ConstantRateWifiManager>()
                                .AddConstructor<RateByReceiver>();
        return tid;
    }

  private:
    WifiTxVector DoGetDataTxVector(WifiRemoteStation* station, MHz_u allowed) override {
        const auto& [mode, width] = rates.at(station->m_state->m_address);
        return WifiTxVector(
            mode, GetDefaultTxPowerLevel(),
            GetPreambleForTransmission(mode.GetModulationClass(), GetShortPreambleEnabled()),
            GetGuardIntervalForMode(mode, GetShortGuardIntervalSupported(station),
                                    GetGuardInterval(station)),
            GetNumberOfAntennas(), 1, 0,
            GetPhy()->GetTxBandwidth(mode, std::min<MHz_u>(allowed, width)),
            GetAggregation(station));
    }
};
NS_OBJECT_ENSURE_REGISTERED(RateByReceiver);

struct Cell {
    std::string standard, links, mode, mix, control;
};

inline std::vector<std::string> Split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) {
        parts.push_back(part);
    }
    return parts;
}

// The channel of a band ("2", "5", "6") and width whose primary 20 MHz are those of 20 MHz alone.
inline std::string Channel(const std::string& band, const std::string& width) {
    static const std::map<std::string, std::map<std::string, int>> NUMBERS = {
        {"2", {{"20", 1}, {"40", 3}}},
        {"5", {{"20", 36}, {"40", 38}, {"80", 42}, {"160", 50}}},
        {"6", {{"20", 1}, {"40", 3}, {"80", 7}, {"160", 15}}}};
    auto name = band == "2" ? "2_4" : band;
    return "{" + std::to_string(NUMBERS.at(band).at(width)) + "," + width + ",BAND_" + name +
           "GHZ,0}";
}

// Installs the access point and the stations of `mix`, or stations alike.
inline void Install(const Cell& cell, const NodeContainer& accessPoint,
                    const NodeContainer& stations) {
    auto links = Split(cell.links, '+');
    SpectrumWifiPhyHelper phy(links.size());
    for (std::size_t link = 0; link < links.size(); link++) {
        auto channel = CreateObject<MultiModelSpectrumChannel>();
        auto loss = CreateObject<FixedRssLossModel>();
        loss->SetRss(-30);
        channel->AddPropagationLossModel(loss);
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        static const std::map<std::string, FrequencyRange> RANGES = {
            {"2", WIFI_SPECTRUM_2_4_GHZ}, {"5", WIFI_SPECTRUM_5_GHZ}, {"6", WIFI_SPECTRUM_6_GHZ}};
        phy.AddChannel(channel, RANGES.at(links[link].substr(0, 1)));
    }
    auto device = [&](const std::string& standard, const std::vector<std::string>& channels,
                      const std::string& mode, Ptr<Node> node, bool isAccessPoint) {
        static const std::map<std::string, WifiStandard> STANDARDS = {
            {"a", WIFI_STANDARD_80211a},   {"g", WIFI_STANDARD_80211g},
            {"n", WIFI_STANDARD_80211n},   {"ac", WIFI_STANDARD_80211ac},
            {"ax", WIFI_STANDARD_80211ax}, {"be", WIFI_STANDARD_80211be}};
        WifiHelper wifi;
        wifi.SetStandard(STANDARDS.at(standard));
        auto byReceiver = isAccessPoint && !cell.mix.empty();
        for (std::size_t link = 0; link < channels.size(); link++) {
            auto parts = Split(channels[link], ':');
            phy.Set(link, "ChannelSettings", StringValue(Channel(parts[0], parts[1])));
            wifi.SetRemoteStationManager(
                link, byReceiver ? "ns3::RateByReceiver" : "ns3::ConstantRateWifiManager",
                "DataMode", StringValue(mode), "ControlMode", StringValue(cell.control));
        }
        WifiMacHelper mac;
        if (isAccessPoint) {
            mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")), "BeaconInterval",
                        TimeValue(MicroSeconds(1024 * 50)), "QosSupported", BooleanValue(true));
        } else {
            mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")), "ActiveProbing",
                        BooleanValue(false), "MaxMissedBeacons", UintegerValue(1000),
                        "QosSupported", BooleanValue(true));
        }
        auto installed = wifi.Install(phy, mac, NodeContainer(node));
        room::Enlist(installed);
        auto own = room::devices.back();
        auto parts = Split(channels[0], ':');
        if (standard == "n" && parts[1] == "20") {
            // Otherwise the access point sends it 40 MHz, which it does not hear.
            own->GetHtConfiguration()->m_40MHzSupported = false;
        }
        MobilityHelper mobility;
        mobility.Install(NodeContainer(node));
        RateByReceiver::rates[own->GetMac()->GetAddress()] = {WifiMode(mode), std::stod(parts[1])};
    };
    device(cell.standard, links, cell.mode, accessPoint.Get(0), true);
    auto mix = Split(cell.mix, ';');
    for (uint32_t i = 0; i < stations.GetN(); i++) {
        if (mix.empty()) {
            device(cell.standard, links, cell.mode, stations.Get(i), false);
            continue;
        }
        auto parts = Split(mix[i], ':');
        device(parts[0], {links[0].substr(0, 2) + parts[1]}, parts[2], stations.Get(i), false);
    }
}

} // namespace mixed
