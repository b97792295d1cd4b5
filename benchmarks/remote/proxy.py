"""Tells Toxiproxy to be far away: each answer comes LATENCY milliseconds later, and a connection carries RATE KB/s.

    proxy.py API LISTEN UPSTREAM LATENCY RATE

Waits until API, the address of Toxiproxy, answers.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request

WAIT_SECONDS = 30


def post(url: str, content: dict[str, object]) -> None:
    body = json.dumps(content).encode()
    urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()


def wait(url: str) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            urllib.request.urlopen(url).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def main(api: str, listen: str, upstream: str, latency: int, rate: int) -> None:
    wait(f"http://{api}/version")
    post(f"http://{api}/proxies", {"name": "s3", "listen": listen, "upstream": upstream, "enabled": True})
    toxics = f"http://{api}/proxies/s3/toxics"
    post(toxics, {"type": "latency", "stream": "downstream", "attributes": {"latency": latency, "jitter": 0}})
    for stream in ["upstream", "downstream"]:
        post(toxics, {"type": "bandwidth", "name": f"rate-{stream}", "stream": stream, "attributes": {"rate": rate}})


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
