# One file that a station uploads in ns-2 as in paper G: 802.11b, an access point, a wired link, DSDV.
#
# Knows how to set ns-2 up for one run, and prints, each quarter of a second and at the end, how
# many packets have arrived, after how long, and how often the timer expired. Knows nothing of
# statistics: uploads.py chooses the parameters and gives them as NAME=VALUE.
#
#   ns uploads.tcl delay=2ms retries=0 skip=1 seed=3
#   ns uploads.tcl delay=2ms defaults=2002

# --- Parameters ----------------------------------------------------------------------------------

array set opt {
    packets  10000
    delay    2ms
    retries  0
    skip     0
    start    40
    duration 1000
    seed     1
    defaults 2.35
}
foreach argument $argv {
    if {![regexp {^(\w+)=(.*)$} $argument -> name value] || ![info exists opt($name)]} {
        puts stderr "unknown argument: $argument (known: [lsort [array names opt]])"
        exit 2
    }
    set opt($name) $value
}
if {$opt(defaults) ni {2.35 2002}} {
    puts stderr "defaults: those of ns-2 2.35, or of 2002"
    exit 2
}
if {$opt(skip) > 1} {
    puts stderr "skip: the sinks of ns-2 acknowledge every packet or every second one"
    exit 2
}

# --- Defaults of the classes ---------------------------------------------------------------------

Mac/802_11 set dataRate_        11Mb
Mac/802_11 set basicRate_       1Mb
Mac/802_11 set RTSThreshold_    3000
Mac/802_11 set ShortRetryLimit_ [expr {$opt(retries) ? 7 : 1}]
Mac/802_11 set LongRetryLimit_  [expr {$opt(retries) ? 4 : 1}]

# No capture, as in scenario.tcl.
Phy/WirelessPhy set CPThresh_ 1e12

Agent/TCP set packetSize_  1000
# The window of the class, so that slow start ends with the first loss.
Agent/TCP set window_      100000
Agent/TCP set windowInit_  1
Agent/TCP set minrto_      1
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set tcpTick_     0.01
# The sink that acknowledges every second packet, with a timer that never expires.
Agent/TCPSink/DelAck set interval_ 100000

# What ns-2 2.1b9a of July 2002 had, by the comments in ns-default.tcl that date each change. Before
# the fix of the MAC of 2006 a frame that finds the medium idle waits DIFS and its slots by a timer
# that does not stop when others send; where it ends on a busy medium the window doubles, and the
# frame backs off.
if {$opt(defaults) eq "2002"} {
    Mac/802_11 set bugFix_timer_ false
    Agent/TCP set rtxcur_init_     6.0
    Agent/TCP set updated_rttvar_  false
    Agent/TCP set precisionReduce_ false
    Agent/TCP set bugfix_ss_       0
}

ns-random $opt(seed)

# --- Server, wired link, access point, station ---------------------------------------------------

set ns [new Simulator]
$ns node-config -addressType hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {1 2}
$ns trace-all [open /dev/null w]
set topography [new Topography]
$topography load_flatgrid 100 100
create-god 2

set server [$ns node 0.0.0]
$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topography -wiredRouting ON \
    -agentTrace OFF -routerTrace OFF -macTrace OFF
set ap [$ns node 1.0.0]
$ns node-config -wiredRouting OFF
set station [$ns node 1.0.1]
$station base-station [AddrParams addr2id [$ap node-addr]]
foreach {node x} [list $ap 50.0 $station 60.0] {
    $node random-motion 0
    $node set X_ $x
    $node set Y_ 50.0
    $node set Z_ 0.0
}
$ns duplex-link $server $ap 100Mb $opt(delay) DropTail

# --- The upload ----------------------------------------------------------------------------------

set tcp [new Agent/TCP/Reno]
set sink [expr {$opt(skip) == 0 ? [new Agent/TCPSink] : [new Agent/TCPSink/DelAck]}]
$ns attach-agent $station $tcp
$ns attach-agent $server $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

# By then routes are known.
set begin [expr {$opt(start) + [[new RNG] uniform 0.0 1.0]}]
$ns at $begin "$ftp produce $opt(packets)"

proc report {packets seconds} {
    global tcp
    puts "REPORT $packets $seconds [$tcp set nrexmit_]"
    exit 0
}
Agent/TCP instproc done {} {
    global ns opt begin
    report $opt(packets) [expr {[$ns now] - $begin}]
}
$ns at [expr {$begin + $opt(duration)}] {report [$tcp set ack_] $opt(duration)}
# The MAC of 2002 sometimes ends ns-2 ("Event UID not valid"): what has been told by then counts.
proc tell {} {
    global ns tcp begin
    puts "SOFAR [$tcp set ack_] [expr {[$ns now] - $begin}] [$tcp set nrexmit_]"
    flush stdout
    $ns at [expr {[$ns now] + 0.25}] tell
}
$ns at [expr {$begin + 0.25}] tell
$ns run
