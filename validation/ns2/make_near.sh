#!/bin/sh
# Make near.csv again, endless downloads of stations 10 m from the access point: minutes of one core.
# Needs ns-2 (Debian: apt install ns2).
set -eu
cd "$(dirname "$0")"
jobs=${JOBS:-1}
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    for stations in 2 5 10 20; do
        python3 run.py persistent --stations "$stations" --window 1 --radius 10 --seeds 5 --jobs "$jobs"
    done
    for stations in 5 20; do
        python3 run.py persistent --stations "$stations" --window 1000 --radius 10 --seeds 5 --jobs "$jobs"
    done
} > near.csv.new
mv near.csv.new near.csv
