"""Trains with PyTorch; killed at any time, it continues where it was: python pytorch_loop.py /data/digits checkpoint"""

import sys
from pathlib import Path

import torch

import zrecord

path, checkpoint = map(Path, sys.argv[1:])
torch.manual_seed(0)
model = torch.nn.Linear(28 * 28, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# Writable, because PyTorch warns of arrays that are not writable.
with zrecord.feed(path, fields=["image", "label"], batch_size=64, epochs=3, writable=True) as feed:
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        feed.load_state_dict(saved["feed"])
    for epoch in feed.remaining_epochs():
        for batch in feed:
            images = torch.from_numpy(batch["image"]).flatten(1) / 255  # the memory of the engine, without a copy
            loss = torch.nn.functional.cross_entropy(model(images), torch.from_numpy(batch["label"]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if batch.number % 10 == 9:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "feed": batch.state}
                new = checkpoint.with_suffix(".new")
                torch.save(state, new)
                new.replace(checkpoint)
                print(f"batch {batch.number} of epoch {epoch}: loss {loss.item():.6f}", flush=True)
