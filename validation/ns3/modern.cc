// One cell of 802.11n, ac, ax or be in ns-3: an access point, its stations, and a server behind a
// wire. Prints what was measured as one JSON object.
//
// Association and ARP are over before the load begins; then there
// is a beacon every minute. All nodes are at one point and receive each other at equal powers, or
// stations are `--distance` metres away from the access point, with a rate manager. With `--links`
// (band in GHz:width in MHz+...) the PHY is that of spectra; `--mix` lists stations of several
// standards, standard:width:mode;..., to each of which the access point sends at its mode and width.
//
//   ./modern --standard=ac --dir=up --stations=5 --udp=1 --within=0.01 --most=60
//   ./modern --standard=n --window=16 --tcp=NewReno --trace=200
//   ./modern --standard=ax --links=5:80 "--mix=ax:80:HeMcs11;n:20:HtMcs7" --udp=1 --dir=up
//   ./modern --standard=n --manager=MinstrelHt --distance=30 --udp=1

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "batches.h"
#include "mixed.h"
#include "room.h"

using namespace ns3;
using batches::counts;
using batches::Tally;
using room::devices;

namespace {

struct Options {
    std::string standard = "n";
    std::string mix;
    std::string links;
    std::string mode;
    std::string control = "OfdmRate24Mbps";
    uint32_t stationQueue = 1000;
    std::string dir = "down";
    uint32_t stations = 1;
    uint32_t width = 0;
    bool udp = false;
    bool ampdu = true;
    uint32_t apQueue = 2000;
    uint32_t window = 0;
    uint32_t every = 2;
    double delay = 0.001;
    std::string tcp = "NewReno";
    std::string manager = "ConstantRate";
    double distance = 0;
    double delack = 0.2;
    double warmup = 1;
    double batch = 0.5;
    double within = 0.01;
    double most = 200;
    uint32_t run = 1;
    uint32_t trace = 0;
} options;

struct Standard {
    WifiStandard standard;
    uint32_t width;
    std::string mode;
    uint32_t ampdu;
    uint32_t window;
};

const std::map<std::string, Standard> STANDARDS = {
    {"a", {WIFI_STANDARD_80211a, 20, "OfdmRate54Mbps", 0, 1}},
    {"n", {WIFI_STANDARD_80211n, 20, "HtMcs7", 65535, 64}},
    {"ac", {WIFI_STANDARD_80211ac, 80, "VhtMcs9", 1048575, 64}},
    {"ax", {WIFI_STANDARD_80211ax, 80, "HeMcs11", 6500631, 256}},
    {"be", {WIFI_STANDARD_80211be, 80, "EhtMcs11", 15523200, 1024}},
    {"g", {WIFI_STANDARD_80211g, 20, "ErpOfdmRate54Mbps", 0, 1}},
};
// A channel of each width at 5 GHz.
const std::map<uint32_t, uint32_t> CHANNELS = {{20, 36}, {40, 38}, {80, 42}};
constexpr uint32_t PAYLOAD = 1472;
// Of a TCP ACK with its headers.
constexpr uint32_t LARGEST_ACK = 200;
constexpr double LOAD_S = 1.2;

const Standard& chosen() { return STANDARDS.at(options.standard); }
bool isMixed() { return !options.mix.empty(); }
// Whether stations without aggregation have access categories; beside others ns-3 wants them to.
bool hasQos() { return isMixed() || chosen().ampdu > 0; }
bool aggregates() { return options.ampdu && hasQos(); }
double beginning() { return LOAD_S + options.warmup; }
bool measuring() { return Simulator::Now().GetSeconds() >= beginning(); }
bool down() { return options.dir != "up"; }
bool up() { return options.dir != "down"; }

// Transmissions so far of an MPDU without an agreement, by node and sequence number.
std::vector<std::map<uint32_t, uint32_t>> transmissions;
uint32_t traced = 0;

void Refill(uint32_t node, uint32_t receiver);
Tally& Of(uint32_t node) { return node == 0 ? counts.accessPoint : counts.stations; }
// The nodes by the addresses of their devices and of the links of these.
std::map<Mac48Address, uint32_t> nodes;

Ptr<Txop> TxopOf(uint32_t node) {
    auto mac = devices[node]->GetMac();
    return hasQos() ? Ptr<Txop>(mac->GetQosTxop(AC_BE)) : mac->GetTxop();
}

void OnTransmission(uint32_t node, uint32_t link, WifiConstPsduMap psdus, WifiTxVector vector, double) {
    auto psdu = psdus.begin()->second;
    const auto& header = psdu->GetHeader(0);
    auto load = Simulator::Now().GetSeconds() > beginning();
    if (load && traced < options.trace) {
        traced++;
        std::cerr << Simulator::Now().GetMicroSeconds() << " " << node << " "
                  << header.GetTypeString() << " mpdus=" << psdu->GetNMpdus() << " us="
                  << WifiPhy::CalculateTxDuration(psdu, vector, WIFI_PHY_BAND_5GHZ).GetNanoSeconds() /
                         1e3
                  << " width=" << vector.GetChannelWidth() << " link=" << link << " cw=" << TxopOf(node)->GetCw(link)
                  << "\n";
    }
    if (!measuring()) {
        return;
    }
    auto isAck = [](Ptr<WifiMpdu> mpdu) { return mpdu->GetPacketSize() < LARGEST_ACK; };
    if (header.HasData() && std::all_of(psdu->begin(), psdu->end(), isAck)) {
        Of(node).acks++;
        Of(node).ackMpdus += psdu->GetNMpdus();
    } else if (header.HasData()) {
        auto& pair = counts.pairs[(node > 0 ? node : nodes.at(header.GetAddr1())) - 1];
        for (auto tally : {&Of(node), &pair}) {
            tally->data++;
            tally->mpdus += psdu->GetNMpdus();
        }
        if (!aggregates()) {
            transmissions[node][header.GetSequenceNumber()]++;
        }
    } else if (header.IsBlockAckReq()) {
        Of(node).requests++;
    }
}

void OnTimeout(uint32_t node, uint8_t, Ptr<const WifiPsdu>, const WifiTxVector&) {
    if (measuring()) {
        Of(node).failures++;
    }
}

// A backoff is drawn from 0 .. CW, after CW has been changed by what came before.
void OnDraw(uint32_t node, uint32_t, uint8_t link) {
    if (measuring()) {
        Of(node).draws[TxopOf(node)->GetCw(link)]++;
    }
}

void OnTimeoutOfOne(uint32_t node, uint8_t, Ptr<const WifiMpdu>, const WifiTxVector&) {
    if (measuring()) {
        Of(node).failures++;
    }
}

void IsDone(uint32_t node, Ptr<const WifiMpdu> mpdu) {
    auto& sent = transmissions[node];
    if (auto found = sent.find(mpdu->GetHeader().GetSequenceNumber()); found != sent.end()) {
        Of(node).sent[found->second]++;
        sent.erase(found);
    }
    if (options.udp && mpdu->GetHeader().IsData() && mpdu->GetPacketSize() > PAYLOAD) {
        Refill(node, nodes.at(mpdu->GetHeader().GetAddr1()));
    }
}

void OnAcknowledged(uint32_t node, Ptr<const WifiMpdu> mpdu) { IsDone(node, mpdu); }

void OnDrop(uint32_t node, WifiMacDropReason, Ptr<const WifiMpdu> mpdu) {
    Of(node).drops += measuring();
    IsDone(node, mpdu);
}

void OnBytes(std::string name, Ptr<const Packet> packet, const Address&) {
    if (measuring()) {
        counts.bytes[name] += packet->GetSize();
    }
}

void SetDefaults() {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.every));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(options.delack)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
    auto buffer = options.window ? 1448 * options.window : 32 << 20;
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::Tcp" + options.tcp)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(60)));
    if (hasQos()) {
        Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize",
                           UintegerValue(aggregates() ? chosen().ampdu : 0));
        Config::SetDefault("ns3::WifiMac::BE_MaxAmsduSize", UintegerValue(0));
        Config::SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", BooleanValue(true));
        Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(800)));
    }
}

