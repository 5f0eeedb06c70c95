"""The rates of TCP in one direction, and in both at once: `rate.py answer HOST` in one place, `rate.py ask HOST` in another."""

import socket
import sys
import threading
import time

BYTES = 64 << 20
PORT = 7000


def send(to):
    data, sent = bytes(1 << 16), 0
    while sent < BYTES:
        sent += to.send(data[: BYTES - sent])


def receive(source):
    got = 0
    while got < BYTES:
        part = len(source.recv(1 << 20))
        if part == 0:
            sys.exit("the other end has closed")
        got += part


def answer(host):
    server = socket.create_server((host, PORT))
    for is_both in (False, True):
        connection, _ = server.accept()
        receiver = threading.Thread(target=receive, args=(connection,))
        receiver.start()
        if is_both:
            send(connection)
        receiver.join()
        connection.sendall(b"k")
        connection.close()


def ask(host):
    for is_both, name in ((False, "one direction"), (True, "both directions, each")):
        connection = socket.create_connection((host, PORT))
        start = time.monotonic()
        sender = threading.Thread(target=send, args=(connection,))
        sender.start()
        if is_both:
            receive(connection)
        sender.join()
        connection.recv(1)
        took = time.monotonic() - start
        print(f"{name}: {8 * BYTES / took / 1e6:.0f} Mbit/s")
        connection.close()


if __name__ == "__main__" and len(sys.argv) == 3 and sys.argv[1] in ("ask", "answer"):
    (ask if sys.argv[1] == "ask" else answer)(sys.argv[2])
else:
    sys.exit("usage: rate.py ask|answer HOST")
