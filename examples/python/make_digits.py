"""Makes a small dataset of images and labels: python make_digits.py /data/digits"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

command = Path(__file__).resolve().parents[2] / "bin" / "zrecord"
random = np.random.default_rng(0)
labels = random.integers(0, 10, 4000).astype(np.int64)
images = random.integers(0, 64, (4000, 28, 28), np.uint8)
for label in range(10):
    # A bright bar. Its place tells the class.
    images[labels == label, 2 * label + 4 : 2 * label + 6] += 128
with tempfile.TemporaryDirectory() as directory:
    np.save(f"{directory}/image.npy", images)
    np.save(f"{directory}/label.npy", labels)
    subprocess.run([command, "import", "npy", f"{directory}/image.npy", f"{directory}/label.npy", sys.argv[1]], check=True)
