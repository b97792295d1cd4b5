"""Trains with JAX; killed at any time, it continues where it was: python jax_loop.py /data/digits checkpoint"""

import pickle
import sys
from pathlib import Path

import jax
import jax.numpy as jnp

import zrecord

path, checkpoint = map(Path, sys.argv[1:])


def loss_of(weights, images, labels):
    logits = (images.reshape(len(images), -1) / 255.0) @ weights
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels])


@jax.jit
def step(weights, images, labels):
    loss, gradient = jax.value_and_grad(loss_of)(weights, images, labels)
    return weights - 0.1 * gradient, loss


weights = jnp.zeros((28 * 28, 10))
# No remainder: JAX compiles for each shape of a batch.
with zrecord.feed(path, fields=["image", "label"], batch_size=64, epochs=3, drop_remainder=True) as feed:
    if checkpoint.exists():
        saved = pickle.loads(checkpoint.read_bytes())
        weights = jnp.asarray(saved["weights"])
        feed.load_state_dict(saved["feed"])
    for epoch in feed.remaining_epochs():
        for batch in feed:
            weights, loss = step(weights, batch["image"], batch["label"])
            if batch.number % 10 == 9:
                new = checkpoint.with_suffix(".new")
                new.write_bytes(pickle.dumps({"weights": jax.device_get(weights), "feed": batch.state}))
                new.replace(checkpoint)
                print(f"batch {batch.number} of epoch {epoch}: loss {loss:.6f}", flush=True)
