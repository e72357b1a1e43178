#!/bin/sh
# Makes the smallest corpus that reaches the code which these folders reach.
#
# usage: fuzz/minimize.sh BUILD_DIR TARGET FOLDER ...       BUILD_DIR: built with -Dfuzz=true; TARGET: model, run or value
# The result replaces fuzz/corpus/TARGET, which is read too. Files over 4,000 bytes are left out, and of what the fuzzer
# finds the 230 largest stay. Seeds made by hand (kept-*) and inputs that once showed a fault (found-*) always do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1 target=$2
shift 2
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
mkdir -p "$here/corpus/$target" "$new/all" "$new/small"
for folder in "$here/corpus/$target" "$@"; do
    find "$folder" -type f -size -4000c -exec cp {} "$new/all/" \;
done
ASAN_OPTIONS=allocator_may_return_null=1 "$build/fuzz/fuzz_$target" -set_cover_merge=1 -use_counters=0 -max_len=4000 \
    "$new/small" "$new/all"
mkdir "$new/chosen"
find "$here/corpus/$target" "$@" \( -name 'kept-*' -o -name 'found-*' \) -exec cp {} "$new/chosen/" \;
find "$new/small" -type f -printf '%s %p\n' | sort -rn | head -n 230 | while read -r size path; do
    cp "$path" "$new/chosen/"
done
rm -rf "$here/corpus/$target"
mv "$new/chosen" "$here/corpus/$target"
