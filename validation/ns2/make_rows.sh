#!/bin/sh
# Make rows.csv again: about ten minutes of one core. Needs ns-2 (Debian: apt install ns2).
set -eu
cd "$(dirname "$0")"
jobs=${JOBS:-1}
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    for stations in 2 3 10; do
        python3 run.py persistent --stations "$stations" --window 1 --seeds 6 --jobs "$jobs"
    done
    python3 run.py persistent --stations 5 --window 4 --seeds 6 --jobs "$jobs"
    python3 run.py persistent --stations 10 --window 1000 --seeds 6 --jobs "$jobs"
    python3 run.py web --stations 20 --window 1 --radius 100 --seeds 6 --jobs "$jobs"
} > rows.csv.new
mv rows.csv.new rows.csv
