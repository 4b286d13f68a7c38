"""`python -S pipe.py SOCKET`: carries bytes between stdin and stdout and a Unix socket, where a stdio face waits.

A client over stdio wants a child of its own; starting a whole gateway for each would cost more than all that is tested.
"""

import os
import socket
import sys
import threading

end = socket.socket(socket.AF_UNIX)
end.connect(sys.argv[1])


def upward() -> None:
    while data := os.read(0, 65536):
        end.sendall(data)
    end.shutdown(socket.SHUT_WR)


threading.Thread(target=upward, daemon=True).start()
while data := end.recv(65536):
    os.write(1, data)
