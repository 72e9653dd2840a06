// One cell of 802.11n, ac or ax in ns-3: an access point, its stations, and a server behind a wire.
//
// Knows how to set ns-3 up for one run, and when its goodput is known well enough; prints what was
// measured as one JSON object. Association and ARP are over before the load begins; then there
// is a beacon every minute. All nodes are at one point and receive each other at equal powers, or
// stations are `--distance` metres away from the access point, with a rate manager.
//
//   ./modern --standard=ac --dir=up --stations=5 --udp=1 --within=0.01 --most=60
//   ./modern --standard=n --window=16 --tcp=NewReno --trace=200
//   ./modern --standard=n --manager=MinstrelHt --distance=30 --udp=1

#include <algorithm>
#include <cmath>
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
    std::string standard = "n";
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
};
// A channel of each width at 5 GHz.
const std::map<uint32_t, uint32_t> CHANNELS = {{20, 36}, {40, 38}, {80, 42}};
constexpr uint32_t PAYLOAD = 1472;
constexpr double LOAD_S = 1.2;

const Standard& chosen() { return STANDARDS.at(options.standard); }
bool aggregates() { return options.ampdu && options.standard != "a"; }
double beginning() { return LOAD_S + options.warmup; }
bool measuring() { return Simulator::Now().GetSeconds() >= beginning(); }
bool down() { return options.dir != "up"; }
bool up() { return options.dir != "down"; }

// What a node, or all stations together, did while it was measured.
struct Tally {
    double data = 0;
    double mpdus = 0;
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
};

Counts counts;
// The same at the beginning and at the end of each batch of time.
std::vector<Counts> ends;
double batchLength;
// Transmissions so far of an MPDU without an agreement, by node and sequence number.
std::vector<std::map<uint32_t, uint32_t>> transmissions;
uint32_t traced = 0;

void Refill(uint32_t node, Mac48Address receiver);
Tally& Of(uint32_t node) { return node == 0 ? counts.accessPoint : counts.stations; }

Ptr<Txop> TxopOf(uint32_t node) {
    auto mac = devices[node]->GetMac();
    return options.standard == "a" ? mac->GetTxop() : Ptr<Txop>(mac->GetQosTxop(AC_BE));
}

