#!/bin/sh
# Make uploads.csv again: about three minutes of one core. Needs ns-2 (Debian: apt install ns2).
set -eu
cd "$(dirname "$0")"
{
    echo "group,parameters,metric,mean,ci95_half_width,runs"
    for retries in off on; do
        for delay in 2ms 5ms 15ms; do
            for skip in 0 1; do
                python3 uploads.py --retries "$retries" --delay "$delay" --skip "$skip" \
                    --seeds 20 --jobs "${JOBS:-1}"
                python3 uploads.py --retries "$retries" --delay "$delay" --skip "$skip" \
                    --defaults 2002 --seeds 31 --jobs "${JOBS:-1}"
            done
        done
    done
} > uploads.csv.new
mv uploads.csv.new uploads.csv
