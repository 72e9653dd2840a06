// A floor of validation/cells in ns-3: access points and stations that receive each other with given powers.
//
// Knows how to set ns-3 up for one run, as it was for the rows of `validation/cells` (floors.py there), and prints what was
// measured as one JSON object. Knows nothing of statistics. Association, addresses and Block ACK agreements are there before the
// load begins; then there is a beacon every minute.
//
//   ./floors --nodes=A,a1,a2 --links=A-a1:-50,A-a2:-50 "--flows=a1>A:udp,a2>A:tcp" --seconds=5 --run=1 [--trace=200]

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ns3/neighbor-cache-helper.h"
#include "room.h"

using namespace ns3;
using room::devices;

namespace {

struct Options {
    std::string nodes;
    std::string links;
    std::string flows;
    std::string standard = "a";
    std::string mode;
    std::string modes;
    std::string control = "OfdmRate24Mbps";
    std::string obssPd;
    bool capture = false;
    int32_t rts = -1;
    double power = 16.0206;
    uint32_t payload = 1472;
    uint32_t window = 64;
    uint32_t apQueue = 1000;
    double warmup = 2;
    double seconds = 5;
    uint32_t run = 1;
    uint32_t trace = 0;
} options;

// The instant at which the load begins, in seconds.
const double kLoad = 1.6;
const uint32_t kSegment = 1448;

double Measured() { return kLoad + options.warmup; }
bool IsMeasured() { return Simulator::Now().GetSeconds() >= Measured(); }
bool IsAx() { return options.standard == "ax"; }

std::vector<std::string> Split(const std::string& text, char by) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, by);) {
        parts.push_back(part);
    }
    return parts;
}

bool IsAccessPoint(const std::string& name) { return name[0] < 'a'; }
std::string CellOf(const std::string& name) {
    return std::string(1, static_cast<char>(IsAccessPoint(name) ? name[0] : name[0] - 'a' + 'A'));
}

// What a node did while it was measured.
struct Tally {
    double attempts = 0;
    double failures = 0;
    double data = 0;
    double mpdus = 0;
    double drops = 0;
    double airtime = 0;
};

// A flow of datagrams that always wait.
struct Datagrams {
    uint32_t node;
    Mac48Address receiver;
    Ptr<Socket> socket;
};

std::vector<std::string> names;
std::map<std::string, uint32_t> numbers;
NodeContainer nodes;
std::vector<Tally> tallies;
std::vector<std::string> flows;
std::vector<uint64_t> received;
std::vector<Datagrams> datagrams;
uint32_t traced = 0;

void OnBytes(uint32_t flow, Ptr<const Packet> packet, const Address&) {
    received[flow] += IsMeasured() ? packet->GetSize() : 0;
}

void OnTransmission(uint32_t node, WifiConstPsduMap psdus, WifiTxVector vector, double) {
    auto psdu = psdus.begin()->second;
    const auto& header = psdu->GetHeader(0);
    auto time = WifiPhy::CalculateTxDuration(psdu, vector, WIFI_PHY_BAND_5GHZ);
    if (IsMeasured() && traced < options.trace) {
        traced++;
        std::cerr << Simulator::Now().GetNanoSeconds() << " " << names[node] << " " << header.GetTypeString() << " mpdus="
                  << psdu->GetNMpdus() << " bytes=" << psdu->GetSize() << " ns=" << time.GetNanoSeconds() << " mode="
                  << vector.GetMode() << "\n";
    }
    if (!IsMeasured()) {
        return;
    }
    auto& tally = tallies[node];
    tally.airtime += time.GetSeconds();
    if (header.IsData()) {
        tally.data++;
        tally.mpdus += psdu->GetNMpdus();
    }
    auto begins = options.rts < 0 ? header.IsData() || header.IsBlockAckReq() : header.IsRts();
    tally.attempts += begins;
}

void OnTimeout(uint32_t node, uint8_t, Ptr<const WifiPsdu>, const WifiTxVector&) {
    tallies[node].failures += IsMeasured();
}

