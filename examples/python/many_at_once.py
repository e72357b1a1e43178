"""Runs at once: with asyncio, and with threads, on one session. usage: many_at_once.py MODEL"""
import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import List

import ingot
import numpy as np


def shades(count: int) -> List[np.ndarray]:
    return [np.full((1, 3, 224, 224), i / count, np.float32) for i in range(count)]


async def awaited(session: ingot.Session) -> List[int]:
    name, result = session.inputs[0].name, session.outputs[0].name
    runs = [session.run_async({name: x}) for x in shades(8)]
    return [int(outputs[result].argmax()) for outputs in await asyncio.gather(*runs)]


def threaded(session: ingot.Session) -> List[int]:
    with ThreadPoolExecutor(4) as pool:
        return [int(scores.argmax()) for scores in pool.map(session, shades(8))]


def main(model: str) -> None:
    session = ingot.load(model, threads=1)
    print(asyncio.run(awaited(session)), threaded(session))


if __name__ == "__main__":
    main(sys.argv[1])
