// One 802.11b cell in ns-3: an access point, its stations, and a server behind a wire.
//
// Knows how to set ns-3 up for one run and prints what was measured as one JSON object. Knows nothing
// of statistics: run.py chooses the parameters and the seeds. Association, ARP and the first beacons
// are over before the warm-up ends; then there is a beacon every minute.
//
//   ./cell --group=tcp-download --stations=5 --every=2 --run=1 --duration=100

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "room.h"

using namespace ns3;
using room::devices;

namespace {

struct Options {
    std::string group = "tcp-download";
    uint32_t stations = 1;
    uint32_t every = 1;
    uint32_t apQueue = 100;
    uint32_t stationQueue = 100;
    double warmup = 5;
    double duration = 100;
    uint32_t run = 1;
} options;

bool edca() { return options.group == "tcp-upload-edca"; }
bool measuring() { return Simulator::Now().GetSeconds() >= options.warmup; }

// What one node did while it was measured; node 0 is the access point.
struct Tally {
    uint64_t attempts = 0;
    uint64_t failures = 0;
    uint64_t draws = 0;
    double windows = 0;
};

std::vector<Tally> tallies;
// Bytes that a sink has got, by its name: downlink/i, uplink/i.
std::map<std::string, uint64_t> received;
uint64_t successes = 0;
uint64_t activeStations = 0;

std::vector<Ptr<Txop>> TxopsOf(uint32_t node) {
    auto mac = devices[node]->GetMac();
    if (!edca()) {
        return {mac->GetTxop()};
    }
    return {mac->GetQosTxop(AC_BE), mac->GetQosTxop(AC_VO)};
}

void OnTransmission(uint32_t node, WifiConstPsduMap psdus, WifiTxVector, double) {
    if (measuring() && psdus.begin()->second->GetHeader(0).IsData()) {
        tallies[node].attempts++;
    }
}

void OnFailure(uint32_t node, Mac48Address) {
    if (measuring()) {
        tallies[node].failures++;
    }
}

// A backoff is drawn from 0 .. CW, after CW has been changed by what came before.
void OnDraw(uint32_t node, Ptr<Txop> txop, uint32_t, uint8_t link) {
    if (measuring()) {
        tallies[node].draws++;
        tallies[node].windows += txop->GetCw(link);
    }
}

// The access point has its MAC ACK: which stations have something to send?
void OnSuccessOfAccessPoint(Ptr<const WifiMpdu>) {
    if (!measuring()) {
        return;
    }
    successes++;
    for (uint32_t node = 1; node < devices.size(); node++) {
        auto txops = TxopsOf(node);
        activeStations += std::any_of(txops.begin(), txops.end(), [](const auto& txop) {
            return txop->GetWifiMacQueue()->GetNPackets() > 0;
        });
    }
}

void OnBytes(std::string name, Ptr<const Packet> packet, const Address&) {
    if (measuring()) {
        received[name] += packet->GetSize();
    }
}

void SetDefaults() {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.every));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(65535));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
}

void SetQueuesAndCategories() {
    for (uint32_t node = 0; node < devices.size(); node++) {
        auto limit = node == 0 ? options.apQueue : options.stationQueue;
        for (auto txop : TxopsOf(node)) {
            QueueSize size(QueueSizeUnit::PACKETS, limit);
            txop->GetWifiMacQueue()->SetAttribute("MaxSize", QueueSizeValue(size));
        }
        if (!edca()) {
            continue;
        }
        auto mac = devices[node]->GetMac();
        for (auto category : {AC_BK, AC_BE, AC_VI, AC_VO}) {
            mac->GetQosTxop(category)->SetTxopLimits({MicroSeconds(0)});
        }
        auto data = mac->GetQosTxop(AC_BE);
        data->SetMinCws({31});
        data->SetMaxCws({1023});
        data->SetAifsns({4});
        if (node == 0) {
            auto acks = mac->GetQosTxop(AC_VO);
            acks->SetMinCws({0});
            acks->SetMaxCws({0});
            acks->SetAifsns({2});
        }
    }
}

void InstallCell(const NodeContainer& accessPoint, const NodeContainer& stations) {
    YansWifiPhyHelper phy;
    phy.SetChannel(room::Channel(-50));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue("DsssRate11Mbps"), "ControlMode",
                                 StringValue("DsssRate2Mbps"));
    room::InstallDevices(wifi, phy, accessPoint, stations, "QosSupported", BooleanValue(edca()));
    for (uint32_t node = 0; node < devices.size(); node++) {
        auto device = devices[node];
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin",
                                                     MakeBoundCallback(&OnTransmission, node));
        device->GetRemoteStationManager()->TraceConnectWithoutContext(
            "MacTxDataFailed", MakeBoundCallback(&OnFailure, node));
        for (auto txop : TxopsOf(node)) {
            txop->TraceConnectWithoutContext("BackoffTrace",
                                             MakeBoundCallback(&OnDraw, node, txop));
        }
    }
    devices[0]->GetMac()->TraceConnectWithoutContext("AckedMpdu",
                                                     MakeCallback(&OnSuccessOfAccessPoint));
    // Everybody has joined: beacons become rare, and the limits and categories are set.
    Simulator::Schedule(Seconds(0.9), &room::MakeBeaconsRare);
    Simulator::Schedule(Seconds(0.95), &SetQueuesAndCategories);
}