// Everybody has joined: no TXOP limits, and the limits of the queues.
void SetQueues() {
    for (uint32_t node = 0; node < devices.size(); node++) {
        auto limit = options.udp ? 100000 : node == 0 ? options.apQueue : options.stationQueue;
        QueueSize size(QueueSizeUnit::PACKETS, limit);
        TxopOf(node)->GetWifiMacQueue()->SetAttribute("MaxSize", QueueSizeValue(size));
        auto mac = devices[node]->GetMac();
        if (hasQos()) {
            auto txop = mac->GetQosTxop(AC_BE);
            auto links = mac->GetNLinks();
            txop->SetTxopLimits(std::vector<Time>(links, MicroSeconds(0)));
            txop->SetMinCws(std::vector<uint32_t>(links, 15));
            txop->SetMaxCws(std::vector<uint32_t>(links, 1023));
            txop->SetAifsns(std::vector<uint8_t>(links, 3));
        }
        nodes[mac->GetAddress()] = node;
        for (auto link : mac->GetLinkIds()) {
            nodes[mac->GetFrameExchangeManager(link)->GetAddress()] = node;
        }
    }
    room::MakeBeaconsRare();
}

// Counts what each device does, and sets queues once everybody has joined.
void Watch() {
    for (uint32_t node = 0; node < devices.size(); node++) {
        auto device = devices[node];
        auto own = device->GetMac();
        for (uint32_t link = 0; link < device->GetNPhys(); link++) {
            auto counts = MakeBoundCallback(&OnTransmission, node, link);
            device->GetPhy(link)->TraceConnectWithoutContext("PhyTxPsduBegin", counts);
        }
        own->TraceConnectWithoutContext("PsduResponseTimeout",
                                        MakeBoundCallback(&OnTimeout, node));
        own->TraceConnectWithoutContext("MpduResponseTimeout",
                                        MakeBoundCallback(&OnTimeoutOfOne, node));
        own->TraceConnectWithoutContext("AckedMpdu", MakeBoundCallback(&OnAcknowledged, node));
        own->TraceConnectWithoutContext("DroppedMpdu", MakeBoundCallback(&OnDrop, node));
        TxopOf(node)->TraceConnectWithoutContext("BackoffTrace", MakeBoundCallback(&OnDraw, node));
    }
    Simulator::Schedule(Seconds(0.95), &SetQueues);
}

