"""Films and pictures as numbers: what a test sees of them."""

import io
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageSequence

Picture = npt.NDArray[np.uint8]  # [height, width, 3]


class Film(NamedTuple):
    """A decoded film."""

    codec: str
    frames: list[Picture]
    times: list[float]  # seconds at which the frames begin


def decoded(path: Path) -> Film:
    """Every frame of a video, by FFmpeg: another program than the one that made it."""
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        found = [(each.to_ndarray(format="rgb24"), each.time) for each in file.decode(stream)]
        frames, times = [each for each, _ in found], [float(time or 0) for _, time in found]
        return Film(stream.codec_context.name, frames, times)


def decoded_gif(path: Path) -> Film:
    with Image.open(path) as file:
        delays: list[float] = []
        frames = []
        for each in ImageSequence.Iterator(file):
            delays.append(each.info["duration"] / 1000)
            frames.append(np.asarray(each.convert("RGB")))
        return Film("gif", frames, list(np.cumsum([0, *delays[:-1]])))


def picture(contents: bytes) -> Picture:
    """A PNG."""
    with Image.open(io.BytesIO(contents)) as file:
        return np.asarray(file.convert("RGB"))


def difference(a: Picture, b: Picture) -> float:
    """The mean difference of two pictures, of 255."""
    assert a.shape == b.shape
    return float(np.abs(a.astype(float) - b.astype(float)).mean())


def loudness(a: Picture, b: Picture) -> float:
    """The peak signal-to-noise ratio in decibels: above 35, eyes hardly see a difference."""
    return float(10 * np.log10(255**2 / max(1e-9, np.mean((a.astype(float) - b) ** 2))))