void OnTimeoutOfOne(uint32_t node, uint8_t, Ptr<const WifiMpdu>, const WifiTxVector&) {
    tallies[node].failures += IsMeasured();
}

// Has another datagram wait for each that the MAC is done with.
void IsDone(uint32_t node, Ptr<const WifiMpdu> mpdu) {
    if (Simulator::Now().GetSeconds() < kLoad || !mpdu->GetHeader().IsData() ||
        mpdu->GetPacketSize() <= options.payload) {
        return;
    }
    for (const auto& one : datagrams) {
        if (one.node == node && one.receiver == mpdu->GetHeader().GetAddr1()) {
            Simulator::ScheduleNow([socket = one.socket] { socket->Send(Create<Packet>(options.payload)); });
        }
    }
}

void OnDrop(uint32_t node, WifiMacDropReason, Ptr<const WifiMpdu> mpdu) {
    tallies[node].drops += IsMeasured();
    IsDone(node, mpdu);
}

void SetDefaults() {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.window * kSegment));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, options.apQueue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(60)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmsduSize", UintegerValue(0));
    Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(800)));
    auto threshold = options.rts < 0 ? 65535 : options.rts;
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(threshold));
}

void InstallDevices(const Ptr<YansWifiChannel>& channel) {
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    phy.Set("TxPowerStart", DoubleValue(options.power));
    phy.Set("TxPowerEnd", DoubleValue(options.power));
    if (options.capture) {
        phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel", "Margin", DoubleValue(5));
    }
    WifiHelper wifi;
    wifi.SetStandard(IsAx() ? WIFI_STANDARD_80211ax : WIFI_STANDARD_80211a);
    if (!options.obssPd.empty()) {
        wifi.SetObssPdAlgorithm("ns3::ConstantObssPdAlgorithm", "ObssPdLevel", DoubleValue(std::stod(options.obssPd)));
    }
    std::map<std::string, std::string> modes;
    for (const auto& mode : Split(options.modes, ',')) {
        auto parts = Split(mode, ':');
        modes[parts[0]] = parts[1];
    }
    for (uint32_t node = 0; node < names.size(); node++) {
        const auto& name = names[node];
        auto mode = modes.count(name) ? modes[name] : options.mode;
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode",
                                     StringValue(options.control));
        WifiMacHelper mac;
        Ssid ssid("cell" + CellOf(name));
        if (IsAccessPoint(name)) {
            mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(IsAx()), "BeaconInterval",
                        TimeValue(MicroSeconds(1024 * 100)));
        } else {
            mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(IsAx()), "ActiveProbing",
                        BooleanValue(false), "MaxMissedBeacons", UintegerValue(1000));
        }
        devices.push_back(DynamicCast<WifiNetDevice>(wifi.Install(phy, mac, nodes.Get(node)).Get(0)));
        auto device = devices.back();
        if (!options.obssPd.empty() && IsAccessPoint(name)) {
            device->GetHeConfiguration()->SetAttribute("BssColor", UintegerValue(1 + name[0] - 'A'));
        }
        auto own = device->GetMac();
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeBoundCallback(&OnTransmission, node));
        own->TraceConnectWithoutContext("PsduResponseTimeout", MakeBoundCallback(&OnTimeout, node));
        own->TraceConnectWithoutContext("MpduResponseTimeout", MakeBoundCallback(&OnTimeoutOfOne, node));
        own->TraceConnectWithoutContext("AckedMpdu", MakeBoundCallback(&IsDone, node));
        own->TraceConnectWithoutContext("DroppedMpdu", MakeBoundCallback(&OnDrop, node));
    }
}

