// The room around a cell in ns-3: its nodes and devices, the wire to a server, sinks and senders.
//
// Knows how they are put together, for cell.cc and modern.cc alike. Does not know rates, categories,
// limits of queues, nor what is counted.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

namespace room {

using namespace ns3;

// The devices of the cell by node; node 0 is the access point.
inline std::vector<Ptr<WifiNetDevice>> devices;

// Makes a channel on which everybody receives everybody at one power, in dBm.
inline Ptr<YansWifiChannel> Channel(double rss) {
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(rss));
    return channel.Create();
}

// Makes a channel with the path loss of ns-3's defaults: 46.68 dB over a metre, and its cube.
inline Ptr<YansWifiChannel> Distances() {
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    return channel.Create();
}

// Makes devices those of the cell, in order.
inline void Enlist(const NetDeviceContainer& installed) {
    for (uint32_t node = 0; node < installed.GetN(); node++) {
        devices.push_back(DynamicCast<WifiNetDevice>(installed.Get(node)));
        devices.back()->GetMac()->SetAttribute("FrameRetryLimit", UintegerValue(7));
    }
}

// Installs the devices of a cell, whose stations join by themselves; `more` are attributes of each
// MAC.
template <typename... More>
void InstallDevices(const WifiHelper& wifi, const YansWifiPhyHelper& phy,
                    const NodeContainer& accessPoint, const NodeContainer& stations, More... more) {
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")), "BeaconInterval",
                TimeValue(MicroSeconds(1024 * 50)), more...);
    NetDeviceContainer installed = wifi.Install(phy, mac, accessPoint);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")), "ActiveProbing",
                BooleanValue(false), "MaxMissedBeacons", UintegerValue(1000), more...);
    installed.Add(wifi.Install(phy, mac, stations));
    MobilityHelper mobility;
    mobility.Install(accessPoint);
    mobility.Install(stations);
    Enlist(installed);
}

// Makes beacons rare, once everybody has joined.
inline void MakeBeaconsRare() {
    devices[0]->GetMac()->SetAttribute("BeaconInterval", TimeValue(MicroSeconds(1024 * 60000)));
}

// The addresses in the cell, by node, and on the wire: of the access point, and of the server.
struct Addresses {
    Ipv4InterfaceContainer inCell;
    Ipv4InterfaceContainer onWire;
};

// Connects the access point with the server, and gives addresses and routes to all. `isStatic`:
// addresses and routes are known from the start, also on devices with several channels.
inline Addresses Connect(const NodeContainer& accessPoint, const NodeContainer& server,
                         const NodeContainer& stations, const std::string& rate, Time delay,
                         const std::string& queue, bool isStatic = false) {
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue(rate));
    wire.SetChannelAttribute("Delay", TimeValue(delay));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    auto wired = wire.Install(accessPoint.Get(0), server.Get(0));

    InternetStackHelper internet;
    internet.Install(NodeContainer(accessPoint, server, stations));
    NetDeviceContainer wireless;
    for (const auto& device : devices) {
        wireless.Add(device);
    }
    Addresses found;
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.0.0", "255.255.0.0");
    found.inCell = addresses.Assign(wireless);
    addresses.SetBase("10.2.0.0", "255.255.255.0");
    found.onWire = addresses.Assign(wired);
    // No queue discipline above the queues of the devices: only those have limits.
    TrafficControlHelper control;
    control.Uninstall(wireless);
    control.Uninstall(wired);
    if (!isStatic) {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        return found;
    }
    // Nobody asks for an address: a request that collides delays a connection by seconds.
    auto knows = [](Ptr<Node> node, Ptr<WifiNetDevice> other, Ipv4Address address) {
        auto entry = node->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache()->Add(address);
        entry->SetMacAddress(other->GetAddress());
        entry->MarkPermanent();
    };
    for (uint32_t i = 0; i < stations.GetN(); i++) {
        knows(accessPoint.Get(0), devices[i + 1], found.inCell.GetAddress(i + 1));
        knows(stations.Get(i), devices[0], found.inCell.GetAddress(0));
    }
    // Global routing knows devices of one channel only.
    Ipv4StaticRoutingHelper routing;
    auto toAccessPoint = [&routing](Ptr<Node> from, Ipv4Address next) {
        routing.GetStaticRouting(from->GetObject<Ipv4>())->SetDefaultRoute(next, 1);
    };
    toAccessPoint(server.Get(0), found.onWire.GetAddress(0));
    for (auto station = stations.Begin(); station != stations.End(); station++) {
        toAccessPoint(*station, found.inCell.GetAddress(0));
    }
    return found;
}

using OnBytes = void (*)(std::string, Ptr<const Packet>, const Address&);

// Installs a sink that tells `counts` of each packet, under `name`.
inline Ptr<PacketSink> InstallSink(const std::string& protocol, Ptr<Node> to, uint16_t port,
                                   const std::string& name, OnBytes counts) {
    PacketSinkHelper helper(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
    auto applications = helper.Install(to);
    applications.Start(Seconds(0.5));
    applications.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(counts, name));
    return DynamicCast<PacketSink>(applications.Get(0));
}

// Installs a sender over TCP that always has something to send, in writes of one segment.
inline void InstallSender(Ptr<Node> from, Ipv4Address address, uint16_t port, uint32_t segment,
                          double start) {
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    sender.SetAttribute("SendSize", UintegerValue(segment));
    sender.Install(from).Start(Seconds(start));
}

// Sends four datagrams before the load: ARP, and two that wait make a Block ACK agreement.
inline void Introduce(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, double start) {
    auto bound = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
    bound->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    socket->Connect(InetSocketAddress(address, 9));
    for (uint32_t packet = 0; packet < 4; packet++) {
        // The first asks for the address, the others wait for each other.
        Simulator::Schedule(Seconds(start + (packet > 0 ? 0.001 : 0)),
                            [socket] { socket->Send(Create<Packet>(100)); });
    }
}

} // namespace room
