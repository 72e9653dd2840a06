// Several cells of 802.11a in ns-3, in rows and columns: each hears those around it, and has downloads over a wire.
//
// Knows how to set ns-3 up for one run and prints what each cell has got, as one JSON array in Mb/s. Knows nothing of
// statistics. Powers, TCP and limits are those of the rows of `validation/cells` (floors.py there). Association is over before
// the load begins; then there is a beacon every minute, and addresses are known without ARP.
//
//   ./cells --rows=1 --columns=3 --stations=1 --seconds=10 --run=1

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/neighbor-cache-helper.h"
#include "room.h"

using namespace ns3;

namespace {

struct Options {
    uint32_t rows = 1;
    uint32_t columns = 3;
    uint32_t stations = 1;
    double seconds = 10;
    uint32_t run = 1;
} options;

// The instants at which transfers begin, and at which what they carry is measured, in seconds.
const double kLoad = 3;
const double kMeasured = 5;

// The bytes that the stations of each cell have got while they were measured.
std::vector<uint64_t> received;

void OnBytes(uint32_t cell, Ptr<const Packet> packet, const Address&) {
    if (Simulator::Now().GetSeconds() >= kMeasured) {
        received[cell] += packet->GetSize();
    }
}

void SetDefaults() {
    const uint32_t segment = 1448;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 * segment));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1000)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(60)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
}

bool Hear(uint32_t one, uint32_t other) {
    auto apart = [](uint32_t a, uint32_t b) { return a > b ? a - b : b - a; };
    return apart(one / options.columns, other / options.columns) <= 1 &&
           apart(one % options.columns, other % options.columns) <= 1;
}

// One cell: its access point is the first node.
struct Cell {
    NodeContainer nodes;
    NetDeviceContainer devices;
};

Cell InstallCell(const WifiHelper& wifi, const YansWifiPhyHelper& phy, uint32_t number) {
    Cell cell;
    cell.nodes.Create(1 + options.stations);
    MobilityHelper().Install(cell.nodes);
    Ssid ssid("cell" + std::to_string(number));
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false),
                "BeaconInterval", TimeValue(MicroSeconds(1024 * 100)));
    cell.devices = wifi.Install(phy, mac, cell.nodes.Get(0));
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false),
                "ActiveProbing", BooleanValue(false), "MaxMissedBeacons", UintegerValue(1000));
    for (uint32_t node = 1; node < cell.nodes.GetN(); node++) {
        cell.devices.Add(wifi.Install(phy, mac, cell.nodes.Get(node)));
    }
    return cell;
}

void MakeBeaconsRare(Ptr<NetDevice> device) {
    auto mac = DynamicCast<WifiNetDevice>(device)->GetMac();
    mac->SetAttribute("BeaconInterval", TimeValue(MicroSeconds(1024 * 60000)));
}

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("rows", "of cells", options.rows);
    command.AddValue("columns", "of cells", options.columns);
    command.AddValue("stations", "of each cell", options.stations);
    command.AddValue("seconds", "s of measured time", options.seconds);
    command.AddValue("run", "number of the random streams", options.run);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(options.run);
    SetDefaults();

    auto loss = CreateObject<MatrixPropagationLossModel>();
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    // All are at one place.
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue("OfdmRate54Mbps"), "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    uint32_t number = options.rows * options.columns;
    received.resize(number);
    std::vector<Cell> cells;
    for (uint32_t one = 0; one < number; one++) {
        cells.push_back(InstallCell(wifi, phy, one));
    }
    // Each hears another with -50 dBm: all send with 16.0206 dBm.
    auto placeOf = [](Ptr<Node> node) { return node->GetObject<MobilityModel>(); };
    for (uint32_t one = 0; one < number; one++) {
        for (uint32_t other = 0; other <= one; other++) {
            if (!Hear(one, other)) {
                continue;
            }
            for (uint32_t from = 0; from < cells[one].nodes.GetN(); from++) {
                for (uint32_t to = 0; to < cells[other].nodes.GetN(); to++) {
                    auto a = cells[one].nodes.Get(from);
                    auto b = cells[other].nodes.Get(to);
                    if (a != b) {
                        loss->SetLoss(placeOf(a), placeOf(b), 66.0206);
                    }
                }
            }
        }
    }

    InternetStackHelper internet;
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    wire.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
    Ipv4AddressHelper addresses;
    TrafficControlHelper control;
    for (uint32_t one = 0; one < number; one++) {
        auto& cell = cells[one];
        NodeContainer server(1);
        auto wired = wire.Install(cell.nodes.Get(0), server.Get(0));
        internet.Install(NodeContainer(cell.nodes, server));
        auto base = "10." + std::to_string(1 + one) + ".";
        addresses.SetBase((base + "0.0").c_str(), "255.255.255.0");
        auto inCell = addresses.Assign(cell.devices);
        addresses.SetBase((base + "1.0").c_str(), "255.255.255.0");
        auto onWire = addresses.Assign(wired);
        // Global routes would take all cells for one network, as they share a channel.
        Ipv4StaticRoutingHelper routes;
        auto byDefault = [&](Ptr<Node> node, Ipv4Address gateway) {
            routes.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, 1);
        };
        byDefault(server.Get(0), onWire.GetAddress(0));
        for (uint32_t station = 1; station <= options.stations; station++) {
            byDefault(cell.nodes.Get(station), inCell.GetAddress(0));
        }
        control.Uninstall(cell.devices);
        control.Uninstall(wired);
        for (uint32_t station = 1; station <= options.stations; station++) {
            auto port = 5000;
            PacketSinkHelper helper("ns3::TcpSocketFactory",
                                    InetSocketAddress(Ipv4Address::GetAny(), port));
            auto sink = helper.Install(cell.nodes.Get(station));
            sink.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&OnBytes, one));
            double start = kLoad + 0.01 * ((station - 1) * number + one);
            room::InstallSender(server.Get(0), inCell.GetAddress(station), port, 1448, start);
        }
        Simulator::Schedule(Seconds(kLoad - 0.2), &MakeBeaconsRare, cell.devices.Get(0));
    }
    NeighborCacheHelper().PopulateNeighborCache();
    Simulator::Stop(Seconds(kMeasured + options.seconds));
    Simulator::Run();
    std::string separator = "[";
    for (auto bytes : received) {
        std::cout << separator << 8e-6 * bytes / options.seconds;
        separator = ", ";
    }
    std::cout << "]" << std::endl;
    Simulator::Destroy();
    return 0;
}