// Everybody has joined: beacons become rare, and 802.11ax contends as AC_BE of stations.
void SetAccess() {
    for (uint32_t node = 0; node < names.size(); node++) {
        auto mac = devices[node]->GetMac();
        if (IsAccessPoint(names[node])) {
            mac->SetAttribute("BeaconInterval", TimeValue(MicroSeconds(1024 * 60000)));
        } else if (!DynamicCast<StaWifiMac>(mac)->IsAssociated()) {
            std::cerr << names[node] << " has not joined" << std::endl;
            std::exit(1);
        }
        if (IsAx()) {
            auto txop = mac->GetQosTxop(AC_BE);
            txop->SetTxopLimits({MicroSeconds(0)});
            txop->SetMinCws({15});
            txop->SetMaxCws({1023});
            txop->SetAifsns({3});
        }
    }
}

// A node that a server is wired to, and the addresses of both ends.
struct Wired {
    Ptr<Node> server;
    Ipv4Address address;
};

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("nodes", "A,a1,...", options.nodes);
    command.AddValue("links", "A-a1:-50,...", options.links);
    command.AddValue("flows", "A>a1:tcp,...", options.flows);
    command.AddValue("standard", "a, ax", options.standard);
    command.AddValue("mode", "of data", options.mode);
    command.AddValue("modes", "of nodes: A:OfdmRate6Mbps,...", options.modes);
    command.AddValue("control", "mode of control frames", options.control);
    command.AddValue("obss_pd", "dBm", options.obssPd);
    command.AddValue("capture", "0, 1", options.capture);
    command.AddValue("rts", "RTS threshold", options.rts);
    command.AddValue("power", "dBm", options.power);
    command.AddValue("payload", "of datagrams", options.payload);
    command.AddValue("window", "segments", options.window);
    command.AddValue("ap_queue", "packets", options.apQueue);
    command.AddValue("warmup", "s of load", options.warmup);
    command.AddValue("seconds", "s of measured time", options.seconds);
    command.AddValue("run", "number of the random streams", options.run);
    command.AddValue("trace", "PPDUs to print", options.trace);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(options.run);
    SetDefaults();
    if (options.mode.empty()) {
        options.mode = IsAx() ? "HeMcs5" : "OfdmRate54Mbps";
    }
    names = Split(options.nodes, ',');
    flows = Split(options.flows, ',');
    for (const auto& name : names) {
        numbers[name] = numbers.size();
    }
    nodes.Create(names.size());
    tallies.resize(names.size());
    received.resize(flows.size());
    MobilityHelper().Install(nodes);

    auto loss = CreateObject<MatrixPropagationLossModel>();
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    // All are at one place.
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    InstallDevices(channel);
    auto placeOf = [](const std::string& name) { return nodes.Get(numbers.at(name))->GetObject<MobilityModel>(); };
    for (const auto& link : Split(options.links, ',')) {
        auto colon = link.find(':');
        auto pair = Split(link.substr(0, colon), '-');
        loss->SetLoss(placeOf(pair[0]), placeOf(pair[1]), options.power - std::stod(link.substr(colon + 1)));
    }

    InternetStackHelper internet;
    internet.Install(nodes);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    wire.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
    Ipv4AddressHelper addresses;
    TrafficControlHelper control;
    Ipv4StaticRoutingHelper routes;
    auto byDefault = [&](Ptr<Node> node, Ipv4Address gateway) {
        routes.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, 1);
    };
    std::map<std::string, Ipv4Address> addressOf;
    std::map<std::string, Wired> wired;
    uint32_t cells = 0;
    for (uint32_t node = 0; node < names.size(); node++) {
        if (!IsAccessPoint(names[node])) {
            continue;
        }
        cells++;
        auto base = "10." + std::to_string(cells) + ".";
        NetDeviceContainer inCell;
        std::vector<uint32_t> members;
        for (uint32_t other = 0; other < names.size(); other++) {
            if (CellOf(names[other]) == names[node]) {
                inCell.Add(devices[other]);
                members.push_back(other);
            }
        }
        addresses.SetBase((base + "0.0").c_str(), "255.255.255.0");
        auto given = addresses.Assign(inCell);
        NodeContainer server(1);
        internet.Install(server);
        auto ends = wire.Install(nodes.Get(node), server.Get(0));
        addresses.SetBase((base + "1.0").c_str(), "255.255.255.0");
        auto onWire = addresses.Assign(ends);
        control.Uninstall(inCell);
        control.Uninstall(ends);
        byDefault(server.Get(0), onWire.GetAddress(0));
        wired[names[node]] = {server.Get(0), onWire.GetAddress(1)};
        for (uint32_t place = 0; place < members.size(); place++) {
            addressOf[names[members[place]]] = given.GetAddress(place);
        }
        for (auto member : members) {
            if (member != node) {
                byDefault(nodes.Get(member), addressOf[names[node]]);
            }
        }
    }
    NeighborCacheHelper().PopulateNeighborCache();

    for (uint32_t flow = 0; flow < flows.size(); flow++) {
        auto parts = Split(flows[flow], ':');
        auto ends = Split(parts[0], '>');
        auto from = nodes.Get(numbers.at(ends[0]));
        auto to = nodes.Get(numbers.at(ends[1]));
        if (IsAx()) {
            room::Introduce(from, to, addressOf[ends[1]], kLoad - 0.35 + 0.006 * flow);
            room::Introduce(to, from, addressOf[ends[0]], kLoad - 0.347 + 0.006 * flow);
        }
        uint16_t port = 5000 + flow;
        auto start = kLoad + 0.01 * flow;
        auto counts = MakeBoundCallback(&OnBytes, flow);
        if (parts[1] == "udp") {
            PacketSinkHelper helper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
            helper.Install(to).Get(0)->TraceConnectWithoutContext("Rx", counts);
            auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
            socket->Connect(InetSocketAddress(addressOf[ends[1]], port));
            datagrams.push_back({numbers.at(ends[0]), devices[numbers.at(ends[1])]->GetMac()->GetAddress(), socket});
            Simulator::Schedule(Seconds(start), [socket] {
                for (uint32_t packet = 0; packet < (IsAx() ? 600 : 4); packet++) {
                    socket->Send(Create<Packet>(options.payload));
                }
            });
            continue;
        }
        auto sender = IsAccessPoint(ends[0]) ? wired[ends[0]].server : from;
        auto receiver = IsAccessPoint(ends[1]) ? wired[ends[1]].server : to;
        auto address = IsAccessPoint(ends[1]) ? wired[ends[1]].address : addressOf[ends[1]];
        PacketSinkHelper helper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        helper.Install(receiver).Get(0)->TraceConnectWithoutContext("Rx", counts);
        room::InstallSender(sender, address, port, kSegment, start);
    }
    Simulator::Schedule(Seconds(kLoad - 0.4), &SetAccess);
    Simulator::Stop(Seconds(Measured() + options.seconds));
    Simulator::Run();

    std::cout.precision(10);
    std::cout << "{";
    double sum = 0;
    for (uint32_t flow = 0; flow < flows.size(); flow++) {
        auto goodput = 8.0 * received[flow] / options.seconds;
        sum += goodput;
        std::cout << "\"flow_goodput_bps " << Split(flows[flow], ':')[0] << "\": " << goodput << ", ";
    }
    for (uint32_t node = 0; node < names.size(); node++) {
        const auto& [attempts, failures, data, mpdus, drops, airtime] = tallies[node];
        std::cout << "\"airtime " << names[node] << "\": " << airtime / options.seconds << ", ";
        if (attempts > 0) {
            std::cout << "\"failed_ratio " << names[node] << "\": " << failures / attempts << ", ";
            std::cout << "\"attempts_per_s " << names[node] << "\": " << attempts / options.seconds << ", ";
            std::cout << "\"retry_drops_per_s " << names[node] << "\": " << drops / options.seconds << ", ";
            std::cout << "\"mpdus_per_data_ppdu " << names[node] << "\": " << mpdus / std::max(data, 1.0) << ", ";
        }
    }
    std::cout << "\"goodput_bps\": " << sum << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
