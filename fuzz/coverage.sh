#!/bin/sh
# Says how much of a folder of the sources the corpora reach: replays them in a build of its own and asks gcov.
#
# usage: fuzz/coverage.sh [FOLDER]      FOLDER: below src, default onnx. The build lies in build-coverage/.
# Prints a line for each file and the sum; exit code 1 where less than 85 % of the lines are reached.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-onnx}
build=$here/build-coverage
[ -f "$build/build.ninja" ] ||
    meson setup "$build" "$here" --buildtype=debug -Db_coverage=true -Db_ndebug=true >/dev/null
ninja -C "$build" fuzz/replay_model fuzz/replay_run fuzz/replay_value >/dev/null
find "$build" -name '*.gcda' -delete
for target in model run value; do
    "$build/fuzz/replay_$target" "$here/fuzz/corpus/$target" >&2
done
cd "$build"
find . -name "${folder}_*.gcda" -path '*ingot-core*' -exec gcov -n {} + 2>/dev/null |
    awk -v folder="src/$folder/" '
        /^File / { file = $2; gsub(/[^A-Za-z0-9_.\/]/, "", file); wanted = index(file, folder) && file ~ /\.c$/; next }
        wanted && /^Lines executed:/ {
            split($0, part, /[:% ]+/)
            name = file; sub(/.*\//, "", name)
            printf "%-24s %6.2f %% of %d lines\n", name, part[3], part[5]
            reached += part[3] / 100 * part[5]; lines += part[5]; wanted = 0
        }
        END {
            if (lines == 0) { print "nothing was measured"; exit 1 }
            printf "src/%s: %.1f %% of %d lines\n", substr(folder, 5, length(folder) - 5), 100 * reached / lines, lines
            exit reached / lines < 0.85
        }'
