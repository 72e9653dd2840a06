#!/bin/sh
# Make rows.csv again: some minutes of one core. Needs `cell`: ./build.sh makes it.
set -eu
cd "$(dirname "$0")"
jobs=${JOBS:-1}
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    python3 run.py tcp-download --stations 2 --jobs "$jobs"
    python3 run.py tcp-download --stations 10 --jobs "$jobs"
    python3 run.py udp-both-ways --stations 2 --jobs "$jobs"
    python3 run.py tcp-upload-dcf --stations 5 --jobs "$jobs"
    python3 run.py tcp-upload-edca --stations 5 --jobs "$jobs"
} > rows.csv.new
mv rows.csv.new rows.csv