void OnTransmission(uint32_t node, WifiConstPsduMap psdus, WifiTxVector vector, double) {
    auto psdu = psdus.begin()->second;
    const auto& header = psdu->GetHeader(0);
    auto load = Simulator::Now().GetSeconds() > beginning();
    if (load && traced < options.trace) {
        traced++;
        std::cerr << Simulator::Now().GetMicroSeconds() << " " << node << " "
                  << header.GetTypeString() << " mpdus=" << psdu->GetNMpdus() << " us="
                  << WifiPhy::CalculateTxDuration(psdu, vector, WIFI_PHY_BAND_5GHZ).GetNanoSeconds() /
                         1e3
                  << " width=" << vector.GetChannelWidth() << " cw=" << TxopOf(node)->GetCw(0)
                  << "\n";
    }
    if (!measuring()) {
        return;
    }
    if (header.IsData()) {
        Of(node).data++;
        Of(node).mpdus += psdu->GetNMpdus();
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
        Refill(node, mpdu->GetHeader().GetAddr1());
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

// Student's t for 95 % in the middle.
double Student(std::size_t freedom) {
    const double normal = 1.959964;
    auto cube = std::pow(normal, 3);
    auto fifth = std::pow(normal, 5);
    double n = freedom;
    return normal + (cube + normal) / (4 * n) + (5 * fifth + 16 * cube + 3 * normal) / (96 * n * n);
}

double Bytes(const Counts& counted) {
    double sum = 0;
    for (const auto& [name, bytes] : counted.bytes) {
        sum += bytes;
    }
    return sum;
}

// Half width of the 95 % interval of the goodput over batches, as a share of it.
double Interval() {
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
void EndBatch() {
    ends.push_back(counts);
    auto count = ends.size() - 1;
    if ((count >= 10 && Interval() <= options.within) || count * batchLength >= options.most) {
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
    Simulator::Schedule(Seconds(batchLength), &EndBatch);
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
    if (chosen().ampdu > 0) {
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
        auto limit = options.udp ? 100000 : node == 0 ? options.apQueue : 1000;
        QueueSize size(QueueSizeUnit::PACKETS, limit);
        TxopOf(node)->GetWifiMacQueue()->SetAttribute("MaxSize", QueueSizeValue(size));
        if (options.standard != "a") {
            auto txop = devices[node]->GetMac()->GetQosTxop(AC_BE);
            txop->SetTxopLimits({MicroSeconds(0)});
            txop->SetMinCws({15});
            txop->SetMaxCws({1023});
            txop->SetAifsns({3});
        }
    }
    room::MakeBeaconsRare();
}

void InstallCell(const NodeContainer& accessPoint, const NodeContainer& stations) {
    auto width = options.width ? options.width : chosen().width;
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
    for (uint32_t node = 0; node < devices.size(); node++) {
        auto device = devices[node];
        auto own = device->GetMac();
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin",
                                                     MakeBoundCallback(&OnTransmission, node));
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
    Mac48Address receiver;
};
std::vector<Datagrams> datagrams;

void InstallDatagrams(uint32_t node, Ptr<Node> from, uint32_t other, Ptr<Node> to,
                      Ipv4Address address, uint32_t index, const std::string& name) {
    uint16_t port = 6000 + index;
    InstallSink("ns3::UdpSocketFactory", to, port, name);
    auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    socket->Connect(InetSocketAddress(address, port));
    datagrams.push_back({socket, node, devices[other]->GetMac()->GetAddress()});
    Simulator::Schedule(Seconds(LOAD_S + 0.01 * index), [socket] {
        for (uint32_t packet = 0; packet < 3 * std::max(chosen().window, 2U); packet++) {
            socket->Send(Create<Packet>(PAYLOAD));
        }
    });
}

void Refill(uint32_t node, Mac48Address receiver) {
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

using Metrics = std::map<std::string, double>;

// What one or all did between two instants of a run in which they did `total`; shares are left out
// if there is a batch without any (`shares`).
void Add(Metrics& metrics, const std::string& who, const Tally& from, const Tally& to,
         const Tally& total, bool shares) {
    auto data = to.data - from.data;
    auto requests = to.requests - from.requests;
    metrics["data_ppdus_per_s_" + who] = data / batchLength;
    metrics["bar_ppdus_per_s_" + who] = requests / batchLength;
    metrics["retry_drops_per_s_" + who] = (to.drops - from.drops) / batchLength;
    if (shares) {
        metrics["mpdus_per_data_ppdu_" + who] = (to.mpdus - from.mpdus) / data;
        metrics["failed_ppdu_ratio_" + who] = (to.failures - from.failures) / (data + requests);
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
    if (aggregates() || !shares) {
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

// Whether there were data and draws in each batch.
bool HasShares(Tally Counts::*who) {
    auto isEmpty = [who](const Counts& from, const Counts& to) {
        return (to.*who).data == (from.*who).data;
    };
    return std::adjacent_find(ends.begin(), ends.end(), isEmpty) == ends.end();
}

// A list with the metrics of each batch.
void Print() {
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
        }
        Add(metrics, "ap", from.accessPoint, to.accessPoint, ends.back().accessPoint,
            ofAccessPoint);
        Add(metrics, "stations", from.stations, to.stations, ends.back().stations,
            ofStations);
        for (const auto& [name, value] : metrics) {
            std::cout << before << (before == ", " ? "" : "{") << '"' << name << "\": " << value;
            before = ", ";
        }
        before = "}, ";
    }
    std::cout << "}]" << std::endl;
}

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("standard", "a, n, ac, ax", options.standard);
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

    RngSeedManager::SetRun(options.run);
    SetDefaults();
    NodeContainer accessPoint(1);
    NodeContainer server(1);
    NodeContainer stations(options.stations);
    transmissions.resize(options.stations + 1);
    InstallCell(accessPoint, stations);

    auto [inCell, onWire] =
        room::Connect(accessPoint, server, stations, "10Gbps", Seconds(options.delay), "100000p");

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
    batchLength = options.batch;
    Simulator::Schedule(Seconds(beginning()), [] { ends.push_back(counts); });
    Simulator::Schedule(Seconds(beginning() + batchLength), &EndBatch);
    Simulator::Run();
    Print();
    Simulator::Destroy();
    return 0;
}
