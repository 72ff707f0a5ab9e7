"""What the images' HEALTHCHECK runs: 0 if the process in this container can take work.

The argument is the variable that holds its port. It asks this container itself, so no proxy that
the environment names comes between; where the port is 0 nothing answers, and nothing is asked.
"""

import http.client
import os
import sys

ANSWER_WITHIN_S = 5
READY = 200


def main(variable: str) -> int:
    """Return 0 for ready, else 1 with the answer on stderr, where `docker inspect` shows it."""
    port = int(os.environ.get(variable, "0"))
    if port == 0:
        return 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_WITHIN_S)
    try:
        connection.request("GET", "/health/ready")
        answer = connection.getresponse()
        words = answer.read().decode(errors="replace")
    except OSError as error:
        print(f"nothing answers on port {port}: {error}", file=sys.stderr)
        return 1
    if answer.status != READY:
        print(words, file=sys.stderr)
    return int(answer.status != READY)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
