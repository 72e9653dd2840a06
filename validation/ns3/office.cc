// An office on 802.11ax in ns-3: laptops that browse with a TCP like Linux's, and people in a call.
//
// As benches/scenarios/office-ax.toml: one cell at MCS 9 and 80 MHz, a wire to the server,
// FQ-CoDel at the access point, CUBIC with SACK, timestamps and proportional rate reduction. Knows
// how to set ns-3 up for it, and prints what arrived as one JSON object; others measure its time.
//
//   ./office --laptops=40 --callers=10 --seconds=10 --run=1

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "room.h"

using namespace ns3;
using room::devices;

namespace {

struct Options {
    uint32_t laptops = 40;
    uint32_t callers = 10;
    double seconds = 10;
    uint32_t run = 1;
} options;

constexpr double LOAD_S = 1.5;
constexpr double WARMUP_S = 2;
constexpr uint32_t SEGMENT = 1448;
constexpr uint32_t REQUEST = 400;
constexpr uint32_t WRITE = 65536;
// Of sizes of pages: mean 1 MB, squared coefficient of variation 4; of thinking: mean 4 s.
constexpr double MU = 13.010791601747224;
constexpr double SIGMA = 1.2686362411795196;
constexpr double THINK_S = 4;
// UDP payload and packets in a second: G.711 every 20 ms, and video of 1.2 Mb/s in IP packets of
// 1200 bytes.
constexpr uint32_t SPEECH = 172;
constexpr double SPEECH_PER_S = 50;
constexpr uint32_t VIDEO = 1172;
constexpr double VIDEO_PER_S = 125;
constexpr uint16_t WEB_PORT = 80;

bool measuring() { return Simulator::Now().GetSeconds() >= LOAD_S + WARMUP_S; }

struct Counts {
    double pageBytes = 0;
    double datagramBytes = 0;
    double sentDatagrams = 0;
    double receivedDatagrams = 0;
    double pages = 0;
    double pageSeconds = 0;
} counts;

// A laptop: thinks, connects, asks for a page, reads it, closes, and thinks again.
struct Browser {
    Ptr<Node> node;
    Ipv4Address server;
    Ptr<ExponentialRandomVariable> think;
    Ptr<LogNormalRandomVariable> sizes;
    uint32_t size = 0;
    uint32_t read = 0;
    Time began;
};

// By the address of the laptop, so that the server knows what it was asked for.
std::map<Ipv4Address, Browser> browsers;

void Connect(Browser* browser);

void Think(Browser* browser) {
    Simulator::Schedule(Seconds(browser->think->GetValue()), &Connect, browser);
}

void ReadPage(Browser* browser, Ptr<Socket> socket) {
    while (auto packet = socket->Recv()) {
        browser->read += packet->GetSize();
        counts.pageBytes += measuring() ? packet->GetSize() : 0;
    }
    if (browser->read == browser->size) {
        if (measuring()) {
            counts.pages++;
            counts.pageSeconds += (Simulator::Now() - browser->began).GetSeconds();
        }
        // So that nothing of it is counted twice.
        browser->read = 0;
        socket->Close();
        Think(browser);
    }
}

void Ask(Ptr<Socket> socket) { socket->Send(Create<Packet>(REQUEST)); }

void Connect(Browser* browser) {
    browser->size = std::max(1U, static_cast<uint32_t>(browser->sizes->GetValue()));
    browser->read = 0;
    browser->began = Simulator::Now();
    auto socket = Socket::CreateSocket(browser->node, TcpSocketFactory::GetTypeId());
    socket->SetConnectCallback(MakeCallback(&Ask), MakeNullCallback<void, Ptr<Socket>>());
    socket->SetRecvCallback(MakeBoundCallback(&ReadPage, browser));
    socket->Connect(InetSocketAddress(browser->server, WEB_PORT));
}

// What the server has yet to read and to write on a connection.
struct Answer {
    uint32_t asked = 0;
    uint32_t left = 0;
};
std::map<Ptr<Socket>, Answer> answers;

void Write(Ptr<Socket> socket, uint32_t) {
    auto found = answers.find(socket);
    if (found == answers.end() || found->second.left == 0) {
        return;
    }
    auto& left = found->second.left;
    while (left > 0 && socket->GetTxAvailable() > 0) {
        auto size = std::min({left, WRITE, socket->GetTxAvailable()});
        left -= size;
        socket->Send(Create<Packet>(size));
    }
    if (left == 0) {
        answers.erase(socket);
        socket->Close();
    }
}

void ReadRequest(Ptr<Socket> socket) {
    Address peer;
    socket->GetPeerName(peer);
    while (auto packet = socket->Recv()) {
        auto& answer = answers[socket];
        answer.asked += packet->GetSize();
        if (answer.asked == REQUEST) {
            answer.left = browsers.at(InetSocketAddress::ConvertFrom(peer).GetIpv4()).size;
            Write(socket, 0);
            return;
        }
    }
}

void OnAccept(Ptr<Socket> socket, const Address&) {
    socket->SetRecvCallback(MakeCallback(&ReadRequest));
    socket->SetSendCallback(MakeCallback(&Write));
}

void InstallServer(Ptr<Node> server) {
    auto socket = Socket::CreateSocket(server, TcpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), WEB_PORT));
    socket->Listen();
    socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                              MakeCallback(&OnAccept));
}

