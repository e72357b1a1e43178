#!/usr/bin/env python3
"""Write the roofs of docs/performance.md: for each model, its operators by time, and how near they come to what the machine can do.

usage: roofs.py [--ingot build/ingot] [--threads 1] [--seconds 3] [--rows 6] [--shape NAME=DIMS ...] MODEL.onnx ...

Peaks are measured anew for each model, beside it. The line "all" counts the arithmetic of the whole model."""
import argparse
import json
import os
import subprocess


def profile(arguments, path):
    command = [arguments.ingot, "profile", path, "--json", "--threads", str(arguments.threads), "--seconds",
               str(arguments.seconds)]
    for shape in arguments.shape:
        command += ["--shape", shape]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def write_row(title, count, ms, share, flops, size, result):
    rate, traffic = flops / ms * 1e-6, size / ms * 1e-6
    print(f"| {title} | {count} | {ms:.3f} | {100 * share:.1f} | {rate:.1f} | {100 * rate * 1e9 / result['peak_flops']:.1f} | "
          f"{traffic:.1f} |")


def write_model(name, result, rows):
    print(f"\n**{name}**: {result['p50_ms']:.3f} ms with {result['threads']} thread{'s'[:result['threads'] > 1]}; "
          f"peak {result['peak_flops'] * 1e-9:.1f} GFLOP/s, memory {result['peak_bytes'] * 1e-9:.1f} GB/s; noting steps "
          f"{100 * (result['noted_p50_ms'] / result['p50_ms'] - 1):+.1f} %\n")
    print("| operators | regions | ms | % of time | GFLOP/s | % of peak | GB/s |\n|---|---:|---:|---:|---:|---:|---:|")
    operators = result["operators"]
    for operator in operators[:rows]:
        write_row(operator["operators"], operator["regions"], operator["ms"], operator["share"], operator["flops"],
                  operator["bytes"], result)
    write_row("all", len(result["regions"]), result["p50_ms"], 1, sum(o["flops"] for o in operators),
              sum(o["bytes"] for o in operators), result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default="build/ingot")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    for path in arguments.models:
        write_model(os.path.splitext(os.path.basename(path))[0], profile(arguments, path), arguments.rows)


if __name__ == "__main__":
    main()
