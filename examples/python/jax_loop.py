"""Trains with JAX; killed at any time, it goes on where it was: python jax_loop.py /data/digits checkpoint.pickle"""

import os
import pickle
import sys

import jax
import jax.numpy as jnp
import zrecord

path, checkpoint = sys.argv[1:]


def loss_of(weights, images, labels):
    logits = (images.reshape(len(images), -1) / 255.0) @ weights
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels])


@jax.jit
def step(weights, images, labels):
    loss, gradient = jax.value_and_grad(loss_of)(weights, images, labels)
    return weights - 0.1 * gradient, loss


weights = jnp.zeros((28 * 28, 10))
# dropped remainder: one shape is compiled once.
with zrecord.feed(path, fields=["image", "label"], batch_size=64, epochs=3, drop_remainder=True) as feed:
    if os.path.exists(checkpoint):
        with open(checkpoint, "rb") as file:
            saved = pickle.load(file)
        weights = jnp.asarray(saved["weights"])
        feed.load_state_dict(saved["feed"])
    for batch in feed:
        weights, loss = step(weights, batch["image"], batch["label"])
        if batch.number % 10 == 9:
            with open(checkpoint + ".new", "wb") as file:
                pickle.dump({"weights": jax.device_get(weights), "feed": feed.state_dict()}, file)
            os.replace(checkpoint + ".new", checkpoint)
            print(f"batch {batch.number} of epoch {batch.epoch}: loss {loss:.6f}", flush=True)