void InstallBrowser(Ptr<Node> node, Ipv4Address own, Ipv4Address server) {
    auto think = CreateObject<ExponentialRandomVariable>();
    think->SetAttribute("Mean", DoubleValue(THINK_S));
    auto sizes = CreateObject<LogNormalRandomVariable>();
    sizes->SetAttribute("Mu", DoubleValue(MU));
    sizes->SetAttribute("Sigma", DoubleValue(SIGMA));
    auto& browser = browsers[own];
    browser = {node, server, think, sizes};
    Simulator::Schedule(Seconds(LOAD_S), &Think, &browser);
}

void SendDatagram(Ptr<Socket> socket, uint32_t size, Time interval) {
    socket->Send(Create<Packet>(size));
    counts.sentDatagrams += measuring();
    Simulator::Schedule(interval, &SendDatagram, socket, size, interval);
}

void OnDatagram(std::string, Ptr<const Packet> packet, const Address&) {
    if (measuring()) {
        counts.datagramBytes += packet->GetSize();
        counts.receivedDatagrams++;
    }
}

// A stream of datagrams that are evenly spaced, out of step with others.
void InstallStream(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, uint32_t size,
                   double perSecond, Ptr<UniformRandomVariable> phase) {
    room::InstallSink("ns3::UdpSocketFactory", to, port, "", &OnDatagram);
    auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    socket->Connect(InetSocketAddress(address, port));
    auto interval = Seconds(1 / perSecond);
    Simulator::Schedule(Seconds(LOAD_S + phase->GetValue() / perSecond), &SendDatagram, socket,
                        size, interval);
}

void SetDefaults() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(3 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(60)));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(6500631));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmsduSize", UintegerValue(0));
    Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(800)));
}

} // namespace

int main(int argc, char** argv) {
    CommandLine command;
    command.AddValue("laptops", "that browse", options.laptops);
    command.AddValue("callers", "in a call, both ways", options.callers);
    command.AddValue("seconds", "of measured time", options.seconds);
    command.AddValue("run", "number of the random streams", options.run);
    command.Parse(argc, argv);

    RngSeedManager::SetRun(options.run);
    SetDefaults();
    NodeContainer accessPoint(1);
    NodeContainer server(1);
    NodeContainer stations(options.laptops + options.callers);
    YansWifiPhyHelper phy;
    phy.SetChannel(room::Channel(-30));
    phy.Set("ChannelSettings", StringValue("{42,80,BAND_5GHZ,0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211ax);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue("HeMcs9"), "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    room::InstallDevices(wifi, phy, accessPoint, stations);
    // One after another, for fifty that answer one beacon collide until they give up for a while.
    for (uint32_t i = 1; i < devices.size(); i++) {
        devices[i]->GetMac()->SetAttribute("WaitBeaconTimeout",
                                           TimeValue(MilliSeconds(60 + 15 * i)));
    }
    Simulator::Schedule(Seconds(0.95), &room::MakeBeaconsRare);
    auto [inCell, onWire] = room::Connect(accessPoint, server, stations, "500Mbps",
                                          MilliSeconds(10), "1000p");
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::FqCoDelQueueDisc");
    control.Install(devices[0]);

    InstallServer(server.Get(0));
    auto phase = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < stations.GetN(); i++) {
        auto station = stations.Get(i);
        auto own = inCell.GetAddress(i + 1);
        room::Introduce(accessPoint.Get(0), station, own, 0.955 + 0.004 * i);
        room::Introduce(station, accessPoint.Get(0), inCell.GetAddress(0), 0.957 + 0.004 * i);
        if (i < options.laptops) {
            InstallBrowser(station, own, onWire.GetAddress(1));
            continue;
        }
        uint16_t port = 6000 + 2 * i;
        for (auto [size, perSecond] : {std::pair{SPEECH, SPEECH_PER_S}, {VIDEO, VIDEO_PER_S}}) {
            InstallStream(server.Get(0), station, own, port, size, perSecond, phase);
            InstallStream(station, server.Get(0), onWire.GetAddress(1), port, size, perSecond,
                          phase);
            port++;
        }
    }
    Simulator::Stop(Seconds(LOAD_S + WARMUP_S + options.seconds));
    Simulator::Run();
    std::cout.precision(10);
    std::cout << "{\"pages\": " << counts.pages
              << ", \"page_bps\": " << 8 * counts.pageBytes / options.seconds
              << ", \"transfer_time_s\": " << counts.pageSeconds / counts.pages
              << ", \"datagram_bps\": " << 8 * counts.datagramBytes / options.seconds
              << ", \"sent_datagrams\": " << counts.sentDatagrams
              << ", \"received_datagrams\": " << counts.receivedDatagrams << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