void InstallCell(const NodeContainer& accessPoint, const NodeContainer& stations) {
    auto width = options.width ? options.width : chosen().width;
    if (!options.links.empty()) {
        mixed::Install({options.standard, options.links, options.mode, options.mix,
                        options.control}, accessPoint, stations);
        Watch();
        return;
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(options.distance > 0 ? room::Distances() : room::Channel(-30));
    phy.Set("ChannelSettings", StringValue("{" + std::to_string(CHANNELS.at(width)) + "," +
                                           std::to_string(width) + ",BAND_5GHZ,0}"));
    WifiHelper wifi;
    wifi.SetStandard(chosen().standard);
    if (options.manager == "ConstantRate") {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                     StringValue(chosen().mode), "ControlMode",
                                     StringValue("OfdmRate24Mbps"));
    } else {
        wifi.SetRemoteStationManager("ns3::" + options.manager + "WifiManager");
    }
    room::InstallDevices(wifi, phy, accessPoint, stations);
    for (auto station = stations.Begin(); station != stations.End(); station++) {
        (*station)->GetObject<MobilityModel>()->SetPosition({options.distance, 0, 0});
    }
    Watch();
}

void InstallSink(const std::string& protocol, Ptr<Node> to, uint16_t port, const std::string& name) {
    counts.bytes[name] = 0;
    room::InstallSink(protocol, to, port, name, &OnBytes);
}

void InstallTransfer(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint32_t index,
                     const std::string& name) {
    uint16_t port = 5000 + index;
    InstallSink("ns3::TcpSocketFactory", to, port, name);
    room::InstallSender(from, address, port, 1448, LOAD_S + 0.01 * index);
}

// Datagrams that always wait: three windows of them to each receiver, and one more for each that the
// MAC is done with.
struct Datagrams {
    Ptr<Socket> socket;
    uint32_t node;
    uint32_t receiver;
};
std::vector<Datagrams> datagrams;

void InstallDatagrams(uint32_t node, Ptr<Node> from, uint32_t other, Ptr<Node> to,
                      Ipv4Address address, uint32_t index, const std::string& name) {
    uint16_t port = 6000 + index;
    InstallSink("ns3::UdpSocketFactory", to, port, name);
    auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    socket->Connect(InetSocketAddress(address, port));
    datagrams.push_back({socket, node, other});
    Simulator::Schedule(Seconds(LOAD_S + 0.01 * index), [socket] {
        for (uint32_t packet = 0; packet < 3 * std::max(chosen().window, 2U); packet++) {
            socket->Send(Create<Packet>(PAYLOAD));
        }
    });
}

