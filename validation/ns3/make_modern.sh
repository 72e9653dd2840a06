#!/bin/sh
# Make modern.csv again, and mixed.csv, links.csv and rates.csv: some hours of one core. Needs
# `modern`: ./build.sh makes it.
set -eu
cd "$(dirname "$0")"
udp() {
    for point in "$@"; do
        python3 modern.py "standard=$point udp=1"
    done
}
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    udp "ac dir=up stations=3" "ac dir=up stations=5" "ac dir=up stations=7" \
        "ac dir=both stations=1" "ac dir=both stations=2" "ac dir=both stations=3" \
        "ac dir=both stations=5"
    python3 modern.py "standard=ac dir=both stations=1 udp=1 width=40" \
        "standard=ac dir=both stations=3 udp=1 width=40" \
        "standard=ac dir=up stations=4 udp=1 width=40"
    udp "n dir=up stations=3" "n dir=up stations=5" "n dir=up stations=7" "n dir=both stations=1" \
        "n dir=both stations=2" "n dir=both stations=3" "n dir=both stations=5"
    python3 modern.py "standard=n dir=both stations=2 udp=1 width=40" \
        "standard=n dir=up stations=5 udp=1 ampdu=0"
    udp "ax dir=both stations=1" "ax dir=both stations=2" "ax dir=up stations=3" \
        "ax dir=both stations=3" "ax dir=up stations=5"
    python3 modern.py "standard=ax dir=up stations=4 udp=1 width=20" \
        "standard=ax dir=both stations=2 udp=1 width=40"
    udp "ax dir=both stations=5" "ax dir=up stations=7"
    python3 modern.py "standard=a dir=up stations=40 udp=1 within=0.004 most=8" \
        "standard=n dir=down stations=1 every=2 window=16 ap_queue=2000 delay=0.001 tcp=NewReno"
} > modern.csv.new
mv modern.csv.new modern.csv
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    for manager in Ideal MinstrelHt; do
        for distance in 10 20 30 40 50 60; do
            far="width=20 manager=$manager distance=$distance"
            most="most=12"
            [ "$manager" = Ideal ] || [ "$distance" = 60 ] || most="most=12 runs=8"
            python3 modern.py "standard=n $far udp=1 $most" \
                "standard=n $far window=128 delack=0.04 ap_queue=1128 $most" \
                "standard=ax $far window=128 delack=0.04 ap_queue=1128 $most"
        done
    done
} > rates.csv.new
mv rates.csv.new rates.csv
again() {
    head -1 "$1" > "$1.new"
    tail -n +2 "$1" | cut -d, -f2 | uniq | while read -r point; do
        python3 modern.py "$point -- warmup=2 batch=0.4 $2" >> "$1.new"
    done
    mv "$1.new" "$1"
}
# Rows that differed from airtcp by more than their interval have been run for longer since: up to
# 48 s, and of 802.11ax with MinstrelHt at 50 m after a warm-up of 12 s.
again mixed.csv most=8
again links.csv "within=0.001 most=16"
