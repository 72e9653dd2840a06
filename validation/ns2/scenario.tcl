# One 802.11b cell in ns-2: an access point that sends TCP to its stations.
#
# Knows how to set ns-2 up for one run. Knows nothing of statistics: run.py chooses the parameters,
# gives them as NAME=VALUE, and reads the trace. Node 0 is the access point and holds the senders;
# there is no wired part, no routing traffic, no beacon and no association (ad-hoc mode).
#
#   ns scenario.tcl stations=5 window=1 duration=210 seed=3 trace=/tmp/trace

# --- Parameters ----------------------------------------------------------------------------------

array set opt {
    stations 1
    radius   100
    window   1
    initial  1
    ssthresh 0
    spread   0.1
    ackevery 1
    acktimer 0.1
    duration 30
    seed     1
    trace    ""
    workload ""
    retries  7
    rts      0
    cwmin    31
    cwmax    1023
    summary  0
}
foreach argument $argv {
    if {![regexp {^(\w+)=(.*)$} $argument -> name value] || ![info exists opt($name)]} {
        puts stderr "unknown argument: $argument (known: [lsort [array names opt]])"
        exit 2
    }
    set opt($name) $value
}
if {$opt(ackevery) > 2} {
    puts stderr "ackevery: the sinks of ns-2 acknowledge every packet or every second one"
    exit 2
}

# --- Defaults of the classes ---------------------------------------------------------------------

Mac/802_11 set dataRate_          11Mb
Mac/802_11 set basicRate_         2Mb
Mac/802_11 set PLCPDataRate_      1Mb
Mac/802_11 set PreambleLength_    144
Mac/802_11 set PLCPHeaderLength_  48
Mac/802_11 set SlotTime_          0.000020
Mac/802_11 set SIFS_              0.000010
Mac/802_11 set CWMin_             $opt(cwmin)
Mac/802_11 set CWMax_             $opt(cwmax)
Mac/802_11 set RTSThreshold_      $opt(rts)
Mac/802_11 set ShortRetryLimit_   $opt(retries)
Mac/802_11 set LongRetryLimit_    $opt(retries)

# No capture: two frames that overlap destroy each other however different their power is.
Phy/WirelessPhy set CPThresh_ 1e12

Agent/TCP set packetSize_  1000
Agent/TCP set window_      $opt(window)
Agent/TCP set windowInit_  $opt(initial)
Agent/TCP set minrto_      0.2
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set tcpTick_     0.01
Agent/TCPSink/DelAck set interval_ $opt(acktimer)

ns-random $opt(seed)

# --- The cell ------------------------------------------------------------------------------------

set ns [new Simulator]
set side [expr {2 * $opt(radius) + 20}]
set topography [new Topography]
$topography load_flatgrid $side $side
create-god [expr {$opt(stations) + 1}]

# Without a trace file the wireless trace still needs somewhere to go.
set tracing [expr {$opt(trace) ne ""}]
set channelfile [open [expr {$tracing ? $opt(trace) : "/dev/null"}] w]
$ns trace-all $channelfile

$ns node-config -adhocRouting DumbAgent \
    -llType LL -macType Mac/802_11 -ifqType Queue/DropTail -ifqLen 1000000 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \
    -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] -topoInstance $topography \
    -agentTrace [expr {$tracing ? "ON" : "OFF"}] \
    -macTrace [expr {$tracing ? "ON" : "OFF"}] \
    -routerTrace OFF -movementTrace OFF

set middle [expr {$side / 2.0}]
for {set i 0} {$i <= $opt(stations)} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    set angle [expr {6.283185307179586 * $i / $opt(stations)}]
    set r [expr {$i == 0 ? 0 : $opt(radius)}]
    $node($i) set X_ [expr {$middle + $r * cos($angle)}]
    $node($i) set Y_ [expr {$middle + $r * sin($angle)}]
    $node($i) set Z_ 0.0
}

for {set i 1} {$i <= $opt(stations)} {incr i} {
    set tcp($i) [new Agent/TCP/Newreno]
    set sink($i) [expr {$opt(ackevery) == 1 ? [new Agent/TCPSink] : [new Agent/TCPSink/DelAck]}]
    $tcp($i) set station $i
    # 0: ns-2's own choice, which is the window (and so after each reset of the agent).
    if {$opt(ssthresh) > 0} { $tcp($i) set ssthresh_ $opt(ssthresh) }
    $ns attach-agent $node(0) $tcp($i)
    $ns attach-agent $node($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
}

# --- Traffic -------------------------------------------------------------------------------------

# Endless downloads, begun at random instants of the first `spread` seconds.
proc endless {} {
    global ns opt tcp
    set rng [new RNG]
    for {set i 1} {$i <= $opt(stations)} {incr i} {
        $ns at [$rng uniform 0.0 $opt(spread)] "$tcp($i) send -1"
    }
}

# Files one after the other, with time to think before each. The workload has one line per station:
# think time, packets, think time, packets, ...
proc files {} {
    global ns opt tcp pending running
    set file [open $opt(workload)]
    set running $opt(stations)
    for {set i 1} {$i <= $opt(stations)} {incr i} {
        gets $file pending($i)
        think $i
    }
    close $file
}

proc think {i} {
    global ns pending running
    if {[llength $pending($i)] == 0} {
        if {[incr running -1] == 0} finish
        return
    }
    $ns after [lindex $pending($i) 0] "request $i"
}

proc request {i} {
    global ns pending tcp sink channelfile
    set packets [lindex $pending($i) 1]
    set pending($i) [lrange $pending($i) 2 end]
    $tcp($i) reset
    $sink($i) reset
    puts $channelfile "BEGIN [format %.9f [$ns now]] $i $packets"
    # Sequence number 0 is the SYN; ns-2 adds it to the packets by itself.
    $tcp($i) advanceby $packets
}

# ns-2 calls this when the last ACK has come in.
Agent/TCP instproc done {} {
    global ns channelfile
    $self instvar station
    puts $channelfile "END [format %.9f [$ns now]] $station"
    think $station
}

proc finish {} {
    global ns opt tcp channelfile
    if {$opt(summary)} {
        # Data packets (and the SYN) that were acknowledged, and the TCP ACKs that said so. Number
        # 0 is the first; what is still on its way at the end is left out.
        set exchanges 0
        for {set i 1} {$i <= $opt(stations)} {incr i} {
            incr exchanges [expr {[$tcp($i) set ack_] + 1 + [$tcp($i) set nackpack_]}]
        }
        puts "exchanges $exchanges"
    }
    $ns flush-trace
    close $channelfile
    exit 0
}

if {$opt(workload) eq ""} {
    endless
    $ns at $opt(duration) finish
} else {
    files
}
$ns run
