#!/bin/sh
# Build `cell`, `cells`, `floors`, `modern` and `office`: ns-3 3.44 comes as a wheel (PyPI: ns3), with headers and libraries. Needs g++ and pip.
set -eu
cd "$(dirname "$0")"
[ -d .venv ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet "ns3==3.44.post0"
root=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/ns3
libraries=
for name in antenna applications core energy internet mobility network point-to-point propagation \
    spectrum stats traffic-control wifi; do
    libraries="$libraries -lns3.44-$name"
done
for program in cell cells floors modern office; do
    g++ -std=c++20 -O2 -I"$root/include" "$program.cc" -o "$program" -L"$root/lib64" $libraries \
        -Wl,-rpath,"$root/lib64" -Wl,--unresolved-symbols=ignore-in-shared-libs
    echo "built: $(pwd)/$program"
done