// A sink at `to` that counts under `name`. With categories its ACKs go in AC_VO, by their type of
// service, which an accepted connection has from the socket that listened.
void InstallSink(const std::string& protocol, Ptr<Node> to, uint16_t port, const std::string& name) {
    received[name] = 0;
    auto sink = room::InstallSink(protocol, to, port, name, &OnBytes);
    if (edca()) {
        Simulator::Schedule(Seconds(0.6), [sink] { sink->GetListeningSocket()->SetIpTos(0xc0); });
    }
}

void InstallTransfer(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint32_t index,
                     const std::string& link) {
    uint16_t port = 5000 + index;
    InstallSink("ns3::TcpSocketFactory", to, port, link + "/" + std::to_string(index));
    room::InstallSender(from, address, port, 1460, 1.0 + 0.01 * index);
}

void InstallDatagrams(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint32_t index,
                      const std::string& link, uint32_t payload, double perSecond) {
    uint16_t port = (link == "uplink" ? 7000 : 6000) + index;
    InstallSink("ns3::UdpSocketFactory", to, port, link + "/" + std::to_string(index));
    UdpClientHelper sender(address, port);
    sender.SetAttribute("PacketSize", UintegerValue(payload));
    sender.SetAttribute("Interval", TimeValue(Seconds(1 / perSecond)));
    sender.SetAttribute("MaxPackets", UintegerValue(0));
    sender.Install(from).Start(Seconds(1.0 + 0.0001 * index));
}

double Jain(const std::vector<double>& shares) {
    double sum = 0;
    double squares = 0;
    for (double share : shares) {
        sum += share;
        squares += share * share;
    }
    return sum * sum / (shares.size() * squares);
}

void Print() {
    std::map<std::string, double> metrics;
    std::map<std::string, double> perLink;
    std::vector<double> shares;
    for (const auto& [name, bytes] : received) {
        perLink[name.substr(0, name.find('/'))] += 8 * bytes / options.duration;
        shares.push_back(bytes);
    }
    if (perLink.size() == 1) {
        metrics["goodput_bps"] = perLink.begin()->second;
        double fair = metrics["goodput_bps"] * options.duration / 8 / shares.size();
        metrics["jain_index"] = Jain(shares);
        metrics["starved_flows"] = std::count_if(shares.begin(), shares.end(),
                                                 [&](double share) { return share < 0.01 * fair; });
    } else {
        for (const auto& [link, rate] : perLink) {
            metrics["goodput_bps " + link] = rate;
        }
    }
    Tally stations;
    for (uint32_t node = 1; node < tallies.size(); node++) {
        stations.attempts += tallies[node].attempts;
        stations.failures += tallies[node].failures;
        stations.draws += tallies[node].draws;
        stations.windows += tallies[node].windows;
    }
    auto add = [&](const std::string& who, const Tally& tally) {
        metrics["mean_cw_" + who] = tally.windows / tally.draws;
        metrics["collision_probability_" + who] = double(tally.failures) / tally.attempts;
    };
    add("ap", tallies[0]);
    add("stations", stations);
    metrics["active_stations_after_ap_success"] = double(activeStations) / successes;
    std::cout.precision(10);
    std::string separator = "{";
    for (const auto& [name, value] : metrics) {
        std::cout << separator << '"' << name << "\": " << value;
        separator = ", ";
    }
    std::cout << "}" << std::endl;
}

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("group", "tcp-download, tcp-upload-dcf, tcp-upload-edca, udp-both-ways",
                     options.group);
    command.AddValue("stations", "how many", options.stations);
    command.AddValue("every", "segments for each ACK", options.every);
    command.AddValue("ap-queue", "packets", options.apQueue);
    command.AddValue("station-queue", "packets", options.stationQueue);
    command.AddValue("warmup", "s", options.warmup);
    command.AddValue("duration", "s of measured time", options.duration);
    command.AddValue("run", "number of the random streams", options.run);
    command.Parse(argc, argv);

    RngSeedManager::SetRun(options.run);
    SetDefaults();
    NodeContainer accessPoint(1);
    NodeContainer server(1);
    NodeContainer stations(options.stations);
    tallies.resize(options.stations + 1);
    InstallCell(accessPoint, stations);

    auto [inCell, onWire] =
        room::Connect(accessPoint, server, stations, "1Gbps", MicroSeconds(1), "10000p");

    for (uint32_t i = 0; i < options.stations; i++) {
        auto station = stations.Get(i);
        if (options.group == "tcp-download") {
            InstallTransfer(server.Get(0), station, inCell.GetAddress(i + 1), i, "downlink");
        } else if (options.group == "udp-both-ways") {
            InstallDatagrams(server.Get(0), station, inCell.GetAddress(i + 1), i, "downlink", 1472,
                             600.0 / options.stations);
            InstallDatagrams(station, server.Get(0), onWire.GetAddress(1), i, "uplink", 12, 1500);
        } else {
            InstallTransfer(station, server.Get(0), onWire.GetAddress(1), i, "uplink");
        }
    }
    Simulator::Stop(Seconds(options.warmup + options.duration));
    Simulator::Run();
    Print();
    Simulator::Destroy();
    return 0;
}