void Refill(uint32_t node, uint32_t receiver) {
    if (Simulator::Now().GetSeconds() < LOAD_S) {
        return;
    }
    for (const auto& one : datagrams) {
        if (one.node == node && one.receiver == receiver) {
            Simulator::ScheduleNow([socket = one.socket] { socket->Send(Create<Packet>(PAYLOAD)); });
            return;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("standard", "a, n, ac, ax, be; g with a mix", options.standard);
    command.AddValue("mix", "stations, standard:width:mode;...", options.mix);
    command.AddValue("links", "band:width, and +band:width of a second link", options.links);
    command.AddValue("mode", "of the access point, with links", options.mode);
    command.AddValue("control", "mode of control frames, with links", options.control);
    command.AddValue("station-queue", "packets", options.stationQueue);
    command.AddValue("dir", "down, up, both", options.dir);
    command.AddValue("stations", "how many", options.stations);
    command.AddValue("width", "MHz", options.width);
    command.AddValue("udp", "saturated datagrams", options.udp);
    command.AddValue("ampdu", "0: each frame alone", options.ampdu);
    command.AddValue("ap-queue", "packets", options.apQueue);
    command.AddValue("window", "receive window, segments", options.window);
    command.AddValue("every", "segments for each ACK", options.every);
    command.AddValue("delay", "of the wire, one way, s", options.delay);
    command.AddValue("tcp", "NewReno, Cubic, Bbr", options.tcp);
    command.AddValue("manager", "ConstantRate, Ideal, MinstrelHt", options.manager);
    command.AddValue("distance", "of stations, m; 0: all at equal powers", options.distance);
    command.AddValue("delack", "timer of delayed ACKs, s", options.delack);
    command.AddValue("warmup", "s", options.warmup);
    command.AddValue("batch", "s", options.batch);
    command.AddValue("within", "half width of the interval at which to end", options.within);
    command.AddValue("most", "s of measured time", options.most);
    command.AddValue("run", "number of the random streams", options.run);
    command.AddValue("trace", "PPDUs to print", options.trace);
    command.Parse(argc, argv);

    if (isMixed()) {
        options.stations = std::count(options.mix.begin(), options.mix.end(), ';') + 1;
    }
    RngSeedManager::SetRun(options.run);
    SetDefaults();
    NodeContainer accessPoint(1);
    NodeContainer server(1);
    NodeContainer stations(options.stations);
    transmissions.resize(options.stations + 1);
    InstallCell(accessPoint, stations);

    auto [inCell, onWire] =
        room::Connect(accessPoint, server, stations, "10Gbps", Seconds(options.delay), "100000p",
                      !options.links.empty());

    for (uint32_t i = 0; i < options.stations; i++) {
        auto station = stations.Get(i);
        auto name = std::to_string(i);
        room::Introduce(accessPoint.Get(0), station, inCell.GetAddress(i + 1), 0.955 + 0.004 * i);
        room::Introduce(station, accessPoint.Get(0), inCell.GetAddress(0), 0.957 + 0.004 * i);
        for (auto downwards : {true, false}) {
            if (!(downwards ? down() : up())) {
                continue;
            }
            auto flow = (downwards ? "downlink/" : "uplink/") + name;
            auto index = 2 * i + !downwards;
            if (options.udp && downwards) {
                InstallDatagrams(0, accessPoint.Get(0), i + 1, station, inCell.GetAddress(i + 1),
                                 index, flow);
            } else if (options.udp) {
                InstallDatagrams(i + 1, station, 0, accessPoint.Get(0), inCell.GetAddress(0), index,
                                 flow);
            } else if (downwards) {
                InstallTransfer(server.Get(0), station, inCell.GetAddress(i + 1), index, flow);
            } else {
                InstallTransfer(station, server.Get(0), onWire.GetAddress(1), index, flow);
            }
        }
    }
    batches::batchLength = options.batch;
    Simulator::Schedule(Seconds(beginning()), [] { batches::ends.push_back(counts); });
    Simulator::Schedule(Seconds(beginning() + options.batch), &batches::EndBatch, options.within,
                        options.most);
    Simulator::Run();
    batches::Print(!aggregates());
    Simulator::Destroy();
    return 0;
}
