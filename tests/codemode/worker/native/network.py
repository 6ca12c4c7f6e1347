"""Sockets of every family that leads somewhere."""

from __future__ import annotations

import array
import socket
import struct

from tests.codemode.worker.native.payload import Target, payload

ALG = 38
VSOCK = 40


def said_by(client: socket.socket, target: Target) -> object:
    client.settimeout(2)
    return target.secret.encode() in client.recv(100)


@payload
def connect_by_tcp(target: Target) -> object:
    with socket.socket() as client:
        client.connect(("127.0.0.1", target.tcp_port))
        return said_by(client, target)


@payload
def connect_by_tcp6(target: Target) -> object:
    with socket.socket(socket.AF_INET6) as client:
        client.connect(("::ffff:127.0.0.1", target.tcp_port))
        return said_by(client, target)


@payload
def serve_tcp(_target: Target) -> object:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        return server.getsockname()[1]


@payload
def send_by_udp(target: Target) -> object:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"?", ("127.0.0.1", target.udp_port))
        return said_by(client, target)


@payload
def serve_udp(_target: Target) -> object:
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


@payload
def connect_by_unix_path(target: Target) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{target.folder}/socket")
        return said_by(client, target)


@payload
def connect_by_abstract_name(target: Target) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + target.abstract)
        return said_by(client, target)


@payload
def serve_by_abstract_name(target: Target) -> object:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{target.abstract}-own")
        server.listen()
        return True


@payload
def ask_netlink_for_interfaces(_target: Target) -> object:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.bind((0, 0))
        link.send(struct.pack("=IHHIIBxxxiIII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
        return b"lo\0" in link.recv(65536)


@payload
def send_raw_packets(_target: Target) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as icmp:
        return icmp.fileno()


@payload
def listen_to_the_wire(_target: Target) -> object:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300) as packets:
        return packets.fileno()


@payload
def talk_to_the_hypervisor(_target: Target) -> object:
    with socket.socket(VSOCK) as client:
        return client.fileno()


@payload
def use_the_kernels_ciphers(_target: Target) -> object:
    with socket.socket(ALG, socket.SOCK_SEQPACKET) as cipher:
        cipher.bind(("hash", "sha256"))
        return True


@payload
def make_a_pair(_target: Target) -> object:
    one, other = socket.socketpair()
    one.send(b"x")
    return other.recv(1) == b"x"


@payload
def hand_a_descriptor_to_the_host(_target: Target) -> object:
    """By the worker's own socket, where there is one."""
    with socket.socket(fileno=3) as own:
        rights = array.array("i", [3])
        return own.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


@payload
def ask_who_the_host_is(_target: Target) -> object:
    with socket.socket(fileno=3) as own:
        return own.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
